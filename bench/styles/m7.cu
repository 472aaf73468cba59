// sequence analysis
#include "shown.h"
#include <vector>
#include <cmath>

typedef unsigned char u8;

template <typename T, typename Gen>
static T *gen(size_t n, Gen g)
{
    std::vector<T> v(n);
    for (size_t i = 0; i < n; ++i) v[i] = (T)g(i);
    T *p = nullptr;
    cudaMalloc((void **)&p, n * sizeof(T));
    cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}
static unsigned hash32(size_t i)
{
    unsigned x = (unsigned)i * 2654435761u + 12345u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return x;
}

// ---- Smith-Waterman, affine gaps, one pair per block, one query residue per thread
#define QLEN 128
#define GAP_OPEN 5
#define GAP_EXT 1
__global__ void sw_affine(const u8 *query, const u8 *db, int *score, int dblen)
{
    __shared__ int h[3][QLEN + 1];
    __shared__ int f[2][QLEN + 1];
    __shared__ int best[QLEN];
    const int i = threadIdx.x;
    const u8 *t = db + (size_t)blockIdx.x * dblen;
    const u8 q = query[(size_t)blockIdx.x * QLEN + i];
    for (int k = 0; k < 3; k++) h[k][i + 1] = 0;
    f[0][i + 1] = f[1][i + 1] = -GAP_OPEN;
    if (i == 0) {
        h[0][0] = h[1][0] = h[2][0] = 0;
        f[0][0] = f[1][0] = -GAP_OPEN;
    }
    __syncthreads();
    int *hc = h[0], *h1 = h[1], *h2 = h[2];
    int *fc = f[0], *f1 = f[1];
    int e = -GAP_OPEN, mx = 0;
    for (int d = 0; d < QLEN + dblen - 1; d++) {
        int j = d - i;
        int hv = 0, fv = -GAP_OPEN;
        if (j >= 0 && j < dblen) {
            e = max(h1[i + 1] - GAP_OPEN, e - GAP_EXT);
            fv = max(h1[i] - GAP_OPEN, f1[i] - GAP_EXT);
            int s = h2[i] + (q == t[j] ? 3 : -2);
            hv = max(max(0, s), max(e, fv));
            mx = max(mx, hv);
        }
        hc[i + 1] = hv;
        fc[i + 1] = fv;
        __syncthreads();
        int *tmp = h2;
        h2 = h1;
        h1 = hc;
        hc = tmp;
        tmp = f1;
        f1 = fc;
        fc = tmp;
    }
    best[i] = mx;
    __syncthreads();
    for (int s = QLEN / 2; s > 0; s >>= 1) {
        if (i < s) best[i] = max(best[i], best[i + s]);
        __syncthreads();
    }
    if (i == 0) score[blockIdx.x] = best[0];
}

