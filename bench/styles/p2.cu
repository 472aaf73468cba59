// relatives of matrix products
#include <cstdio>
#include <cstdlib>
#include <cfloat>
#include <cmath>
#include <cuda_runtime.h>
#define CUDA_CHECK(c) do { cudaError_t s_ = c; if (s_ != cudaSuccess) { fprintf(stderr, "%s failed: %s\n", #c, cudaGetErrorString(s_)); exit(1); } } while (0)

// 1. pairwise squared distances, tile of features
#define BD 16
__global__ void pairwiseDist(const float *X, const float *Y, float *D, int n, int m, int dim) {
  __shared__ float xs[BD][BD], ys[BD][BD];
  int i = blockIdx.y * BD + threadIdx.y, j = blockIdx.x * BD + threadIdx.x;
  float d2 = 0.f;
  for (int d = 0; d < dim; d += BD) {
    xs[threadIdx.y][threadIdx.x] = (i < n && d + threadIdx.x < dim) ? X[i * dim + d + threadIdx.x] : 0.f;
    int jy = blockIdx.x * BD + threadIdx.y;
    ys[threadIdx.x][threadIdx.y] = (jy < m && d + threadIdx.x < dim) ? Y[jy * dim + d + threadIdx.x] : 0.f;
    __syncthreads();
    for (int k = 0; k < BD; ++k) {
      float t = xs[threadIdx.y][k] - ys[k][threadIdx.x];
      d2 += t * t;
    }
    __syncthreads();
  }
  if (i < n && j < m) D[i * m + j] = sqrtf(d2);
}
// 2. k-means assign with centroids staged in tiles
#define KT 32
#define DIM 4
__global__ void kmeansAssign(const float *pts, const float *cent, int *label, int n, int k) {
  __shared__ float c[KT * DIM];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float p[DIM];
  for (int d = 0; d < DIM; ++d) p[d] = i < n ? pts[d * n + i] : 0.f;
  float best = FLT_MAX;
  int bi = 0;
  for (int k0 = 0; k0 < k; k0 += KT) {
    int cnt = min(KT, k - k0);
    for (int t = threadIdx.x; t < cnt * DIM; t += blockDim.x) c[t] = cent[k0 * DIM + t];
    __syncthreads();
    for (int q = 0; q < cnt; ++q) {
      float s = 0.f;
      for (int d = 0; d < DIM; ++d) { float df = p[d] - c[q * DIM + d]; s += df * df; }
      if (s < best) { best = s; bi = k0 + q; }
    }
    __syncthreads();
  }
  if (i < n) label[i] = bi;
}
// 3. n-body GPU Gems
#define EPS2 1e-4f
__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai) {
  float3 r;
  r.x = bj.x - bi.x;
  r.y = bj.y - bi.y;
  r.z = bj.z - bi.z;
  float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + EPS2;
  float distSixth = distSqr * distSqr * distSqr;
  float invDistCube = 1.0f / sqrtf(distSixth);
  float s = bj.w * invDistCube;
  ai.x += r.x * s;
  ai.y += r.y * s;
  ai.z += r.z * s;
  return ai;
}
__device__ float3 tile_calculation(float4 myPosition, float3 accel) {
  extern __shared__ float4 shPosition[];
  for (int i = 0; i < blockDim.x; i++) accel = bodyBodyInteraction(myPosition, shPosition[i], accel);
  return accel;
}
__global__ void calculate_forces(float4 *globalX, float4 *globalA, int N) {
  extern __shared__ float4 shPosition[];
  float3 acc = {0.0f, 0.0f, 0.0f};
  int gtid = blockIdx.x * blockDim.x + threadIdx.x;
  float4 myPosition = globalX[gtid];
  for (int i = 0, tile = 0; i < N; i += blockDim.x, tile++) {
    int idx = tile * blockDim.x + threadIdx.x;
    shPosition[threadIdx.x] = globalX[idx];
    __syncthreads();
    acc = tile_calculation(myPosition, acc);
    __syncthreads();
  }
  globalA[gtid] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}
