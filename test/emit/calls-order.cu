// Functions that change what the rest of an expression, or another argument, reads: written
// out they would stand in another order, or under another name. A copy stays a copy, a
// reference stays one, a type is the one that the function means; else the call stays.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'copied' {{.*}}'a' of each thread
// CHECK-DAG: rewrote 'popped' {{.*}}'a' of each thread
// CHECK-DAG: rewrote 'made_names' {{.*}}'a' of each thread
// CHECK-DAG: 'by_reference' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'of_memory' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'own_type' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'assigned' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'summed' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'added_to' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'popped_twice' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'before_it' left as it is: {{.*}}[private-use]
#include "program.h"

// j changes through p, and the function's j does not.
__device__ int through(int *a, int *p, int j) {
  *p += 3;
  a[*p & 15] += j;
  return a[(j + 1) & 15];
}
__global__ void copied(const int *in, int *out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int a[16];
  for (int q = 0; q < 16; ++q)
    a[q] = in[t + q] & 1023;
  int i = in[t] & 0xffff, j = in[t + 1] & 0xffff, r = 0;
  r = through(a, &j, j);
  through(a, &i, i);
  for (int q = 0; q < 16; ++q)
    r = r * 31 + a[(q + i) & 15];
  out[t] = r + i * 3 + j;
}

__device__ int pop(const int *a, int &top) { return a[--top & 15]; }
__global__ void popped(const int *in, int *out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int a[16];
  for (int q = 0; q < 16; ++q)
    a[(q + in[t]) & 15] = in[t + q] & 1023;
  int i = 16, r = 0;
  while (i > 0 && pop(a, i) > 20)
    r += 7;
  const int last = pop(a, i) + 3;
  out[t] = r + last * 100 + i;
}

// The program has variables of the names that are made up.
namespace other {
__device__ int turn_value = 3;
}
using namespace other;
__device__ int k_turn = 4;
__device__ int turn(int *a, int i, int j) {
  int k = i * 2;
  i += j;
  a[k & 15] += i;
  return a[(i + 1) & 15];
}
__global__ void made_names(const int *in, int *out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int a[16], k = in[t] & 7;
  for (int q = 0; q < 16; ++q)
    a[(q + k) & 15] = in[t + q] & 1023;
  int r = turn(a, turn_value, k_turn);
  r += k_turn;
  out[t] = turn(a, r, k) + turn_value;
}

__device__ void move_on(int (&a)[16], const int &x, int i) {
  a[i & 15] += 3;
  a[(i + 1) & 15] = x;
}
__global__ void by_reference(const int *in, int *out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int a[16];
  for (int q = 0; q < 16; ++q)
    a[q] = in[t + q] & 1023;
  const int i = in[t] & 0xffff;
  move_on(a, a[i & 15], i);
  out[t] = a[(i + 1) & 15];
}

__device__ void store_first(const int &x, int *o, int *a) {
  o[0] = 5;
  a[x & 15] += x;
}
__global__ void of_memory(const int *in, int *out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int a[16];
  for (int q = 0; q < 16; ++q)
    a[q] = in[t + q] & 1023;
  out[t] = a[in[t] & 15];
  store_first(out[t], out + t, a);
  out[t] += a[in[t + 1] & 15];
}

typedef unsigned char B;
__device__ int narrow(int *a, int i) {
  B x = (B)i;
  a[x & 15] += x;
  return x;
}
__global__ void own_type(const int *in, int *out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int a[16];
  for (int q = 0; q < 16; ++q)
    a[q] = in[t + q] & 1023;
  typedef int B;
  B x = in[t] + 300;
  const int r = narrow(a, x);
  out[t] = r + a[in[t + 1] & 15];
}

__device__ int count(int *a, int i) {
  a[i & 15] += 1;
  return a[(i * 3) & 15] & 255;
}
__global__ void assigned(const int *in, int *out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int a[16];
  for (int q = 0; q < 16; ++q)
    a[q] = in[t + q] & 1023;
  a[count(a, in[t]) & 15] = count(a, in[t + 1]);
  out[t] = a[in[t] & 15];
}
__global__ void summed(const int *in, int *out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int a[16];
  for (int q = 0; q < 16; ++q)
    a[q] = in[t + q] & 1023;
  const int r = a[in[t + 1] & 15] + count(a, in[t + 1]);
  out[t] = r + a[in[t] & 15];
}
__global__ void added_to(const int *in, int *out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int a[16];
  for (int q = 0; q < 16; ++q)
    a[q] = in[t + q] & 1023;
  a[in[t + 1] & 15] += count(a, in[t + 1]);
  out[t] = a[in[t] & 15];
}
__global__ void popped_twice(const int *in, int *out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int a[16];
  for (int q = 0; q < 16; ++q)
    a[(q + in[t]) & 15] = in[t + q] & 1023;
  int i = 16;
  out[t] = pop(a, i) * 3 - pop(a, i) + i;
}
// What is passed is what it was before.
__device__ int pop_and(const int *a, int &top, int was) { return a[--top & 15] * 2 + was; }
__global__ void before_it(const int *in, int *out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int a[16];
  for (int q = 0; q < 16; ++q)
    a[(q + in[t]) & 15] = in[t + q] & 1023;
  int i = 16, r = 0;
  while (i > 0 && pop_and(a, i, i) > 20)
    r += 7;
  out[t] = r + i;
}

int main() {
  const int n = 256;
  const Buffer<int> x(randoms<int>(n + 64)), o(n);
  copied<<<n / 64, 64>>>(x.Data, o.Data);
  o.show("copied", n);
  popped<<<n / 64, 64>>>(x.Data, o.Data);
  o.show("popped", n);
  made_names<<<n / 64, 64>>>(x.Data, o.Data);
  o.show("made names", n);
  by_reference<<<n / 64, 64>>>(x.Data, o.Data);
  o.show("by reference", n);
  of_memory<<<n / 64, 64>>>(x.Data, o.Data);
  o.show("of memory", n);
  own_type<<<n / 64, 64>>>(x.Data, o.Data);
  o.show("own type", n);
  assigned<<<n / 64, 64>>>(x.Data, o.Data);
  o.show("assigned", n);
  summed<<<n / 64, 64>>>(x.Data, o.Data);
  o.show("summed", n);
  added_to<<<n / 64, 64>>>(x.Data, o.Data);
  o.show("added to", n);
  popped_twice<<<n / 64, 64>>>(x.Data, o.Data);
  o.show("popped twice", n);
  before_it<<<n / 64, 64>>>(x.Data, o.Data);
  o.show("before it", n);
}
