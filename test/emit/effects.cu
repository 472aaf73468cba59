// Text that goes away does more than compute: staging writes, indices and
// conditions that change a variable, and addresses that outlive what they point to.
// Such an array stays in shared memory, or the variable is used by nobody.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs -std=c++20 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -std=c++20
// RUN: %if slow %{ %nvcc -std=c++20 -I%S/Inputs -ptx %t.cu -o %t.ptx %}
//
// CHECK: rewrote 'chain' {{.*}}'s' kept shared
// CHECK: not written [effects-not-kept]: 'c = a[g]' would be left out
// CHECK: rewrote 'compound' {{.*}}'s' kept shared
// CHECK: rewrote 'index' {{.*}}'s' kept shared
// CHECK: rewrote 'pointer' {{.*}}'s' kept shared
// CHECK: rewrote 'value' {{.*}}'s' kept shared
// CHECK: rewrote 'read_index' {{.*}}'s' kept shared
// CHECK: rewrote 'read_assigns' {{.*}}'s' kept shared
// CHECK: rewrote 'by_macro' {{.*}}'s' kept shared
// CHECK: 'by_function' left as it is
// CHECK: 'by_address' left as it is
// CHECK: rewrote 'called_index' {{.*}}'s' kept shared
// CHECK: 'by_lambda' left as it is
// CHECK: rewrote 'stores' {{.*}}'s' kept shared
// CHECK: rewrote 'condition' {{.*}}'s' reloaded
// CHECK: rewrote 'nobody_asks' {{.*}}'s' reloaded
// CHECK: rewrote 'address' {{.*}}'s'
// CHECK: rewrote 'address_read' {{.*}}'s'
// CHECK: rewrote 'array_address' {{.*}}'s'
// CHECK: rewrote 'one_of_two' {{.*}}'s'
// CHECK: rewrote 'one_of_two_read' {{.*}}'s'
// CHECK: rewrote 'assigned_one_of_two' {{.*}}'s'
// CHECK: 'address_lives_on' left as it is: {{.*}} (the address of 'x' is kept)
// CHECK: rewrote 'comma_lvalue'
//
#include "program.h"
__global__ void chain(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  float c;
  s[t] = c = a[g];
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = s[t] + s[t + 1] + s[t + 2] - c * 3.f;
}
__global__ void compound(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  float c = 1.f;
  s[t] = (c += a[g]);
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = s[t] + s[t + 1] + s[t + 2] - c * 3.f;
}
__global__ void index(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  int c = t;
  s[c++] = a[g];
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = s[t] + s[t + 1] + s[t + 2] - c * 3.f;
}
__global__ void pointer(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  const float *p = a + g;
  s[t] = *p++;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = s[t] + s[t + 1] + s[t + 2] - *p * 3.f;
}
__global__ void value(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  int c = g;
  s[t] = a[g] + c++;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = s[t] + s[t + 1] + s[t + 2] - c * 3.f;
}
__global__ void read_index(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  int q = t; float x = 0.f;
  x += s[q++];
  x += s[q++];
  if (g < n) { b[g] = x; e[g] = q; }
}
__global__ void read_assigns(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  int q; float x = s[q = t + 2];
  if (g < n) { b[g] = x + s[t]; e[g] = q; }
}
#define NOTE(x, v, c) ((x) = ((c) += 3, (v)))
__global__ void by_macro(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  int c = 0;
  NOTE(s[t], a[g], c);
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) { b[g] = s[t] + s[t + 1] + s[t + 2]; e[g] = c; }
}
__device__ float get(float v, int &c) { c += 7; return v * 2.f; }
__global__ void by_function(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  int c = 0;
  s[t] = get(a[g], c);
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) { b[g] = s[t] + s[t + 1] + s[t + 2]; e[g] = c; }
}
__device__ float getp(float v, int *c) { *c += 7; return v * 2.f; }
__global__ void by_address(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  int c = 0;
  s[t] = getp(a[g], &c);
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) { b[g] = s[t] + s[t + 1] + s[t + 2]; e[g] = c; }
}
__device__ int idx(int &c) { c += 1; return c; }
__global__ void called_index(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  int c = t;
  float x = s[idx(c)];
  if (g < n) { b[g] = x + s[t]; e[g] = c; }
}
__global__ void by_lambda(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  int c = 0;
  s[t] = [&](float v) { c += 5; return v; }(a[g]);
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) { b[g] = s[t] + s[t + 1] + s[t + 2]; e[g] = c; }
}
__global__ void stores(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? (b[g] = a[g] + 2.f) : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) e[g] = s[t] + s[t + 1] + s[t + 2];
}
__global__ void condition(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  int c = g;
  if (c++ < n) s[t] = a[g]; else s[t] = 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) { b[g] = s[t] + s[t + 1] + s[t + 2]; e[g] = c; }
}
__global__ void nobody_asks(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  int c = g;
  s[t] = a[g] + c++;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = s[t] + s[t + 1] + s[t + 2];
}
__global__ void address(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  float x = s[t];
  float *p = &x;
  *p += 3.f;
  if (g < n) b[g] = *p + s[t + 1] + s[t + 2];
}
__global__ void address_read(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  float x = s[t];
  float *p = &x;
  if (g < n) b[g] = *p + s[t + 1] + s[t + 2];
}
__global__ void array_address(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  float y[3];
  for (int i = 0; i < 3; ++i) y[i] = s[t + i];
  float *p = y;
  float z = 0.f;
  for (int i = 0; i < 3; ++i) z += p[i];
  if (g < n) b[g] = z;
}
__global__ void one_of_two(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  float x = s[t], y = s[t + 1];
  float *p = g & 1 ? &x : &y;
  *p = 3.f;
  if (g < n) b[g] = x - y;
}
__global__ void one_of_two_read(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  float x = s[t], y = s[t + 1];
  float *p = g & 1 ? &x : &y;
  if (g < n) b[g] = *p;
}
__global__ void assigned_one_of_two(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  float x = s[t], y = s[t + 1];
  (g & 1 ? x : y) = 3.f;
  if (g < n) b[g] = x - y;
}
__global__ void address_lives_on(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  float x = a[g]; float *p = &x;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = *p + s[t] + s[t + 1];
}
__global__ void comma_lvalue(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[140];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  int c = t % 5;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 4) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  float x = 0.f;
  for (int i = 0; i < 3; ++i) x += (c++, s[t + i]);
  if (g < n) b[g] = x;
  if (g < n) e[g] = c;
}

