// Which operator families are there? One file each, registered once, in Registry::Default().
#pragma once

#include "operators/registry.h"

namespace simpred {

void RegisterShapeArithmetic(Registry& r);
void RegisterViews(Registry& r);
void RegisterFills(Registry& r);
void RegisterDataMovement(Registry& r);
void RegisterSlice(Registry& r);
void RegisterIndexing(Registry& r);
void RegisterResize(Registry& r);
void RegisterDataDependent(Registry& r);
void RegisterControl(Registry& r);
void RegisterSequence(Registry& r);
void RegisterRandom(Registry& r);
void RegisterQuantization(Registry& r);
void RegisterMachineLearning(Registry& r);
void RegisterText(Registry& r);
void RegisterTraining(Registry& r);

void RegisterElementwise(Registry& r);
void RegisterConvolution(Registry& r);
void RegisterPooling(Registry& r);
void RegisterMatMul(Registry& r);
void RegisterAttention(Registry& r);
void RegisterNormalization(Registry& r);
void RegisterReduction(Registry& r);
void RegisterRecurrent(Registry& r);
void RegisterImage(Registry& r);
void RegisterMicrosoft(Registry& r);
void RegisterNchwc(Registry& r);
void RegisterHypothetical(Registry& r);

}  // namespace simpred
