// One self-contained page: nothing is loaded from anywhere, and the page forbids itself to. Sensible for ten thousand
// kernels: the longest are listed, the rest is one line; the plots draw what can be seen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "report/escape.h"
#include "report/html_charts.h"
#include "report/html_style.h"
#include "report/report.h"

namespace simpred {
namespace {

constexpr size_t kDefaultRows = 200;

std::string Percent(double share) { return FormatFixed(share * 100, 1) + " %"; }
std::string SignedPercent(double share) { return fmt::format("{}{}", share > 0 ? "+" : "", Percent(share)); }

std::string Tile(std::string_view value, std::string_view what) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", HtmlEscaped(value), HtmlEscaped(what));
}

std::string Section(std::string_view title, std::string_view body) {
  return fmt::format("<section><h2>{}</h2>\n{}</section>\n", HtmlEscaped(title), body);
}

double Share(const Report& r, Duration d) {
  const double share = r.latency > Duration() ? d / r.latency : 0;
  return std::isfinite(share) ? share : 0;
}

std::string Head(const Report& r) {
  const RunInfo& i = r.run;
  return fmt::format(
      "<header><div><h1>{} on {}</h1>\n<p class=\"soft\">{}</p><p class=\"soft\">{}</p></div>"
      "<button id=\"theme\" type=\"button\">light / dark</button></header>\n",
      HtmlEscaped(i.model_name), HtmlEscaped(i.device),
      HtmlEscaped(fmt::format("{}{}{} {}, {} thread{}, precision {}, fusion {}{}{}", i.device_description,
                              i.device_description.empty() ? "" : " · ", i.runtime, i.runtime_version, i.threads,
                              i.threads == 1 ? "" : "s", i.precision, i.fusion_mode,
                              i.input_shapes.empty() ? "" : " · input ", i.input_shapes)),
      HtmlEscaped(i.calibration));
}

std::string EndToEnd(const Report& r) {
  std::string tiles = "<div class=\"tiles\">\n";
  tiles += Tile(ToString(r.latency), fmt::format("end to end, 90 % between {} and {}", r.low, r.high));
  tiles +=
      Tile(Name(r.grade), r.expected_deviation > 0 ? fmt::format("expected deviation {}", Percent(r.expected_deviation))
                                                   : std::string("grade"));
  if (r.comparison)
    tiles += Tile(SignedPercent(Deviation(r.latency, r.comparison->end_to_end)),
                  fmt::format("deviation from the measured {}", r.comparison->end_to_end));
  tiles += Tile(ToString(r.flops()), fmt::format("work, {} moved", r.bytes()));
  tiles += Tile(ToString(r.peak_memory), r.fits ? "peak memory" : "peak memory: does not fit, the plan is infeasible");
  tiles += Tile(fmt::to_string(r.operators.size()), "kernels");
  tiles += "</div>\n";
  return tiles +
         fmt::format("<p>{}</p><p class=\"soft\">{}</p>\n", HtmlEscaped(Advice(r.grade)),
                     HtmlEscaped(fmt::format("kernels {}, gap {}, cost of a run {}", r.kernels, r.gap, r.run_cost)));
}

std::string Bar(double share, std::string_view css) {
  return fmt::format("<div class=\"track\"><div class=\"bar {}\" style=\"width:{}%\"></div></div>", css,
                     FormatFixed(std::clamp(share, 0.0, 1.0) * 100, 2));
}

std::string NumberCell(double sort_key, std::string_view text) {
  return fmt::format("<td class=\"num\" data-v=\"{}\">{}</td>", std::isfinite(sort_key) ? FormatDouble(sort_key) : "0",
                     HtmlEscaped(text));
}

std::string OperatorRow(const Report& r, const ReportOperator& o, double longest) {
  std::string row = fmt::format(
      "<tr><td class=\"name\">{}{}</td><td>{}{}</td>", HtmlEscaped(o.name),
      o.fused_from.size() > 1 ? fmt::format(" <span class=\"soft\">({} nodes)</span>", o.fused_from.size()) : "",
      HtmlEscaped(o.type), o.hypothetical ? " <span class=\"soft\">hypothetical</span>" : "");
  row += NumberCell(o.latency / Nanoseconds(1), ToString(o.latency));
  if (r.comparison) {
    row += o.measured ? NumberCell(*o.measured / Nanoseconds(1), ToString(*o.measured)) : NumberCell(0, "");
    const double deviation = o.measured ? Deviation(o.latency, *o.measured) : 0;
    row += NumberCell(deviation, o.measured ? SignedPercent(deviation) : "");
  }
  row += NumberCell(Share(r, o.latency), Percent(Share(r, o.latency)));
  row += fmt::format("<td>{}</td>", Bar(longest > 0 ? Share(r, o.latency) / longest : 0, ColorOf(o.op_class)));
  row += fmt::format("<td class=\"num\">{}</td><td title=\"{}\">{}</td><td>{}</td>",
                     HtmlEscaped(fmt::format("{} .. {}", o.low, o.high)), HtmlEscaped(o.reason), Name(o.source),
                     Name(o.bound));
  row += NumberCell(o.flops.count(), ToString(o.flops));
  return row + NumberCell(static_cast<double>(o.bytes.count()), ToString(o.bytes)) + "</tr>\n";
}

std::string Operators(const Report& r, const ViewOptions& options) {
  const std::vector<size_t> order = ByTime(r);
  const size_t wanted = options.all ? order.size() : options.top > 0 ? static_cast<size_t>(options.top) : kDefaultRows;
  const size_t rows = std::min(order.size(), wanted);
  const double longest = order.empty() ? 0 : Share(r, r.operators[order[0]].latency);
  std::string html =
      "<p><input id=\"filter\" type=\"search\" placeholder=\"filter by name, type, source\"></p>\n<div "
      "class=\"wide\"><table "
      "id=\"operators\"><thead><tr><th data-sort=\"text\">operator</th><th data-sort=\"text\">type</th><th "
      "class=\"num\" "
      "data-sort=\"number\">time</th>";
  if (r.comparison)
    html += "<th class=\"num\" data-sort=\"number\">measured</th><th class=\"num\" data-sort=\"number\">deviation</th>";
  html +=
      "<th class=\"num\" data-sort=\"number\">share</th><th></th><th class=\"num\">90 % interval</th><th "
      "data-sort=\"text\">source</th><th data-sort=\"text\">bound</th><th class=\"num\" "
      "data-sort=\"number\">work</th><th "
      "class=\"num\" data-sort=\"number\">bytes</th></tr></thead><tbody>\n";
  for (size_t i = 0; i < rows; ++i) html += OperatorRow(r, r.operators[order[i]], longest);
  html += "</tbody></table></div>\n";
  if (rows == order.size()) return html;
  Duration rest;
  for (size_t i = rows; i < order.size(); ++i) rest += r.operators[order[i]].latency;
  return html + fmt::format("<p class=\"soft\">and {} shorter operators, together {} ({})</p>\n", order.size() - rows,
                            HtmlEscaped(ToString(rest)), Percent(Share(r, rest)));
}

std::string Types(const Report& r) {
  constexpr size_t kMostTypes = 60;
  std::string html =
      "<div class=\"wide\"><table><thead><tr><th>type</th><th class=\"num\">kernels</th><th class=\"num\">time</th><th "
      "class=\"num\">share</th><th></th></tr></thead><tbody>\n";
  const std::vector<TypeTotal> totals = TotalsByType(r);
  const double longest = totals.empty() ? 0 : Share(r, totals[0].latency);
  for (size_t i = 0; i < std::min(totals.size(), kMostTypes); ++i)
    html += fmt::format(
        "<tr><td class=\"name\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td "
        "class=\"num\">{}</td><td>{}</td></tr>\n",
        HtmlEscaped(totals[i].type), totals[i].count, HtmlEscaped(ToString(totals[i].latency)),
        Percent(Share(r, totals[i].latency)), Bar(longest > 0 ? Share(r, totals[i].latency) / longest : 0, "f0"));
  return html + "</tbody></table></div>\n";
}

std::string Utilisation(const Report& r) {
  std::string html = "<table><tbody>\n";
  for (const ReportResource& resource : r.resources)
    html += fmt::format("<tr><td>{}</td><td class=\"num\">{}</td><td>{}</td></tr>\n", HtmlEscaped(resource.name),
                        Percent(resource.utilization), Bar(resource.utilization, "f1"));
  return html + "</tbody></table>\n" + fmt::format("<p><b>Bottleneck.</b> {}</p>\n", HtmlEscaped(r.bottleneck));
}

std::string Sources(const Report& r) {
  static constexpr std::string_view kColors[] = {"f5", "f7", "f1", "f0", "f2", "f3", "f4", "f6"};  // by Source
  Duration sum;
  for (const auto& [source, time] : r.by_source) sum += time;
  std::string stack = "<div class=\"stack\">", legend = "<div class=\"legend\">";
  for (const auto& [source, time] : r.by_source) {
    const double share = sum > Duration() && std::isfinite(time / sum) ? time / sum : 0;
    const std::string_view css = kColors[static_cast<size_t>(source)];
    stack += fmt::format("<div class=\"{}\" style=\"width:{}%\"></div>", css, FormatFixed(share * 100, 2));
    legend += fmt::format("<span><i class=\"dot {}\"></i>{} {} ({})</span>\n", css, Name(source), Percent(share),
                          HtmlEscaped(ToString(time)));
  }
  return stack + "</div>\n" + legend + fmt::format("</div>\n<p class=\"soft\">{}</p>\n", HtmlEscaped(r.Coverage()));
}

std::string Compared(const Report& r) {
  const Comparison& c = *r.comparison;
  int64_t compared = 0;
  Duration time, within10, within15;
  for (const ReportOperator& o : r.operators) {
    if (!o.measured || o.source == Source::kExcluded) continue;
    const double deviation = std::abs(Deviation(o.latency, *o.measured));
    ++compared;
    time += *o.measured;
    if (deviation <= 0.10) within10 += *o.measured;
    if (deviation <= 0.15) within15 += *o.measured;
  }
  std::string html = fmt::format(
      "<p>Measured {} ({} of {} rounds, spread {}), predicted {}: deviation {}. The truth lies {} the interval.</p>\n",
      HtmlEscaped(ToString(c.end_to_end)), HtmlEscaped(c.statistic), c.rounds, Percent(c.spread),
      HtmlEscaped(ToString(r.latency)), SignedPercent(Deviation(r.latency, c.end_to_end)),
      c.end_to_end >= r.low && c.end_to_end <= r.high ? "inside" : "outside");
  if (compared == 0 || time <= Duration()) return html;
  return html + fmt::format(
                    "<p>{} of {} kernels were measured; kernels with {} of the measured kernel time are within 10 %, "
                    "with {} within 15 %.</p>\n",
                    compared, r.operators.size(), Percent(within10 / time), Percent(within15 / time));
}

std::string Warnings(const Report& r) {
  constexpr size_t kMostWarnings = 200;
  std::string html = "<ul class=\"warn\">\n";
  for (size_t i = 0; i < std::min(r.warnings.size(), kMostWarnings); ++i)
    html += fmt::format("<li>{}</li>\n", HtmlEscaped(r.warnings[i]));
  html += "</ul>\n";
  if (r.warnings.size() > kMostWarnings)
    html += fmt::format("<p class=\"soft\">and {} more</p>\n", r.warnings.size() - kMostWarnings);
  return html;
}

std::string Asked(const Report& r) {
  return fmt::format(
      "<p class=\"soft\">sim_predict {} · model {} (structure {}){}{} · times are the {} of warm "
      "runs</p>\n<pre>{}</pre>\n",
      HtmlEscaped(r.run.tool_version), HtmlEscaped(r.run.model_path), HtmlEscaped(r.run.model_sha256.substr(0, 16)),
      r.run.model_version.empty() ? "" : " version " + HtmlEscaped(r.run.model_version),
      r.run.commit.empty() ? "" : " · commit " + HtmlEscaped(r.run.commit), HtmlEscaped(r.run.statistic),
      HtmlEscaped(r.run.config));
}

}  // namespace

std::string RenderHtml(const Report& r, const ViewOptions& options) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src "
      "'none'; style-src 'unsafe-inline'; script-src "
      "'unsafe-inline'\">\n<title>{}</title>\n<style>{}</style></head>\n<body><main>\n",
      HtmlEscaped(fmt::format("{} on {}: {}", r.run.model_name, r.run.device, r.latency)), kHtmlStyle);
  html += Head(r) + Section("End to end", EndToEnd(r));
  if (r.comparison) html += Section("Predicted against measured", Compared(r));
  html += Section("Utilisation and bottleneck", Utilisation(r));
  html += Section("Where the time comes from", Sources(r));
  if (!r.warnings.empty()) html += Section(fmt::format("Warnings ({})", r.warnings.size()), Warnings(r));
  html += Section("Time per operator", Operators(r, options)) + Section("Time per type", Types(r));
  html +=
      Section("Roofline", RooflineSvg(r)) + Section("Timeline", TimelineSvg(r)) + Section("What was asked", Asked(r));
  return html + fmt::format("</main><script>{}</script></body></html>\n", kHtmlScript);
}

}  // namespace simpred
