// Which loops does a kernel run? The sizes that its implementation iterates over, read from shapes and attributes.
//
// Each family has a list of names and a function that gives as many numbers. Sizes are log2(1 + n), so that an absent
// dimension is 0 and a doubling is a step of one. Shapes are taken as they come: a kernel with surprising ranks gets
// the neutral values, never a fault.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workload/workload.h"

namespace simpred {

enum class KernelFamily : uint8_t {
  kConvolution,  // windows over channels
  kMatMul,       // [batch] M x K times K x N
  kElementwise,  // same place in, same place out; broadcasts
  kRows,         // normalisations, softmax, reductions: outer x reduced x inner
  kPooling,      // windows without weights
  kMovement,     // copies: runs of contiguous bytes
  kRecurrent,    // steps x hidden
  kGeneric,      // nothing known but work
};

struct KernelClass {
  KernelFamily family = KernelFamily::kGeneric;
  std::string_view group = "generic";
  std::string variant;
};
KernelClass ClassOf(const Kernel& k);

// Of the multiplications of a convolution, the share whose input lies inside the image and not in the padding, 0 to 1.
// A 3x3 kernel with a dilation of 18 on a 14x14 image uses one of its nine taps. 1 for other kernels.
double TapsInside(const Kernel& k);
// Do its loops leave out the padding? The blocked convolutions do; those that copy the image into a matrix multiply
// zeros.
bool SkipsPadding(const Kernel& k);

const std::vector<std::string_view>& GeometryNames(KernelFamily f);
void AppendGeometry(const Kernel& k, KernelFamily f, std::vector<double>& values);

struct GroupInfo {
  std::string_view group;
  KernelFamily family;
};
const std::vector<GroupInfo>& AllGroups();  // sorted by name

// C = A x B of the given kernel, counted in elements; zero where the kernel is not a product.
struct ProductShape {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  bool constant_b = false;
};
ProductShape ProductOf(const Kernel& k);

}  // namespace simpred
