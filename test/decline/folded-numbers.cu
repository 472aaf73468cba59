// Numbers that a compiler knows once it has unrolled a loop: products with them are
// rounded otherwise, and how far the original's loop is unrolled nobody says.
//
// RUN: rcache-rewrite %s -q --list --self-check=off -o %t.cu | FileCheck %s
//
// REQUIRES: cuda-toolkit
#define KERNEL(NAME, BEFORE, ROUND, BEHIND)                                    \
  __global__ void NAME(const float *in, float *out, int n, int r) {            \
    __shared__ float s[256 + 2 * 30];                                          \
    int t = threadIdx.x, g = blockIdx.x * 256 + t;                             \
    for (int i = t; i < 256 + 2 * R; i += 256)                                 \
      s[i] = in[min(max((int)blockIdx.x * 256 + i - R, 0), n - 1)];            \
    __syncthreads();                                                           \
    float sum = 0;                                                             \
    BEFORE                                                                     \
    _Pragma("unroll 1") for (int j = 0; j <= 2 * R; ++j) {                                         \
      ROUND                                                                    \
    }                                                                          \
    if (g < n)                                                                 \
      out[g] = sum BEHIND;                                                     \
  }

#define R 3
#define TABLE(...) const float w[7] = {__VA_ARGS__};
// CHECK: declined literalChain; fusion-unsettled ('s[t + j] * x' in line {{[0-9]+}}, with a number that a compiler knows where it unrolls the loop)
KERNEL(literalChain, float x = 1;, sum += s[t + j] * x; x = x * 0.9f + 0.05f;, )
// CHECK: declined literalSign; fusion-unsettled ('sg * p'
KERNEL(literalSign, float sg = 1;, float p = s[t + j] * 0.3f; sum += sg * p; sg = -sg;, )
// CHECK: declined literalOne; fusion-unsettled (
KERNEL(literalOne, TABLE(1, 0.5f, 0.3f, 0.2f, 0.3f, 0.5f, 1), sum += w[j] * (s[t + j] * 0.3f);, )
// CHECK: declined literalTwo; fusion-unsettled (
KERNEL(literalTwo, TABLE(2, 0.5f, 0.3f, 0.2f, 0.3f, 0.5f, 2), sum += w[j] * s[t + j];, )
// CHECK: declined literalQuotient; fusion-unsettled (
KERNEL(literalQuotient, float c = 0;, c += 1; sum += s[t + j] / c;, )
// CHECK: declined literalBehind; fusion-unsettled ('sum + c * 0.1f'
KERNEL(literalBehind, int c = 0;, sum += s[t + j]; c++;, + c * 0.1f)
// CHECK: declined literalWeight; fusion-unsettled (
KERNEL(literalWeight, , sum += s[t + j] * (1 - (j - 3) * (j - 3) * 0.1f);, )
// What is known in both, or has no product with a number that varies, is none.
// CHECK: rewritten plainTable:
KERNEL(plainTable, TABLE(0.1f, 0.2f, 0.3f, 0.4f, 0.3f, 0.2f, 0.1f), sum += w[j] * s[t + j];, )
// CHECK: rewritten plainSum:
KERNEL(plainSum, float x = 0;, x += 0.25f; sum += s[t + j] + x;, )
// CHECK: rewritten explicitly:
KERNEL(explicitly, float x = 1;, sum = __fmaf_rn(s[t + j], x, sum); x = __fmaf_rn(x, 0.9f, 0.05f);, )
// With an argument that all launches give one value, a loop would be unrolled that
// is not in the original; the kernel is planned without.
// CHECK: declined argumentChain; no-gain
__global__ void argumentChain(const float *in, float *out, int n, int r) {
  __shared__ float s[256 + 8];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  for (int i = t; i < 256 + 2 * r; i += 256)
    s[i] = in[min(max((int)blockIdx.x * 256 + i - r, 0), n - 1)];
  __syncthreads();
  if (g < n) {
    float sum = 0;
    float x = 1;
    for (int j = 0; j <= 2 * r; ++j) {
      sum += s[t + j] * x;
      x = x * 0.9f + 0.05f;
    }
    out[g] = sum;
  }
}
// CHECK: declined argumentBehind; no-gain
__global__ void argumentBehind(const float *in, float *out, int n, int r) {
  __shared__ float s[256 + 8];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  for (int i = t; i < 256 + 2 * r; i += 256)
    s[i] = in[min(max((int)blockIdx.x * 256 + i - r, 0), n - 1)];
  __syncthreads();
  if (g < n) {
    float sum = 0;
    int c = 0;
    for (int j = 0; j <= 2 * r; ++j) {
      sum += s[t + j];
      c++;
    }
    float x = c;
    out[g] = sum + x * 0.1f;
  }
}
// CHECK: rewritten argumentPlain:
__global__ void argumentPlain(const float *in, float *out, int n, int r) {
  __shared__ float s[256 + 8];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  for (int i = t; i < 256 + 2 * r; i += 256)
    s[i] = in[min(max((int)blockIdx.x * 256 + i - r, 0), n - 1)];
  __syncthreads();
  if (g < n) {
    float sum = 0;
    float x = 0;
    for (int j = 0; j <= 2 * r; ++j) {
      x += 0.25f;
      sum += s[t + j] + x;
    }
    out[g] = sum;
  }
}
// A short loop, which compilers unroll, and a longer one.
// CHECK: rewritten shortLoop:
__global__ void shortLoop(const float *in, float *out, int n) {
  __shared__ float s[256 + 6];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  for (int i = t; i < 256 + 6; i += 256)
    s[i] = in[min(max((int)blockIdx.x * 256 + i - 3, 0), n - 1)];
  __syncthreads();
  float sum = 0;
  for (int j = 0; j <= 6; ++j)
    sum += s[t + j] * (j + 1);
  if (g < n)
    out[g] = sum;
}
// CHECK: declined longLoop; fusion-unsettled (
__global__ void longLoop(const float *in, float *out, int n) {
  __shared__ float s[256 + 60];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  for (int i = t; i < 256 + 60; i += 256)
    s[i] = in[min(max((int)blockIdx.x * 256 + i - 30, 0), n - 1)];
  __syncthreads();
  float sum = 0;
  for (int j = -30; j <= 30; j++)
    sum += s[t + 30 + j] * (j + 1);
  if (g < n)
    out[g] = sum;
}
// Few rounds of many operators, of quotients, or that may end early.
// CHECK: declined longRounds; fusion-unsettled (
__global__ void longRounds(const float *in, float *out, int n) {
  __shared__ float s[256 + 24];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  for (int i = t; i < 256 + 24; i += 256)
    s[i] = in[min(max((int)blockIdx.x * 256 + i - 12, 0), n - 1)];
  __syncthreads();
  float sum = 0;
  for (int j = 0; j <= 24; ++j) {
    float a = s[t + j];
    a = fabsf(fabsf(fabsf(a - 0.5f) - 0.25f) - 0.125f);
    a = fabsf(fabsf(fabsf(a - 0.3f) - 0.2f) - 0.1f);
    sum += a * (j + 1);
  }
  if (g < n)
    out[g] = sum;
}
// CHECK: declined quotients; fusion-unsettled (
__global__ void quotients(const float *in, float *out, int n) {
  __shared__ float s[256 + 24];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  for (int i = t; i < 256 + 24; i += 256)
    s[i] = in[min(max((int)blockIdx.x * 256 + i - 12, 0), n - 1)];
  __syncthreads();
  float sum = 0;
  for (int j = 0; j <= 24; ++j)
    sum += 1.f / s[t + j] * (j + 1);
  if (g < n)
    out[g] = sum;
}
// CHECK: declined endsEarly; fusion-unsettled (
__global__ void endsEarly(const float *in, float *out, int n) {
  __shared__ float s[256 + 6];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  for (int i = t; i < 256 + 6; i += 256)
    s[i] = in[min(max((int)blockIdx.x * 256 + i - 3, 0), n - 1)];
  __syncthreads();
  float sum = 0;
  for (int j = 0; j <= 6; ++j) {
    if (s[t + j] < 0)
      break;
    sum += s[t + j] * (j + 1);
  }
  if (g < n)
    out[g] = sum;
}
// The source says that the loop is unrolled: both know the numbers.
// CHECK: rewritten saidSo:
__global__ void saidSo(const float *in, float *out, int n) {
  __shared__ float s[256 + 6];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  for (int i = t; i < 256 + 6; i += 256)
    s[i] = in[min(max((int)blockIdx.x * 256 + i - 3, 0), n - 1)];
  __syncthreads();
  float sum = 0, x = 1;
#pragma unroll
  for (int j = 0; j <= 6; ++j) {
    sum += s[t + j] * x;
    x = x * 0.9f + 0.05f;
  }
  if (g < n)
    out[g] = sum;
}

