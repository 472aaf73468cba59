// sequence analysis kernels
#include "shown.h"
#include <vector>
#include <stdint.h>

/* 1 ---- Smith-Waterman score of one pair per block, anti-diagonal wavefront over the query */
#define QLEN 128
#define TLEN 300
#define GAP 3
__global__ void sw_antidiagonal_score(const char *queries, const char *targets, int *best)
{
    __shared__ int H[3][QLEN + 1];
    __shared__ char tgt[TLEN];
    __shared__ int red[QLEN];
    const int i = threadIdx.x;
    const char qc = queries[blockIdx.x * QLEN + i] & 3;
    for (int k = i; k < TLEN; k += QLEN) tgt[k] = targets[(size_t)blockIdx.x * TLEN + k] & 3;
    for (int k = 0; k < 3; k++) {
        H[k][i + 1] = 0;
        if (i == 0) H[k][0] = 0;
    }
    __syncthreads();
    int mx = 0;
    for (int d = 0; d < QLEN + TLEN - 1; d++) {
        int *now = H[d % 3], *p1 = H[(d + 2) % 3], *p2 = H[(d + 1) % 3];
        int j = d - i;
        if (j >= 0 && j < TLEN) {
            int up = p1[i] - GAP, left = p1[i + 1] - GAP;
            int dg = p2[i] + (tgt[j] == qc ? 2 : -1);
            int h = max(max(up, left), max(dg, 0));
            now[i + 1] = h;
            mx = max(mx, h);
        }
        __syncthreads();
    }
    red[i] = mx;
    __syncthreads();
    for (int s = QLEN / 2; s > 0; s >>= 1) {
        if (i < s) red[i] = max(red[i], red[i + s]);
        __syncthreads();
    }
    if (i == 0) best[blockIdx.x] = red[0];
}

/* 2 ---- 5-mer spectrum of each contig */
static __device__ inline int base_code(unsigned char c) { return (c * 5 + (c >> 2)) & 3; }

__global__ void kmer5_spectrum(const unsigned char *seq, int contigLen, unsigned short *spectrum)
{
    __shared__ unsigned int bins[1024];
    const unsigned char *s = seq + (size_t)blockIdx.x * contigLen;
    for (int b = threadIdx.x; b < 1024; b += blockDim.x) bins[b] = 0u;
    __syncthreads();
    for (int p = threadIdx.x; p + 5 <= contigLen; p += blockDim.x) {
        int code = 0;
        for (int k = 0; k < 5; k++) code = (code << 2) | base_code(s[p + k]);
        atomicAdd(&bins[code], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 1024; b += blockDim.x) spectrum[(size_t)blockIdx.x * 1024 + b] = (unsigned short)min(bins[b], 65535u);
}

/* 3 ---- edit distance of many short words to one probe, DP row in a private array */
#define WORDLEN 20
__global__ void levenshtein_private_row(const unsigned char *words, const unsigned char *lens, const unsigned char *probe, int probeLen, unsigned char *dist, int nwords)
{
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= nwords) return;
    unsigned char row[WORDLEN + 1];
    int m = 4 + lens[w];
    for (int j = 0; j <= m; ++j) row[j] = j;
    for (int i = 1; i <= probeLen; ++i) {
        int diag = row[0];
        row[0] = i;
        unsigned char pc = probe[i - 1];
        for (int j = 1; j <= m; ++j) {
            int del = row[j] + 1, ins = row[j - 1] + 1, sub = diag + (words[(size_t)(j - 1) * nwords + w] != pc);
            diag = row[j];
            row[j] = min(min(del, ins), sub);
        }
    }
    dist[w] = row[m];
}

/* 4 ---- HMM forward algorithm, 32 states = one warp per sequence, scaled */
#define HS 32
__global__ void hmm_forward_warp(const float *trans, const float *emit, const unsigned char *obs, float *loglik, int T, int nseq)
{
    __shared__ float A[HS][HS + 1];
    __shared__ float E[4][HS];
    __shared__ float alpha[4][HS];
    const int s = threadIdx.x, w = threadIdx.y;
    for (int r = w; r < HS; r += 4) A[r][s] = trans[r * HS + s] + 0.1f;
    E[w][s] = emit[w * HS + s] + 0.2f;
    __syncthreads();
    const int q = blockIdx.x * 4 + w;
    if (q >= nseq) return;
    const unsigned char *o = obs + (size_t)q * T;
    float ll = 0.f;
    alpha[w][s] = 1.0f / HS;
    __syncwarp();
    for (int t = 0; t < T; ++t) {
        float a = 0.f;
        for (int k = 0; k < HS; ++k) a += alpha[w][k] * A[k][s];
        a *= E[o[t] & 3][s];
        float tot = a;
        for (int d = 16; d; d >>= 1) tot += __shfl_xor_sync(0xffffffff, tot, d);
        __syncwarp();
        alpha[w][s] = a / tot;
        ll += logf(tot);
        __syncwarp();
    }
    if (s == 0) loglik[q] = ll;
}

