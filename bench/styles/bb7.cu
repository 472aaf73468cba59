// Quant library sketches: path simulation, lattices, PDE, random numbers, risk.
#include <math.h>
#include "shown.h"

typedef float real;

/*** 1. European call by Monte Carlo, one option per block row, xorshift streams ***/
struct XorShift128 {
  unsigned x, y, z, w;
  __device__ XorShift128(unsigned seed) {
    x = seed * 2654435761u + 123456789u; y = x ^ 362436069u; z = y * 69069u + 521288629u; w = z ^ 88675123u;
    for (int i = 0; i < 8; ++i) next();
  }
  __device__ unsigned next() {
    unsigned t = x ^ (x << 11);
    x = y; y = z; z = w;
    return w = w ^ (w >> 19) ^ t ^ (t >> 8);
  }
  __device__ float uniform() { return (next() >> 8) * (1.f / 16777216.f) + 2.98e-8f; }
};

struct OptionData { float S, X, T, pad; };

template <int THREAD_N>
__global__ void mcEuropeanCall(const OptionData *opts, double2 *sums, int pathsPerThread, float r, float v)
{
    __shared__ double s_sum[THREAD_N];
    __shared__ double s_sum2[THREAD_N];
    const OptionData o = opts[blockIdx.y];
    const float T = 0.25f + 0.25f * o.T, S = 20.f + o.S, X = 20.f + o.X;
    const float mu = (r - 0.5f * v * v) * T, sg = v * sqrtf(T);
    XorShift128 rng((blockIdx.y * gridDim.x + blockIdx.x) * THREAD_N + threadIdx.x + 1);
    double a = 0, b = 0;
    for (int p = 0; p < pathsPerThread; p += 2) {
        float rad = sqrtf(-2.f * logf(rng.uniform())), sn, cs;
        sincosf(6.2831853f * rng.uniform(), &sn, &cs);
        float c0 = S * expf(mu + sg * rad * sn) - X, c1 = S * expf(mu + sg * rad * cs) - X;
        c0 = fmaxf(c0, 0.f); c1 = fmaxf(c1, 0.f);
        a += c0 + c1;
        b += c0 * c0 + c1 * c1;
    }
    s_sum[threadIdx.x] = a;
    s_sum2[threadIdx.x] = b;
    __syncthreads();
    for (int n = THREAD_N / 2; n > 0; n >>= 1) {
        if (threadIdx.x < n) {
            s_sum[threadIdx.x] += s_sum[threadIdx.x + n];
            s_sum2[threadIdx.x] += s_sum2[threadIdx.x + n];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.y * gridDim.x + blockIdx.x] = make_double2(s_sum[0], s_sum2[0]);
}

/*** 2. American put on a binomial tree, levels alternate between two buffers ***/
#define MAX_STEPS 512
__global__ void binomialAmericanPut(const real *spot, const real *strike, real *price, int steps, real u, real pu, real disc) {
  __shared__ real buf[2][MAX_STEPS + 1];
  __shared__ real pw[2 * MAX_STEPS + 1];
  const real s0 = 40.f + spot[blockIdx.x], k = 41.f + strike[blockIdx.x];
  for (int i = threadIdx.x; i <= 2 * steps; i += blockDim.x) pw[i] = powf(u, (real)(i - steps));
  __syncthreads();
  for (int i = threadIdx.x; i <= steps; i += blockDim.x) buf[0][i] = fmaxf(k - s0 * pw[2 * i], 0.f);
  __syncthreads();
  int c = 0;
  for (int level = steps - 1; level >= 0; --level) {
    for (int i = threadIdx.x; i <= level; i += blockDim.x) {
      real hold = disc * (pu * buf[c][i + 1] + (1.f - pu) * buf[c][i]);
      real ex = k - s0 * pw[2 * i - level + steps];
      buf[c ^ 1][i] = hold > ex ? hold : ex;
    }
    c ^= 1;
    __syncthreads();
  }
  if (threadIdx.x == 0) price[blockIdx.x] = buf[c][0];
}

/*** 3. LIBOR market model, forward rates of a path in a private array ***/
#define NN 80
__global__ void liborPaths(const float *lambda, float *value, int npath, int N, int Nmat, float delta) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= npath) return;
  float L[NN];
  for (int i = 0; i < N; i++) L[i] = 0.051f;
  unsigned s = path * 747796405u + 2891336453u;
  for (int n = 0; n < Nmat; n++) {
    float z = 0.f;
    for (int k = 0; k < 4; k++) { s = s * 1664525u + 1013904223u; z += (s >> 8) * (1.f / 16777216.f) - 0.5f; }
    float sqez = sqrtf(delta) * z * 1.7320508f;
    float v = 0.f;
    for (int i = n + 1; i < N; i++) {
      float lam = 0.016f * lambda[i - n - 1];
      float con1 = delta * lam;
      v += __fdividef(con1 * L[i], 1.f + delta * L[i]);
      L[i] *= __expf(con1 * v + lam * (sqez - 0.5f * con1));
    }
  }
  float b = 1.f, sw = 0.f;
  for (int n = Nmat; n < N; n++) {
    b /= 1.f + delta * L[n];
    sw += b * (L[n] - 0.05f) * delta;
  }
  value[path] = sw > 0.f ? 100.f * sw : 0.f;
}

