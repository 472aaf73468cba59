// Finite differences in 3-D as they are often written: a plane in shared memory,
// its halo filled by the block's edges, the planes in front of and behind the thread
// in private arrays that short loops fill and move on. Threads outside the volume
// load nothing, and what they stage is no value.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ rcache-check %s --kernel=step --rewritten=%t.cu --prove --trials=8 -- -I%S/Inputs | FileCheck --check-prefix=PROVED %s %}
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
// CHECK: rewrote 'step' {{.*}}'tile' reloaded
// PROVED-NOT: different
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
// Other radii, types and blocks.
// RUN: %if slow %{ rcache-rewrite %s --force -o %t.1.cu --cuda-path=%cuda -- -I%S/Inputs -DRADIUS=1 -DBX=64 -DBY=4 2>&1 | FileCheck %s %}
// RUN: %if slow %{ rcache-check diff %s %t.1.cu -- -I%S/Inputs -DRADIUS=1 -DBX=64 -DBY=4 %}
// RUN: %if slow %{ rcache-rewrite %s --force -o %t.4.cu --cuda-path=%cuda -- -I%S/Inputs -DRADIUS=4 -DTYPE=double -DBY=16 2>&1 | FileCheck %s %}
// RUN: %if slow %{ rcache-check diff %s %t.4.cu -- -I%S/Inputs -DRADIUS=4 -DTYPE=double -DBY=16 %}
//
// Where the tile stays shared, each slot has queues of its own.
// RUN: %if slow %{ rcache-rewrite %s -q --explain-choice -o %t.kept.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | awk '$2 == "1x2" && /tile: shared/ {print $1}' > %t.number %}
// RUN: %if slow %{ xargs -a %t.number -I@ rcache-rewrite %s -o %t.kept.cu --candidate=@ --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=KEPT %s %}
// RUN: %if slow %{ FileCheck --check-prefix=QUEUES %s < %t.kept.cu %}
// RUN: %if slow %{ rcache-check diff --device-code=clang %s %t.kept.cu -- -I%S/Inputs %}
// KEPT: rewrote 'step' {{.*}}'tile' kept shared
// QUEUES: TYPE ahead[2][2];
#include "program.h"

#ifndef RADIUS
#define RADIUS 2
#endif
#ifndef TYPE
#define TYPE float
#endif
#ifndef BX
#define BX 32
#endif
#ifndef BY
#define BY 8
#endif

__constant__ TYPE weight[RADIUS + 1];

__global__ void step(TYPE *result, const TYPE *volume, const int nx,
                     const int ny, const int nz) {
  __shared__ TYPE tile[BY + 2 * RADIUS][BX + 2 * RADIUS];
  bool loads = true, stores = true;
  const int gx = blockIdx.x * blockDim.x + threadIdx.x;
  const int gy = blockIdx.y * blockDim.y + threadIdx.y;
  const int lx = threadIdx.x, ly = threadIdx.y;
  const int width = blockDim.x, height = blockDim.y;
  const int row = nx + 2 * RADIUS;
  const int plane = row * (ny + 2 * RADIUS);
  int from = 0, to = 0;
  from += RADIUS * row + RADIUS;
  from += gy * row + gx;
  TYPE ahead[RADIUS];
  TYPE back[RADIUS];
  TYPE here;
  const int tx = lx + RADIUS, ty = ly + RADIUS;
  if ((gx >= nx + RADIUS) || (gy >= ny + RADIUS))
    loads = false;
  if ((gx >= nx) || (gy >= ny))
    stores = false;
  for (int i = RADIUS - 2; i >= 0; i--) {
    if (loads)
      back[i] = volume[from];
    from += plane;
  }
  if (loads)
    here = volume[from];
  to = from;
  from += plane;
  for (int i = 0; i < RADIUS; i++) {
    if (loads)
      ahead[i] = volume[from];
    from += plane;
  }
#pragma unroll 9
  for (int z = 0; z < nz; z++) {
    for (int i = RADIUS - 1; i > 0; i--)
      back[i] = back[i - 1];
    back[0] = here;
    here = ahead[0];
#pragma unroll 4
    for (int i = 0; i < RADIUS - 1; i++)
      ahead[i] = ahead[i + 1];
    if (loads)
      ahead[RADIUS - 1] = volume[from];
    from += plane;
    to += plane;
    __syncthreads();
    if (ly < RADIUS) {
      tile[ly][tx] = volume[to - RADIUS * row];
      tile[ly + height + RADIUS][tx] = volume[to + height * row];
    }
    if (lx < RADIUS) {
      tile[ty][lx] = volume[to - RADIUS];
      tile[ty][lx + width + RADIUS] = volume[to + width];
    }
    tile[ty][tx] = here;
    __syncthreads();
    TYPE sum = weight[0] * here;
#pragma unroll 4
    for (int i = 1; i <= RADIUS; i++)
      sum += weight[i] * (ahead[i - 1] + back[i - 1] + tile[ty - i][tx] +
                          tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
    if (stores)
      result[to] = sum;
  }
}

int main() {
  TYPE w[RADIUS + 1];
  for (int i = 0; i <= RADIUS; ++i)
    w[i] = TYPE(1) / TYPE(i + 3);
  cudaMemcpyToSymbol(weight, w, sizeof w);
  const int Sizes[][3] = {{64, 32, 6}, {70, 21, 5}, {33, 9, 3}};
  for (auto &S : Sizes) {
    const int nx = S[0], ny = S[1], nz = S[2];
    // The halo of the last block is loaded whole, and a plane more.
    const int n = (nx + 2 * RADIUS) * (ny + 2 * RADIUS) * (nz + 2 * RADIUS + 2) +
                  (BY + RADIUS) * (nx + 2 * RADIUS) + BX;
    Buffer<TYPE> In(randoms<TYPE>(n)), Out(n);
    step<<<dim3(blocks(nx, BX), blocks(ny, BY)), dim3(BX, BY)>>>(
        Out.Data, In.Data, nx, ny, nz);
    Out.show("step", nx, ny);
  }
}
