// Which Resize and Upsample have a blocked kernel? Whole-number factors over the two spatial axes, nearest with
// asymmetric coordinates and floor, or linear.
#include <array>
#include <cmath>

#include "fusion/all/blocked_layout.h"

namespace simpred {
namespace {

struct Interpolation {
  std::string mode = "nearest", coordinates = "asymmetric";
};

std::optional<Interpolation> Supported(Rewriter& r, NodeId n) {
  const Node& node = r.node(n);
  Interpolation i{node.String("mode", "nearest"), "asymmetric"};
  if (i.mode != "nearest" && i.mode != "linear") return std::nullopt;
  if (node.Is("Upsample") || r.opset() < 11) return i;
  i.coordinates = node.String("coordinate_transformation_mode", "half_pixel");
  if (i.mode == "nearest") {
    const bool floor = node.String("nearest_mode", "round_prefer_floor") == "floor";
    return i.coordinates == "asymmetric" && floor ? std::optional(i) : std::nullopt;
  }
  const bool known = i.coordinates == "asymmetric" || i.coordinates == "align_corners" || i.coordinates == "half_pixel";
  return known ? std::optional(i) : std::nullopt;
}

// Factors of the four axes from constant output sizes: each a multiple of the input's.
std::optional<std::vector<int64_t>> FactorsOfSizes(Rewriter& r, NodeId n) {
  const auto sizes = r.ConstantInts(r.input(n, 3));
  const auto dims = r.dims(r.input(n, 0));
  if (!sizes || !dims || sizes->size() != 4 || dims->size() != 4) return std::nullopt;
  std::vector<int64_t> factors;
  for (size_t i = 0; i < 4; ++i) {
    if ((*dims)[i] < 1 || (*sizes)[i] < 1 || (*sizes)[i] % (*dims)[i] != 0) return std::nullopt;
    factors.push_back((*sizes)[i] / (*dims)[i]);
  }
  return factors[0] == 1 && factors[1] == 1 ? std::optional(factors) : std::nullopt;
}

// The same from constant scales.
std::optional<std::vector<int64_t>> Factors(Rewriter& r, NodeId n) {
  const bool three_inputs = r.node(n).Is("Resize") && r.opset() >= 11;
  if (three_inputs && r.PresentInputs(n) == 4) return FactorsOfSizes(r, n);
  if (three_inputs && r.PresentInputs(n) != 3) return std::nullopt;
  const auto scales = r.Constant(r.input(n, three_inputs ? 2 : 1));
  if (!scales || scales->dtype != DataType::kFloat32 || scales->floats.size() != 4) return std::nullopt;
  std::vector<int64_t> factors;
  for (double s : scales->floats) {
    if (s < 1 || s != std::floor(s)) return std::nullopt;
    factors.push_back(static_cast<int64_t>(s));
  }
  return factors[0] == 1 && factors[1] == 1 ? std::optional(factors) : std::nullopt;
}

}  // namespace

void BlockedLayoutPass::TransformResize(NodeId n) {
  const Blocked* in = Find(r_.input(n, 0));
  if (in == nullptr) return;
  const auto interpolation = Supported(r_, n);
  const auto factors = Factors(r_, n);
  if (!interpolation || !factors) return;
  Replace(n, "Upsample", {in->value}, in->channels, false);
  Node& made = r_.node(blocked_[registered_.back()].node);
  made.Set("scales", *factors);
  made.Set("mode", interpolation->mode);
  made.Set("coordinate_transformation_mode", interpolation->coordinates);
}

}  // namespace simpred