/*** 4. MT19937, one generator state per block ***/
enum { MT_N = 624, MT_M = 397, MT_GROUP = MT_N - MT_M };
__global__ void mersenneBlocks(const unsigned *seeds, unsigned *out, int rounds) {
  __shared__ unsigned mt[MT_N];
  const int t = threadIdx.x;
  if (t == 0) {
    mt[0] = seeds[blockIdx.x] + blockIdx.x * 977u;
    for (int i = 1; i < MT_N; i++) mt[i] = 1812433253u * (mt[i - 1] ^ (mt[i - 1] >> 30)) + i;
  }
  __syncthreads();
  for (int r = 0; r < rounds; r++) {
    for (int first = 0; first < MT_N; first += MT_GROUP) {
      int i = first + t;
      bool act = t < MT_GROUP && i < MT_N;
      unsigned y = 0, m = 0;
      if (act) {
        y = (mt[i] & 0x80000000u) | (mt[i + 1 == MT_N ? 0 : i + 1] & 0x7fffffffu);
        m = mt[i + MT_M < MT_N ? i + MT_M : i + MT_M - MT_N];
      }
      __syncthreads();
      if (act) mt[i] = m ^ (y >> 1) ^ ((y & 1) ? 0x9908b0dfu : 0u);
      __syncthreads();
    }
    for (int i = t; i < MT_N; i += blockDim.x) {
      unsigned y = mt[i];
      y ^= y >> 11;
      y ^= (y << 7) & 0x9d2c5680u;
      y ^= (y << 15) & 0xefc60000u;
      y ^= y >> 18;
      out[((size_t)blockIdx.x * rounds + r) * MT_N + i] = y;
    }
    __syncthreads();
  }
}

/*** 5. Sobol points mapped to normals, direction numbers of a dimension in shared memory ***/
__device__ float invNormal(float u) {
  float q = u - 0.5f;
  if (fabsf(q) < 0.42f) {
    float r = q * q;
    return q * (((-25.44106f * r + 41.39119f) * r - 18.61500f) * r + 2.506628f) /
           ((((3.130829f * r - 21.06224f) * r + 23.08337f) * r - 8.473511f) * r + 1.f);
  }
  float r = logf(-logf(q > 0.f ? 1.f - u : u));
  float x = 0.3374755f + r * (0.9761690f + r * (0.1607980f + r * (0.0276439f + r * 0.0038405f)));
  return q < 0.f ? -x : x;
}
__global__ void sobolNormals(const unsigned *__restrict__ directions, float *__restrict__ out, unsigned nVectors)
{
	__shared__ unsigned v[32];
	const unsigned *dir = directions + 32 * blockIdx.y;
	float *dst = out + (size_t)nVectors * blockIdx.y;
	if (threadIdx.x < 32)
		v[threadIdx.x] = dir[threadIdx.x];
	__syncthreads();
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < nVectors; i += blockDim.x * gridDim.x) {
		unsigned g = i ^ (i >> 1), X = 0;
		for (int k = 0; g; ++k, g >>= 1)
			if (g & 1)
				X ^= v[k];
		dst[i] = invNormal(((X >> 8) + 0.5f) * 5.9604645e-8f);
	}
}

