// Pricing, random paths, digests and reaction kinetics.
#include <cmath>
#include <cstdint>
#include "shown.h"

// (a) American put on a binomial tree, one option a block, backward in place -------------------
#define STEPS 512
struct Option { float S, K, T, sigma; };
__device__ Option readOption(const float *raw, int i) {
  Option o;
  o.S = 80.f + 3.f * raw[4 * i];
  o.K = 90.f + 2.f * raw[4 * i + 1];
  o.T = 0.2f + 0.1f * raw[4 * i + 2];
  o.sigma = 0.15f + 0.02f * raw[4 * i + 3];
  return o;
}
__global__ void binomialAmerican(const float *raw, float *price, float r) {
  __shared__ float v[STEPS + 1];
  const Option o = readOption(raw, blockIdx.x);
  const float dt = o.T / STEPS;
  const float u = expf(o.sigma * sqrtf(dt)), d = 1.f / u;
  const float disc = expf(-r * dt), pu = (expf(r * dt) - d) / (u - d);
  const float lu = logf(u);
  for (int j = threadIdx.x; j <= STEPS; j += blockDim.x)
    v[j] = fmaxf(o.K - o.S * expf(lu * (2 * j - STEPS)), 0.f);
  __syncthreads();
  for (int n = STEPS - 1; n >= 0; n--) {
    // blockDim.x covers half of the nodes: two passes, each reads before it writes
    for (int b = 0; b <= n; b += blockDim.x) {
      int j = b + threadIdx.x;
      float c = 0.f;
      if (j <= n) c = disc * (pu * v[j + 1] + (1.f - pu) * v[j]);
      __syncthreads();
      if (j <= n) v[j] = fmaxf(c, o.K - o.S * expf(lu * (2 * j - n)));
      __syncthreads();
    }
  }
  if (threadIdx.x == 0) price[blockIdx.x] = v[0];
}

// (b) trinomial lattice of a thread, values in a private array of run-time extent ----------------
template <int MAXN>
__global__ void trinomialLattice(const double *spot, const double *vol, double *out, int n, int steps, double K, double r, double T)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v[2 * MAXN + 1];
  double s = 70.0 + 5.0 * spot[i], sg = 0.1 + 0.02 * vol[n - 1 - i];
  double dt = T / steps, dx = sg * sqrt(3.0 * dt), nu = r - 0.5 * sg * sg;
  double a = (sg * sg * dt + nu * nu * dt * dt) / (dx * dx), b = nu * dt / dx;
  double df = exp(-r * dt), pu = 0.5 * df * (a + b), pd = 0.5 * df * (a - b), pm = df * (1.0 - a);
  double st = s * exp(-steps * dx), g = exp(dx);
  for (int k = 0; k <= 2 * steps; k++) { v[k] = st > K ? st - K : 0.0; st *= g; }
  for (int m = steps - 1; m >= 0; m--)
    for (int k = 0; k <= 2 * m; k++) v[k] = pd * v[k] + pm * v[k + 1] + pu * v[k + 2];
  out[i] = v[0];
}

// (c) Asian option by Monte Carlo, xorshift paths, fixed-order tree, several strikes a block ------
__device__ __forceinline__ uint32_t xs32(uint32_t &s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }
__device__ __forceinline__ float gauss12(uint32_t &s) {
  float a = 0.f;
#pragma unroll
  for (int k = 0; k < 4; k++) a += (xs32(s) >> 8) * (1.f / 16777216.f);
  return (a - 2.f) * 1.7320508f;
}
template <unsigned T>
__global__ void asianMonteCarlo(float2 *res, unsigned seed, int paths, int dates, float drift, float volStep) {
  __shared__ float sumP[T];
  __shared__ float sumQ[T];
  const unsigned t = threadIdx.x;
  const float K = 95.f + 0.05f * blockIdx.x;
  uint32_t s = seed ^ (blockIdx.x * T + t + 1) * 2654435769u;
  s = s ? s : 1u;
  float p = 0.f, q = 0.f;
  for (int k = 0; k < paths; k++) {
    float x = 0.f, avg = 0.f;
    for (int d = 0; d < dates; d++) {
      x += drift + volStep * gauss12(s);
      avg += 100.f * __expf(x);
    }
    float pay = fmaxf(avg / dates - K, 0.f);
    p += pay;
    q += pay * pay;
  }
  sumP[t] = p;
  sumQ[t] = q;
  __syncthreads();
  for (unsigned h = T >> 1; h > 0; h >>= 1) {
    if (t < h) { sumP[t] += sumP[t + h]; sumQ[t] += sumQ[t + h]; }
    __syncthreads();
  }
  if (t == 0) {
    float m = sumP[0] / (T * paths);
    res[blockIdx.x] = make_float2(m, sumQ[0] / (T * paths) - m * m);
  }
}

