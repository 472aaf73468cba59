// Loops over planes: blocks live as long as their launch, so the launch compares
// whole waves of both kernels, and runs the original where the other's are over
// later. Not in tests (-DRCACHE_ANY_LAUNCH) or with --force.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -q -o %t.cu --cuda-path=%cuda -- -I%S/Inputs
// RUN: FileCheck %s < %t.cu
// RUN: %if slow %{ %compile -std=c++17 -I%S/Inputs -DRCACHE_VERIFY -c %t.cu -o %t.v.o %}
// RUN: rcache-rewrite %s -q --force -o %t.forced.cu --cuda-path=%cuda -- -I%S/Inputs
// RUN: sed -e '/^[/][/]/d' %t.forced.cu | FileCheck --check-prefix=FORCED %s
// FORCED-NOT: waves_pay(
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// Every grid is large enough; how many waves it takes is asked.
// RUN: sed -e 's/return double(grid.x).*/return true;/; s/return waves(blocks/return puts("asked") \&\& waves(blocks/' %t.cu > %t.asked.cu
// RUN: rcache-check run %s -- -I%S/Inputs > %t.original
// RUN: rcache-check run %t.asked.cu -- -I%S/Inputs -URCACHE_ANY_LAUNCH > %t.all
// RUN: FileCheck --check-prefix=ASKED %s < %t.all
// ASKED-COUNT-6: asked
// ASKED-NOT: asked
// RUN: grep -v asked %t.all > %t.new
// RUN: cmp %t.original %t.new
//
// CHECK: rcache::device::waves_pay(relax{{_rc}}<T, R>, {{[0-9]+}}u, {{[0-9]+}}u, 0,
// CHECK: void twice{{_rc_launch}}(
// CHECK: static_cast<void (*)(
// CHECK: int main
#include "program.h"

#define WALK(SUM)                                                              \
  __shared__ T s[8 + 2 * R][32 + 2 * R];                                       \
  const int x = blockIdx.x * 32 + threadIdx.x;                                 \
  const int y = blockIdx.y * 8 + threadIdx.y;                                  \
  const int tx = threadIdx.x + R, ty = threadIdx.y + R;                        \
  const int pitch = w + 2 * R, plane = pitch * (h + 2 * R);                    \
  T last = 0; /* the rounds stay with one block */                             \
  for (int z = 0; z < d; ++z) {                                                \
    for (int j = threadIdx.y; j < 8 + 2 * R; j += 8)                           \
      for (int i = threadIdx.x; i < 32 + 2 * R; i += 32) {                     \
        const int gx = blockIdx.x * 32 + i, gy = blockIdx.y * 8 + j;           \
        s[j][i] = gx < w + 2 * R && gy < h + 2 * R                             \
                      ? in[z * plane + gy * pitch + gx]                        \
                      : T(0);                                                  \
      }                                                                        \
    __syncthreads();                                                           \
    T sum = 0;                                                                 \
    for (int k = -R; k <= R; ++k)                                              \
      SUM;                                                                     \
    if (x < w && y < h)                                                        \
      out[(z * h + y) * w + x] = sum + last;                                   \
    last = sum;                                                                \
    __syncthreads();                                                           \
  }

template <typename T, int R>
__global__ void relax(T *__restrict__ out, const T *__restrict__ in, int w,
                      int h, int d) {
  WALK(sum += s[ty + k][tx] + s[ty][tx + k])
}

// Two kernels of one name.
using T = float;
constexpr int R = 2;
__global__ void twice(float *__restrict__ out, const float *__restrict__ in,
                      int w, int h, int d) {
  WALK(sum += s[ty + k][tx] - s[ty][tx + k])
}
__global__ void twice(float *out, float by, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n)
    out[i] *= by;
}

template <typename E> void run(const char *name, int w, int h, int d) {
  Buffer<E> in(randoms<E>((w + 6) * (h + 6) * d)), out(w * h * d);
  relax<E, 3><<<dim3(blocks(w, 32), blocks(h, 8)), dim3(32, 8)>>>(
      out.Data, in.Data, w, h, d);
  out.show(name, w, h);
}

int main() {
  const int sizes[][3] = {{70, 33, 5}, {128, 8, 2}};
  for (auto &z : sizes) {
    run<float>("float", z[0], z[1], z[2]);
    run<double>("double", z[0], z[1], z[2]);
    Buffer<float> in(randoms<float>((z[0] + 4) * (z[1] + 4) * z[2]));
    Buffer<float> out(z[0] * z[1] * z[2]);
    twice<<<dim3(blocks(z[0], 32), blocks(z[1], 8)), dim3(32, 8)>>>(
        out.Data, in.Data, z[0], z[1], z[2]);
    twice<<<blocks(z[0] * z[1], 256), 256>>>(out.Data, 2.0f, z[0] * z[1]);
    out.show("twice", z[0], z[1]);
  }
}
