// Slow, not wrong: the run of vector loads stands under a condition that never
// holds. With an unsigned index and a grid-stride loop, the interior is chosen
// among the pieces of the wrapped difference `base + e - 1`: its condition is
// `4294967297 <= e + base`, so every element is loaded one by one.
//   rcache-rewrite --force interior-of-wrapped-index.cu
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256)
    smooth(const double *__restrict__ in, float *__restrict__ out, unsigned n) {
  __shared__ float s[256 + 2];
  const int t = threadIdx.x;
  for (unsigned base = blockIdx.x * 256; base < n; base += gridDim.x * 256) {
    const unsigned g = base + t;
    for (int e = t; e < 256 + 2; e += 256) {
      const unsigned x = base + (unsigned)e - 1;
      if (x < n)
        s[e] = (float)in[x];
    }
    __syncthreads();
    if (g >= 1 && g + 1 < n)
      out[g] = s[t] + s[t + 1] + s[t + 2];
    __syncthreads();
  }
}

void launch(const double *in, float *out, unsigned n) {
  smooth<<<64, 256>>>(in, out, n);
}
