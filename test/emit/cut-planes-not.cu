// Loops over planes that one block walks through: what a round takes over is more
// than loads and counters, or others store what it reads, or something happens
// outside of the loop.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: not grep "rc[_]rounds" %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK: one block takes all rounds of the loop in line {{[0-9]+}}: what 'sum' holds is made by the rounds before
// CHECK: one block takes all rounds of the loop in line {{[0-9]+}}: 'blockIdx.z' is used
// CHECK: one block takes all rounds of the loop in line {{[0-9]+}}: 'out[at]' is stored outside of the loop
// CHECK: one block takes all rounds of the loop in line {{[0-9]+}}: 'out[at]' and 'out[at - plane]' may be one element in different rounds
// CHECK: one block takes all rounds of the loop in line {{[0-9]+}}: 'out[j * nx + i]' and 'out[j * nx + i]' may be one element in different rounds
#include "program.h"

#define TILE                                                                   \
  __shared__ float s[8 + 2][32 + 2];                                           \
  const int i = blockIdx.x * 32 + threadIdx.x;                                 \
  const int j = blockIdx.y * 8 + threadIdx.y;                                  \
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;                        \
  const bool inside = i > 0 && i < nx - 1 && j > 0 && j < ny - 1;              \
  const bool there = i < nx && j < ny;                                         \
  const int plane = nx * ny;
#define STAGE(AT, CUR)                                                         \
  __syncthreads();                                                             \
  s[ty][tx] = CUR;                                                             \
  if (threadIdx.x == 0 && inside) s[ty][0] = in[AT - 1];                       \
  if (threadIdx.x == 31 && inside) s[ty][33] = in[AT + 1];                     \
  if (threadIdx.y == 0 && inside) s[0][tx] = in[AT - nx];                      \
  if (threadIdx.y == 7 && inside) s[9][tx] = in[AT + nx];                      \
  __syncthreads();
#define AROUND (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx])

// A sum of all rounds so far.
__global__ void total(const float *__restrict__ in, float *__restrict__ out,
                      int nx, int ny, int nz) {
  TILE
  int at = j * nx + i;
  float sum = 0;
  for (int k = 0; k < nz; ++k) {
    const float cur = there ? in[at] : 0.0f;
    STAGE(at, cur)
    if (inside) {
      sum += AROUND;
      out[at] = sum;
    }
    at += plane;
  }
}

// The grid's z has its own meaning.
__global__ void in_layers(const float *__restrict__ in, float *__restrict__ out,
                          int nx, int ny, int nz) {
  TILE
  for (int k = 0; k < nz; ++k) {
    const int at = (blockIdx.z * nz + k) * plane + j * nx + i;
    const float cur = there ? in[at] : 0.0f;
    STAGE(at, cur)
    if (inside)
      out[at] = cur + AROUND;
  }
}

// Something is stored behind the loop.
__global__ void last_too(const float *__restrict__ in, float *__restrict__ out,
                         int nx, int ny, int nz) {
  TILE
  int at = j * nx + i;
  float cur = there ? in[at] : 0.0f;
  for (int k = 0; k < nz - 1; ++k) {
    STAGE(at, cur)
    if (inside)
      out[at] = cur + AROUND;
    at += plane;
    cur = there ? in[at] : 0.0f;
  }
  if (inside)
    out[at] = cur;
}

// The plane before, as it was stored.
__global__ void fed_back(const float *__restrict__ in, float *__restrict__ out,
                         int nx, int ny, int nz) {
  TILE
  int at = j * nx + i + plane;
  for (int k = 1; k < nz; ++k) {
    const float cur = there ? in[at] : 0.0f;
    STAGE(at, cur)
    if (inside)
      out[at] = cur + out[at - plane] + AROUND;
    at += plane;
  }
}

// All rounds store the same elements.
__global__ void one_row(const float *__restrict__ in, float *__restrict__ out,
                        int nx, int ny, int nz) {
  TILE
  for (int k = 0; k < nz; ++k) {
    const int at = k * plane + j * nx + i;
    const float cur = there ? in[at] : 0.0f;
    STAGE(at, cur)
    if (inside)
      out[j * nx + i] = cur + AROUND;
  }
}

int main() {
  const int Sizes[][3] = {{70, 21, 5}};
  for (auto &S : Sizes) {
    const int nx = S[0], ny = S[1], nz = S[2];
    const int all = (nx + 4) * (ny + 4) * (nz + 4);
    Buffer<float> In(randoms<float>(all)), Out(randoms<float>(all));
    const dim3 b(32, 8), g(blocks(nx, 32), blocks(ny, 8));
    total<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("total", nx, ny);
    in_layers<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("in_layers", nx, ny);
    last_too<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("last_too", nx, ny);
    fed_back<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("fed_back", nx, ny);
    one_row<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("one_row", nx, ny);
  }
}
