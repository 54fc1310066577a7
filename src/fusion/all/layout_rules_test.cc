// Rules that move data: the blocked layout and transposes.
#include "fusion/rule_case.h"

namespace simpred {
namespace {

std::string Turned(ModelBuilder& b, const std::string& x, const Ints& perm) {
  return b.Op("Transpose", {x}, {{"perm", perm}});
}

}  // namespace

std::vector<RuleCase> LayoutRuleCases() {
  constexpr auto kAll = FusionLevel::kAll;
  return {
      {"transpose-optimizer", FusionLevel::kBasic,
       [](ModelBuilder& b) {
         b.Output(Turned(b, b.Op("Relu", {Turned(b, Image(b), {0, 2, 3, 1})}), {0, 3, 1, 2}));
       },
       "Relu",
       [](ModelBuilder& b) {
         b.Output(b.Op("Relu", {Turned(b, Image(b), {0, 2, 3, 1})}));
       },
       "Relu Transpose"},
      {"blocked-layout", kAll, [](ModelBuilder& b) { b.Output(b.Op("Relu", {Conv(b, Image(b, 32), 32, 32)})); },
       "com.microsoft.nchwc.Conv com.microsoft.nchwc.ReorderInput com.microsoft.nchwc.ReorderOutput",
       [](ModelBuilder& b) {
         // Weights that are not constant.
         const auto w = b.Input("w", DataType::kFloat32, {int64_t{32}, int64_t{32}, int64_t{3}, int64_t{3}});
         b.Output(b.Op("Conv", {Image(b, 32), w}));
       },
       "Conv"},
      {"blocked-layout", kAll,
       [](ModelBuilder& b) {
         const auto y = Conv(b, Image(b, 32), 32, 32);
         b.Output(b.Op("Mul", {y, b.Op("HardSigmoid", {y}, {{"alpha", 1.0 / 6}, {"beta", 0.5}})}));
       },
       "com.microsoft.nchwc.Conv com.microsoft.nchwc.ReorderInput com.microsoft.nchwc.ReorderOutput",
       [](ModelBuilder& b) {
         // 18 channels do not fill groups of four.
         b.Output(Conv(b, Image(b, 18), 18, 18));
       },
       "Conv"},
      {"conv-add-activation", kAll,
       [](ModelBuilder& b) {
         // 18 channels are no multiple of four: the blocked layout leaves the Conv alone.
         const auto x = Image(b, 18);
         b.Output(b.Op("Relu", {b.Op("Add", {Conv(b, x, 18, 18), x})}));
       },
       "com.microsoft.FusedConv",
       [](ModelBuilder& b) {
         const auto x = Image(b, 18);
         b.Output(b.Op("Add", {Conv(b, x, 18, 18), b.Op("GlobalAveragePool", {x})}));
       },
       "Add Conv GlobalAveragePool"},
  };
}

}  // namespace simpred
