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
// batched Cholesky of 32x32 tiles (A = base + big diagonal), right-looking
#define NT 32
__global__ void potrf_tile(const float *A, float *L, int batch) {
  __shared__ float s[NT][NT + 1];
  int r = threadIdx.y, c = threadIdx.x;
  size_t o = (size_t)blockIdx.x * NT * NT;
  float aij = 0.5f * (A[o + r * NT + c] + A[o + c * NT + r]);
  s[r][c] = aij + (r == c ? 500.f : 0.f);
  __syncthreads();
  for (int k = 0; k < NT; ++k) {
    if (r == k && c == k) s[k][k] = sqrtf(s[k][k]);
    __syncthreads();
    if (c == k && r > k) s[r][k] /= s[k][k];
    __syncthreads();
    if (r > k && c > k && c <= r) s[r][c] -= s[r][k] * s[c][k];
    __syncthreads();
  }
  L[o + r * NT + c] = c <= r ? s[r][c] : 0.f;
}

// batched LU without pivoting, 16x16, several matrices a block (z)
__global__ void getrf_small(double *A, int batch) {
  __shared__ double m[4][16][17];
  const int z = threadIdx.z, i = threadIdx.y, j = threadIdx.x;
  const int id = blockIdx.x * 4 + z;
  double *g = A + (size_t)id * 256;
  m[z][i][j] = id < batch ? g[i * 16 + j] + (i == j ? 300.0 : 0.0) : (i == j ? 1.0 : 0.0);
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < 15; ++k) {
    if (i > k && j == k) m[z][i][k] = m[z][i][k] / m[z][k][k];
    __syncthreads();
    if (i > k && j > k) m[z][i][j] -= m[z][i][k] * m[z][k][j];
    __syncthreads();
  }
  if (id < batch) g[i * 16 + j] = m[z][i][j];
}

// forward substitution with many right-hand sides: L (n x n, n <= 64) in shared memory, one rhs column a thread
__global__ void trsm_left(const float *__restrict__ Lg, float *B, int n, int nrhs) {
  __shared__ float L[64 * 64];
  for (int i = threadIdx.x; i < n * n; i += blockDim.x) L[i] = Lg[i];
  __syncthreads();
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col < nrhs) {
    float x[64];
    for (int i = 0; i < n; i++) {
      float v = B[(size_t)i * nrhs + col];
      for (int k = 0; k < i; k++) v -= L[i * n + k] * 0.01f * x[k];
      x[i] = v / (L[i * n + i] + 20.f);
      B[(size_t)i * nrhs + col] = x[i];
    }
  }
}

// modified Gram-Schmidt on a panel of 16 columns of length 256, one block a panel
__device__ float blockDot(float v, float *buf) {
  const int t = threadIdx.x;
  buf[t] = v;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) buf[t] += buf[t + s];
    __syncthreads();
  }
  float r = buf[0];
  __syncthreads();
  return r;
}
__global__ void mgs_panel(const float *A, float *Q, float *R) {
  __shared__ float buf[256];
  float col[16];
  const float *a = A + (size_t)blockIdx.x * 256 * 16;
  for (int j = 0; j < 16; ++j) col[j] = a[j * 256 + threadIdx.x] + (threadIdx.x == j ? 50.f : 0.f);
  for (int j = 0; j < 16; ++j) {
    float nrm = sqrtf(blockDot(col[j] * col[j], buf));
    col[j] /= nrm;
    if (threadIdx.x == 0) R[(size_t)blockIdx.x * 256 + j * 16 + j] = nrm;
    for (int k = j + 1; k < 16; ++k) {
      float d = blockDot(col[j] * col[k], buf);
      col[k] -= d * col[j];
      if (threadIdx.x == 0) R[(size_t)blockIdx.x * 256 + j * 16 + k] = d;
    }
  }
  for (int j = 0; j < 16; ++j) Q[(size_t)blockIdx.x * 4096 + j * 256 + threadIdx.x] = col[j];
}

int main() {
  { int b = 20000; size_t t = (size_t)b * NT * NT; float *a = mk<float>(t), *l = mk<float>(t);
    potrf_tile<<<b, dim3(NT, NT)>>>(a, l, b);
    show("potrf_tile", l, t * 4); cudaFree(a); cudaFree(l); }
  { int b = 50001; double *a = mk<double>((size_t)b * 256);
    getrf_small<<<(b + 3) / 4, dim3(16, 16, 4)>>>(a, b);
    show("getrf_small", a, (size_t)b * 256 * 8); cudaFree(a); }
  { int n = 60, r = 400001; float *L = mk<float>(n * n), *B = mk<float>((size_t)n * r);
    trsm_left<<<(r + 127) / 128, 128>>>(L, B, n, r);
    show("trsm_left", B, (size_t)n * r * 4); cudaFree(B); }
  { int p = 5000; float *a = mk<float>((size_t)p * 4096), *q = mk<float>((size_t)p * 4096), *R = mk<float>((size_t)p * 256);
    mgs_panel<<<p, 256>>>(a, q, R);
    show("mgs Q", q, (size_t)p * 4096 * 4); show("mgs R", R, (size_t)p * 256 * 4); }
  return 0;
}
