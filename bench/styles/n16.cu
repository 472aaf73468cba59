// assorted: tridiagonal solver, wavelet, options, scientific bits
#include <cuda_runtime.h>
#include <cstdlib>
#include <cstdio>
#include <cmath>
#define SAFE(call)                                              \
  do {                                                          \
    cudaError_t rc = call;                                      \
    if (rc != cudaSuccess) {                                    \
      fprintf(stderr, "cuda: %s @%d\n", cudaGetErrorString(rc), __LINE__); \
      exit(rc);                                                 \
    }                                                           \
  } while (0)

// parallel cyclic reduction, one system of 256 unknowns per block
template <class T> __global__ void pcr_small_systems(const T *a_d, const T *b_d, const T *c_d, const T *d_d, T *x_d, int iterations) {
  __shared__ T a[256], b[256], c[256], d[256];
  int thid = threadIdx.x;
  size_t g = (size_t)blockIdx.x * 256 + thid;
  a[thid] = a_d[g];
  b[thid] = b_d[g];
  c[thid] = c_d[g];
  d[thid] = d_d[g];
  int delta = 1;
  __syncthreads();
  for (int j = 0; j < iterations; j++) {
    int i = thid;
    int iRight = i + delta;
    if (iRight > 255) iRight = 255;
    int iLeft = i - delta;
    if (iLeft < 0) iLeft = 0;
    T tmp1 = i - delta >= 0 ? a[i] / b[iLeft] : T(0);
    T tmp2 = i + delta < 256 ? c[i] / b[iRight] : T(0);
    T bNew = b[i] - c[iLeft] * tmp1 - a[iRight] * tmp2;
    T dNew = d[i] - d[iLeft] * tmp1 - d[iRight] * tmp2;
    T aNew = -a[iLeft] * tmp1;
    T cNew = -c[iRight] * tmp2;
    __syncthreads();
    b[i] = bNew;
    d[i] = dNew;
    a[i] = aNew;
    c[i] = cNew;
    delta *= 2;
    __syncthreads();
  }
  x_d[g] = d[thid] / b[thid];
}

#define STEPS 255
struct kValues { float Kx, Ky, Kz, PhiMag; };
#define K_ELEMS 128
#define NBINS 20
// bilinear x2 upsampling of 16-bit image with source tile
__global__ void upsample2x(const short *src, short *dst, int sw, int sh) {
  __shared__ short s[10][18];
  int bx = blockIdx.x * 16 - 1, by = blockIdx.y * 8 - 1;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 180; k += 512) {
    int x = min(max(bx + k % 18, 0), sw - 1), y = min(max(by + k / 18, 0), sh - 1);
    s[k / 18][k % 18] = src[y * sw + x];
  }
  __syncthreads();
  int dx = blockIdx.x * 32 + threadIdx.x, dy = blockIdx.y * 16 + threadIdx.y;
  if (dx >= 2 * sw || dy >= 2 * sh) return;
  int lx = (threadIdx.x + 1) / 2, ly = (threadIdx.y + 1) / 2;
  int wx = threadIdx.x & 1 ? 1 : 3, wy = threadIdx.y & 1 ? 1 : 3;  // weight of the right / lower sample
  int top = s[ly][lx] * (4 - wx) + s[ly][lx + 1] * wx;
  int bot = s[ly + 1][lx] * (4 - wx) + s[ly + 1][lx + 1] * wx;
  dst[dy * 2 * sw + dx] = (short)((top * (4 - wy) + bot * wy + 8) >> 4);
}

template <class T> T *arr(size_t n, T base, T inc, int mod) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; i++) h[i] = base + (T)((i * 48271u >> 3) % mod) * inc;
  SAFE(cudaMalloc(&d, n * sizeof(T)));
  SAFE(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main() {
  int sys = 8192;
  size_t n = (size_t)sys * 256;
  double *a = arr<double>(n, -1.0, -0.01, 10), *b = arr<double>(n, 4.0, 0.1, 20), *c = arr<double>(n, -1.0, 0.02, 7), *d = arr<double>(n, 1.0, 1.0, 9),
         *x = arr<double>(n, 0.0, 0.0, 1);
  pcr_small_systems<double><<<sys, 256>>>(a, b, c, d, x, 8);
  float *f = arr<float>(1 << 24, 0.f, 0.25f, 300), *ap = arr<float>(1 << 22, 0.f, 0.f, 1), *det = arr<float>(1 << 24, 0.f, 0.f, 1);
  float *S = arr<float>(4096, 90.f, 0.5f, 40), *X = arr<float>(4096, 95.f, 0.3f, 33);
  int numX = 100000, numK = 2100;
  kValues *kv = (kValues *)arr<float>(numK * 4, -0.5f, 0.001f, 1000);
  float *px = arr<float>(3 * numX, -1.f, 0.01f, 200);
  int np = 9999;
  float hb[NBINS + 1];
  for (int i = 0; i <= NBINS; i++) hb[i] = -3.f + 0.3f * i;
  float *bb;
  unsigned *hist = arr<unsigned>(NBINS, 0, 0, 1);
  SAFE(cudaMalloc(&bb, sizeof hb));
  SAFE(cudaMemcpy(bb, hb, sizeof hb, cudaMemcpyHostToDevice));
  int sw = 1001, sh = 777;
  short *si = arr<short>(sw * sh, 0, 1, 4096), *so = arr<short>(4 * sw * sh, 0, 0, 1);
  upsample2x<<<dim3((sw + 15) / 16, (sh + 7) / 8), dim3(32, 16)>>>(si, so, sw, sh);
  SAFE(cudaGetLastError());
  SAFE(cudaDeviceSynchronize());
  return 0;
}
