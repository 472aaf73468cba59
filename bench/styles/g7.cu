// computational finance
#include "shown.h"
#include <math.h>

#define NUM_STEPS 255
#define OPT_THREADS 256
struct OptionData { float S, X, T, pad; };
__global__ void binomial_options(const OptionData *opt, float *value) {
  __shared__ float call[OPT_THREADS + 1];
  const int t = threadIdx.x;
  OptionData o = opt[blockIdx.x];
  float S = 20.f + o.S, X = 22.f + o.X, T = 0.5f + 0.1f * o.T;
  float dt = T / NUM_STEPS;
  float vDt = 0.3f * sqrtf(dt);
  float rDt = 0.02f * dt;
  float If = expf(rDt), Df = expf(-rDt);
  float u = expf(vDt), d = expf(-vDt);
  float pu = (If - d) / (u - d), pd = 1.0f - pu;
  float puByDf = pu * Df, pdByDf = pd * Df;
  call[t] = fmaxf(S * expf(vDt * (2.0f * t - NUM_STEPS)) - X, 0.f);
  if (t == 0) call[OPT_THREADS] = 0.f;
  __syncthreads();
  for (int i = NUM_STEPS; i > 0; i--) {
    float v = 0.f;
    if (t < i) v = puByDf * call[t + 1] + pdByDf * call[t];
    __syncthreads();
    if (t < i) call[t] = v;
    __syncthreads();
  }
  if (t == 0) value[blockIdx.x] = call[0];
}

// LIBOR market model path, forward rates in a per-thread array
#define NN 40
#define NMAT 20
__global__ void libor_path(const float *z, const float *lambda, float *payoff, int npath, float delta) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid >= npath) return;
  float L[NN];
  for (int i = 0; i < NN; i++) L[i] = 0.05f;
  for (int n = 0; n < NMAT; n++) {
    float sqez = sqrtf(delta) * (z[(size_t)n * npath + tid] * 0.1f - 0.6f);
    float v = 0.f;
    for (int i = n + 1; i < NN; i++) {
      float lam = 0.2f + 0.005f * lambda[i - n - 1];
      float con1 = delta * lam;
      v += con1 * L[i] / (1.0f + delta * L[i]);
      float vrat = expf(con1 * v + lam * (sqez - 0.5f * con1));
      L[i] = L[i] * vrat;
    }
  }
  float b = 1.f, s = 0.f, val = 0.f;
  for (int n = NMAT; n < NN; n++) {
    b = b / (1.0f + delta * L[n]);
    s = s + delta * b;
    float swapval = b + 0.045f * s - 1.0f;
    if (swapval < 0) val += -100.f * swapval;
  }
  payoff[tid] = val;
}

// 0/1 knapsack, one instance per block, capacity row double buffered
#define CAP 512
__global__ void knapsack_dp(const int *weight, const int *profit, int *best, int items) {
  __shared__ int dp[2][CAP];
  const int c = threadIdx.x;
  dp[0][c] = 0;
  __syncthreads();
  int cur = 0;
  for (int i = 0; i < items; ++i) {
    int w = weight[blockIdx.x * items + i] * 3 + 1;
    int p = profit[blockIdx.x * items + i] + 1;
    int v = dp[cur][c];
    if (c >= w) v = max(v, dp[cur][c - w] + p);
    dp[cur ^ 1][c] = v;
    cur ^= 1;
    __syncthreads();
  }
  if (c == CAP - 1) best[blockIdx.x] = dp[cur][c];
}

// simple moving average and standard deviation (Bollinger bands), window W over a long series
template <int W>
__global__ void bollinger(const float *__restrict__ price, float2 *__restrict__ band, int n, float k) {
  __shared__ float s[256 + W - 1];
  const int g = blockIdx.x * 256 + threadIdx.x;
  const int l = threadIdx.x + W - 1;
  s[l] = g < n ? price[g] : 0.f;
  if (threadIdx.x < W - 1) {
    int h = g - (W - 1);
    s[threadIdx.x] = h >= 0 && h < n ? price[h] : 0.f;
  }
  __syncthreads();
  if (g < n) {
    float m = 0.f;
    for (int i = 0; i < W; ++i) m += s[l - i];
    m /= W;
    float v = 0.f;
    for (int i = 0; i < W; ++i) {
      float d = s[l - i] - m;
      v += d * d;
    }
    float sd = sqrtf(v / W);
    band[g] = make_float2(m - k * sd, m + k * sd);
  }
}

