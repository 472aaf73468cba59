// A grid that would leave most of the device idle runs the original, and so do
// pointers without the alignment that long runs need; but not in tests
// (-DRCACHE_ANY_LAUNCH, which rcache-check gives) and with --force.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -q -o %t.cu --cuda-path=%cuda
// RUN: FileCheck %s < %t.cu
// RUN: rcache-rewrite %s -q --force -o %t.forced.cu --cuda-path=%cuda
// RUN: sed -e '/^[/][/]/d' %t.forced.cu | FileCheck --check-prefix=FORCED --implicit-check-not=fills --implicit-check-not=aligned( %s
// RUN: rcache-check run %s > %t.original
// RUN: rcache-check run %t.cu > %t.any
// RUN: rcache-check run %t.cu -- -URCACHE_ANY_LAUNCH > %t.large
// RUN: sed -e 's/return double(grid.x).*/return puts("asked") < 0;/; s/return reinterpret_cast<size_t>(p) % 16 == 0/return puts("base?") \&\& reinterpret_cast<size_t>(p) % 16 == 0/' %t.cu > %t.asked.cu
// RUN: rcache-check run %t.asked.cu -- -URCACHE_ANY_LAUNCH | FileCheck --check-prefix=ASKED %s
// RUN: cmp %t.original %t.any
// RUN: cmp %t.original %t.large
//
// CHECK: static inline bool fills(dim3 grid, unsigned threads, double least)
// CHECK: if ({{::rcache::device::fills}}(rc_grid, {{[0-9]+}}u, 84480) &&
// FORCED: blur{{_rc_launch}}(
// CHECK: longer{{_rc_launch}}(
// CHECK: reinterpret_cast<size_t>(in) % 16 == 0 &&
// CHECK: reinterpret_cast<size_t>(out) % 16 == 0
// FORCED: longer{{_rc_launch}}(
// ASKED: asked
// The grid is too small, so nothing else is asked.
// ASKED-NOT: base?
#include <cstdio>
#include <vector>

__global__ void blur(const float *in, float *out, int n) {
  __shared__ float s[258];
  const int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x + 1] = g < n ? in[g] : 0.0f;
  if (threadIdx.x == 0)
    s[0] = g > 0 && g <= n ? in[g - 1] : 0.0f;
  if (threadIdx.x == 255)
    s[257] = g + 1 < n ? in[g + 1] : 0.0f;
  __syncthreads();
  if (g < n)
    out[g] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}

__global__ void longer(const float *in, float *out, int n) {
  __shared__ float s[256 + 24];
  const int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = g < n ? in[g] : 0.0f;
  if (threadIdx.x < 24)
    s[256 + threadIdx.x] = g + 256 < n ? in[g + 256] : 0.0f;
  __syncthreads();
  if (g < n) {
    float sum = 0;
    for (int k = 0; k < 25; ++k)
      sum += s[threadIdx.x + k];
    out[g] = sum;
  }
}

int main(int argc, char **) {
  const int n = 3000 * argc; // no constant
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i)
    h[i] = float(i * 7 % 61);
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMemcpy(a, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  blur<<<(n + 255) / 256, 256>>>(a, b, n);
  longer<<<(n + 255) / 256, 256>>>(a, b, n - 1);
  longer<<<(n + 255) / 256, 256>>>(a + 1, b + 1, n - 1);
  cudaMemcpy(h.data(), b, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (float v : h)
    std::printf("%g\n", v);
  return 0;
}
