// What is not understood is named as the source has it, not as a compiler's classes are.
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s --list --force --cuda-path=%cuda -- -std=c++20 > %t.list 2>&1
// RUN: FileCheck %s < %t.list
// RUN: not grep -E "\((a|an) [A-Z][A-Za-z]*(Expr|Stmt|Operator|Decl)\)" %t.list
// CHECK: memberPointer{{.*}}(the operator .*)
// CHECK: attribute{{.*}}(a statement with the attribute 'nomerge')
// CHECK: binding{{.*}}(a structured binding)
// CHECK: inside{{.*}}(a declaration of the function 'other' inside)
#define STAGE                                                                  \
  __shared__ float s[258];                                                     \
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;                         \
  s[l] = g < n ? a[g] : 0;                                                     \
  if (l < 2)                                                                   \
    s[l + 256] = g + 256 < n ? a[g + 256] : 0;                                 \
  __syncthreads();
#define LAUNCH(k)                                                              \
  void launch_##k(const float *a, float *b, int n) {                           \
    k<<<(n + 255) / 256, 256>>>(a, b, n);                                      \
  }
struct Point {
  float x, y;
};
__device__ void nothing() {}

__global__ void memberPointer(const float *a, float *b, int n) {
  STAGE
  float Point::*which = n > 7 ? &Point::x : &Point::y;
  Point p = {s[l], s[l + 1]};
  if (g < n)
    b[g] = p.*which + s[l + 2];
}
LAUNCH(memberPointer)
__global__ void attribute(const float *a, float *b, int n) {
  STAGE
  [[clang::nomerge]] nothing();
  if (g < n)
    b[g] = s[l] + s[l + 2];
}
LAUNCH(attribute)
__global__ void binding(const float *a, float *b, int n) {
  STAGE
  auto [x, y] = Point{s[l], s[l + 1]};
  if (g < n)
    b[g] = x + y;
}
LAUNCH(binding)
__global__ void inside(const float *a, float *b, int n) {
  STAGE
  __device__ void other();
  if (g < n)
    b[g] = s[l] + s[l + 2];
}
LAUNCH(inside)