/* 5 ---- Myers bit-vector approximate matching: best distance of a 50-mer in each text */
__global__ void myers_bitvector_search(const uint8_t *pattern, const uint8_t *texts, int textLen, int ntexts, int *bestDist)
{
    __shared__ unsigned long long peq[16];
    const int m = 50;
    if (threadIdx.x < 16) {
        unsigned long long b = 0;
        for (int i = 0; i < m; ++i)
            if ((pattern[i] & 15) == threadIdx.x) b |= 1ull << i;
        peq[threadIdx.x] = b;
    }
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < ntexts) {
        unsigned long long pv = ~0ull, mv = 0ull;
        int score = m, best = m;
        for (int j = 0; j < textLen; ++j) {
            unsigned long long eq = peq[texts[(size_t)j * ntexts + t] & 15];
            unsigned long long xv = eq | mv;
            unsigned long long xh = (((eq & pv) + pv) ^ pv) | eq;
            unsigned long long ph = mv | ~(xh | pv), mh = pv & xh;
            if (ph & (1ull << (m - 1))) score++;
            if (mh & (1ull << (m - 1))) score--;
            ph <<= 1;
            mh <<= 1;
            pv = mh | ~(xv | ph);
            mv = ph & xv;
            best = best < score ? best : score;
        }
        bestDist[t] = best;
    }
}

/* 6 ---- FM-index backward search, reads staged through shared memory, sampled occ table */
#define READLEN 21
struct FmBlock { uint32_t cnt[4]; uint64_t lo, hi; };   // 64 symbols as two bit planes

__device__ uint32_t fm_occ(const FmBlock *fm, uint32_t pos, int c)
{
    const FmBlock b = fm[pos >> 6];
    uint64_t m = ((c & 1) ? b.lo : ~b.lo) & ((c & 2) ? b.hi : ~b.hi);
    uint32_t k = pos & 63;
    m &= k ? (~0ull >> (64 - k)) : 0ull;
    return b.cnt[c] + __popcll(m);
}

__global__ void fm_backward_search(const FmBlock *fm, const uint32_t *C, const uint8_t *reads, uint2 *range, int nreads, uint32_t textLen)
{
    __shared__ uint8_t stage[96 * READLEN];
    __shared__ uint32_t sC[4];
    const int first = blockIdx.x * 96;
    const int here = min(96, nreads - first);
    for (int k = threadIdx.x; k < here * READLEN; k += blockDim.x) stage[k] = reads[(size_t)first * READLEN + k];
    if (threadIdx.x < 4) sC[threadIdx.x] = C[threadIdx.x];
    __syncthreads();
    if ((int)threadIdx.x >= here) return;
    uint32_t sp = 0, ep = textLen;
    for (int k = READLEN - 1; k >= 0 && sp < ep; --k) {
        int c = stage[threadIdx.x * READLEN + k] & 3;
        sp = sC[c] + fm_occ(fm, sp, c);
        ep = sC[c] + fm_occ(fm, ep, c);
    }
    range[first + threadIdx.x] = make_uint2(sp, ep);
}

/* 7 ---- all-pairs Hamming distance of 256-bit fingerprints */
__global__ void hamming_allpairs_tile(const uint32_t *fp, uint16_t *D, int n)
{
    __shared__ uint32_t rows[16][8], cols[16][9];
    int tx = threadIdx.x, ty = threadIdx.y;
    int r = blockIdx.y * 16 + ty, c = blockIdx.x * 16 + tx;
    int cr = blockIdx.x * 16 + ty;
    if (tx < 8) rows[ty][tx] = r < n ? fp[(size_t)r * 8 + tx] : 0;
    else cols[ty][tx - 8] = cr < n ? fp[(size_t)cr * 8 + tx - 8] : 0;
    __syncthreads();
    if (r < n && c < n) {
        int d = 0;
        for (int k = 0; k < 8; k++) d += __popc(rows[ty][k] ^ cols[tx][k]);
        D[(size_t)r * n + c] = d;
    }
}

