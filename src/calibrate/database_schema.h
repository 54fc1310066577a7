// Which tables are there? docs/formats.md describes them.
#pragma once

#include <filesystem>

#include "calibrate/database_sqlite.h"

namespace simpred {

inline constexpr int kSchemaVersion = 1;

// Opens for reading and writing; makes the file and its tables where they are not there.
Result<Connection> OpenForWriting(const std::filesystem::path& path);
// Opens for reading; a file that is not there reads as an empty database.
Result<Connection> OpenForReading(const std::filesystem::path& path);

}  // namespace simpred
