// h5: bioinformatics, strings and crypto
#include "shown.h"
#include <cstdint>
#include <string>
#include <vector>

namespace {
uint32_t g_seed = 2463534242u;
uint32_t xs() { g_seed ^= g_seed << 13; g_seed ^= g_seed >> 17; g_seed ^= g_seed << 5; return g_seed; }
template <class T> T *upload(const std::vector<T> &v)
{
    T *d = nullptr;
    cudaMalloc(&d, v.size() * sizeof(T));
    cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return d;
}
}

// ---- RC4: one stream per thread, S-box in a local array ------------------------------------
__device__ __forceinline__ void swap_bytes(uint8_t &a, uint8_t &b) { uint8_t t = a; a = b; b = t; }

__device__ void rc4_schedule(uint8_t *S, const uint8_t *key, int keylen)
{
    for (int i = 0; i < 256; i++) S[i] = (uint8_t)i;
    int j = 0;
    for (int i = 0; i < 256; i++) {
        j = (j + S[i] + key[i % keylen]) & 255;
        swap_bytes(S[i], S[j]);
    }
}

__global__ void rc4_streams(const uint8_t *keys, int keylen, uint8_t *out, int nbytes, int nstreams)
{
    int gid = blockIdx.x * blockDim.x + threadIdx.x;
    if (gid >= nstreams) return;
    uint8_t S[256];
    rc4_schedule(S, keys + (size_t)gid * keylen, keylen);
    int i = 0, j = 0;
    for (int n = 0; n < nbytes; n++) {
        i = (i + 1) & 255;
        j = (j + S[i]) & 255;
        swap_bytes(S[i], S[j]);
        out[(size_t)n * nstreams + gid] = S[(S[i] + S[j]) & 255];
    }
}

// ---- Smith-Waterman score, DP row of the query per thread ----------------------------------
#define QLEN 48
#define GAP_OPEN 4
#define GAP_EXT 1
__constant__ signed char d_blosum[24 * 24];

__global__ void sw_affine(const uint8_t *query, const uint8_t *db, const int *offs, int nseq, int *scores)
{
    __shared__ uint8_t q[QLEN];
    if (threadIdx.x < QLEN) q[threadIdx.x] = query[threadIdx.x];
    __syncthreads();
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= nseq) return;

    short H[QLEN + 1], E[QLEN + 1];
    for (int i = 0; i <= QLEN; i++) { H[i] = 0; E[i] = 0; }
    int best = 0;
    for (int p = offs[id]; p < offs[id + 1]; p++) {
        int c = db[p];
        int diag = 0, F = 0;
        for (int i = 1; i <= QLEN; i++) {
            int e = max(E[i] - GAP_EXT, H[i] - GAP_OPEN);
            F = max(F - GAP_EXT, H[i - 1] - GAP_OPEN);
            int h = diag + d_blosum[c * 24 + q[i - 1]];
            h = max(max(h, e), max(F, 0));
            diag = H[i];
            H[i] = (short)h;
            E[i] = (short)e;
            best = max(best, h);
        }
    }
    scores[id] = best;
}

// ---- KMP with failure table in shared memory ------------------------------------------------
__global__ void kmp_search(const char *text, size_t n, const char *pat, const int *fail, int m, unsigned int *match_bits, int chunk)
{
    extern __shared__ int sm[];
    int *s_fail = sm;
    char *s_pat = (char *)&sm[m];
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        s_fail[i] = fail[i];
        s_pat[i] = pat[i];
    }
    __syncthreads();

    size_t gid = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    size_t begin = gid * chunk;
    if (begin >= n) return;
    size_t end = begin + chunk + m - 1;
    if (end > n) end = n;
    int q = 0;
    unsigned found = 0;
    for (size_t i = begin; i < end; ++i) {
        char c = text[i];
        while (q > 0 && s_pat[q] != c) q = s_fail[q - 1];
        if (s_pat[q] == c) ++q;
        if (q == m) { ++found; q = s_fail[q - 1]; }
    }
    match_bits[gid] = found;
}