void run(const float *in, float *out, int n) {
  literalChain<<<n / 256, 256>>>(in, out, n, 3);
  literalSign<<<n / 256, 256>>>(in, out, n, 3);
  literalOne<<<n / 256, 256>>>(in, out, n, 3);
  literalTwo<<<n / 256, 256>>>(in, out, n, 3);
  literalQuotient<<<n / 256, 256>>>(in, out, n, 3);
  literalBehind<<<n / 256, 256>>>(in, out, n, 3);
  literalWeight<<<n / 256, 256>>>(in, out, n, 3);
  plainTable<<<n / 256, 256>>>(in, out, n, 3);
  plainSum<<<n / 256, 256>>>(in, out, n, 3);
  explicitly<<<n / 256, 256>>>(in, out, n, 3);
  argumentChain<<<n / 256, 256>>>(in, out, n, 3);
  argumentBehind<<<n / 256, 256>>>(in, out, n, 3);
  argumentPlain<<<n / 256, 256>>>(in, out, n, 3);
  shortLoop<<<n / 256, 256>>>(in, out, n);
  longLoop<<<n / 256, 256>>>(in, out, n);
  longRounds<<<n / 256, 256>>>(in, out, n);
  quotients<<<n / 256, 256>>>(in, out, n);
  endsEarly<<<n / 256, 256>>>(in, out, n);
  saidSo<<<n / 256, 256>>>(in, out, n);
}
