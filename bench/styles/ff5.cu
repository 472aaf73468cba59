// tiled products and all-pairs
#include "shown.h"
#include <cuda_fp16.h>
#include <cmath>

#define TILE_WIDTH 16
#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

/* 1. guarded textbook product, rectangular */
__global__ void MatrixMulGuarded(float *M, float *N, float *P, int numMRows, int numMCols, int numNCols) {
  __shared__ float ds_M[TILE_WIDTH][TILE_WIDTH];
  __shared__ float ds_N[TILE_WIDTH][TILE_WIDTH];
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int Row = by * TILE_WIDTH + ty, Col = bx * TILE_WIDTH + tx;
  float Pvalue = 0;
  for (int m = 0; m < (numMCols - 1) / TILE_WIDTH + 1; ++m) {
    if (Row < numMRows && m * TILE_WIDTH + tx < numMCols)
      ds_M[ty][tx] = M[Row * numMCols + m * TILE_WIDTH + tx];
    else
      ds_M[ty][tx] = 0;
    if (Col < numNCols && m * TILE_WIDTH + ty < numMCols)
      ds_N[ty][tx] = N[(m * TILE_WIDTH + ty) * numNCols + Col];
    else
      ds_N[ty][tx] = 0;
    __syncthreads();
    for (int k = 0; k < TILE_WIDTH; ++k) Pvalue += ds_M[ty][k] * ds_N[k][tx];
    __syncthreads();
  }
  if (Row < numMRows && Col < numNCols) P[Row * numNCols + Col] = Pvalue;
}

/* 2. 2-D register blocking, A transposed in shared, float4 loads, aligned sizes */
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1) sgemmVectorize(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  __shared__ float As[BK * BM];
  __shared__ float Bs[BK * BN];
  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);
  A += (size_t)blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += (size_t)blockIdx.y * BM * N + blockIdx.x * BN;
  const uint innerRowA = threadIdx.x / (BK / 4), innerColA = threadIdx.x % (BK / 4);
  const uint innerRowB = threadIdx.x / (BN / 4), innerColB = threadIdx.x % (BN / 4);
  float threadResults[TM * TN] = {0.0f};
  float regM[TM], regN[TN];
  for (uint bk = 0; bk < K; bk += BK) {
    float4 tmp = reinterpret_cast<const float4 *>(&A[innerRowA * K + innerColA * 4])[0];
    As[(innerColA * 4 + 0) * BM + innerRowA] = tmp.x;
    As[(innerColA * 4 + 1) * BM + innerRowA] = tmp.y;
    As[(innerColA * 4 + 2) * BM + innerRowA] = tmp.z;
    As[(innerColA * 4 + 3) * BM + innerRowA] = tmp.w;
    reinterpret_cast<float4 *>(&Bs[innerRowB * BN + innerColB * 4])[0] = reinterpret_cast<const float4 *>(&B[innerRowB * N + innerColB * 4])[0];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (uint dot = 0; dot < BK; ++dot) {
      for (uint i = 0; i < TM; ++i) regM[i] = As[dot * BM + threadRow * TM + i];
      for (uint i = 0; i < TN; ++i) regN[i] = Bs[dot * BN + threadCol * TN + i];
      for (uint m = 0; m < TM; ++m)
        for (uint n = 0; n < TN; ++n) threadResults[m * TN + n] += regM[m] * regN[n];
    }
    __syncthreads();
  }
  for (uint m = 0; m < TM; m += 1)
    for (uint n = 0; n < TN; n += 4) {
      float4 *pc = reinterpret_cast<float4 *>(&C[(threadRow * TM + m) * N + threadCol * TN + n]);
      float4 tmp = *pc;
      tmp.x = alpha * threadResults[m * TN + n] + beta * tmp.x;
      tmp.y = alpha * threadResults[m * TN + n + 1] + beta * tmp.y;
      tmp.z = alpha * threadResults[m * TN + n + 2] + beta * tmp.z;
      tmp.w = alpha * threadResults[m * TN + n + 3] + beta * tmp.w;
      *pc = tmp;
    }
}

