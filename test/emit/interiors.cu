// Where a window is loaded without being asked: in all threads but those at the ends of
// rows and columns. A tile's first elements are at such an end in its first block only,
// and of several pieces the one counts that the middle of a large grid is in.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --exchange=reload -o %t.cu --cuda-path=%cuda -q
// RUN: FileCheck %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -DRCACHE_ANY_LAUNCH
//
// CHECK-LABEL: void erode{{_rc}}(
// CHECK: if ([[#]] <= 128 * (int)rc_block_x + rc_e0 &&
// CHECK-NEXT: 128 * (int)rc_block_x + rc_e0 < width - [[#]]) {
// CHECK-LABEL: void depth{{_rc}}(
// CHECK: rc_d_w_inside =
// CHECK-NOT: [[#]] <= rc_e0
// CHECK: <= 8 * (int)blockIdx.y + rc_e0 &&
// CHECK-LABEL: void box{{_rc}}(
// CHECK: rc_s_w_inside =
// CHECK-NOT: h < 8
// CHECK-SAME: 8 * (int)blockIdx.y < h - [[#]] &&
#include <cstdio>
#include <vector>

template <int R>
__global__ void erode(const unsigned char *__restrict__ src, unsigned char *__restrict__ dst,
                      int width, int stride) {
  __shared__ unsigned char row[128 + 2 * R];
  const int x = blockIdx.x * 128 + threadIdx.x;
  const unsigned char *line = src + (size_t)blockIdx.y * stride;
  for (int i = threadIdx.x; i < 128 + 2 * R; i += 128) {
    const int gx = (int)blockIdx.x * 128 + i - R;
    row[i] = gx < 0 || gx >= width ? 255 : line[gx];
  }
  __syncthreads();
  if (x >= width)
    return;
  unsigned char m = 255;
#pragma unroll
  for (int k = 0; k <= 2 * R; ++k)
    m = min(m, row[threadIdx.x + k]);
  dst[(size_t)blockIdx.y * stride + x] = m;
}

__global__ void depth(const float *src, float *dst, int cols, int rows) {
  __shared__ float d[8 + 4][32 + 4];
  for (int j = threadIdx.y; j < 8 + 4; j += 8)
    for (int i = threadIdx.x; i < 32 + 4; i += 32) {
      int x = (int)blockIdx.x * 32 + i - 2, y = (int)blockIdx.y * 8 + j - 2;
      d[j][i] = x >= 0 && x < cols && y >= 0 && y < rows ? src[(size_t)y * cols + x] : 0;
    }
  __syncthreads();
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= cols || y >= rows)
    return;
  float m = 0;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i)
      m = fmaxf(m, d[threadIdx.y + j][threadIdx.x + i]);
  dst[(size_t)y * cols + x] = m;
}

__device__ int mirror(int i, int n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }

__global__ void box(const int *in, int *out, int w, int h) {
  __shared__ int s[8 + 6][32 + 6];
  for (int j = threadIdx.y; j < 8 + 6; j += 8)
    for (int i = threadIdx.x; i < 32 + 6; i += 32) {
      int x = mirror((int)blockIdx.x * 32 + i - 3, w);
      int y = mirror((int)blockIdx.y * 8 + j - 3, h);
      s[j][i] = x >= 0 && y >= 0 ? in[y * w + x] : 0;
    }
  __syncthreads();
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int sum = 0;
  for (int j = 0; j < 7; ++j)
    for (int i = 0; i < 7; ++i)
      sum += s[threadIdx.y + j][threadIdx.x + i];
  out[y * w + x] = sum;
}

template <typename T> T *made(size_t n) {
  std::vector<T> h(n);
  for (size_t i = 0; i < n; ++i)
    h[i] = T(i * 37 % 251);
  T *p;
  cudaMalloc(&p, n * sizeof(T));
  cudaMemcpy(p, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}

int main() {
  unsigned char *a = made<unsigned char>(640 * 4), *b = made<unsigned char>(640 * 4);
  for (int width : {1, 6, 127, 128, 135, 511, 640})
    erode<7><<<dim3((width + 127) / 128, 4), 128>>>(a, b, width, 640);
  float *f = made<float>(130 * 40), *g = made<float>(130 * 40);
  for (int w : {1, 31, 33, 97, 130})
    depth<<<dim3((w + 31) / 32, 4), dim3(32, 8)>>>(f, g, w, 27);
  int *p = made<int>(130 * 40), *q = made<int>(130 * 40);
  for (int w : {40, 99, 128})
    for (int h : {16, 33})
      box<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(p, q, w, h);
  cudaDeviceSynchronize();
}
