// Misuse of Status and Result that must not compile. Case 0 is the control and must compile.
#include "base/status.h"

namespace simpred {

Result<int> Five() { return 5; }

int Control() {
  const Result<int> five = Five();
  return five.ok() ? *five : 0;
}

#if SIMPRED_CASE == 1  // a result is not the value
int Misuse() { return Five(); }
#elif SIMPRED_CASE == 2  // a status that nobody looks at (with -Werror)
void Misuse() { UsageError("lost"); }
#elif SIMPRED_CASE == 3  // a result that nobody looks at (with -Werror)
void Misuse() { Five(); }
#elif SIMPRED_CASE == 4  // a status is not a truth value
bool Misuse() { return OkStatus(); }
#endif

}  // namespace simpred