/* 8 ---- dynamic time warping in a Sakoe-Chiba band; thread = offset within the band, rows one after the other in anti-diagonal order */
template <int LEN, int BAND>
__global__ void dtw_sakoe_chiba(const double *series, const double *templ, double *cost)
{
    __shared__ double a[LEN], b[LEN];
    __shared__ double d[3][LEN + 1];
    const double *s = series + (size_t)blockIdx.x * LEN;
    for (int i = threadIdx.x; i < LEN; i += blockDim.x) {
        a[i] = s[i] * (1.0 + 0.001 * (blockIdx.x % 10));
        b[i] = templ[i];
    }
    for (int i = threadIdx.x; i <= LEN; i += blockDim.x)
        for (int k = 0; k < 3; k++) d[k][i] = 1e300;
    __syncthreads();
    for (int diag = 0; diag < 2 * LEN - 1; ++diag) {
        double *cur = d[diag % 3], *one = d[(diag + 2) % 3], *two = d[(diag + 1) % 3];
        for (int i = threadIdx.x; i < LEN; i += blockDim.x) {
            int j = diag - i;
            double v = 1e300;
            if (j >= 0 && j < LEN && abs(i - j) <= BAND) {
                double e = a[i] - b[j];
                double prev;
                if (i == 0 && j == 0) prev = 0.0;
                else prev = fmin(fmin(one[i], one[i + 1]), two[i]);
                v = e * e + prev;
            }
            cur[i + 1] = v;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) cost[blockIdx.x] = d[(2 * LEN - 2) % 3][LEN];
}

int main()
{
    {
        int pairs = 20000;
        char *q = mk<char>((size_t)pairs * QLEN), *t = mk<char>((size_t)pairs * TLEN);
        int *b = mk<int>(pairs);
        sw_antidiagonal_score<<<pairs, QLEN>>>(q, t, b);
        show("sw_antidiagonal_score", b, pairs * 4);
    }
    {
        int n = 5000, len = 6007;
        unsigned char *s = mk<unsigned char>((size_t)n * len);
        unsigned short *sp = mk<unsigned short>((size_t)n * 1024);
        kmer5_spectrum<<<n, 256>>>(s, len, sp);
        show("kmer5_spectrum", sp, (size_t)n * 1024 * 2);
    }
    {
        int n = 1100000;
        unsigned char *w = mk<unsigned char>((size_t)n * WORDLEN), *l = mk<unsigned char>(n), *p = mk<unsigned char>(32), *d = mk<unsigned char>(n);
        levenshtein_private_row<<<(n + 127) / 128, 128>>>(w, l, p, 18, d, n);
        show("levenshtein_private_row", d, n);
    }
    {
        int n = 30001, T = 150;
        float *A = mk<float>(HS * HS), *E = mk<float>(4 * HS), *ll = mk<float>(n);
        unsigned char *o = mk<unsigned char>((size_t)n * T);
        hmm_forward_warp<<<(n + 3) / 4, dim3(32, 4)>>>(A, E, o, ll, T, n);
        show("hmm_forward_warp", ll, n * 4);
    }
    {
        int n = 200000, len = 160;
        uint8_t *p = mk<uint8_t>(64), *t = mk<uint8_t>((size_t)n * len);
        int *b = mk<int>(n);
        myers_bitvector_search<<<(n + 159) / 160, 160>>>(p, t, len, n, b);
        show("myers_bitvector_search", b, n * 4);
    }
    {
        const uint32_t N = 1u << 23;
        std::vector<FmBlock> fm(N / 64 + 1);
        uint32_t c[4] = {0, 0, 0, 0}, x = 12345;
        for (size_t b = 0; b <= N / 64; b++) {
            for (int k = 0; k < 4; k++) fm[b].cnt[k] = c[k];
            fm[b].lo = fm[b].hi = 0;
            if (b == N / 64) break;
            for (int i = 0; i < 64; i++) {
                x = x * 1664525u + 1013904223u;
                int s = x >> 30;
                if (s & 1) fm[b].lo |= 1ull << i;
                if (s & 2) fm[b].hi |= 1ull << i;
                c[s]++;
            }
        }
        uint32_t C[4] = {0, c[0], c[0] + c[1], c[0] + c[1] + c[2]}, *dC;
        FmBlock *dfm;
        cudaMalloc(&dfm, fm.size() * sizeof(FmBlock));
        cudaMemcpy(dfm, fm.data(), fm.size() * sizeof(FmBlock), cudaMemcpyHostToDevice);
        cudaMalloc(&dC, sizeof C);
        cudaMemcpy(dC, C, sizeof C, cudaMemcpyHostToDevice);
        int reads = 1500000;
        uint8_t *r = mk<uint8_t>((size_t)reads * READLEN);
        uint2 *rg = (uint2 *)mk<uint32_t>(reads * 2);
        fm_backward_search<<<(reads + 95) / 96, 96>>>(dfm, dC, r, rg, reads, N);
        show("fm_backward_search", rg, (size_t)reads * 8);
    }
    {
        int n = 5003;
        std::vector<uint32_t> h((size_t)n * 8);
        for (size_t i = 0; i < h.size(); i++) h[i] = (uint32_t)(i * 2654435761u) ^ (uint32_t)(i >> 3);
        uint32_t *fp;
        cudaMalloc(&fp, h.size() * 4);
        cudaMemcpy(fp, h.data(), h.size() * 4, cudaMemcpyHostToDevice);
        uint16_t *D = mk<uint16_t>((size_t)n * n);
        hamming_allpairs_tile<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(fp, D, n);
        show("hamming_allpairs_tile", D, (size_t)n * n * 2);
    }
    {
        int n = 10000;
        const int LEN = 200;
        double *s = mk<double>((size_t)n * LEN), *t = mk<double>(LEN + 7) + 7, *c = mk<double>(n);
        dtw_sakoe_chiba<LEN, 20><<<n, 64>>>(s, t, c);
        show("dtw_sakoe_chiba", c, n * 8);
    }
    return 0;
}
