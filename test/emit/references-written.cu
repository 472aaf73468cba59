// Elements of arrays that are set through references to them: what is assigned to a
// reference is assigned to the element, whoever looks at the reference afterwards.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'tree' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'neighbours' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'sorted' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'nearest' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'deduced' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'staged'
// SAME: equivalent: 6 launches {{.*}}; 6 by a rewritten kernel
#include "program.h"
#define B 128
struct Found {
  int at;
  float far;
};
__global__ void tree(const int *a, int *o) {
  __shared__ int s[B];
  int t = threadIdx.x;
  s[t] = a[blockIdx.x * B + t];
  __syncthreads();
  for (int d = B / 2; d; d >>= 1) {
    if (t < d) {
      int &sum = s[t];
      sum += s[t + d];
    }
    __syncthreads();
  }
  if (!t)
    o[blockIdx.x] = s[0];
}
__global__ void neighbours(const int *a, int *o) {
  __shared__ int s[B];
  int t = threadIdx.x, i = blockIdx.x * B + t;
  s[t] = a[i];
  __syncthreads();
  int next = s[t ^ 1];
  __syncthreads();
  {
    int &mine = s[t];
    mine = next + 1;
  }
  __syncthreads();
  o[i] = s[B - 1 - t];
}
__global__ void sorted(const int *a, int *o) {
  __shared__ int s[B];
  int t = threadIdx.x, b = blockIdx.x * B;
  s[t] = a[b + t];
  s[t + B / 2] = a[b + t + B / 2];
  for (unsigned k = 2; k <= B; k <<= 1)
    for (unsigned j = k >> 1; j > 0; j >>= 1) {
      __syncthreads();
      unsigned pos = 2u * t - (t & (j - 1u));
      int &x = s[pos], &y = s[pos + j];
      if ((x > y) == !(pos & k)) {
        int z = x;
        x = y;
        y = z;
      }
    }
  __syncthreads();
  o[b + t] = s[t];
  o[b + t + B / 2] = s[t + B / 2];
}
__global__ void nearest(const int *a, int *o) {
  __shared__ Found s[B];
  int t = threadIdx.x, i = blockIdx.x * B + t;
  Found first = {t, float(a[i])};
  s[t] = first;
  __syncthreads();
  for (int d = B / 2; d > 0; d /= 2) {
    if (t < d) {
      Found &mine = s[t], other = s[t + d];
      if (other.far < mine.far)
        mine = other;
    }
    __syncthreads();
  }
  o[i] = s[0].at;
}
__global__ void deduced(const int *a, int *o) {
  __shared__ int s[B];
  int t = threadIdx.x, i = blockIdx.x * B + t;
  s[t] = a[i];
  __syncthreads();
  for (int d = 1; d < B; d *= 2) {
    int before = t >= d ? s[t - d] : 0;
    __syncthreads();
    {
      auto &&mine = s[t];
      mine += before;
    }
    __syncthreads();
  }
  o[i] = s[t];
}
__global__ void staged(const int *a, int *o) {
  __shared__ int s[B + 2];
  int t = threadIdx.x, i = blockIdx.x * B + t;
  {
    int &mine = s[t];
    mine = a[i];
  }
  if (t < 2) {
    int &halo = s[t + B];
    halo = a[i + B];
  }
  __syncthreads();
  o[i] = s[t] + s[t + 1] + s[t + 2];
}
int main() {
  const int n = 2048;
  Buffer<int> in(randoms<int>(n + B)), out(n);
  tree<<<16, B>>>(in.Data, out.Data);
  out.show("tree");
  neighbours<<<16, B>>>(in.Data, out.Data);
  out.show("neighbours");
  sorted<<<16, B / 2>>>(in.Data, out.Data);
  out.show("sorted");
  nearest<<<16, B>>>(in.Data, out.Data);
  out.show("nearest");
  deduced<<<16, B>>>(in.Data, out.Data);
  out.show("deduced");
  staged<<<16, B>>>(in.Data, out.Data);
  out.show("staged");
}
