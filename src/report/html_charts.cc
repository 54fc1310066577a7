#include "report/html_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/numbers.h"
#include "report/escape.h"

namespace simpred {
namespace {

constexpr size_t kMostDots = 800;
constexpr double kWidth = 1060, kHeight = 400, kLeft = 84, kRight = 24, kTop = 16, kBottom = 44;

std::string Px(double v) { return FormatFixed(v, 1); }

// Whole decades that hold all of what is shown.
struct LogAxis {
  double low = 0, high = 1;  // log10
  void Include(double v) {
    if (!(v > 0) || !std::isfinite(v)) return;
    const double l = std::log10(v);
    low = empty ? std::floor(l) : std::min(low, std::floor(l));
    high = empty ? std::floor(l) + 1 : std::max(high, std::ceil(l));
    empty = false;
  }
  double At(double v) const { return (std::log10(v) - low) / (high - low); }  // 0..1
  bool empty = true;
};

struct Dot {
  const ReportOperator* op;
  double intensity, rate;
};

std::vector<Dot> Dots(const Report& r) {
  std::vector<Dot> dots;
  for (const size_t i : ByTime(r)) {
    const ReportOperator& o = r.operators[i];
    if (dots.size() == kMostDots) break;
    if (o.flops.count() <= 0 || o.bytes.count() <= 0 || o.latency <= Duration()) continue;
    const double intensity = o.flops.count() / static_cast<double>(o.bytes.count());
    const double rate = (o.flops / o.latency).count();
    if (std::isfinite(intensity) && std::isfinite(rate) && rate > 0) dots.push_back({&o, intensity, rate});
  }
  return dots;
}

class RooflinePlot {
 public:
  explicit RooflinePlot(const Report& r) : report_(r), dots_(Dots(r)) {
    for (const Dot& d : dots_) {
      x_.Include(d.intensity);
      y_.Include(d.rate);
    }
    for (const Ceiling& c : r.compute_ceilings) y_.Include(c.per_second);
    x_.Include(0.1);
    x_.Include(100);
  }
  bool empty() const { return dots_.empty(); }
  std::string Draw() const {
    return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Roofline\">\n", Px(kWidth), Px(kHeight)) +
           Axes() + Ceilings() + Marks() + "</svg>\n";
  }

 private:
  double X(double v) const { return kLeft + x_.At(v) * (kWidth - kLeft - kRight); }
  double Y(double v) const { return kHeight - kBottom - y_.At(v) * (kHeight - kTop - kBottom); }
  std::string Line(double x1, double y1, double x2, double y2, std::string_view css) const {
    return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", Px(X(x1)), Px(Y(y1)),
                       Px(X(x2)), Px(Y(y2)), css);
  }
  std::string Text(double x, double y, std::string_view anchor, std::string_view text) const {
    return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", Px(x), Px(y), anchor,
                       HtmlEscaped(text));
  }
  std::string Axes() const;
  std::string Ceilings() const;
  std::string Marks() const;

  const Report& report_;
  std::vector<Dot> dots_;
  LogAxis x_, y_;
};

std::string RooflinePlot::Axes() const {
  std::string svg;
  const double x_low = std::pow(10, x_.low), x_high = std::pow(10, x_.high);
  const double y_low = std::pow(10, y_.low), y_high = std::pow(10, y_.high);
  for (double e = x_.low; e <= x_.high; e += 1) {
    const double v = std::pow(10, e);
    svg += Line(v, y_low, v, y_high, "axis") + Text(X(v), kHeight - kBottom + 16, "middle", FormatDouble(v));
  }
  for (double e = y_.low; e <= y_.high; e += 1) {
    const double v = std::pow(10, e);
    svg += Line(x_low, v, x_high, v, "axis") + Text(kLeft - 6, Y(v) + 4, "end", ToString(FlopsPerSecond(v)));
  }
  return svg + Text((kLeft + kWidth - kRight) / 2, kHeight - 8, "middle", "operations per byte");
}

// A memory ceiling rises with the intensity until it meets the highest compute ceiling.
std::string RooflinePlot::Ceilings() const {
  std::string svg;
  const double x_low = std::pow(10, x_.low), x_high = std::pow(10, x_.high);
  const double y_low = std::pow(10, y_.low), y_high = std::pow(10, y_.high);
  double top = 0;
  for (const Ceiling& c : report_.compute_ceilings) top = std::max(top, c.per_second);
  if (top <= 0) top = y_high;
  for (const Ceiling& c : report_.compute_ceilings)
    svg += Line(x_low, c.per_second, x_high, c.per_second, "roof") +
           Text(kWidth - kRight - 4, Y(c.per_second) - 4, "end",
                fmt::format("{} {}", c.name, FlopsPerSecond(c.per_second)));
  for (const Ceiling& c : report_.memory_ceilings) {
    if (c.per_second <= 0) continue;
    const double start = std::max(x_low, y_low / c.per_second);
    const double end = std::min(x_high, top / c.per_second);
    if (end <= start) continue;
    svg += Line(start, start * c.per_second, end, end * c.per_second, "roof") +
           Text(X(start) + 4, Y(start * c.per_second) - 6, "start",
                fmt::format("{} {}", c.name, BytesPerSecond(c.per_second)));
  }
  return svg;
}

