// Rows of a length that the launch passes: what a warp owns serves two rounds a thread, and
// a launch is asked whether that is enough.
//
// RUN: rcache-rewrite %s -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH %}
//
// Without the question, what is executed shows the rounds that are not there.
// RUN: sed 's/ && (n <= 512)//' %t.cu > %t.unasked.cu
// RUN: %if rcache-check %{ not rcache-check diff %s %t.unasked.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH %}
//
// REQUIRES: cuda-toolkit
#include "program.h"

// Rounds are written out under the loop's condition: their loads are on the way together.
// CHECK-DAG: rewrote 'norms' {{.*}}; 's' owned by a warp
// CHECK-DAG: :[[@LINE+6]]:{{.*}}: note: launches that pass n <= 512 run the rewritten kernel
// CHECK-DAG: predicted speed-up {{.*}} where n <= 512 on sm_90
// TEXT-LABEL: {{^    |void }}norms_rc(
// TEXT: for (int own_round = 0; own_round < 2; ++own_round)
// TEXT: norms_rc_launch(
// TEXT: (n <= 512)
__global__ void norms(const float *in, float *out, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  float sum = 0.f;
  for (int i = t; i < n; i += blockDim.x)
    sum += in[blockIdx.x * n + i];
  s[t] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  for (int i = t; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = in[blockIdx.x * n + i] / s[0];
}

// What expf ends with is fused with the sum as far as the loop is unrolled: it stays.
// CHECK-DAG: rewrote 'softmax' {{.*}}; 's' owned by a warp
// TEXT-LABEL: {{^    |void }}softmax_rc(
// TEXT: for (unsigned i = rc_thread_x; i < n; i += 128)
// TEXT: (n <= 256)
__global__ void softmax(const float *in, float *out, unsigned n) {
  __shared__ float s[128];
  float m = -INFINITY;
  for (unsigned i = threadIdx.x; i < n; i += 128)
    m = fmaxf(m, in[blockIdx.x * n + i]);
  s[threadIdx.x] = m;
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (threadIdx.x < d)
      s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
    __syncthreads();
  }
  m = s[0];
  __syncthreads();
  float sum = 0.f;
  for (unsigned i = threadIdx.x; i < n; i += 128)
    sum += expf(in[blockIdx.x * n + i] - m);
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (threadIdx.x < d)
      s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  for (unsigned i = threadIdx.x; i < n; i += 128)
    out[blockIdx.x * n + i] = expf(in[blockIdx.x * n + i] - m) / s[0];
}

// Vectors of four: 512 of them.
// CHECK-DAG: rewrote 'fours' {{.*}}; 's' owned by a warp
// CHECK-DAG: note: launches that pass n <= 2051 run the rewritten kernel
__global__ void fours(const float4 *in, float *out, int n) {
  __shared__ float s[256];
  float sum = 0.f;
  for (int i = threadIdx.x; i < n / 4; i += 256) {
    const float4 v = in[blockIdx.x * (n / 4) + i];
    sum += v.x + v.y + v.z + v.w;
  }
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (threadIdx.x < d)
      s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = s[0];
}

// A member tells, and the loop is another one.
// CHECK-DAG: rewrote 'members' {{.*}}; 's' owned by a warp
// CHECK-DAG: note: launches that pass row.n <= 512 run the rewritten kernel
struct Row {
  int n;
  float scale;
};
__global__ void members(const float *in, float *out, Row row) {
  __shared__ float s[256];
  float sum = 0.f;
  int i = threadIdx.x;
  while (i < row.n) {
    sum += in[blockIdx.x * row.n + i];
    i += blockDim.x;
  }
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (threadIdx.x < d)
      s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = s[0] * row.scale;
}

// Blocks that begin elsewhere: as many rounds as the parts have, from where they begin.
// CHECK-DAG: rewrote 'parts' {{.*}}; 's' owned by a warp
// TEXT-LABEL: {{^    |void }}parts_rc(
// TEXT: const int i = (begin + t) + 128 * own_round;
__global__ void parts(const float *in, float *out, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x, begin = blockIdx.x * 512;
  float sum = 0.f;
  for (int i = begin + t; i < begin + 512; i += 128)
    sum += in[i];
  s[t] = sum;
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// ... and of the whole the parameter says nothing of a part's.
// CHECK-DAG: 'shares' left as it is: {{.*}} [computed-exchange]
__global__ void shares(const float *in, float *out, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  float sum = 0.f;
  for (int i = blockIdx.x * 512 + t; i < n; i += 128)
    sum += in[i];
  s[t] = sum;
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// The only launch passes more.
// CHECK-DAG: 'tooLong' left as it is: {{.*}} [computed-exchange]
__global__ void tooLong(const float *in, float *out, int n) {
  __shared__ float s[256];
  float sum = 0.f;
  for (int i = threadIdx.x; i < n; i += 256)
    sum += in[blockIdx.x * n + i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (threadIdx.x < d)
      s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = s[0];
}

int main(int argc, char **argv) {
  const int rows = 39 + argc;
  const Buffer<float> in(randoms<float>(rows * 1100));
  for (int n : {1, 31, 255, 256, 257, 300, 511, 512, 513, 1024, 1100}) {
    n += argc - 1;
    Buffer<float> a(rows * n), b(rows * n), c(rows);
    norms<<<rows, 256>>>(in.Data, a.Data, n);
    a.show("norms", n, rows);
    softmax<<<rows, 128>>>(in.Data, b.Data, n);
    b.show("softmax", n, rows);
    fours<<<rows, 256>>>((const float4 *)in.Data, c.Data, n);
    c.show("fours", n, rows);
    members<<<rows, 256>>>(in.Data, c.Data, Row{n, 0.5f});
    c.show("members", n, rows);
  }
  Buffer<float> e(rows), f(rows);
  parts<<<rows, 128>>>(in.Data, e.Data, rows * 512);
  e.show("parts", rows * 512);
  shares<<<rows, 128>>>(in.Data, f.Data, rows * 512);
  f.show("shares", rows * 512);
  const Buffer<float> big(randoms<float>(2 * 100000));
  Buffer<float> d(2);
  tooLong<<<2, 256>>>(big.Data, d.Data, 100000);
  d.show("tooLong", 100000, 2);
}
