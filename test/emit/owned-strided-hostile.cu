// Elements at multiples of the thread's number, in forms that ask for care:
// sizes that are no power of two and ends of arrays, elements of a byte and of
// two words, conditions on data, two arrays, blocks of one warp, steps down.
//
// RUN: rcache-rewrite %s --force --self-check=off -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// CHECK-DAG: rewrote 'tail<int>' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'tail<signed char>' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'tail<double>' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'rev' {{.*}}; 's' kept shared
// CHECK-DAG: rewrote 'dataDep' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'warpStep' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'twoTrees' {{.*}}; 's' owned by a warp; 'q' owned by a warp
// CHECK-DAG: rewrote 'again' {{.*}}; 's' kept shared
//
// REQUIRES: cuda-toolkit
#include "program.h"

template <typename T> __global__ void tail(const T *in, T *out, int n) {
  __shared__ T s[193];
  int t = threadIdx.x, b = blockIdx.x * 192;
  s[2 * t] = b + 2 * t < n ? in[b + 2 * t] : T(0);
  s[2 * t + 1] = b + 2 * t + 1 < n ? in[b + 2 * t + 1] : T(1);
  for (int d = 1; d < 192; d *= 2) {
    __syncthreads();
    int e = 2 * d * t;
    if (e + d < 192)
      s[e] = s[e] + s[e + d];
  }
  __syncthreads();
  if (b + 2 * t < n)
    out[b + 2 * t] = s[2 * t];
  if (b + 2 * t + 1 < n)
    out[b + 2 * t + 1] = s[2 * t + 1];
}
__global__ void rev(const int *in, int *out) {
  __shared__ int s[128];
  int t = threadIdx.x, b = blockIdx.x * 128;
  s[127 - 2 * t] = in[b + t];
  s[126 - 2 * t] = in[b + 64 + t];
  __syncthreads();
  for (int r = 0; r < 3; ++r) {
    if (t > 0)
      s[2 * t] += s[2 * t - 1];
    __syncthreads();
  }
  out[b + t] = s[t];
  out[b + 64 + t] = s[64 + t];
}
__global__ void dataDep(const int *in, int *out, int n) {
  __shared__ int s[128];
  int t = threadIdx.x, b = blockIdx.x * 128;
  s[t] = in[b + t];
  s[t + 64] = in[b + t + 64];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    int p = 2 * t - (t & (d - 1));
    if (s[p] > s[p + d] && in[b + p] > n) {
      int v = s[p];
      s[p] = s[p + d] + t;
      s[p + d] = v;
    }
    __syncthreads();
  }
  out[b + 2 * t] = s[2 * t] * t;
  out[b + 2 * t + 1] = s[2 * t + 1] - t;
}
__global__ void warpStep(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, b = blockIdx.x * 64;
  s[t] = in[b + t];
  s[t + 32] = in[b + t + 32];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int e = (t + 1) * 2 * d - 1;
    if (e < 64)
      s[e] += s[e - d];
    __syncthreads();
  }
  out[b + t] = s[t];
  out[b + t + 32] = s[t + 32];
}
__global__ void twoTrees(const float *in, float *out) {
  __shared__ float s[256], q[256];
  int t = threadIdx.x, b = blockIdx.x * 256;
  s[t] = in[b + t];
  q[t] = in[b + t] * in[b + t];
  for (int d = 1; d < 256; d <<= 1) {
    __syncthreads();
    int i = t * (d << 1);
    if (i + d < 256) {
      s[i] += s[i + d];
      q[i] = fmaxf(q[i], q[i + d]);
    }
  }
  __syncthreads();
  out[b + t] = s[0] + q[0];
}
// Rounds of a thread's stores stay in order.
__global__ void again(const int *in, int *out) {
  __shared__ int s[128];
  int t = threadIdx.x, b = blockIdx.x * 128;
  s[t] = in[b + t];
  s[t + 64] = in[b + t + 64];
  for (int d = 1; d < 128; d *= 2) {
    __syncthreads();
    if (2 * d * t + d < 128) {
      s[2 * d * t] += s[2 * d * t + d];
      out[b + t] = s[2 * d * t];
    }
  }
}

int main() {
  const int n = 3072;
  Buffer<int> I(randoms<int>(n)), J(n);
  Buffer<float> F(randoms<float>(n)), G(n);
  Buffer<signed char> C(randoms<signed char>(n)), D(n);
  Buffer<double> X(randoms<double>(n)), Y(n);
  tail<<<16, 96>>>(I.Data, J.Data, n);
  J.show("tail");
  tail<<<15, 96>>>(I.Data, J.Data, 2711);
  J.show("tail");
  tail<<<16, 96>>>(C.Data, D.Data, n - 3);
  D.show("tailc");
  tail<<<16, 96>>>(X.Data, Y.Data, n - 1);
  Y.show("taild");
  rev<<<n / 128, 64>>>(I.Data, J.Data);
  J.show("rev");
  dataDep<<<n / 128, 64>>>(I.Data, J.Data, 20);
  J.show("dataDep");
  warpStep<<<n / 64, 32>>>(I.Data, J.Data);
  J.show("warpStep");
  twoTrees<<<n / 256, 256>>>(F.Data, G.Data);
  G.show("twoTrees");
  again<<<n / 128, 64>>>(I.Data, J.Data);
  J.show("again");
}
