#include "h.h"
#include <cstring>
static void show(const char *name, const void *dev, size_t bytes) {
  cudaError_t e = cudaDeviceSynchronize();
  unsigned char *h = (unsigned char *)malloc(bytes);
  cudaMemcpy(h, dev, bytes, cudaMemcpyDeviceToHost);
  unsigned long long f = 1469598103934665603ull;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    unsigned long long w;
    memcpy(&w, h + i, 8);
    f = (f ^ w) * 1099511628211ull;
  }
  for (; i < bytes; ++i) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s %016llx%s%s\n", name, f, e ? " " : "", e ? cudaGetErrorString(e) : "");
  free(h);
}
// cyclic reduction, system size = power of two, half as many threads
template <class T>
__global__ void crKernel(const T *d_a, const T *d_b, const T *d_c, const T *d_d, T *d_x, int systemSize, int iterations) {
  extern __shared__ __align__(16) char sharedMem[];
  T *a = (T *)sharedMem;
  T *b = a + systemSize;
  T *c = b + systemSize;
  T *d = c + systemSize;
  T *x = d + systemSize;
  int thid = threadIdx.x;
  size_t base = (size_t)blockIdx.x * systemSize;
  for (int i = thid; i < systemSize; i += blockDim.x) {
    a[i] = i == 0 ? T(0) : d_a[base + i];
    b[i] = d_b[base + i] + T(30);
    c[i] = i == systemSize - 1 ? T(0) : d_c[base + i];
    d[i] = d_d[base + i];
  }
  __syncthreads();
  int stride = 1, numThreads = blockDim.x;
  for (int j = 0; j < iterations; j++) {
    stride *= 2;
    int delta = stride / 2;
    if (thid < numThreads) {
      int i = stride * thid + stride - 1;
      int iLeft = i - delta, iRight = i + delta;
      if (iRight >= systemSize) iRight = systemSize - 1;
      if (i == systemSize - 1) {
        T t = a[i] / b[iLeft];
        b[i] = b[i] - c[iLeft] * t;
        d[i] = d[i] - d[iLeft] * t;
        a[i] = -a[iLeft] * t;
        c[i] = 0;
      } else {
        T t1 = a[i] / b[iLeft], t2 = c[i] / b[iRight];
        b[i] = b[i] - c[iLeft] * t1 - a[iRight] * t2;
        d[i] = d[i] - d[iLeft] * t1 - d[iRight] * t2;
        a[i] = -a[iLeft] * t1;
        c[i] = -c[iRight] * t2;
      }
    }
    numThreads /= 2;
    __syncthreads();
  }
  if (thid < 2) {
    int addr1 = stride - 1, addr2 = 2 * stride - 1;
    T t = b[addr2] * b[addr1] - c[addr1] * a[addr2];
    if (thid == 0) x[addr1] = (b[addr2] * d[addr1] - c[addr1] * d[addr2]) / t;
    else x[addr2] = (d[addr2] * b[addr1] - d[addr1] * a[addr2]) / t;
  }
  numThreads = 2;
  for (int j = 0; j < iterations; j++) {
    int delta = stride / 2;
    __syncthreads();
    if (thid < numThreads) {
      int i = stride * thid + stride / 2 - 1;
      if (i == delta - 1) x[i] = (d[i] - c[i] * x[i + delta]) / b[i];
      else x[i] = (d[i] - a[i] * x[i - delta] - c[i] * x[i + delta]) / b[i];
    }
    stride /= 2;
    numThreads *= 2;
  }
  __syncthreads();
  for (int i = thid; i < systemSize; i += blockDim.x) d_x[base + i] = x[i];
}

// parallel cyclic reduction, one equation a thread
__global__ void pcr(const float *A, const float *B, const float *C, const float *D, float *X, int n) {
  __shared__ float a[512], b[512], c[512], d[512];
  const int i = threadIdx.x;
  const size_t g = (size_t)blockIdx.x * n + i;
  a[i] = i > 0 ? A[g] : 0.f;
  b[i] = B[g] + 28.f;
  c[i] = i < n - 1 ? C[g] : 0.f;
  d[i] = D[g];
  __syncthreads();
  for (int s = 1; s < n; s *= 2) {
    int l = i - s, r = i + s;
    float na = 0.f, nc = 0.f, nb = b[i], nd = d[i];
    if (l >= 0) { float k = a[i] / b[l]; na = -a[l] * k; nb -= c[l] * k; nd -= d[l] * k; }
    if (r < n) { float k = c[i] / b[r]; nc = -c[r] * k; nb -= a[r] * k; nd -= d[r] * k; }
    __syncthreads();
    a[i] = na; b[i] = nb; c[i] = nc; d[i] = nd;
    __syncthreads();
  }
  X[g] = d[i] / b[i];
}