// 4. n-body mini (Harris mini-nbody) block stride
#define BSZ 256
__global__ void bodyForce(float4 *p, float4 *v, float dt, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) {
    float Fx = 0.0f, Fy = 0.0f, Fz = 0.0f;
    for (int tile = 0; tile < gridDim.x; tile++) {
      __shared__ float3 spos[BSZ];
      float4 tpos = p[tile * blockDim.x + threadIdx.x];
      spos[threadIdx.x] = make_float3(tpos.x, tpos.y, tpos.z);
      __syncthreads();
      for (int j = 0; j < BSZ; j++) {
        float dx = spos[j].x - p[i].x;
        float dy = spos[j].y - p[i].y;
        float dz = spos[j].z - p[i].z;
        float distSqr = dx * dx + dy * dy + dz * dz + 1e-9f;
        float invDist = rsqrtf(distSqr);
        float invDist3 = invDist * invDist * invDist;
        Fx += dx * invDist3;
        Fy += dy * invDist3;
        Fz += dz * invDist3;
      }
      __syncthreads();
    }
    v[i].x += dt * Fx;
    v[i].y += dt * Fy;
    v[i].z += dt * Fz;
  }
}
// 5. conv layer as product: image in NCHW tile, weights tile loop over input channels
#define CT 16
#define KS 3
__global__ void convForward(const float *x, const float *k, float *y, int Cin, int Cout, int H, int W) {
  __shared__ float xt[CT + KS - 1][CT + KS - 1];
  __shared__ float wt[KS][KS];
  const int Ho = H - KS + 1, Wo = W - KS + 1;
  const int wg = (Wo + CT - 1) / CT;
  const int n = blockIdx.x, m = blockIdx.y;
  const int h0 = threadIdx.y, w0 = threadIdx.x;
  const int hb = (blockIdx.z / wg) * CT, wb = (blockIdx.z % wg) * CT;
  const int h = hb + h0, w = wb + w0;
  float acc = 0.f;
  for (int c = 0; c < Cin; c++) {
    if (h0 < KS && w0 < KS) wt[h0][w0] = k[((m * Cin + c) * KS + h0) * KS + w0];
    __syncthreads();
    for (int i = h; i < hb + CT + KS - 1; i += CT)
      for (int j = w; j < wb + CT + KS - 1; j += CT) xt[i - hb][j - wb] = (i < H && j < W) ? x[((n * Cin + c) * H + i) * W + j] : 0.f;
    __syncthreads();
    for (int p = 0; p < KS; p++)
      for (int q = 0; q < KS; q++) acc += xt[h0 + p][w0 + q] * wt[p][q];
    __syncthreads();
  }
  if (h < Ho && w < Wo) y[((n * Cout + m) * Ho + h) * Wo + w] = acc;
}
// 6. LU internal update (Rodinia lud_internal)
#define LBS 16
__global__ void lud_internal(float *m, int matrix_dim, int offset) {
  __shared__ float peri_row[LBS][LBS];
  __shared__ float peri_col[LBS][LBS];
  int i;
  float sum;
  int global_row_id = offset + (blockIdx.y + 1) * LBS;
  int global_col_id = offset + (blockIdx.x + 1) * LBS;
  peri_row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * matrix_dim + global_col_id + threadIdx.x];
  peri_col[threadIdx.y][threadIdx.x] = m[(global_row_id + threadIdx.y) * matrix_dim + offset + threadIdx.x];
  __syncthreads();
  sum = 0;
  for (i = 0; i < LBS; i++) sum += peri_col[threadIdx.y][i] * peri_row[i][threadIdx.x];
  m[(global_row_id + threadIdx.y) * matrix_dim + global_col_id + threadIdx.x] -= sum;
}
// 7. matvec with vector tile staged
__global__ void matvec(const float *A, const float *x, float *y, int rows, int cols) {
  __shared__ float xs[256];
  int r = blockIdx.x * 256 + threadIdx.x;
  float s = 0.f;
  for (int c0 = 0; c0 < cols; c0 += 256) {
    if (c0 + threadIdx.x < cols) xs[threadIdx.x] = x[c0 + threadIdx.x];
    __syncthreads();
    int lim = min(256, cols - c0);
    if (r < rows)
      for (int c = 0; c < lim; ++c) s += A[(size_t)(c0 + c) * rows + r] * xs[c];
    __syncthreads();
  }
  if (r < rows) y[r] = s;
}
// 8. Floyd-Warshall blocked phase 3, ints with min-plus
#define FB 32
__global__ void fw_phase3(int *dist, int n, int k) {
  __shared__ int a[FB][FB], b[FB][FB];
  if (blockIdx.x == k || blockIdx.y == k) return;
  int x = threadIdx.x, y = threadIdx.y;
  int gi = blockIdx.y * FB + y, gj = blockIdx.x * FB + x;
  a[y][x] = dist[gi * n + k * FB + x];
  b[y][x] = dist[(k * FB + y) * n + gj];
  __syncthreads();
  int d = dist[gi * n + gj];
#pragma unroll
  for (int t = 0; t < FB; ++t) d = min(d, a[y][t] + b[t][x]);
  dist[gi * n + gj] = d;
}
template <class T> T *mk(size_t n) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  float *q = (float *)h;
  for (size_t i = 0; i < n * sizeof(T) / 4; ++i) q[i] = (float)((i * 7919u) % 251) / 16;
  CUDA_CHECK(cudaMalloc(&d, n * sizeof(T)));
  CUDA_CHECK(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 2048;
  float *a = mk<float>(n * n), *b = mk<float>(n * n), *c = mk<float>(n * n);
  int *l = mk<int>(n * n);
  pairwiseDist<<<dim3((n + BD - 1) / BD, (n + BD - 1) / BD), dim3(BD, BD)>>>(a, b, c, n, n - 1, 40);
  kmeansAssign<<<(n * 4 + 255) / 256, 256>>>(a, b, l, n * 4, 100);
  float4 *p = mk<float4>(n), *v = mk<float4>(n);
  int threads = 128;
  calculate_forces<<<n / threads, threads, threads * sizeof(float4)>>>(p, v, n);
  bodyForce<<<(n + BSZ - 1) / BSZ, BSZ>>>(p, v, 0.01f, n);
  int H = 30, W = 30;
  convForward<<<dim3(2, 4, 4), dim3(CT, CT)>>>(a, b, c, 4, 4, H, W);
  lud_internal<<<dim3(n / LBS - 1, n / LBS - 1), dim3(LBS, LBS)>>>(c, n, 0);
  matvec<<<(n + 255) / 256, 256>>>(a, b, c, n, n);
  fw_phase3<<<dim3(n / FB, n / FB), dim3(FB, FB)>>>(l, n, 1);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