// ---- Levenshtein distance by anti-diagonals, three diagonals kept modulo 3
#define ED_MAX 256
__global__ void edit_distance_diag(const u8 *a, const u8 *b, int n, int *dist)
{
    __shared__ int D[3][ED_MAX + 1];
    __shared__ u8 sa[ED_MAX], sb[ED_MAX];
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sa[i] = a[blockIdx.x * n + i];
        sb[i] = b[blockIdx.x * n + i];
    }
    __syncthreads();
    for (int k = 0; k <= 2 * n; k++) {
        int *cur = D[k % 3];
        const int *prev = D[(k + 2) % 3];
        const int *prev2 = D[(k + 1) % 3];
        for (int i = threadIdx.x; i <= n; i += blockDim.x) {
            int j = k - i;
            if (j < 0 || j > n) continue;
            if (i == 0 || j == 0)
                cur[i] = k;
            else {
                int del = min(prev[i - 1], prev[i]) + 1;
                int sub = prev2[i - 1] + (sa[i - 1] != sb[j - 1]);
                cur[i] = min(del, sub);
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) dist[blockIdx.x] = D[(2 * n) % 3][n];
}

// ---- motif scan with a position weight matrix on both strands
#define MOTIF 15
__global__ void pwm_scan(const u8 *__restrict__ seq, const float *__restrict__ pwm, float *__restrict__ hits, int n)
{
    __shared__ float m[MOTIF][4];
    __shared__ u8 s[256 + MOTIF - 1];
    int base = blockIdx.x * blockDim.x;
    if (threadIdx.x < MOTIF * 4) m[threadIdx.x / 4][threadIdx.x % 4] = pwm[threadIdx.x];
    s[threadIdx.x] = base + threadIdx.x < n ? seq[base + threadIdx.x] & 3 : 0;
    if (threadIdx.x < MOTIF - 1)
        s[256 + threadIdx.x] = base + 256 + threadIdx.x < n ? seq[base + 256 + threadIdx.x] & 3 : 0;
    __syncthreads();
    if (base + threadIdx.x > n - MOTIF) return;
    float fwd = 0, rev = 0;
    for (int k = 0; k < MOTIF; k++) {
        u8 c = s[threadIdx.x + k];
        fwd += m[k][c];
        rev += m[MOTIF - 1 - k][3 - c];
    }
    hits[base + threadIdx.x] = fmaxf(fwd, rev);
}

// ---- all pairs Hamming distances of bit vectors
#define HT 16
__global__ void hamming_all_pairs(const unsigned *fp, unsigned short *dist, int n, int words)
{
    __shared__ unsigned sA[HT][HT + 1], sB[HT][HT + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int rowA = blockIdx.y * HT + ty;
    int rowB = blockIdx.x * HT + ty;
    int acc = 0;
    for (int w = 0; w < words; w += HT) {
        sA[ty][tx] = (rowA < n && w + tx < words) ? fp[rowA * words + w + tx] : 0u;
        sB[ty][tx] = (rowB < n && w + tx < words) ? fp[rowB * words + w + tx] : 0u;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < HT; k++) acc += __popc(sA[ty][k] ^ sB[tx][k]);
        __syncthreads();
    }
    int col = blockIdx.x * HT + tx;
    if (rowA < n && col < n) dist[(size_t)rowA * n + col] = (unsigned short)acc;
}

// ---- forward algorithm of a hidden Markov model, scaled
#define STATES 64
#define SYMBOLS 4
__global__ void hmm_forward(const float *trans, const float *emit, const u8 *obs, float *loglik, int T)
{
    __shared__ float A[STATES * STATES];
    __shared__ float B[STATES * SYMBOLS];
    __shared__ float alpha[2][STATES];
    __shared__ float part[STATES / 32];
    int j = threadIdx.x;
    for (int k = j; k < STATES * STATES; k += STATES) A[k] = trans[k];
    for (int k = j; k < STATES * SYMBOLS; k += STATES) B[k] = emit[k];
    const u8 *o = obs + (size_t)blockIdx.x * T;
    alpha[0][j] = 1.f / STATES;
    __syncthreads();
    float ll = 0.f;
    int cur = 0;
    for (int t = 0; t < T; t++) {
        float v = 0.f;
#pragma unroll 8
        for (int i = 0; i < STATES; i++) v += alpha[cur][i] * A[i * STATES + j];
        v *= B[j * SYMBOLS + (o[t] & 3)];
        float w = v;
        for (int off = 16; off; off >>= 1) w += __shfl_xor_sync(0xffffffffu, w, off);
        if ((j & 31) == 0) part[j >> 5] = w;
        __syncthreads();
        float tot = part[0] + part[1];
        alpha[cur ^ 1][j] = v / tot;
        ll += logf(tot);
        cur ^= 1;
        __syncthreads();
    }
    if (j == 0) loglik[blockIdx.x] = ll;
}

// ---- dinucleotide complexity; counts in a private array
#define STEP 16
#define WIN 48
__global__ void dinuc_entropy(const u8 *seq, float *ent, int n)
{
    __shared__ u8 s[128 * STEP + WIN];
    int start = blockIdx.x * 128 * STEP;
    for (int k = threadIdx.x; k < 128 * STEP + WIN; k += 128) s[k] = start + k < n ? seq[start + k] & 3 : 0;
    __syncthreads();
    unsigned short cnt[16];
    for (int k = 0; k < 16; k++) cnt[k] = 0;
    const u8 *w = s + threadIdx.x * STEP;
    int prev = w[0];
    for (int k = 1; k < WIN; k++) {
        int c = w[k];
        cnt[prev * 4 + c]++;
        prev = c;
    }
    float h = 0.f;
    for (int k = 0; k < 16; k++)
        if (cnt[k]) {
            float p = cnt[k] / (float)(WIN - 1);
            h -= p * log2f(p);
        }
    int o = blockIdx.x * 128 + threadIdx.x;
    if (o * STEP < n) ent[o] = h;
}

// ---- longest increasing chain of anchors, patience sorting with a local pile array
#define ANCHORS 32
__global__ void chain_anchors(const int *pos, int *best, int *lasts, int reads)
{
    __shared__ int buf[64][ANCHORS + 1];
    int first = blockIdx.x * 64;
    for (int k = threadIdx.x; k < 64 * ANCHORS; k += 64) {
        int r = k / ANCHORS, c = k % ANCHORS;
        buf[r][c] = first + r < reads ? pos[(first + r) * ANCHORS + c] : 0;
    }
    __syncthreads();
    int r = first + threadIdx.x;
    if (r >= reads) return;
    int piles[ANCHORS];
    int len = 0;
    for (int i = 0; i < ANCHORS; i++) {
        int v = buf[threadIdx.x][i];
        int lo = 0, hi = len;
        while (lo < hi) {
            int mid = (lo + hi) >> 1;
            if (piles[mid] < v) lo = mid + 1;
            else hi = mid;
        }
        piles[lo] = v;
        if (lo == len) len++;
    }
    best[r] = len;
    lasts[r] = piles[len - 1];
}

// ---- consensus of aligned reads, several arrays in one pool
__global__ void consensus_pileup(const u8 *pile, const float *quality, u8 *cons, float *conf, int depth, int columns)
{
    extern __shared__ __align__(16) unsigned char pool[];
    float *wgt = (float *)pool;
    float *vote = wgt + depth;
    u8 *tile = (u8 *)(vote + 4 * blockDim.x);
    int tid = threadIdx.x, bd = blockDim.x;
    int col = blockIdx.x * bd + tid;
    for (int d = tid; d < depth; d += bd) wgt[d] = 1.f + quality[d];
    for (int d = 0; d < depth; d++) tile[d * bd + tid] = col < columns ? pile[(size_t)d * columns + col] & 3 : 0;
    for (int b = 0; b < 4; b++) vote[b * bd + tid] = 0.f;
    __syncthreads();
    float tot = 0.f;
    for (int d = 0; d < depth; d++) {
        vote[tile[d * bd + tid] * bd + tid] += wgt[d];
        tot += wgt[d];
    }
    int arg = 0;
    for (int b = 1; b < 4; b++)
        if (vote[b * bd + tid] > vote[arg * bd + tid]) arg = b;
    if (col < columns) {
        cons[col] = "ACGT"[arg];
        conf[col] = vote[arg * bd + tid] / tot;
    }
}

int main()
{
    const int pairs = 4096, L = 384;
    auto base = [](size_t i) { return hash32(i) & 3; };
    const int n = (1 << 24) - 41;
    u8 *seq = gen<u8>((size_t)n + 41, base), *seq2 = gen<u8>((size_t)pairs * L, [&](size_t i) { return base(i + i / 23); });
    int *iout = mk<int>(1 << 20), *iout2 = mk<int>(1 << 20);
    float *fout = mk<float>((size_t)n + 41);

    sw_affine<<<pairs, QLEN>>>(seq, seq2, iout, L);
    show("sw_affine", iout, pairs * sizeof(int));

    edit_distance_diag<<<pairs, 128>>>(seq, seq2, 201, iout);
    show("edit_distance_diag", iout, pairs * sizeof(int));

    float *pwm = gen<float>(MOTIF * 4, [](size_t i) { return ((i * 29) % 17) / 8.0 - 1.0; });
    pwm_scan<<<(n + 255) / 256, 256>>>(seq, pwm, fout, n);
    show("pwm_scan", fout, (size_t)n * 4);

    int nf = 3001, words = 60;
    unsigned *fp = gen<unsigned>((size_t)nf * words, hash32);
    unsigned short *dist = mk<unsigned short>((size_t)nf * nf);
    hamming_all_pairs<<<dim3((nf + HT - 1) / HT, (nf + HT - 1) / HT), dim3(HT, HT)>>>(fp, dist, nf, words);
    show("hamming_all_pairs", dist, (size_t)nf * nf * 2);

    float *tr = gen<float>(STATES * STATES, [](size_t i) { return (1 + (i * 31) % 19) / 640.0; });
    float *em = gen<float>(STATES * SYMBOLS, [](size_t i) { return (1 + (i * 7) % 11) / 24.0; });
    hmm_forward<<<2000, STATES>>>(tr, em, seq, fout, 150);
    show("hmm_forward", fout, 2000 * 4);

    int windows = (n + STEP - 1) / STEP;
    dinuc_entropy<<<(windows + 127) / 128, 128>>>(seq, fout, n);
    show("dinuc_entropy", fout, (size_t)windows * 4);

    int reads = 250001;
    int *pos = gen<int>((size_t)reads * ANCHORS, [](size_t i) { return hash32(i) % 1000 + (i % 32) * 20; });
    chain_anchors<<<(reads + 63) / 64, 64>>>(pos, iout, iout2, reads);
    show("chain_anchors", iout, reads * 4);

    int depth = 40, columns = 400003;
    float *q = mk<float>(depth);
    u8 *cons = mk<u8>(columns);
    consensus_pileup<<<(columns + 127) / 128, 128, depth * 4 + 4 * 128 * 4 + depth * 128>>>(seq, q, cons, fout, depth, columns);
    show("consensus_pileup", fout, (size_t)columns * 4);
    return 0;
}
