// symmetric ciphers, hashes and byte statistics
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define ck(x) if (cudaError_t e = (x)) { std::printf("error %d at %d: %s\n", (int)e, __LINE__, cudaGetErrorString(e)); return 1; }

__constant__ uint32_t roundKey[44];
__constant__ uint32_t K256[64];

// AES-128 like rounds in counter mode, one T-table copied to shared memory and rotated
__global__ void aes_ctr_ttable(const uint32_t *T0, const uint4 *in, uint4 *out, uint32_t nonce, int blocks) {
  __shared__ uint32_t te[256];
  te[threadIdx.x] = T0[threadIdx.x];
  __syncthreads();
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= blocks) return;
  uint32_t s0 = nonce ^ roundKey[0], s1 = roundKey[1], s2 = roundKey[2], s3 = (uint32_t)id ^ roundKey[3];
  for (int r = 1; r <= 10; r++) {
#define ROT(v, n) (((v) << (n)) | ((v) >> (32 - (n))))
#define COLUMN(a, b, c, d, k) (te[(a) & 255] ^ ROT(te[((b) >> 8) & 255], 8) ^ ROT(te[((c) >> 16) & 255], 16) ^ ROT(te[(d) >> 24], 24) ^ roundKey[4 * r + (k)])
    uint32_t t0 = COLUMN(s0, s1, s2, s3, 0), t1 = COLUMN(s1, s2, s3, s0, 1), t2 = COLUMN(s2, s3, s0, s1, 2), t3 = COLUMN(s3, s0, s1, s2, 3);
    s0 = t0; s1 = t1; s2 = t2; s3 = t3;
  }
  uint4 p = in[id];
  out[id] = make_uint4(p.x ^ s0, p.y ^ s1, p.z ^ s2, p.w ^ s3);
}

