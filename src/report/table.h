// Aligned columns for a terminal.
//
//   Table t({{"operator"}, {"time", Table::Align::kRight}});
//   t.Row({"conv1", "1.20 ms"});
//   out += t.ToString();
#pragma once

#include <string>
#include <vector>

namespace simpred {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    size_t widest = 60;  // longer cells are shortened
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // Cells are made safe for a terminal; missing ones are empty.
  void Row(std::vector<std::string> cells);
  // Each line indented by `indent` blanks, no blanks at its end.
  std::string ToString(size_t indent = 2) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace simpred
