// all-pairs kernels: bodies, distances, clusters, neighbours, correlations
#include "shown.h"
#include <cfloat>

// ===== n-body, GPU Gems 3 chapter 31, with a final tile that may be partial =====
#define EPS2 0.01f
__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai)
{
  float3 r;
  // r_ij  [3 FLOPS]
  r.x = bj.x - bi.x;
  r.y = bj.y - bi.y;
  r.z = bj.z - bi.z;
  // distSqr = dot(r_ij, r_ij) + EPS^2  [6 FLOPS]
  float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + EPS2;
  // invDistCube =1/distSqr^(3/2)  [4 FLOPS (2 mul, 1 sqrt, 1 inv)]
  float distSixth = distSqr * distSqr * distSqr;
  float invDistCube = 1.0f/sqrtf(distSixth);
  // s = m_j * invDistCube [1 FLOP]
  float s = bj.w * invDistCube;
  // a_i =  a_i + s * r_ij [6 FLOPS]
  ai.x += r.x * s;
  ai.y += r.y * s;
  ai.z += r.z * s;
  return ai;
}

__device__ float3 tile_calculation(float4 myPosition, float3 accel)
{
  int i;
  extern __shared__ float4 shPosition[];
  for (i = 0; i < blockDim.x; i++) {
    accel = bodyBodyInteraction(myPosition, shPosition[i], accel);
  }
  return accel;
}

__global__ void calculate_forces(void *devX, void *devA, int N, int p)
{
  extern __shared__ float4 shPosition[];
  float4 *globalX = (float4 *)devX;
  float4 *globalA = (float4 *)devA;
  float4 myPosition;
  int i, tile;
  float3 acc = {0.0f, 0.0f, 0.0f};
  int gtid = blockIdx.x * blockDim.x + threadIdx.x;
  myPosition = globalX[gtid < N ? gtid : N - 1];
  for (i = 0, tile = 0; i < N; i += p, tile++) {
    int idx = tile * blockDim.x + threadIdx.x;
    shPosition[threadIdx.x] = idx < N ? globalX[idx] : make_float4(0.f, 0.f, 0.f, 0.f);
    __syncthreads();
    acc = tile_calculation(myPosition, acc);
    __syncthreads();
  }
  // Save the result in global memory for the integration step.
  float4 acc4 = {acc.x, acc.y, acc.z, 0.0f};
  if (gtid < N) globalA[gtid] = acc4;
}

