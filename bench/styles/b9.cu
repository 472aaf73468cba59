#include "shown.h"
#include <stdint.h>

#define BIN_COUNT 256
__global__ void histogram256_shared(const unsigned int *d_Data, unsigned int *d_Partial, unsigned int dataCount) {
  __shared__ unsigned int s_Hist[BIN_COUNT];
  for (int i = threadIdx.x; i < BIN_COUNT; i += blockDim.x) s_Hist[i] = 0;
  __syncthreads();
  for (unsigned int pos = blockIdx.x * blockDim.x + threadIdx.x; pos < dataCount; pos += blockDim.x * gridDim.x) {
    unsigned int data = d_Data[pos] * 2654435761u;
    atomicAdd(&s_Hist[(data >> 0) & 0xFFU], 1);
    atomicAdd(&s_Hist[(data >> 8) & 0xFFU], 1);
    atomicAdd(&s_Hist[(data >> 16) & 0xFFU], 1);
    atomicAdd(&s_Hist[(data >> 24) & 0xFFU], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < BIN_COUNT; i += blockDim.x) d_Partial[blockIdx.x * BIN_COUNT + i] = s_Hist[i];
}

// per-thread byte counters in shared (histogram64 like)
#define H64_THREADS 64
#define H64_BINS 64
__global__ void histogram64_private(const unsigned char *data, unsigned int *out, int perThread) {
  __shared__ unsigned char h[H64_BINS * H64_THREADS];
  for (int b = 0; b < H64_BINS; ++b) h[b * H64_THREADS + threadIdx.x] = 0;
  __syncthreads();
  const unsigned char *p = data + (size_t)blockIdx.x * perThread * H64_THREADS;
  for (int i = 0; i < perThread; ++i) {
    int bin = (p[i * H64_THREADS + threadIdx.x] * 5) & 63;
    h[bin * H64_THREADS + threadIdx.x]++;
  }
  __syncthreads();
  if (threadIdx.x < H64_BINS) {
    unsigned int sum = 0;
    for (int t = 0; t < H64_THREADS; ++t) sum += h[threadIdx.x * H64_THREADS + ((t + threadIdx.x) & (H64_THREADS - 1))];
    out[blockIdx.x * H64_BINS + threadIdx.x] = sum;
  }
}

// CRC-32 per message, table built in shared
__global__ void crc32_table_shared(const uint8_t *msgs, size_t pitch, int len, uint32_t *crc, int count) {
  __shared__ uint32_t table[256];
  for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = (c & 1) ? (0xEDB88320u ^ (c >> 1)) : (c >> 1);
    table[i] = c;
  }
  __syncthreads();
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= count) return;
  const uint8_t *m = msgs + id * pitch;
  uint32_t c = 0xFFFFFFFFu;
  for (int i = 0; i < len; i++) c = table[(c ^ m[i]) & 0xFF] ^ (c >> 8);
  crc[id] = ~c;
}

// AES-like rounds with T-table in shared (T0 rotated)
#define ROTL(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
__global__ void aes_ttable_encrypt(const uint4 *in, uint4 *out, const uint32_t *T0g, const uint32_t *rk, int rounds, unsigned nblocks) {
  __shared__ uint32_t sT0[256];
  __shared__ uint32_t sRK[44];
  if (threadIdx.x < 256) sT0[threadIdx.x] = T0g[threadIdx.x];
  if (threadIdx.x < 44) sRK[threadIdx.x] = rk[threadIdx.x];
  __syncthreads();
  unsigned stride = blockDim.x * gridDim.x;
  for (unsigned b = blockIdx.x * blockDim.x + threadIdx.x; b < nblocks; b += stride) {
    uint4 s = in[b];
    s.x ^= sRK[0]; s.y ^= sRK[1]; s.z ^= sRK[2]; s.w ^= sRK[3];
    for (int r = 1; r <= rounds; r++) {
      uint4 t;
      t.x = sT0[s.x >> 24] ^ ROTL(sT0[(s.y >> 16) & 0xff], 24) ^ ROTL(sT0[(s.z >> 8) & 0xff], 16) ^ ROTL(sT0[s.w & 0xff], 8) ^ sRK[4 * r];
      t.y = sT0[s.y >> 24] ^ ROTL(sT0[(s.z >> 16) & 0xff], 24) ^ ROTL(sT0[(s.w >> 8) & 0xff], 16) ^ ROTL(sT0[s.x & 0xff], 8) ^ sRK[4 * r + 1];
      t.z = sT0[s.z >> 24] ^ ROTL(sT0[(s.w >> 16) & 0xff], 24) ^ ROTL(sT0[(s.x >> 8) & 0xff], 16) ^ ROTL(sT0[s.y & 0xff], 8) ^ sRK[4 * r + 2];
      t.w = sT0[s.w >> 24] ^ ROTL(sT0[(s.x >> 16) & 0xff], 24) ^ ROTL(sT0[(s.y >> 8) & 0xff], 16) ^ ROTL(sT0[s.z & 0xff], 8) ^ sRK[4 * r + 3];
      s = t;
    }
    out[b] = s;
  }
}

