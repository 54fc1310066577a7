#include "report/table.h"

#include <algorithm>

#include "report/escape.h"

namespace simpred {
namespace {

std::string Padded(const std::string& text, size_t width, Table::Align align) {
  const std::string blanks(width - std::min(width, DisplayWidth(text)), ' ');
  return align == Table::Align::kRight ? blanks + text : text + blanks;
}

}  // namespace

void Table::Row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (size_t i = 0; i < cells.size(); ++i) cells[i] = Shortened(TerminalSafe(cells[i]), columns_[i].widest);
  rows_.push_back(std::move(cells));
}

std::string Table::ToString(size_t indent) const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = DisplayWidth(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[i]));
    widths.push_back(width);
  }
  std::string out;
  const auto line = [&](const auto& cell) {
    std::string text(indent, ' ');
    for (size_t i = 0; i < columns_.size(); ++i)
      text += (i > 0 ? "  " : "") + Padded(cell(i), widths[i], columns_[i].align);
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line([&](size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) line([&](size_t i) -> const std::string& { return row[i]; });
  return out;
}

}  // namespace simpred
