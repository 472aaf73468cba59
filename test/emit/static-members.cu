// Static member functions of classes hold barriers and take shared arrays; parameters
// have defaults that make an object of nothing. What such a body says in its class alone
// stays there, and with it the kernel.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'highest' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'fromBehind' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'ofPlainClass' {{.*}}; 's' owned by a warp
// CHECK-DAG: 'namesItsClass' left as it is: {{.*}}('all' {{.*}}) [call-uses-thread]
// CHECK-DAG: 'namesMember' left as it is: {{.*}}('all' {{.*}}) [call-uses-thread]
// CHECK-DAG: 'namedByMacro' left as it is: {{.*}}('all' {{.*}}) [call-uses-thread]
// CHECK-DAG: 'specialised' left as it is: {{.*}}('all' {{.*}}) [call-uses-thread]
// CHECK-DAG: 'throughObject' left as it is: {{.*}}('all' {{.*}}) [call-uses-thread]
// TEXT-LABEL: highest_rc(
// TEXT: Larger op = Larger();
// SAME: equivalent: 8 launches {{.*}}; 3 by a rewritten kernel
#include "program.h"
struct Larger {
  __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};
template <int Threads, class Op>
__device__ int treeOf(int v, int (&s)[Threads], Op op = Op()) {
  __syncthreads();
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = Threads / 2; d > 0; d /= 2) {
    if (threadIdx.x < d)
      s[threadIdx.x] = op(s[threadIdx.x], s[threadIdx.x + d]);
    __syncthreads();
  }
  return s[0];
}
__global__ void highest(const int *a, int *o) {
  __shared__ int s[128];
  int i = blockIdx.x * 128 + threadIdx.x, v = a[i];
  int top = treeOf<128, Larger>(v, s);
  o[i] = top - v;
}

template <int Length, typename T> struct Sums {
  static __device__ __forceinline__ T all(T *s) {
    for (int d = 1; d < Length; d += d) {
      T v = threadIdx.x >= d ? s[threadIdx.x - d] : T(0);
      __syncthreads();
      s[threadIdx.x] += v;
      __syncthreads();
    }
    return s[Length - 1];
  }
};
__global__ void fromBehind(const int *a, int *o) {
  __shared__ int s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = a[i];
  __syncthreads();
  int sum = Sums<128, int>::all(s);
  o[i] = s[threadIdx.x] - sum;
}

class Plain {
public:
  static __device__ void all(int *s, unsigned d) {
    int v = s[threadIdx.x ^ d];
    __syncthreads();
    s[threadIdx.x] = v;
    __syncthreads();
  }
};
__global__ void ofPlainClass(const int *a, int *o) {
  __shared__ int s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = a[i];
  __syncthreads();
  Plain::all(s, 5);
  Plain::all(s, 64);
  o[i] = s[threadIdx.x];
}

int Away = 3;
struct Own {
  enum { Away = 7 };
  static __device__ int first(int x) { return x + 1; }
  static __device__ void all(int *s) {
    int v = s[threadIdx.x ^ Away];
    __syncthreads();
    s[threadIdx.x] = v;
    __syncthreads();
  }
};
__global__ void namesItsClass(const int *a, int *o) {
  __shared__ int s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = a[i];
  __syncthreads();
  Own::all(s);
  o[i] = s[threadIdx.x];
}
__device__ int first(int x) { return x - 1; }
struct Calls {
  static __device__ int first(int x) { return x + 1; }
  static __device__ void all(int *s) {
    int v = first(s[threadIdx.x ^ 1]);
    __syncthreads();
    s[threadIdx.x] = v;
    __syncthreads();
  }
};
__global__ void namesMember(const int *a, int *o) {
  __shared__ int s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = first(a[i]);
  __syncthreads();
  Calls::all(s);
  o[i] = s[threadIdx.x];
}
#define FIRST(x) first(x)
struct ByMacro {
  static __device__ int first(int x) { return x + 7; }
  static __device__ void all(int *s) {
    int v = FIRST(s[threadIdx.x ^ 1]);
    __syncthreads();
    s[threadIdx.x] = v;
    __syncthreads();
  }
};
__global__ void namedByMacro(const int *a, int *o) {
  __shared__ int s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = a[i];
  __syncthreads();
  ByMacro::all(s);
  o[i] = s[threadIdx.x];
}
template <int N, int M> struct Parts {
  static __device__ void all(int *s) { s[threadIdx.x] = N; }
};
template <int M> struct Parts<3, M> {
  static __device__ void all(int *s) {
    int v = s[threadIdx.x ^ M];
    __syncthreads();
    s[threadIdx.x] = v;
    __syncthreads();
  }
};
__global__ void specialised(const int *a, int *o) {
  __shared__ int s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = a[i];
  __syncthreads();
  Parts<3, 9>::all(s);
  o[i] = s[threadIdx.x];
}
__global__ void throughObject(const int *a, int *o) {
  __shared__ int s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = a[i];
  __syncthreads();
  Plain p;
  p.all(s, 3);
  o[i] = s[threadIdx.x];
}
int main() {
  const int n = 2048;
  Buffer<int> in(randoms<int>(n)), out(n);
#define RUN(K) K<<<16, 128>>>(in.Data, out.Data), out.show(#K)
  RUN(highest);
  RUN(fromBehind);
  RUN(ofPlainClass);
  RUN(namesItsClass);
  RUN(namesMember);
  RUN(namedByMacro);
  RUN(specialised);
  RUN(throughObject);
}
