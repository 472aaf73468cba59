// Variables that are declared in other words, or get one element a slot, keep
// their values, whatever form the initialiser has.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs -std=c++20 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -std=c++20
// RUN: %if slow %{ %nvcc -std=c++20 -I%S/Inputs -ptx %t.cu -o %t.ptx %}
//
// CHECK-COUNT-18: rewrote
// CHECK: 'bound' left as it is: {{.*}}(a structured binding)
//
#include "program.h"
struct Q {
  int x;
  float y;
};
__global__ void in_parens(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  float x(s[t]);
  __syncthreads();
  if (g < n) b[g] = x + s[t + 1] + s[t + 2];
}
__global__ void in_braces(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  float x{s[t]};
  __syncthreads();
  if (g < n) b[g] = x + s[t + 1] + s[t + 2];
}
__global__ void equals_braces(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  float x = {s[t]};
  __syncthreads();
  if (g < n) b[g] = x + s[t + 1] + s[t + 2];
}
__global__ void made(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  float2 v(make_float2(a[g] + 1.f, a[g] * 2.f));
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = v.x + v.y + s[t] + s[t + 1] + s[t + 2];
}
__global__ void made_in_braces(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  float2 v{a[g] + 1.f, a[g] * 2.f};
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = v.x + v.y + s[t] + s[t + 1] + s[t + 2];
}
__global__ void integer(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  int c(g * 2);
  c += 3;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) { b[g] = s[t] + s[t + 1] + s[t + 2]; e[g] = c; }
}
__global__ void two_constants(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  const int c(g * 2), d{g + 1};
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) { b[g] = s[t] + s[t + 1] + s[t + 2]; e[g] = c + d; }
}
__global__ void record(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  Q q{g, a[g]};
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) { b[g] = s[t] + s[t + 1] + s[t + 2] + q.y; e[g] = q.x; }
}
__global__ void designated(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  Q q{.x = g, .y = a[g]};
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) { b[g] = s[t] + s[t + 1] + s[t + 2] + q.y; e[g] = q.x; }
}
struct Qm { int x = 5; };
__global__ void member_has_value(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  Qm q;
  q.x += g;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) { b[g] = s[t] + s[t + 1] + s[t + 2]; e[g] = q.x; }
}
__global__ void array(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  float w[3] = {a[g], a[g + 1]};
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = w[0] + w[1] + w[2] + s[t] + s[t + 1] + s[t + 2];
}
__global__ void array_braces(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  float w[3]{a[g], a[g + 1]};
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = w[0] + w[1] + w[2] + s[t] + s[t + 1] + s[t + 2];
}
__global__ void array_counts(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  float w[] = {a[g], a[g + 1]};
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = w[0] + w[1] + s[t] + s[t + 1] + s[t + 2];
}
__global__ void deduced(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  auto c = a[g] + 1.0;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = c + s[t] + s[t + 1] + s[t + 2];
}
__global__ void type_of_expression(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  decltype(a[g] + 1.0) c = a[g] + 1.0;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = c + s[t] + s[t + 1] + s[t + 2];
}
__global__ void local_type(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  struct L { float x, y; };
  L q;
  q.x = a[g]; q.y = a[g + 1];
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = q.x * 2.f + q.y + s[t + 2] + s[t];
}
__global__ void no_name(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  struct { float x, y; } q;
  q.x = s[t]; q.y = s[t + 1];
  if (g < n) b[g] = q.x * 2.f + q.y + s[t + 2];
}
__global__ void aligned(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  alignas(16) float x = a[g]; volatile int y = g;
  x += 1.f; y += 2;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) { b[g] = s[t] + s[t + 1] + x; e[g] = y; }
}
__global__ void record_across(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  struct { float x, y; } q;
  q.x = a[g]; q.y = a[g + 1];
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = q.x * 2.f + q.y + s[t + 2] + s[t];
}
struct Two { float x, y; };
__global__ void bound(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  auto [x, y] = Two{s[t], s[t + 1]};
  if (g < n) b[g] = x * 2.f + y + s[t + 2];
}

int main() {
  for (int n : {1000, 127, 1281}) {
    Buffer<float> in(randoms<float>(n + 512)), out(n + 512);
    Buffer<int> also(n + 512);
    in_parens<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("in_parens", n);
    also.show("in_parens, integers", n);
    in_braces<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("in_braces", n);
    also.show("in_braces, integers", n);
    equals_braces<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("equals_braces", n);
    also.show("equals_braces, integers", n);
    made<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("made", n);
    also.show("made, integers", n);
    made_in_braces<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("made_in_braces", n);
    also.show("made_in_braces, integers", n);
    integer<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("integer", n);
    also.show("integer, integers", n);
    two_constants<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("two_constants", n);
    also.show("two_constants, integers", n);
    record<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("record", n);
    also.show("record, integers", n);
    designated<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("designated", n);
    also.show("designated, integers", n);
    member_has_value<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("member_has_value", n);
    also.show("member_has_value, integers", n);
    array<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("array", n);
    also.show("array, integers", n);
    array_braces<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("array_braces", n);
    also.show("array_braces, integers", n);
    array_counts<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("array_counts", n);
    also.show("array_counts, integers", n);
    deduced<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("deduced", n);
    also.show("deduced, integers", n);
    type_of_expression<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("type_of_expression", n);
    also.show("type_of_expression, integers", n);
    local_type<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("local_type", n);
    also.show("local_type, integers", n);
    no_name<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("no_name", n);
    also.show("no_name, integers", n);
    aligned<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("aligned", n);
    also.show("aligned, integers", n);
    record_across<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("record_across", n);
    also.show("record_across, integers", n);
    bound<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("bound", n);
    also.show("bound, integers", n);
  }
}
