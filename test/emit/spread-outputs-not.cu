// Rounds that are no threads: each kernel looks like one whose outputs are a
// block's width apart, but for one thing. None is planned with a thread an
// output; what is made of them otherwise computes the same.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda --force -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK: rewrote 'control' {{.*}}
// CHECK: each of the 8 outputs of a thread along x is planned as a thread of its own
// CHECK-NOT: planned as a thread of its own
#include "program.h"

#define STAGE(a)                                                               \
  const int base = blockIdx.x * 128 + threadIdx.x;                             \
  for (int i = 0; i < 10; ++i) {                                               \
    const int g = base + (i - 1) * 16;                                         \
    s[threadIdx.x + i * 16] = g >= 0 && g < n ? a[g] : 0.0f;                   \
  }                                                                            \
  __syncthreads();

// As it should be.
__global__ void control(float *__restrict__ out, const float *__restrict__ in,
                        int n) {
  __shared__ float s[160];
  STAGE(in)
  for (int i = 0; i < 8; ++i)
    if (base + i * 16 < n)
      out[base + i * 16] =
          s[threadIdx.x + i * 16 + 15] + s[threadIdx.x + i * 16 + 17];
}

// A sum goes from round to round.
__global__ void carried(float *__restrict__ out, const float *__restrict__ in,
                        int n) {
  __shared__ float s[160];
  STAGE(in)
  float sum = 0;
  for (int i = 0; i < 8; ++i) {
    sum += s[threadIdx.x + i * 16 + 15] + s[threadIdx.x + i * 16 + 17];
    if (base + i * 16 < n)
      out[base + i * 16] = sum;
  }
}

// Set first, but under a condition.
__global__ void sometimes(float *__restrict__ out,
                          const float *__restrict__ in, int n) {
  __shared__ float s[160];
  STAGE(in)
  float best = -1;
  for (int i = 0; i < 8; ++i) {
    if (s[threadIdx.x + i * 16 + 16] > 20)
      best = s[threadIdx.x + i * 16 + 15];
    if (base + i * 16 < n)
      out[base + i * 16] = best;
  }
}

// The last round's value is used behind the loop, for another element.
__global__ void behind(float *__restrict__ out, float *__restrict__ last,
                       const float *__restrict__ in, int n) {
  __shared__ float s[160];
  STAGE(in)
  float v;
  for (int i = 0; i < 8; ++i) {
    v = s[threadIdx.x + i * 16 + 15] * 2;
    if (base + i * 16 < n)
      out[base + i * 16] = v;
  }
  if (base < n)
    last[base] = v;
}

// A round reads what the one before it stored.
__global__ void reads_back(float *out, const float *__restrict__ in, int n) {
  __shared__ float s[160];
  STAGE(in)
  for (int i = 0; i < 8; ++i)
    if (base + i * 16 < n)
      out[base + i * 16] = s[threadIdx.x + i * 16 + 15] +
                           (i > 0 ? out[base + i * 16 - 16] : 0.0f);
}

// The same through a pointer that may be the other one.
__global__ void may_alias(float *out, const float *in, const float *more,
                          int n) {
  __shared__ float s[160];
  STAGE(in)
  for (int i = 0; i < 8; ++i)
    if (base + i * 16 < n)
      out[base + i * 16] = s[threadIdx.x + i * 16 + 15] +
                           (i > 0 ? more[base + i * 16 - 16] : 0.0f);
}

// The loop is left early.
__global__ void leaves(float *__restrict__ out, const float *__restrict__ in,
                       int n) {
  __shared__ float s[160];
  STAGE(in)
  for (int i = 0; i < 8; ++i) {
    if (s[threadIdx.x + i * 16 + 16] > 120)
      break;
    if (base + i * 16 < n)
      out[base + i * 16] = s[threadIdx.x + i * 16 + 15];
  }
}

// Two stores of one thread meet in different rounds; none meets another
// block's.
__global__ void meets(float *__restrict__ out, const float *__restrict__ in,
                      int n) {
  __shared__ float s[160];
  STAGE(in)
  for (int i = 0; i < 8; ++i)
    if (base + i * 16 + 16 < n) {
      out[base + i * 16] = s[threadIdx.x + i * 16 + 15];
      if (i < 7)
        out[base + i * 16 + 16] = s[threadIdx.x + i * 16 + 17];
    }
}

// A thread writes an element of the tile a second time, and reads its own
// without a barrier between.
__global__ void own_element(float *__restrict__ out,
                            const float *__restrict__ in, int n) {
  __shared__ float s[160];
  STAGE(in)
  for (int i = 0; i < 8; ++i)
    if (base + i * 16 < n)
      out[base + i * 16] = s[threadIdx.x + i * 16 + 16];
  s[threadIdx.x] = 1.0f;
  __syncthreads();
}

int main() {
  for (int n : {1000, 17, 128}) {
    Buffer<float> In(randoms<float>(n)), Out(n), Last(n);
    const int g = blocks(n, 128);
    control<<<g, 16>>>(Out.Data, In.Data, n);
    Out.show("control", n);
    carried<<<g, 16>>>(Out.Data, In.Data, n);
    Out.show("carried", n);
    sometimes<<<g, 16>>>(Out.Data, In.Data, n);
    Out.show("sometimes", n);
    behind<<<g, 16>>>(Out.Data, Last.Data, In.Data, n);
    Out.show("behind", n);
    Last.show("last", n);
    reads_back<<<g, 16>>>(Out.Data, In.Data, n);
    Out.show("reads back", n);
    may_alias<<<g, 16>>>(Out.Data, In.Data, Out.Data, n);
    Out.show("may alias", n);
    leaves<<<g, 16>>>(Out.Data, In.Data, n);
    Out.show("leaves", n);
    meets<<<g, 16>>>(Out.Data, In.Data, n);
    Out.show("meets", n);
    own_element<<<g, 16>>>(Out.Data, In.Data, n);
    Out.show("own element", n);
  }
}
