// Loops over the levels of a tree: distances are powers of two by a count, `1 << level`.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: %if slow %{ rcache-rewrite %s --force --distribution=cyclic -o %t.2.cu --cuda-path=%cuda -- -I%S/Inputs %}
// RUN: %if slow %{ rcache-check diff %s %t.2.cu -- -I%S/Inputs %}
//
// CHECK-DAG: rewrote 'upAndDown' {{.*}}; 't' owned by a warp
// CHECK-DAG: rewrote 'tree' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'hillisSteele' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'sorted' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'butterfly' {{.*}}; 's' owned by a warp
// TEXT-LABEL: upAndDown_rc(
// TEXT: (2 << lev), ((2 << lev) - 1))
// SAME: equivalent: 6 launches {{.*}}; 6 by a rewritten kernel
#include "program.h"
#define LOG 8
#define N (1 << LOG)
__global__ void upAndDown(const int *a, int *o) {
  __shared__ int t[N];
  const int id = threadIdx.x;
  const size_t at = size_t(blockIdx.x) << LOG;
  t[id] = a[at + id];
  t[id + N / 2] = a[at + id + N / 2];
  for (int lev = 0; lev < LOG; ++lev) {
    __syncthreads();
    if (id < (N >> (lev + 1))) {
      int right = ((id + 1) << (lev + 1)) - 1;
      int left = right - (1 << lev);
      t[right] += t[left];
    }
  }
  __syncthreads();
  if (id == 0)
    t[N - 1] = 0;
  for (int lev = LOG - 1; lev >= 0; --lev) {
    __syncthreads();
    if (id < (N >> (lev + 1))) {
      int right = ((id + 1) << (lev + 1)) - 1;
      int left = right - (1 << lev);
      int keep = t[left];
      t[left] = t[right];
      t[right] += keep;
    }
  }
  __syncthreads();
  o[at + id] = t[id];
  o[at + id + N / 2] = t[id + N / 2];
}
__global__ void inclusive(const int *a, int *o) {
  __shared__ int s[N];
  unsigned i = threadIdx.x, at = blockIdx.x * N;
  s[2 * i] = a[at + 2 * i];
  s[2 * i + 1] = a[at + 2 * i + 1];
  __syncthreads();
  for (unsigned k = 0; k < LOG; k++) {
    unsigned p = ((i >> k) << (k + 1)) + (1u << k), q = p + (i & ((1u << k) - 1));
    s[q] += s[p - 1];
    __syncthreads();
  }
  o[at + 2 * i] = s[2 * i];
  o[at + 2 * i + 1] = s[2 * i + 1];
}
__global__ void tree(const int *a, int *o) {
  __shared__ int s[N];
  const int t = threadIdx.x, i = blockIdx.x * N + t;
  s[t] = a[i];
  __syncthreads();
  for (int level = 0; level < LOG; ++level) {
    if ((t & ((2 << level) - 1)) == 0)
      s[t] += s[t + (1 << level)];
    __syncthreads();
  }
  o[i] = s[0];
}
__global__ void hillisSteele(const int *a, int *o) {
  __shared__ int s[N];
  const int t = threadIdx.x, i = blockIdx.x * N + t;
  s[t] = a[i];
  __syncthreads();
  for (int level = 0; level < LOG; ++level) {
    const int d = 1 << level;
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  o[i] = s[t];
}
__global__ void sorted(const int *a, int *o) {
  __shared__ int s[N];
  const int t = threadIdx.x, i = blockIdx.x * N + t;
  s[t] = a[i];
  __syncthreads();
  for (int k = 1; k <= LOG; ++k)
    for (int j = k - 1; j >= 0; --j) {
      const int p = t ^ (1 << j);
      if (p > t) {
        const bool rising = ((t >> k) & 1) == 0;
        if ((s[t] > s[p]) == rising) {
          int v = s[t];
          s[t] = s[p];
          s[p] = v;
        }
      }
      __syncthreads();
    }
  o[i] = s[t];
}
__global__ void butterfly(const int *a, int *o) {
  __shared__ int s[N];
  const int t = threadIdx.x, i = blockIdx.x * N + t;
  s[t] = a[i];
  __syncthreads();
  for (int level = 0; level < LOG; ++level) {
    int x = s[t], y = s[t ^ (1 << level)];
    __syncthreads();
    s[t] = (t >> level) & 1 ? y - x : x + y;
    __syncthreads();
  }
  o[i] = s[t];
}
int main() {
  const int n = 16 * N;
  Buffer<int> in(randoms<int>(n)), out(n);
  upAndDown<<<16, N / 2>>>(in.Data, out.Data);
  out.show("upAndDown");
  inclusive<<<16, N / 2>>>(in.Data, out.Data);
  out.show("inclusive");
  tree<<<16, N>>>(in.Data, out.Data);
  out.show("tree");
  hillisSteele<<<16, N>>>(in.Data, out.Data);
  out.show("hillisSteele");
  sorted<<<16, N>>>(in.Data, out.Data);
  out.show("sorted");
  butterfly<<<16, N>>>(in.Data, out.Data);
  out.show("butterfly");
}