/*** 6. explicit Black-Scholes PDE for barrier options, price grid stays in shared memory ***/
template <int NODES>
__global__ void pdeKnockOut(const double *strikes, double *grid, int steps, double sigma, double r, double dt) {
  __shared__ double v[2][NODES + 2];
  const int t = threadIdx.x;
  const double K = 60.0 + 2.0 * strikes[blockIdx.x];
  const double ds = 200.0 / (NODES + 1);
  const double S = (t + 1) * ds;
  v[0][t + 1] = S > K ? S - K : 0.0;
  if (t == 0) { v[0][0] = v[1][0] = 0.0; v[0][NODES + 1] = v[1][NODES + 1] = 0.0; }
  const double n = t + 1;
  const double a = 0.5 * dt * (sigma * sigma * n * n - r * n), b = 1.0 - dt * (sigma * sigma * n * n + r),
               c = 0.5 * dt * (sigma * sigma * n * n + r * n);
  __syncthreads();
  int cur = 0;
  for (int m = 0; m < steps; ++m) {
    v[cur ^ 1][t + 1] = a * v[cur][t] + b * v[cur][t + 1] + c * v[cur][t + 2];
    __syncthreads();
    cur ^= 1;
  }
  grid[(size_t)blockIdx.x * NODES + t] = v[cur][t + 1];
}

/*** 7. value at risk: P&L of all scenarios sorted in the block ***/
#define SCEN 1024
__global__ void historicalVaR(const float *returns, const float *exposure, float *var, float *es, int scenarios, int factors) {
  extern __shared__ float sm[];
  float *pnl = sm, *expo = sm + SCEN;
  int book = blockIdx.x;
  if (threadIdx.x < factors) expo[threadIdx.x] = exposure[book * factors + threadIdx.x] - 6.f;
  __syncthreads();
  for (int s = threadIdx.x; s < SCEN; s += blockDim.x) {
    float x = INFINITY;
    if (s < scenarios) {
      x = 0.f;
      for (int f = 0; f < factors; f++) x += expo[f] * (returns[f * scenarios + s] - 6.25f);
    }
    pnl[s] = x;
  }
  __syncthreads();
  for (int k = 2; k <= SCEN; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) {
      for (int i = threadIdx.x; i < SCEN; i += blockDim.x) {
        int l = i ^ j;
        if (l > i) {
          float a = pnl[i], b = pnl[l];
          if (((i & k) == 0) == (a > b)) { pnl[i] = b; pnl[l] = a; }
        }
      }
      __syncthreads();
    }
  if (threadIdx.x == 0) {
    int q = scenarios / 100;
    float tail = 0.f;
    for (int i = 0; i <= q; i++) tail += pnl[i];
    var[book] = -pnl[q];
    es[book] = -tail / (q + 1);
  }
}

/*** 8. worst-of basket: Philox normals correlated with a shared Cholesky factor ***/
#define MAX_ASSETS 16
__device__ uint2 philox2(uint2 ctr, unsigned key) {
  for (int i = 0; i < 10; i++) {
    unsigned hi = __umulhi(0xD256D193u, ctr.x), lo = 0xD256D193u * ctr.x;
    ctr = make_uint2(hi ^ key ^ ctr.y, lo);
    key += 0x9E3779B9u;
  }
  return ctr;
}
__global__ void worstOfBasket(const float *chol, const float *vol, float *payoff, int assets, int steps, int paths) {
  __shared__ float L[MAX_ASSETS][MAX_ASSETS + 1];
  __shared__ float sv[MAX_ASSETS];
  const int t = threadIdx.x;
  if (t < assets * assets) L[t / assets][t % assets] = 0.1f * chol[t];
  if (t < assets) sv[t] = 0.01f + 0.002f * vol[t];
  __syncthreads();
  const int p = blockIdx.x * blockDim.x + t;
  if (p >= paths) return;
  float logS[MAX_ASSETS], z[MAX_ASSETS];
  for (int a = 0; a < assets; a++) logS[a] = 0.f;
  for (int st = 0; st < steps; st++) {
    for (int a = 0; a < assets; a += 2) {
      uint2 u = philox2(make_uint2(p, st * MAX_ASSETS + a), 42u);
      float rad = sqrtf(-2.f * __logf((u.x >> 8) * 5.9604645e-8f + 1e-7f)), s, c;
      __sincosf(6.2831853f * (u.y >> 8) * 5.9604645e-8f, &s, &c);
      z[a] = rad * c;
      if (a + 1 < assets) z[a + 1] = rad * s;
    }
    for (int a = 0; a < assets; a++) {
      float w = 0.f;
      for (int b = 0; b <= a; b++) w += L[a][b] * z[b];
      logS[a] += sv[a] * w - 0.5f * sv[a] * sv[a];
    }
  }
  float worst = logS[0];
  for (int a = 1; a < assets; a++) worst = fminf(worst, logS[a]);
  payoff[p] = fmaxf(1.f - __expf(worst), 0.f);
}

