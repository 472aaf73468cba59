#include "shown.h"
#include <math.h>

// n-body, SDK style
#define EPS2 0.0025f
__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai) {
  float3 r;
  r.x = bj.x - bi.x; r.y = bj.y - bi.y; r.z = bj.z - bi.z;
  float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + EPS2;
  float invDist = rsqrtf(distSqr);
  float invDistCube = invDist * invDist * invDist;
  float s = bj.w * invDistCube;
  ai.x += r.x * s; ai.y += r.y * s; ai.z += r.z * s;
  return ai;
}
__global__ void calculate_forces(void *devX, void *devA, int N, int p) {
  extern __shared__ float4 shPosition[];
  float4 *globalX = (float4 *)devX;
  float4 *globalA = (float4 *)devA;
  float4 myPosition;
  int i, tile;
  float3 acc = {0.0f, 0.0f, 0.0f};
  int gtid = blockIdx.x * blockDim.x + threadIdx.x;
  myPosition = globalX[gtid];
  for (i = 0, tile = 0; i < N; i += p, tile++) {
    int idx = tile * blockDim.x + threadIdx.x;
    shPosition[threadIdx.x] = globalX[idx];
    __syncthreads();
    for (int j = 0; j < blockDim.x; j++) acc = bodyBodyInteraction(myPosition, shPosition[j], acc);
    __syncthreads();
  }
  float4 acc4 = {acc.x, acc.y, acc.z, 0.0f};
  globalA[gtid] = acc4;
}

// mini-nbody, guarded tail with struct
struct Body { float x, y, z, vx, vy, vz; };
#define NB_BLOCK 128
__global__ void bodyForceTail(Body *p, float dt, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  float Fx = 0.0f, Fy = 0.0f, Fz = 0.0f;
  Body me = i < n ? p[i] : Body{0, 0, 0, 0, 0, 0};
  for (int tile = 0; tile < (n + NB_BLOCK - 1) / NB_BLOCK; tile++) {
    __shared__ float3 spos[NB_BLOCK];
    int src = tile * NB_BLOCK + threadIdx.x;
    spos[threadIdx.x] = src < n ? make_float3(p[src].x, p[src].y, p[src].z) : make_float3(1e8f, 1e8f, 1e8f);
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < NB_BLOCK; j++) {
      float dx = spos[j].x - me.x;
      float dy = spos[j].y - me.y;
      float dz = spos[j].z - me.z;
      float d2 = dx * dx + dy * dy + dz * dz + 1e-3f;
      float inv = rsqrtf(d2);
      float inv3 = inv * inv * inv;
      Fx += dx * inv3; Fy += dy * inv3; Fz += dz * inv3;
    }
    __syncthreads();
  }
  if (i < n) { p[i].vx = me.vx + dt * Fx; p[i].vy = me.vy + dt * Fy; p[i].vz = me.vz + dt * Fz; }
}

// k-means assignment, centroids in dynamic shared
__global__ void kmeansAssign(const float *__restrict__ points, const float *__restrict__ centroids, int *membership, int numObjs, int numCoords, int numClusters) {
  extern __shared__ float clusters[];
  for (int i = threadIdx.x; i < numClusters * numCoords; i += blockDim.x) clusters[i] = centroids[i];
  __syncthreads();
  int objectId = blockDim.x * blockIdx.x + threadIdx.x;
  if (objectId < numObjs) {
    int index = 0;
    float min_dist = 3.4e38f;
    for (int i = 0; i < numClusters; i++) {
      float ans = 0;
      for (int k = 0; k < numCoords; k++) {
        float diff = points[numObjs * k + objectId] - clusters[numCoords * i + k];
        ans += diff * diff;
      }
      if (ans < min_dist) { min_dist = ans; index = i; }
    }
    membership[objectId] = index;
  }
}