int main() {
  for (int n : {1000, 127, 1281}) {
    Buffer<float> in(randoms<float>(n + 512)), out(n + 512);
    Buffer<int> also(n + 512);
    chain<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("chain", n);
    also.show("chain, integers", n);
    compound<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("compound", n);
    also.show("compound, integers", n);
    index<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("index", n);
    also.show("index, integers", n);
    pointer<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("pointer", n);
    also.show("pointer, integers", n);
    value<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("value", n);
    also.show("value, integers", n);
    read_index<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("read_index", n);
    also.show("read_index, integers", n);
    read_assigns<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("read_assigns", n);
    also.show("read_assigns, integers", n);
    by_macro<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("by_macro", n);
    also.show("by_macro, integers", n);
    by_function<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("by_function", n);
    also.show("by_function, integers", n);
    by_address<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("by_address", n);
    also.show("by_address, integers", n);
    called_index<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("called_index", n);
    also.show("called_index, integers", n);
    by_lambda<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("by_lambda", n);
    also.show("by_lambda, integers", n);
    stores<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("stores", n);
    also.show("stores, integers", n);
    condition<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("condition", n);
    also.show("condition, integers", n);
    nobody_asks<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("nobody_asks", n);
    also.show("nobody_asks, integers", n);
    address<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("address", n);
    also.show("address, integers", n);
    address_read<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("address_read", n);
    also.show("address_read, integers", n);
    array_address<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("array_address", n);
    also.show("array_address, integers", n);
    one_of_two<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("one_of_two", n);
    also.show("one_of_two, integers", n);
    one_of_two_read<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("one_of_two_read", n);
    also.show("one_of_two_read, integers", n);
    assigned_one_of_two<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("assigned_one_of_two", n);
    also.show("assigned_one_of_two, integers", n);
    comma_lvalue<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("comma_lvalue", n);
    also.show("comma_lvalue, integers", n);
    address_lives_on<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("address_lives_on", n);
    also.show("address_lives_on, integers", n);
  }
}
