// mixed
#include "shown.h"

// 1. GF(2) carry-less 64x64 -> 128 products reduced modulo x^64+x^4+x^3+x+1, 4-bit window table in shared
typedef unsigned long long u64;
#define GF_THREADS 64
__global__ void gf64_mul(const u64 *a, const u64 *b, u64 *c, size_t n) {
  __shared__ u64 win[16][GF_THREADS];
  size_t i = (size_t)blockIdx.x * GF_THREADS + threadIdx.x;
  if (i >= n) return;
  u64 x = (a[i] + 1) * 0x9E3779B97F4A7C15ull, y = (b[i] + i) * 0xC2B2AE3D27D4EB4Full;
  // table of y * w mod p, w < 16
  win[0][threadIdx.x] = 0;
  win[1][threadIdx.x] = y;
  for (int w = 2; w < 16; w += 2) {
    u64 h = win[w / 2][threadIdx.x];
    u64 d = (h << 1) ^ ((h >> 63) * 0x1Bull);
    win[w][threadIdx.x] = d;
    win[w + 1][threadIdx.x] = d ^ y;
  }
  u64 acc = 0;
  for (int s = 60; s >= 0; s -= 4) {
    u64 top = acc >> 60;
    acc <<= 4;
    acc ^= top ^ (top << 1) ^ (top << 3) ^ (top << 4);
    acc ^= win[(x >> s) & 15][threadIdx.x];
  }
  c[i] = acc;
}

// 2. AES-like rounds through a shared T-table
__global__ void tableCipher(const uint4 *__restrict__ in, uint4 *__restrict__ out, const unsigned *__restrict__ T, const unsigned *__restrict__ rk, int nblk, int rounds) {
  __shared__ unsigned t0[256], key[44];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) t0[k] = T[k] * 0x01010193u + k * 2654435761u;
  if (threadIdx.x < 44) key[threadIdx.x] = rk[threadIdx.x] * 0x85ebca6bu;
  __syncthreads();
  for (int b = blockIdx.x * blockDim.x + threadIdx.x; b < nblk; b += gridDim.x * blockDim.x) {
    uint4 s = in[b];
    s.x ^= b;
    for (int r = 1; r <= rounds; r++) {
      uint4 n;
#define TT(p, q, u, v) (t0[(p) >> 24] ^ __byte_perm(t0[((q) >> 16) & 255], 0, 0x0321) ^ __byte_perm(t0[((u) >> 8) & 255], 0, 0x1032) ^ __byte_perm(t0[(v) & 255], 0, 0x2103))
      n.x = TT(s.x, s.y, s.z, s.w) ^ key[4 * r];
      n.y = TT(s.y, s.z, s.w, s.x) ^ key[4 * r + 1];
      n.z = TT(s.z, s.w, s.x, s.y) ^ key[4 * r + 2];
      n.w = TT(s.w, s.x, s.y, s.z) ^ key[4 * r + 3];
#undef TT
      s = n;
    }
    out[b] = s;
  }
}

// 3. batched 8x8 DCT, 8 blocks of pixels per thread block
constexpr int DCT_PER_BLOCK = 8;
__device__ void dct8(float *p, int st) {
  float v[8], o[8];
#pragma unroll
  for (int i = 0; i < 8; i++) v[i] = p[i * st];
#pragma unroll
  for (int k = 0; k < 8; k++) {
    float a = 0.f;
#pragma unroll
    for (int i = 0; i < 8; i++) a += v[i] * cospif((2 * i + 1) * k / 16.f);
    o[k] = a * (k ? 0.5f : 0.35355339f);
  }
#pragma unroll
  for (int i = 0; i < 8; i++) p[i * st] = o[i];
}
__global__ void DCT8x8Batch(const unsigned char *img, short *coef, int width, int height, const float *quant) {
  __shared__ float blk[DCT_PER_BLOCK][8][9];
  int bx = blockIdx.x * DCT_PER_BLOCK + threadIdx.z;
  int bw = width / 8;
  int x = bx * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  bool ok = bx < bw && y < height;
  blk[threadIdx.z][threadIdx.y][threadIdx.x] = ok ? (float)img[(size_t)y * width + x] - 6.f : 0.f;
  __syncthreads();
  if (threadIdx.y == 0) dct8(&blk[threadIdx.z][threadIdx.x][0], 1);
  __syncthreads();
  if (threadIdx.y == 0) dct8(&blk[threadIdx.z][0][threadIdx.x], 9);
  __syncthreads();
  if (ok) coef[(size_t)y * width + x] = (short)rintf(blk[threadIdx.z][threadIdx.y][threadIdx.x] * 16.f / (1.f + quant[threadIdx.y * 8 + threadIdx.x]));
}

