// Private arrays that functions get: whole, by a pointer or a reference, whose text is
// written out then, and an element at a time, by a reference that stays one; references
// to elements in the kernel. Functions
// that keep an address, that a compiler is told not to write out, or that may store
// products, leave the array where it is.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --only=private -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'nearest' (1 launch): 'd' of each thread in shared memory, {{.*}}'id' of each thread
// CHECK-DAG: rewrote 'walk' {{.*}}'stack' of each thread
// CHECK-DAG: rewrote 'digits' {{.*}}'h' of each thread
// CHECK-DAG: rewrote 'largest' {{.*}}'h' of each thread
// CHECK-DAG: rewrote 'permuted' {{.*}}'v' of each thread
// CHECK-DAG: rewrote 'queued' {{.*}}'h' of each thread
// CHECK-DAG: rewrote 'pivots' {{.*}}'p' of each thread
// CHECK-DAG: rewrote 'named' {{.*}}'b' of each thread
// CHECK-DAG: 'named_product' left as it is: {{.*}}[private-products]
// CHECK-DAG: 'address_of_name' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'leaks' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'sized' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'shifted' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'restricted' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'apart' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'products' left as it is: {{.*}}[private-products]
// CHECK-DAG: 'scaled' left as it is: {{.*}}[private-products]
// TEXT: stack[top++][rc_thread] = v
// TEXT: swap_two(v[i][rc_thread], v[x[t + i] % (i + 1)][rc_thread])
#include "program.h"

__device__ void insert_sorted(float *d, int *id, int k, float v, int vi) {
  int p = k - 1;
  while (p > 0 && d[p - 1] > v) {
    d[p] = d[p - 1];
    id[p] = id[p - 1];
    --p;
  }
  d[p] = v;
  id[p] = vi;
}
__global__ void nearest(const float *q, const float *p, float *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float d[8];
  int id[8];
  for (int i = 0; i < 8; ++i) {
    d[i] = 1e30f;
    id[i] = -1;
  }
  for (int i = 0; i < 40; ++i) {
    const float v = fabsf(q[t] - p[i]);
    if (v < d[7])
      insert_sorted(d, id, 8, v, i);
  }
  out[t] = d[7] + id[3];
}

__device__ __forceinline__ void push(int (&stack)[32], int &top, int v) { stack[top++] = v; }
__device__ __forceinline__ int pop(const int *stack, int &top) { return stack[--top]; }
__global__ void walk(const int *x, int *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int stack[32];
  int top = 0, s = 0;
  push(stack, top, x[t] & 31);
  while (top > 0) {
    const int node = pop(stack, top);
    s = s * 3 + node;
    if (node > 2)
      push(stack, top, node / 2);
    if (node > 5)
      push(stack, top, node / 3);
  }
  out[t] = s;
}

__device__ void count_into(unsigned char *h, unsigned w) {
  for (int k = 0; k < 8; ++k)
    h[(w >> (4 * k)) & 15]++;
}
__global__ void digits(const int *x, int *out, int n) {
  unsigned char h[16] = {};
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < 4; ++i)
    count_into(h, unsigned(x[t]) * 2654435761u + i);
  int m = 0;
  for (int i = 1; i < 16; ++i)
    if (h[i] > h[m])
      m = i;
  out[t] = m * 256 + h[m];
}

template <class T> __device__ void swap_two(T &a, T &b) {
  const T t = a;
  a = b;
  b = t;
}
__device__ void sift_down(float *h, int n, int i) {
  while (true) {
    int c = 2 * i + 1;
    if (c >= n)
      break;
    if (c + 1 < n && h[c + 1] < h[c])
      ++c;
    if (h[i] <= h[c])
      break;
    swap_two(h[i], h[c]);
    i = c;
  }
}
__global__ void largest(const float *x, float *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float h[16];
  for (int i = 0; i < 16; ++i)
    h[i] = x[t + i];
  for (int i = 7; i >= 0; --i)
    sift_down(h, 16, i);
  for (int i = 16; i < 40; ++i)
    if (x[t + i] > h[0]) {
      h[0] = x[t + i];
      sift_down(h, 16, 0);
    }
  out[t] = h[0];
}

__global__ void permuted(const int *x, int *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int v[16];
  for (int i = 0; i < 16; ++i)
    v[i] = i;
  for (int i = 15; i > 0; --i)
    swap_two(v[i], v[x[t + i] % (i + 1)]);
  int s = 0;
  for (int i = 0; i < 16; ++i)
    s = s * 31 + v[i];
  out[t] = s;
}

struct Item {
  float key;
  int id;
  float w;
};
__device__ bool less(const Item &a, const Item &b) {
  return a.key < b.key || (a.key == b.key && a.id < b.id);
}
__global__ void queued(const float *x, float *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  Item h[12];
  for (int i = 0; i < 12; ++i) {
    Item it;
    it.key = x[t + i];
    it.id = i;
    it.w = 1;
    int c = i;
    h[c] = it;
    while (c > 0 && less(h[c], h[(c - 1) / 2])) {
      swap_two(h[c], h[(c - 1) / 2]);
      c = (c - 1) / 2;
    }
  }
  out[t] = h[0].key + h[5].id;
}

__device__ bool eliminate(float (*a)[6], int *p) {
  for (int i = 0; i < 6; ++i)
    p[i] = i;
  for (int k = 0; k < 6; ++k) {
    int m = k;
    for (int i = k + 1; i < 6; ++i)
      if (fabsf(a[p[i]][k]) > fabsf(a[p[m]][k]))
        m = i;
    swap_two(p[k], p[m]);
    for (int i = k + 1; i < 6; ++i)
      a[p[i]][k] = a[p[i]][k] - a[p[k]][k];
  }
  return true;
}
__global__ void pivots(const float *x, float *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float a[6][6];
  int p[6];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      a[i][j] = x[t + i * 6 + j];
  const bool done = eliminate(a, p);
  out[t] = done ? a[p[5]][5] : 0;
}

