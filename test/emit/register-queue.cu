// Planes that walk through a register queue: what a round takes over from the one
// before is the load that the round before made, one plane back, so the tile has
// a staging function. And queues for which that does not hold: another first
// value, an update in some rounds only, a source that is written.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %s --kernel=every_other --explain-choice -o %t.every.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=EVERY %s
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// CHECK-DAG: rewrote 'heat7' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'unpromised' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'heat7_pad' {{.*}}'tile' reloaded
// EVERY: s: reload
// CHECK-NOT: 'first_differs' {{.*}}reloaded
// CHECK-NOT: 'some_rounds' {{.*}}reloaded
// CHECK-NOT: 'in_place' {{.*}}reloaded
// TEXT: (::rcache::device::separate(in, out)) &&
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
#include "program.h"

__global__ void heat7(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz, float c0, float c1) {
  __shared__ float s[8 + 2][32 + 2];
  const int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const bool inside = i > 0 && i < nx - 1 && j > 0 && j < ny - 1;
  const int stride = nx * ny;
  int idx = j * nx + i;
  float below = 0, cur = 0, above = 0;
  if (i < nx && j < ny) { cur = in[idx]; above = in[idx + stride]; }
  for (int k = 1; k < nz - 1; ++k) {
    below = cur; cur = above;
    idx += stride;
    above = (i < nx && j < ny) ? in[idx + stride] : 0.f;
    __syncthreads();
    s[ty][tx] = cur;
    if (threadIdx.x == 0 && i > 0 && j < ny) s[ty][0] = in[idx - 1];
    if (threadIdx.x == 31 && i < nx - 1 && j < ny) s[ty][33] = in[idx + 1];
    if (threadIdx.y == 0 && j > 0 && i < nx) s[0][tx] = in[idx - nx];
    if (threadIdx.y == 7 && j < ny - 1 && i < nx) s[9][tx] = in[idx + nx];
    __syncthreads();
    if (inside)
      out[idx] = c0 * cur + c1 * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] + below + above);
  }
}

// Without __restrict__: a plane would be loaded again behind stores, so the launch
// has to tell that the results lie elsewhere.
__global__ void unpromised(float *in, float *out, int nx, int ny, int nz, float c0, float c1) {
  __shared__ float s[8 + 2][32 + 2];
  const int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const bool inside = i > 0 && i < nx - 1 && j > 0 && j < ny - 1;
  const int stride = nx * ny;
  int idx = j * nx + i;
  float below = 0, cur = 0, above = 0;
  if (i < nx && j < ny) { cur = in[idx]; above = in[idx + stride]; }
  for (int k = 1; k < nz - 1; ++k) {
    below = cur; cur = above;
    idx += stride;
    if (i < nx && j < ny) above = in[idx + stride];
    __syncthreads();
    s[ty][tx] = cur;
    if (threadIdx.x == 0 && i > 0 && j < ny) s[ty][0] = in[idx - 1];
    if (threadIdx.x == 31 && i < nx - 1 && j < ny) s[ty][33] = in[idx + 1];
    if (threadIdx.y == 0 && j > 0 && i < nx) s[0][tx] = in[idx - nx];
    if (threadIdx.y == 7 && j < ny - 1 && i < nx) s[9][tx] = in[idx + nx];
    __syncthreads();
    if (inside)
      out[idx] = c0 * cur + c1 * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] + below + above);
  }
}

__global__ void heat7_pad(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz) {
  __shared__ float tile[16 + 2][16 + 2];
  int ix = blockIdx.x * blockDim.x + threadIdx.x + 1;
  int iy = blockIdx.y * blockDim.y + threadIdx.y + 1;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int plane = nx * ny;
  int o = iy * nx + ix;
  float b = in[o], c = in[o + plane], t;
  for (int iz = 1; iz < nz - 1; iz++) {
    t = in[o + (iz + 1) * plane];
    tile[ty][tx] = c;
    if (threadIdx.x == 0) tile[ty][0] = in[o + iz * plane - 1];
    if (threadIdx.x == 15) tile[ty][17] = in[o + iz * plane + 1];
    if (threadIdx.y == 0) tile[0][tx] = in[o + iz * plane - nx];
    if (threadIdx.y == 15) tile[17][tx] = in[o + iz * plane + nx];
    __syncthreads();
    out[o + iz * plane] = (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] + b + t) - 6.0f * c;
    __syncthreads();
    b = c; c = t;
  }
}

