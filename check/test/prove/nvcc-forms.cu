// REQUIRES: cuda-toolkit
// RUN: %check %s --kernel=flags --prove --trials=4 2>&1 | FileCheck %s --check-prefix=FLAGS
// RUN: %check %s --kernel=signs --prove --trials=4 2>&1 | FileCheck %s --check-prefix=SIGNS
// RUN: %status 1 %check %s --kernel=wrong --prove --trials=4 2>&1 | FileCheck %s --check-prefix=WRONG
// Bytes that conditions choose, joined to words and stored at once; signs of
// products, opposite comparisons.
// FLAGS: proved: flags
// FLAGS: proved for all data at {{[0-9]+}} launch shapes, not proved at 0
// SIGNS: proved: signs
// SIGNS: proved for all data at {{[0-9]+}} launch shapes, not proved at 0
// WRONG-NOT: {{^}}proved: wrong
__global__ void flags(const int *in, const signed char *c, unsigned char *out,
                      float *f, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= n)
    return;
  for (int k = 0; k < 4; ++k)
    out[4 * g + k] = in[4 * g + k] != in[4 * g + k + 1];
  for (int k = 0; k < 4; ++k)
    f[4 * g + k] = c[4 * g + k] * 0.5f;
}
__global__ void flags_rc(const int *in, const signed char *c,
                         unsigned char *out, float *f, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= n)
    return;
  unsigned word = 0;
  for (int k = 3; k >= 0; --k)
    word = word << 8 | (in[4 * g + k] == in[4 * g + k + 1] ? 0u : 1u);
  unsigned all = 0;
  for (int k = 0; k < 4; ++k)
    all |= (unsigned)(unsigned char)c[4 * g + k] << (8 * k);
  for (int k = 0; k < 4; ++k) {
    out[4 * g + k] = word >> (8 * k);
    f[4 * g + k] = (signed char)(all >> (8 * k)) * 0.5f;
  }
}
static void flags_rc_launch(dim3 g, dim3 b, size_t s, cudaStream_t st,
                            const int *in, const signed char *c,
                            unsigned char *out, float *f, int n) {
  flags_rc<<<g, b, s, st>>>(in, c, out, f, n);
}
__global__ void signs(const float *x, const float *y, float *o, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= n)
    return;
  float a = x[g], b = y[g];
  o[3 * g] = fmaf(-a, b, 3.0f);
  o[3 * g + 1] = a - -2.0f * b;
  o[3 * g + 2] = a < b ? a : 2 * b;
}
__global__ void signs_rc(const float *x, const float *y, float *o, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= n)
    return;
  float a = x[g], b = y[g];
  o[3 * g] = fmaf(b, -a, 3.0f);
  o[3 * g + 1] = a + 2.0f * b;
  o[3 * g + 2] = !(b > a) ? 2 * b : a;
}
static void signs_rc_launch(dim3 g, dim3 b, size_t s, cudaStream_t st,
                            const float *x, const float *y, float *o, int n) {
  signs_rc<<<g, b, s, st>>>(x, y, o, n);
}
// What is not a number makes the difference.
__global__ void wrong(const float *x, const float *y, float *o, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n)
    o[g] = x[g] < y[g] ? 1.0f : 2.0f;
}
__global__ void wrong_rc(const float *x, const float *y, float *o, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n)
    o[g] = x[g] >= y[g] ? 2.0f : 1.0f;
}
static void wrong_rc_launch(dim3 g, dim3 b, size_t s, cudaStream_t st,
                            const float *x, const float *y, float *o, int n) {
  wrong_rc<<<g, b, s, st>>>(x, y, o, n);
}
int main() { // instances for nvcc
  flags<<<0, 1>>>(nullptr, nullptr, nullptr, nullptr, 0);
}
