/* Random numbers & simulation. Counters are integers so that sums do not depend on order. */
#include "shown.h"
#include <cmath>

typedef unsigned long long u64;
typedef unsigned int u32;

__host__ __device__ inline u32 mix(u32 x)
{ x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ (x >> 16); }

struct XorShift128 {
  u32 s[4];
  __device__ explicit XorShift128(u32 seed) { for (int i = 0; i < 4; i++) s[i] = mix(seed * 4 + i + 1) | 1u; }
  __device__ u32 next() {
    u32 t = s[3]; t ^= t << 11; t ^= t >> 8;
    s[3] = s[2]; s[2] = s[1]; s[1] = s[0];
    return s[0] = t ^ s[0] ^ (s[0] >> 19);
  }
  __device__ float uni() { return (next() >> 8) * (1.0f / 16777216.0f); }
};

/* 1: pi, count hits, shared tree */
__global__ void pi_hits(int *hits, int per)
{
  __shared__ int s[256];
  XorShift128 g(blockIdx.x * 256 + threadIdx.x);
  int c = 0;
  for (int i = 0; i < per; i++) { float x = g.uni(), y = g.uni(); c += x * x + y * y < 1.0f; }
  s[threadIdx.x] = c;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) hits[blockIdx.x] = s[0];
}

/* 2: Ising; independent replicas 32x32 in shared memory, checkerboard sweeps, table of flip probabilities */
__global__ void ising_replica(signed char *spins, int *energy, float beta, int sweeps)
{
  __shared__ signed char s[32][32];
  __shared__ float prob[2][5];
  __shared__ int tot;
  int tx = threadIdx.x, ty = threadIdx.y, tid = ty * 16 + tx;
  signed char *g = spins + (size_t)blockIdx.x * 1024;
  for (int e = tid; e < 1024; e += 512) s[e / 32][e % 32] = g[e] > 5 ? 1 : -1;
  if (tid < 10) { int sp = tid / 5, k = tid % 5; prob[sp][k] = expf(-2.f * beta * (sp ? 1 : -1) * (2 * k - 4)); }
  if (tid == 0) tot = 0;
  XorShift128 r(blockIdx.x * 512 + tid);
  __syncthreads();
  for (int t = 0; t < 2 * sweeps; t++) {
    int i = ty, j = 2 * tx + ((ty + t) & 1);
    int n = s[(i + 31) & 31][j] + s[(i + 1) & 31][j] + s[i][(j + 31) & 31] + s[i][(j + 1) & 31];
    signed char me = s[i][j];
    if (r.uni() < prob[me > 0][(n + 4) / 2]) s[i][j] = -me;
    __syncthreads();
  }
  int e = 0;
  for (int j = 2 * tx; j < 2 * tx + 2; j++) e -= s[ty][j] * (s[(ty + 1) & 31][j] + s[ty][(j + 1) & 31]);
  atomicAdd(&tot, e);
  for (int q = tid; q < 1024; q += 512) g[q] = s[q / 32][q % 32];
  __syncthreads();
  if (tid == 0) energy[blockIdx.x] = tot;
}

/* 3: random walks on a table of steps, arrival histogram in shared */
#define WALK_BINS 1000
__global__ void walk_histogram(const int *steps8, u32 *hist, int nsteps, int walkers)
{
  __shared__ u32 h[WALK_BINS];
  __shared__ int st[8];
  for (int i = threadIdx.x; i < WALK_BINS; i += blockDim.x) h[i] = 0u;
  if (threadIdx.x < 8) st[threadIdx.x] = steps8[threadIdx.x] - 1;
  __syncthreads();
  for (int w = blockIdx.x * blockDim.x + threadIdx.x; w < walkers; w += gridDim.x * blockDim.x) {
    XorShift128 g(w ^ 0x5bd1e995);
    int p = WALK_BINS / 2;
    for (int i = 0; i < nsteps; i += 8) {
      u32 r = g.next();
      for (int k = 0; k < 8; k++, r >>= 3) p += st[r & 7] - st[(r >> 1) & 7];
    }
    p = p < 0 ? 0 : p >= WALK_BINS ? WALK_BINS - 1 : p;
    atomicAdd(&h[p], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < WALK_BINS; i += blockDim.x) if (h[i]) atomicAdd(hist + i, h[i]);
}

/* 4: Philox 4x32-10, normal output, vector store */
__device__ uint4 philox(uint4 c, uint2 k)
{
#pragma unroll
  for (int i = 0; i < 10; i++) {
    u32 h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x, h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
    c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
    k.x += 0x9E3779B9u; k.y += 0xBB67AE85u;
  }
  return c;
}
__global__ void philox_normal(float4 *out, int n4, u64 seed)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  uint4 r = philox(make_uint4(i, 0, 0, 7), make_uint2((u32)seed, (u32)(seed >> 32)));
  float a = sqrtf(-2.f * logf((r.x + 1.0f) * 2.3283062e-10f)), b = sqrtf(-2.f * logf((r.z + 1.0f) * 2.3283062e-10f));
  float s0, c0, s1, c1;
  sincospif(r.y * 4.6566129e-10f, &s0, &c0);
  sincospif(r.w * 4.6566129e-10f, &s1, &c1);
  out[i] = make_float4(a * c0, a * s0, b * c1, b * s1);
}

