// A product of two values that no instruction names is fused with the sums of its block of
// code, and of two products the one on the left is fused. What keeps both in one block in the original, or parts them, has to do so in the
// rewritten kernel: conditions around a sum that do not stand around its product, elements
// that are read from their source under a condition, choices between two products of which
// compilers make one where they choose addresses, and products that one way of a branch has
// already.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off --list --cuda-path=%cuda 2>&1 \
// RUN:   | FileCheck %s
// RUN: rcache-check diff --device-code=nvcc %s %t.cu
// RUN: rcache-rewrite %s -o %t2.cu --force --self-check=off --block=128 --cuda-path=%cuda
// RUN: rcache-check diff --device-code=nvcc %s %t2.cu
//
// CHECK-DAG: declined shortcut; fusion-unsettled
// CHECK-DAG: declined choice; fusion-unsettled
// CHECK-DAG: declined either; fusion-unsettled
// CHECK-DAG: declined known; fusion-unsettled
// CHECK-DAG: declined knownArm; fusion-unsettled
// CHECK-DAG: {{declined cast; fusion-unsettled|rewritten cast: .*kept shared}}
// CHECK-DAG: {{declined flag; fusion-unsettled|rewritten flag: .*kept shared}}
// CHECK-DAG: declined far; fusion-unsettled
// CHECK-DAG: rewritten behind: {{.*}}kept shared
// CHECK-DAG: declined number; fusion-unsettled
// CHECK-DAG: declined rounds; fusion-unsettled
// CHECK-DAG: rewritten average
// CHECK-DAG: {{declined constant; fusion-unsettled|rewritten constant: .*kept shared}}
// CHECK-DAG: {{declined again; fusion-unsettled|rewritten again: .*1 output a thread}}
// CHECK-DAG: {{declined twice; fusion-unsettled|rewritten twice: .*kept shared}}
// CHECK-DAG: {{declined called; fusion-unsettled|rewritten called: .*kept shared}}
// CHECK-DAG: {{declined held; fusion-unsettled|rewritten held: .*kept shared}}
// CHECK-DAG: rewritten mode: {{.*}}1 output a thread
// CHECK-DAG: rewritten guarded: {{.*}}1 output a thread
// CHECK-DAG: {{declined sign; fusion-unsettled|rewritten sign: .*kept shared}}
// CHECK-DAG: {{declined logical; fusion-unsettled|rewritten logical: .*kept shared}}
// CHECK-DAG: {{declined twiceIn; fusion-unsettled|rewritten twiceIn: .*kept shared}}
// CHECK-DAG: {{declined doubled; fusion-unsettled|rewritten doubled: .*kept shared}}
// CHECK-DAG: {{declined computed; fusion-unsettled|rewritten computed: .*kept shared}}
// CHECK-DAG: {{declined unrolled; fusion-unsettled|rewritten unrolled: .*kept shared}}
// CHECK-DAG: {{declined early; fusion-unsettled|rewritten early: .*kept shared}}
// CHECK-DAG: {{declined rounded; fusion-unsettled|rewritten rounded: .*kept shared}}
// CHECK-DAG: {{declined numbers; fusion-unsettled|rewritten numbers: .*kept shared}}
// CHECK-DAG: {{declined reread; fusion-unsettled|rewritten reread: .*kept shared}}
// CHECK-DAG: {{declined byArgument; fusion-unsettled|rewritten byArgument: .*kept shared}}
// CHECK-DAG: {{declined inPlaces; fusion-unsettled|rewritten inPlaces: .*kept shared}}
// CHECK-DAG: {{declined elements; fusion-unsettled|rewritten elements: .*kept shared}}
// CHECK-DAG: {{declined factor; fusion-unsettled|rewritten factor: .*kept shared}}
// CHECK-DAG: rewritten named
// CHECK-DAG: declined alike; fusion-unsettled
#include <cstdio>

#define B 64
#define STAGE                                                                  \
  __shared__ float s[B + 4];                                                   \
  const int t = threadIdx.x, g = blockIdx.x * B + t;                           \
  for (int e = t; e < B + 4; e += B)                                           \
    s[e] = blockIdx.x * B + e < n ? a[blockIdx.x * B + e] : 1.f;               \
  __syncthreads();                                                             \
  if (g >= n)                                                                  \
    return;
#define KERNEL(name)                                                           \
  __global__ void name(const float *__restrict__ a, float *__restrict__ o,     \
                       int n, float v, float w)

