// Does not compile: the index of a read that is served from its source names a
// variable with one value a slot. `s[j]` becomes `rc_s_at((j))` where `j` is
// now `int j[4]`; it has to be `j[rc_s]`, or the kernel is to be declined.
//   rcache-rewrite --force direct-read-of-slot-variable.cu
#include <cuda_runtime.h>

__global__ void run_length(const float *__restrict__ in,
                           float *__restrict__ out, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  const int g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0.0f;
  __syncthreads();
  int j = t;
  while (j < 128 && s[j] > 0.0f)
    ++j;
  if (g < n)
    out[g] = (float)j;
}

void launch(const float *in, float *out, int n) {
  run_length<<<(n + 127) / 128, 128>>>(in, out, n);
}
