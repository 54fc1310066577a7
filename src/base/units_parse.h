// Quantities with units, read at the edge (device profiles, command line).
//
//   ParseDuration("250 us"), ParseBytes("32 MiB"), ParseBytesPerSecond("1.6 TB/s"),
//   ParseFlopsPerSecond("140 TFLOP/s"), ParseDuration("5min")
//
// A number without a unit is an error that names the units that are known: nobody guesses MB or MiB.
#pragma once

#include <string_view>

#include "base/status.h"
#include "base/units.h"

namespace simpred {

Result<Duration> ParseDuration(std::string_view text);              // ns us ms s min h
Result<Bytes> ParseBytes(std::string_view text);                    // B KB MB GB TB KiB MiB GiB TiB
Result<BytesPerSecond> ParseBytesPerSecond(std::string_view text);  // the same with /s
Result<FlopsPerSecond> ParseFlopsPerSecond(std::string_view text);  // [K M G T P] FLOP/s, FLOPS, OP/s, OPS
Result<double> ParseHertz(std::string_view text);                   // Hz kHz MHz GHz -> Hz

}  // namespace simpred