// References that are elements, by a name of their own.
__global__ void named(const int *x, int *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int b[16] = {};
  for (int i = 0; i < 24; ++i) {
    int &one = b[x[t + i] & 15], &other = b[x[t + i + 1] & 15];
    one += 3;
    swap_two(one, other);
    const int &same = b[i & 15];
    other ^= same;
  }
  int s = 0;
  for (int i = 0; i < 16; ++i)
    s = s * 31 + b[i];
  out[t] = s;
}
__global__ void named_product(const int *x, const float *w, float *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float b[8] = {};
  for (int i = 0; i < 8; ++i) {
    float &y = b[(x[t] + i) & 7];
    y = w[i] * w[i + 1];
  }
  out[t] = b[x[t] & 7] + w[3];
}
__global__ void address_of_name(const int *x, int *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int b[16] = {};
  int &one = b[x[t] & 7];
  (&one)[1] = 5;
  out[t] = b[x[t + 1] & 15];
}

// An address that goes on: p[3] is another element.
__device__ int *where(int &x) { return &x; }
__global__ void leaks(const int *x, int *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int b[32];
  for (int i = 0; i < 32; ++i)
    b[i] = i;
  where(b[x[t] & 15])[3] += 5;
  out[t] = b[x[t + 2] & 31];
}

// What a pointer's size is not.
__device__ int words(const int *b) { return int(sizeof(b)) / 4 + b[b[1] & 7]; }
__global__ void sized(const int *x, int *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int b[8];
  for (int i = 0; i < 8; ++i)
    b[(x[t] + i) & 7] = x[t + i];
  out[t] = words(b);
}

// A pointer that moves.
__device__ int sum_to(const int *b, int n) {
  int s = 0;
  for (const int *e = b + n; b != e; ++b)
    s += *b;
  return s;
}
__global__ void shifted(const int *x, int *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int b[8];
  for (int i = 0; i < 8; ++i)
    b[(x[t] + i) & 7] = x[t + i];
  out[t] = sum_to(b, x[t] & 7);
}

// In the loop around the call, nvcc takes `__restrict__` for more than it says: its code
// loses elements.
__device__ void insert(float *__restrict__ b, int m, float v) {
  int p = m - 1;
  while (p > 0 && b[p - 1] > v) {
    b[p] = b[p - 1];
    --p;
  }
  b[p] = v;
}
__global__ void restricted(const int *x, float *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float b[5] = {};
  float sum = 0;
  for (int i = 0; i < 20; ++i) {
    insert(b, 5, float(i));
    sum += b[(unsigned)(x[t + i]) % 5u];
    b[(unsigned)(x[t + i]) % 5u] = b[(unsigned)(t + i) % 5u];
  }
  out[t] = sum;
}

// A call rounds what it is given.
__device__ __noinline__ void set_far(float *b, int i, float x) { b[i] = x; }
__global__ void apart(const int *x, const float *w, float *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float b[8];
  for (int i = 0; i < 8; ++i)
    set_far(b, (x[t] + i) & 7, w[i] + w[i + 1]);
  out[t] = b[x[t] & 7] + w[3];
}

__device__ void set_to(float &y, float x) { y = x; }
__global__ void products(const int *x, const float *w, float *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float b[8];
  for (int i = 0; i < 8; ++i)
    set_to(b[(x[t] + i) & 7], w[i] * w[i + 1]);
  out[t] = b[x[t] & 7] + w[3];
}
__device__ void scale(float &y, float x) { y *= x; }
__global__ void scaled(const int *x, const float *w, float *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float b[8];
  for (int i = 0; i < 8; ++i)
    b[i] = w[i];
  scale(b[x[t] & 7], w[9]);
  out[t] = b[x[t + 1] & 7] + w[3];
}

int main() {
  const int n = 1024;
  const Buffer<int> x(randoms<int>(n + 64)), k(n);
  const Buffer<float> f(randoms<float>(n + 64)), o(n);
  nearest<<<n / 128, 128>>>(f.Data, f.Data, o.Data, n);
  o.show("nearest", n);
  walk<<<n / 64, 64>>>(x.Data, k.Data, n);
  k.show("walk", n);
  digits<<<n / 128, 128>>>(x.Data, k.Data, n);
  k.show("digits", n);
  largest<<<n / 128, 128>>>(f.Data, o.Data, n);
  o.show("largest", n);
  permuted<<<n / 128, 128>>>(x.Data, k.Data, n);
  k.show("permuted", n);
  queued<<<n / 128, 128>>>(f.Data, o.Data, n);
  o.show("queued", n);
  pivots<<<n / 128, 128>>>(f.Data, o.Data, n);
  o.show("pivots", n);
  named<<<n / 128, 128>>>(x.Data, k.Data, n);
  k.show("named", n);
  named_product<<<n / 128, 128>>>(x.Data, f.Data, o.Data, n);
  address_of_name<<<n / 128, 128>>>(x.Data, k.Data, n);
  leaks<<<n / 128, 128>>>(x.Data, k.Data, n);
  sized<<<n / 128, 128>>>(x.Data, k.Data, n);
  shifted<<<n / 128, 128>>>(x.Data, k.Data, n);
  restricted<<<n / 128, 128>>>(x.Data, o.Data, n);
  apart<<<n / 128, 128>>>(x.Data, f.Data, o.Data, n);
  products<<<n / 128, 128>>>(x.Data, f.Data, o.Data, n);
  scaled<<<n / 128, 128>>>(x.Data, f.Data, o.Data, n);
}
