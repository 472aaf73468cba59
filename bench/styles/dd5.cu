// Sequence algorithms: alignment, automata, string search, hidden Markov models, folding.
#include <cmath>
#include <cstdint>
#include "shown.h"

static char *letters(size_t n, unsigned seed, unsigned alphabet) {
    char *h = (char *)malloc(n), *d;
    unsigned s = seed * 2654435761u + 1;
    for (size_t i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; h[i] = (char)((s >> 20) % alphabet); }
    cudaMalloc(&d, n);
    cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);
    free(h);
    return d;
}

//===-- Smith-Waterman, affine gaps, one pair a block, anti-diagonals in three rolling buffers --===//
#define SW_MAX 128
struct Gap { short open, ext; };

__global__ void smithWaterman(const char *query, const char *target, int qlen, int tlen, const signed char *matrix, Gap gap, int *best)
{
    __shared__ short H[3][SW_MAX + 1];
    __shared__ short E[2][SW_MAX + 1], F[2][SW_MAX + 1];
    __shared__ signed char sub[16];
    __shared__ int top[SW_MAX / 32];
    const int i = threadIdx.x;                    // row of the matrix, 0-based
    const char *q = query + (size_t)blockIdx.x * qlen;
    const char *t = target + (size_t)blockIdx.x * tlen;
    if (i < 16) sub[i] = (signed char)((i >> 2) == (i & 3) ? 5 : -2 - matrix[i] % 3);
    for (int k = i; k <= SW_MAX; k += blockDim.x) {
        H[0][k] = H[1][k] = H[2][k] = 0;
        E[0][k] = E[1][k] = F[0][k] = F[1][k] = -1000;
    }
    __syncthreads();
    const int qc = i < qlen ? q[i] : 0;
    short mx = 0;
    for (int d = 0; d < qlen + tlen - 1; d++) {
        const int j = d - i;
        const int cur = d % 3, p1 = (d + 2) % 3, p2 = (d + 1) % 3, ce = d & 1, pe = ce ^ 1;
        if (i < qlen) {
            short h = 0, e = -1000, f = -1000;
            if (j >= 0 && j < tlen) {
                e = max(E[pe][i + 1] - gap.ext, H[p1][i + 1] - gap.open);      // left neighbour
                f = max(F[pe][i] - gap.ext, H[p1][i] - gap.open);              // upper neighbour
                short diag = H[p2][i] + sub[qc * 4 + t[j]];
                h = max(max((short)0, diag), max(e, f));
                mx = max(mx, h);
            }
            H[cur][i + 1] = h;
            E[ce][i + 1] = e;
            F[ce][i + 1] = f;
        }
        __syncthreads();
    }
    int m = __reduce_max_sync(0xffffffffu, (int)mx);
    if ((i & 31) == 0) top[i >> 5] = m;
    __syncthreads();
    if (i == 0) {
        for (unsigned w = 1; w < blockDim.x / 32; w++) m = max(m, top[w]);
        best[blockIdx.x] = m;
    }
}

//===-- Levenshtein distance of a word to a list of words, row kept privately --===//
template <int MAXLEN>
__global__ void __launch_bounds__(128) editDistance(const char *__restrict__ words, const int *__restrict__ ofs, const char *__restrict__ key, int klen,
                                                    unsigned char *__restrict__ dist, int nwords)
{
    const int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= nwords) return;
    unsigned char row[MAXLEN + 1];
    for (int k = 0; k <= klen; k++) row[k] = (unsigned char)k;
    int b = ofs[w], e = ofs[w + 1];
    for (int p = b; p < e; p++) {
        char c = words[p];
        int diag = row[0];
        row[0] = (unsigned char)(p - b + 1);
        for (int k = 1; k <= klen; k++) {
            int up = row[k];
            int v = min(min(up, (int)row[k - 1]) + 1, diag + (c != key[k - 1]));
            diag = up;
            row[k] = (unsigned char)v;
        }
    }
    dist[w] = row[klen];
}

