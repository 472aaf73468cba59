// REQUIRES: cuda-toolkit
// RUN: %check %s --kernel=forms --prove --trials=6 2>&1 | FileCheck %s
// Sums with factors, least and greatest, shifted words, comparisons of what is
// always a number, choices that were branches: other text, the same value.
// CHECK-NOT: not proved: forms
// CHECK: proved for all data at {{[0-9]+}} launch shapes, not proved at 0
// RUN: %status 5 %check %s --kernel=order --prove --trials=6 --block=64 --grid=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ORDER
// A launch whose result depends on the order of threads is not proved, even
// where one order gives the right expressions.
// ORDER-NOT: {{^}}proved: order
// ORDER: not proved: order{{.*}}the result of the rewritten program depends on the order of threads or blocks
__global__ void forms(const int *a, const int *b, const short *c,
                      const float *x, int *out, float *f, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= n)
    return;
  int v = a[g] - (b[g] - (a[g] - 3 * b[g]));
  v += min(a[g], min(b[g], a[g])) + c[g];
  v += (float)a[g] != (float)a[g] ? 1 : 0;
  float r = x[g] < 100 ? x[g] : 100.0f;
  if (x[g] > 3)
    v += c[g];
  out[g] = v;
  f[g] = r;
}
__global__ void forms_rc(const int *a, const int *b, const short *c,
                         const float *x, int *out, float *f, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= n)
    return;
  int v = 2 * a[g] - 4 * b[g];
  int word = (unsigned)(unsigned short)c[g] << 16;
  v += min(b[g], a[g]);
  float r = 100.0f;
  if (x[g] < 100)
    r = x[g];
  f[g] = r;
  out[g] = v + (word >> 16) + (3 < x[g] ? word >> 16 : 0);
}
static void forms_rc_launch(dim3 g, dim3 b, size_t s, cudaStream_t st,
                            const int *a, const int *b_, const short *c,
                            const float *x, int *out, float *f, int n) {
  forms_rc<<<g, b, s, st>>>(a, b_, c, x, out, f, n);
}
__global__ void order(int *a, int n) {
  int v = threadIdx.x ? a[threadIdx.x - 1] == n + 123456725 : 0;
  __syncthreads();
  a[threadIdx.x] = v;
}
// Right from the last lane on, and from the first one on with most data.
__global__ void order_rc(int *a, int n) {
  a[threadIdx.x] = threadIdx.x ? a[threadIdx.x - 1] == n + 123456725 : 0;
}
static void order_rc_launch(dim3 g, dim3 b, size_t s, cudaStream_t st, int *a,
                            int n) {
  order_rc<<<g, b, s, st>>>(a, n);
}
