// The command line: parses, runs one command, turns its status into the exit status.
#pragma once

namespace simpred {

int Run(int argc, const char* const* argv);

}  // namespace simpred
