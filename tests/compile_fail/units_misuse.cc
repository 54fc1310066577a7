// Misuse of the units that must not compile: one case is chosen by SIMPRED_CASE. Case 0 is the control: it must
// compile, so that a failure of the others is the misuse and not a broken test.
#include "base/units.h"

namespace simpred {

double Control() {
  Duration t = Bytes(1 << 20) / BytesPerSecond(1e9);
  t += Microseconds(1);
  return t / Microseconds(1) + Flops(2) / Flops(1);
}

#if SIMPRED_CASE == 1  // bytes are not work
auto Misuse() { return Bytes(1) + Flops(1); }
#elif SIMPRED_CASE == 2   // a bare number is no duration
Duration Misuse() { return 5.0; }
#elif SIMPRED_CASE == 3   // a duration is no bare number
double Misuse() { return Microseconds(5); }
#elif SIMPRED_CASE == 4   // a bare number is no size
Bytes Misuse() { return 5; }
#elif SIMPRED_CASE == 5   // times do not multiply
auto Misuse() { return Microseconds(5) * Microseconds(5); }
#elif SIMPRED_CASE == 6   // work over bandwidth is no time
auto Misuse() { return Flops(5) / BytesPerSecond(5); }
#elif SIMPRED_CASE == 7   // bytes over compute rate is no time
auto Misuse() { return Bytes(5) / FlopsPerSecond(5); }
#elif SIMPRED_CASE == 8   // a time is not compared with a number
bool Misuse() { return Microseconds(5) < 5.0; }
#elif SIMPRED_CASE == 9   // a time is not compared with a size
bool Misuse() { return Microseconds(5) < Bytes(5); }
#elif SIMPRED_CASE == 10  // a number is not added to a time
auto Misuse() { return Microseconds(5) + 5.0; }
#elif SIMPRED_CASE == 11  // rates of different things do not compare
bool Misuse() { return BytesPerSecond(1) < FlopsPerSecond(1); }
#elif SIMPRED_CASE == 12  // the constructor from nanoseconds is named
Duration Misuse() { return Duration(5.0); }
#endif

}  // namespace simpred
