// Index helpers that are methods, structs that functions make, rows of a tile by
// linear index: what is staged is a load all the same.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite --force %s -o %t.cu --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check %s --kernel=gradient --rewritten=%t.cu --trials=40
// RUN: rcache-check %s --kernel=columns --rewritten=%t.cu --trials=40
// CHECK-DAG: rewrote 'gradient'
// CHECK-DAG: rewrote 'relax'
// CHECK-DAG: rewrote 'columns'
// Its members cannot be named: the method is none that can be followed, and the
// array stays.
// CHECK-DAG: rewrote 'hidden' {{.*}}'p' kept shared
#include <cuda_runtime.h>

struct View {
  int nx, ny;
  __host__ __device__ int at(int x, int y) const { return y * nx + x; }
};
__global__ void gradient(const float *a, float *o, View v) {
  __shared__ float p[18][16];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const int cx = min(x, v.nx - 1), cy = min(y, v.ny - 1), i = threadIdx.x, j = threadIdx.y + 1;
  p[j][i] = a[v.at(cx, cy)];
  if (threadIdx.y == 0)
    p[0][i] = a[v.at(cx, max(cy - 1, 0))];
  if (threadIdx.y == 15)
    p[17][i] = a[v.at(cx, min(cy + 1, v.ny - 1))];
  __syncthreads();
  if (x > 0 && y > 0 && x < v.nx - 1 && y < v.ny - 1)
    o[v.at(x, y)] = 0.5f * (p[j + 1][i] - p[j - 1][i]);
}

struct Grid {
  const float *data;
  float *out;
  int nx, ny, pitch;
  __device__ int idx(int i, int j) const { return j * pitch + i; }
  __device__ bool inside(int i, int j) const {
    return i >= 0 && i < nx && j >= 0 && j < ny;
  }
};
__global__ void relax(Grid g, float w) {
  __shared__ float s[10][34];
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  for (int y = threadIdx.y; y < 10; y += 8)
    for (int x = threadIdx.x; x < 34; x += 32) {
      int gi = blockIdx.x * 32 + x - 1, gj = blockIdx.y * 8 + y - 1;
      s[y][x] = g.inside(gi, gj) ? g.data[g.idx(gi, gj)] : 0.f;
    }
  __syncthreads();
  if (!g.inside(i, j))
    return;
  int x = threadIdx.x + 1, y = threadIdx.y + 1;
  g.out[g.idx(i, j)] = w * (s[y][x - 1] + s[y][x + 1] + s[y - 1][x] + s[y + 1][x]);
}

class Hidden {
  int nx;

public:
  explicit __host__ Hidden(int n) : nx(n) {}
  __host__ __device__ int at(int x, int y) const { return y * nx + x; }
};
__global__ void hidden(const float *a, float *o, Hidden v) {
  __shared__ float p[18][16];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  p[threadIdx.y][threadIdx.x] = a[v.at(x, y)];
  __syncthreads();
  o[v.at(x, y)] = p[15 - threadIdx.y][threadIdx.x];
}

__global__ void columns(float *dst, const float *src, int stride) {
  __shared__ float block[64];
  const int tx = threadIdx.x, ty = threadIdx.y;
  int at = (blockIdx.y * 8 + ty) * stride + blockIdx.x * 8 + tx;
  block[ty * 8 + tx] = src[at];
  __syncthreads();
  float v = 0;
  for (int i = 0; i < 8; i++)
    v += block[i * 8 + tx];
  dst[at] = v;
}

void run(const float *a, float *o, View v, Grid g, Hidden h, int w) {
  gradient<<<dim3((v.nx + 15) / 16, (v.ny + 15) / 16), dim3(16, 16)>>>(a, o, v);
  relax<<<dim3((g.nx + 31) / 32, (g.ny + 7) / 8), dim3(32, 8)>>>(g, 0.8f);
  hidden<<<dim3(4, 4), dim3(16, 16)>>>(a, o, h);
  columns<<<dim3(w / 8, w / 8), dim3(8, 8)>>>(o, a, w);
}