KERNEL(shortcut) {
  STAGE
  const float p = s[t + 1] * s[t];
  float x = s[t + 1];
  if (t > 3 && p + s[t] > 2.f)
    x = p + s[t + 2];
  o[g] = x;
}
KERNEL(choice) {
  STAGE
  float x = s[t] > w ? s[t + 4] * .3f : s[t + 3] * s[t + 1];
  x = x + s[t + 2];
  o[g] = x;
}
KERNEL(either) {
  STAGE
  float x;
  if (s[t] > w)
    x = s[t + 4] * .3f;
  else
    x = s[t + 3] * s[t + 1];
  o[g] = x + s[t + 2];
}
KERNEL(known) {
  STAGE
  float x = s[t + 1] * v + s[t] * s[t + 3];
  if (s[t + 1] > 3.f)
    x = s[t];
  o[g] = x * s[t + 3] + s[t + 2];
}
KERNEL(knownArm) {
  STAGE
  const float y = s[t] * s[t] + s[t] * s[t], x = !(s[t + 4] > w) ? y : s[t];
  o[g] = 2.25f - x * s[t];
}
KERNEL(cast) { // staged, and an output's
  __shared__ float s[B + 1];
  const int t = threadIdx.x, g = blockIdx.x * B + t;
  const int x = (int)(blockIdx.x * B + t);
  s[t] = x < n ? (float)x * a[x] : 0.f;
  if (t < 1)
    s[t + B] = g + B < n ? (float)(g + B) * a[g + B] : 0.f;
  __syncthreads();
  if (g < n)
    o[g] = (float)g * a[g] - a[g] * s[t + 1];
}
KERNEL(flag) { // of which conditions are made
  STAGE
  bool f = false;
  if (t > 3)
    if (!(s[t + 1] > w))
      f = true;
  float x = (float)f * s[t + 4] - s[t + 2];
  x = x * (2.f + a[g]) + w * s[t + 4];
  o[g] = s[t + 1] * s[t + 2] + x;
}
KERNEL(far) { // of no window
  STAGE
  const float x = (s[t] + v) * (s[t] + w);
  o[g] = x * s[t] - s[(t + 1) % B] * s[B - 1 - t] + s[t ^ 1];
}
KERNEL(behind) { // the sum moves to where it is used
  STAGE
  float x = 3.f;
  if (s[t] > 4.5f || s[B - 1 - t] < w)
    x = .25f;
  const float y = s[t] - x * s[t + 1];
  o[g] = 2.f - s[t] - v * s[t ^ 1] + y;
}
KERNEL(number) {
  STAGE
  const float p = t > v ? w * v : 0.f;
  o[g] = p * 4.5f + s[t];
}
KERNEL(rounds) { // one block, or several
  STAGE
  float x = s[t + 3];
#pragma unroll
  for (int k = 0; k < 3; ++k)
    x += s[t + k] * 4.5f;
  o[g] = s[t] * s[t + 2] + x / 4.f * s[t];
}
KERNEL(average) { // a number in front of a loop
  STAGE
  float x = 0.f;
#pragma unroll
  for (int k = 0; k < 3; ++k)
    x += s[t + k];
  o[g] = x * .3f + s[t + 3];
}
__device__ float square(float x) { return x * x; }
__global__ void constant(const float *__restrict__ a, float *__restrict__ o, int n, float v,
                         float w) {
  __shared__ float s[B + 4];
  const int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t] = square(3.1f);
  if (t < 4)
    s[t + B] = square(3.1f);
  __syncthreads();
  if (g < n)
    o[g] = s[t + 4] * .7f - a[g] * s[t + 2];
}
KERNEL(again) { // what is read again may have another number where a thread has several
  STAGE
  const float x = (s[t + 1] + w) * s[t + 2];
  o[g] = s[t + 2] * s[t + 1] + x;
}
// One product with two uses, or one in the text of each array.
#define TWO(name, first, second)                                               \
  KERNEL(name) {                                                               \
    __shared__ float s[B], q[B];                                               \
    const int t = threadIdx.x, g = blockIdx.x * B + t;                         \
    const float x = g < n ? a[g] : 1.f;                                        \
    s[t] = first;                                                              \
    q[t] = second;                                                             \
    __syncthreads();                                                           \
    if (g < n)                                                                 \
      o[g] = s[t] * q[t ^ 1];                                                  \
  }