// 4. filter with order-preserving compaction into the block's segment (ballots + warp offsets in shared)
struct LessThan {
  int lim;
  __device__ bool operator()(int v) const { return v < lim; }
};
template <int BLOCK, class Pred>
__global__ void selectIf(const int *__restrict__ col, const int *__restrict__ payload, int *__restrict__ outSeg, int *__restrict__ outCount, int n, Pred pred) {
  __shared__ int warpCnt[BLOCK / 32];
  __shared__ int stage[BLOCK];
  const int i = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  bool keep = i < n && pred(col[i] ^ (i & 3));
  unsigned m = __ballot_sync(0xffffffffu, keep);
  if (lane == 0) warpCnt[wid] = __popc(m);
  __syncthreads();
  int off = 0, total = 0;
#pragma unroll
  for (int w = 0; w < BLOCK / 32; w++) {
    off += w < wid ? warpCnt[w] : 0;
    total += warpCnt[w];
  }
  if (keep) stage[off + __popc(m & ((1u << lane) - 1))] = payload[i] + i;
  __syncthreads();
  if (i < n) outSeg[i] = threadIdx.x < total ? stage[threadIdx.x] : -1;
  if (threadIdx.x == 0) outCount[blockIdx.x] = total;
}

// 5. KMP over overlapping chunks; pattern and failure table in shared memory
#define PAT_MAX 32
__global__ void kmpSearch(const char *text, long textLen, const char *pattern, int plen, int *hits, int chunk) {
  __shared__ char pat[PAT_MAX];
  __shared__ int fail[PAT_MAX];
  if (threadIdx.x < plen) pat[threadIdx.x] = pattern[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    fail[0] = 0;
    for (int i = 1, k = 0; i < plen; i++) {
      while (k && pat[k] != pat[i]) k = fail[k - 1];
      if (pat[k] == pat[i]) k++;
      fail[i] = k;
    }
  }
  __syncthreads();
  long id = (long)blockIdx.x * blockDim.x + threadIdx.x;
  long b = id * chunk;
  if (b >= textLen) return;
  long e = b + chunk + plen - 1;
  if (e > textLen) e = textLen;
  int k = 0, found = 0;
  for (long p = b; p < e; p++) {
    char ch = text[p];
    while (k && pat[k] != ch) k = fail[k - 1];
    if (pat[k] == ch) k++;
    if (k == plen) { found++; k = fail[k - 1]; }
  }
  hits[id] = found;
}

// 6. histogram of RGBA pixels, shared atomics, replicated per half-block, partials out
class Histo {
 public:
  static const unsigned BINS = 256, COPIES = 2;
  static void launch(const unsigned *px, unsigned *partial, size_t n, int blocks);
};
__global__ void histogram256Shared(const unsigned *px, unsigned *partial, size_t n) {
  __shared__ unsigned h[Histo::COPIES][Histo::BINS];
  for (unsigned k = threadIdx.x; k < Histo::BINS * Histo::COPIES; k += blockDim.x) h[k / Histo::BINS][k % Histo::BINS] = 0u;
  __syncthreads();
  unsigned *mine = h[(threadIdx.x >> 5) & (Histo::COPIES - 1)];
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    unsigned p = px[i] * 0x01000193u + (unsigned)(i >> 7);
    atomicAdd(&mine[p & 255], 1u);
    atomicAdd(&mine[(p >> 8) & 255], 1u);
    atomicAdd(&mine[(p >> 16) & 255], 1u);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < Histo::BINS; b += blockDim.x) {
    unsigned s = 0;
    for (unsigned c = 0; c < Histo::COPIES; c++) s += h[c][b];
    partial[(size_t)blockIdx.x * Histo::BINS + b] = s;
  }
}
void Histo::launch(const unsigned *px, unsigned *partial, size_t n, int blocks) { histogram256Shared<<<blocks, 256>>>(px, partial, n); }

