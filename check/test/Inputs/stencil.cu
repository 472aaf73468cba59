// A stencil, and with -DREWRITTEN its register form; SELECT chooses a value.
#include <cstdio>
#ifdef REWRITTEN
__global__ void kernel_rc(const float *__restrict__ a, float *__restrict__ o,
                          int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  float x0 = g < n + 4 ? a[g] : 0.0f;
  float x1 = lane < 4 && g + 32 < n + 4 ? a[g + 32] : 0.0f;
  float v = 0;
#pragma unroll
  for (int k = 0; k <= 4; ++k)
    v += __shfl_sync(~0u, SELECT(lane < k, x1, x0), (lane + k) & 31);
  if (g < n)
    o[g] = v;
}
#endif
__global__ void kernel(const float *__restrict__ a, float *__restrict__ o,
                       int n) {
  __shared__ float s[132];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = g < n + 4 ? a[g] : 0.0f;
  if (threadIdx.x < 4)
    s[threadIdx.x + 128] = g + 128 < n + 4 ? a[g + 128] : 0.0f;
  __syncthreads();
  float v = 0;
  for (int k = 0; k <= 4; ++k)
    v += s[threadIdx.x + k];
  if (g < n)
    o[g] = v;
}
#ifdef REWRITTEN
static void kernel_rc_launch(dim3 g, dim3 b, size_t s, cudaStream_t st,
                             const float *a, float *o, int n) {
  if (b.x == 128 && b.y == 1 && b.z == 1)
    kernel_rc<<<g, b, 0, st>>>(a, o, n);
  else
    kernel<<<g, b, s, st>>>(a, o, n);
}
#endif
int main() {
  int n = 1000;
  static float h[1004];
  for (int i = 0; i < 1004; ++i)
    h[i] = i % 10 == 3 ? 1e30f : i;
  float *a, *o;
  cudaMalloc(&a, sizeof(h));
  cudaMalloc(&o, 4 * n);
  for (int round = 0; round < 3; ++round) {
    h[0] = round;
    cudaMemcpy(a, h, sizeof(h), cudaMemcpyHostToDevice);
#ifdef REWRITTEN
    kernel_rc_launch(8, 128, 0, 0, a, o, n);
#else
    kernel<<<8, 128>>>(a, o, n);
#endif
  }
  return 0;
}
