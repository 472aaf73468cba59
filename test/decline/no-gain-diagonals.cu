// Each round reads a diagonal of its own, n elements behind the last: memory decides, and what
// is staged is a small part of it. The rows of an image overlap, and serve several outputs.
// RUN: %rewrite %s -q --list --gpu=H100 -- %mock 2>&1 | FileCheck %s
// CHECK: declined band{{.*}}; no-gain
// CHECK: rewritten rows

__global__ void band(int n, const float *diagonals, const float *x, float *y) {
  __shared__ float s[192 + 8];
  int i = blockIdx.x * 192 + threadIdx.x;
  s[threadIdx.x + 4] = i < n ? x[i] : 0;
  if (threadIdx.x < 4) {
    s[threadIdx.x] = i >= 4 ? x[i - 4] : 0;
    s[threadIdx.x + 196] = i + 192 < n ? x[i + 192] : 0;
  }
  __syncthreads();
  if (i < n) {
    float sum = 0;
    for (int d = 0; d < 9; ++d)
      sum += diagonals[d * n + i] * s[threadIdx.x + d];
    y[i] = sum;
  }
}

__global__ void rows(int n, int height, const float *__restrict__ image,
                     const float *__restrict__ x, float *__restrict__ y) {
  __shared__ float s[192 + 8];
  int i = blockIdx.x * 192 + threadIdx.x, row = blockIdx.y;
  s[threadIdx.x + 4] = i < n ? x[i] : 0;
  if (threadIdx.x < 4) {
    s[threadIdx.x] = i >= 4 ? x[i - 4] : 0;
    s[threadIdx.x + 196] = i + 192 < n ? x[i + 192] : 0;
  }
  __syncthreads();
  if (i < n && row < height - 9) {
    float sum = 0;
    for (int d = 0; d < 9; ++d)
      sum += image[(row + d) * n + i] * s[threadIdx.x + d];
    y[row * n + i] = sum;
  }
}

void run(int n, int h, const float *d, const float *x, float *y) {
  band<<<(n + 191) / 192, 192>>>(n, d, x, y);
  rows<<<dim3((n + 191) / 192, h), 192>>>(n, h, d, x, y);
}
