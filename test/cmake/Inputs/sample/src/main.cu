#include "local.h"
#include <cstring>
#if !FROM_DEPENDENCY || !ONLY_CUDA || !FROM_HOST_FLAG
#error "flags were lost"
#endif
void smooth(const float *in, float *out, int n);
int main() {
  smooth(nullptr, nullptr, LOCAL);
  return std::strcmp(TITLE, "a, b");
}
