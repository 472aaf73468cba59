// Sorting, searching, permutations, bit tricks, hashes and ciphers.
#include <cstdint>
#include "shown.h"

typedef uint32_t u32;
typedef uint64_t u64;

__host__ __device__ static inline u32 fmix(u32 h) { h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; return h ^ (h >> 16); }

static u32 *words(size_t n, u32 seed, u32 mask = ~0u) {
    u32 *h = (u32 *)malloc(n * 4), *d;
    for (size_t i = 0; i < n; i++) h[i] = fmix((u32)i * 2654435761u + seed) & mask;
    cudaMalloc(&d, n * 4);
    cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
    free(h);
    return d;
}

/* 1. Bitonic sort of a segment per block, key and value, segment of any length (padded) */
#define CMPSWAP(K, V, i, j, up)                                     \
    do {                                                            \
        if ((K[i] > K[j]) == (up)) {                                \
            u32 tk_ = K[i]; K[i] = K[j]; K[j] = tk_;                \
            u32 tv_ = V[i]; V[i] = V[j]; V[j] = tv_;                \
        }                                                           \
    } while (0)

template <u32 SIZE>
__global__ void bitonicSegments(const u32 *key, const u32 *val, u32 *okey, u32 *oval, u32 segLen, u32 total)
{
    __shared__ u32 k[SIZE], v[SIZE];
    const u32 base = blockIdx.x * segLen;
    for (u32 i = threadIdx.x; i < SIZE; i += blockDim.x) {
        bool in = i < segLen && base + i < total;
        k[i] = in ? key[base + i] : 0xffffffffu;
        v[i] = in ? val[base + i] : 0xffffffffu;
    }
    for (u32 size = 2; size <= SIZE; size <<= 1) {
        for (u32 stride = size >> 1; stride > 0; stride >>= 1) {
            __syncthreads();
            u32 t = threadIdx.x;                          // SIZE / 2 threads
            u32 pos = 2 * t - (t & (stride - 1));
            bool up = (pos & size) == 0;
            CMPSWAP(k, v, pos, pos + stride, up);
        }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < segLen && base + i < total; i += blockDim.x) {
        okey[base + i] = k[i];
        oval[base + i] = v[i];
    }
}

/* 2. One pass of a block radix sort: 4-bit digits, packed counters per thread, stable scatter in shared */
template <int BLOCK, int ITEMS>
__global__ void radixBlockPass(const u32 *in, u32 *out, u32 *digitCount, size_t n, int shift)
{
    __shared__ unsigned short cnt[16][BLOCK];
    __shared__ u32 buf[BLOCK * ITEMS];
    __shared__ u32 warpSum[BLOCK / 32];
    const size_t tile = (size_t)blockIdx.x * BLOCK * ITEMS;
    u32 item[ITEMS];
    unsigned char local[ITEMS];
    for (int d = 0; d < 16; d++) cnt[d][threadIdx.x] = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {                      // blocked arrangement keeps the order
        size_t g = tile + (size_t)threadIdx.x * ITEMS + i;
        item[i] = g < n ? in[g] : ~0u;
        int d = (item[i] >> shift) & 15;
        local[i] = (unsigned char)cnt[d][threadIdx.x]++;
    }
    __syncthreads();
    // exclusive scan of the 16 * BLOCK counters in (digit, thread) order: each thread owns 16 in a row
    unsigned short *flat = &cnt[0][0] + threadIdx.x * 16;
    u32 s = 0;
    for (int j = 0; j < 16; j++) s += flat[j];
    u32 inc = s;
    for (int d = 1; d < 32; d <<= 1) {
        u32 o = __shfl_up_sync(~0u, inc, d);
        if ((threadIdx.x & 31) >= d) inc += o;
    }
    if ((threadIdx.x & 31) == 31) warpSum[threadIdx.x >> 5] = inc;
    __syncthreads();
    u32 ex = inc - s;
    for (u32 w = 0; w < (threadIdx.x >> 5); w++) ex += warpSum[w];
    for (int j = 0; j < 16; j++) {
        u32 c = flat[j];
        flat[j] = (unsigned short)ex;
        ex += c;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        int d = (item[i] >> shift) & 15;
        buf[cnt[d][threadIdx.x] + local[i]] = item[i];
    }
    if (threadIdx.x < 16) digitCount[blockIdx.x * 16 + threadIdx.x] = cnt[threadIdx.x][0];
    __syncthreads();
    for (int i = threadIdx.x; i < BLOCK * ITEMS; i += BLOCK)
        if (tile + i < n) out[tile + i] = buf[i];
}