//===-- Knuth-Morris-Pratt, pattern and its failure function in shared memory, chunk a thread --===//
__global__ void kmpCount(const char *text, size_t n, const char *pat, int m, unsigned *hits, unsigned chunk)
{
    extern __shared__ short kmp[];
    short *fail = kmp;
    short *p = kmp + m;
    for (int i = threadIdx.x; i < m; i += blockDim.x) p[i] = pat[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        fail[0] = 0;
        for (int i = 1, k = 0; i < m; i++) {
            while (k > 0 && p[i] != p[k]) k = fail[k - 1];
            if (p[i] == p[k]) ++k;
            fail[i] = (short)k;
        }
    }
    __syncthreads();
    size_t id = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t beg = id * chunk;
    if (beg >= n) return;
    size_t end = beg + chunk + m - 1;             // matches that begin in this chunk
    if (end > n) end = n;
    unsigned c = 0;
    int k = 0;
    for (size_t i = beg; i < end; i++) {
        short ch = text[i];
        while (k > 0 && ch != p[k]) k = fail[k - 1];
        if (ch == p[k]) k++;
        if (k == m) { c++; k = fail[k - 1]; }
    }
    hits[id] = c;
}

//===-- table-driven automaton; all threads walk their own record through a shared transition table --===//
template <int STATES, int SYMS>
__global__ void dfaRecords(const uint8_t *__restrict__ rec, int recLen, int nrec, const uint8_t *__restrict__ table, unsigned acceptMask, uint32_t *__restrict__ out)
{
    __shared__ uint8_t next[STATES * SYMS];
    static_assert(STATES <= 32, "states are a mask");
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < STATES * SYMS; i += blockDim.x * blockDim.y)
        next[i] = (uint8_t)((table[i] * 5 + i * 7 + i / SYMS) % STATES);
    __syncthreads();
    const int r = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (r < nrec) {
        const uint8_t *s = rec + (size_t)r * recLen;
        unsigned st = 0, acc = 0, visited = 0;
        for (int i = 0; i < recLen; i++) {
            st = next[st * SYMS + (s[i] & (SYMS - 1))];
            visited |= 1u << st;
            acc += (acceptMask >> st) & 1u;
        }
        out[r] = acc ^ visited;
    }
}

//===-- Viterbi decoding, a state a thread, back pointers packed to bytes in global memory --===//
__global__ void viterbiHmm(const float *logA, const float *logB, const uint8_t *obs, uint8_t *back, uint8_t *path, int S, int V, int T)
{
    extern __shared__ float vit[];
    float *A = vit;                         // S x (S + 1)
    float *prev = A + S * (S + 1);
    float *cur = prev + S;
    const int s = threadIdx.x;
    obs += (size_t)blockIdx.x * T;
    path += (size_t)blockIdx.x * T;
    back += (size_t)blockIdx.x * T * S;
    for (int i = s; i < S * S; i += blockDim.x) A[(i / S) * (S + 1) + i % S] = -0.1f * logA[i];
    if (s < S) prev[s] = -logB[s * V + obs[0] % V];
    __syncthreads();
    for (int t = 1; t < T; t++) {
        if (s < S) {
            float best = -INFINITY;
            int arg = 0;
            for (int r = 0; r < S; r++) {
                float v = prev[r] + A[r * (S + 1) + s];
                if (v > best) { best = v; arg = r; }
            }
            cur[s] = best - logB[s * V + obs[t] % V];
            back[t * S + s] = (uint8_t)arg;
        }
        __syncthreads();
        float *x = prev; prev = cur; cur = x;
    }
    if (s == 0) {
        int at = 0;
        for (int r = 1; r < S; r++) if (prev[r] > prev[at]) at = r;
        for (int t = T - 1; t > 0; t--) {
            path[t] = (uint8_t)at;
            at = back[t * S + at];
        }
        path[0] = (uint8_t)at;
    }
}

