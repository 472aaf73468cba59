// option pricing and quant helpers
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define GPU_SAFE(c) do { cudaError_t rc = (c); if (rc != cudaSuccess) { fprintf(stderr, "GPU error: %s @ %d\n", cudaGetErrorString(rc), __LINE__); std::abort(); } } while (0)

__device__ inline float cndApprox(float d) {
  const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f;
  float K = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float c = 0.39894228040143267794f * __expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
  return d > 0 ? 1.0f - c : c;
}

__global__ void bs_price_all(float *call, float *put, const float *S, const float *X, const float *T, float r, float v, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    float sq = sqrtf(T[i]);
    float d1 = (__logf(S[i] / X[i]) + (r + 0.5f * v * v) * T[i]) / (v * sq);
    float d2 = d1 - v * sq;
    float c1 = cndApprox(d1), c2 = cndApprox(d2);
    float e = __expf(-r * T[i]);
    call[i] = S[i] * c1 - X[i] * e * c2;
    put[i] = X[i] * e * (1.0f - c2) - S[i] * (1.0f - c1);
  }
}

// Cox-Ross-Rubinstein, a block an option, the leaves in shared memory
#define STEPS 512
__global__ void crr_american_put(const float *S, const float *X, float *price, float T, float r, float v) {
  __shared__ float leaf[STEPS + 1];
  float dt = T / STEPS, vdt = v * sqrtf(dt), u = expf(vdt), disc = expf(-r * dt);
  float pu = (expf(r * dt) - 1.f / u) / (u - 1.f / u), pd = 1.f - pu;
  float s = S[blockIdx.x], k = X[blockIdx.x];
  for (int i = threadIdx.x; i <= STEPS; i += blockDim.x) leaf[i] = fmaxf(k - s * __expf(vdt * (2 * i - STEPS)), 0.f);
  __syncthreads();
  for (int step = STEPS - 1; step >= 0; step--) {
    float keep[2];
    int c = 0;
#pragma unroll
    for (int q = 0; q < 2; q++) {
      int i = threadIdx.x + q * 256;
      if (i <= step) keep[q] = fmaxf(disc * (pu * leaf[i + 1] + pd * leaf[i]), k - s * __expf(vdt * (2 * i - step)));
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 2; q++) {
      int i = threadIdx.x + q * 256;
      if (i <= step) leaf[i] = keep[q];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) price[blockIdx.x] = leaf[0];
}

__device__ inline uint32_t xorshift(uint32_t &s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }
__device__ inline float gauss(uint32_t &s) {
  float u1 = (xorshift(s) >> 8) * 5.9604645e-8f + 1e-7f, u2 = (xorshift(s) >> 8) * 5.9604645e-8f;
  return sqrtf(-2.f * __logf(u1)) * __cosf(6.2831853f * u2);
}

// basket of assets: private arrays, correlation factor in shared
#define MAX_ASSETS 8
__global__ void mc_basket(const float *chol, const float *spot, float *payoff, int assets, int steps, float dt, float strike) {
  __shared__ float L[MAX_ASSETS * MAX_ASSETS];
  if (threadIdx.x < assets * assets) L[threadIdx.x] = chol[threadIdx.x];
  __syncthreads();
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t st = id * 747796405u + 2891336453u;
  if (st == 0) st = 1;
  float s[MAX_ASSETS], z[MAX_ASSETS];
  for (int a = 0; a < assets; a++) s[a] = spot[a];
  float sd = 0.2f * sqrtf(dt), drift = -0.02f * dt;
  for (int t = 0; t < steps; t++) {
    for (int a = 0; a < assets; a++) z[a] = gauss(st);
    for (int a = 0; a < assets; a++) {
      float w = 0.f;
      for (int b = 0; b <= a; b++) w += L[a * assets + b] * z[b];
      s[a] *= __expf(drift + sd * w);
    }
  }
  float avg = 0.f;
  for (int a = 0; a < assets; a++) avg += s[a];
  payoff[id] = fmaxf(avg / assets - strike, 0.f);
}

// asian option, paths summed in the block
__global__ void mc_asian_blocksum(double *partial, int steps, int pathsPerThread, float s0, float k, float mu, float sd) {
  __shared__ double acc[128];
  uint32_t st = (blockIdx.x * 128 + threadIdx.x) * 2654435761u + 97u;
  if (st == 0) st = 5;
  double sum = 0.0;
  for (int p = 0; p < pathsPerThread; p++) {
    float s = s0, mean = 0.f;
    for (int t = 0; t < steps; t++) {
      s *= __expf(mu + sd * gauss(st));
      mean += s;
    }
    sum += fmaxf(mean / steps - k, 0.f);
  }
  acc[threadIdx.x] = sum;
  __syncthreads();
  for (int o = 64; o >= 1; o >>= 1) {
    if (threadIdx.x < o) acc[threadIdx.x] += acc[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = acc[0];
}

// polynomial with coefficients in shared memory (volatility surface fit)
__global__ void poly_horner_shared(const double *coef, int deg, const double *x, double *y, int n) {
  extern __shared__ double c[];
  for (int i = threadIdx.x; i <= deg; i += blockDim.x) c[i] = coef[i];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    double v = c[deg], xi = x[i];
    for (int k = deg - 1; k >= 0; k--) v = v * xi + c[k];
    y[i] = v;
  }
}

// simple moving average and standard deviation, trailing window
template <int WINDOW>
__global__ void sma_band(const float *px, float *mean, float *sd, int n) {
  __shared__ float hist[256 + WINDOW - 1];
  int i = blockIdx.x * 256 + threadIdx.x;
  hist[threadIdx.x + WINDOW - 1] = px[i < n ? i : n - 1];
  if (threadIdx.x < WINDOW - 1) {
    int j = i - (WINDOW - 1);
    hist[threadIdx.x] = px[j > 0 ? j : 0];
  }
  __syncthreads();
  if (i >= n) return;
  float a = 0.f, b = 0.f;
#pragma unroll
  for (int k = 0; k < WINDOW; k++) {
    float v = hist[threadIdx.x + k];
    a += v;
    b += v * v;
  }
  a /= WINDOW;
  mean[i] = a;
  sd[i] = sqrtf(fmaxf(b / WINDOW - a * a, 0.f));
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 4000000;
  std::vector<float> s(n), x(n), t(n);
  for (int i = 0; i < n; i++) { s[i] = 5.f + (i * 13 % 2501) * 0.01f; x[i] = 1.f + (i * 7 % 9901) * 0.01f; t[i] = 0.25f + (i % 975) * 0.01f; }
  float *S, *X, *T, *C, *Pt;
  GPU_SAFE(cudaMalloc(&S, n * 4)); GPU_SAFE(cudaMalloc(&X, n * 4)); GPU_SAFE(cudaMalloc(&T, n * 4));
  GPU_SAFE(cudaMalloc(&C, n * 4)); GPU_SAFE(cudaMalloc(&Pt, n * 4));
  GPU_SAFE(cudaMemcpy(S, s.data(), n * 4, cudaMemcpyHostToDevice));
  GPU_SAFE(cudaMemcpy(X, x.data(), n * 4, cudaMemcpyHostToDevice));
  GPU_SAFE(cudaMemcpy(T, t.data(), n * 4, cudaMemcpyHostToDevice));
  bs_price_all<<<2048, 256>>>(C, Pt, S, X, T, 0.02f, 0.3f, n);
  GPU_SAFE(cudaGetLastError());
  int options = 1024;
  crr_american_put<<<options, 256>>>(S, X, C, 1.0f, 0.05f, 0.25f);
  GPU_SAFE(cudaGetLastError());

  std::vector<float> L(64, 0.f);
  int assets = 6;
  for (int a = 0; a < assets; a++)
    for (int b = 0; b <= a; b++) L[a * assets + b] = a == b ? 0.8f : 0.1f;
  float *dL;
  GPU_SAFE(cudaMalloc(&dL, 64 * 4));
  GPU_SAFE(cudaMemcpy(dL, L.data(), 64 * 4, cudaMemcpyHostToDevice));
  mc_basket<<<1024, 128>>>(dL, S, C, assets, 50, 0.02f, 6.0f);
  GPU_SAFE(cudaGetLastError());
  double *part;
  GPU_SAFE(cudaMalloc(&part, 1000 * sizeof(double)));
  mc_asian_blocksum<<<1000, 128>>>(part, 64, 8, 100.f, 101.f, 0.0001f, 0.02f);
  GPU_SAFE(cudaGetLastError());

  int m = 3000001, deg = 15;
  std::vector<double> dx(m);
  for (int i = 0; i < m; i++) dx[i] = (i % 2001) / 1000.0 - 1.0;
  double *px, *py;
  GPU_SAFE(cudaMalloc(&px, m * 8)); GPU_SAFE(cudaMalloc(&py, m * 8));
  GPU_SAFE(cudaMemcpy(px, dx.data(), m * 8, cudaMemcpyHostToDevice));
  poly_horner_shared<<<(m + 191) / 192, 192, (deg + 1) * sizeof(double)>>>(px + 100, deg, px, py, m);
  GPU_SAFE(cudaGetLastError());
  sma_band<20><<<(n + 255) / 256, 256>>>(S, C, Pt, n);
  GPU_SAFE(cudaGetLastError());
  GPU_SAFE(cudaDeviceSynchronize());
  cudaFree(S); cudaFree(X); cudaFree(T); cudaFree(C); cudaFree(Pt); cudaFree(dL); cudaFree(part); cudaFree(px); cudaFree(py);
  return 0;
}
