// radio astronomy back end
#include "h.h"
#include <cstdint>

typedef float2 cplx;

#define NANT_TILE 8
#define CMAC(acc, a, b) do { (acc).x += (a).x * (b).x + (a).y * (b).y; (acc).y += (a).y * (b).x - (a).x * (b).y; } while (0)

// visibilities V[f][i][j] = sum_t S[f][t][i] conj(S[f][t][j]); block 8x8 antennas, 32 samples staged at a time
__global__ void xengine(const cplx *__restrict__ S, cplx *__restrict__ V, int nant, int ntime) {
  __shared__ cplx si[32][NANT_TILE];
  __shared__ cplx sj[32][NANT_TILE];
  const cplx *base = S + (size_t)blockIdx.z * ntime * nant;
  const int i0 = blockIdx.y * NANT_TILE, j0 = blockIdx.x * NANT_TILE;
  const int tx = threadIdx.x, ty = threadIdx.y;
  cplx acc = make_float2(0.f, 0.f);
  for (int t0 = 0; t0 < ntime; t0 += 32) {
    for (int t = ty; t < 32; t += NANT_TILE) {
      si[t][tx] = (t0 + t < ntime && i0 + tx < nant) ? base[(size_t)(t0 + t) * nant + i0 + tx] : make_float2(0.f, 0.f);
      sj[t][tx] = (t0 + t < ntime && j0 + tx < nant) ? base[(size_t)(t0 + t) * nant + j0 + tx] : make_float2(0.f, 0.f);
    }
    __syncthreads();
    for (int t = 0; t < 32; ++t) CMAC(acc, si[t][ty], sj[t][tx]);
    __syncthreads();
  }
  if (i0 + ty < nant && j0 + tx < nant) V[((size_t)blockIdx.z * nant + i0 + ty) * nant + j0 + tx] = acc;
}

// Lomb-Scargle like power at many frequencies: all samples pass through shared memory
__global__ void ls_power(const float *t, const float *y, int nobs, float f0, float df, float *power, int nfreq) {
  __shared__ float st[256];
  __shared__ float sy[256];
  const int f = blockIdx.x * 256 + threadIdx.x;
  const float w = 6.2831853f * (f0 + df * f);
  float c = 0.f, s = 0.f;
  for (int b = 0; b < nobs; b += 256) {
    const int o = b + threadIdx.x;
    st[threadIdx.x] = o < nobs ? t[o] : 0.f;
    sy[threadIdx.x] = o < nobs ? y[o] : 0.f;
    __syncthreads();
    for (int k = 0; k < 256; ++k) {
      float sn, cs;
      __sincosf(w * st[k], &sn, &cs);
      c += sy[k] * cs;
      s += sy[k] * sn;
    }
    __syncthreads();
  }
  if (f < nfreq) power[f] = (c * c + s * s) / nobs;
}

// short lag autocorrelation of each channel: R[ch][lag], a block a channel, tile of samples + lags, tree at the end
__global__ void autocorr_lags(const float *x, float *R, int len, int nlag) {
  __shared__ float w[256 + 16];
  __shared__ float red[256];
  const float *row = x + (size_t)blockIdx.x * len;
  float acc[16];
#pragma unroll
  for (int l = 0; l < 16; ++l) acc[l] = 0.f;
  for (int b = 0; b < len; b += 256) {
    for (int i = threadIdx.x; i < 256 + 16; i += 256) w[i] = b + i < len ? row[b + i] : 0.f;
    __syncthreads();
#pragma unroll
    for (int l = 0; l < 16; ++l) acc[l] += w[threadIdx.x] * w[threadIdx.x + l];
    __syncthreads();
  }
#pragma unroll
  for (int l = 0; l < 16; ++l) {
    if (l >= nlag) break;
    red[threadIdx.x] = acc[l];
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
      if (threadIdx.x < d) red[threadIdx.x] += red[threadIdx.x + d];
      __syncthreads();
    }
    if (threadIdx.x == 0) R[blockIdx.x * nlag + l] = red[0];
    __syncthreads();
  }
}

static void tell(const char *n, const void *d, size_t b) {
  unsigned char *h = (unsigned char *)malloc(b);
  cudaMemcpy(h, d, b, cudaMemcpyDeviceToHost);
  uint64_t f = 14695981039346656037ull;
  for (size_t i = 0; i < b; i++) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s %016lx\n", n, f);
  free(h);
}

int main() {
  const int nant = 60, nt = 256, nf = 256;
  cplx *S = (cplx *)mk<float>((size_t)2 * nant * nt * nf), *V;
  cudaMalloc(&V, sizeof(cplx) * nf * nant * nant);
  xengine<<<dim3((nant + 7) / 8, (nant + 7) / 8, nf), dim3(8, 8)>>>(S, V, nant, nt);
  const int nobs = 700, nfreq = 300000;
  float *t = mk<float>(nobs), *y = mk<float>(nobs + 23), *P;
  cudaMalloc(&P, nfreq * 4);
  ls_power<<<(nfreq + 255) / 256, 256>>>(t, y + 23, nobs, 0.01f, 1e-5f, P, nfreq);
  const int ch = 2048, len = 4000, nlag = 12;
  float *x = mk<float>((size_t)ch * len), *R;
  cudaMalloc(&R, ch * nlag * 4);
  autocorr_lags<<<ch, 256>>>(x, R, len, nlag);
  cudaDeviceSynchronize();
  tell("vis", V, sizeof(cplx) * nf * nant * nant);
  tell("power", P, nfreq * 4);
  tell("acf", R, ch * nlag * 4);
}
