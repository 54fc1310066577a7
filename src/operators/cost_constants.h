// How much work is one element of ...? The only place where the operations per element of a function are counted.
//
// Unit: one operation is what one lane of a vector unit does in one issue slot of an addition, so that work divided by
// a device's peak (additions and multiplications) is a lower bound of the time. A multiply-add counts two. A function
// without an instruction of its own counts the operations of its usual polynomial or iteration in single precision.
// These are weights of a roofline, not measurements: calibration corrects what they miss, they only have to be ordered
// and of the right magnitude.
#pragma once

namespace simpred::cost {

// One instruction each on every vector unit considered.
inline constexpr double kAdd = 1;       // also subtract, compare, min, max, and, or, not, select
inline constexpr double kMultiply = 1;  // also shifts
inline constexpr double kMultiplyAdd = 2;

// Division and square root are not pipelined like an addition: throughput is a quarter to a tenth of it on x86 server
// cores (instruction tables of Intel's and AMD's optimisation manuals: divps 256 bit 5 cycles, addps 0.5). NPUs and
// GPUs make them of a reciprocal estimate and two Newton steps (four multiply-adds).
inline constexpr double kDivide = 8;
inline constexpr double kSqrt = 8;
inline constexpr double kReciprocal = 8;
inline constexpr double kModulo = 10;  // divide, truncate, multiply, subtract

// exp: range reduction (multiply, round, two multiply-adds), polynomial of degree 5 (five multiply-adds), scaling by a
// power of two (two integer operations): Cephes' expf.
inline constexpr double kExp = 18;
// log: split into exponent and mantissa (4), polynomial of degree 8 (16), recombination (4): Cephes' logf.
inline constexpr double kLog = 24;
// pow = exp(y * log(x)).
inline constexpr double kPow = kExp + kLog + kMultiply;
// sin, cos: three-step range reduction (8), polynomial of degree 4 with sign and swap selection (14): Cephes' sinf.
inline constexpr double kSin = 22;
inline constexpr double kTan = 2 * kSin + kDivide;
// asin, acos, atan: polynomial of degree 5 to 9 and the reduction with one square root or division.
inline constexpr double kArcTrigonometric = 30;
// tanh: rational approximation, degree 13 over degree 6 (13 operations over 6 plus clamp and divide), as vector
// libraries do it.
inline constexpr double kTanh = 28;
// sigmoid: rational approximation or 1 / (1 + exp(-x)).
inline constexpr double kSigmoid = kExp + kDivide + 2;
// sinh, cosh: two exponentials, a sum and a halving. asinh, acosh, atanh: a logarithm, a root or division, three sums.
inline constexpr double kHyperbolic = 2 * kExp + 2;
inline constexpr double kArcHyperbolic = kLog + kSqrt + 3;
// erf: two-range rational approximation with one exponential.
inline constexpr double kErf = kExp + 22;
// round, floor, ceil, sign, abs, neg, is-nan: one or two bit or rounding instructions.
inline constexpr double kRound = 1;
inline constexpr double kAbs = 1;

// Composite activations, from their defining formulas in the ONNX operator specification.
inline constexpr double kLeakyRelu = 3;                         // compare, multiply, select
inline constexpr double kElu = kExp + 4;                        // exp, subtract, scale, compare, select
inline constexpr double kSoftplus = kExp + kLog + 1;            // log(1 + exp(x))
inline constexpr double kSoftsign = kAbs + kAdd + kDivide;      // x / (1 + |x|)
inline constexpr double kHardSigmoid = kMultiplyAdd + 2;        // max(0, min(1, a x + b))
inline constexpr double kHardSwish = kHardSigmoid + kMultiply;  // x * hardsigmoid(x)
inline constexpr double kGelu = kErf + 4;                       // 0.5 x (1 + erf(x / sqrt 2))
inline constexpr double kGeluTanh = kTanh + 8;                  // the tanh form
inline constexpr double kQuickGelu = kSigmoid + 2;              // x * sigmoid(1.702 x)
inline constexpr double kMish = kSoftplus + kTanh + kMultiply;  // x * tanh(softplus(x))
inline constexpr double kSwish = kSigmoid + kMultiply;          // x * sigmoid(x)

// Conversions: one conversion instruction; from and to floats below 16 bits several bit operations.
inline constexpr double kCast = 1;
inline constexpr double kCastSmallFloat = 8;
// quantise: divide (a multiplication by the reciprocal of a constant scale), round, add the zero point, clamp twice,
// narrow. dequantise: widen, subtract, multiply.
inline constexpr double kQuantize = 6;
inline constexpr double kDequantize = 3;

// One random number: a counter-based or xorshift generator of about ten integer operations, and its conversion.
// A normal number adds the Box-Muller transform (half a log, root, sine and cosine each).
inline constexpr double kRandomUniform = 12;
inline constexpr double kRandomNormal = kRandomUniform + (kLog + kSqrt + 2 * kSin) / 2 + 4;

// One step of a search or a sort: compare, select, move index and value.
inline constexpr double kSortStep = 4;
// Address arithmetic of one gathered or scattered element, where indices are per element and not per row.
inline constexpr double kIndexElement = 2;

// Interpolation per output element and axis: linear needs a subtraction and a multiply-add between two samples, cubic
// four multiply-adds with coefficients computed once per row. Nearest moves only.
inline constexpr double kLinearPerAxis = 3;
inline constexpr double kCubicPerAxis = 8;

}  // namespace simpred::cost
