// Loops over planes whose tile goes to registers: the barriers order nothing more
// when no two rounds store one element, padded lines and planes taken apart. They
// stay where rounds meet, or where it cannot be told.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff --schedule=random:3 %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -ptx %t.cu -o %t.ptx %}
//
// CHECK-DAG: rewrote 'padded' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'unpromised' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'next_line' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'unguarded' {{.*}}'s' reloaded
//
// TEXT: __global__ void padded{{_rc}}(
// TEXT: No barrier is left
// TEXT-NOT: __sync
// TEXT: void padded{{_rc_launch}}(
// TEXT: __global__ void unpromised{{_rc}}(float *out, const float *__restrict__ in,
// TEXT: No barrier is left
// TEXT-NOT: __sync
// TEXT: void unpromised{{_rc_launch}}(
// TEXT: separate(
// TEXT: __global__ void next_line{{_rc}}(
// TEXT: Barriers stay
// TEXT: __syncthreads
// TEXT: void next_line{{_rc_launch}}(
// TEXT: __global__ void unguarded{{_rc}}(
// TEXT: Several blocks share the rounds
// TEXT-NOT: __syncthreads();
// TEXT: void unguarded{{_rc_launch}}(
// A round moves on by more than the lines of a block, or the original runs.
// TEXT: 1.0 * (double)h * (double)w {{.*}} >
#include "program.h"

constexpr int R = 2, BX = 32, BY = 16;

#define PLANE(z) (z) * (w + 2 * R) * (h + 2 * R)
#define STAGE                                                                  \
  __shared__ float s[BY + 2 * R][BX + 2 * R];                                  \
  const int x = blockIdx.x * BX + threadIdx.x;                                 \
  const int y = blockIdx.y * BY + threadIdx.y;                                 \
  const int tx = threadIdx.x + R, ty = threadIdx.y + R;                        \
  for (int z = 0; z < d; ++z) {                                                \
    __syncthreads();                                                           \
    for (int j = threadIdx.y; j < BY + 2 * R; j += BY)                         \
      for (int i = threadIdx.x; i < BX + 2 * R; i += BX) {                     \
        const int gx = blockIdx.x * BX + i, gy = blockIdx.y * BY + j;          \
        s[j][i] = gx < w + 2 * R && gy < h + 2 * R                             \
                      ? in[PLANE(z) + gy * (w + 2 * R) + gx]                   \
                      : 0.0f;                                                  \
      }                                                                        \
    __syncthreads();                                                           \
    const float sum = s[ty][tx] + s[ty - R][tx] * s[ty + R][tx] +              \
                      s[ty][tx - R] * s[ty][tx + R];

// Lines of w + 4 elements, planes of h + 4 lines.
__global__ void padded(float *__restrict__ out, const float *__restrict__ in,
                       int w, int h, int d) {
  STAGE
    if (x < w && y < h)
      out[PLANE(z) + (y + R) * (w + 2 * R) + x + R] = sum;
  }
}

// Queues and separate memory: the launch has to tell.
__global__ void unpromised(float *out, const float *in, int w, int h, int d) {
  __shared__ float s[BY + 2][BX];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  const int at = y * w + x, plane = w * h, ty = threadIdx.y + 1;
  float here = 0, ahead = 0;
  if (x < w && y < h) {
    here = in[at];
    ahead = in[at + plane];
  }
  for (int z = 0; z < d - 2; ++z) {
    __syncthreads();
    s[ty][threadIdx.x] = here;
    if (ty == 1)
      s[0][threadIdx.x] = y > 0 && x < w ? in[at + z * plane - w] : 0.0f;
    if (ty == BY)
      s[BY + 1][threadIdx.x] =
          y < h - 1 && x < w ? in[at + z * plane + w] : 0.0f;
    __syncthreads();
    if (x < w && y < h)
      out[at + z * plane] =
          s[ty - 1][threadIdx.x] + s[ty + 1][threadIdx.x] - ahead;
    here = ahead;
    ahead = x < w && y < h ? in[at + (z + 2) * plane] : 0.0f;
  }
}

// Each round stores a line further down: on what the next thread's round before
// has stored.
__global__ void next_line(float *__restrict__ out,
                          const float *__restrict__ in, int w, int h, int d) {
  STAGE
    if (x < w && y < h)
      out[z * w + y * w + x] = sum;
  }
}

// Nothing says that a line ends where the next begins.
__global__ void unguarded(float *__restrict__ out,
                          const float *__restrict__ in, int w, int h, int d) {
  STAGE
    out[PLANE(z) + (y + R) * (w + 2 * R) + x + R] = sum;
  }
}

int main() {
  const int sizes[][3] = {{64, 16, 5}, {32, 13, 9}, {96, 16, 3}};
  for (auto &z : sizes) {
    const int w = z[0], h = z[1], d = z[2];
    Buffer<float> in(randoms<float>((w + 2 * R) * (h + 2 * R) * (d + 2)));
    Buffer<float> out((w + 2 * R) * (h + 2 * R) * (d + 2));
    const dim3 g(blocks(w, BX), blocks(h, BY)), b(BX, BY);
    padded<<<g, b>>>(out.Data, in.Data, w, h, d);
    out.show("padded", w, h);
    unpromised<<<g, b>>>(out.Data, in.Data, w, h, d);
    out.show("unpromised", w, h);
    // One block a line: blocks have no order.
    next_line<<<g, b>>>(out.Data, in.Data, w, h, d);
    out.show("next line", w, h);
    unguarded<<<g, b>>>(out.Data, in.Data, w, h, d);
    out.show("unguarded", w, h);
  }
}