TWO(twice, x *x - x, x *(x * x))
TWO(called, square(x) - x, x *(x * x))
KERNEL(held) {
  __shared__ float s[B], q[B];
  const int t = threadIdx.x, g = blockIdx.x * B + t;
  const float x = g < n ? a[g] : 1.f, p = x * x;
  s[t] = p - x;
  q[t] = p;
  __syncthreads();
  if (g < n)
    o[g] = s[t] * q[t ^ 1];
}
KERNEL(mode) { // decided once, for all outputs of a thread
  STAGE
  float x = s[t + 3] + s[t + 3] - s[t + 4] * s[t + 3];
  if (w > 0.f)
    x += s[t];
  o[g] = (v + s[t + 2]) * x - s[t];
}
KERNEL(guarded) { // what is behind the guard is the same for all
  __shared__ float s[B + 4];
  const int t = threadIdx.x, g = blockIdx.x * B + t;
  for (int e = t; e < B + 4; e += B)
    s[e] = blockIdx.x * B + e < n ? a[blockIdx.x * B + e] : 1.f;
  const float p = g < n ? w * v : 0.f;
  __syncthreads();
  if (g >= n)
    return;
  o[g] = s[t + 3] * (p * 2.f + s[t + 2] * s[t + 4]);
}
KERNEL(sign) { // the number's, for each output
  STAGE
  const float x = (3.f * v) * a[g];
  o[g] = 2.f * (float)g - s[t] * x;
}
KERNEL(logical) { // reads behind a condition
  STAGE
  const float p = s[t + 2] * s[t + 3];
  const bool c = s[t + 2] > 8.f || s[t + 1] < w;
  float x = s[t];
  if (c)
    x += p;
  o[g] = x * (float)g;
}
KERNEL(twiceIn) { // one product, and a branch between its sums
  STAGE
  float x = .5f + ((.1f - a[g]) + s[t] * a[g]);
  if (a[g] > 2.f)
    x -= s[t + 1];
  o[g] = s[t] * a[g] + x;
}
KERNEL(doubled) { // x + x and x * 2
  __shared__ float s[B];
  const int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t] = g < n ? a[g] * 2.f + (a[g] + a[g]) * -.5f : 0.f;
  __syncthreads();
  if (g < n)
    o[g] = s[B - 1 - t] + w;
}
KERNEL(computed) { // of arguments, and in no instruction
  STAGE
  const float p = (w * 3.f) * a[g];
  float x = t > 3 ? p + (float)g : s[t + 3];
  x = s[t + 1] > .3f ? x : p - 4.5f;
  o[g] = (.5f + s[t]) + x;
}
KERNEL(unrolled) { // one round's reads stand in front of another's sums
  __shared__ float s[B];
  const int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t] = g < n ? a[g] : 0.f;
  __syncthreads();
  if (g >= n)
    return;
  float x = 2.f;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const float y = s[t] * .25f - s[t ^ 1] * s[(t + 1) % B];
    const float z = s[t] > .25f && t > 5 ? s[t] : y;
    x += z + y;
  }
  o[g] = x;
}
KERNEL(rounded) { // what one way holds times an element: a product of another round
  STAGE
  float x = s[t];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    float y = .5f * s[t + k] + s[t + 4] * s[t + k + 2];
    if (a[g] > .5f)
      y = s[t + 3];
    y = y * s[t + k + 2] + s[t + k];
    x += y;
  }
  o[g] = x;
}
KERNEL(numbers) { // both factors on one way
  STAGE
  float x = s[t];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    float f = 4.5f, y = 3.f;
    if (s[t + k] > 1.5f || s[t + 1] < w) {
      y = s[t + 2];
      if (s[t] > .25f && t > 5)
        f = 2.f;
    }
    x += f * y + a[g] + 4.5f;
  }
  o[g] = x + .1f + a[g];
}
KERNEL(reread) { // whether once or again hangs on what else is read between
  STAGE
  o[g] = (a[g] * s[t] - s[B - 1 - t] * 1.5f) * (s[t] * s[t]) + s[t] * (s[t] + w);
}
__global__ void early(const float *a, float *o, int n, float v, float w) {
  __shared__ float s[B];
  const int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t] = g < n ? a[g] : 1.f;
  __syncthreads();
  if (g < n)
    o[g] = (s[t ^ 1] + w) * (s[t] * s[t] + 1.5f * s[(t + 1) % B]);
}
KERNEL(named) {
  STAGE
  const float p = s[t + 1] * w;
  float x = s[t + 1];
  if (t > 3 && p + s[t] > 2.f)
    x = p + s[t + 2];
  o[g] = x;
}
KERNEL(alike) {
  STAGE
  const float p = s[t + 1] * s[t];
  float x = s[t + 1], y = v;
  if (s[t + 1] > 2.f)
    x = p + s[t + 2], y = p - s[t];
  o[g] = x - y;
}
KERNEL(byArgument) { // one sum for each way that an argument decides
  __shared__ float s[B + 4];
  const int t = threadIdx.x, g = blockIdx.x * B + t;
  for (int e = t; e < B + 4; e += B) {
    const int x = min(int(blockIdx.x * B) + e, n - 1);
    s[e] = square(a[x]) - (w > 0.f ? a[x] : 8.f);
  }
  __syncthreads();
  if (g < n)
    o[g] = a[g] * .5f * (s[t] - s[t + 2]);
}
KERNEL(inPlaces) { // what is staged in places alone is asked for there
  __shared__ float s[B];
  const int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t] = a[min(g, n - 1)];
  __syncthreads();
  if (g < n) {
    const float x = s[t] * a[g];
    o[g] = s[B - 1 - t] + (s[B - 1 - t] - s[t ^ 1]) + x;
  }
}
KERNEL(elements) { // several of a thread's have 2 * v in common, with one output as well
  __shared__ float s[B + 1];
  const int t = threadIdx.x, g = blockIdx.x * B + t;
  for (int e = t; e < B + 1; e += B) {
    const int x = blockIdx.x * B + e;
    s[e] = x < n ? v * 2.f + a[x] * a[x] : 0.f;
  }
  __syncthreads();
  if (g < n)
    o[g] = s[t] + s[t + 1];
}
KERNEL(factor) { // doubled one way
  __shared__ float s[B + 1];
  const int t = threadIdx.x, g = blockIdx.x * B + t;
  for (int e = t; e < B + 1; e += B) {
    const int x = blockIdx.x * B + e;
    s[e] = x < n ? (w > 0.f ? 2.f : (float)x) * a[x] - v * (a[x] + v) : 0.f;
  }
  __syncthreads();
  if (g < n)
    o[g] = s[t] + s[t + 1];
}

