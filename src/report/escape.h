// How does a text from a model get into a page, a table, a terminal without becoming part of it? Names in models are
// hostile: markup, escape sequences, quotes, broken UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace simpred {

// Valid UTF-8: every byte that belongs to no well-formed sequence becomes U+FFFD.
std::string ValidUtf8(std::string_view text);
// The characters & < > " ' as entities; control characters but line ends as U+FFFD; safe in content and in quoted
// attributes.
std::string HtmlEscaped(std::string_view text);
// Quoted, with quotes and controls escaped: a JSON string.
std::string JsonString(std::string_view text);
// Quoted where RFC 4180 asks for it. A text that a spreadsheet would run as a formula gets a leading apostrophe.
std::string CsvField(std::string_view text);
// Control characters, line breaks and direction marks as '?': one line that cannot move the cursor.
std::string TerminalSafe(std::string_view text);

// Columns that a terminal uses: wide East Asian characters count two.
size_t DisplayWidth(std::string_view utf8);
// At most `columns` wide; what is longer keeps its end, which tells layers of a network apart: "…block3/conv1".
std::string Shortened(std::string_view utf8, size_t columns);

}  // namespace simpred