/* 3. batched small double products, whole matrices in dynamic shared memory */
__global__ void dgemm_batched_small(const double *const __restrict__ a, const double *const __restrict__ b, double *__restrict__ c, const int n) {
  extern __shared__ double smem[];
  double *sA = smem;
  double *sB = smem + n * n;
  const size_t off = (size_t)blockIdx.x * n * n;
  for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < n * n; k += blockDim.x * blockDim.y) {
    sA[k] = a[off + k];
    sB[k] = b[off + k];
  }
  __syncthreads();
  for (int i = threadIdx.y; i < n; i += blockDim.y)
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
      double s = 0;
      for (int k = 0; k < n; k++) s = fma(sA[i * n + k], sB[k * n + j], s);
      c[off + i * n + j] = s;
    }
}

/* 4. pairwise squared distances of points (rows) with 2 outputs a thread along y */
struct PairTile {
  static constexpr int B = 32;
  float q[B][B + 1], r[B][B + 1];
};
__global__ void pairwiseL2(const float *__restrict__ Q, const float *__restrict__ R, float *__restrict__ D, int nq, int nr, int dim) {
  __shared__ PairTile t;
  const int B = PairTile::B;
  const int q0 = blockIdx.y * B, r0 = blockIdx.x * B;
  const int x = threadIdx.x, y = threadIdx.y;  // 32 x 16
  float d0 = 0.f, d1 = 0.f;
  for (int k0 = 0; k0 < dim; k0 += B) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int row = y + 16 * h;
      t.q[row][x] = (q0 + row < nq && k0 + x < dim) ? Q[(size_t)(q0 + row) * dim + k0 + x] : 0.f;
      t.r[row][x] = (r0 + row < nr && k0 + x < dim) ? R[(size_t)(r0 + row) * dim + k0 + x] : 0.f;
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < B; ++k) {
      float rv = t.r[x][k];
      float e0 = t.q[y][k] - rv, e1 = t.q[y + 16][k] - rv;
      d0 += e0 * e0;
      d1 += e1 * e1;
    }
    __syncthreads();
  }
  if (r0 + x >= nr) return;
  if (q0 + y < nq) D[(size_t)(q0 + y) * nr + r0 + x] = d0;
  if (q0 + y + 16 < nq) D[(size_t)(q0 + y + 16) * nr + r0 + x] = d1;
}

/* 5. k-means assignment, centroids staged in chunks */
#define KM_CHUNK 64
template <int DIM>
__global__ void kmeansAssign(const float *__restrict__ pts, const float *__restrict__ cent, int *__restrict__ label, float *__restrict__ best, int npts, int k) {
  __shared__ float sc[KM_CHUNK * DIM];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float p[DIM];
#pragma unroll
  for (int d = 0; d < DIM; d++) p[d] = i < npts ? pts[(size_t)d * npts + i] : 0.f;
  float bd = 3.4e38f;
  int bl = -1;
  for (int c0 = 0; c0 < k; c0 += KM_CHUNK) {
    int m = min(KM_CHUNK, k - c0);
    __syncthreads();
    for (int j = threadIdx.x; j < m * DIM; j += blockDim.x) sc[j] = cent[c0 * DIM + j];
    __syncthreads();
    for (int c = 0; c < m; c++) {
      float s = 0.f;
#pragma unroll
      for (int d = 0; d < DIM; d++) {
        float e = p[d] - sc[c * DIM + d];
        s += e * e;
      }
      if (s < bd) { bd = s; bl = c0 + c; }
    }
  }
  if (i < npts) {
    label[i] = bl;
    best[i] = bd;
  }
}