#define GUARDED                                                                \
  __shared__ float s[B + 4];                                                   \
  const int t = threadIdx.x, g = blockIdx.x * B + t;                           \
  for (int e = t; e < B + 4; e += B)                                           \
    s[e] = blockIdx.x * B + e < n ? a[blockIdx.x * B + e] : 1.f;               \
  __syncthreads();
// Its factor has other uses: the product may stay in front of the guard.
// CHECK-DAG: declined stays; fusion-unsettled
KERNEL(stays) {
  GUARDED
  float x = s[t + 1], y = s[t + 2] * s[t + 3];
  x += s[t + 2] * s[t];
  if (g < n)
    o[g] = x + y;
}
// A factor is used elsewhere, in no product.
// CHECK-DAG: declined staysToo; fusion-unsettled
KERNEL(staysToo) {
  GUARDED
  const float y = s[t + 2] * s[t + 3], x = s[t + 2] + s[t] * s[t + 1];
  if (g < n)
    o[g] = x + y;
}
// The product of a round again, behind a condition.
// CHECK-DAG: declined roundAgain; fusion-unsettled
KERNEL(roundAgain) {
  GUARDED
  float x = 0;
  for (int k = 0; k <= 2; k++)
    x += s[t + k] * s[t];
  if (v > 1)
    x += s[t] * s[t + 1];
  if (g < n)
    o[g] = x;
}

int main() {
  const int n = 333;
  float h[n], r[n], *a, *o;
  for (int i = 0; i < n; ++i)
    h[i] = (i * 7919 % 1009) / 177.3f + .1f;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&o, sizeof r);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
#define RUN(k)                                                                 \
  k<<<(n + B - 1) / B, B>>>(a, o, n, 1.37f, .77f);                             \
  cudaMemcpy(r, o, sizeof r, cudaMemcpyDeviceToHost);                          \
  {                                                                            \
    double x = 0;                                                              \
    for (float f : r)                                                          \
      x = x * 1.01 + f;                                                        \
    std::printf("%s %a\n", #k, x);                                             \
  }
  RUN(shortcut) RUN(choice) RUN(either) RUN(known) RUN(far) RUN(named) RUN(alike)
  RUN(behind) RUN(number) RUN(rounds) RUN(average) RUN(again) RUN(constant)
  RUN(twice) RUN(called) RUN(held) RUN(mode) RUN(guarded)
  RUN(knownArm) RUN(cast) RUN(flag) RUN(sign) RUN(logical)
  RUN(twiceIn) RUN(doubled) RUN(computed) RUN(unrolled) RUN(early) RUN(rounded) RUN(numbers) RUN(reread)
  RUN(byArgument) RUN(inPlaces) RUN(elements) RUN(factor)
  RUN(stays) RUN(staysToo) RUN(roundAgain)
}
