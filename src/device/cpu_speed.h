// How fast is this processor? Measured with the widest instructions that it has; the same binary runs on any x86-64.
#pragma once

#include "base/units.h"

namespace simpred {

// The fastest of several short runs of independent multiply-adds in registers on the calling thread: noise only ever
// makes a run slower. Zero: this processor has no such instruction.
FlopsPerSecond MeasureFloat32Peak();
FlopsPerSecond MeasureInt8Peak();  // AVX512-VNNI; a multiply-add of two bytes counts two

// Reading `working_set` again and again, the fastest of several passes. With more threads, each has a part of
// its own and the sum is given.
BytesPerSecond MeasureReadBandwidth(Bytes working_set, int threads);

}  // namespace simpred
