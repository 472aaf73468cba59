#include "shown.h"
// classic machine learning on the GPU

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

template <int DIM, int K>
__global__ void kmeans_assign(const float *__restrict__ pts, const float *__restrict__ cent, int *__restrict__ assign, int n) {
  __shared__ float c_s[K * DIM];
  for (int i = threadIdx.x; i < K * DIM; i += blockDim.x) c_s[i] = cent[i];
  __syncthreads();
  for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < n; p += gridDim.x * blockDim.x) {
    float x[DIM];
#pragma unroll
    for (int d = 0; d < DIM; d++) x[d] = pts[d * n + p];
    float best = 3.4e38f;
    int arg = -1;
    for (int k = 0; k < K; k++) {
      float acc = 0.f;
#pragma unroll
      for (int d = 0; d < DIM; d++) {
        float t = x[d] - c_s[k * DIM + d];
        acc = fmaf(t, t, acc);
      }
      if (acc < best) { best = acc; arg = k; }
    }
    assign[p] = arg;
  }
}

// fixed point accumulation, so that the result does not depend on the order
__global__ void kmeans_update(const float *pts, const int *assign, unsigned int *sums, unsigned int *counts, int n, int dim) {
  __shared__ unsigned int ls[64];
  __shared__ unsigned int lc[64];
  if (threadIdx.x < 64) ls[threadIdx.x] = lc[threadIdx.x] = 0;
  __syncthreads();
  int d = blockIdx.y;
  for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < n; p += gridDim.x * blockDim.x) {
    int a = assign[p] & 63;
    atomicAdd(&ls[a], (unsigned int)(pts[d * n + p] * 8.0f));
    if (d == 0) atomicAdd(&lc[a], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 64) {
    atomicAdd(&sums[d * 64 + threadIdx.x], ls[threadIdx.x]);
    if (d == 0) atomicAdd(&counts[threadIdx.x], lc[threadIdx.x]);
  }
}

// squared euclidean distances between two sets, column-major points
__global__ void cuComputeDistance(float *A, int wA, float *B, int wB, int dim, float *AB) {
  const int BLOCK_DIM = 16;
  __shared__ float shared_A[BLOCK_DIM][BLOCK_DIM];
  __shared__ float shared_B[BLOCK_DIM][BLOCK_DIM];
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int begin_A = BLOCK_DIM * blockIdx.y;
  int begin_B = BLOCK_DIM * blockIdx.x;
  int step_A = BLOCK_DIM * wA;
  int step_B = BLOCK_DIM * wB;
  int end_A = begin_A + (dim - 1) * wA;
  float ssd = 0;
  int cond0 = (begin_A + tx < wA);
  int cond1 = (begin_B + tx < wB);
  int cond2 = (begin_A + ty < wA);
  for (int a = begin_A, b = begin_B; a <= end_A; a += step_A, b += step_B) {
    if (a / wA + ty < dim) {
      shared_A[ty][tx] = (cond0) ? A[a + wA * ty + tx] : 0;
      shared_B[ty][tx] = (cond1) ? B[b + wB * ty + tx] : 0;
    } else {
      shared_A[ty][tx] = 0;
      shared_B[ty][tx] = 0;
    }
    __syncthreads();
    if (cond2 && cond1) {
      for (int k = 0; k < BLOCK_DIM; ++k) {
        float tmp = shared_A[k][ty] - shared_B[k][tx];
        ssd += tmp * tmp;
      }
    }
    __syncthreads();
  }
  if (cond2 && cond1) AB[(begin_A + ty) * wB + begin_B + tx] = ssd;
}

// brute force k nearest neighbours with a private sorted list
struct Cand { float d; int id; };
template <int KNN>
__global__ void knn_private(const float4 *ref, int nref, const float4 *qry, int nq, int *ids, float *ds) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= nq) return;
  Cand list[KNN];
  for (int i = 0; i < KNN; ++i) { list[i].d = 1e30f; list[i].id = -1; }
  float4 me = qry[q];
  for (int r = 0; r < nref; ++r) {
    float4 p = ref[r];
    float dx = p.x - me.x, dy = p.y - me.y, dz = p.z - me.z, dw = p.w - me.w;
    float d = dx * dx + dy * dy + dz * dz + dw * dw;
    if (d < list[KNN - 1].d) {
      int j = KNN - 1;
      for (; j > 0 && list[j - 1].d > d; --j) list[j] = list[j - 1];
      list[j].d = d;
      list[j].id = r;
    }
  }
  for (int i = 0; i < KNN; ++i) {
    ids[i * nq + q] = list[i].id;
    ds[i * nq + q] = sqrtf(list[i].d);
  }
}

// RBF gram matrix, float4 along the features, 32x32 tile by 32x8 threads
__global__ void rbfGram(const float *X, float *G, int n, int dim, float gamma) {
  __shared__ float xi[32][33];
  __shared__ float xj[32][33];
  float acc[4] = {0.f, 0.f, 0.f, 0.f};
  int jb = blockIdx.x * 32, ib = blockIdx.y * 32;
  for (int f = 0; f < dim; f += 32) {
    for (int r = threadIdx.y; r < 32; r += 8) {
      bool fin = f + threadIdx.x < dim;
      xi[r][threadIdx.x] = fin && ib + r < n ? X[(ib + r) * dim + f + threadIdx.x] : 0.f;
      xj[r][threadIdx.x] = fin && jb + r < n ? X[(jb + r) * dim + f + threadIdx.x] : 0.f;
    }
    __syncthreads();
    for (int k = 0; k < 32; ++k) {
      float b = xj[threadIdx.x][k];
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        float t = xi[threadIdx.y + 8 * m][k] - b;
        acc[m] += t * t;
      }
    }
    __syncthreads();
  }
  int j = jb + threadIdx.x;
#pragma unroll
  for (int m = 0; m < 4; ++m) {
    int i = ib + threadIdx.y + 8 * m;
    if (i < n && j < n) G[(size_t)i * n + j] = __expf(-gamma * acc[m]);
  }
}

int main() {
  const int n = 1 << 20, D = 16, K = 64;
  float *pts = mk<float>(n * D), *out;
  int *asg;
  unsigned int *sums;
  cudaMalloc(&asg, n * sizeof(int));
  cudaMalloc(&sums, 64 * 17 * sizeof(unsigned int));
  cudaMemset(sums, 0, 64 * 17 * sizeof(unsigned int));
  cudaMalloc(&out, sizeof(float) << 24);
  kmeans_assign<D, K><<<1024, 256>>>(pts, pts + 5, asg, n);
  show("kmeans_assign", asg, n * sizeof(int));
  kmeans_update<<<dim3(128, D), 256>>>(pts, asg, sums, sums + 64 * 16, n, D);
  show("kmeans_update", sums, 64 * 17 * sizeof(unsigned int));
  cuComputeDistance<<<dim3(CEIL_DIV(3000, 16), CEIL_DIV(2005, 16)), dim3(16, 16)>>>(pts, 2005, pts + 300000, 3000, 100, out);
  show("cuComputeDistance", out, sizeof(float) * 3000 * 2005);
  knn_private<12><<<CEIL_DIV(100000, 128), 128>>>((float4 *)pts, 600, (float4 *)(pts + 40000), 100000, (int *)out, out + 1200000);
  show("knn_private", out, sizeof(float) * 2400000);
  rbfGram<<<dim3(CEIL_DIV(2500, 32), CEIL_DIV(2500, 32)), dim3(32, 8)>>>(pts, out, 2500, 50, 1e-3f);
  show("rbfGram", out, sizeof(float) * 2500 * 2500);
}
