// l7 -- codes and ciphers: arithmetic in GF(2)[x] and modulo primes, checksums, registers.
#include "shown.h"
#include <stdint.h>

static uint32_t *random_words(size_t n, uint32_t seed, uint32_t mod = 0)
{
    uint32_t *h = (uint32_t *)malloc(n * 4), *d, a = seed ^ 0xdeadbeefu, b = 0x12345u;
    for (size_t i = 0; i < n; i++) {
        a = 36969u * (a & 65535u) + (a >> 16);
        b = 18000u * (b & 65535u) + (b >> 16);
        h[i] = (a << 16) + b;
        if (mod) h[i] %= mod;
    }
    cudaMalloc(&d, n * 4);
    cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
    free(h);
    return d;
}

#define CRC32_POLY 0xEDB88320u

__device__ static uint32_t multmodp(uint32_t a, uint32_t b)
{
    uint32_t p = 0;
    for (uint32_t m = 1u << 31; m; m >>= 1) {
        if (a & m) p ^= b;
        b = b & 1 ? (b >> 1) ^ CRC32_POLY : b >> 1;
    }
    return p;
}

/* class 6: CRC-32 of 4 KiB pages, sixteen bytes a thread, neighbours folded pairwise with x^(8*len) */
__global__ void crc32_pages(const uint32_t *data, uint32_t *crc)
{
    __shared__ uint32_t rem[256];
    const unsigned tid = threadIdx.x;
    const uint32_t *p = data + ((size_t)blockIdx.x * 256 + tid) * 4;
    uint32_t c = 0;
    for (int w = 0; w < 4; w++) {
        c ^= p[w];
        for (int k = 0; k < 32; k++) c = c & 1 ? (c >> 1) ^ CRC32_POLY : c >> 1;
    }
    rem[tid] = c;
    uint32_t shift = 1u << 30;                       /* x^1 */
    for (int k = 0; k < 7; k++) shift = multmodp(shift, shift);  /* x^128 */
    __syncthreads();
    for (unsigned s = 1; s < 256; s <<= 1) {
        unsigned i = 2 * s * tid;
        if (i + s < 256) rem[i] = multmodp(shift, rem[i]) ^ rem[i + s];
        shift = multmodp(shift, shift);
        __syncthreads();
    }
    if (tid == 0) crc[blockIdx.x] = rem[0];
}

__device__ __forceinline__ uint8_t gf256_mul(uint8_t a, uint8_t b)
{
    uint32_t r = 0, aa = a;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        if (b >> i & 1) r ^= aa;
        aa = (aa << 1) ^ (aa & 0x80 ? 0x11d : 0);
    }
    return (uint8_t)r;
}

/* class 6: products of polynomials over GF(256), both operands staged */
__global__ void gf256_polymul(const uint8_t *f, const uint8_t *g, uint8_t *h)
{
    __shared__ uint8_t sf[64], sg[64];
    const int t = threadIdx.x;
    if (t < 64) {
        sf[t] = f[blockIdx.x * 64 + t];
        sg[t] = g[blockIdx.x * 64 + t];
    }
    __syncthreads();
    uint8_t acc = 0;
    for (int i = 0; i < 64; i++) {
        int j = t - i;
        if (j >= 0 && j < 64) acc ^= gf256_mul(sf[i], sg[j]);
    }
    h[blockIdx.x * 128 + t] = acc;
}

__device__ uint64_t clmul32(uint32_t a, uint32_t b)
{
    uint64_t r = 0, w = b;
    for (int i = 0; i < 32; i++)
        if (a & (1u << i)) r ^= w << i;
    return r;
}

/* class 6: 1024-bit carry-less products by words of 32 bits, one word of the result a thread */
__global__ void __launch_bounds__(64) gf2x_mul_1024(const uint32_t *A, const uint32_t *B, uint32_t *C)
{
    __shared__ uint32_t a[32];
    __shared__ uint32_t b[32];
    const int k = threadIdx.x;
    if (k < 32)
        a[k] = A[blockIdx.x * 32 + k];
    else
        b[k - 32] = B[blockIdx.x * 32 + k - 32];
    __syncthreads();
    uint32_t word = 0;
    for (int i = 0; i < 32; i++) {
        if (k - i >= 0 && k - i < 32) word ^= (uint32_t)clmul32(a[i], b[k - i]);
        if (k - 1 - i >= 0 && k - 1 - i < 32) word ^= (uint32_t)(clmul32(a[i], b[k - 1 - i]) >> 32);
    }
    C[blockIdx.x * 64 + k] = word;
}

__device__ uint64_t gf64_mul(uint64_t a, uint64_t b)
{
    uint64_t r = 0;
#pragma unroll 8
    for (int i = 63; i >= 0; i--) {
        r = (r << 1) ^ (r >> 63 ? 0x1bull : 0ull);
        if (a >> i & 1) r ^= b;
    }
    return r;
}