/* 3. Merge path: two sorted runs, block's diagonal by a global search, thread's by one in shared memory */
template <class It>
__device__ int mergeDiag(It a, int na, It b, int nb, int diag)
{
    int lo = max(0, diag - nb), hi = min(diag, na);
    while (lo < hi) {
        int mid = (lo + hi) >> 1;
        if (a[mid] <= b[diag - 1 - mid]) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

template <int NT, int VT>
__global__ void mergePath(const int *a, int na, const int *b, int nb, int *out)
{
    __shared__ int keys[NT * VT];
    __shared__ int range[2];
    const int total = na + nb;
    const int d0 = min(blockIdx.x * NT * VT, total), d1 = min(d0 + NT * VT, total);
    if (threadIdx.x < 2) range[threadIdx.x] = mergeDiag(a, na, b, nb, threadIdx.x ? d1 : d0);
    __syncthreads();
    const int a0 = range[0], a1 = range[1], b0 = d0 - a0, b1 = d1 - a1;
    const int ca = a1 - a0, cb = b1 - b0;
    for (int i = threadIdx.x; i < ca + cb; i += NT) keys[i] = i < ca ? a[a0 + i] : b[b0 + i - ca];
    __syncthreads();
    const int diag = min((int)threadIdx.x * VT, ca + cb);
    const int *sa = keys, *sb = keys + ca;
    int i = mergeDiag(sa, ca, sb, cb, diag), j = diag - i;
    int r[VT];
#pragma unroll
    for (int k = 0; k < VT; k++) {
        bool takeA = j >= cb || (i < ca && sa[i] <= sb[j]);
        r[k] = diag + k < ca + cb ? (takeA ? sa[i] : sb[j]) : 0;
        if (diag + k < ca + cb) { if (takeA) ++i; else ++j; }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < VT; k++)
        if (diag + k < ca + cb) keys[diag + k] = r[k];
    __syncthreads();
    for (int k = threadIdx.x; k < ca + cb; k += NT) out[d0 + k] = keys[k];
}

/* 4. SHA-256 of one 64-byte message a thread; circular message schedule in a private array */
__constant__ u32 sha_k[64];

#define ROTR(x, n) (((x) >> (n)) | ((x) << (32 - (n))))

__global__ void sha256Single(const u32 *msg, u32 *digest, int nmsg)
{
    __shared__ u32 K[64];
    if (threadIdx.x < 64) K[threadIdx.x] = sha_k[threadIdx.x];
    __syncthreads();
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= nmsg) return;
    u32 st[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
    for (int blk = 0; blk < 2; blk++) {
        u32 w[16];
        for (int i = 0; i < 16; i++)
            w[i] = blk == 0 ? __byte_perm(msg[(size_t)id * 16 + i], 0, 0x0123) : (i == 0 ? 0x80000000u : i == 15 ? 512u : 0u);
        u32 a = st[0], b = st[1], c = st[2], d = st[3], e = st[4], f = st[5], g = st[6], h = st[7];
        for (int t = 0; t < 64; t++) {
            u32 wt = w[t & 15];
            if (t >= 16) {
                u32 w15 = w[(t + 1) & 15], w2 = w[(t + 14) & 15];
                wt += (ROTR(w15, 7) ^ ROTR(w15, 18) ^ (w15 >> 3)) + w[(t + 9) & 15] + (ROTR(w2, 17) ^ ROTR(w2, 19) ^ (w2 >> 10));
                w[t & 15] = wt;
            }
            u32 t1 = h + (ROTR(e, 6) ^ ROTR(e, 11) ^ ROTR(e, 25)) + ((e & f) ^ (~e & g)) + K[t] + wt;
            u32 t2 = (ROTR(a, 2) ^ ROTR(a, 13) ^ ROTR(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
        }
        st[0] += a; st[1] += b; st[2] += c; st[3] += d; st[4] += e; st[5] += f; st[6] += g; st[7] += h;
    }
    for (int i = 0; i < 8; i++) digest[(size_t)i * nmsg + id] = st[i];
}

/* 5. AES-128 counter mode: one T-table, rotated copies by funnel shift, key schedule in shared memory */
struct AesTables { u32 te[256]; unsigned char sbox[256]; };

__global__ void aesCtr(const AesTables *tab, const u32 *roundKeys, const uint4 *plain, uint4 *cipher, size_t nblk, uint2 nonce)
{
    __shared__ u32 te[256];
    __shared__ u32 rk[44];
    __shared__ unsigned char sb[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) { te[i] = tab->te[i]; sb[i] = tab->sbox[i]; }
    if (threadIdx.x < 44) rk[threadIdx.x] = roundKeys[threadIdx.x];
    __syncthreads();
    for (size_t b = (size_t)blockIdx.x * blockDim.x + threadIdx.x; b < nblk; b += (size_t)gridDim.x * blockDim.x) {
        u32 s0 = nonce.x ^ rk[0], s1 = nonce.y ^ rk[1], s2 = (u32)(b >> 32) ^ rk[2], s3 = (u32)b ^ rk[3];
        for (int r = 1; r < 10; r++) {
#define ROUND(a, b, c, d, k) (te[(a) >> 24] ^ __funnelshift_r(te[((b) >> 16) & 255], te[((b) >> 16) & 255], 8) ^ \
                              __funnelshift_r(te[((c) >> 8) & 255], te[((c) >> 8) & 255], 16) ^ __funnelshift_r(te[(d) & 255], te[(d) & 255], 24) ^ rk[4 * r + k])
            u32 t0 = ROUND(s0, s1, s2, s3, 0), t1 = ROUND(s1, s2, s3, s0, 1), t2 = ROUND(s2, s3, s0, s1, 2), t3 = ROUND(s3, s0, s1, s2, 3);
            s0 = t0; s1 = t1; s2 = t2; s3 = t3;
        }
#define LAST(a, b, c, d, k) ((((u32)sb[(a) >> 24] << 24) | ((u32)sb[((b) >> 16) & 255] << 16) | ((u32)sb[((c) >> 8) & 255] << 8) | sb[(d) & 255]) ^ rk[40 + k])
        uint4 p = plain[b];
        p.x ^= LAST(s0, s1, s2, s3, 0);
        p.y ^= LAST(s1, s2, s3, s0, 1);
        p.z ^= LAST(s2, s3, s0, s1, 2);
        p.w ^= LAST(s3, s0, s1, s2, 3);
        cipher[b] = p;
    }
}

/* 6. RC4: every thread has a 256-byte permutation of its own */
__global__ void rc4Streams(const unsigned char *keys, int keyLen, unsigned char *out, int nstreams, int bytes)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= nstreams) return;
    unsigned char S[256];
    for (int i = 0; i < 256; i++) S[i] = (unsigned char)i;
    const unsigned char *key = keys + (size_t)id * keyLen;
    unsigned char j = 0;
    for (int i = 0; i < 256; i++) {
        unsigned char t = S[i];
        j = (unsigned char)(j + t + key[i % keyLen]);
        S[i] = S[j];
        S[j] = t;
    }
    unsigned char x = 0, y = 0;
    for (int n = 0; n < bytes; n++) {
        unsigned char a = S[++x];
        y = (unsigned char)(y + a);
        unsigned char b = S[y];
        S[x] = b;
        S[y] = a;
        out[(size_t)n * nstreams + id] = S[(unsigned char)(a + b)];
    }
}

/* 7. Bit-plane transpose: 32 x 32 bit matrices by ballots of rows, tiles of words exchanged via shared */
__global__ void bitTranspose(const u32 *src, u32 *dst, int wordsPerRow, int rows)
{
    __shared__ u32 tile[32][33];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, nw = blockDim.x >> 5;
    const int w0 = blockIdx.x * 32, r0 = blockIdx.y * 32;      // 32 words x 32 rows
    for (int r = warp; r < 32; r += nw)
        tile[r][lane] = (r0 + r < rows && w0 + lane < wordsPerRow) ? src[(size_t)(r0 + r) * wordsPerRow + w0 + lane] : 0u;
    __syncthreads();
    const int outPitch = (rows + 31) / 32;
    for (int w = warp; w < 32; w += nw) {
        u32 x = tile[lane][w];
        u32 mine = 0;
#pragma unroll
        for (int b = 0; b < 32; b++) {
            u32 v = __ballot_sync(0xffffffffu, (x >> b) & 1u);
            if (lane == b) mine = v;
        }
        if (w0 + w < wordsPerRow) dst[((size_t)(w0 + w) * 32 + lane) * outPitch + blockIdx.y] = mine;
    }
}

/* 8. Lower bound of many keys: the top levels of the search tree are pivots cached in shared memory */
template <int LEVELS>
__global__ void searchCached(const u32 *__restrict__ sorted, u32 n, const u32 *__restrict__ query, u32 *__restrict__ pos, u32 nq)
{
    constexpr int NODES = 1 << LEVELS;
    __shared__ u32 tree[NODES];                       // Eytzinger order, node 1 is the root
    for (int v = threadIdx.x + 1; v < NODES; v += blockDim.x) {
        u64 lo = 0, hi = n;
        for (int b = 30 - __clz(v); b >= 0; b--) {    // walk down from the root along v's bits
            u64 mid = (lo + hi) / 2;
            if ((v >> b) & 1) lo = mid + 1; else hi = mid;
        }
        u64 m = (lo + hi) / 2;
        tree[v] = lo < hi ? sorted[m] : 0xffffffffu;
    }
    __syncthreads();
    const u32 stride = gridDim.x * blockDim.x;
    for (u32 q = blockIdx.x * blockDim.x + threadIdx.x; q < nq; q += stride) {
        const u32 key = query[q];
        u64 lo = 0, hi = n;
        int v = 1;
#pragma unroll
        for (int l = 0; l < LEVELS; l++) {
            u64 mid = (lo + hi) / 2;
            bool right = tree[v] < key;
            if (lo < hi) { if (right) lo = mid + 1; else hi = mid; }
            v = 2 * v + right;
        }
        while (lo < hi) {
            u64 mid = (lo + hi) / 2;
            if (sorted[mid] < key) lo = mid + 1; else hi = mid;
        }
        pos[q] = (u32)lo;
    }
}

static void aesHost(AesTables &t, u32 *rk)
{
    unsigned char p = 1, q = 1;
    do {
        p = (unsigned char)(p ^ (p << 1) ^ ((p & 0x80) ? 0x1b : 0));
        q ^= q << 1; q ^= q << 2; q ^= q << 4;
        if (q & 0x80) q ^= 0x09;
        auto rl = [](unsigned char x, int s) { return (unsigned char)((x << s) | (x >> (8 - s))); };
        t.sbox[p] = (unsigned char)(q ^ rl(q, 1) ^ rl(q, 2) ^ rl(q, 3) ^ rl(q, 4) ^ 0x63);
    } while (p != 1);
    t.sbox[0] = 0x63;
    for (int i = 0; i < 256; i++) {
        u32 s = t.sbox[i], s2 = ((s << 1) ^ ((s & 0x80) ? 0x11b : 0)) & 255;
        t.te[i] = (s2 << 24) | (s << 16) | (s << 8) | (s ^ s2);
    }
    u32 rc = 1;
    for (int i = 0; i < 44; i++) {
        if (i < 4) { rk[i] = 0x01020304u * (i + 5); continue; }
        u32 x = rk[i - 1];
        if (i % 4 == 0) {
            x = (x << 8) | (x >> 24);
            x = ((u32)t.sbox[x >> 24] << 24) | ((u32)t.sbox[(x >> 16) & 255] << 16) | ((u32)t.sbox[(x >> 8) & 255] << 8) | t.sbox[x & 255];
            x ^= rc << 24;
            rc = ((rc << 1) ^ ((rc & 0x80) ? 0x11b : 0)) & 255;
        }
        rk[i] = rk[i - 4] ^ x;
    }
}

int main()
{
    {
        u32 n = 6000011, seg = 1000;
        u32 *k = words(n, 1), *v = words(n, 2), *ok = mk<u32>(n), *ov = mk<u32>(n);
        bitonicSegments<1024><<<(n + seg - 1) / seg, 512>>>(k, v, ok, ov, seg, n);
        show("bitonicSegments", ok, (size_t)n * 4);
        show("bitonicSegments", ov, (size_t)n * 4);
        cudaFree(k); cudaFree(v); cudaFree(ok); cudaFree(ov);
    }
    {
        size_t n = 9000001; u32 nb = (u32)((n + 128 * 9 - 1) / (128 * 9));
        u32 *a = words(n, 3), *b = mk<u32>(n), *c = mk<u32>(nb * 16);
        radixBlockPass<128, 9><<<nb, 128>>>(a, b, c, n, 8);
        show("radixBlockPass", b, n * 4);
        show("radixBlockPass", c, nb * 64);
        cudaFree(a); cudaFree(b);
    }
    {
        int na = 5000003, nb = 3700001;
        int *h = (int *)malloc((size_t)na * 4), *a, *b, *o = mk<int>((size_t)na + nb);
        cudaMalloc(&a, (size_t)na * 4); cudaMalloc(&b, (size_t)nb * 4);
        for (int i = 0; i < na; i++) h[i] = 3 * i + (int)(fmix(i) % 3);
        cudaMemcpy(a, h, (size_t)na * 4, cudaMemcpyHostToDevice);
        for (int i = 0; i < nb; i++) h[i] = 4 * i + (int)(fmix(i + 7) % 4);
        cudaMemcpy(b, h, (size_t)nb * 4, cudaMemcpyHostToDevice);
        free(h);
        mergePath<128, 7><<<(na + nb + 895) / 896, 128>>>(a, na, b, nb, o);
        show("mergePath", o, ((size_t)na + nb) * 4);
        cudaFree(a); cudaFree(b); cudaFree(o);
    }
    {
        u32 k[64]; int c = 0;
        for (u32 p = 2; c < 64; p++) {                     // fractional parts of cube roots of primes
            bool prime = true;
            for (u32 q = 2; q * q <= p; q++) if (p % q == 0) { prime = false; break; }
            if (!prime) continue;
            u64 lo = 0, hi = 7ull << 32;
            while (hi - lo > 1) {
                u64 m = (lo + hi) / 2;
                long double x = (long double)m / 4294967296.0L;
                if (x * x * x <= p) lo = m; else hi = m;
            }
            k[c++] = (u32)lo;
        }
        cudaMemcpyToSymbol(sha_k, k, sizeof k);
        int n = 400001;
        u32 *m = words((size_t)n * 16, 4), *d = mk<u32>((size_t)n * 8);
        sha256Single<<<(n + 191) / 192, 192>>>(m, d, n);
        show("sha256Single", d, (size_t)n * 32);
        cudaFree(m); cudaFree(d);
    }
    {
        AesTables t, *dt; u32 rk[44], *drk;
        aesHost(t, rk);
        cudaMalloc(&dt, sizeof t); cudaMalloc(&drk, sizeof rk);
        cudaMemcpy(dt, &t, sizeof t, cudaMemcpyHostToDevice);
        cudaMemcpy(drk, rk, sizeof rk, cudaMemcpyHostToDevice);
        size_t nblk = 3000001;
        uint4 *p = (uint4 *)words(nblk * 4, 5), *c = (uint4 *)mk<u32>(nblk * 4);
        aesCtr<<<4000, 256>>>(dt, drk, p, c, nblk, make_uint2(0xdeadbeefu, 77u));
        show("aesCtr", c, nblk * 16);
        cudaFree(p); cudaFree(c);
    }
    {
        int ns = 20003, len = 300;
        unsigned char *k = (unsigned char *)words((size_t)ns * 4, 6), *o = mk<unsigned char>((size_t)ns * len);
        rc4Streams<<<(ns + 63) / 64, 64>>>(k, 13, o, ns, len);
        show("rc4Streams", o, (size_t)ns * len);
        cudaFree(k); cudaFree(o);
    }
    {
        int wpr = 1003, rows = 5003, op = (rows + 31) / 32;
        u32 *a = words((size_t)wpr * rows, 7), *b = mk<u32>((size_t)wpr * 32 * op);
        bitTranspose<<<dim3((wpr + 31) / 32, op), 256>>>(a, b, wpr, rows);
        show("bitTranspose", b, (size_t)wpr * 32 * op * 4);
        cudaFree(a); cudaFree(b);
    }
    {
        u32 n = 3000007, nq = 5000011;
        u32 *h = (u32 *)malloc((size_t)n * 4), *s, *q = words(nq, 8), *p = mk<u32>(nq);
        for (u32 i = 0; i < n; i++) h[i] = i * 1400u + fmix(i) % 1400u;
        cudaMalloc(&s, (size_t)n * 4);
        cudaMemcpy(s, h, (size_t)n * 4, cudaMemcpyHostToDevice);
        free(h);
        searchCached<11><<<1500, 256>>>(s, n, q, p, nq);
        show("searchCached", p, (size_t)nq * 4);
    }
    return 0;
}