// GF(2^8) erasure coding, log/exp tables in shared
__global__ void gf_encode(const uint8_t *data, uint8_t *code, const uint8_t *matrix, int k, int m, int chunk) {
  __shared__ uint8_t gflog[256];
  __shared__ uint8_t gfexp[512];
  extern __shared__ uint8_t mat[];
  if (threadIdx.x == 0) {
    int b = 1;
    for (int i = 0; i < 255; i++) {
      gflog[b] = i;
      gfexp[i] = b;
      gfexp[i + 255] = b;
      b <<= 1;
      if (b & 256) b ^= 285;
    }
    gflog[0] = 0;
    gfexp[510] = gfexp[511] = 0;
  }
  for (int i = threadIdx.x; i < k * m; i += blockDim.x) mat[i] = matrix[i];
  __syncthreads();
  for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < chunk; x += gridDim.x * blockDim.x) {
    for (int r = 0; r < m; r++) {
      uint8_t acc = 0;
      for (int c = 0; c < k; c++) {
        uint8_t d = data[(size_t)c * chunk + x], f = mat[r * k + c];
        if (d && f) acc ^= gfexp[gflog[d] + gflog[f]];
      }
      code[(size_t)r * chunk + x] = acc;
    }
  }
}

int main() {
  {
    unsigned n = 8000000, g = 240;
    unsigned *d = mk<unsigned>(n), *p = mk<unsigned>(g * 256);
    histogram256_shared<<<g, 192>>>(d, p, n);
    show("histogram256_shared", p, g * 1024);
  }
  {
    int nb = 1600, per = 200;
    unsigned char *d = mk<unsigned char>((size_t)nb * per * H64_THREADS);
    unsigned *o = mk<unsigned>(nb * 64);
    histogram64_private<<<nb, H64_THREADS>>>(d, o, per);
    show("histogram64_private", o, nb * 64 * 4);
  }
  {
    int count = 50021, len = 253;
    size_t pitch = 256;
    uint8_t *m = mk<uint8_t>(pitch * count);
    uint32_t *c = mk<uint32_t>(count);
    crc32_table_shared<<<(count + 127) / 128, 128>>>(m, pitch, len, c, count);
    show("crc32_table_shared", c, count * 4);
  }
  {
    unsigned nb = 1000000;
    uint4 *in = (uint4 *)mk<uint32_t>(nb * 4), *out = (uint4 *)mk<uint32_t>(nb * 4);
    uint32_t h[256], k[44], *T, *rk;
    for (int i = 0; i < 256; i++) h[i] = (i * 2654435761u) ^ (i << 7);
    for (int i = 0; i < 44; i++) k[i] = i * 0x9E3779B9u;
    cudaMalloc(&T, 1024); cudaMalloc(&rk, 176);
    cudaMemcpy(T, h, 1024, cudaMemcpyHostToDevice);
    cudaMemcpy(rk, k, 176, cudaMemcpyHostToDevice);
    aes_ttable_encrypt<<<528, 256>>>(in, out, T, rk, 10, nb);
    show("aes_ttable_encrypt", out, nb * 16);
  }
  {
    int k = 10, m = 4, chunk = 500009;
    uint8_t *d = mk<uint8_t>((size_t)k * chunk), *c = mk<uint8_t>((size_t)m * chunk), *M = mk<uint8_t>(k * m);
    gf_encode<<<400, 256, k * m>>>(d, c, M, k, m, chunk);
    show("gf_encode", c, (size_t)m * chunk);
  }
}
