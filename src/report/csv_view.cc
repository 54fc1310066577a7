// One line an operator, in execution order, for spreadsheets and data frames. The unit is in the column's name.
#include <fmt/format.h>

#include <cmath>

#include "base/numbers.h"
#include "report/escape.h"
#include "report/report.h"

namespace simpred {
namespace {

std::string Micros(Duration d) {
  const double us = d / Microseconds(1);
  return std::isfinite(us) ? FormatFixed(us, 3) : "";  // absent is empty
}

}  // namespace

std::string RenderCsv(const Report& r, const ViewOptions&) {
  std::string out =
      "index,name,type,class,dtype,latency_us,low_us,high_us,source,bound,flops,bytes,start_us,end_us,resource,stall_"
      "cause,"
      "fused_from,measured_us,reason\n";
  for (size_t i = 0; i < r.operators.size(); ++i) {
    const ReportOperator& o = r.operators[i];
    std::string fused;
    for (const std::string& name : o.fused_from) fused += (fused.empty() ? "" : ";") + name;
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", i, CsvField(o.name),
                       CsvField(o.type), CsvField(o.op_class), CsvField(o.dtype), Micros(o.latency), Micros(o.low),
                       Micros(o.high), Name(o.source), Name(o.bound), FormatDouble(o.flops.count()), o.bytes.count(),
                       Micros(o.start), Micros(o.end), CsvField(o.resource), Name(o.stall), CsvField(fused),
                       o.measured ? Micros(*o.measured) : "", CsvField(o.reason));
  }
  return out;
}

}  // namespace simpred
