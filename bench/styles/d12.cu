// Hashes and ciphers: MD5, SHA-256, AES with shared T table, CRC32 slicing, ChaCha20, RC4
#include "shown.h"
#include <cstdint>

// ------------------------------------------------------------------ MD5
#define F(x, y, z) (((x) & (y)) | ((~x) & (z)))
#define G(x, y, z) (((x) & (z)) | ((y) & (~z)))
#define H(x, y, z) ((x) ^ (y) ^ (z))
#define I(x, y, z) ((y) ^ ((x) | (~z)))
#define ROTATE_LEFT(x, n) (((x) << (n)) | ((x) >> (32 - (n))))

__constant__ uint32_t md5_k[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

__global__ void md5Brute(uint4 *digest, uint32_t start)
{
    const int s[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
    uint32_t key = start + blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t w[16];
    for (int i = 0; i < 16; i++) w[i] = 0;
    // eight letters from the key number
    unsigned char *msg = (unsigned char *)w;
    uint32_t k = key;
    for (int i = 0; i < 8; i++) {
        msg[i] = 'a' + k % 26;
        k /= 26;
    }
    msg[8] = 0x80;
    w[14] = 64;
    uint32_t a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
    for (int i = 0; i < 64; i++) {
        uint32_t f;
        int g;
        if (i < 16)      { f = F(b, c, d); g = i; }
        else if (i < 32) { f = G(b, c, d); g = (5 * i + 1) & 15; }
        else if (i < 48) { f = H(b, c, d); g = (3 * i + 5) & 15; }
        else             { f = I(b, c, d); g = (7 * i) & 15; }
        uint32_t t = d;
        d = c;
        c = b;
        uint32_t sum = a + f + md5_k[i] + w[g];
        b = b + ROTATE_LEFT(sum, s[(i / 16) * 4 + (i & 3)]);
        a = t;
    }
    digest[blockIdx.x * blockDim.x + threadIdx.x] =
        make_uint4(a + 0x67452301, b + 0xefcdab89, c + 0x98badcfe, d + 0x10325476);
}
#undef F
#undef G
#undef H
#undef I

// ------------------------------------------------------------------ SHA-256
__constant__ uint32_t dev_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

#define ROTRIGHT(a, b) (((a) >> (b)) | ((a) << (32 - (b))))
#define CH(x, y, z) (((x) & (y)) ^ (~(x) & (z)))
#define MAJ(x, y, z) (((x) & (y)) ^ ((x) & (z)) ^ ((y) & (z)))
#define EP0(x) (ROTRIGHT(x, 2) ^ ROTRIGHT(x, 13) ^ ROTRIGHT(x, 22))
#define EP1(x) (ROTRIGHT(x, 6) ^ ROTRIGHT(x, 11) ^ ROTRIGHT(x, 25))
#define SIG0(x) (ROTRIGHT(x, 7) ^ ROTRIGHT(x, 18) ^ ((x) >> 3))
#define SIG1(x) (ROTRIGHT(x, 17) ^ ROTRIGHT(x, 19) ^ ((x) >> 10))

struct SHA256_CTX {
    uint32_t state[8];
    uint32_t datalen;
    unsigned char data[64];
};

__device__ void sha256_transform(SHA256_CTX *ctx)
{
    uint32_t a, b, c, d, e, f, g, h, i, j, t1, t2, m[64];
    for (i = 0, j = 0; i < 16; ++i, j += 4)
        m[i] = ((uint32_t)ctx->data[j] << 24) | (ctx->data[j + 1] << 16) | (ctx->data[j + 2] << 8) | (ctx->data[j + 3]);
    for (; i < 64; ++i)
        m[i] = SIG1(m[i - 2]) + m[i - 7] + SIG0(m[i - 15]) + m[i - 16];
    a = ctx->state[0]; b = ctx->state[1]; c = ctx->state[2]; d = ctx->state[3];
    e = ctx->state[4]; f = ctx->state[5]; g = ctx->state[6]; h = ctx->state[7];
    for (i = 0; i < 64; ++i) {
        t1 = h + EP1(e) + CH(e, f, g) + dev_k[i] + m[i];
        t2 = EP0(a) + MAJ(a, b, c);
        h = g; g = f; f = e;
        e = d + t1;
        d = c; c = b; b = a;
        a = t1 + t2;
    }
    ctx->state[0] += a; ctx->state[1] += b; ctx->state[2] += c; ctx->state[3] += d;
    ctx->state[4] += e; ctx->state[5] += f; ctx->state[6] += g; ctx->state[7] += h;
}

__global__ void sha256_nonce(const unsigned char *header, uint32_t *first, int *wins)
{
    SHA256_CTX ctx;
    const uint32_t init[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint32_t nonce = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 8; i++) ctx.state[i] = init[i];
    for (int i = 0; i < 48; i++) ctx.data[i] = header[i];
    for (int i = 0; i < 4; i++) ctx.data[48 + i] = (nonce >> (8 * i)) & 0xff;
    ctx.data[52] = 0x80;
    for (int i = 53; i < 62; i++) ctx.data[i] = 0;
    ctx.data[62] = (52 * 8) >> 8;
    ctx.data[63] = (52 * 8) & 0xff;
    ctx.datalen = 52;
    sha256_transform(&ctx);
    first[nonce] = ctx.state[0];
    if (ctx.state[0] < 0x00100000u) atomicAdd(wins, 1);
}

// ------------------------------------------------------------------ AES-128, one T table in shared memory
__device__ __forceinline__ uint32_t rotr8(uint32_t x, int n) { return n ? (x >> n) | (x << (32 - n)) : x; }

__global__ void aes128_ctr(const uint32_t *__restrict__ T0, const uint32_t *__restrict__ rk, const uint8_t *__restrict__ sbox,
                           const uint4 *__restrict__ in, uint4 *__restrict__ out, uint32_t ctr0)
{
    __shared__ uint32_t t0S[256];
    __shared__ uint8_t sbS[256];
    __shared__ uint32_t rkS[44];
    int t = threadIdx.x;
    t0S[t] = T0[t];
    sbS[t] = sbox[t];
    if (t < 44) rkS[t] = rk[t];
    __syncthreads();
    int idx = blockIdx.x * 256 + t;
    uint32_t s0 = 0x01234567u ^ rkS[0], s1 = 0x89abcdefu ^ rkS[1], s2 = rkS[2], s3 = (ctr0 + idx) ^ rkS[3];
    for (int r = 1; r < 10; r++) {
        uint32_t n0 = t0S[s0 >> 24] ^ rotr8(t0S[(s1 >> 16) & 0xff], 8) ^ rotr8(t0S[(s2 >> 8) & 0xff], 16) ^ rotr8(t0S[s3 & 0xff], 24) ^ rkS[4 * r];
        uint32_t n1 = t0S[s1 >> 24] ^ rotr8(t0S[(s2 >> 16) & 0xff], 8) ^ rotr8(t0S[(s3 >> 8) & 0xff], 16) ^ rotr8(t0S[s0 & 0xff], 24) ^ rkS[4 * r + 1];
        uint32_t n2 = t0S[s2 >> 24] ^ rotr8(t0S[(s3 >> 16) & 0xff], 8) ^ rotr8(t0S[(s0 >> 8) & 0xff], 16) ^ rotr8(t0S[s1 & 0xff], 24) ^ rkS[4 * r + 2];
        uint32_t n3 = t0S[s3 >> 24] ^ rotr8(t0S[(s0 >> 16) & 0xff], 8) ^ rotr8(t0S[(s1 >> 8) & 0xff], 16) ^ rotr8(t0S[s2 & 0xff], 24) ^ rkS[4 * r + 3];
        s0 = n0; s1 = n1; s2 = n2; s3 = n3;
    }
#define LAST(a, b, c, d) (((uint32_t)sbS[(a) >> 24] << 24) | ((uint32_t)sbS[((b) >> 16) & 0xff] << 16) | \
                          ((uint32_t)sbS[((c) >> 8) & 0xff] << 8) | sbS[(d) & 0xff])
    uint4 p = in[idx];
    p.x ^= LAST(s0, s1, s2, s3) ^ rkS[40];
    p.y ^= LAST(s1, s2, s3, s0) ^ rkS[41];
    p.z ^= LAST(s2, s3, s0, s1) ^ rkS[42];
    p.w ^= LAST(s3, s0, s1, s2) ^ rkS[43];
    out[idx] = p;
}

// ------------------------------------------------------------------ CRC32, slicing-by-4 table built in the block
__global__ void crc32Slices(const uint32_t *data, uint32_t *crc, int wordsPerLane)
{
    __shared__ uint32_t tab[4][256];
    uint32_t c = threadIdx.x;
    for (int k = 0; k < 8; k++) c = (c >> 1) ^ ((c & 1) ? 0xEDB88320u : 0u);
    tab[0][threadIdx.x] = c;
    __syncthreads();
    for (int s = 1; s < 4; s++) {
        uint32_t p = tab[s - 1][threadIdx.x];
        tab[s][threadIdx.x] = (p >> 8) ^ tab[0][p & 0xff];
    }
    __syncthreads();
    int lane = blockIdx.x * blockDim.x + threadIdx.x;
    int lanes = gridDim.x * blockDim.x;
    uint32_t v = 0xffffffffu;
    for (int i = 0; i < wordsPerLane; i++) {
        v ^= data[(size_t)i * lanes + lane];
        v = tab[3][v & 0xff] ^ tab[2][(v >> 8) & 0xff] ^ tab[1][(v >> 16) & 0xff] ^ tab[0][v >> 24];
    }
    crc[lane] = ~v;
}

// ------------------------------------------------------------------ ChaCha20
#define QUARTER(a, b, c, d)                         \
    x[a] += x[b]; x[d] ^= x[a]; x[d] = (x[d] << 16) | (x[d] >> 16); \
    x[c] += x[d]; x[b] ^= x[c]; x[b] = (x[b] << 12) | (x[b] >> 20); \
    x[a] += x[b]; x[d] ^= x[a]; x[d] = (x[d] << 8) | (x[d] >> 24);  \
    x[c] += x[d]; x[b] ^= x[c]; x[b] = (x[b] << 7) | (x[b] >> 25);

__global__ void chacha20_xor(const uint32_t *key, const uint32_t *plain, uint32_t *cipher, uint32_t nonce)
{
    uint32_t in[16], x[16];
    uint32_t blk = blockIdx.x * blockDim.x + threadIdx.x;
    in[0] = 0x61707865; in[1] = 0x3320646e; in[2] = 0x79622d32; in[3] = 0x6b206574;
    for (int i = 0; i < 8; i++) in[4 + i] = key[i];
    in[12] = blk; in[13] = nonce; in[14] = 7; in[15] = 9;
    for (int i = 0; i < 16; i++) x[i] = in[i];
    for (int r = 0; r < 10; r++) {
        QUARTER(0, 4, 8, 12)
        QUARTER(1, 5, 9, 13)
        QUARTER(2, 6, 10, 14)
        QUARTER(3, 7, 11, 15)
        QUARTER(0, 5, 10, 15)
        QUARTER(1, 6, 11, 12)
        QUARTER(2, 7, 8, 13)
        QUARTER(3, 4, 9, 14)
    }
    for (int i = 0; i < 16; i++)
        cipher[(size_t)blk * 16 + i] = plain[(size_t)blk * 16 + i] ^ (x[i] + in[i]);
}

// ------------------------------------------------------------------ RC4 key check, 32 threads, state in shared memory
__global__ void rc4Keys(uint32_t baseKey, uint32_t *stream)
{
    __shared__ unsigned char sbox[32][260];
    unsigned char *S = sbox[threadIdx.x];
    uint32_t id = blockIdx.x * 32 + threadIdx.x;
    uint32_t k = baseKey + id * 2654435761u;
    unsigned char key[5] = {(unsigned char)k, (unsigned char)(k >> 8), (unsigned char)(k >> 16), (unsigned char)(k >> 24), 0x5a};
    for (int i = 0; i < 256; i++) S[i] = i;
    int j = 0;
    for (int i = 0; i < 256; i++) {
        j = (j + S[i] + key[i % 5]) & 255;
        unsigned char t = S[i]; S[i] = S[j]; S[j] = t;
    }
    uint32_t w = 0;
    j = 0;
    for (int n = 1; n <= 4; n++) {
        j = (j + S[n]) & 255;
        unsigned char t = S[n]; S[n] = S[j]; S[j] = t;
        w = (w << 8) | S[(S[n] + S[j]) & 255];
    }
    stream[id] = w;
}

int main()
{
    {
        int n = 1 << 22;
        uint4 *d = (uint4 *)mk<uint32_t>((size_t)n * 4);
        md5Brute<<<n / 256, 256>>>(d, 1000003u);
        show("md5Brute", d, (size_t)n * 16);
        unsigned char *hd = mk<unsigned char>(64);
        uint32_t *f = mk<uint32_t>(n);
        int *w = mk<int>(1);
        cudaMemset(w, 0, 4);
        sha256_nonce<<<n / 256, 256>>>(hd, f, w);
        show("sha256_nonce", f, (size_t)n * 4);
        show("sha256_nonce_wins", w, 4);
    }
    {
        uint8_t sb[256];
        uint32_t t0[256], rk[44];
        // S-box from the inverse and affine map
        uint8_t p = 1, q = 1;
        do {
            p = p ^ (uint8_t)(p << 1) ^ ((p & 0x80) ? 0x1B : 0);
            q ^= q << 1; q ^= q << 2; q ^= q << 4;
            if (q & 0x80) q ^= 0x09;
            uint8_t x = q ^ (uint8_t)((q << 1) | (q >> 7)) ^ (uint8_t)((q << 2) | (q >> 6)) ^ (uint8_t)((q << 3) | (q >> 5)) ^ (uint8_t)((q << 4) | (q >> 4));
            sb[p] = x ^ 0x63;
        } while (p != 1);
        sb[0] = 0x63;
        for (int i = 0; i < 256; i++) {
            uint32_t s = sb[i], s2 = ((s << 1) ^ ((s & 0x80) ? 0x1b : 0)) & 0xff, s3 = s2 ^ s;
            t0[i] = (s2 << 24) | (s << 16) | (s << 8) | s3;
        }
        uint32_t rcon = 1;
        for (int i = 0; i < 4; i++) rk[i] = 0x2b7e1516u + i * 0x01010101u;
        for (int i = 4; i < 44; i++) {
            uint32_t t = rk[i - 1];
            if (i % 4 == 0) {
                t = (t << 8) | (t >> 24);
                t = ((uint32_t)sb[t >> 24] << 24) | ((uint32_t)sb[(t >> 16) & 255] << 16) | ((uint32_t)sb[(t >> 8) & 255] << 8) | sb[t & 255];
                t ^= rcon << 24;
                rcon = ((rcon << 1) ^ ((rcon & 0x80) ? 0x1b : 0)) & 0xff;
            }
            rk[i] = rk[i - 4] ^ t;
        }
        uint32_t *dT, *dR; uint8_t *dS;
        cudaMalloc(&dT, 1024); cudaMalloc(&dR, 176); cudaMalloc(&dS, 256);
        cudaMemcpy(dT, t0, 1024, cudaMemcpyHostToDevice);
        cudaMemcpy(dR, rk, 176, cudaMemcpyHostToDevice);
        cudaMemcpy(dS, sb, 256, cudaMemcpyHostToDevice);
        int blocks = 1 << 22;
        uint4 *in = (uint4 *)mk<uint32_t>((size_t)blocks * 4), *out = (uint4 *)mk<uint32_t>((size_t)blocks * 4);
        aes128_ctr<<<blocks / 256, 256>>>(dT, dR, dS, in, out, 17u);
        show("aes128_ctr", out, (size_t)blocks * 16);
        int lanes = 1 << 17;
        uint32_t *crc = mk<uint32_t>(lanes);
        crc32Slices<<<lanes / 256, 256>>>((uint32_t *)out, crc, 128);
        show("crc32Slices", crc, (size_t)lanes * 4);
        chacha20_xor<<<(1 << 20) / 128, 128>>>(dR, (uint32_t *)in, (uint32_t *)out, 42u);
        show("chacha20_xor", out, (size_t)(1 << 20) * 64);
    }
    {
        int keys = 1 << 19;
        uint32_t *s = mk<uint32_t>(keys);
        rc4Keys<<<keys / 32, 32>>>(0xC0FFEEu, s);
        show("rc4Keys", s, (size_t)keys * 4);
    }
    return 0;
}