/* 6. n-body, float4 bodies */
__device__ float3 bodyBodyInteraction(float3 ai, float4 bi, float4 bj, float eps2) {
  float3 r;
  r.x = bj.x - bi.x;
  r.y = bj.y - bi.y;
  r.z = bj.z - bi.z;
  float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + eps2;
  float invDist = rsqrtf(distSqr);
  float s = bj.w * invDist * invDist * invDist;
  ai.x += r.x * s;
  ai.y += r.y * s;
  ai.z += r.z * s;
  return ai;
}
__global__ void integrateBodies(float4 *newPos, float4 *vel, const float4 *oldPos, unsigned n, float dt, float damping, float eps2) {
  extern __shared__ float4 sharedPos[];
  unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
  float4 pos = index < n ? oldPos[index] : make_float4(0, 0, 0, 0);
  float3 acc = {0.f, 0.f, 0.f};
  for (unsigned tile = 0; tile < n; tile += blockDim.x) {
    unsigned j = tile + threadIdx.x;
    sharedPos[threadIdx.x] = j < n ? oldPos[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 4
    for (unsigned c = 0; c < blockDim.x; c++) acc = bodyBodyInteraction(acc, pos, sharedPos[c], eps2);
    __syncthreads();
  }
  if (index >= n) return;
  float4 v = vel[index];
  v.x = (v.x + acc.x * dt) * damping;
  v.y = (v.y + acc.y * dt) * damping;
  v.z = (v.z + acc.z * dt) * damping;
  pos.x += v.x * dt;
  pos.y += v.y * dt;
  pos.z += v.z * dt;
  newPos[index] = pos;
  vel[index] = v;
}

/* 7. C = A^T B in half with float accumulators, guarded */
__global__ void hgemmTN(const __half *A, const __half *B, __half *C, int m, int n, int k) {
  constexpr int T = 32;
  __shared__ __half sa[T][T + 2];
  __shared__ __half sb[T][T + 2];
  int col = blockIdx.x * T + threadIdx.x;
  int rowBase = blockIdx.y * T;
  float acc[4] = {};
  for (int kk = 0; kk < k; kk += T) {
    for (int r = threadIdx.y; r < T; r += 8) {
      bool kin = kk + r < k;
      sa[r][threadIdx.x] = kin && rowBase + threadIdx.x < m ? A[(size_t)(kk + r) * m + rowBase + threadIdx.x] : __float2half(0.f);
      sb[r][threadIdx.x] = kin && col < n ? B[(size_t)(kk + r) * n + col] : __float2half(0.f);
    }
    __syncthreads();
    for (int q = 0; q < T; q++) {
      float b = __half2float(sb[q][threadIdx.x]);
#pragma unroll
      for (int i = 0; i < 4; i++) acc[i] = fmaf(__half2float(sa[q][threadIdx.y + 8 * i]), b, acc[i]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++) {
    int row = rowBase + threadIdx.y + 8 * i;
    if (row < m && col < n) C[(size_t)row * n + col] = __float2half(acc[i] * 0.001f);
  }
}

/* 8. causal attention scores for a (batch*head), Q rows in registers of the tile */
class AttnScores {
  int seq, heads;
 public:
  static const int HD = 64;
  AttnScores(int s, int h) : seq(s), heads(h) {}
  void operator()(const float *q, const float *k, float *s) const;
};
__global__ void attn_scores_causal(const float *q, const float *k, float *s, int seq, float scale) {
  __shared__ float Qs[16][AttnScores::HD];
  __shared__ float Ks[16][AttnScores::HD + 1];
  int head = blockIdx.z;
  int qi = blockIdx.y * 16 + threadIdx.y;
  int kj = blockIdx.x * 16 + threadIdx.x;
  size_t outIdx = ((size_t)head * seq + qi) * seq + kj;
  if (blockIdx.x > blockIdx.y) {  // wholly masked
    if (qi < seq && kj < seq) s[outIdx] = -1e30f;
    return;
  }
  const float *qh = q + (size_t)head * seq * AttnScores::HD, *kh = k + (size_t)head * seq * AttnScores::HD;
  int kr = blockIdx.x * 16 + threadIdx.y;
  for (int d = threadIdx.x; d < AttnScores::HD; d += 16) {
    Qs[threadIdx.y][d] = qi < seq ? qh[(size_t)qi * AttnScores::HD + d] : 0.f;
    Ks[threadIdx.y][d] = kr < seq ? kh[(size_t)kr * AttnScores::HD + d] : 0.f;
  }
  __syncthreads();
  if (qi >= seq || kj >= seq) return;
  float a = 0.f;
#pragma unroll
  for (int d = 0; d < AttnScores::HD; ++d) a += Qs[threadIdx.y][d] * Ks[threadIdx.x][d];
  s[outIdx] = kj <= qi ? a * scale : -1e30f;
}
void AttnScores::operator()(const float *q, const float *k, float *s) const {
  dim3 g(CEIL_DIV(seq, 16), CEIL_DIV(seq, 16), heads);
  attn_scores_causal<<<g, dim3(16, 16)>>>(q, k, s, seq, rsqrtf((float)HD));
}

static __half *mkhalf(size_t n) {
  __half *h = (__half *)malloc(n * 2), *d;
  for (size_t i = 0; i < n; i++) h[i] = __float2half((float)((i * 7919u) % 101) / 8.f);
  cudaMalloc(&d, n * 2);
  cudaMemcpy(d, h, n * 2, cudaMemcpyHostToDevice);
  free(h);
  return d;
}

int main() {
  {
    int m = 1001, k = 777, n = 1203;
    float *A = mk<float>(m * k), *B = mk<float>(k * n), *C = mk<float>(m * n);
    dim3 dimGrid((n - 1) / TILE_WIDTH + 1, (m - 1) / TILE_WIDTH + 1), dimBlock(TILE_WIDTH, TILE_WIDTH);
    MatrixMulGuarded<<<dimGrid, dimBlock>>>(A, B, C, m, k, n);
    show("MatrixMulGuarded", C, (size_t)m * n * 4);
  }
  {
    const int M = 2048, N = 2048, K = 1024;
    float *A = mk<float>(M * K), *B = mk<float>(K * N), *C = mk<float>(M * N);
    sgemmVectorize<128, 128, 8, 8, 8><<<dim3(CEIL_DIV(N, 128), CEIL_DIV(M, 128)), 256>>>(M, N, K, 0.5f, A, B, 2.f, C);
    show("sgemmVectorize", C, (size_t)M * N * 4);
  }
  {
    int n = 20, batch = 20011;
    double *a = mk<double>((size_t)batch * n * n), *b = mk<double>((size_t)batch * n * n), *c = mk<double>((size_t)batch * n * n);
    dgemm_batched_small<<<batch, dim3(16, 8), 2 * n * n * sizeof(double)>>>(a, b, c, n);
    show("dgemm_batched_small", c, (size_t)batch * n * n * 8);
    cudaFree(a); cudaFree(b); cudaFree(c);
  }
  {
    int nq = 3001, nr = 4007, dim = 70;
    float *Q = mk<float>(nq * dim), *R = mk<float>(nr * dim), *D = mk<float>((size_t)nq * nr);
    pairwiseL2<<<dim3((nr + 31) / 32, (nq + 31) / 32), dim3(32, 16)>>>(Q, R, D, nq, nr, dim);
    show("pairwiseL2", D, (size_t)nq * nr * 4);
    cudaFree(D);
  }
  {
    int n = 1000003, k = 150;
    float *p = mk<float>((size_t)n * 12), *c = mk<float>(k * 12), *b = mk<float>(n);
    int *l = mk<int>(n);
    kmeansAssign<12><<<(n + 255) / 256, 256>>>(p, c, l, b, n, k);
    show("kmeansAssign", b, (size_t)n * 4);
    cudaFree(p);
  }
  {
    unsigned n = 30001, bs = 128;
    float4 *o = (float4 *)mk<float>(n * 4), *v = (float4 *)mk<float>(n * 4), *p = (float4 *)mk<float>(n * 4);
    integrateBodies<<<(n + bs - 1) / bs, bs, bs * sizeof(float4)>>>(p, v, o, n, 0.001f, 0.99f, 0.01f);
    show("integrateBodies", p, (size_t)n * 16);
  }
  {
    int m = 1100, n = 1300, k = 555;
    __half *A = mkhalf((size_t)m * k), *B = mkhalf((size_t)n * k), *C = mkhalf((size_t)m * n);
    hgemmTN<<<dim3((n + 31) / 32, (m + 31) / 32), dim3(32, 8)>>>(A, B, C, m, n, k);
    show("hgemmTN", C, (size_t)m * n * 2);
  }
  {
    int seq = 1021, heads = 24;
    float *q = mk<float>((size_t)seq * heads * 64), *k = mk<float>((size_t)seq * heads * 64), *s = mk<float>((size_t)seq * seq * heads);
    AttnScores run(seq, heads);
    run(q, k, s);
    show("attn_scores_causal", s, (size_t)seq * seq * heads * 4);
  }
  return 0;
}