std::string RooflinePlot::Marks() const {
  std::string svg;
  for (const Dot& d : dots_) {
    const double share = report_.latency > Duration() ? std::clamp(d.op->latency / report_.latency, 0.0, 1.0) : 0;
    svg += fmt::format(
        "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\" fill-opacity=\"0.65\"><title>{}</title></circle>\n",
        Px(X(d.intensity)), Px(Y(d.rate)), Px(2.5 + 16 * std::sqrt(share)), ColorOf(d.op->op_class),
        HtmlEscaped(fmt::format("{} ({}): {}, {}, {} per byte", d.op->name, d.op->type, d.op->latency,
                                FlopsPerSecond(d.rate), FormatFixed(d.intensity, 2))));
  }
  return svg;
}

// Neighbours on a track that are drawn as one box.
struct Box {
  double from, to;  // pixels
  const ReportOperator* longest;
  int64_t kernels;
  Duration time;
};

std::string DrawBox(const Box& b, double y) {
  const std::string what = b.kernels == 1
                               ? fmt::format("{} ({}): {}", b.longest->name, b.longest->type, b.longest->latency)
                               : fmt::format("{} kernels, together {}; the longest: {} ({})", b.kernels, b.time,
                                             b.longest->name, b.longest->type);
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"24\" class=\"{}\"><title>{}</title></rect>\n",
                     Px(b.from), Px(y), Px(std::max(0.3, b.to - b.from - 0.2)), ColorOf(b.longest->op_class),
                     HtmlEscaped(what));
}

std::string Track(const Report& r, const std::string& resource, Duration span, double y) {
  constexpr double kLeast = 1.0;  // pixels
  const double scale = kWidth - kLeft - kRight;
  std::string svg = fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", Px(kLeft - 8), Px(y + 16),
                                HtmlEscaped(Shortened(resource, 12)));
  std::optional<Box> open;
  for (const ReportOperator& o : r.operators) {
    if (o.resource != resource || o.source == Source::kExcluded) continue;
    const double from = kLeft + o.start / span * scale;
    const double to = kLeft + o.end / span * scale;
    if (open && (open->to - open->from >= kLeast || from - open->to >= kLeast)) {
      svg += DrawBox(*open, y);
      open.reset();
    }
    if (!open) {
      open = Box{from, to, &o, 1, o.latency};
      continue;
    }
    open->to = to;
    ++open->kernels;
    open->time += o.latency;
    if (o.latency > open->longest->latency) open->longest = &o;
  }
  if (open) svg += DrawBox(*open, y);
  return svg;
}

}  // namespace

std::string_view ColorOf(std::string_view op_class) {
  struct Entry {
    OperatorClass op_class;
    std::string_view css;
  };
  static constexpr Entry kColors[] = {{OperatorClass::kConvolution, "f0"},  {OperatorClass::kMatMul, "f1"},
                                      {OperatorClass::kElementwise, "f2"},  {OperatorClass::kNormalization, "f3"},
                                      {OperatorClass::kReduction, "f3"},    {OperatorClass::kPooling, "f4"},
                                      {OperatorClass::kDataMovement, "f6"}, {OperatorClass::kRecurrent, "f7"}};
  for (const Entry& e : kColors)
    if (Name(e.op_class) == op_class) return e.css;
  return "f5";
}

std::string RooflineSvg(const Report& r) {
  const RooflinePlot plot(r);
  return plot.empty() ? "<p class=\"soft\">No kernel does arithmetic.</p>\n" : plot.Draw();
}

std::string TimelineSvg(const Report& r) {
  Duration span;
  for (const ReportOperator& o : r.operators) span = std::max(span, o.end);
  if (span <= Duration() || r.resources.empty()) return "<p class=\"soft\">Nothing runs.</p>\n";
  const double height = static_cast<double>(r.resources.size()) * 34 + 26;
  std::string svg =
      fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Timeline\">\n", Px(kWidth), Px(height));
  for (int i = 0; i <= 4; ++i) {
    const double x = kLeft + (kWidth - kLeft - kRight) * i / 4;
    svg += fmt::format(
        "<line x1=\"{0}\" x2=\"{0}\" y1=\"0\" y2=\"{1}\" class=\"axis\"/><text x=\"{0}\" y=\"{2}\" "
        "text-anchor=\"middle\">{3}</text>\n",
        Px(x), Px(height - 20), Px(height - 6), HtmlEscaped(ToString(span * (i / 4.0))));
  }
  for (size_t i = 0; i < r.resources.size(); ++i)
    svg += Track(r, r.resources[i].name, span, static_cast<double>(i) * 34 + 4);
  return svg + "</svg>\n";
}

}  // namespace simpred