// SHA-256 of a one-block message with a nonce, schedule as a ring of 16 words
__device__ __forceinline__ uint32_t rr(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }
__global__ void sha256_nonce_scan(const uint32_t *msg, uint32_t *best, uint32_t first) {
  __shared__ uint32_t base[16];
  __shared__ uint32_t low[256];
  if (threadIdx.x < 16) base[threadIdx.x] = msg[threadIdx.x];
  __syncthreads();
  uint32_t w[16];
  for (int i = 0; i < 16; i++) w[i] = base[i];
  w[3] = first + blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
  for (int i = 0; i < 64; i++) {
    uint32_t wi = w[i & 15];
    uint32_t t1 = h + (rr(e, 6) ^ rr(e, 11) ^ rr(e, 25)) + ((e & f) ^ (~e & g)) + K256[i] + wi;
    uint32_t t2 = (rr(a, 2) ^ rr(a, 13) ^ rr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
    uint32_t x = w[(i + 1) & 15], y = w[(i + 14) & 15];
    w[i & 15] = wi + w[(i + 9) & 15] + (rr(x, 7) ^ rr(x, 18) ^ (x >> 3)) + (rr(y, 17) ^ rr(y, 19) ^ (y >> 10));
  }
  low[threadIdx.x] = a + 0x6a09e667;
  __syncthreads();
  for (int s = blockDim.x >> 1; s; s >>= 1) {
    if (threadIdx.x < s) low[threadIdx.x] = min(low[threadIdx.x], low[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) best[blockIdx.x] = low[0];
}

// RC4 key streams, the permutation lives in a private array
__global__ void rc4_streams(const uint8_t *keys, int keyLen, uint32_t *stream, int words, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= n) return;
  uint8_t S[256];
  for (int i = 0; i < 256; i++) S[i] = i;
  const uint8_t *key = keys + (size_t)id * keyLen;
  uint8_t j = 0;
  for (int i = 0; i < 256; i++) {
    j += S[i] + key[i % keyLen];
    uint8_t t = S[i]; S[i] = S[j]; S[j] = t;
  }
  uint8_t a = 0, b = 0;
  for (int w = 0; w < words; w++) {
    uint32_t o = 0;
    for (int k = 0; k < 4; k++) {
      a++;
      b += S[a];
      uint8_t t = S[a]; S[a] = S[b]; S[b] = t;
      o |= (uint32_t)S[(uint8_t)(S[a] + S[b])] << (8 * k);
    }
    stream[(size_t)w * n + id] = o;
  }
}

// byte histogram, private to the block
__global__ void byte_hist_block(const uint32_t *data, unsigned *hist, int n) {
  __shared__ unsigned h[256];
  h[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uint32_t v = data[i];
    atomicAdd(&h[v & 255], 1u);
    atomicAdd(&h[(v >> 8) & 255], 1u);
    atomicAdd(&h[(v >> 16) & 255], 1u);
    atomicAdd(&h[v >> 24], 1u);
  }
  __syncthreads();
  atomicAdd(&hist[threadIdx.x], h[threadIdx.x]);
}

// plugboard style delta: xor with the 4 preceding bytes (autokey diffusion)
__global__ void autokey_xor4(const uint8_t *in, uint8_t *out, int n, uint32_t iv) {
  __shared__ uint8_t s[512 + 4];
  int i = blockIdx.x * 512 + threadIdx.x;
  if (i < n) s[threadIdx.x + 4] = in[i];
  if (threadIdx.x < 4) s[threadIdx.x] = blockIdx.x ? in[i - 4] : (uint8_t)(iv >> (8 * threadIdx.x));
  __syncthreads();
  if (i < n) out[i] = s[threadIdx.x + 4] ^ s[threadIdx.x + 3] ^ (uint8_t)(s[threadIdx.x + 2] << 1) ^ (uint8_t)(s[threadIdx.x + 1] >> 1) ^ s[threadIdx.x];
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 2000003;
  std::vector<uint32_t> h((size_t)blocks * 4), tab(256), k(64);
  uint32_t s = 2463534242u;
  auto rnd = [&]() { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; };
  for (auto &v : h) v = rnd();
  for (auto &v : tab) v = rnd();
  for (auto &v : k) v = rnd();
  uint32_t *din, *dout, *dtab;
  ck(cudaMalloc(&din, h.size() * 4));
  ck(cudaMalloc(&dout, h.size() * 4));
  ck(cudaMalloc(&dtab, 256 * 4));
  ck(cudaMemcpy(din, h.data(), h.size() * 4, cudaMemcpyHostToDevice));
  ck(cudaMemcpy(dtab, tab.data(), 256 * 4, cudaMemcpyHostToDevice));
  ck(cudaMemcpyToSymbol(roundKey, k.data(), 44 * 4));
  ck(cudaMemcpyToSymbol(K256, k.data(), 64 * 4));
  aes_ctr_ttable<<<(blocks + 255) / 256, 256>>>(dtab, (uint4 *)din, (uint4 *)dout, 0xdeadbeef, blocks);
  ck(cudaGetLastError());
  int nonceBlocks = 8192;
  sha256_nonce_scan<<<nonceBlocks, 256>>>(din, dout, 1000);
  ck(cudaGetLastError());
  int streams = 40000, words = 32;
  rc4_streams<<<(streams + 127) / 128, 128>>>((uint8_t *)din, 16, dout, words, streams);
  ck(cudaGetLastError());
  unsigned *hist;
  ck(cudaMalloc(&hist, 256 * 4));
  ck(cudaMemset(hist, 0, 256 * 4));
  byte_hist_block<<<1056, 256>>>(din, hist, blocks * 4);
  ck(cudaGetLastError());
  int bytes = blocks * 16 - 5;
  autokey_xor4<<<(bytes + 511) / 512, 512>>>((uint8_t *)din, (uint8_t *)dout, bytes, 0x01020304);
  ck(cudaGetLastError());
  ck(cudaDeviceSynchronize());
  cudaFree(din); cudaFree(dout); cudaFree(dtab); cudaFree(hist);
  return 0;
}