// ---- k-mer spectrum: one read per block, counts in shared -----------------------------------
template <int K>
__global__ void kmer_spectrum(const char *__restrict__ reads, int read_len, unsigned short *__restrict__ spectrum)
{
    constexpr int NB = 1 << (2 * K);
    __shared__ unsigned counts[NB];
    __shared__ unsigned char codes[1024];

    for (int b = threadIdx.x; b < NB; b += blockDim.x) counts[b] = 0u;
    const char *r = reads + (size_t)blockIdx.x * read_len;
    for (int p = threadIdx.x; p < read_len; p += blockDim.x) {
        char c = r[p];
        codes[p] = c == 'A' ? 0 : c == 'C' ? 1 : c == 'G' ? 2 : c == 'T' ? 3 : 4;
    }
    __syncthreads();
    for (int p = threadIdx.x; p + K <= read_len; p += blockDim.x) {
        unsigned key = 0;
        bool bad = false;
#pragma unroll
        for (int k = 0; k < K; ++k) {
            unsigned c = codes[p + k];
            bad |= c > 3;
            key = (key << 2) | (c & 3);
        }
        if (!bad) atomicAdd(&counts[key], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < NB; b += blockDim.x)
        spectrum[(size_t)blockIdx.x * NB + b] = (unsigned short)counts[b];
}

// ---- AES-128 with T-table in shared memory --------------------------------------------------
__constant__ uint32_t c_rk[44];
__global__ __launch_bounds__(256) void aes128_ctr(const uint32_t *te0, const uint8_t *sbox, const uint4 *in, uint4 *out, uint32_t nblocks, uint32_t nonce)
{
    __shared__ uint32_t T0[256];
    __shared__ uint8_t SB[256];
    T0[threadIdx.x] = te0[threadIdx.x];
    SB[threadIdx.x] = sbox[threadIdx.x];
    __syncthreads();
#define ROR8(x, k) __funnelshift_r((x), (x), 8 * (k))
    for (uint32_t idx = blockIdx.x * blockDim.x + threadIdx.x; idx < nblocks; idx += gridDim.x * blockDim.x) {
        uint32_t s0 = nonce ^ c_rk[0], s1 = 0x01020304u ^ c_rk[1], s2 = c_rk[2], s3 = idx ^ c_rk[3];
        uint32_t t0, t1, t2, t3;
#pragma unroll
        for (int r = 1; r < 10; r++) {
            t0 = T0[s0 >> 24] ^ ROR8(T0[(s1 >> 16) & 255], 1) ^ ROR8(T0[(s2 >> 8) & 255], 2) ^ ROR8(T0[s3 & 255], 3) ^ c_rk[4 * r];
            t1 = T0[s1 >> 24] ^ ROR8(T0[(s2 >> 16) & 255], 1) ^ ROR8(T0[(s3 >> 8) & 255], 2) ^ ROR8(T0[s0 & 255], 3) ^ c_rk[4 * r + 1];
            t2 = T0[s2 >> 24] ^ ROR8(T0[(s3 >> 16) & 255], 1) ^ ROR8(T0[(s0 >> 8) & 255], 2) ^ ROR8(T0[s1 & 255], 3) ^ c_rk[4 * r + 2];
            t3 = T0[s3 >> 24] ^ ROR8(T0[(s0 >> 16) & 255], 1) ^ ROR8(T0[(s1 >> 8) & 255], 2) ^ ROR8(T0[s2 & 255], 3) ^ c_rk[4 * r + 3];
            s0 = t0; s1 = t1; s2 = t2; s3 = t3;
        }
#define LAST(a, b, c, d) (((uint32_t)SB[(a) >> 24] << 24) | ((uint32_t)SB[((b) >> 16) & 255] << 16) | ((uint32_t)SB[((c) >> 8) & 255] << 8) | SB[(d) & 255])
        uint4 v = in[idx];
        v.x ^= LAST(s0, s1, s2, s3) ^ c_rk[40];
        v.y ^= LAST(s1, s2, s3, s0) ^ c_rk[41];
        v.z ^= LAST(s2, s3, s0, s1) ^ c_rk[42];
        v.w ^= LAST(s3, s0, s1, s2) ^ c_rk[43];
        out[idx] = v;
    }
}

// ---- Banded pair-HMM style forward, one wavefront per block ---------------------------------
__global__ void pairhmm_forward(const char *reads, const char *haps, const float *qual, int R, int Hlen, float *lik)
{
    extern __shared__ float w[];
    // three diagonals of (M, I, D); diagonal index = read position
    const int L = R + 1;
    float *M0 = w, *M1 = M0 + L, *M2 = M1 + L;
    float *I0 = M2 + L, *I1 = I0 + L, *I2 = I1 + L;
    float *D0 = I2 + L, *D1 = D0 + L, *D2 = D1 + L;
    const int i = threadIdx.x;           // row of the read, 0..R
    const char *rd = reads + (size_t)blockIdx.x * R;
    const char *hp = haps + (size_t)blockIdx.x * Hlen;
    if (i < L) {
        M0[i] = M1[i] = M2[i] = I0[i] = I1[i] = I2[i] = D1[i] = D2[i] = D0[i] = 0.f;
        if (i == 0) { D0[0] = D1[0] = D2[0] = 1.f / Hlen; }
    }
    __syncthreads();
    const float tMM = 0.9f, tGM = 0.8f, tMG = 0.05f, tGG = 0.2f;
    float q = (i > 0 && i < L) ? 0.01f + 0.001f * qual[blockIdx.x * R + i - 1] : 0.f;
    char rc = (i > 0 && i < L) ? rd[i - 1] : 0;
    float acc = 0.f;
    for (int d = 1; d <= R + Hlen; ++d) {
        int j = d - i;
        float m = 0.f, ins = 0.f, del = (i == 0) ? 1.f / Hlen : 0.f;
        bool on = i > 0 && i < L && j > 0 && j <= Hlen;
        if (on) {
            float pr = rc == hp[j - 1] ? 1.f - q : q * (1.f / 3);
            m = pr * (tMM * M2[i - 1] + tGM * (I2[i - 1] + D2[i - 1]));
            ins = tMG * M1[i - 1] + tGG * I1[i - 1];
            del = tMG * M1[i] + tGG * D1[i];
        }
        if (i < L) {
            M0[i] = m; I0[i] = ins; D0[i] = del;
        }
        if (on && i == R) acc += m + ins;
        __syncthreads();
        float *t = M2; M2 = M1; M1 = M0; M0 = t;
        t = I2; I2 = I1; I1 = I0; I0 = t;
        t = D2; D2 = D1; D1 = D0; D0 = t;
    }
    if (i == R) lik[blockIdx.x] = acc;
}

int main()
{
    {
        int ns = 60001, kl = 13, nb = 128;
        std::vector<uint8_t> k(ns * kl);
        for (auto &x : k) x = xs();
        uint8_t *o = mk<uint8_t>((size_t)ns * nb);
        rc4_streams<<<(ns + 127) / 128, 128>>>(upload(k), kl, o, nb, ns);
        show("rc4_streams", o, (size_t)ns * nb);
    }
    {
        int ns = 30011;
        std::vector<int> offs(ns + 1);
        for (int i = 0; i < ns; i++) offs[i + 1] = offs[i] + 40 + xs() % 60;
        std::vector<uint8_t> db(offs[ns]), q(QLEN);
        for (auto &x : db) x = xs() % 24;
        for (auto &x : q) x = xs() % 24;
        signed char bl[576];
        for (int a = 0; a < 24; a++) for (int b = 0; b < 24; b++) bl[a * 24 + b] = a == b ? 5 : (signed char)((a * b + a + b) % 6) - 4;
        cudaMemcpyToSymbol(d_blosum, bl, sizeof bl);
        int *s = mk<int>(ns);
        sw_affine<<<(ns + 63) / 64, 64>>>(upload(q), upload(db), upload(offs), ns, s);
        show("sw_affine", s, ns * 4);
    }
    {
        size_t n = (1 << 25) - 1001;
        std::vector<char> t(n);
        for (auto &c : t) c = "ab"[xs() % 5 == 0];
        std::string p = "aabaaabaaa";
        int m = (int)p.size();
        std::vector<char> pv(p.begin(), p.end());
        std::vector<int> f(m, 0);
        for (int i = 1, k = 0; i < m; i++) {
            while (k && p[i] != p[k]) k = f[k - 1];
            if (p[i] == p[k]) k++;
            f[i] = k;
        }
        int chunk = 256;
        size_t th = (n + chunk - 1) / chunk;
        unsigned *o = mk<unsigned>(th);
        kmp_search<<<(th + 255) / 256, 256, m * (sizeof(int) + 1)>>>(upload(t), n, upload(pv), upload(f), m, o, chunk);
        show("kmp_search", o, th * 4);
    }
    {
        int nr = 8000, len = 997;
        std::vector<char> r((size_t)nr * len);
        for (auto &c : r) { unsigned v = xs() % 101; c = v == 100 ? 'N' : "ACGT"[v & 3]; }
        unsigned short *o = mk<unsigned short>((size_t)nr * 1024);
        kmer_spectrum<5><<<nr, 160>>>(upload(r), len, o);
        show("kmer_spectrum", o, (size_t)nr * 1024 * 2);
    }
    {
        std::vector<uint32_t> te(256);
        std::vector<uint8_t> sb(256);
        uint8_t p = 1, q = 1;
        auto rotl = [](uint8_t x, int k) { return (uint8_t)((x << k) | (x >> (8 - k))); };
        do {
            p = p ^ (p << 1) ^ ((p & 0x80) ? 0x1B : 0);
            q ^= q << 1; q ^= q << 2; q ^= q << 4; if (q & 0x80) q ^= 0x09;
            sb[p] = q ^ rotl(q, 1) ^ rotl(q, 2) ^ rotl(q, 3) ^ rotl(q, 4) ^ 0x63;
        } while (p != 1);
        sb[0] = 0x63;
        for (int i = 0; i < 256; i++) {
            uint32_t s = sb[i], s2 = (uint8_t)((s << 1) ^ ((s & 0x80) ? 0x1B : 0));
            te[i] = (s2 << 24) | (s << 16) | (s << 8) | (s2 ^ s);
        }
        uint32_t rk[44];
        for (auto &x : rk) x = xs();
        cudaMemcpyToSymbol(c_rk, rk, sizeof rk);
        uint32_t nb = (1 << 21) + 77;
        uint4 *in = (uint4 *)mk<uint32_t>((size_t)nb * 4), *out = (uint4 *)mk<uint32_t>((size_t)nb * 4);
        aes128_ctr<<<132 * 8, 256>>>(upload(te), upload(sb), in, out, nb, 0xdeadbeef);
        show("aes128_ctr", out, (size_t)nb * 16);
    }
    {
        int np = 6000, R = 101, Hl = 180;
        std::vector<char> r(np * R), h(np * Hl);
        for (auto &c : h) c = "ACGT"[xs() & 3];
        for (int b = 0; b < np; b++) for (int i = 0; i < R; i++) r[b * R + i] = xs() % 20 ? h[b * Hl + i + b % 60] : 'A';
        float *q = mk<float>(np * R), *o = mk<float>(np);
        pairhmm_forward<<<np, 128, 9 * (R + 1) * sizeof(float)>>>(upload(r), upload(h), q, R, Hl, o);
        show("pairhmm_forward", o, np * 4);
    }
    return 0;
}
