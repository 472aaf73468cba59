#include "shown.h"

typedef struct { float S, X, vDt, puByDf, pdByDf; } OptionData;

#define TIME_STEPS 1024
#define CACHE_DELTA 32
#define CACHE_SIZE 256
// old SDK binomialOptions, shared pyramid with global call buffer
__global__ void binomialOptionsKernel(float *d_CallBuffer, float *d_CallValue, const OptionData *od, int NUM_STEPS, int bufStride) {
  __shared__ float callA[CACHE_SIZE + 1];
  __shared__ float callB[CACHE_SIZE + 1];
  float *const d_Call = &d_CallBuffer[blockIdx.x * bufStride];
  const int tid = threadIdx.x;
  const float S = od[blockIdx.x].S;
  const float X = od[blockIdx.x].X;
  const float vDt = od[blockIdx.x].vDt;
  const float pu = od[blockIdx.x].puByDf;
  const float pd = od[blockIdx.x].pdByDf;
  for (int i = tid; i <= NUM_STEPS; i += CACHE_SIZE) {
    float d = S * expf(vDt * (2.0f * i - NUM_STEPS)) - X;
    d_Call[i] = d > 0 ? d : 0;
  }
  if (tid == 0) { callA[CACHE_SIZE] = 0; callB[CACHE_SIZE] = 0; }
  const int CACHE_STEP = CACHE_SIZE - CACHE_DELTA;
  for (int i = NUM_STEPS; i > 0; i -= CACHE_DELTA)
    for (int c_base = 0; c_base < i; c_base += CACHE_STEP) {
      int c_start = min(CACHE_SIZE - 1, i - c_base);
      int c_end = c_start - CACHE_DELTA;
      __syncthreads();
      if (tid <= c_start) callA[tid] = d_Call[c_base + tid];
      else callA[tid] = 0;
      for (int k = c_start - 1; k >= c_end;) {
        __syncthreads();
        callB[tid] = pu * callA[tid + 1] + pd * callA[tid];
        k--;
        __syncthreads();
        callA[tid] = pu * callB[tid + 1] + pd * callB[tid];
        k--;
      }
      __syncthreads();
      if (tid <= c_end) d_Call[c_base + tid] = callA[tid];
    }
  if (tid == 0) d_CallValue[blockIdx.x] = callA[0];
}

// one block per American put, entire lattice row in shared
__global__ void americanPutTree(const double *strike, double *price, double S0, double r, double sigma, double T, int n) {
  extern __shared__ double V[];
  double dt = T / n;
  double u = exp(sigma * sqrt(dt)), d = 1.0 / u;
  double p = (exp(r * dt) - d) / (u - d), disc = exp(-r * dt);
  double K = strike[blockIdx.x] + 90.0;
  for (int j = threadIdx.x; j <= n; j += blockDim.x) {
    double st = S0 * pow(u, 2.0 * j - n);
    V[j] = fmax(K - st, 0.0);
  }
  __syncthreads();
  for (int step = n - 1; step >= 0; --step) {
    for (int base = 0; base <= step; base += blockDim.x) {
      int j = base + threadIdx.x;
      double nv = 0;
      if (j <= step) {
        double cont = disc * (p * V[j + 1] + (1 - p) * V[j]);
        double ex = K - S0 * exp(sigma * sqrt(dt) * (2.0 * j - step));
        nv = cont > ex ? cont : ex;
      }
      __syncthreads();
      if (j <= step) V[j] = nv;
      __syncthreads();
    }
  }
  if (threadIdx.x == 0) price[blockIdx.x] = V[0];
}