// ===== squared distance matrix between two sets, 16x16 tiles over the feature dimension =====
template <typename T, int BS>
__global__ void pdist2(const T *__restrict__ A, const T *__restrict__ B, T *__restrict__ D, int na, int nb, int dim)
{
    __shared__ T As[BS][BS];
    __shared__ T Bs[BS][BS + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int ia = blockIdx.y * BS + ty;
    const int ib = blockIdx.x * BS + tx;
    const int lb = blockIdx.x * BS + ty;
    T ssd = 0;
    for (int k0 = 0; k0 < dim; k0 += BS) {
        const int k = k0 + tx;
        As[ty][tx] = (ia < na && k < dim) ? A[(size_t)ia * dim + k] : T(0);
        Bs[ty][tx] = (lb < nb && k < dim) ? B[(size_t)lb * dim + k] : T(0);
        __syncthreads();
#pragma unroll
        for (int q = 0; q < BS; q++) {
            T d = As[ty][q] - Bs[tx][q];
            ssd += d * d;
        }
        __syncthreads();
    }
    if (ia < na && ib < nb) D[(size_t)ia * nb + ib] = ssd;
}

// ===== k-means: assignment with the centroids in shared memory, counts by integer atomics =====
__global__ void kmeans_assign(const float *points, const float *centroids, int *label, int *members, float *dist, int n, int k, int d)
{
	extern __shared__ float cent[];           /* k*d floats and then k ints */
	int *cnt = (int *)(cent + k * d);

	for (int i = threadIdx.x; i < k * d; i += blockDim.x)
		cent[i] = centroids[i];
	for (int i = threadIdx.x; i < k; i += blockDim.x)
		cnt[i] = 0;
	__syncthreads();

	int tid = blockIdx.x * blockDim.x + threadIdx.x;
	if (tid < n) {
		float best = FLT_MAX;
		int   who = -1;
		for (int c = 0; c < k; c++) {
			float s = 0.f;
			for (int j = 0; j < d; j++) {
				float t = points[(size_t)j * n + tid] - cent[c * d + j];
				s += t * t;
			}
			if (s < best) { best = s; who = c; }
		}
		label[tid] = who;
		dist[tid] = best;
		atomicAdd(&cnt[who], 1);
	}
	__syncthreads();
	for (int i = threadIdx.x; i < k; i += blockDim.x)
		if (cnt[i]) atomicAdd(&members[i], cnt[i]);
}

// ===== k nearest neighbours: reference tile in shared memory, sorted candidate list private to the thread =====
template <int K>
struct Candidates {
  float d[K];
  int id[K];
  __device__ Candidates() {
    for (int i = 0; i < K; ++i) { d[i] = FLT_MAX; id[i] = -1; }
  }
  __device__ void offer(float dist, int who) {
    if (dist >= d[K - 1]) return;
    int p = K - 1;
    while (p > 0 && d[p - 1] > dist) {
      d[p] = d[p - 1];
      id[p] = id[p - 1];
      --p;
    }
    d[p] = dist;
    id[p] = who;
  }
};

template <int K, int TILE>
__global__ void knn_brute(const float3* ref, int nref, const float3* query, int nq, float* outd, int* outi) {
  __shared__ float3 r[TILE];
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  const float3 me = q < nq ? query[q] : make_float3(0, 0, 0);
  Candidates<K> best;
  for (int base = 0; base < nref; base += TILE) {
    const int m = min(TILE, nref - base);
    for (int i = threadIdx.x; i < m; i += blockDim.x) r[i] = ref[base + i];
    __syncthreads();
    for (int i = 0; i < m; ++i) {
      const float dx = r[i].x - me.x, dy = r[i].y - me.y, dz = r[i].z - me.z;
      best.offer(dx * dx + dy * dy + dz * dz, base + i);
    }
    __syncthreads();
  }
  if (q < nq)
    for (int i = 0; i < K; ++i) {
      outd[(size_t)i * nq + q] = sqrtf(best.d[i]);
      outi[(size_t)i * nq + q] = best.id[i];
    }
}

// ===== Pearson correlation of columns: five running sums over tiles of rows, lower triangle mirrored =====
#define TW 16
__global__ void CorrelationMatrix(const double* X, double* Corr, int rows, int cols)
{
    __shared__ double XI[TW][TW];
    __shared__ double XJ[TW][TW];
    if (blockIdx.x > blockIdx.y) return;      // whole block leaves
    int i = blockIdx.y * TW + threadIdx.y;
    int j = blockIdx.x * TW + threadIdx.x;
    double si = 0, sj = 0, sii = 0, sjj = 0, sij = 0;
    for (int r0 = 0; r0 < rows; r0 += TW)
    {
        int r = r0 + threadIdx.y;
        int ci = blockIdx.y * TW + threadIdx.x;
        XI[threadIdx.y][threadIdx.x] = (r < rows && ci < cols) ? X[(size_t)r * cols + ci] : 0.0;
        XJ[threadIdx.y][threadIdx.x] = (r < rows && j < cols) ? X[(size_t)r * cols + j] : 0.0;
        __syncthreads();
        for (int k = 0; k < TW; ++k)
        {
            double a = XI[k][threadIdx.y], b = XJ[k][threadIdx.x];
            si += a; sj += b; sii += a * a; sjj += b * b; sij += a * b;
        }
        __syncthreads();
    }
    if (i < cols && j <= i)
    {
        double num = rows * sij - si * sj;
        double den = sqrt((rows * sii - si * si) * (rows * sjj - sj * sj));
        double c = den > 0 ? num / den : 0.0;
        Corr[(size_t)i * cols + j] = c;
        if (i != j) Corr[(size_t)j * cols + i] = c;
    }
}

// ===== cosine similarity of embedding rows, one warp per pair in a strip, the anchor row in shared memory =====
namespace sim {
template <unsigned kDim, unsigned kWarps>
__global__ void cosine_to_anchors(const float4 *__restrict__ emb, const float4 *__restrict__ anchors, float *__restrict__ out, unsigned n, unsigned nAnchors)
{
    static_assert(kDim % 128 == 0, "");
    __shared__ float4 anchor[kDim / 4];
    __shared__ float anchorNorm;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned a = blockIdx.y;
    for (unsigned i = threadIdx.x; i < kDim / 4; i += kWarps * 32) anchor[i] = anchors[a * (kDim / 4) + i];
    __syncthreads();
    if (warp == 0) {
        float s = 0.f;
        for (unsigned i = lane; i < kDim / 4; i += 32) {
            float4 v = anchor[i];
            s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
        }
        for (unsigned o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
        if (lane == 0) anchorNorm = sqrtf(s);
    }
    __syncthreads();
    for (unsigned row = blockIdx.x * kWarps + warp; row < n; row += gridDim.x * kWarps) {
        float dot = 0.f, nn = 0.f;
        for (unsigned i = lane; i < kDim / 4; i += 32) {
            const float4 u = emb[(size_t)row * (kDim / 4) + i], v = anchor[i];
            dot += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
            nn += u.x * u.x + u.y * u.y + u.z * u.z + u.w * u.w;
        }
        for (unsigned o = 16; o; o /= 2) {
            dot += __shfl_xor_sync(~0u, dot, o);
            nn += __shfl_xor_sync(~0u, nn, o);
        }
        if (lane == 0) out[(size_t)a * n + row] = dot / fmaxf(anchorNorm * sqrtf(nn), 1e-8f);
    }
}
}

static float *uni(size_t n, unsigned s)
{
    float *h = (float *)malloc(n * 4), *d;
    for (size_t i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; h[i] = (float)(s >> 8) / 16777216.f; }
    cudaMalloc(&d, n * 4);
    cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    {
        int N = 15000, p = 128;
        float *x = uni(4 * N, 1), *a = mk<float>(4 * N);
        calculate_forces<<<(N + p - 1) / p, p, p * sizeof(float4)>>>(x, a, N, p);
        show("calculate_forces", a, 16 * N);
    }
    {
        int na = 3000, nb = 2500, dim = 100;
        float *A = uni(na * dim, 2), *B = uni(nb * dim, 3), *D = mk<float>((size_t)na * nb);
        pdist2<float, 16><<<dim3((nb + 15) / 16, (na + 15) / 16), dim3(16, 16)>>>(A, B, D, na, nb, dim);
        show("pdist2<float,16>", D, (size_t)na * nb * 4);
        int nd = 2000;
        double *dA = mk<double>(nd * 70), *dB = mk<double>(nd * 70), *dD = mk<double>((size_t)nd * nd);
        pdist2<double, 32><<<dim3((nd + 31) / 32, (nd + 31) / 32), dim3(32, 32)>>>(dA, dB, dD, nd, nd, 70);
        show("pdist2<double,32>", dD, (size_t)nd * nd * 8);
    }
    {
        int n = 2000000, k = 24, d = 5;
        float *p = uni((size_t)n * d, 4), *c = uni(k * d, 5), *dist = mk<float>(n);
        int *l = mk<int>(n), *m;
        cudaMalloc(&m, k * 4);
        cudaMemset(m, 0, k * 4);
        kmeans_assign<<<(n + 255) / 256, 256, k * d * sizeof(float) + k * sizeof(int)>>>(p, c, l, m, dist, n, k, d);
        show("kmeans_assign.label", l, n * 4);
        show("kmeans_assign.members", m, k * 4);
        show("kmeans_assign.dist", dist, n * 4);
    }
    {
        int nr = 3000, nq = 60000;
        float3 *r = (float3 *)uni(3 * nr, 6), *q = (float3 *)uni(3 * nq, 7);
        float *od = mk<float>(8 * nq);
        int *oi = mk<int>(8 * nq);
        knn_brute<8, 256><<<(nq + 127) / 128, 128>>>(r, nr, q, nq, od, oi);
        show("knn_brute<8,256>.d", od, 8 * nq * 4);
        show("knn_brute<8,256>.i", oi, 8 * nq * 4);
        knn_brute<3, 500><<<(nq + 255) / 256, 256>>>(r, nr, q, nq, od, oi);
        show("knn_brute<3,500>.d", od, 3 * nq * 4);
        show("knn_brute<3,500>.i", oi, 3 * nq * 4);
    }
    {
        int rows = 500, cols = 1490;
        double *X, *C = mk<double>((size_t)cols * cols);
        double *h = (double *)malloc((size_t)rows * cols * 8);
        unsigned s = 11;
        for (int i = 0; i < rows * cols; i++) { s = s * 1664525u + 1013904223u; h[i] = (double)(s >> 8) / 16777216.0; }
        cudaMalloc(&X, (size_t)rows * cols * 8);
        cudaMemcpy(X, h, (size_t)rows * cols * 8, cudaMemcpyHostToDevice);
        free(h);
        CorrelationMatrix<<<dim3((cols + TW - 1) / TW, (cols + TW - 1) / TW), dim3(TW, TW)>>>(X, C, rows, cols);
        show("CorrelationMatrix", C, (size_t)cols * cols * 8);
    }
    {
        unsigned n = 100000, na = 6;
        float *e = uni((size_t)n * 256, 8), *a = uni(na * 256, 9), *o = mk<float>(n * na);
        sim::cosine_to_anchors<256, 8><<<dim3(500, na), 256>>>((const float4 *)e, (const float4 *)a, o, n, na);
        show("cosine_to_anchors<256,8>", o, n * na * 4);
    }
    return 0;
}