// (d) Sobol numbers through a Brownian bridge, path kept in a private array ------------------------
__global__ void sobolBridge(const unsigned *__restrict__ dirs, float *__restrict__ maxOut, float *__restrict__ endOut, int npath, int NT) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= npath) return;
  float w[65];                                  // NT is a power of two up to 64
  unsigned gray = (unsigned)id ^ ((unsigned)id >> 1);
  int dim = 0;
  w[0] = 0.f;
  for (int step = NT; step >= 1; step >>= 1)
    for (int mid = step == NT ? NT : step; mid <= NT; mid += (step == NT ? NT : 2 * step)) {
      unsigned x = 0, g = gray;
      for (int b = 0; g; b++, g >>= 1)
        if (g & 1u) x ^= (dirs[(dim & 15) * 32 + b] * 0x9e3779b1u + dim) | 1u << (31 - b);
      dim++;
      float u = (x >> 8) * (1.f / 16777216.f) + 3e-8f;
      float z = 2.4f * (u - 0.5f) + 4.f * (u - 0.5f) * (u - 0.5f) * (u - 0.5f);
      if (step == NT) w[NT] = 8.f * z;
      else w[mid] = 0.5f * (w[mid - step] + w[mid + step]) + sqrtf(0.5f * step) * z;
    }
  float mx = w[0];
  for (int k = 1; k <= NT; k++) mx = fmaxf(mx, w[k]);
  maxOut[id] = mx;
  endOut[id] = w[NT];
}

// (e) SHA-256 of one block of message a thread, all rounds unrolled ---------------------------------
__constant__ uint32_t K256[64];
#define ROTR(x, n) (((x) >> (n)) | ((x) << (32 - (n))))
#define S0(x) (ROTR(x, 2) ^ ROTR(x, 13) ^ ROTR(x, 22))
#define S1(x) (ROTR(x, 6) ^ ROTR(x, 11) ^ ROTR(x, 25))
#define s0(x) (ROTR(x, 7) ^ ROTR(x, 18) ^ ((x) >> 3))
#define s1(x) (ROTR(x, 17) ^ ROTR(x, 19) ^ ((x) >> 10))
__global__ void sha256_nonce(const uint32_t *msg, uint32_t *digest, uint32_t n) {
  uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  uint32_t w[16];
#pragma unroll
  for (int i = 0; i < 15; i++) w[i] = msg[i] * 0x01010193u + i;
  w[15] = t;
  uint32_t a = 0x6a09e667u, b = 0xbb67ae85u, c = 0x3c6ef372u, d = 0xa54ff53au;
  uint32_t e = 0x510e527fu, f = 0x9b05688cu, g = 0x1f83d9abu, h = 0x5be0cd19u;
#pragma unroll
  for (int r = 0; r < 64; r++) {
    if (r >= 16) w[r & 15] += s1(w[(r + 14) & 15]) + w[(r + 9) & 15] + s0(w[(r + 1) & 15]);
    uint32_t t1 = h + S1(e) + ((e & f) ^ (~e & g)) + K256[r] + w[r & 15];
    uint32_t t2 = S0(a) + ((a & b) ^ (a & c) ^ (b & c));
    h = g; g = f; f = e; e = d + t1;
    d = c; c = b; b = a; a = t1 + t2;
  }
  digest[2 * (size_t)t] = a + 0x6a09e667u;
  digest[2 * (size_t)t + 1] = e + 0x510e527fu;
}

// (f) hydrogen-air like kinetics, nine species, fixed-step RK4 ----------------------------------------
struct Y9 { double y[9]; };
__device__ __forceinline__ void rates(const Y9 &s, double kT, Y9 &d) {
  const double H2 = s.y[0], O2 = s.y[1], H2O = s.y[2], H = s.y[3], O = s.y[4], OH = s.y[5], HO2 = s.y[6], H2O2 = s.y[7], N2 = s.y[8];
  double M = H2 * 2.5 + O2 + 12.0 * H2O + N2;
  double r1 = 1.9e-1 * kT * H * O2 - 0.7e-1 * O * OH;
  double r2 = 0.5e-1 * kT * O * H2 - 0.3e-1 * H * OH;
  double r3 = 2.1e-1 * H2 * OH - 0.2e-1 * kT * H2O * H;
  double r4 = 0.9e-1 * O * H2O - 1.1e-1 * OH * OH;
  double r5 = 0.04 * H * O2 * M - 0.001 * HO2 * M;
  double r6 = 0.8e-1 * HO2 * H;
  double r7 = 1.3e-1 * HO2 * OH;
  double r8 = 0.2e-1 * HO2 * HO2;
  double r9 = 0.005 * kT * H2O2 * M - 0.002 * OH * OH * M;
  double r10 = 0.03 * H * OH * M - 0.0001 * kT * H2O * M;
  d.y[0] = -r2 - r3;
  d.y[1] = -r1 - r5 + r7 + r8;
  d.y[2] = r3 - r4 + r7 + r10;
  d.y[3] = -r1 + r2 + r3 - r5 - r6 - r10;
  d.y[4] = r1 - r2 - r4;
  d.y[5] = r1 + r2 - r3 + 2.0 * r4 + 2.0 * r6 - r7 + 2.0 * r9 - r10;
  d.y[6] = r5 - r6 - r7 - 2.0 * r8;
  d.y[7] = r8 - r9;
  d.y[8] = 0.0;
}
__global__ void h2Kinetics(const double *__restrict__ y0, const double *__restrict__ temp, double *__restrict__ y1, int n, int nsub, double dt)
{
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= n) return;
  Y9 y, k1, k2, k3, k4, w;
