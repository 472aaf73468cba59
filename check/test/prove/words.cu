// REQUIRES: cuda-toolkit
// RUN: %check %s --kernel=move --prove --trials=4 2>&1 | FileCheck %s
// Doubles that travel as two words, structures byte by byte, a scaled sum.
// CHECK: proved: move
// CHECK: proved for all data at {{[0-9]+}} launch shapes, not proved at 0
#include <cstring>
struct Pixel {
  unsigned char r, g, b, a;
};
__global__ void move(const double *in, const Pixel *p, double *out, Pixel *q,
                     float scale, float *f, int n) {
  __shared__ double s[1024];
  int t = threadIdx.x + threadIdx.y * blockDim.x;
  int g = blockIdx.x * blockDim.x * blockDim.y + t;
  s[t] = g < n ? in[g] : 0;
  __syncthreads();
  if (g < n) {
    out[g] = s[t ^ 1] * 2.0;
    Pixel v = p[g];
    q[g] = {v.b, v.g, v.r, 255};
    f[g] = v.a * scale + f[g];
  }
}
__global__ void move_rc(const double *in, const Pixel *p, double *out, Pixel *q,
                        float scale, float *f, int n) {
  int t = threadIdx.x + threadIdx.y * blockDim.x;
  int g = blockIdx.x * blockDim.x * blockDim.y + t;
  double x = g < n ? in[g] : 0;
  unsigned w[2];
  memcpy(w, &x, 8);
  w[0] = __shfl_xor_sync(~0u, w[0], 1);
  w[1] = __shfl_xor_sync(~0u, w[1], 1);
  memcpy(&x, w, 8);
  if (g < n) {
    out[g] = 2.0 * x;
    unsigned word;
    memcpy(&word, &p[g], 4);
    unsigned turned = (word >> 16 & 0xff) | (word & 0xff00) |
                      (word & 0xff) << 16 | 0xff000000u;
    memcpy(&q[g], &turned, 4);
    f[g] = f[g] + scale * (unsigned char)(word >> 24);
  }
}
static void move_rc_launch(dim3 g, dim3 b, size_t s, cudaStream_t st,
                           const double *in, const Pixel *p, double *out,
                           Pixel *q, float scale, float *f, int n) {
  if (b.x * b.y * b.z % 32 == 0 && b.z == 1)
    move_rc<<<g, b, s, st>>>(in, p, out, q, scale, f, n);
  else
    move<<<g, b, s, st>>>(in, p, out, q, scale, f, n);
}