/* class 6: universal hash in GF(2^64): Horner's rule as a tree with the operator u*H^s + v */
__global__ void ghash64_tree(const uint64_t *msg, uint64_t key, uint64_t *tag)
{
    extern __shared__ uint64_t acc[];
    const unsigned t = threadIdx.x;
    acc[t] = msg[(size_t)blockIdx.x * blockDim.x + t];
    uint64_t H = key;
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        __syncthreads();
        if (t % (2 * s) == 0) acc[t] = gf64_mul(acc[t], H) ^ acc[t + s];
        H = gf64_mul(H, H);
    }
    if (t == 0) tag[blockIdx.x] = gf64_mul(acc[0], key);
}

#define Q 3329
/* class 6: product modulo x^256+1 and 3329, the second operand turned by one place at every step */
__global__ void negacyclic_mul(const uint16_t *f, const uint16_t *g, uint16_t *h)
{
    __shared__ int16_t fs[256];
    __shared__ int16_t gs[256];
    const int t = threadIdx.x;
    fs[t] = f[blockIdx.x * 256 + t] % Q;
    gs[t] = g[blockIdx.x * 256 + t] % Q;
    __syncthreads();
    int32_t acc = 0;
    for (int i = 0; i < 256; i++) {
        acc = (acc + fs[i] * gs[t]) % Q;
        int16_t v = t == 0 ? (int16_t)-gs[255] : gs[t - 1];
        __syncthreads();
        gs[t] = v;
        __syncthreads();
    }
    h[blockIdx.x * 256 + t] = (uint16_t)(acc < 0 ? acc + Q : acc);
}

/* class 6: division with remainder by x^128+x^7+x^2+x+1, 256 coefficients of one bit, one at a time from the top */
__global__ void gf2x_reduce_bits(const uint32_t *in, uint32_t *out)
{
    __shared__ int bit[256];
    const int t = threadIdx.x;
    bit[t] = in[blockIdx.x * 8 + (t >> 5)] >> (t & 31) & 1;
    __syncthreads();
    for (int top = 255; top >= 128; top--) {
        int lead = bit[top];
        int rel = t - (top - 128);
        if (rel == 0 || rel == 1 || rel == 2 || rel == 7) bit[t] ^= lead;
        __syncthreads();
    }
    if (t < 128) {
        uint32_t w = __ballot_sync(0xffffffffu, bit[t]);
        if ((t & 31) == 0) out[blockIdx.x * 4 + (t >> 5)] = w;
    }
}

#define P998 998244353u
__device__ __forceinline__ uint32_t mulmod(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b % P998); }

/* class 4: number-theoretic transform of 256 residues, decimation in frequency, two a thread */
__global__ void ntt256(uint32_t *x, const uint32_t *roots)
{
    __shared__ uint32_t s[256];
    uint32_t *g = x + (size_t)blockIdx.x * 256;
    const unsigned t = threadIdx.x;
    s[t] = g[t];
    s[t + 128] = g[t + 128];
    for (unsigned half = 128; half; half >>= 1) {
        __syncthreads();
        unsigned j = t & (half - 1);
        unsigned i = 2 * t - j;
        uint32_t u = s[i], v = s[i + half];
        uint32_t sum = u + v;
        s[i] = sum >= P998 ? sum - P998 : sum;
        s[i + half] = mulmod(u + P998 - v, roots[j * (128 / half)]);
    }
    __syncthreads();
    g[t] = s[t];
    g[t + 128] = s[t + 128];
}

/* class 2: xor, and, or of a page: three arrays of 1024 long words */
__global__ void bitwise_digest(const unsigned long long *data, unsigned long long *digest, size_t n)
{
    __shared__ unsigned long long sx[1024], sa[1024], so[1024];
    const unsigned t = threadIdx.x;
    unsigned long long x = 0, a = ~0ull, o = 0;
    for (size_t i = (size_t)blockIdx.x * 8192 + t; i < ((size_t)blockIdx.x + 1) * 8192 && i < n; i += 1024) {
        unsigned long long v = data[i];
        x ^= v << (i & 31) | v >> (64 - (i & 31)) % 64;
        a &= v | 0xf0f0ull;
        o |= v & 0x8421ull << (i & 15);
    }
    sx[t] = x;
    sa[t] = a;
    so[t] = o;
    __syncthreads();
    for (unsigned h = 512; h > 0; h >>= 1) {
        if (t < h) {
            sx[t] ^= sx[t + h];
            sa[t] &= sa[t + h];
            so[t] |= so[t + h];
        }
        __syncthreads();
    }
    if (t == 0) {
        digest[3 * blockIdx.x] = sx[0];
        digest[3 * blockIdx.x + 1] = sa[0];
        digest[3 * blockIdx.x + 2] = so[0];
    }
}