// Two planes a round.
__global__ void every_other(const float *__restrict__ in,
                            float *__restrict__ out, int nx, int ny, int nz) {
  __shared__ float s[8][34];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int xx = min(x, nx - 1), yy = min(y, ny - 1), plane = nx * ny;
  const int at = yy * nx + xx;
  float cur = in[at], next = in[at + 2 * plane];
  for (int k = 0; k < nz - 4; k += 2) {
    s[threadIdx.y][threadIdx.x + 1] = cur;
    if (threadIdx.x == 0)
      s[threadIdx.y][0] = in[yy * nx + max(xx - 1, 0) + k * plane];
    if (threadIdx.x == 31)
      s[threadIdx.y][33] = in[yy * nx + min(x + 1, nx - 1) + k * plane];
    __syncthreads();
    if (x < nx && y < ny)
      out[at + k * plane] = s[threadIdx.y][threadIdx.x] +
                            s[threadIdx.y][threadIdx.x + 2] - cur * next;
    __syncthreads();
    cur = next;
    next = in[at + (k + 4) * plane];
  }
}
// The first round stages zeros.
__global__ void first_differs(const float *__restrict__ in,
                              float *__restrict__ out, int nx, int ny, int nz) {
  __shared__ float s[8][32];
  const int x = min(blockIdx.x * 32 + threadIdx.x, nx - 1);
  const int y = min(blockIdx.y * 8 + threadIdx.y, ny - 1), plane = nx * ny;
  float cur = 0.f, next = in[y * nx + x];
  for (int k = 0; k < nz - 1; ++k) {
    s[threadIdx.y][threadIdx.x] = cur;
    __syncthreads();
    if (x == blockIdx.x * 32 + threadIdx.x &&
        y == blockIdx.y * 8 + threadIdx.y)
      out[y * nx + x + k * plane] =
          s[threadIdx.y][max((int)threadIdx.x - 1, 0)] +
          s[threadIdx.y][min((int)threadIdx.x + 1, 31)];
    __syncthreads();
    cur = next;
    next = in[y * nx + x + (k + 1) * plane];
  }
}
// The queue moves in some rounds only.
__global__ void some_rounds(const float *__restrict__ in,
                            float *__restrict__ out, int nx, int ny, int nz) {
  __shared__ float s[8][32];
  const int x = min(blockIdx.x * 32 + threadIdx.x, nx - 1);
  const int y = min(blockIdx.y * 8 + threadIdx.y, ny - 1), plane = nx * ny;
  float cur = in[y * nx + x];
  for (int k = 0; k < nz - 1; ++k) {
    s[threadIdx.y][threadIdx.x] = cur;
    __syncthreads();
    if (x == blockIdx.x * 32 + threadIdx.x &&
        y == blockIdx.y * 8 + threadIdx.y)
      out[y * nx + x + k * plane] =
          s[threadIdx.y][max((int)threadIdx.x - 1, 0)] +
          s[threadIdx.y][min((int)threadIdx.x + 1, 31)];
    __syncthreads();
    if (k % 3 != 1)
      cur = in[y * nx + x + (k + 1) * plane];
  }
}
// What is staged is written: a later round loads the new value, the queue holds
// the old one. One block.
__global__ void in_place(float *a, int nx, int ny, int nz) {
  __shared__ float s[8][32];
  const int x = threadIdx.x, y = threadIdx.y, plane = nx * ny;
  float cur = a[y * nx + x];
  for (int k = 0; k < nz - 1; ++k) {
    const float next = a[y * nx + x + (k + 1) * plane];
    s[y][x] = cur;
    __syncthreads();
    a[y * nx + x + (k + 1) * plane] =
        s[y][max(x - 1, 0)] + s[y][min(x + 1, 31)];
    __syncthreads();
    cur = next;
  }
}

int main() {
  const int Sizes[][3] = {{70, 21, 9}, {64, 32, 12}, {33, 17, 5}};
  for (auto &S : Sizes) {
    int nx = S[0], ny = S[1], nz = S[2];
    Buffer<float> In(randoms<float>(nx * ny * nz)), Out(nx * ny * nz);
    dim3 b(32, 8), g(blocks(nx, 32), blocks(ny, 8));
    heat7<<<g, b>>>(In.Data, Out.Data, nx, ny, nz, 0.4f, 0.1f);
    Out.show("heat7", nx, ny);
    unpromised<<<g, b>>>(In.Data, Out.Data, nx, ny, nz, 0.4f, 0.1f);
    Out.show("unpromised", nx, ny);
    every_other<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("every other", nx, ny);
    first_differs<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("first differs", nx, ny);
    some_rounds<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("some rounds", nx, ny);
  }
  Buffer<float> In(randoms<float>(34 * 34 * 7)), Out(34 * 34 * 7);
  heat7_pad<<<dim3(2, 2), dim3(16, 16)>>>(In.Data, Out.Data, 34, 34, 7);
  Out.show("heat7, padded");
  // The result of a plane is the next plane.
  unpromised<<<1, dim3(32, 8)>>>(In.Data, In.Data + 32 * 8, 32, 8, 7, 0.4f, 0.1f);
  In.show("one plane on");
  in_place<<<1, dim3(32, 8)>>>(In.Data, 32, 8, 7);
  In.show("in place");
}