// KNN: distance matrix with tiles (Garcia)
#define BLOCK_DIM 16
__global__ void cuComputeDistanceGlobal(float *A, int wA, int pA, float *B, int wB, int pB, int dim, float *AB) {
  __shared__ float shared_A[BLOCK_DIM][BLOCK_DIM];
  __shared__ float shared_B[BLOCK_DIM][BLOCK_DIM];
  __shared__ int begin_A;
  __shared__ int begin_B;
  __shared__ int step_A;
  __shared__ int step_B;
  __shared__ int end_A;
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  float tmp;
  float ssd = 0;
  if (tx == 0 && ty == 0) {
    begin_A = BLOCK_DIM * blockIdx.y;
    begin_B = BLOCK_DIM * blockIdx.x;
    step_A = BLOCK_DIM * pA;
    step_B = BLOCK_DIM * pB;
    end_A = begin_A + (dim - 1) * pA;
  }
  __syncthreads();
  int cond0 = (begin_A + tx < wA);
  int cond1 = (begin_B + tx < wB);
  int cond2 = (begin_A + ty < wA);
  for (int a = begin_A, b = begin_B; a <= end_A; a += step_A, b += step_B) {
    if (a / pA + ty < dim) {
      shared_A[ty][tx] = (cond0) ? A[a + pA * ty + tx] : 0;
      shared_B[ty][tx] = (cond1) ? B[b + pB * ty + tx] : 0;
    } else {
      shared_A[ty][tx] = 0;
      shared_B[ty][tx] = 0;
    }
    __syncthreads();
    if (cond2 && cond1) {
      for (int k = 0; k < BLOCK_DIM; ++k) {
        tmp = shared_A[k][ty] - shared_B[k][tx];
        ssd += tmp * tmp;
      }
    }
    __syncthreads();
  }
  if (cond2 && cond1) AB[(begin_A + ty) * pB + begin_B + tx] = ssd;
}

// template matching (NCC numerator) with 1-D signal and template in shared
template <typename Real, int TPL>
__global__ void slidingCorrelation(const Real *signal, const Real *tpl, Real *out, int n) {
  __shared__ Real sig[256 + TPL - 1];
  __shared__ Real t[TPL];
  int start = blockIdx.x * 256;
  for (int i = threadIdx.x; i < 256 + TPL - 1; i += 256) {
    int g = start + i;
    sig[i] = g < n ? signal[g] : Real(0);
  }
  if (threadIdx.x < TPL) t[threadIdx.x] = tpl[threadIdx.x];
  __syncthreads();
  Real dot = 0, e = 0;
  for (int k = 0; k < TPL; k++) {
    Real v = sig[threadIdx.x + k];
    dot += v * t[k];
    e += v * v;
  }
  int o = start + threadIdx.x;
  if (o <= n - TPL) out[o] = dot / sqrt(e + Real(1e-6));
}

int main() {
  {
    int N = 8192, p = 256;
    float *x = mk<float>(N * 4), *a = mk<float>(N * 4);
    calculate_forces<<<N / p, p, p * sizeof(float4)>>>(x, a, N, p);
    show("calculate_forces", a, N * 16);
  }
  {
    int n = 5003;
    Body *b = (Body *)mk<float>(n * 6);
    for (int it = 0; it < 2; it++) bodyForceTail<<<(n + NB_BLOCK - 1) / NB_BLOCK, NB_BLOCK>>>(b, 0.01f, n);
    show("bodyForceTail", b, n * sizeof(Body));
  }
  {
    int n = 494020, nc = 34, k = 5;
    float *p = mk<float>((size_t)n * nc), *c = mk<float>(k * nc);
    int *m = mk<int>(n);
    kmeansAssign<<<(n + 127) / 128, 128, k * nc * sizeof(float)>>>(p, c, m, n, nc, k);
    show("kmeansAssign", m, n * 4);
  }
  {
    int wA = 2000, wB = 1001, dim = 100, pA = 2048, pB = 1024;
    float *A = mk<float>(pA * dim), *B = mk<float>(pB * dim), *AB = mk<float>(wA * pB);
    cuComputeDistanceGlobal<<<dim3((wB + 15) / 16, (wA + 15) / 16), dim3(16, 16)>>>(A, wA, pA, B, wB, pB, dim, AB);
    show("cuComputeDistanceGlobal", AB, wA * pB * 4);
  }
  {
    int n = 1000003;
    double *s = mk<double>(n), *t = mk<double>(97), *o = mk<double>(n);
    slidingCorrelation<double, 97><<<(n + 255) / 256, 256>>>(s, t, o, n);
    show("slidingCorrelation", o, n * 8);
  }
}