//===-- Nussinov RNA folding, whole triangle of a short sequence in shared memory --===//
__device__ inline bool pairs(char a, char b) { return a + b == 3 || (a == 2 && b == 3) || (a == 3 && b == 2); }

template <int L>
__global__ void nussinov(const char *seqs, unsigned short *score, int len, int minLoop)
{
    __shared__ unsigned char N[L][L + 4];
    __shared__ char s[L];
    const int t = threadIdx.x;
    for (int i = t; i < len; i += blockDim.x) s[i] = seqs[(size_t)blockIdx.x * len + i];
    for (int i = t; i < L * (L + 4); i += blockDim.x) (&N[0][0])[i] = 0;
    __syncthreads();
    for (int d = minLoop + 1; d < len; d++) {
        for (int i = t; i + d < len; i += blockDim.x) {
            int j = i + d;
            int best = max(N[i + 1][j], N[i][j - 1]);
            if (pairs(s[i], s[j])) best = max(best, N[i + 1][j - 1] + 1);
            for (int k = i + 1; k < j; k++) best = max(best, N[i][k] + N[k + 1][j]);
            N[i][j] = (unsigned char)best;
        }
        __syncthreads();
    }
    unsigned w = 0;
    for (int i = t; i < len; i += blockDim.x) w += N[i][len - 1] * (i + 1) & 0xffff;
    if (t == 0) score[2 * blockIdx.x] = N[0][len - 1];
    w = __reduce_add_sync(~0u, w);
    if (t == 32) score[2 * blockIdx.x + 1] = (unsigned short)w;
}

//===-- banded dynamic time warping, the band is a private ring --===//
__global__ void dtwBanded(const float *ref, const float *series, float *cost, int len, int num, int band)
{
    const int MAXB = 33;
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= num) return;
    float row[MAXB + 1];
    const int W = 2 * band + 1;
    for (int k = 0; k <= W; k++) row[k] = 1e30f;
    row[band] = 0.f;                       // virtual origin, diagonal predecessor of (0, 0)
    for (int i = 0; i < len; i++) {
        float x = series[(size_t)i * num + id];
        float left = 1e30f;
        for (int k = 0; k < W; k++) {
            int j = i + k - band;
            float v = 1e30f;
            if (j >= 0 && j < len) {
                float d = fabsf(x - ref[j]);
                v = d + fminf(fminf(row[k], row[k + 1]), left);
            }
            row[k] = v;
            left = v;
        }
        row[W] = 1e30f;
    }
    cost[id] = row[band];
}

//===-- Myers bit-vector search, pattern masks in a private table looked up by character --===//
__global__ void myersSearch(const char *text, const char *patterns, int plen, int npat, int tlen, int *minScore, int *where)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ char window[256];
    uint64_t peq[26];
    for (int c = 0; c < 26; c++) peq[c] = 0;
    if (p < npat)
        for (int i = 0; i < plen; i++) peq[(int)patterns[(size_t)p * plen + i]] |= 1ull << i;
    uint64_t pv = ~0ull, mv = 0;
    const uint64_t last = 1ull << (plen - 1);
    int score = plen, best = plen, at = -1;
    for (int base = 0; base < tlen; base += 256) {
        for (int i = threadIdx.x; i < 256; i += blockDim.x) window[i] = base + i < tlen ? text[base + i] : 0;
        __syncthreads();
        int m = min(256, tlen - base);
        for (int i = 0; i < m; i++) {
            uint64_t eq = peq[(int)window[i]];
            uint64_t xv = eq | mv;
            uint64_t xh = (((eq & pv) + pv) ^ pv) | eq;
            uint64_t ph = mv | ~(xh | pv), mh = pv & xh;
            score += (ph & last) ? 1 : (mh & last) ? -1 : 0;
            ph <<= 1;
            mh <<= 1;
            pv = mh | ~(xv | ph);
            mv = ph & xv;
            if (score < best) { best = score; at = base + i; }
        }
        __syncthreads();
    }
    if (p < npat) { minScore[p] = best; where[p] = at; }
}

