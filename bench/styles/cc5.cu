// Rows reduced, keys sorted, axes exchanged.
#include <cfloat>
#include <climits>
#include <cmath>
#include "shown.h"

// A. arg-max of every row, ties go to the lower column --------------------------------
struct __align__(8) ValIdx { float v; int i; };

__device__ __forceinline__ ValIdx better(ValIdx a, ValIdx b) {
  if (b.v > a.v || (b.v == a.v && b.i < a.i)) return b;
  return a;
}

template <int THREADS>
__global__ void rowArgmax(const float *__restrict__ m, int *__restrict__ idx, float *__restrict__ val, int cols) {
  __shared__ ValIdx sh[THREADS];
  const float *r = m + (size_t)blockIdx.x * cols;
  ValIdx best;
  best.v = -FLT_MAX;
  best.i = INT_MAX;
  for (int c = threadIdx.x; c < cols; c += THREADS) {
    // a little hash, so that the rows differ
    ValIdx w;
    w.v = r[c] + (float)((c * 37 + blockIdx.x * 11) % 257) * 0.01f;
    w.i = c;
    best = better(best, w);
  }
  sh[threadIdx.x] = best;
  __syncthreads();
#pragma unroll
  for (int s = THREADS / 2; s >= 1; s >>= 1) {
    if (threadIdx.x < s) sh[threadIdx.x] = better(sh[threadIdx.x], sh[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) { idx[blockIdx.x] = sh[0].i; val[blockIdx.x] = sh[0].v; }
}

// B. log-sum-exp, running maximum and scaled sum, four rows a block ---------------------
#define LSE_X 64
#define LSE_Y 4
__device__ void lseMerge(float &m, float &s, float m2, float s2) {
  float M = fmaxf(m, m2);
  s = s * expf(m - M) + s2 * expf(m2 - M);
  m = M;
}
__global__ void logsumexp_rows(const float *x, float *lse, int rows, int cols)
{
  __shared__ float sm[LSE_Y][LSE_X], ss[LSE_Y][LSE_X];
  int row = blockIdx.x * LSE_Y + threadIdx.y;
  float m = -1e30f, s = 0.f;
  if (row < rows)
    for (int c = threadIdx.x; c < cols; c += LSE_X) lseMerge(m, s, x[(size_t)row * cols + c], 1.f);
  sm[threadIdx.y][threadIdx.x] = m;
  ss[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  for (int h = LSE_X / 2; h > 0; h /= 2) {
    if (threadIdx.x < h) {
      lseMerge(m, s, sm[threadIdx.y][threadIdx.x + h], ss[threadIdx.y][threadIdx.x + h]);
      sm[threadIdx.y][threadIdx.x] = m;
      ss[threadIdx.y][threadIdx.x] = s;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0 && row < rows) lse[row] = m + logf(s);
}

// C. bitonic sort of 2048 key-value pairs, each thread owns compare sites ----------------
__device__ __forceinline__ void cas(unsigned *k, unsigned *v, unsigned a, unsigned b, bool up) {
  unsigned ka = k[a], kb = k[b];
  if ((ka > kb) == up) {
    k[a] = kb; k[b] = ka;
    unsigned t = v[a]; v[a] = v[b]; v[b] = t;
  }
}
__global__ void bitonicPairs(unsigned *keys, unsigned *vals) {
  __shared__ unsigned k[2048];
  __shared__ unsigned v[2048];
  const unsigned t = threadIdx.x;             // 1024 threads
  const size_t o = (size_t)blockIdx.x * 2048;
  for (unsigned e = t; e < 2048; e += 1024) {
    unsigned h = (unsigned)(o + e) * 2654435761u;
    k[e] = keys[o + e] * 65536u + (h >> 16);
    v[e] = (vals[o + e] & 0xffu) | e << 8;
  }
  for (unsigned len = 2; len <= 2048; len <<= 1)
    for (unsigned d = len >> 1; d; d >>= 1) {
      __syncthreads();
      unsigned a = 2 * t - (t & (d - 1));
      cas(k, v, a, a + d, (a & len) == 0);
    }
  __syncthreads();
  keys[o + t] = k[t];
  keys[o + t + 1024] = k[t + 1024];
  vals[o + t] = v[t];
  vals[o + t + 1024] = v[t + 1024];
}

// D. Batcher odd-even merge sort of 64-element groups, four groups a block ----------------
template <class Key>
__global__ void oddEvenMerge64(Key *data, unsigned groups) {
  __shared__ Key s[4][64];
  const unsigned lane = threadIdx.x, g = threadIdx.y;
  const unsigned grp = blockIdx.x * 4 + g;
  const bool live = grp < groups;
  if (live) {
    s[g][lane] = data[(size_t)grp * 64 + lane] * Key((lane * 29 + grp) % 61 + 1);
    s[g][lane + 32] = data[(size_t)grp * 64 + lane + 32] * Key((lane * 31 + grp) % 59 + 1);
  } else {
    s[g][lane] = Key(0);
    s[g][lane + 32] = Key(0);
  }
  __syncthreads();
  for (unsigned p = 1; p < 64; p <<= 1)
    for (unsigned k = p; k >= 1; k >>= 1) {
      for (unsigned e = lane; e < 64; e += 32) {
        // e is the lower end of a comparator?
        unsigned j0 = k % p;
        bool low = e >= j0 && ((e - j0) / k) % 2 == 0 && e + k < 64 && (e / (2 * p)) == ((e + k) / (2 * p));
        if (low) {
          Key a = s[g][e], b = s[g][e + k];
          if (b < a) { s[g][e] = b; s[g][e + k] = a; }
        }
      }
      __syncthreads();
    }
  if (live) {
    data[(size_t)grp * 64 + lane] = s[g][lane];
    data[(size_t)grp * 64 + lane + 32] = s[g][lane + 32];
  }
}

// E. conjugate transpose of a complex double matrix, 32 x 32 tile by 32 x 8 threads --------
constexpr int TD = 32, TR = 8;
__global__ void zgeConjTrans(double2 *__restrict__ at, const double2 *__restrict__ a, int m, int n)
{
  __shared__ double2 tile[TD][TD + 1];
  int x = blockIdx.x * TD + threadIdx.x;
  int y = blockIdx.y * TD + threadIdx.y;
  for (int j = 0; j < TD; j += TR)
    if (x < n && y + j < m) tile[threadIdx.y + j][threadIdx.x] = a[(size_t)(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * TD + threadIdx.x;
  y = blockIdx.x * TD + threadIdx.y;
  for (int j = 0; j < TD; j += TR)
    if (x < m && y + j < n) {
      double2 v = tile[threadIdx.x][threadIdx.y + j];
      v.y = -v.y;
      at[(size_t)(y + j) * m + x] = v;
    }
}

// F. axes (z, y, x) -> (x, z, y) through a 16 x 16 tile per y-x plane ------------------------
#define T16 16
#define SRC(z, y, x) (((z) * NY + (y)) * NX + (x))
#define DST(x, z, y) (((x) * NZ + (z)) * NY + (y))
__global__ void permute_zyx_xzy(const float *src, float *dst, size_t NX, size_t NY, size_t NZ) {
  __shared__ float t[T16][T16 + 1];
  size_t x = blockIdx.x * (size_t)T16 + threadIdx.x;
  size_t y = blockIdx.y * (size_t)T16 + threadIdx.y;
  size_t z = blockIdx.z;
  if (x < NX && y < NY) t[threadIdx.y][threadIdx.x] = src[SRC(z, y, x)];
  __syncthreads();
  size_t xo = blockIdx.x * (size_t)T16 + threadIdx.y;
  size_t yo = blockIdx.y * (size_t)T16 + threadIdx.x;
  if (xo < NX && yo < NY) dst[DST(xo, z, yo)] = t[threadIdx.x][threadIdx.y];
}
#undef SRC
#undef DST

// G. the K largest of every column, insertion into a private list -----------------------------
template <int K>
__global__ void topk_columns(const float *__restrict__ x, float *__restrict__ vals, int *__restrict__ where, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float best[K];
  int pos[K];
  int have = 0;
  for (int r = 0; r < rows; r++) {
    float v = x[(size_t)r * cols + c] + 0.001f * (float)((r * 131 + c * 7) % 1009);
    if (have == K && v <= best[K - 1]) continue;
    int p = have < K ? have++ : K - 1;
    for (; p > 0 && best[p - 1] < v; p--) { best[p] = best[p - 1]; pos[p] = pos[p - 1]; }
    best[p] = v;
    pos[p] = r;
  }
  for (int k = 0; k < have; k++) {
    vals[(size_t)k * cols + c] = best[k];
    where[(size_t)k * cols + c] = pos[k];
  }
}

// H. scaled 2-norm (scale, sum of squares), safe against overflow, grid-stride ------------------
__global__ void nrm2_partial(const double *x, double2 *part, size_t n)
{
  extern __shared__ double pool[];
  double *scl = pool;
  double *ssq = pool + blockDim.x;
  const unsigned t = threadIdx.x;
  double sc = 0.0, sq = 1.0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + t; i < n; i += (size_t)gridDim.x * blockDim.x) {
    double a = fabs(x[i]) * 1e150;
    if (a > sc) { double r = sc / a; sq = 1.0 + sq * r * r; sc = a; }
    else if (a > 0.0) { double r = a / sc; sq += r * r; }
  }
  scl[t] = sc;
  ssq[t] = sq;
  __syncthreads();
  unsigned active = blockDim.x;
  while (active > 1) {
    unsigned half = (active + 1) / 2;
    if (t + half < active) {
      double a = scl[t], b = scl[t + half];
      if (a < b) {
        double r = a / b;
        ssq[t] = ssq[t + half] + ssq[t] * r * r;
        scl[t] = b;
      } else if (a > 0.0) {
        double r = b / a;
        ssq[t] += ssq[t + half] * r * r;
      }
    }
    __syncthreads();
    active = half;
  }
  if (t == 0) part[blockIdx.x] = make_double2(scl[0], ssq[0]);
}

int main() {
  {
    int rows = 8000, cols = 3001;
    float *m = mk<float>((size_t)rows * cols), *v = mk<float>(rows);
    int *i = mk<int>(rows);
    rowArgmax<256><<<rows, 256>>>(m, i, v, cols);
    show("rowArgmax", i, rows * 4);
    show("rowArgmax", v, rows * 4);
    cudaFree(m);
  }
  {
    int rows = 20001, cols = 1000;
    float *m = mk<float>((size_t)rows * cols), *v = mk<float>(rows);
    logsumexp_rows<<<(rows + LSE_Y - 1) / LSE_Y, dim3(LSE_X, LSE_Y)>>>(m, v, rows, cols);
    show("logsumexp_rows", v, rows * 4);
    cudaFree(m);
  }
  {
    size_t nb = 2500, n = nb * 2048;
    unsigned *k = mk<unsigned>(n), *v = mk<unsigned>(n);
    bitonicPairs<<<nb, 1024>>>(k, v);
    show("bitonicPairs", k, n * 4);
    show("bitonicPairs", v, n * 4);
    cudaFree(k); cudaFree(v);
  }
  {
    unsigned groups = 150001;
    float *k = mk<float>((size_t)groups * 64);
    oddEvenMerge64<float><<<(groups + 3) / 4, dim3(32, 4)>>>(k, groups);
    show("oddEvenMerge64", k, (size_t)groups * 64 * 4);
    cudaFree(k);
  }
  {
    int m = 3000, n = 2777;
    double2 *a = (double2 *)mk<double>((size_t)m * n * 2), *b = (double2 *)mk<double>((size_t)m * n * 2);
    zgeConjTrans<<<dim3((n + TD - 1) / TD, (m + TD - 1) / TD), dim3(TD, TR)>>>(b, a, m, n);
    show("zgeConjTrans", b, (size_t)m * n * 16);
    cudaFree(a); cudaFree(b);
  }
  {
    size_t NX = 330, NY = 250, NZ = 300, n = NX * NY * NZ;
    float *a = mk<float>(n), *b = mk<float>(n);
    permute_zyx_xzy<<<dim3((NX + 15) / 16, (NY + 15) / 16, NZ), dim3(16, 16)>>>(a, b, NX, NY, NZ);
    show("permute_zyx_xzy", b, n * 4);
    cudaFree(a); cudaFree(b);
  }
  {
    int rows = 400, cols = 60000;
    float *x = mk<float>((size_t)rows * cols), *v = mk<float>(16 * (size_t)cols);
    int *w = mk<int>(16 * (size_t)cols);
    topk_columns<16><<<(cols + 127) / 128, 128>>>(x, v, w, rows, cols);
    show("topk_columns", v, 16 * (size_t)cols * 4);
    show("topk_columns", w, 16 * (size_t)cols * 4);
    cudaFree(x); cudaFree(v); cudaFree(w);
  }
  {
    size_t n = 40000001;
    int blk = 224, grid = 1056;
    double *x = mk<double>(n);
    double2 *p = (double2 *)mk<double>(2 * grid);
    nrm2_partial<<<grid, blk, 2 * blk * sizeof(double)>>>(x, p, n);
    show("nrm2_partial", p, grid * 16);
  }
  return 0;
}
