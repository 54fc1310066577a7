// Which views are there? One line each.
#include <algorithm>

#include "report/report.h"

namespace simpred {
namespace {

constexpr View kViews[] = {
    {"text", "tables for a terminal", RenderText},
    {"json", "sim_predict.report/1", RenderJson},
    {"csv", "one line an operator", RenderCsv},
    {"html", "one self-contained page", RenderHtml},
    {"trace", "Chrome trace for Perfetto and speedscope", RenderTrace},
};

}  // namespace

const View* FindView(std::string_view name) {
  const auto* found = std::find_if(std::begin(kViews), std::end(kViews), [&](const View& v) { return v.name == name; });
  return found == std::end(kViews) ? nullptr : found;
}

std::vector<std::string> ViewNames() {
  std::vector<std::string> names;
  for (const View& v : kViews) names.emplace_back(v.name);
  return names;
}

}  // namespace simpred