// 7. layer-norm backward for the input, row per warp, results of both sums through shared
template <int WARPS>
__global__ void layernorm_backward_dx(float *dinp, const float *dout, const float *inp, const float *weight, const float *mean, const float *rstd, int N, int C) {
  extern __shared__ float wsh[];           // C weights
  __shared__ float red[WARPS][2][33];
  for (int c = threadIdx.y * 32 + threadIdx.x; c < C; c += 32 * WARPS) wsh[c] = weight[c];
  __syncthreads();
  int row = blockIdx.x * WARPS + threadIdx.y;
  if (row >= N) return;
  const float *dy = dout + (size_t)row * C, *x = inp + (size_t)row * C;
  float m = mean[row], rs = 1.f / (1.f + rstd[row]);
  float s1 = 0.f, s2 = 0.f;
  for (int c = threadIdx.x; c < C; c += 32) {
    float g = wsh[c] * dy[c];
    s1 += g;
    s2 += g * (x[c] - m) * rs;
  }
  red[threadIdx.y][0][threadIdx.x] = s1;
  red[threadIdx.y][1][threadIdx.x] = s2;
  __syncwarp();
  for (int o = 16; o > 0; o >>= 1) {
    if (threadIdx.x < o) {
      red[threadIdx.y][0][threadIdx.x] += red[threadIdx.y][0][threadIdx.x + o];
      red[threadIdx.y][1][threadIdx.x] += red[threadIdx.y][1][threadIdx.x + o];
    }
    __syncwarp();
  }
  s1 = red[threadIdx.y][0][0] / C;
  s2 = red[threadIdx.y][1][0] / C;
  for (int c = threadIdx.x; c < C; c += 32) {
    float xh = (x[c] - m) * rs;
    dinp[(size_t)row * C + c] = (wsh[c] * dy[c] - s1 - xh * s2) * rs;
  }
}

// 8. CSR-stream SpMV: products of a block's rows staged in shared, then rows summed; banded columns use a shared x segment
#define SPMV_ROWS 64
#define SPMV_NNZ 1024
#define SPMV_X 512
__global__ void spmvCsrStream(const int *rowPtr, const int *colIdx, const double *val, const double *x, double *y, int nrows) {
  __shared__ double prod[SPMV_NNZ];
  __shared__ double xs[SPMV_X];
  const int r0 = blockIdx.x * SPMV_ROWS;
  const int r1 = min(r0 + SPMV_ROWS, nrows);
  const int p0 = rowPtr[r0], p1 = rowPtr[r1];
  const int xbase = max(0, r0 - (SPMV_X - SPMV_ROWS) / 2);
  for (int k = threadIdx.x; k < SPMV_X; k += blockDim.x) xs[k] = xbase + k < nrows ? x[xbase + k] : 0.0;
  double acc = 0.0;
  const int myRow = r0 + threadIdx.x;
  for (int base = p0; base < p1; base += SPMV_NNZ) {
    __syncthreads();
    for (int k = threadIdx.x; k < SPMV_NNZ && base + k < p1; k += blockDim.x) {
      int c = colIdx[base + k];
      unsigned local = (unsigned)(c - xbase);
      prod[k] = val[base + k] * (local < SPMV_X ? xs[local] : x[c]);
    }
    __syncthreads();
    if (myRow < r1 && threadIdx.x < SPMV_ROWS) {
      int lo = max(rowPtr[myRow], base), hi = min(rowPtr[myRow + 1], min(base + SPMV_NNZ, p1));
      for (int q = lo; q < hi; q++) acc += prod[q - base];
    }
  }
  if (threadIdx.x < SPMV_ROWS && myRow < r1) y[myRow] = acc;
}

