// In which order does ONNX Runtime's CPU provider rewrite a graph?
//
// The order of its optimisers per level, as its documentation and the graphs that it saves show it. A rule that runs at
// two levels stands here twice.
#include "fusion/rules.h"

namespace simpred {

const std::vector<FusionRule>& OnnxRuntimeRules() {
  static const std::vector<FusionRule> rules = {
      CastLikeToCast(),
      DuplicateCasts(FusionLevel::kOff),
      HardSwishDefinition(),

      IdentityElimination(),
      SliceElimination(),
      DropoutElimination(),
      ExpandElimination(),
      DuplicateCasts(FusionLevel::kBasic),
      PreShapeElimination(),
      NoOpElimination(),
      DivMulFusion(),
      ReluClipFusion(),
      GemmSumFusion(),
      GemmTransposeFusion(FusionLevel::kBasic),
      NotWhereFusion(),
      ConvAddFusion(),
      ConvMulFusion(),
      ConvBatchNormFusion(),
      PadFusion(),
      MatMulBatchNormFusion(),
      CommonSubexpressions(),
      ConstantFolding(),
      MatMulAddFusion(FusionLevel::kBasic),
      ReshapeFusion(),
      GeluFusion(FusionLevel::kBasic),
      LayerNormFusion(FusionLevel::kBasic),
      TransposeOptimizer(FusionLevel::kBasic),

      GemmTransposeFusion(FusionLevel::kExtended),
      TransposeOptimizer(FusionLevel::kExtended),
      GemmActivationFusion(),
      MatMulIntegerToFloatFusion(),
      DynamicQuantizeMatMulFusion(),
      ConvActivationFusion(),
      GeluFusion(FusionLevel::kExtended),
      LayerNormFusion(FusionLevel::kExtended),
      SimplifiedLayerNormFusion(),
      SplitFusion(),
      RangeGatherFusion(),
      MatMulTransposeFusion(),
      BiasGeluFusion(),
      SkipLayerNormFusion(),
      FastGeluFusion(),
      MatMulAddFusion(FusionLevel::kExtended),
      QuickGeluFusion(),
      MatMulScaleFusion(),

      BlockedLayout(),
      ConvAddActivationFusion(),

      ConvGatedActivationFusion(),
      AttentionCoreFusion(),
      PointwiseChainFusion(),
  };
  return rules;
}

}  // namespace simpred
