// Sums of two products whose operands keep their order although they are read more
// than once, behind a loop, or from memory that is stored to: all outputs a thread.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: rcache-check diff --device-code=nvcc %s %t.cu
// RUN: %python %src/scripts/fused_sums.py --rewritten --nvcc=%cuda/bin/nvcc %t.cu | FileCheck --check-prefix=NVCC %s
//
// CHECK-DAG: 'spread' left as it is: {{.*}}[fusion-unsettled]
// CHECK-DAG: rewrote 'scaled' (1 launch): {{[1-9][0-9]*}} outputs a thread
// CHECK-DAG: rewrote 'halved' (1 launch): 4 outputs a thread
// Values in front of a use that it cannot be: rounded by then.
// CHECK-DAG: rewrote 'squared' (1 launch): {{[1-9][0-9]*}} outputs a thread
// Where a product of two unnamed values may stay in front of a condition.
// CHECK-DAG: 'inFront' left as it is: {{.*}}[fusion-unsettled]
// NVCC-NOT: DIFFERS
// NVCC: 3 same
#include <vector>

// Each element is read twice: one value or two, by what stands between (a few instructions
// are looked through for one).
__global__ void spread(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[258];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t + 1] = g < n ? in[g] : 0.f;
  if (t == 0)
    s[0] = g > 0 ? in[g - 1] : 0.f;
  if (t == 255)
    s[257] = g + 1 < n ? in[g + 1] : 0.f;
  __syncthreads();
  if (g < n) {
    const float m = (s[t] + s[t + 1] + s[t + 2]) / 3.f, d0 = s[t] - m,
                d1 = s[t + 1] - m, d2 = s[t + 2] - m;
    out[g] = d0 * d0 + d1 * d1 + d2 * d2;
  }
}
// Behind the loop, and stored where it was read.
__global__ void scaled(const float *__restrict__ a, const float *__restrict__ b,
                       float *__restrict__ c, int n, float alpha, float beta) {
  __shared__ float as[16][16], bs[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float acc = 0;
  for (int t = 0; t < n / 16; ++t) {
    as[ty][tx] = a[row * n + t * 16 + tx];
    bs[ty][tx] = b[(t * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      acc += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * n + col] = alpha * acc + beta * c[row * n + col];
}
// By threadIdx.x itself.
__global__ void halved(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[258];
  const int b = blockIdx.x * 256;
  s[threadIdx.x] = b + threadIdx.x < n ? in[b + threadIdx.x] : 0.f;
  s[threadIdx.x + 128] = b + threadIdx.x + 128 < n ? in[b + threadIdx.x + 128] : 0.f;
  if (threadIdx.x < 2)
    s[256 + threadIdx.x] = b + 256 + threadIdx.x < n ? in[b + 256 + threadIdx.x] : 0.f;
  __syncthreads();
  if (2 * (blockIdx.x * 128 + threadIdx.x) < n)
    out[blockIdx.x * 128 + threadIdx.x] = 0.25f * s[2 * threadIdx.x] +
                                          0.5f * s[2 * threadIdx.x + 1] +
                                          0.25f * s[2 * threadIdx.x + 2];
}
// What reads v in front of its product reads no product.
__global__ void squared(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float s[256];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  float v = in[g];
  v *= v;
  s[t] = in[g];
  __syncthreads();
  out[g] = s[t] + s[255 - t] + v;
}
__global__ void inFront(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  float v = in[g < n ? g : n - 1];
  v *= v;
  s[t] = in[g < n ? g : n - 1];
  __syncthreads();
  if (g < n)
    out[g] = s[t] + s[255 - t] + v;
}

static float *filled(int n) {
  std::vector<float> h(n);
  unsigned r = 12345;
  for (float &x : h)
    x = ((r = r * 1664525u + 1013904223u) >> 8) / 65536.f - 100;
  float *d;
  cudaMalloc(&d, n * sizeof(float));
  cudaMemcpy(d, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  return d;
}
int main() {
  for (int n : {1024, 515}) {
    float *in = filled(n), *out = filled(n);
    const int grid = (n + 255) / 256;
    spread<<<grid, 256>>>(in, out, n);
    halved<<<grid, 128>>>(in, out, n);
    squared<<<n / 256, 256>>>(in, out);
    inFront<<<grid, 256>>>(in, out, n);
  }
  const int n = 64;
  scaled<<<dim3(4, 4), dim3(16, 16)>>>(filled(n * n), filled(n * n), filled(n * n), n, 0.7f, -0.3f);
}
