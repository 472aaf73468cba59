// The end of a tree in shared memory, in blocks whose warps are all needed for what they
// read: where the threads of the first warp alone have something to do, it runs the last
// rounds by itself, and the others wait behind the loop.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --self-check=off --gpu=H200 --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --check-prefix=REMARK %s < %t.remarks
// RUN: FileCheck %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ rcache-check diff --schedule=random:7 %s %t.cu -- -I%S/Inputs %}
//
// RUN: rcache-rewrite %s --force --kernel=rows --print-after=plan -o %t.one.cu --cuda-path=%cuda -- -I%S/Inputs 2> /dev/null | FileCheck --check-prefix=PLAN %s
// PLAN: plan rows
// PLAN: barriers kept: {{.*}}
// PLAN-NEXT: rounds of the loop of line {{[0-9]+}}: 2 of the block, from 32 on 6 of the first warp{{$}}
//
// A round too early: the verifier of plans walks through a block, and the judge runs it.
// RUN: rcache-rewrite %s --force --kernel=rows --mutate=early-rounds -o %t.bad.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=BAD %s
// BAD: the plan verifier found: thread {{[0-9]+}} does not come to s[t] at line {{[0-9]+}}
// RUN: not rcache-check diff %s %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=OTHER %s
// OTHER: differ
#include "buffers.h"

