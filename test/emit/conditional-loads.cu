// A load that the original makes under a condition on data, or on a pointer, is
// made under that condition only: the array may be shorter, or not there.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'rows'
// CHECK-DAG: rewrote 'biased'
// CHECK-DAG: rewrote 'chosen'
// CHECK-DAG: rewrote 'nested_if'
#include "buffers.h"

// As many elements of each row as its length says.
__global__ void rows(const float *in, const unsigned long long *ends, float *out) {
  __shared__ float s[128];
  unsigned long long i = blockIdx.x * 128ull + threadIdx.x;
  s[threadIdx.x] = ends[blockIdx.x] > i ? in[i] : 0.0f;
  __syncthreads();
  out[i] = s[127 - threadIdx.x];
}

__global__ void biased(const float *__restrict__ in, const float *__restrict__ bias,
                       float *__restrict__ out, int n) {
  __shared__ float s[130];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  for (int k = t; k < 130; k += 128) {
    int g = blockIdx.x * 128 + k - 1;
    s[k] = g >= 0 && g < n ? in[g] + (bias ? bias[g] : 0.0f) : 0.0f;
  }
  __syncthreads();
  if (i < n) out[i] = s[t] + s[t + 2];
}

__global__ void chosen(const float *__restrict__ w, const float *__restrict__ a,
                       float *__restrict__ out, int n) {
  __shared__ float s[129];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (i < n) s[t] = w[i] > 2.0f && a[i] > 1.0f ? a[i] : w[i];
  if (t == 0) s[128] = i + 128 < n ? (w[i + 128] > 2.0f && a[i + 128] > 1.0f ? a[i + 128] : w[i + 128]) : 0.0f;
  __syncthreads();
  if (i < n) out[i] = i + 1 < n ? s[t + 1] - s[t] : 0.0f;
}

// What is stored tells a condition on data that holds inside of the array only.
__global__ void nested_if(const float *a, float *b, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    float v = a[i];
    if (v < 0.f) s[threadIdx.x] = 0.f;
    else if (v > 100.f) s[threadIdx.x] = 100.f;
    else s[threadIdx.x] = v;
  } else s[threadIdx.x] = 0.f;
  __syncthreads();
  float l = threadIdx.x > 0 ? s[threadIdx.x - 1] : s[threadIdx.x];
  float r = threadIdx.x < 255 ? s[threadIdx.x + 1] : s[threadIdx.x];
  if (i < n) b[i] = 0.5f * (l + r);
}

int main() {
  Buf<float> in(3 * 128 + 40), out(4 * 128);
  Buf<unsigned long long> ends(4);
  in.nums(3);
  unsigned long long e[4] = {128, 200, 384, 424};
  cudaMemcpy(ends.d, e, sizeof e, cudaMemcpyHostToDevice);
  rows<<<4, 128>>>(in.d, ends.d, out.d);
  show("rows", out);
  for (int n : SIZES) {
    Buf<float> a(n), b(n), c(n);
    a.nums(3); b.nums(4);
    biased<<<(n + 127) / 128, 128>>>(a.d, nullptr, c.d, n);
    show("not biased", c);
    biased<<<(n + 127) / 128, 128>>>(a.d, b.d, c.d, n);
    show("biased", c);
    cudaMemset(a.d + n / 2, 0, (n - n / 2) * sizeof(float)); // then a may be short
    nested_if<<<(n + 255) / 256, 256>>>(a.d, c.d, n);
    show("nested", c);
    Buf<float> half(n / 2);
    half.nums(7);
    chosen<<<(n + 127) / 128, 128>>>(a.d, half.d, c.d, n);
    show("chosen", c);
  }
}
