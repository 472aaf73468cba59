// What nvcc does not know yet (C++23) is read, and declined where it is not understood.
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s --cuda-path=%cuda --force --self-check=off -o %t.cu -- -std=c++23 2>&1 | FileCheck %s
// CHECK-DAG: 'v' left as it is
// CHECK-DAG: 'w' left as it is: {{.*}}(if consteval) [unsupported-statement]
#include <cuda_runtime.h>
struct View { const float *p; int n; template <class Self> constexpr auto at(this Self &&self, int i) { return i < self.n ? self.p[i] : 0.f; } };
__global__ void v(View in, float *out) {
  __shared__ float s[258]; int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = in.at(g); if (t < 2) s[256 + t] = in.at(g + 256);
  __syncthreads();
  if (g < in.n) out[g] = s[t] + s[t + 2];
}
__global__ void w(const float *in, float *out, int n) {
  __shared__ float s[258]; auto t = int(threadIdx.x), g = int(blockIdx.x) * 256 + t;
  for (auto i = t; i < 258; i += 256) { const auto q = int(blockIdx.x) * 256 + i; if consteval { s[i] = 0; } else { s[i] = q < n ? in[q] : auto(0.f); } }
  __syncthreads();
  if (g < n) out[g] = s[t] + s[t + 2];
}
void launch(View a, float *out) { v<<<a.n / 256, 256>>>(a, out); w<<<a.n / 256, 256>>>(a.p, out, a.n); }
