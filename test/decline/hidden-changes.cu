// Objects that change, or change others, where no text says so: in const functions, through
// members that are references, through addresses in their members.
//
// RUN: %rewrite %s --force -o %t.cu -- %mock 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
//
// CHECK-DAG: 'counts' left as it is: {{.*}} (an object with a mutable member) [unsupported-statement]
// CHECK-DAG: 'within' left as it is: {{.*}} (an object with a mutable member) [unsupported-statement]
// CHECK-DAG: 'passed' left as it is: {{.*}} (an object with a mutable member) [unsupported-statement]
// CHECK-DAG: 'refers' left as it is: {{.*}} (an object with a member that is a reference) [unsupported-statement]
// CHECK-DAG: 'atOnce' left as it is: {{.*}} (an object with a member that is a reference) [unsupported-statement]
// CHECK-DAG: 'pointsIn' left as it is: {{.*}} (the address of 'w' is kept in 'q') [unsupported-statement]
// CHECK-DAG: 'pointsByName' left as it is: {{.*}} (the address of 'w' is kept in 'q') [unsupported-statement]
// CHECK-DAG: 'pointsLater' left as it is: {{.*}} (the address of 'u' is kept in 'q') [unsupported-statement]
// CHECK-DAG: 'casts' left as it is: {{.*}} ('put' casts away the const of what it may not change) [side-effects]
// CHECK-DAG: 'typeOfArray' left as it is: {{.*}} (a name for the type of 's') [unsupported-statement]
// CHECK-DAG: 'typeOfLocal' left as it is: {{.*}} (a name for the type of 'l') [unsupported-statement]
// What only reads through an address in any type, and objects that hold nothing:
// CHECK-DAG: rewrote 'reads'
// CHECK-DAG: rewrote 'plain'

struct Counter {
  mutable int total = 0;
  __device__ int operator()(int x) const { return total += x; }
};
struct Holder : Counter {
  int k;
};
struct Two {
  int &x, &y;
};
struct Window {
  const int *w;
  __device__ int at(int i) const { return w[i]; }
};
struct Pair {
  int a, b;
  __device__ int sum() const { return a + b; }
};
__device__ int put(const int &x) { return (int &)x = 5; }
__device__ int first(const int *p) { return ((int2 *)p)->x; }

#define STAGE                                                                            \
  __shared__ int s[256];                                                                 \
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;                                   \
  s[l] = g < n ? a[g] : 0;
#define KERNEL(name) __global__ void name(const int *__restrict__ a, int *__restrict__ o, int n, int m)

KERNEL(counts) {
  STAGE;
  __syncthreads();
  Counter f;
  int r = s[l];
  if (m == 12345)
    r = f(s[255 - l]);
  if (g < n)
    o[g] = r + s[255 - l];
}
KERNEL(within) {
  STAGE;
  __syncthreads();
  Holder f[2] = {};
  if (g < n)
    o[g] = f[1](s[l]) + f[1](s[255 - l]);
}
__global__ void passed(const int *__restrict__ a, int *__restrict__ o, int n, Holder f) {
  STAGE;
  __syncthreads();
  if (g < n)
    o[g] = f(s[l]) + f(s[255 - l]);
}
KERNEL(refers) {
  STAGE;
  __syncthreads();
  int p = 0, q = 0;
  Two w{p, q};
  w.x += s[l], w.y += s[255 - l];
  if (g < n)
    o[g] = p + q * 3;
}
KERNEL(atOnce) {
  STAGE;
  __syncthreads();
  int p = 0, q = 0;
  Two{p, q}.x += s[l] + s[255 - l];
  if (g < n)
    o[g] = p;
}
KERNEL(pointsIn) {
  int w[3] = {1, 2, 3};
  Window q{w};
  STAGE;
  int u = q.at(1);
  if (m == 12345)
    w[1] = 7;
  __syncthreads();
  if (g < n)
    o[g] = s[l] + s[255 - l] * u;
}
KERNEL(pointsByName) {
  int w[3] = {1, 2, 3};
  Window q = {.w = w};
  STAGE;
  int u = q.at(1);
  w[1] = 7;
  __syncthreads();
  if (g < n)
    o[g] = s[l] + s[255 - l] * u;
}
KERNEL(pointsLater) {
  int u = 3;
  Window q;
  q.w = &u;
  STAGE;
  int v = q.at(0);
  u = 4;
  __syncthreads();
  if (g < n)
    o[g] = s[l] + s[255 - l] * v + u;
}
KERNEL(casts) {
  STAGE;
  int u = 3;
  __syncthreads();
  put(u);
  if (g < n)
    o[g] = s[l] + s[255 - l] * u;
}
KERNEL(typeOfArray) {
  STAGE;
  __syncthreads();
  using F = decltype(s[0] + 1L);
  F r = s[l];
  if (g < n)
    o[g] = r + s[255 - l];
}
KERNEL(typeOfLocal) {
  STAGE;
  typedef decltype(l) I;
  __syncthreads();
  if (g < n)
    for (I i = 0; i < 1;)
      return void(o[g] = s[l] + s[255 - l]);
}
KERNEL(reads) {
  STAGE;
  __syncthreads();
  if (g < n)
    o[g] = s[l] + s[255 - l] * first(a + 2);
}
KERNEL(plain) {
  STAGE;
  __syncthreads();
  const Pair p = {s[l], s[255 - l]};
  if (g < n)
    o[g] = p.sum();
}
void launch(const int *a, int *o, int n, int m) {
  const int b = (n + 255) / 256;
  counts<<<b, 256>>>(a, o, n, m);
  within<<<b, 256>>>(a, o, n, m);
  passed<<<b, 256>>>(a, o, n, Holder());
  refers<<<b, 256>>>(a, o, n, m);
  atOnce<<<b, 256>>>(a, o, n, m);
  pointsIn<<<b, 256>>>(a, o, n, m);
  pointsByName<<<b, 256>>>(a, o, n, m);
  pointsLater<<<b, 256>>>(a, o, n, m);
  casts<<<b, 256>>>(a, o, n, m);
  typeOfArray<<<b, 256>>>(a, o, n, m);
  typeOfLocal<<<b, 256>>>(a, o, n, m);
  reads<<<b, 256>>>(a, o, n, m);
  plain<<<b, 256>>>(a, o, n, m);
}
