// before
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n)
#include "body.inc"

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
//--- body.inc
{
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  out[g] = s[threadIdx.x] + s[threadIdx.x + 8];
}
// after
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  out[g] = s[threadIdx.x] + s[threadIdx.x + 8];
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