#pragma unroll
  for (int s = 0; s < 9; s++) y.y[s] = 0.05 * (y0[(size_t)s * n + c] + 0.1 * s);
  double kT = exp(-1.0 / (0.3 + 0.1 * temp[c]));
  for (int t = 0; t < nsub; t++) {
    rates(y, kT, k1);
#pragma unroll
    for (int s = 0; s < 9; s++) w.y[s] = y.y[s] + 0.5 * dt * k1.y[s];
    rates(w, kT, k2);
#pragma unroll
    for (int s = 0; s < 9; s++) w.y[s] = y.y[s] + 0.5 * dt * k2.y[s];
    rates(w, kT, k3);
#pragma unroll
    for (int s = 0; s < 9; s++) w.y[s] = y.y[s] + dt * k3.y[s];
    rates(w, kT, k4);
#pragma unroll
    for (int s = 0; s < 9; s++) y.y[s] += dt / 6.0 * (k1.y[s] + 2.0 * k2.y[s] + 2.0 * k3.y[s] + k4.y[s]);
  }
#pragma unroll
  for (int s = 0; s < 9; s++) y1[(size_t)s * n + c] = y.y[s];
}

// (g) Keccak-f[1600], 25 lanes in registers --------------------------------------------------------------
__constant__ unsigned long long RC[24];
__device__ __forceinline__ unsigned long long rol(unsigned long long x, int n) { return n ? (x << n) | (x >> (64 - n)) : x; }
__global__ void __launch_bounds__(128) keccak_perm(unsigned long long *state, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  constexpr int rot[25] = {0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14};
  unsigned long long a[25], b[25], c[5];
#pragma unroll
  for (int k = 0; k < 25; k++) a[k] = state[(size_t)k * n + i] * 0x9e3779b97f4a7c15ull + k;
#pragma unroll 1
  for (int r = 0; r < 24; r++) {
#pragma unroll
    for (int x = 0; x < 5; x++) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
#pragma unroll
    for (int x = 0; x < 5; x++) {
      unsigned long long d = c[(x + 4) % 5] ^ rol(c[(x + 1) % 5], 1);
#pragma unroll
      for (int y = 0; y < 25; y += 5) a[x + y] ^= d;
    }
#pragma unroll
    for (int x = 0; x < 5; x++)
#pragma unroll
      for (int y = 0; y < 5; y++) b[y + 5 * ((2 * x + 3 * y) % 5)] = rol(a[x + 5 * y], rot[x + 5 * y]);
#pragma unroll
    for (int y = 0; y < 25; y += 5)
#pragma unroll
      for (int x = 0; x < 5; x++) a[y + x] = b[y + x] ^ (~b[y + (x + 1) % 5] & b[y + (x + 2) % 5]);
    a[0] ^= RC[r];
  }
#pragma unroll
  for (int k = 0; k < 25; k++) state[(size_t)k * n + i] = a[k];
}

