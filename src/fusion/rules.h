// The rules that imitate ONNX Runtime's CPU provider, one file each; their order is in onnxruntime_rules.cc.
#pragma once

#include <string>

#include "fusion/fusion.h"
#include "fusion/rewriter.h"

namespace simpred {

// `rewrite` does all that it finds in one walk and gives the number of rewrites. The engine repeats.
FusionRule MakeRule(std::string name, FusionLevel level, std::string summary, int (*rewrite)(Rewriter&));

// load/
FusionRule CastLikeToCast();
FusionRule DuplicateCasts(FusionLevel level);
FusionRule HardSwishDefinition();

// basic/
FusionRule IdentityElimination();
FusionRule SliceElimination();
FusionRule DropoutElimination();
FusionRule ExpandElimination();
FusionRule PreShapeElimination();
FusionRule NoOpElimination();
FusionRule DivMulFusion();
FusionRule ReluClipFusion();
FusionRule GemmSumFusion();
FusionRule GemmTransposeFusion(FusionLevel level);
FusionRule NotWhereFusion();
FusionRule ConvAddFusion();
FusionRule ConvMulFusion();
FusionRule ConvBatchNormFusion();
FusionRule PadFusion();
FusionRule MatMulBatchNormFusion();
FusionRule CommonSubexpressions();
FusionRule ConstantFolding();
FusionRule MatMulAddFusion(FusionLevel level);
FusionRule ReshapeFusion();
FusionRule GeluFusion(FusionLevel level);
FusionRule LayerNormFusion(FusionLevel level);
FusionRule TransposeOptimizer(FusionLevel level);

// extended/
FusionRule GemmActivationFusion();
FusionRule MatMulIntegerToFloatFusion();
FusionRule DynamicQuantizeMatMulFusion();
FusionRule ConvActivationFusion();
FusionRule SimplifiedLayerNormFusion();
FusionRule SplitFusion();
FusionRule RangeGatherFusion();
FusionRule MatMulTransposeFusion();
FusionRule BiasGeluFusion();
FusionRule SkipLayerNormFusion();
FusionRule FastGeluFusion();
FusionRule QuickGeluFusion();
FusionRule MatMulScaleFusion();

// all/
FusionRule BlockedLayout();
FusionRule ConvAddActivationFusion();

// aggressive/
FusionRule ConvGatedActivationFusion();
FusionRule AttentionCoreFusion();
FusionRule PointwiseChainFusion();

}  // namespace simpred