/* class 7: CRC-64 by a table built in shared memory, looked up at the data's bytes */
__global__ void crc64_table(const uint32_t *data, uint64_t *crc, int words, int messages)
{
    __shared__ uint64_t table[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        uint64_t r = i;
        for (int k = 0; k < 8; k++) r = r & 1 ? (r >> 1) ^ 0xC96C5795D7870F42ull : r >> 1;
        table[i] = r;
    }
    __syncthreads();
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= messages) return;
    uint64_t c = ~0ull;
    for (int w = 0; w < words; w++) {
        uint32_t v = data[(size_t)w * messages + m];
        for (int b = 0; b < 4; b++) {
            c = table[(c ^ v) & 0xff] ^ (c >> 8);
            v >>= 8;
        }
    }
    crc[m] = ~c;
}

/* class 7: rank of 64x64 matrices over GF(2), pivots searched in the data */
__global__ void gf2_rank(const unsigned long long *mats, int *rank)
{
    __shared__ unsigned long long row[64];
    __shared__ int pivot;
    const int t = threadIdx.x;
    row[t] = mats[blockIdx.x * 64 + t];
    int r = 0;
    for (int col = 0; col < 64; col++) {
        if (t == 0) pivot = 64;
        __syncthreads();
        if (t >= r && (row[t] >> col & 1)) atomicMin(&pivot, t);
        __syncthreads();
        const int p = pivot;
        if (p < 64) {
            const unsigned long long pr = row[p];
            const unsigned long long rr = row[r];
            __syncthreads();
            if (t == p) row[p] = rr;
            __syncthreads();
            if (t == r) row[r] = pr;
            __syncthreads();
            if (t > r && (row[t] >> col & 1)) row[t] ^= pr;
            r++;
        }
        __syncthreads();
    }
    if (t == 0) rank[blockIdx.x] = r;
}

int main(void)
{
    {
        int pages = 1 << 14;
        uint32_t *d = random_words((size_t)pages * 1024, 1), *c = mk<uint32_t>(pages);
        crc32_pages<<<pages, 256>>>(d, c);
        show("crc32_pages", c, pages * 4);
        uint8_t *h = mk<uint8_t>((size_t)65536 * 128);
        gf256_polymul<<<65536, 128>>>((uint8_t *)d, (uint8_t *)d + (1 << 22), h);
        show("gf256_polymul", h, (size_t)65536 * 128);
        uint64_t *tag = mk<uint64_t>(65536);
        ghash64_tree<<<65536, 128, 128 * sizeof(uint64_t)>>>((uint64_t *)d, 0x9e3779b97f4a7c15ull, tag);
        show("ghash64_tree", tag, 65536 * 8);
        uint64_t *crc = mk<uint64_t>(1 << 20);
        crc64_table<<<(1000000 + 191) / 192, 192>>>(d, crc, 16, 1000000);
        show("crc64_table", crc, (size_t)1000000 * 8);
        unsigned long long *dig = mk<unsigned long long>(3 * 1024);
        bitwise_digest<<<1024, 1024>>>((unsigned long long *)d, dig, (size_t)8388608 - 77);
        show("bitwise_digest", dig, 3 * 1024 * 8);
        int *rk = mk<int>(65536);
        gf2_rank<<<65536, 64>>>((unsigned long long *)d, rk);
        show("gf2_rank", rk, 65536 * 4);
        uint32_t *red = mk<uint32_t>(131072 * 4);
        gf2x_reduce_bits<<<131072, 256>>>(d, red);
        show("gf2x_reduce_bits", red, (size_t)131072 * 4 * 4);
    }
    {
        int n = 1 << 15;
        uint32_t *a = random_words((size_t)n * 32, 2), *b = random_words((size_t)n * 32, 3), *c = mk<uint32_t>((size_t)n * 64);
        gf2x_mul_1024<<<n, 64>>>(a, b, c);
        show("gf2x_mul_1024", c, (size_t)n * 64 * 4);
    }
    {
        int n = 8192;
        uint16_t *f = (uint16_t *)random_words((size_t)n * 128, 4), *g = (uint16_t *)random_words((size_t)n * 128, 5), *h = mk<uint16_t>((size_t)n * 256);
        negacyclic_mul<<<n, 256>>>(f, g, h);
        show("negacyclic_mul", h, (size_t)n * 256 * 2);
    }
    {
        int n = 1 << 15;
        uint32_t roots[128];
        uint64_t w = 1, base = 3, e = (P998 - 1) / 256, z = 1;
        for (; e; e >>= 1) {
            if (e & 1) z = z * base % P998;
            base = base * base % P998;
        }
        for (int i = 0; i < 128; i++) {
            roots[i] = (uint32_t)w;
            w = w * z % P998;
        }
        uint32_t *r, *x = random_words((size_t)n * 256, 6, P998);
        cudaMalloc(&r, sizeof roots);
        cudaMemcpy(r, roots, sizeof roots, cudaMemcpyHostToDevice);
        ntt256<<<n, 128>>>(x, r);
        show("ntt256", x, (size_t)n * 256 * 4);
    }
    return 0;
}