// (h) implicit option grid: tridiagonal systems by parallel cyclic reduction, one a block ------------------
__global__ void pcrPrice(const double *__restrict__ sigma, double *__restrict__ grid, int nt, double r, double dt)
{
  extern __shared__ double sh[];
  const int N = blockDim.x, j = threadIdx.x;
  double *a = sh, *b = sh + N, *c = sh + 2 * N, *d = sh + 3 * N;
  const double sg = 0.1 + 0.02 * sigma[blockIdx.x];
  const double q = 0.5 * dt * sg * sg * j * j, p = 0.5 * dt * r * j;
  double v = j > N / 2 ? (double)(j - N / 2) : 0.0;
  for (int t = 0; t < nt; t++) {
    a[j] = j > 0 ? -(q - p) : 0.0;
    b[j] = 1.0 + 2.0 * q + r * dt;
    c[j] = j < N - 1 ? -(q + p) : 0.0;
    d[j] = j < N - 1 ? v : v + (q + p) * (N / 2);
    __syncthreads();
    for (int s = 1; s < N; s <<= 1) {
      double k1 = 0.0, k2 = 0.0, al = 0.0, cl = 0.0, dl = 0.0, ar = 0.0, cr = 0.0, dr = 0.0;
      if (j >= s) { k1 = a[j] / b[j - s]; al = a[j - s]; cl = c[j - s]; dl = d[j - s]; }
      if (j + s < N) { k2 = c[j] / b[j + s]; ar = a[j + s]; cr = c[j + s]; dr = d[j + s]; }
      double nb = b[j] - cl * k1 - ar * k2, nd = d[j] - dl * k1 - dr * k2;
      __syncthreads();
      a[j] = -al * k1;
      b[j] = nb;
      c[j] = -cr * k2;
      d[j] = nd;
      __syncthreads();
    }
    v = d[j] / b[j];
  }
  grid[(size_t)blockIdx.x * N + j] = v;
}

int main() {
  {
    int n = 3000;
    float *o = mk<float>(4 * n), *p = mk<float>(n);
    binomialAmerican<<<n, 256>>>(o, p, 0.03f);
    show("binomialAmerican", p, n * 4);
  }
  {
    int n = 100000;
    double *s = mk<double>(n), *v = mk<double>(n), *o = mk<double>(n);
    trinomialLattice<40><<<(n + 127) / 128, 128>>>(s, v, o, n, 36, 100.0, 0.02, 1.0);
    show("trinomialLattice", o, n * 8);
  }
  {
    int nb = 1200;
    float2 *r = (float2 *)mk<float>(2 * nb);
    asianMonteCarlo<128><<<nb, 128>>>(r, 12345u, 16, 50, 0.0002f, 0.012f);
    show("asianMonteCarlo", r, nb * 8);
  }
  {
    int n = 1 << 19;
    unsigned *d = mk<unsigned>(16 * 32);
    float *a = mk<float>(n), *b = mk<float>(n);
    sobolBridge<<<(n + 127) / 128, 128>>>(d, a, b, n, 64);
    show("sobolBridge", a, n * 4);
    show("sobolBridge", b, n * 4);
  }
  {
    uint32_t k[64], x = 2;
    for (int i = 0; i < 64; i++) {               // round constants from the primes
      bool prime;
      do {
        prime = true;
        for (uint32_t q = 2; q * q <= x; q++) if (x % q == 0) prime = false;
        if (!prime) x++;
      } while (!prime);
      double c = cbrt((double)x);
      k[i] = (uint32_t)((c - floor(c)) * 4294967296.0);
      x++;
    }
    cudaMemcpyToSymbol(K256, k, sizeof k);
    uint32_t n = 1u << 23;
    uint32_t *m = mk<uint32_t>(16), *d = mk<uint32_t>(2 * (size_t)n);
    sha256_nonce<<<n / 256, 256>>>(m, d, n);
    show("sha256_nonce", d, (size_t)n * 8);
    cudaFree(d);
  }
  {
    int n = 150000;
    double *y = mk<double>((size_t)9 * n), *T = mk<double>(n), *o = mk<double>((size_t)9 * n);
    h2Kinetics<<<(n + 127) / 128, 128>>>(y, T, o, n, 12, 0.02);
    show("h2Kinetics", o, (size_t)9 * n * 8);
  }
  {
    unsigned long long rc[24];
    unsigned char lfsr = 1;
    for (int r = 0; r < 24; r++) {
      rc[r] = 0;
      for (int j = 0; j < 7; j++) {
        if (lfsr & 1) rc[r] ^= 1ull << ((1 << j) - 1);
        lfsr = (unsigned char)((lfsr << 1) ^ ((lfsr >> 7) ? 0x71 : 0));
      }
    }
    cudaMemcpyToSymbol(RC, rc, sizeof rc);
    unsigned n = 1000000;
    unsigned long long *s = mk<unsigned long long>((size_t)25 * n);
    keccak_perm<<<(n + 127) / 128, 128>>>(s, n);
    show("keccak_perm", s, (size_t)25 * n * 8);
    cudaFree(s);
  }
  {
    int opts = 3000, N = 256;
    double *s = mk<double>(opts), *g = mk<double>((size_t)opts * N);
    pcrPrice<<<opts, N, 4 * N * sizeof(double)>>>(s, g, 8, 0.03, 0.01);
    show("pcrPrice", g, (size_t)opts * N * 8);
  }
  return 0;
}
