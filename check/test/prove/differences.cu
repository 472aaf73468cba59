// REQUIRES: cuda-toolkit
// RUN: %check %s --kernel=signs --prove --trials=4 2>&1 | FileCheck %s
// RUN: not %check %s --kernel=zero --prove --trials=8 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ZERO
// An optimiser turns a - (b - c) into a + (c - b) where a cannot be minus zero,
// as here; where it can, the results differ for a = -0 and b = c.
// CHECK: proved: signs
// CHECK: proved for all data at {{[0-9]+}} launch shapes, not proved at 0
// ZERO-NOT: {{^}}proved: zero
// ZERO: not proved: zero
// ZERO-SAME: the expressions differ though the values agree
__global__ void signs(const float *a, const float *b, float *out, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n)
    out[g] = __fsub_rn(a[g] + 3.0f, __fsub_rn(b[g], a[g]));
}
__global__ void signs_rc(const float *a, const float *b, float *out, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n)
    out[g] = __fadd_rn(__fsub_rn(a[g], b[g]), a[g] + 3.0f);
}
static void signs_rc_launch(dim3 g, dim3 b, size_t s, cudaStream_t st,
                            const float *a, const float *b_, float *out,
                            int n) {
  if (b.x % 32 == 0 && b.y * b.z == 1)
    signs_rc<<<g, b, s, st>>>(a, b_, out, n);
  else
    signs<<<g, b, s, st>>>(a, b_, out, n);
}
__global__ void zero(const float *a, const float *b, float *out, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n)
    out[g] = __fsub_rn(a[g], __fsub_rn(b[g], a[g]));
}
__global__ void zero_rc(const float *a, const float *b, float *out, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n)
    out[g] = __fadd_rn(a[g], __fsub_rn(a[g], b[g]));
}
static void zero_rc_launch(dim3 g, dim3 b, size_t s, cudaStream_t st,
                           const float *a, const float *b_, float *out,
                           int n) {
  zero_rc<<<g, b, s, st>>>(a, b_, out, n);
}
