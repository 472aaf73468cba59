// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SHA-256 twice over block headers with counted nonces.
#include "timing.h"

constexpr int Block = 256;

__constant__ unsigned K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ unsigned ror(unsigned x, int s) { return (x >> s) | (x << (32 - s)); }

__device__ void compress(unsigned h[8], unsigned w[16]) {
  unsigned a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], k = h[7];
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    if (i >= 16) {
      const unsigned p = w[(i + 1) & 15], q = w[(i + 14) & 15];
      w[i & 15] += (ror(p, 7) ^ ror(p, 18) ^ (p >> 3)) + w[(i + 9) & 15] + (ror(q, 17) ^ ror(q, 19) ^ (q >> 10));
    }
    const unsigned t1 = k + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i & 15];
    const unsigned t2 = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    k = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
  }
  h[0] += a; h[1] += b; h[2] += c; h[3] += d; h[4] += e; h[5] += f; h[6] += g; h[7] += k;
}

__global__ void mine(const unsigned *__restrict__ header, unsigned *out, int rounds) {
  const unsigned t = blockIdx.x * Block + threadIdx.x;
  unsigned best = ~0u;
  for (int r = 0; r < rounds; ++r) {
    unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, w[16];
#pragma unroll
    for (int i = 0; i < 16; ++i)
      w[i] = header[i];
    w[3] = t * rounds + r;
    compress(h, w);
    unsigned second[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
#pragma unroll
    for (int i = 0; i < 8; ++i)
      w[i] = h[i];
    w[8] = 0x80000000u;
#pragma unroll
    for (int i = 9; i < 15; ++i)
      w[i] = 0;
    w[15] = 256;
    compress(second, w);
    best = second[7] < best ? second[7] : best;
  }
  out[t] = best;
}

int main() {
  const int threads = 1 << 19;
  unsigned *header = ints(16, 1), *out = ints(threads, 2);
  report("sha256", out, sizeof(unsigned) * threads, [&] { mine<<<threads / Block, Block>>>(header, out, 8); });
}
