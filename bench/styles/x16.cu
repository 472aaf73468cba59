// assorted: tridiagonal solver, wavelet, options, scientific bits
#include <cuda_runtime.h>
#include <cstdlib>
#include <cstdio>
#include <cmath>
#define SAFE(call)                                              \
  do {                                                          \
    cudaError_t rc = call;                                      \
    if (rc != cudaSuccess) {                                    \
      fprintf(stderr, "cuda: %s @%d\n", cudaGetErrorString(rc), __LINE__); \
      exit(rc);                                                 \
    }                                                           \
  } while (0)

// Haar wavelet, several levels in a block of 512 samples
__global__ void haar1d(const float *in, float *approx, float *detail, int levels) {
  __shared__ float s[512];
  int t = threadIdx.x;
  const float *p = in + blockIdx.x * 512;
  float *dt = detail + blockIdx.x * 512;
  s[t] = p[t];
  s[t + 256] = p[t + 256];
  __syncthreads();
  int n = 256;
  int off = 256;
  for (int l = 0; l < levels; l++) {
    float lo = 0, hi = 0;
    if (t < n) {
      float x0 = s[2 * t], x1 = s[2 * t + 1];
      lo = (x0 + x1) * 0.70710678f;
      hi = (x0 - x1) * 0.70710678f;
    }
    __syncthreads();
    if (t < n) {
      s[t] = lo;
      dt[off + t] = hi;
    }
    __syncthreads();
    n >>= 1;
    off >>= 1;
  }
  int m = 512 >> levels;
  if (t < m) approx[blockIdx.x * m + t] = s[t];
}

// binomial American put, tree level in shared memory, one option per block
#define STEPS 255
__global__ void binomial_put(const float *S, const float *X, float *price, float T, float r, float vol) {
  __shared__ float call[STEPS + 1];
  int i = threadIdx.x;
  float dt = T / STEPS, u = expf(vol * sqrtf(dt)), d = 1.f / u, disc = expf(-r * dt), pu = (expf(r * dt) - d) / (u - d);
  float s0 = S[blockIdx.x], k = X[blockIdx.x];
  float st = s0 * powf(u, 2.f * i - STEPS);
  call[i] = fmaxf(k - st, 0.f);
  __syncthreads();
  for (int lev = STEPS; lev > 0; lev--) {
    float v = 0.f;
    if (i < lev) {
      st *= u;  // node i of level lev-1
      v = disc * (pu * call[i + 1] + (1.f - pu) * call[i]);
      v = fmaxf(v, k - st);
    }
    __syncthreads();
    if (i < lev) call[i] = v;
    __syncthreads();
  }
  if (i == 0) price[blockIdx.x] = call[0];
}

// non-uniform Fourier sum (MRI): k-space trajectory staged as structs
struct kValues { float Kx, Ky, Kz, PhiMag; };
#define K_ELEMS 128
__global__ void compute_Q(const kValues *ck, int numK, const float *x, const float *y, const float *z, float *Qr, float *Qi, int numX) {
  __shared__ kValues s_k[K_ELEMS];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int ii = i < numX ? i : numX - 1;
  float sX = x[ii], sY = y[ii], sZ = z[ii], sQr = 0, sQi = 0;
  for (int k0 = 0; k0 < numK; k0 += K_ELEMS) {
    if (threadIdx.x < K_ELEMS && k0 + threadIdx.x < numK) s_k[threadIdx.x] = ck[k0 + threadIdx.x];
    __syncthreads();
    int lim = min(K_ELEMS, numK - k0);
    for (int k = 0; k < lim; k++) {
      float e = 6.2831853f * (s_k[k].Kx * sX + s_k[k].Ky * sY + s_k[k].Kz * sZ);
      sQr += s_k[k].PhiMag * __cosf(e);
      sQi += s_k[k].PhiMag * __sinf(e);
    }
    __syncthreads();
  }
  if (i < numX) { Qr[i] = sQr; Qi[i] = sQi; }
}

// two-point angular correlation: dot products binned by boundaries held in shared, histogram in shared
#define NBINS 20
__global__ void tpacf_hist(const float3 *pts, const float *binb, unsigned *hist, int n) {
  __shared__ float3 tile[256];
  __shared__ float bb[NBINS + 1];
  __shared__ unsigned hb[NBINS];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (t <= NBINS) bb[t] = binb[t];
  if (t < NBINS) hb[t] = 0;
  float3 me = i < n ? pts[i] : make_float3(0, 0, 0);
  for (int j0 = 0; j0 < n; j0 += 256) {
    __syncthreads();
    if (j0 + t < n) tile[t] = pts[j0 + t];
    __syncthreads();
    int lim = min(256, n - j0);
    if (i < n)
      for (int j = 0; j < lim; j++) {
        float dot = me.x * tile[j].x + me.y * tile[j].y + me.z * tile[j].z;
        int lo = 0, hi = NBINS;
        while (hi > lo + 1) {
          int k = (lo + hi) / 2;
          if (dot >= bb[k]) lo = k;
          else hi = k;
        }
        if (dot >= bb[lo]) atomicAdd(&hb[lo], 1u);
      }
  }
  __syncthreads();
  if (t < NBINS) atomicAdd(&hist[t], hb[t]);
}

template <class T> T *arr(size_t n, T base, T inc, int mod) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; i++) h[i] = base + (T)((i * 48271u >> 3) % mod) * inc;
  SAFE(cudaMalloc(&d, n * sizeof(T)));
  SAFE(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main() {
  int sys = 8192;
  size_t n = (size_t)sys * 256;
  double *a = arr<double>(n, -1.0, -0.01, 10), *b = arr<double>(n, 4.0, 0.1, 20), *c = arr<double>(n, -1.0, 0.02, 7), *d = arr<double>(n, 1.0, 1.0, 9),
         *x = arr<double>(n, 0.0, 0.0, 1);
  float *f = arr<float>(1 << 24, 0.f, 0.25f, 300), *ap = arr<float>(1 << 22, 0.f, 0.f, 1), *det = arr<float>(1 << 24, 0.f, 0.f, 1);
  haar1d<<<(1 << 24) / 512, 256>>>(f, ap, det, 5);
  float *S = arr<float>(4096, 90.f, 0.5f, 40), *X = arr<float>(4096, 95.f, 0.3f, 33);
  binomial_put<<<4096, STEPS + 1>>>(S, X, ap, 1.f, 0.03f, 0.25f);
  int numX = 100000, numK = 2100;
  kValues *kv = (kValues *)arr<float>(numK * 4, -0.5f, 0.001f, 1000);
  float *px = arr<float>(3 * numX, -1.f, 0.01f, 200);
  compute_Q<<<(numX + 255) / 256, 256>>>(kv, numK, px, px + numX, px + 2 * numX, det, det + numX, numX);
  int np = 9999;
  float hb[NBINS + 1];
  for (int i = 0; i <= NBINS; i++) hb[i] = -3.f + 0.3f * i;
  float *bb;
  unsigned *hist = arr<unsigned>(NBINS, 0, 0, 1);
  SAFE(cudaMalloc(&bb, sizeof hb));
  SAFE(cudaMemcpy(bb, hb, sizeof hb, cudaMemcpyHostToDevice));
  tpacf_hist<<<(np + 255) / 256, 256>>>((float3 *)px, bb, hist, np);
  int sw = 1001, sh = 777;
  short *si = arr<short>(sw * sh, 0, 1, 4096), *so = arr<short>(4 * sw * sh, 0, 0, 1);
  SAFE(cudaGetLastError());
  SAFE(cudaDeviceSynchronize());
  return 0;
}
