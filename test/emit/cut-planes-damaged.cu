// Loops that blocks share, damaged on purpose: the plan verifier finds a variable
// that is not filled in, and executing finds it as well, and a block that begins late.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --print-after=verify -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=VERIFIED %s
// VERIFIED: verified
// VERIFIED-NOT: WRONG
// RUN: rcache-rewrite %s --force --mutate=missing-refill:3 -o %t.missing.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// CHECK: the plan verifier found: '{{[a-z]+}}' is not what the rounds before would have left
// RUN: not rcache-check diff --device-code=clang %s %t.missing.cu -- -I%S/Inputs
// RUN: %if slow %{ rcache-rewrite %s -q --force --mutate=wrong-share -o %t.late.cu --cuda-path=%cuda -- -I%S/Inputs %}
// RUN: %if slow %{ not rcache-check diff --device-code=clang %s %t.late.cu -- -I%S/Inputs %}
#include "program.h"

#define R 2
__global__ void star2(const float *__restrict__ in, float *__restrict__ out,
                      int nx, int ny, int nz) {
  __shared__ float tile[8 + 2 * R][32 + 2 * R];
  const int gx = blockIdx.x * 32 + threadIdx.x, gy = blockIdx.y * 8 + threadIdx.y;
  const int lx = threadIdx.x, ly = threadIdx.y, tx = lx + R, ty = ly + R;
  const int pitch = nx + 2 * R, plane = pitch * (ny + 2 * R);
  const bool valid = gx < nx && gy < ny, near = gx < nx + R && gy < ny + R;
  int from = (gy + R) * pitch + gx + R, to = 0;
  float infront[R], behind[R], current = 0;
#pragma unroll
  for (int i = R - 2; i >= 0; --i) {
    behind[i] = near ? in[from] : 0.0f;
    from += plane;
  }
  current = near ? in[from] : 0.0f;
  to = from;
  from += plane;
#pragma unroll
  for (int i = 0; i < R; ++i) {
    infront[i] = near ? in[from] : 0.0f;
    from += plane;
  }
  behind[R - 1] = 0;
  for (int z = 0; z < nz; ++z) {
#pragma unroll
    for (int i = R - 1; i > 0; --i)
      behind[i] = behind[i - 1];
    behind[0] = current;
    current = infront[0];
#pragma unroll
    for (int i = 0; i < R - 1; ++i)
      infront[i] = infront[i + 1];
    infront[R - 1] = near ? in[from] : 0.0f;
    from += plane;
    to += plane;
    __syncthreads();
    if (ly < R) {
      tile[ly][tx] = near ? in[to - R * pitch] : 0.0f;
      tile[ly + 8 + R][tx] =
          gx < nx + R && gy + 8 < ny + R ? in[to + 8 * pitch] : 0.0f;
    }
    if (lx < R) {
      tile[ty][lx] = near ? in[to - R] : 0.0f;
      tile[ty][lx + 32 + R] =
          gx + 32 < nx + R && gy < ny + R ? in[to + 32] : 0.0f;
    }
    tile[ty][tx] = current;
    __syncthreads();
    float value = 0.5f * current;
#pragma unroll
    for (int i = 1; i <= R; ++i)
      value += 0.1f * i *
               (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] +
                tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
    if (valid)
      out[to] = value;
  }
}

int main() {
  const int Sizes[][3] = {{40, 11, 7}};
  for (auto &S : Sizes) {
    const int nx = S[0], ny = S[1], nz = S[2];
    const int all = (nx + 4) * (ny + 4) * (nz + 4);
    Buffer<float> In(randoms<float>(all)), Out(randoms<float>(all));
    const dim3 b(32, 8), g(blocks(nx, 32), blocks(ny, 8));
    star2<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("star2", nx, ny);
  }
}
