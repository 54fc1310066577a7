#include "report/escape.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace simpred {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// Length of the well-formed sequence at the start (Unicode 15, table 3-7), 0 if there is none; `code` is its character.
size_t Decode(std::string_view s, char32_t* code) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(s[i]); };
  const auto tail = [&](size_t i, uint8_t low, uint8_t high) {
    return i < s.size() && byte(i) >= low && byte(i) <= high;
  };
  const uint8_t b = byte(0);
  if (b < 0x80) {
    *code = b;
    return 1;
  }
  if (b >= 0xC2 && b <= 0xDF && tail(1, 0x80, 0xBF)) {
    *code = (char32_t{b} & 0x1F) << 6 | (byte(1) & 0x3F);
    return 2;
  }
  const uint8_t low = b == 0xE0 ? 0xA0 : b == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = b == 0xED ? 0x9F : b == 0xF4 ? 0x8F : 0xBF;
  if (b >= 0xE0 && b <= 0xEF && tail(1, low, high) && tail(2, 0x80, 0xBF)) {
    *code = (char32_t{b} & 0x0F) << 12 | (char32_t{byte(1)} & 0x3F) << 6 | (byte(2) & 0x3F);
    return 3;
  }
  if (b >= 0xF0 && b <= 0xF4 && tail(1, low, high) && tail(2, 0x80, 0xBF) && tail(3, 0x80, 0xBF)) {
    *code = (char32_t{b} & 0x07) << 18 | (char32_t{byte(1)} & 0x3F) << 12 | (char32_t{byte(2)} & 0x3F) << 6 |
            (byte(3) & 0x3F);
    return 4;
  }
  return 0;
}

// Calls f(character, its bytes) for each; broken bytes one by one as U+FFFD.
template <typename F>
void ForEachCharacter(std::string_view text, const F& f) {
  while (!text.empty()) {
    char32_t code = kReplacement;
    const size_t length = Decode(text, &code);
    if (length == 0) {
      f(kReplacement, std::string_view("\uFFFD"));
      text.remove_prefix(1);
      continue;
    }
    f(code, text.substr(0, length));
    text.remove_prefix(length);
  }
}

bool IsControl(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

// Marks that reorder or hide what follows them.
bool IsDirectionMark(char32_t c) {
  return (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x2069) || c == 0xFEFF;
}

// The wide blocks of Unicode's EastAsianWidth.txt, coarsely.
size_t Columns(char32_t c) {
  struct Range {
    char32_t first, last;
  };
  static constexpr std::array<Range, 9> kWide = {{{0x1100, 0x115F},
                                                  {0x2E80, 0xA4CF},
                                                  {0xAC00, 0xD7A3},
                                                  {0xF900, 0xFAFF},
                                                  {0xFE30, 0xFE6F},
                                                  {0xFF00, 0xFF60},
                                                  {0xFFE0, 0xFFE6},
                                                  {0x1F300, 0x1FAFF},
                                                  {0x20000, 0x3FFFD}}};
  for (const Range& r : kWide)
    if (c >= r.first && c <= r.last) return 2;
  return 1;
}

}  // namespace

std::string ValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  ForEachCharacter(text, [&](char32_t, std::string_view bytes) { out += bytes; });
  return out;
}

std::string HtmlEscaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  ForEachCharacter(text, [&](char32_t c, std::string_view bytes) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += (IsControl(c) && c != '\n') || IsDirectionMark(c) ? std::string_view("\uFFFD") : bytes;
    }
  });
  return out;
}

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  ForEachCharacter(text, [&](char32_t c, std::string_view bytes) {
    if (c == '"' || c == '\\') out += '\\';
    // U+2028 and U+2029 end a line in scripts that embed the JSON.
    if (IsControl(c) || c == 0x2028 || c == 0x2029)
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
    else
      out += bytes;
  });
  out += '"';
  return out;
}

std::string CsvField(std::string_view text) {
  std::string out = ValidUtf8(text);
  if (!out.empty() && std::string_view("=+-@\t\r").find(out[0]) != std::string_view::npos) out.insert(0, "'");
  if (out.find_first_of(",\"\r\n") == std::string::npos) return out;
  std::string quoted = "\"";
  for (const char c : out) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  quoted += '"';
  return quoted;
}

std::string TerminalSafe(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  ForEachCharacter(text, [&](char32_t c, std::string_view bytes) {
    out += IsControl(c) || IsDirectionMark(c) ? std::string_view("?") : bytes;
  });
  return out;
}

size_t DisplayWidth(std::string_view utf8) {
  size_t width = 0;
  ForEachCharacter(utf8, [&](char32_t c, std::string_view) { width += Columns(c); });
  return width;
}

std::string Shortened(std::string_view utf8, size_t columns) {
  const size_t width = DisplayWidth(utf8);
  if (width <= columns || columns == 0) return std::string(utf8);
  size_t dropped = 0;
  std::string out = "…";
  ForEachCharacter(utf8, [&](char32_t c, std::string_view bytes) {
    if (width - dropped > columns - 1)
      dropped += Columns(c);
    else
      out += bytes;
  });
  return out;
}

}  // namespace simpred