int main() {
  {
    size_t n = 4000037;
    u64 *a = mk<u64>(n), *b = mk<u64>(n), *c = mk<u64>(n);
    gf64_mul<<<(n + GF_THREADS - 1) / GF_THREADS, GF_THREADS>>>(a, b, c, n);
    show("gf64_mul", c, n * 8);
    cudaFree(a); cudaFree(b); cudaFree(c);
  }
  {
    int n = 3000017;
    uint4 *a = (uint4 *)mk<unsigned>((size_t)n * 4), *o = (uint4 *)mk<unsigned>((size_t)n * 4);
    unsigned *T = mk<unsigned>(256), *k = mk<unsigned>(44);
    tableCipher<<<132 * 4, 256>>>(a, o, T, k, n, 10);
    show("tableCipher", o, (size_t)n * 16);
    cudaFree(a); cudaFree(o);
  }
  {
    int w = 4104, h = 3072;
    unsigned char *im = mk<unsigned char>((size_t)w * h);
    short *c = mk<short>((size_t)w * h);
    float *q = mk<float>(64);
    DCT8x8Batch<<<dim3((w / 8 + DCT_PER_BLOCK - 1) / DCT_PER_BLOCK, h / 8), dim3(8, 8, DCT_PER_BLOCK)>>>(im, c, w, h, q);
    show("DCT8x8Batch", c, (size_t)w * h * 2);
  }
  {
    int n = 33333337;
    int nb = (n + 511) / 512;
    int *c = mk<int>(n), *p = mk<int>(n), *o = mk<int>(n), *cnt = mk<int>(nb);
    selectIf<512><<<nb, 512>>>(c, p, o, cnt, n, LessThan{5});
    show("selectIf", o, (size_t)n * 4);
    cudaFree(c); cudaFree(p); cudaFree(o);
  }
  {
    long n = 60000001;
    int plen = 3, chunk = 256;
    int nt = (int)((n + chunk - 1) / chunk);
    char *t = mk<char>(n), *p = mk<char>(PAT_MAX);
    int *h = mk<int>(nt);
    kmpSearch<<<(nt + 127) / 128, 128>>>(t, n, p, plen, h, chunk);
    show("kmpSearch", h, (size_t)nt * 4);
    cudaFree(t);
  }
  {
    size_t n = 40000003;
    int blocks = 132 * 6;
    unsigned *px = mk<unsigned>(n), *pt = mk<unsigned>((size_t)blocks * 256);
    Histo::launch(px, pt, n, blocks);
    show("histogram256Shared", pt, (size_t)blocks * 1024);
    cudaFree(px);
  }
  {
    int N = 30001, C = 768;
    size_t n = (size_t)N * C;
    float *di = mk<float>(n), *dy = mk<float>(n), *x = mk<float>(n + 1), *w = mk<float>(C), *m = mk<float>(N), *r = mk<float>(N);
    layernorm_backward_dx<8><<<(N + 7) / 8, dim3(32, 8), C * sizeof(float)>>>(di, dy, x + 1, w, m, r, N, C);
    show("layernorm_backward_dx", di, n * 4);
    cudaFree(di); cudaFree(dy); cudaFree(x);
  }
  {
    int nr = 1500007;
    int *rp = (int *)malloc((nr + 1) * sizeof(int));
    rp[0] = 0;
    for (int i = 0; i < nr; i++) rp[i + 1] = rp[i] + 6 + (i * 7) % 23 % 11 + (i % 5000 == 77 ? 900 : 0);
    int nnz = rp[nr];
    int *ci = (int *)malloc((size_t)nnz * sizeof(int));
    for (int i = 0; i < nr; i++)
      for (int q = rp[i]; q < rp[i + 1]; q++) {
        long c = (long)i + (q - rp[i]) * 29L - 120;
        if (q % 31 == 0) c = ((long)q * 7919) % nr;
        ci[q] = (int)(c < 0 ? -c : c >= nr ? 2L * nr - 2 - c : c);
      }
    int *drp, *dci;
    cudaMalloc(&drp, (nr + 1) * sizeof(int));
    cudaMalloc(&dci, (size_t)nnz * sizeof(int));
    cudaMemcpy(drp, rp, (nr + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dci, ci, (size_t)nnz * sizeof(int), cudaMemcpyHostToDevice);
    double *v = mk<double>(nnz), *x = mk<double>(nr), *y = mk<double>(nr);
    spmvCsrStream<<<(nr + SPMV_ROWS - 1) / SPMV_ROWS, 128>>>(drp, dci, v, x, y, nr);
    show("spmvCsrStream", y, (size_t)nr * 8);
    free(rp);
    free(ci);
  }
  return 0;
}
