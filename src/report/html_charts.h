// The pictures of the HTML page, as inline SVG.
#pragma once

#include <string>
#include <string_view>

#include "report/report.h"

namespace simpred {

// Log-log: what each kernel reaches over its arithmetic intensity, under the ceilings of the device.
std::string RooflineSvg(const Report& r);
// One track a resource. Kernels too short to be seen are drawn together.
std::string TimelineSvg(const Report& r);
// "f3": the colour of an operator class, the same in every picture.
std::string_view ColorOf(std::string_view op_class);

}  // namespace simpred
