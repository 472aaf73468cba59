// A launch in a generic lambda is seen in what is made of it, as one in a template.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
// CHECK-DAG: rewrote 'taps<2>' (1 launch)
// CHECK-DAG: rewrote 'taps<4>' (1 launch)
// CHECK-DAG: rewrote 'plain' (2 launches)
#include "program.h"
#include <type_traits>

template <int R>
__global__ void taps(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[256 + 2 * R];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t + R] = g < n ? in[g] : 0.f;
  if (t < R) {
    s[t] = g >= R ? in[g - R] : 0.f;
    s[t + 256 + R] = g + 256 < n ? in[g + 256] : 0.f;
  }
  __syncthreads();
  float a = 0;
  for (int k = -R; k <= R; k++)
    a += s[t + R + k];
  if (g < n)
    out[g] = a;
}
__global__ void plain(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[258];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0.f;
  if (t < 2)
    s[t + 256] = g + 256 < n ? in[g + 256] : 0.f;
  __syncthreads();
  if (g < n)
    out[g] = s[t] + s[t + 1] * s[t + 2];
}
int main() {
  const int N = 40000;
  Buffer<float> in(randoms<float>(N)), out(N);
  auto run = [&](auto r, const char *name) {
    constexpr int R = decltype(r)::value;
    taps<R><<<blocks(N, 256), 256>>>(in.Data, out.Data, N);
    out.show(name, R);
    plain<<<blocks(N, 256), 256>>>(out.Data, in.Data, N);
    in.show("plain", R);
  };
  run(std::integral_constant<int, 2>{}, "two");
  run(std::integral_constant<int, 4>{}, "four");
  [&](auto &&...sizes) { (plain<<<blocks(sizes, 256), 256>>>(in.Data, out.Data, sizes), ...); }(100, 2000);
  out.show("last");
}
