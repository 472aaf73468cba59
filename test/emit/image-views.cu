// Tiles that a method of a struct fills, which the kernel gets by value, and elements of
// an enumeration.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --coarsen=4 -o %t.cu --cuda-path=%cuda -- -I%S/Inputs \
// RUN:   2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DIFF
// DIFF: equivalent: 15 launches compared, {{.*}}; 15 by a rewritten kernel
#include "program.h"

struct Line {
  const float *p;
  float *q;
  int n;
  __device__ float at(int i) const { return i < 0 || i >= n ? -1.f : p[i]; }
};
struct Nested {
  Line line;
  int first;
  __device__ float at(int i) const { return i < first ? 0.f : line.p[i < line.n ? i : line.n - 1]; }
};
struct Counting {
  float *p;
  int n;
  __device__ float take(int i) const {
    const float x = i < 0 || i >= n ? 0.f : p[i];
    if (i == n - 1)
      p[0] = x;
    return x;
  }
};
enum class Base : unsigned char { A = 0, C = 1, G = 2, T = 3 };

#define STAGE(TYPE, VALUE)                                                               \
  __shared__ TYPE s[130];                                                                \
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;                                   \
  for (int i = t; i < 130; i += 128) {                                                   \
    const int q = (int)(blockIdx.x * 128) + i - 1;                                       \
    s[i] = VALUE;                                                                        \
  }                                                                                      \
  __syncthreads();

// CHECK-DAG: rewrote 'ofMethod' ({{.*}}): 4 outputs a thread; 's' {{.*}}registers
__global__ void ofMethod(const Line m) {
  STAGE(float, m.at(q))
  if (g < m.n)
    m.q[g] = s[t] + s[t + 1] - s[t + 2];
}
// A struct in a struct; the kernel sets another member's elements:
// CHECK-DAG: rewrote 'ofNested' ({{.*}}): 4 outputs a thread; 's' {{.*}}registers
__global__ void ofNested(Nested m) {
  STAGE(float, m.at(q))
  if (g < m.line.n)
    m.line.q[g] = s[t] + s[t + 1] - s[t + 2];
}
// CHECK-DAG: rewrote 'ofEnumeration' ({{.*}}): 4 outputs a thread; 's' {{.*}}registers
__global__ void ofEnumeration(const unsigned char *__restrict__ a, float *__restrict__ out, int n) {
  STAGE(Base, q >= 0 && q < n ? static_cast<Base>(a[q] & 3) : Base::T)
  if (g < n)
    out[g] = (unsigned)s[t] << 4 | (unsigned)s[t + 1] << 2 | (unsigned)s[t + 2];
}
// One that stores is not followed: the tile stays what it was.
// CHECK-DAG: rewrote 'ofStoring' ({{.*}}): 4 outputs a thread; 's' kept shared
__global__ void ofStoring(Counting m, float *out) {
  STAGE(float, m.take(q))
  if (g < m.n)
    out[g] = s[t] + s[t + 2];
}
// Several pointers to one place:
// CHECK-DAG: rewrote 'inPlace'
__global__ void inPlace(Line m) {
  STAGE(float, m.at(q))
  if (g < m.n)
    m.q[g] = s[t] - s[t + 2];
}

int main() {
  for (int n : {1000, 2311, 256}) {
    const Buffer<float> a(randoms<float>(n));
    const Buffer<unsigned char> bytes(randoms<unsigned char>(n));
    Buffer<float> b(n), c(n);
    const Line m{a.Data, b.Data, n};
    ofMethod<<<blocks(n, 128), 128>>>(m), b.show("method", n);
    ofNested<<<blocks(n, 128), 128>>>({m, 3}), b.show("nested", n);
    ofEnumeration<<<blocks(n, 128), 128>>>(bytes.Data, b.Data, n), b.show("enumeration", n);
    ofStoring<<<1, 128>>>({c.Data, n}, b.Data), b.show("storing", 128);
    // Each block reads what it and its neighbours set: one block.
    const Line same{c.Data, c.Data, 128};
    inPlace<<<1, 128>>>(same), c.show("in place", 128);
  }
}
