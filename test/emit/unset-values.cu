// A variable that only some threads load: the others have no value, and nothing is
// loaded in its place, which may lie behind the end.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// CHECK-DAG: rewrote 'sums' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'other_way' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'on_data' {{.*}}'s' reloaded
#include "program.h"

__global__ void sums(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[130];
  const int i = blockIdx.x * 128 + threadIdx.x;
  float own;
  if (i < n)
    own = in[i];
  s[threadIdx.x + 1] = own;
  if (threadIdx.x == 0 && i > 0)
    s[0] = in[i - 1];
  if (threadIdx.x == 127 && i + 1 < n)
    s[129] = in[i + 1];
  __syncthreads();
  if (i > 0 && i < n - 1)
    out[i] = s[threadIdx.x] + s[threadIdx.x + 2];
}

__global__ void other_way(const double *__restrict__ in, double *__restrict__ out, int n) {
  __shared__ double s[130];
  const int i = blockIdx.x * 128 + threadIdx.x;
  double own[2];
  if (i >= n)
    ;
  else {
    own[0] = in[2 * i];
    own[1] = in[2 * i + 1];
  }
  s[threadIdx.x + 1] = own[0] - own[1];
  if (threadIdx.x == 0)
    s[0] = i > 0 && i - 1 < n ? in[2 * i - 2] - in[2 * i - 1] : 0.0;
  if (threadIdx.x == 127)
    s[129] = i + 1 < n ? in[2 * i + 2] - in[2 * i + 3] : 0.0;
  __syncthreads();
  if (i > 0 && i < n - 1)
    out[i] = s[threadIdx.x] + s[threadIdx.x + 2];
}

// Which threads load is told by data.
__global__ void on_data(const float *__restrict__ in, const int *__restrict__ where, float *__restrict__ out, int n) {
  __shared__ float s[130];
  const int i = blockIdx.x * 128 + threadIdx.x;
  float own;
  const int at = i < n ? where[i] : -1;
  if (at >= 0)
    own = in[at];
  s[threadIdx.x] = own;
  __syncthreads();
  if (i < n && at >= 0)
    out[i] = s[threadIdx.x] + 1.0f;
}

int main() {
  for (int n : {1000, 127, 1280, 1281}) {
    Buffer<float> In(randoms<float>(n)), Out(n);
    sums<<<blocks(n, 128), 128>>>(In.Data, Out.Data, n);
    Out.show("sums", n);
    std::vector<int> At(n);
    for (int &X : At)
      X = static_cast<int>(nextRandom() % (n + 5)) - 5;
    Buffer<int> Where(At);
    on_data<<<blocks(n, 128), 128>>>(In.Data, Where.Data, Out.Data, n);
    Out.show("on data", n);
    Buffer<double> Pairs(randoms<double>(2 * n)), Differences(n);
    other_way<<<blocks(n, 128), 128>>>(Pairs.Data, Differences.Data, n);
    Differences.show("other way", n);
  }
}
