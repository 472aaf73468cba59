#include <shared.h>
#ifndef ONLY_HERE
#error "the file's own definition was lost"
#endif
__global__ void smooth_kernel(const float *__restrict__ in,
                              float *__restrict__ out, int n) {
  __shared__ float s[128 + 2 * RADIUS];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= n)
    return;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 2 * RADIUS)
    s[threadIdx.x + blockDim.x] = in[g + blockDim.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 2 * RADIUS; ++i)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}
void smooth(const float *in, float *out, int n) {
  smooth_kernel<<<(n + 127) / 128, 128>>>(in, out, n);
}