int main() {
  int nopt = 32, nblk = 64;
  OptionData *od = (OptionData *)mk<float>(4 * nopt);
  double2 *sums = (double2 *)mk<double>(2 * nopt * nblk);
  mcEuropeanCall<256><<<dim3(nblk, nopt), 256>>>(od, sums, 100, 0.03f, 0.25f);
  show("mcEuropeanCall", sums, nopt * nblk * sizeof(double2));

  int nam = 3001;
  float *sp = mk<float>(nam), *st = mk<float>(nam), *pr = mk<float>(nam);
  binomialAmericanPut<<<nam, 128>>>(sp, st, pr, 500, 1.0112f, 0.5022f, 0.99994f);
  show("binomialAmericanPut", pr, nam * sizeof(float));

  int npath = 64 * 1000;
  float *lam = mk<float>(NN), *val = mk<float>(npath);
  liborPaths<<<(npath + 63) / 64, 64>>>(lam, val, npath, NN, 40, 0.25f);
  show("liborPaths", val, npath * sizeof(float));

  int gens = 1024, rounds = 24;
  unsigned *sd = mk<unsigned>(gens), *rn = mk<unsigned>((size_t)gens * rounds * MT_N);
  mersenneBlocks<<<gens, 256>>>(sd, rn, rounds);
  show("mersenneBlocks", rn, (size_t)gens * rounds * MT_N * sizeof(unsigned));

  int dims = 40;
  unsigned nv = 500000, hd[40 * 32], *dd;
  for (int d = 0; d < dims; d++)
    for (int k = 0; k < 32; k++) hd[d * 32 + k] = ((2u * ((d * 37u + k * 11u) % (1u << (k < 16 ? k : 16))) + 1u) << (31 - k));
  cudaMalloc(&dd, sizeof(hd));
  cudaMemcpy(dd, hd, sizeof(hd), cudaMemcpyHostToDevice);
  float *sob = mk<float>((size_t)nv * dims);
  sobolNormals<<<dim3(64, dims), 128>>>(dd, sob, nv);
  show("sobolNormals", sob, (size_t)nv * dims * sizeof(float));

  int nb = 2000;
  double *ks = mk<double>(nb), *gr = mk<double>((size_t)nb * 255);
  pdeKnockOut<255><<<nb, 255>>>(ks, gr, 600, 0.2, 0.05, 0.0003);
  show("pdeKnockOut", gr, (size_t)nb * 255 * sizeof(double));

  int books = 2500, scen = 1000, fac = 25;
  float *ret = mk<float>(scen * fac), *ex = mk<float>(books * fac), *var = mk<float>(books), *es = mk<float>(books);
  historicalVaR<<<books, 256, (SCEN + fac) * sizeof(float)>>>(ret, ex, var, es, scen, fac);
  show("historicalVaR", var, books * sizeof(float));
  show("historicalVaR", es, books * sizeof(float));

  int paths = 100003, assets = 11;
  float *ch = mk<float>(assets * assets), *vo = mk<float>(assets), *po = mk<float>(paths);
  worstOfBasket<<<(paths + 127) / 128, 128>>>(ch, vo, po, assets, 24, paths);
  show("worstOfBasket", po, paths * sizeof(float));
  return 0;
}
