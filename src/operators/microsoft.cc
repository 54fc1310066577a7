#include "operators/microsoft.h"

#include "operators/families.h"

namespace simpred {

void RegisterMicrosoft(Registry& r) {
  RegisterMicrosoftProducts(r);
  RegisterMicrosoftAttention(r);
  RegisterMicrosoftQuantized(r);
  RegisterMicrosoftFused(r);
  RegisterMicrosoftGeneration(r);
  RegisterMicrosoftTensors(r);
}

}  // namespace simpred
