// Slots behind a guard compute without it where that does no harm: what they
// share is then computed once. Their stores wait for the guard.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s --check-prefix=SAID < %t.remarks
// RUN: FileCheck %s --input-file=%t.cu
// RUN: rcache-check diff %s %t.cu 2>&1 | FileCheck %s --check-prefix=EQUAL
// RUN: rcache-check %s --kernel=turned --rewritten=%t.cu --prove --trials=6 2>&1 | FileCheck %s --check-prefix=PROVED
// RUN: %if slow %{ rcache-check %s --kernel=vertical --rewritten=%t.cu --prove --trials=6 2>&1 | FileCheck %s --check-prefix=PROVED %}
// RUN: %if slow %{ %nvcc -std=c++17 -Werror all-warnings -ptx %t.cu -o %t.ptx %}
//
// SAID-COUNT-4: rewrote '
// EQUAL: equivalent: 12 launches compared
// PROVED: proved for all data at {{[1-9][0-9]*}} launch shapes, not proved at 0
#include <cstdio>
#include <vector>
#define BX 16
#define BY 8

__device__ void sort2(unsigned char &a, unsigned char &b) {
  const unsigned char low = min(a, b);
  b = max(a, b);
  a = low;
}
__device__ unsigned char middle(unsigned char a, unsigned char b,
                                unsigned char c) {
  sort2(a, b);
  sort2(b, c);
  sort2(a, b);
  return b;
}

// Compares and exchanges, and ends: any slot may.
// CHECK-LABEL: void vertical_{{rc}}(
// CHECK: unsigned char rc_dst_v
// CHECK-NOT: continue;
// CHECK: middle(
// CHECK: if (!(x >= width || y >= height))
// CHECK-NEXT: dst[x * height + y] =
// CHECK-LABEL: vertical_{{rc}}_launch(
__global__ void vertical(const unsigned char *src, unsigned char *dst, int width,
                         int height) {
  __shared__ unsigned char t[BY + 2][BX];
  const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
  const int col = min(x, width - 1);
  for (int r = threadIdx.y; r < BY + 2; r += BY)
    t[r][threadIdx.x] =
        src[min(max(int(blockIdx.y) * BY + r - 1, 0), height - 1) * width + col];
  __syncthreads();
  if (x >= width || y >= height)
    return;
  dst[x * height + y] = middle(t[threadIdx.y][threadIdx.x],
                              t[threadIdx.y + 1][threadIdx.x],
                              t[threadIdx.y + 2][threadIdx.x]);
}

__device__ int share(int a, int b) { return a / b; }

// Divides: behind the guard as before.
// CHECK-LABEL: void quotients_{{rc}}(
// CHECK: continue;
// CHECK: share(
// CHECK-LABEL: quotients_{{rc}}_launch(
__global__ void quotients(const int *src, int *dst, int width, int height) {
  __shared__ int t[BY + 2][BX];
  const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
  for (int r = threadIdx.y; r < BY + 2; r += BY) {
    const int row = blockIdx.y * BY + r - 1;
    t[r][threadIdx.x] =
        x < width && row >= 0 && row < height ? src[row * width + x] : 0;
  }
  __syncthreads();
  if (x >= width || y >= height)
    return;
  dst[y * width + x] =
      share(t[threadIdx.y][threadIdx.x] + t[threadIdx.y + 2][threadIdx.x],
            t[threadIdx.y + 1][threadIdx.x]);
}

__device__ int upTo(int a, int b) {
  int n = 0;
  while (a < b)
    a += 3, ++n;
  return n;
}

// May run for long with what no thread asked for.
// CHECK-LABEL: void rounds_{{rc}}(
// CHECK: continue;
// CHECK: upTo(
// CHECK-LABEL: rounds_{{rc}}_launch(
__global__ void rounds(const int *src, int *dst, int width, int height) {
  __shared__ int t[BY + 2][BX];
  const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
  for (int r = threadIdx.y; r < BY + 2; r += BY) {
    const int row = blockIdx.y * BY + r - 1;
    t[r][threadIdx.x] =
        x < width && row >= 0 && row < height ? src[row * width + x] : 7;
  }
  __syncthreads();
  if (x < width && y < height)
    dst[y * width + x] =
        upTo(t[threadIdx.y][threadIdx.x], t[threadIdx.y + 2][threadIdx.x]) +
        t[threadIdx.y + 1][threadIdx.x];
}

// The last coordinate of the tile runs down the image: no vectors, but an inside
// form. Its rows are staged in two parts; both are the same function.
// CHECK-LABEL: void turned_{{rc}}(
// CHECK: return img[(long long)
// CHECK-NOT: return img
// CHECK: return 0.0f;
// CHECK: bool rc_t_w_inside;
// CHECK: if (rc_t_w_inside) {
// CHECK-LABEL: turned_{{rc}}_launch(
__global__ void turned(const float *img, float *res, int rows, int pitch) {
  __shared__ float t[BX][4 * BY + 1];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = (blockIdx.y * 2 - 1) * BY + threadIdx.y;
  img += y * pitch + x;
  res += (y + BY) * pitch + x;
  for (int k = 1; k < 3; ++k)
    t[threadIdx.x][threadIdx.y + k * BY] = img[k * BY * pitch];
  t[threadIdx.x][threadIdx.y] = y >= 0 ? img[0] : 0.0f;
  t[threadIdx.x][threadIdx.y + 3 * BY] =
      y + 3 * BY < rows ? img[3 * BY * pitch] : 0.0f;
  __syncthreads();
  for (int k = 0; k < 2; ++k)
    res[k * BY * pitch] = t[threadIdx.x][threadIdx.y + k * BY + BY - 2] +
                          t[threadIdx.x][threadIdx.y + k * BY + BY] * 0.5f +
                          t[threadIdx.x][threadIdx.y + k * BY + BY + 3];
}

template <typename T> static T *on(const std::vector<T> &h) {
  T *d;
  cudaMalloc(&d, h.size() * sizeof(T));
  cudaMemcpy(d, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice);
  return d;
}

int main() {
  for (int w : {16, 48, 83}) {
    const int h = w == 48 ? 64 : 48, padded = (w + 15) / 16 * 16;
    std::vector<unsigned char> bytes(w * h);
    std::vector<int> ints(w * h);
    std::vector<float> floats(padded * h);
    unsigned v = 3;
    for (int i = 0; i < w * h; ++i) {
      v = v * 1664525u + 1013904223u;
      bytes[i] = v >> 24;
      ints[i] = 1 + (v >> 26);
    }
    for (auto &f : floats)
      v = v * 1664525u + 1013904223u, f = float(v >> 20) / 64;
    const dim3 grid((w + BX - 1) / BX, (h + BY - 1) / BY), block(BX, BY);
    unsigned char *b = on(bytes), *bo = on(bytes);
    int *i = on(ints), *io = on(ints);
    float *f = on(floats), *fo = on(floats);
    vertical<<<grid, block>>>(b, bo, w, h);
    quotients<<<grid, block>>>(i, io, w, h);
    rounds<<<grid, block>>>(i, io, w, h);
    turned<<<dim3(padded / BX, (h + 2 * BY - 1) / (2 * BY)), block>>>(f, fo, h,
                                                                     padded);
    cudaDeviceSynchronize();
    cudaMemcpy(bytes.data(), bo, bytes.size(), cudaMemcpyDeviceToHost);
    cudaMemcpy(ints.data(), io, ints.size() * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(floats.data(), fo, floats.size() * 4, cudaMemcpyDeviceToHost);
    printf("%d %d %g\n", bytes[w + 1], ints[w + 1], floats[padded + 1]);
  }
}