int main()
{
    {
        int np = 6001, ql = 115, tl = 130;
        char *q = letters((size_t)np * ql, 1, 4), *t = letters((size_t)np * tl, 2, 4);
        signed char *m = mk<signed char>(16); int *b = mk<int>(np);
        smithWaterman<<<np, SW_MAX>>>(q, t, ql, tl, m, Gap{6, 1}, b);
        show("smithWaterman", b, np * 4);
        cudaFree(q); cudaFree(t);
    }
    {
        int nw = 300001, kl = 21; int *o = (int *)malloc((nw + 1) * 4), *d;
        o[0] = 0;
        for (int i = 0; i < nw; i++) o[i + 1] = o[i] + 4 + (int)((i * 2654435761u) >> 27);
        char *w = letters(o[nw], 3, 6), *k = letters(kl, 4, 6);
        cudaMalloc(&d, (nw + 1) * 4);
        cudaMemcpy(d, o, (nw + 1) * 4, cudaMemcpyHostToDevice);
        unsigned char *out = mk<unsigned char>(nw);
        editDistance<32><<<(nw + 127) / 128, 128>>>(w, d, k, kl, out, nw);
        show("editDistance", out, nw);
        cudaFree(w); cudaFree(d);
    }
    {
        size_t n = (1u << 24) + 313; unsigned chunk = 96; int m = 7;
        char *t = letters(n, 5, 2), *p = letters(m, 9, 2);
        size_t th = (n + chunk - 1) / chunk;
        unsigned *h = mk<unsigned>(th);
        kmpCount<<<(unsigned)((th + 127) / 128), 128, 2 * m * sizeof(short)>>>(t, n, p, m, h, chunk);
        show("kmpCount", h, th * 4);
        cudaFree(t); cudaFree(h);
    }
    {
        int len = 75, n = 150001;
        uint8_t *r = (uint8_t *)letters((size_t)len * n, 6, 120), *t = mk<uint8_t>(30 * 32);
        uint32_t *o = mk<uint32_t>(n);
        dfaRecords<30, 32><<<(n + 255) / 256, dim3(64, 4)>>>(r, len, n, t, 0x10204081u, o);
        show("dfaRecords", o, (size_t)n * 4);
        cudaFree(r);
    }
    {
        int S = 45, V = 20, T = 150, n = 700;
        float *A = mk<float>(S * S), *B = mk<float>(S * V);
        uint8_t *ob = (uint8_t *)letters((size_t)n * T, 7, 20), *bk = mk<uint8_t>((size_t)n * T * S), *pa = mk<uint8_t>((size_t)n * T);
        viterbiHmm<<<n, 64, (S * (S + 1) + 2 * S) * 4>>>(A, B, ob, bk, pa, S, V, T);
        show("viterbiHmm", pa, (size_t)n * T);
        cudaFree(ob); cudaFree(bk); cudaFree(pa);
    }
    {
        int len = 90, n = 900;
        char *s = letters((size_t)len * n, 8, 4); unsigned short *sc = mk<unsigned short>(2 * n);
        nussinov<96><<<n, 64>>>(s, sc, len, 3);
        show("nussinov", sc, n * 4);
        cudaFree(s);
    }
    {
        int len = 120, num = 100003, band = 11;
        float *r = mk<float>(len), *s = mk<float>((size_t)len * num), *c = mk<float>(num);
        dtwBanded<<<(num + 95) / 96, 96>>>(r, s, c, len, num, band);
        show("dtwBanded", c, num * 4);
        cudaFree(s);
    }
    {
        int pl = 50, np = 20011, tl = 2900;
        char *t = letters(tl, 10, 26), *p = letters((size_t)pl * np, 11, 26);
        int *m = mk<int>(np), *w = mk<int>(np);
        myersSearch<<<(np + 127) / 128, 128>>>(t, p, pl, np, tl, m, w);
        show("myersSearch", m, np * 4);
        show("myersSearch", w, np * 4);
    }
    return 0;
}
