// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MD5 of short numbered messages, one a thread and round, as password searches do.
#include "timing.h"

constexpr int Block = 256;

__device__ unsigned rotate(unsigned x, int s) { return (x << s) | (x >> (32 - s)); }
__device__ void ff(unsigned &a, unsigned b, unsigned c, unsigned d, unsigned m, int s, unsigned k) {
  a = b + rotate(a + ((b & c) | (~b & d)) + m + k, s);
}
__device__ void gg(unsigned &a, unsigned b, unsigned c, unsigned d, unsigned m, int s, unsigned k) {
  a = b + rotate(a + ((d & b) | (~d & c)) + m + k, s);
}
__device__ void hh(unsigned &a, unsigned b, unsigned c, unsigned d, unsigned m, int s, unsigned k) {
  a = b + rotate(a + (b ^ c ^ d) + m + k, s);
}
__device__ void ii(unsigned &a, unsigned b, unsigned c, unsigned d, unsigned m, int s, unsigned k) {
  a = b + rotate(a + (c ^ (b | ~d)) + m + k, s);
}

__global__ void md5(const unsigned *__restrict__ salt, unsigned *out, int rounds) {
  const unsigned t = blockIdx.x * Block + threadIdx.x;
  unsigned m[16];
#pragma unroll
  for (int i = 0; i < 16; ++i)
    m[i] = salt[i] ^ (t * (2u * i + 1u));
  unsigned best = ~0u;
  for (int r = 0; r < rounds; ++r) {
    m[3] = t + r * 7919u;
    unsigned a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u;
    ff(a, b, c, d, m[0], 7, 0xd76aa478u); ff(d, a, b, c, m[1], 12, 0xe8c7b756u);
    ff(c, d, a, b, m[2], 17, 0x242070dbu); ff(b, c, d, a, m[3], 22, 0xc1bdceeeu);
    ff(a, b, c, d, m[4], 7, 0xf57c0fafu); ff(d, a, b, c, m[5], 12, 0x4787c62au);
    ff(c, d, a, b, m[6], 17, 0xa8304613u); ff(b, c, d, a, m[7], 22, 0xfd469501u);
    ff(a, b, c, d, m[8], 7, 0x698098d8u); ff(d, a, b, c, m[9], 12, 0x8b44f7afu);
    ff(c, d, a, b, m[10], 17, 0xffff5bb1u); ff(b, c, d, a, m[11], 22, 0x895cd7beu);
    ff(a, b, c, d, m[12], 7, 0x6b901122u); ff(d, a, b, c, m[13], 12, 0xfd987193u);
    ff(c, d, a, b, m[14], 17, 0xa679438eu); ff(b, c, d, a, m[15], 22, 0x49b40821u);
    gg(a, b, c, d, m[1], 5, 0xf61e2562u); gg(d, a, b, c, m[6], 9, 0xc040b340u);
    gg(c, d, a, b, m[11], 14, 0x265e5a51u); gg(b, c, d, a, m[0], 20, 0xe9b6c7aau);
    gg(a, b, c, d, m[5], 5, 0xd62f105du); gg(d, a, b, c, m[10], 9, 0x02441453u);
    gg(c, d, a, b, m[15], 14, 0xd8a1e681u); gg(b, c, d, a, m[4], 20, 0xe7d3fbc8u);
    gg(a, b, c, d, m[9], 5, 0x21e1cde6u); gg(d, a, b, c, m[14], 9, 0xc33707d6u);
    gg(c, d, a, b, m[3], 14, 0xf4d50d87u); gg(b, c, d, a, m[8], 20, 0x455a14edu);
    gg(a, b, c, d, m[13], 5, 0xa9e3e905u); gg(d, a, b, c, m[2], 9, 0xfcefa3f8u);
    gg(c, d, a, b, m[7], 14, 0x676f02d9u); gg(b, c, d, a, m[12], 20, 0x8d2a4c8au);
    hh(a, b, c, d, m[5], 4, 0xfffa3942u); hh(d, a, b, c, m[8], 11, 0x8771f681u);
    hh(c, d, a, b, m[11], 16, 0x6d9d6122u); hh(b, c, d, a, m[14], 23, 0xfde5380cu);
    hh(a, b, c, d, m[1], 4, 0xa4beea44u); hh(d, a, b, c, m[4], 11, 0x4bdecfa9u);
    hh(c, d, a, b, m[7], 16, 0xf6bb4b60u); hh(b, c, d, a, m[10], 23, 0xbebfbc70u);
    hh(a, b, c, d, m[13], 4, 0x289b7ec6u); hh(d, a, b, c, m[0], 11, 0xeaa127fau);
    hh(c, d, a, b, m[3], 16, 0xd4ef3085u); hh(b, c, d, a, m[6], 23, 0x04881d05u);
    hh(a, b, c, d, m[9], 4, 0xd9d4d039u); hh(d, a, b, c, m[12], 11, 0xe6db99e5u);
    hh(c, d, a, b, m[15], 16, 0x1fa27cf8u); hh(b, c, d, a, m[2], 23, 0xc4ac5665u);
    ii(a, b, c, d, m[0], 6, 0xf4292244u); ii(d, a, b, c, m[7], 10, 0x432aff97u);
    ii(c, d, a, b, m[14], 15, 0xab9423a7u); ii(b, c, d, a, m[5], 21, 0xfc93a039u);
    ii(a, b, c, d, m[12], 6, 0x655b59c3u); ii(d, a, b, c, m[3], 10, 0x8f0ccc92u);
    ii(c, d, a, b, m[10], 15, 0xffeff47du); ii(b, c, d, a, m[1], 21, 0x85845dd1u);
    ii(a, b, c, d, m[8], 6, 0x6fa87e4fu); ii(d, a, b, c, m[15], 10, 0xfe2ce6e0u);
    ii(c, d, a, b, m[6], 15, 0xa3014314u); ii(b, c, d, a, m[13], 21, 0x4e0811a1u);
    ii(a, b, c, d, m[4], 6, 0xf7537e82u); ii(d, a, b, c, m[11], 10, 0xbd3af235u);
    ii(c, d, a, b, m[2], 15, 0x2ad7d2bbu); ii(b, c, d, a, m[9], 21, 0xeb86d391u);
    const unsigned digest = (a + 0x67452301u) ^ (b + 0xefcdab89u) ^ (c + 0x98badcfeu) ^ (d + 0x10325476u);
    best = digest < best ? digest : best;
  }
  out[t] = best;
}

int main() {
  const int threads = 1 << 20;
  unsigned *salt = ints(16, 1), *out = ints(threads, 2);
  report("md5", out, sizeof(unsigned) * threads, [&] { md5<<<threads / Block, Block>>>(salt, out, 64); });
}