// Thomas, a thread a system, right-hand sides transposed through shared memory, c' kept in a local array
#define LEN 32
__global__ void thomas_tile(const double *rhs, double *sol, int systems, double lo, double di, double up) {
  __shared__ double t[32][LEN + 1];
  int s0 = blockIdx.x * 32;
  for (int r = threadIdx.y; r < 32; r += blockDim.y)
    if (s0 + r < systems) t[r][threadIdx.x] = rhs[(size_t)(s0 + r) * LEN + threadIdx.x];
  __syncthreads();
  if (threadIdx.y == 0 && s0 + threadIdx.x < systems) {
    double cp[LEN];
    double *d = t[threadIdx.x];
    cp[0] = up / di;
    d[0] = d[0] / di;
    for (int k = 1; k < LEN; ++k) {
      double m = 1.0 / (di - lo * cp[k - 1]);
      cp[k] = up * m;
      d[k] = (d[k] - lo * d[k - 1]) * m;
    }
    for (int k = LEN - 2; k >= 0; --k) d[k] -= cp[k] * d[k + 1];
  }
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += blockDim.y)
    if (s0 + r < systems) sol[(size_t)(s0 + r) * LEN + threadIdx.x] = t[r][threadIdx.x];
}

// Crank-Nicolson step of many option grids: explicit half by stencil, implicit half by a few Jacobi sweeps
__global__ void cn_jacobi(const float *u, float *v, int m, float lam, int sweeps) {
  __shared__ float b[258], x0[258], x1[258];
  int i = threadIdx.x + 1;
  const float *row = u + (size_t)blockIdx.x * m;
  if (threadIdx.x < m) x0[i] = row[threadIdx.x];
  if (threadIdx.x == 0) { x0[0] = row[0]; x0[m + 1] = row[m - 1]; x1[0] = row[0]; x1[m + 1] = row[m - 1]; }
  __syncthreads();
  if (threadIdx.x < m) b[i] = x0[i] + lam * (x0[i - 1] - 2.f * x0[i] + x0[i + 1]);
  float *p = x0, *q = x1;
  for (int s = 0; s < sweeps; ++s) {
    if (threadIdx.x < m) q[i] = (b[i] + lam * (p[i - 1] + p[i + 1])) / (1.f + 2.f * lam);
    __syncthreads();
    float *t = p; p = q; q = t;
  }
  if (threadIdx.x < m) v[(size_t)blockIdx.x * m + threadIdx.x] = p[i];
}

int main() {
  { int n = 512, s = 6000; size_t t = (size_t)n * s; float *a = mk<float>(t), *b = mk<float>(t), *c = mk<float>(t), *d = mk<float>(t), *x = mk<float>(t);
    crKernel<float><<<s, n / 2, 5 * n * sizeof(float)>>>(a, b, c, d, x, n, 8);
    show("crKernel f", x, t * 4);
    pcr<<<s, n>>>(a, b, c, d, x, n);
    show("pcr", x, t * 4); }
  { int n = 256, s = 8000; size_t t = (size_t)n * s; double *a = mk<double>(t), *b = mk<double>(t), *d = mk<double>(t), *x = mk<double>(t);
    crKernel<double><<<s, n / 2, 5 * n * sizeof(double)>>>(a, b, a, d, x, n, 7);
    show("crKernel d", x, t * 8); }
  { int s = 300001; double *r = mk<double>((size_t)s * LEN), *x = mk<double>((size_t)s * LEN);
    thomas_tile<<<(s + 31) / 32, dim3(32, 8)>>>(r, x, s, -1.0, 4.0, -1.5);
    show("thomas_tile", x, (size_t)s * LEN * 8); }
  { int m = 250, g = 60000; float *u = mk<float>((size_t)m * g), *v = mk<float>((size_t)m * g);
    cn_jacobi<<<g, 256>>>(u, v, m, 0.4f, 12);
    show("cn_jacobi", v, (size_t)m * g * 4); }
  return 0;
}
