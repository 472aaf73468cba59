// before
#include "clip.cuh"
#define LIMIT 1000

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
//--- clip.cuh
#define LIMIT 10
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 8; ++i)
    sum += s[threadIdx.x + i] < LIMIT ? s[threadIdx.x + i] : LIMIT;
  out[g] = sum;
}
#undef LIMIT
// after: The header's limit is a constant with a name of its own.
#include "clip.cuh"
#define LIMIT 1000

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
//--- clip.cuh
constexpr int ClipLimit = 10;
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 8)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 8; ++i)
    sum += s[threadIdx.x + i] < ClipLimit ? s[threadIdx.x + i] : ClipLimit;
  out[g] = sum;
}
