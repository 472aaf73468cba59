#include "h.h"
#include <cstring>
#include <cstdint>
static void show(const char *name, const void *dev, size_t bytes) {
  cudaError_t e = cudaDeviceSynchronize();
  unsigned char *h = (unsigned char *)malloc(bytes);
  cudaMemcpy(h, dev, bytes, cudaMemcpyDeviceToHost);
  unsigned long long f = 1469598103934665603ull;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    unsigned long long w;
    memcpy(&w, h + i, 8);
    f = (f ^ w) * 1099511628211ull;
  }
  for (; i < bytes; ++i) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s %016llx%s%s\n", name, f, e ? " " : "", e ? cudaGetErrorString(e) : "");
  free(h);
}
struct Rng { uint32_t s; };
__device__ __forceinline__ uint32_t nextu(Rng &r) { r.s ^= r.s << 13; r.s ^= r.s >> 17; r.s ^= r.s << 5; return r.s; }
__device__ __forceinline__ float nextf(Rng &r) { return (nextu(r) >> 8) * (1.0f / 16777216.0f); }

// Asian call, drift/vol term structure in shared memory, block sum of payoffs
#define STEPS_MAX 64
__global__ void asian_mc(const float *vol, const float *rate, double *blockSum, int steps, int pathsPerThread, float S0, float K, uint32_t seed) {
  __shared__ float drift[STEPS_MAX], sig[STEPS_MAX];
  __shared__ double acc[256];
  if (threadIdx.x < steps) {
    float v = 0.05f + 0.02f * vol[threadIdx.x], dt = 1.0f / steps;
    sig[threadIdx.x] = v * sqrtf(dt);
    drift[threadIdx.x] = (0.01f * rate[threadIdx.x] - 0.5f * v * v) * dt;
  }
  __syncthreads();
  Rng r; r.s = seed + 2654435761u * (blockIdx.x * blockDim.x + threadIdx.x + 1); if (!r.s) r.s = 1;
  double sum = 0;
  for (int p = 0; p < pathsPerThread; ++p) {
    float lg = 0.f, avg = 0.f;
    for (int k = 0; k < steps; k += 2) {
      float u1 = nextf(r) + 1e-7f, u2 = nextf(r), m = sqrtf(-2.f * logf(u1));
      lg += drift[k] + sig[k] * m * cosf(6.2831853f * u2); avg += expf(lg);
      lg += drift[k + 1] + sig[k + 1] * m * sinf(6.2831853f * u2); avg += expf(lg);
    }
    sum += fmaxf(S0 * avg / steps - K, 0.f);
  }
  acc[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s; s >>= 1) {
    if (threadIdx.x < s) acc[threadIdx.x] += acc[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) blockSum[blockIdx.x] = acc[0];
}

// CRR binomial tree, whole level in shared memory, European/American
#define MAX_STEPS 1024
struct OptionData { float S, X, T; };
__device__ float call0(float S, float X, float vDt, int numSteps, int i) { float d = S * expf(vDt * (2.0f * i - numSteps)) - X; return d > 0.f ? d : 0.f; }
__global__ void binomial_tree(const OptionData *opts, float *price, int numSteps, float R, float V) {
  __shared__ float call[MAX_STEPS + 1];
  const OptionData o = opts[blockIdx.x];
  const float T = o.T * 0.1f + 0.1f, dt = T / numSteps, vDt = V * sqrtf(dt), rDt = R * dt;
  const float If = expf(rDt), Df = expf(-rDt), u = expf(vDt), d = expf(-vDt);
  const float pu = (If - d) / (u - d), puByDf = pu * Df, pdByDf = (1.f - pu) * Df;
  for (int i = threadIdx.x; i <= numSteps; i += blockDim.x) call[i] = call0(o.S + 20.f, o.X + 18.f, vDt, numSteps, i);
  for (int lvl = numSteps; lvl > 0; --lvl) {
    // a thread owns up to four nodes of a level
    float keep[4];
    __syncthreads();
    for (int c = 0, i = threadIdx.x; c < 4; ++c, i += blockDim.x)
      if (i < lvl) keep[c] = puByDf * call[i + 1] + pdByDf * call[i];
    __syncthreads();
    for (int c = 0, i = threadIdx.x; c < 4; ++c, i += blockDim.x)
      if (i < lvl) call[i] = keep[c];
  }
  __syncthreads();
  if (threadIdx.x == 0) price[blockIdx.x] = call[0];
}

// discrete sampling with an alias table, counts as integers
__global__ void alias_sample(const float *prob, const int *alias, unsigned *hist, int k, int draws, uint32_t seed) {
  extern __shared__ char pool[];
  float *p = (float *)pool;
  int *al = (int *)(p + k);
  unsigned *cnt = (unsigned *)(al + k);
  for (int i = threadIdx.x; i < k; i += blockDim.x) { p[i] = prob[i] * 0.08f; al[i] = alias[i] % k; cnt[i] = 0u; }
  __syncthreads();
  Rng r = {seed ^ (0x9e3779b9u * (blockIdx.x * blockDim.x + threadIdx.x + 7u))};
  if (r.s == 0) r.s = 1234567u;
  for (int d = 0; d < draws; ++d) {
    int j = nextu(r) % k;
    int s = nextf(r) < p[j] ? j : al[j];
    atomicAdd(cnt + s, 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < k; i += blockDim.x) if (cnt[i]) atomicAdd(hist + i, cnt[i]);
}

// pi, hits counted per warp with ballot
__global__ void pi_hits(unsigned long long *res, int iters) {
  __shared__ unsigned w[16];
  Rng r = {blockIdx.x * 7919u + threadIdx.x * 104729u + 1u};
  unsigned c = 0;
  for (int i = 0; i < iters; ++i) {
    float x = nextf(r), y = nextf(r);
    unsigned b = __ballot_sync(0xffffffffu, x * x + y * y < 1.f);
    c += __popc(b);
  }
  if ((threadIdx.x & 31) == 0) w[threadIdx.x / 32] = c;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned t = 0;
    for (int i = 0; i < blockDim.x / 32; ++i) t += w[i];
    atomicAdd(res, (unsigned long long)t);
  }
}

int main() {
  { int st = 64, g = 1320; float *v = mk<float>(st), *q = mk<float>(st); double *o = mk<double>(g);
    asian_mc<<<g, 256>>>(v, q, o, st, 16, 100.f, 98.f, 4242u);
    show("asian_mc", o, g * 8); }
  { int n = 2000; OptionData *d = (OptionData *)mk<float>(3 * n); float *p = mk<float>(n);
    binomial_tree<<<n, 256>>>(d, p, 1000, 0.03f, 0.25f);
    show("binomial_tree", p, n * 4); }
  { int k = 777; float *p = mk<float>(k); int *a = mk<int>(k + 300) + 300; unsigned *h; cudaMalloc(&h, k * 4); cudaMemset(h, 0, k * 4);
    alias_sample<<<528, 256, k * 12>>>(p, a, h, k, 400, 31337u);
    show("alias_sample", h, k * 4); }
  { unsigned long long *r; cudaMalloc(&r, 8); cudaMemset(r, 0, 8);
    pi_hits<<<1056, 512>>>(r, 1000);
    show("pi_hits", r, 8); }
  return 0;
}