// REMARK: rewrote 'rows' (1 launch): 1 output a thread; 's' kept shared; the last 6 rounds of line [[#ROWS:]] by the first warp alone
// CHECK-LABEL: void rows_{{rc}}(
// CHECK: The first warp has rounds for itself
// CHECK: for (int k = blockDim.x / 2; k > 32; k >>= 1) {
// CHECK-NEXT: if (t < k)
// CHECK-NEXT: s[t] += s[t + k];
// CHECK-NEXT: __syncthreads();
// CHECK-NEXT: }
// CHECK-NEXT: if (threadIdx.x < 32) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT: for (int k = 32; k > 0; k >>= 1) {
// CHECK-NEXT: if (t < k)
// CHECK-NEXT: s[t] += s[t + k];
// CHECK-NEXT: __syncwarp();
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: __syncthreads();
// CHECK-NEXT: float sum = s[0];
__global__ void rows(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  const float *row = in + blockIdx.x * n;
  float v = 0;
  for (int i = t; i < n; i += blockDim.x)
    v += row[i];
  s[t] = v;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  float sum = s[0];
  for (int i = t; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = row[i] / (sum + 1.0f);
}

// A counter that stands in front of the loop, halved in its body; two arrays, and a
// condition on what they hold.
// REMARK: rewrote 'least' {{.*}} the last 6 rounds
// CHECK-LABEL: void least_{{rc}}(
// CHECK: while (k > 32) {
// CHECK: if (threadIdx.x < 32) {
// CHECK-NEXT: k = 32;
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT: while (k != 0) {
// CHECK: __syncwarp();
// CHECK-NEXT: k /= 2;
__global__ void least(const float *in, int *out, int n) {
  __shared__ float value[128];
  __shared__ int place[128];
  const int t = threadIdx.x;
  float v = 1e30f;
  int p = -1;
  for (int i = t + blockIdx.x * n; i < (int)(blockIdx.x + 1) * n; i += 128)
    if (in[i] < v) {
      v = in[i];
      p = i;
    }
  value[t] = v;
  place[t] = p;
  __syncthreads();
  int k = blockDim.x / 2;
  while (k != 0) {
    if (t < k && value[t + k] < value[t]) {
      value[t] = value[t + k];
      place[t] = place[t + k];
    }
    __syncthreads();
    k /= 2;
  }
  if (t == 0)
    out[blockIdx.x] = place[0];
}

// The barrier is the round's first statement: what the last round of the block did is
// parted from the first warp's by one more.
// REMARK: rewrote 'means' {{.*}} the last 6 rounds
// CHECK-LABEL: void means_{{rc}}(
// CHECK: for (unsigned int k = 128; k > 32; k /= 2) {
// CHECK-NEXT: __syncthreads();
// CHECK: }
// CHECK-NEXT: __syncthreads();
// CHECK-NEXT: if (threadIdx.y * 32 + threadIdx.x < 32) {
__global__ void means(const double *in, double *out, int n) {
  __shared__ double s[256];
  const unsigned int t = threadIdx.y * 32 + threadIdx.x;
  double v = 0;
  for (int i = t; i < n; i += 256)
    v += in[blockIdx.x * n + i];
  s[t] = v;
#pragma unroll
  for (unsigned int k = 128; k > 0; k /= 2) {
    __syncthreads();
    if (t < k)
      s[t] += s[t + k];
  }
  if (t == 0)
    out[blockIdx.x] = s[0] / n;
}

// What a function does with the array stands behind the barrier as well.
// REMARK: rewrote 'handed' {{.*}} the last 6 rounds
// CHECK-LABEL: void handed_{{rc}}(
// CHECK: for (int k = 128; k > 32; k >>= 1) {
// CHECK-NEXT: __syncthreads();
// CHECK: __syncthreads();
// CHECK-NEXT: if (threadIdx.x < 32) {
__device__ void fold(float *s, int t, int k) { s[t] += s[t + k]; }
__global__ void handed(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float v = 0;
  for (int i = t; i < n; i += 256)
    v += in[blockIdx.x * n + i];
  s[t] = v;
  for (int k = 128; k > 0; k >>= 1) {
    __syncthreads();
    if (t < k) fold(s, t, k);
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// Not so: all threads change something in each round, ask for the counter behind the loop,
// or leave a round in its middle.
// REMARK-NOT: 'counts'{{.*}}by the first warp alone
// REMARK-NOT: 'asks'{{.*}}by the first warp alone
// REMARK-NOT: 'leaves'{{.*}}by the first warp alone
// REMARK-NOT: 'pairs'{{.*}}by the first warp alone
__global__ void counts(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, rounds = 0;
  float v = 0;
  for (int i = t; i < n; i += 256)
    v += in[blockIdx.x * n + i];
  s[t] = v;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    ++rounds;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[0] + rounds;
}

__global__ void asks(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float v = 0;
  for (int i = t; i < n; i += 256)
    v += in[blockIdx.x * n + i];
  s[t] = v;
  __syncthreads();
  int k = 128;
  for (; k > 1; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[0] + s[k];
}

__global__ void leaves(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float v = 0;
  for (int i = t; i < n; i += 256)
    v += in[blockIdx.x * n + i];
  s[t] = v;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
    if (k == n) break;
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// (What else the header declares is not there in a second one.)
// REMARK-NOT: 'several'{{.*}}by the first warp alone
__global__ void several(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float v = 0;
  for (int i = t; i < n; i += 256)
    v += in[blockIdx.x * n + i];
  s[t] = v;
  __syncthreads();
  for (int k = 128, least = n > 5; k > 0; k >>= 1) {
    if (t < k && least) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// (Pairs lie further apart each round: all warps take part.)
__global__ void pairs(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float v = 0;
  for (int i = t; i < n; i += 256)
    v += in[blockIdx.x * n + i];
  s[t] = v;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (t % (256 / k) == 0) s[t] += s[t + 128 / k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

int main() {
  const int n = 700, blocks = 6;
  Buf<float> in(n * blocks), out(n * blocks), all(blocks * 256), some(blocks);
  Buf<int> where(blocks);
  Buf<double> wide(n * blocks), mean(blocks);
  in.nums(3);
  wide.nums(4);
  CHECK((rows<<<blocks, 256>>>(in.d, out.d, n)));
  show("rows", out);
  CHECK((least<<<blocks, 128>>>(in.d, where.d, n)));
  show("least", where);
  CHECK((means<<<blocks, dim3(32, 8)>>>(wide.d, mean.d, n)));
  show("means", mean);
  CHECK((handed<<<blocks, 256>>>(in.d, some.d, n)));
  show("handed", some);
  CHECK((counts<<<blocks, 256>>>(in.d, all.d, n)));
  show("counts", all);
  CHECK((asks<<<blocks, 256>>>(in.d, all.d, n)));
  show("asks", all);
  CHECK((leaves<<<blocks, 256>>>(in.d, some.d, n)));
  show("leaves", some);
  CHECK((several<<<blocks, 256>>>(in.d, some.d, n)));
  show("several", some);
  CHECK((pairs<<<blocks, 256>>>(in.d, some.d, n)));
  show("pairs", some);
}
