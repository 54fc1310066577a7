#include "cli/cli.h"

int main(int argc, char** argv) { return simpred::Run(argc, argv); }