/* 5: slab transport: each thread follows neutrons through material layers, tallies into block-shared counters */
#define NLAYER 16
__global__ void slab_transport(const float *sigT, const float *absorb, int *tally, int particles)
{
  __shared__ float st[NLAYER], ab[NLAYER];
  __shared__ int cnt[NLAYER + 2];
  int t = threadIdx.x;
  if (t < NLAYER) { st[t] = 0.2f + sigT[t] * 0.1f; ab[t] = 0.05f + absorb[t] * 0.03f; }
  if (t < NLAYER + 2) cnt[t] = 0;
  __syncthreads();
  for (int p = blockIdx.x * blockDim.x + t; p < particles; p += blockDim.x * gridDim.x) {
    XorShift128 g(p * 3 + 1);
    float x = 0.f, mu = 1.f;
    int where = 0;
    for (int ev = 0; ev < 200; ev++) {
      int l = min(max((int)x, 0), NLAYER - 1);
      float d = -logf(g.uni() + 1e-7f) / st[l];
      float edge = mu > 0 ? (l + 1 - x) : (x - l);
      float need = edge / fmaxf(fabsf(mu), 1e-3f);
      if (d > need) {
        x = mu > 0 ? l + 1 + 1e-4f : l - 1e-4f;
        if (x <= 0.f) { where = 0; break; }
        if (x >= NLAYER) { where = NLAYER + 1; break; }
      } else {
        x += mu * d;
        if (g.uni() < ab[l]) { where = 1 + l; break; }
        mu = 2.f * g.uni() - 1.f;
      }
    }
    atomicAdd(&cnt[where], 1);
  }
  __syncthreads();
  if (t < NLAYER + 2) atomicAdd(&tally[t], cnt[t]);
}

/* 6: additive lagged Fibonacci, lags (5,17), 17 words of state per thread kept in shared, column per thread */
template <int NT>
__global__ void lagged_fib(u32 *out, int rounds)
{
  __shared__ u32 st[17][NT];
  u32 id = blockIdx.x * NT + threadIdx.x;
  for (int i = 0; i < 17; i++) st[i][threadIdx.x] = mix(id * 17u + i);
  int a = 16, b = 4;
  u32 acc = 0;
  for (int r = 0; r < rounds; r++) {
    u32 v = st[a][threadIdx.x] + st[b][threadIdx.x];
    st[a][threadIdx.x] = v;
    acc = acc * 31u + (v >> 3);
    if (--a < 0) a = 16;
    if (--b < 0) b = 16;
  }
  out[id] = acc;
}

/* 7: bootstrap of the median: resample into a private array, counting by value */
__global__ void bootstrap_median(const unsigned char *data, int n, unsigned char *med, int reps)
{
  extern __shared__ unsigned char sample[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) sample[i] = data[i];
  __syncthreads();
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= reps) return;
  unsigned short cnt[16];
  for (int v = 0; v < 16; v++) cnt[v] = 0;
  XorShift128 g(r + 991);
  for (int i = 0; i < n; i++) cnt[sample[g.next() % n] & 15]++;
  int c = 0, v = 0;
  while (v < 15 && (c += cnt[v]) * 2 < n) v++;
  med[r] = (unsigned char)v;
}

int main()
{
  int *hits = mk<int>(2048);
  pi_hits<<<2048, 256>>>(hits, 500);
  show("pi_hits", hits, 8192);
  int R = 3000;
  signed char *sp = mk<signed char>((size_t)R * 1024);
  int *en = mk<int>(R);
  ising_replica<<<R, dim3(16, 32)>>>(sp, en, 0.44f, 20);
  show("ising_spins", sp, (size_t)R * 1024);
  show("ising_energy", en, R * 4);
  int *s8 = mk<int>(8);
  u32 *h = mk<u32>(WALK_BINS);
  walk_histogram<<<528, 192>>>(s8, h, 512, 300000);
  show("walk_histogram", h, WALK_BINS * 4);
  int n4 = 4000001;
  float4 *nrm = (float4 *)mk<float>(4ull * n4);
  philox_normal<<<(n4 + 255) / 256, 256>>>(nrm, n4, 0x123456789abcdefull);
  show("philox_normal", nrm, 16ull * n4);
  float *sg = mk<float>(NLAYER), *ab = mk<float>(NLAYER);
  int *tl = mk<int>(NLAYER + 2);
  slab_transport<<<400, 128>>>(sg, ab, tl, 1000000);
  show("slab_transport", tl, (NLAYER + 2) * 4);
  u32 *lf = mk<u32>(128 * 2000);
  lagged_fib<128><<<2000, 128>>>(lf, 600);
  show("lagged_fib", lf, 4ull * 128 * 2000);
  unsigned char *d = mk<unsigned char>(900), *md = mk<unsigned char>(100000);
  bootstrap_median<<<(100000 + 127) / 128, 128, 900>>>(d, 900, md, 100000);
  show("bootstrap_median", md, 100000);
  return 0;
}