// Monte Carlo with sum and sum2 reduction
__device__ unsigned lcg(unsigned &s) { s = s * 1664525u + 1013904223u; return s; }
__device__ float gauss(unsigned &s) {
  float u1 = (lcg(s) >> 8) * (1.f / 16777216.f) + 1e-7f;
  float u2 = (lcg(s) >> 8) * (1.f / 16777216.f);
  return sqrtf(-2.f * logf(u1)) * cosf(6.2831853f * u2);
}
struct MCParams { float s0, k, mu, vol; unsigned paths; };
struct MCResult { float sum, sum2; };
template <int BLK>
__global__ void mcEuropeanCall(MCResult *res, MCParams P) {
  __shared__ float s_Sum[BLK];
  __shared__ float s_Sum2[BLK];
  unsigned seed = (blockIdx.x * BLK + threadIdx.x) * 747796405u + 12345u;
  float a = 0, b = 0;
  for (unsigned i = threadIdx.x; i < P.paths; i += BLK) {
    float st = P.s0 * expf(P.mu + P.vol * gauss(seed));
    float pay = fmaxf(st - P.k, 0.f);
    a += pay;
    b += pay * pay;
  }
  s_Sum[threadIdx.x] = a;
  s_Sum2[threadIdx.x] = b;
  __syncthreads();
#pragma unroll
  for (int half = BLK / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) {
      s_Sum[threadIdx.x] += s_Sum[threadIdx.x + half];
      s_Sum2[threadIdx.x] += s_Sum2[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) { res[blockIdx.x].sum = s_Sum[0]; res[blockIdx.x].sum2 = s_Sum2[0]; }
}

// pi estimation, odd block width reduced with generic loop
__global__ void piMonteCarlo(unsigned long long *hits, int iters) {
  extern __shared__ unsigned int cnt[];
  unsigned s = blockIdx.x * 7919u + threadIdx.x * 104729u + 1u;
  unsigned c = 0;
  for (int i = 0; i < iters; i++) {
    float x = (lcg(s) >> 8) / 16777216.f, y = (lcg(s) >> 8) / 16777216.f;
    if (x * x + y * y <= 1.f) c++;
  }
  cnt[threadIdx.x] = c;
  __syncthreads();
  for (int len = blockDim.x; len > 1;) {
    int h = (len + 1) / 2;
    if (threadIdx.x + h < len) cnt[threadIdx.x] += cnt[threadIdx.x + h];
    __syncthreads();
    len = h;
  }
  if (threadIdx.x == 0) atomicAdd(hits, (unsigned long long)cnt[0]);
}

__global__ void covarianceMatrix(const float *ret, float *cov, int assets, int days) {
  __shared__ float xs[16][17];
  __shared__ float ys[16][17];
  __shared__ float mx[16], my[16];
  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  int jj = blockIdx.x * 16 + threadIdx.y;
  if (threadIdx.x == 0) {
    float m = 0;
    if (i < assets) for (int d = 0; d < days; d++) m += ret[i * days + d];
    mx[threadIdx.y] = m / days;
  }
  if (threadIdx.x == 1) {
    float m = 0;
    if (jj < assets) for (int d = 0; d < days; d++) m += ret[jj * days + d];
    my[threadIdx.y] = m / days;
  }
  __syncthreads();
  float acc = 0.f;
  for (int d0 = 0; d0 < days; d0 += 16) {
    int d = d0 + threadIdx.x;
    xs[threadIdx.y][threadIdx.x] = (i < assets && d < days) ? ret[i * days + d] - mx[threadIdx.y] : 0.f;
    ys[threadIdx.y][threadIdx.x] = (jj < assets && d < days) ? ret[jj * days + d] - my[threadIdx.y] : 0.f;
    __syncthreads();
    for (int k = 0; k < 16; k++) acc += xs[threadIdx.y][k] * ys[threadIdx.x][k];
    __syncthreads();
  }
  if (i < assets && j < assets) cov[i * assets + j] = acc / (days - 1);
}

int main() {
  {
    int nopt = 512, stride = TIME_STEPS + 16;
    OptionData *h = (OptionData *)malloc(nopt * sizeof(OptionData)), *d;
    for (int i = 0; i < nopt; i++) h[i] = {20.f + i % 30, 15.f + i % 40, 0.008f, 0.5004f, 0.4995f};
    cudaMalloc(&d, nopt * sizeof(OptionData));
    cudaMemcpy(d, h, nopt * sizeof(OptionData), cudaMemcpyHostToDevice);
    float *buf = mk<float>(nopt * stride), *v = mk<float>(nopt);
    binomialOptionsKernel<<<nopt, CACHE_SIZE>>>(buf, v, d, TIME_STEPS, stride);
    show("binomialOptionsKernel", v, nopt * 4);
  }
  {
    int n = 600, m = 400;
    double *k = mk<double>(m), *p = mk<double>(m);
    americanPutTree<<<m, 192, (n + 1) * sizeof(double)>>>(k, p, 100., .03, .2, 1., n);
    show("americanPutTree", p, m * 8);
  }
  {
    int nb = 600;
    MCResult *r = (MCResult *)mk<float>(nb * 2);
    mcEuropeanCall<256><<<nb, 256>>>(r, MCParams{100.f, 105.f, 0.01f, 0.2f, 65536u});
    show("mcEuropeanCall", r, nb * 8);
  }
  {
    unsigned long long *h;
    cudaMalloc(&h, 8);
    cudaMemset(h, 0, 8);
    piMonteCarlo<<<333, 200, 200 * 4>>>(h, 2000);
    show("piMonteCarlo", h, 8);
  }
  {
    int a = 500, d = 252;
    float *r = mk<float>(a * d), *c = mk<float>(a * a);
    covarianceMatrix<<<dim3((a + 15) / 16, (a + 15) / 16), dim3(16, 16)>>>(r, c, a, d);
    show("covarianceMatrix", c, a * a * 4);
  }
}