// implicit PDE: each thread solves one tridiagonal system, coefficients on the fly
#define NS 64
__global__ void implicit_pde(const float *strike, float *price, int nopt, int nt) {
  int o = blockIdx.x * blockDim.x + threadIdx.x;
  if (o >= nopt) return;
  float u[NS], cp[NS];
  float K = 20.f + strike[o];
  for (int j = 0; j < NS; ++j) u[j] = fmaxf((float)j - K, 0.f);
  const float sig2 = 0.09f, r = 0.03f, dt = 1.0f / 16;
  for (int t = 0; t < nt; ++t) {
    cp[0] = 0.f;
    for (int j = 1; j < NS - 1; ++j) {
      float a = -0.5f * dt * (sig2 * j * j - r * j);
      float b = 1.f + dt * (sig2 * j * j + r);
      float c = -0.5f * dt * (sig2 * j * j + r * j);
      float m = 1.f / (b - a * cp[j - 1]);
      cp[j] = c * m;
      u[j] = (u[j] - a * u[j - 1]) * m;
    }
    u[NS - 1] = (NS - 1) - K * (1.f - r * dt * (t + 1));
    for (int j = NS - 2; j > 0; --j) u[j] -= cp[j] * u[j + 1];
  }
  int j0 = (int)(strike[o] * 2.f) + 10;
  price[o] = u[j0];
}

// Asian option, moving window of the last fixings kept in a private ring
#define RING 12
__global__ void asian_ring(float *payoff, int npath, int nstep, unsigned seed) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= npath) return;
  unsigned s = seed ^ (p * 2654435761u);
  float ring[RING];
  for (int i = 0; i < RING; ++i) ring[i] = 100.f;
  float x = 100.f;
  int h = 0;
  for (int t = 0; t < nstep; ++t) {
    float z = 0.f;
    for (int q = 0; q < 4; ++q) {
      s = s * 1664525u + 1013904223u;
      z += (float)(s >> 8) * (1.0f / 16777216.0f);
    }
    x *= 1.0f + 0.02f * (z - 2.0f);
    ring[h] = x;
    h = (h + 1) % RING;
  }
  float a = 0.f;
  for (int i = 0; i < RING; ++i) a += ring[(h + i) % RING];
  payoff[p] = fmaxf(a / RING - 98.f, 0.f);
}

int main() {
  {
    const int n = 8192;
    float *o = mk<float>(4 * n), *v = mk<float>(n);
    binomial_options<<<n, OPT_THREADS>>>((const OptionData *)o, v);
    show("binomial_options", v, n * 4);
  }
  {
    const int np = 1 << 18;
    float *z = mk<float>((size_t)np * NMAT), *l = mk<float>(NN), *v = mk<float>(np);
    libor_path<<<(np + 63) / 64, 64>>>(z, l, v, np, 0.25f);
    show("libor_path", v, np * 4);
  }
  {
    const int inst = 4096, items = 100;
    int *w = mk<int>(inst * items), *p = mk<int>(inst * items + 50), *b = mk<int>(inst);
    knapsack_dp<<<inst, CAP>>>(w, p + 23, b, items);
    show("knapsack_dp", b, inst * 4);
  }
  {
    const int n = (1 << 23) + 19;
    float *p = mk<float>(n);
    float2 *b = (float2 *)mk<float>(2 * (size_t)n);
    bollinger<20><<<(n + 255) / 256, 256>>>(p, b, n, 2.f);
    show("bollinger", b, (size_t)n * 8);
  }
  {
    const int n = 1 << 17;
    float *k = mk<float>(n), *v = mk<float>(n);
    implicit_pde<<<(n + 127) / 128, 128>>>(k, v, n, 32);
    show("implicit_pde", v, n * 4);
    asian_ring<<<(n + 255) / 256, 256>>>(v, n, 252, 1234u);
    show("asian_ring", v, n * 4);
  }
  return 0;
}
