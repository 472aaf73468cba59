// All against all, by tiles: softened gravity with float4 bodies, a matrix of
// Gaussian similarities, screened charges in separate arrays.
#include "validation.cuh"

__device__ float3 interact(float4 bi, float4 bj, float3 ai, float eps2) {
  float3 r;
  r.x = bj.x - bi.x;
  r.y = bj.y - bi.y;
  r.z = bj.z - bi.z;
  float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + eps2;
  float inv = rsqrtf(distSqr);
  float s = bj.w * inv * inv * inv;
  ai.x += r.x * s;
  ai.y += r.y * s;
  ai.z += r.z * s;
  return ai;
}

// the count is a multiple of the block
__global__ void integrate(const float4 *pos, float4 *vel, float4 *moved, int n,
                          float dt, float eps2) {
  __shared__ float4 tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = pos[i];
  float3 acc = {0.f, 0.f, 0.f};
  for (int t = 0; t < gridDim.x; t++) {
    tile[threadIdx.x] = pos[t * blockDim.x + threadIdx.x];
    __syncthreads();
#pragma unroll 32
    for (int j = 0; j < 256; j++)
      acc = interact(me, tile[j], acc, eps2);
    __syncthreads();
  }
  float4 v = vel[i];
  v.x += acc.x * dt;
  v.y += acc.y * dt;
  v.z += acc.z * dt;
  vel[i] = v;
  moved[i] = make_float4(me.x + v.x * dt, me.y + v.y * dt, me.z + v.z * dt, me.w);
}

#define BM 16
#define BN 32

// K[i][j] = exp(-gamma |x_i - y_j|^2); 32 x 16 threads, edges guarded
__global__ void rbfMatrix(const float *X, const float *Y, float *K, int rows,
                          int cols, int dim, float gamma) {
  __shared__ float xs[BM][BN + 1];
  __shared__ float ys[BN][BN + 1];
  int tx = threadIdx.x, ty = threadIdx.y;
  int i = blockIdx.y * BM + ty, j = blockIdx.x * BN + tx;
  float d2 = 0.f;
  for (int k0 = 0; k0 < dim; k0 += BN) {
    xs[ty][tx] = i < rows && k0 + tx < dim ? X[(size_t)i * dim + k0 + tx] : 0.f;
    for (int r = ty; r < BN; r += BM) {
      int jj = blockIdx.x * BN + r;
      ys[r][tx] =
          jj < cols && k0 + tx < dim ? Y[(size_t)jj * dim + k0 + tx] : 0.f;
    }
    __syncthreads();
    for (int k = 0; k < BN; ++k) {
      float d = xs[ty][k] - ys[tx][k];
      d2 += d * d;
    }
    __syncthreads();
  }
  if (i < rows && j < cols)
    K[(size_t)i * cols + j] = expf(-gamma * d2);
}

// energies of charges; the last tile is filled in part
__global__ void screened(const float *x, const float *y, const float *q,
                         float *energy, int n, float kappa) {
  extern __shared__ float sh[];
  float *sx = sh, *sy = sh + blockDim.x, *sq = sh + 2 * blockDim.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float xi = i < n ? x[i] : 0.f, yi = i < n ? y[i] : 0.f, e = 0.f;
  for (int base = 0; base < n; base += blockDim.x) {
    int j = base + threadIdx.x;
    if (j < n) {
      sx[threadIdx.x] = x[j];
      sy[threadIdx.x] = y[j];
      sq[threadIdx.x] = q[j];
    }
    __syncthreads();
    int count = min((int)blockDim.x, n - base);
    for (int k = 0; k < count; ++k) {
      float dx = xi - sx[k], dy = yi - sy[k];
      float inv = rsqrtf(dx * dx + dy * dy + 0.01f);
      e += sq[k] * inv * __expf(-kappa / inv);
    }
    __syncthreads();
  }
  if (i < n)
    energy[i] = e;
}

void step(const float4 *pos, float4 *vel, float4 *moved, int n) {
  integrate<<<n / 256, 256>>>(pos, vel, moved, n, 0.01f, 0.05f);
}
void similarities(const float *X, const float *Y, float *K, int r, int c,
                  int d) {
  dim3 block(BN, BM), grid((c + BN - 1) / BN, (r + BM - 1) / BM);
  rbfMatrix<<<grid, block>>>(X, Y, K, r, c, d, 0.02f);
}
void charges(const float *x, const float *y, const float *q, float *e, int n,
             int threads) {
  screened<<<(n + threads - 1) / threads, threads,
             3 * threads * sizeof(float)>>>(x, y, q, e, n, 0.7f);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({65536, 16384}, 256)) {
    float *p = filled<float>(4 * n, 621, 0.1, 1), *v = filled<float>(4 * n, 622),
          *m = zeros<float>(4 * n);
    measure("integrate", text(n),
            [&] { step((const float4 *)p, (float4 *)v, (float4 *)m, n); },
            {result(v, 4 * n), result(m, 4 * n)});
    release(p, v, m);
  }
  // rows, columns, dimensions
  for (Extent e : extents({{4096, 4096, 64}, {3000, 1111, 100}, {8192, 2048, 13}},
                          {21, 45, 40})) {
    size_t n = (size_t)e.x * e.y;
    float *X = filled<float>((size_t)e.x * e.z, 623),
          *Y = filled<float>((size_t)e.y * e.z, 624), *K = zeros<float>(n);
    measure("rbfMatrix", text(e), [&] { similarities(X, Y, K, e.x, e.y, e.z); },
            {result(K, n)});
    release(X, Y, K);
  }
  for (int n : sizes({60000, 20001}, 150)) {
    float *x = filled<float>(n, 625, 0, 10), *y = filled<float>(n, 626, 0, 10),
          *q = filled<float>(n, 627), *e = zeros<float>(n);
    measure("screened", text(n), [&] { charges(x, y, q, e, n, 128); },
            {result(e, n)});
    release(x, y, q, e);
  }
}
