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
// small dense solve per thread, system staged through shared memory
#define NS 5
__global__ void lu_per_thread(const double *A, const double *rhs, double *x, int nsys) {
  __shared__ double stage[64 * NS * NS];
  int first = blockIdx.x * 64;
  int have = min(64, nsys - first);
  for (int i = threadIdx.x; i < have * NS * NS; i += 64) stage[i] = A[(size_t)first * NS * NS + i];
  __syncthreads();
  if (threadIdx.x >= have) return;
  double a[NS][NS], b[NS];
  int piv[NS];
  for (int i = 0; i < NS; ++i) {
    for (int j = 0; j < NS; ++j) a[i][j] = stage[threadIdx.x * NS * NS + i * NS + j];
    a[i][i] += 40.0;
    b[i] = rhs[(size_t)(first + threadIdx.x) * NS + i];
  }
  for (int k = 0; k < NS; ++k) {
    int p = k;
    for (int i = k + 1; i < NS; ++i) if (fabs(a[i][k]) > fabs(a[p][k])) p = i;
    piv[k] = p;
    if (p != k) for (int j = 0; j < NS; ++j) { double t = a[k][j]; a[k][j] = a[p][j]; a[p][j] = t; }
    double inv = 1.0 / a[k][k];
    for (int i = k + 1; i < NS; ++i) {
      a[i][k] *= inv;
      for (int j = k + 1; j < NS; ++j) a[i][j] -= a[i][k] * a[k][j];
    }
  }
  for (int k = 0; k < NS; ++k) {
    double t = b[k]; b[k] = b[piv[k]]; b[piv[k]] = t;
    for (int i = k + 1; i < NS; ++i) b[i] -= a[i][k] * b[k];
  }
  for (int k = NS - 1; k >= 0; --k) {
    for (int j = k + 1; j < NS; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  for (int i = 0; i < NS; ++i) x[(size_t)(first + threadIdx.x) * NS + i] = b[i];
}

// range query over an implicit kd-tree, explicit stack, top of the tree cached in shared memory
#define TOP 255
__global__ void kd_count(const float2 *tree, int nodes, const float2 *q, int *cnt, int nq, float r) {
  __shared__ float2 top[TOP];
  for (int i = threadIdx.x; i < TOP && i < nodes; i += blockDim.x) top[i] = tree[i];
  __syncthreads();
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= nq) return;
  float2 c = q[id];
  int stack[24];
  int sp = 0, found = 0;
  stack[sp++] = 0;
  while (sp > 0) {
    int n = stack[--sp];
    float2 p = n < TOP ? top[n] : tree[n];
    float dx = p.x - c.x, dy = p.y - c.y;
    if (dx * dx + dy * dy <= r * r) found++;
    int depth = 31 - __clz(n + 1);
    float diff = (depth & 1) ? c.y - p.y : c.x - p.x;
    int l = 2 * n + 1, rr = l + 1;
    if (diff <= r && l < nodes) stack[sp++] = l;
    if (diff >= -r && rr < nodes) stack[sp++] = rr;
  }
  cnt[id] = found;
}

// Chebyshev series: coefficients of several species in shared memory, T_k in a private array
template <int ORDER>
__global__ void cheb_eval(const float *coef, int species, const float *xin, float *out, int n) {
  extern __shared__ float sc[];
  for (int i = threadIdx.x; i < species * ORDER; i += blockDim.x) sc[i] = coef[i];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float x = xin[i] * 0.15f - 0.9f;
    float T[ORDER];
    T[0] = 1.f; T[1] = x;
#pragma unroll
    for (int k = 2; k < ORDER; ++k) T[k] = 2.f * x * T[k - 1] - T[k - 2];
    for (int s = 0; s < species; ++s) {
      float v = 0.f;
#pragma unroll
      for (int k = 0; k < ORDER; ++k) v += sc[s * ORDER + k] * T[k];
      out[(size_t)s * n + i] = v;
    }
  }
}

// N-queens: count completions below a prefix, private board columns (dynamic index), counts reduced
__global__ void queens_count(int n, const int *seedMask, unsigned *out, int total) {
  __shared__ unsigned part[96];
  int id = blockIdx.x * 96 + threadIdx.x;
  unsigned c = 0;
  if (id < total) {
    int a0 = id % n, a1 = (id / n) % n, a2 = id / (n * n);
    unsigned full = (1u << n) - 1;
    unsigned cols[16], ld[16], rd[16], poss[16];
    int d = 3;
    unsigned b0 = 1u << a0, b1 = 1u << a1, b2 = 1u << a2;
    bool ok = !(b1 & (b0 | b0 << 1 | b0 >> 1)) && !(b2 & (b0 | b0 << 2 | b0 >> 2 | b1 | b1 << 1 | b1 >> 1));
    if (ok && seedMask[id % 13] >= 0) {
      cols[3] = b0 | b1 | b2;
      ld[3] = (b0 << 3) | (b1 << 2) | (b2 << 1);
      rd[3] = (b0 >> 3) | (b1 >> 2) | (b2 >> 1);
      poss[3] = full & ~(cols[3] | ld[3] | rd[3]);
      while (d >= 3) {
        if (!poss[d]) { --d; continue; }
        unsigned b = poss[d] & (0u - poss[d]);
        poss[d] ^= b;
        if (d == n - 1) { ++c; continue; }
        cols[d + 1] = cols[d] | b;
        ld[d + 1] = (ld[d] | b) << 1;
        rd[d + 1] = (rd[d] | b) >> 1;
        ++d;
        poss[d] = full & ~(cols[d] | ld[d] | rd[d]);
      }
    }
  }
  part[threadIdx.x] = c;
  __syncthreads();
  if (threadIdx.x < 32) part[threadIdx.x] += part[threadIdx.x + 32] + part[threadIdx.x + 64];
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned s = 0;
    for (int i = 0; i < 32; ++i) s += part[i];
    out[blockIdx.x] = s;
  }
}

int main() {
  { int n = 1000003; double *a = mk<double>((size_t)n * NS * NS), *b = mk<double>((size_t)n * NS), *x = mk<double>((size_t)n * NS);
    lu_per_thread<<<(n + 63) / 64, 64>>>(a, b, x, n);
    show("lu_per_thread", x, (size_t)n * NS * 8); cudaFree(a); }
  { int nodes = 4095, nq = 500000; float2 *t = (float2 *)mk<float>(2 * nodes + 1), *q = (float2 *)mk<float>(2 * nq); int *c = mk<int>(nq);
    kd_count<<<(nq + 127) / 128, 128>>>(t, nodes, q, c, nq, 1.2f);
    show("kd_count", c, nq * 4); }
  { int n = 5000000, sp = 9; float *c = mk<float>(sp * 12), *x = mk<float>(n), *o = mk<float>((size_t)n * sp);
    cheb_eval<12><<<1320, 256, sp * 12 * sizeof(float)>>>(c, sp, x, o, n);
    show("cheb_eval", o, (size_t)n * sp * 4); cudaFree(o); }
  { int n = 14, tot = n * n * n, g = (tot + 95) / 96; int *m = mk<int>(13); unsigned *o = mk<unsigned>(g);
    queens_count<<<g, 96>>>(n, m, o, tot);
    show("queens_count", o, g * 4); }
  return 0;
}
