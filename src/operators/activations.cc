#include "operators/activations.h"

#include <algorithm>
#include <cctype>

#include "operators/cost_constants.h"

namespace simpred {
namespace {

constexpr double kScaledTanh = cost::kTanh + 2 * cost::kMultiply;
constexpr double kSelu = cost::kElu + cost::kMultiply;

constexpr Activation kActivations[] = {
    {"Affine", cost::kMultiplyAdd, true},
    {"Celu", cost::kElu + cost::kDivide + cost::kAdd, true},
    {"Clip", 2 * cost::kAdd, false},
    {"Elu", cost::kElu, true},
    {"FastGelu", cost::kGeluTanh, false},
    {"Gelu", cost::kGelu, false},
    {"HardSigmoid", cost::kHardSigmoid, true},
    {"HardSwish", cost::kHardSwish, true},
    {"Identity", 0, false},
    {"LeakyRelu", cost::kLeakyRelu, true},
    {"Mish", cost::kMish, true},
    {"ParametricSoftplus", cost::kSoftplus + 2 * cost::kMultiply, true},
    {"QuickGelu", cost::kQuickGelu, false},
    {"Relu", cost::kAdd, true},
    {"ScaledTanh", kScaledTanh, true},
    {"Selu", kSelu, true},
    {"Shrink", 4 * cost::kAdd, true},
    {"Sigmoid", cost::kSigmoid, true},
    {"Silu", cost::kSwish, false},
    {"Softplus", cost::kSoftplus, true},
    {"Softsign", cost::kSoftsign, true},
    {"Swiglu", cost::kSwish + cost::kMultiply, false},
    {"Swish", cost::kSwish, true},
    {"Tanh", cost::kTanh, true},
    {"ThresholdedRelu", 2 * cost::kAdd, true},
};

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::span<const Activation> Activations() { return kActivations; }

double ActivationOperations(std::string_view name) {
  if (name.empty() || SameName(name, "none")) return 0;
  for (const Activation& a : kActivations) {
    if (SameName(a.name, name)) return a.operations;
  }
  return cost::kExp;
}

double FusedActivationOperations(const Node* node) {
  return node == nullptr ? 0 : ActivationOperations(node->String("activation", ""));
}

}  // namespace simpred
