// sequence analysis and dynamic programming
#include "shown.h"
#include <climits>

static char *mk_dna(size_t n, unsigned s)
{
    static const char L[5] = "ACGT";
    char *h = (char *)malloc(n), *d;
    for (size_t i = 0; i < n; i++) {
        s = s * 1103515245u + 12345u;
        h[i] = L[(s >> 18) & 3];
    }
    cudaMalloc(&d, n);
    cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);
    free(h);
    return d;
}

/****************************************************************************
 * Smith-Waterman score, one alignment per block, anti-diagonals
 ****************************************************************************/
#define QLEN 96
#define GAP 2
__global__ void sw_antidiagonal(const char *queries, const char *targets, int *scores, int tlen)
{
    __shared__ char q[QLEN];
    __shared__ int diag[3][QLEN + 1];
    __shared__ int best[QLEN];
    const int i = threadIdx.x;
    const char *t = targets + (size_t)blockIdx.x * tlen;
    q[i] = queries[(size_t)blockIdx.x * QLEN + i];
    for (int d = 0; d < 3; ++d) {
        diag[d][i + 1] = 0;
        if (i == 0) diag[d][0] = 0;
    }
    __syncthreads();
    int mx = 0;
    int now = 2, prev = 1, prev2 = 0;
    for (int step = 0; step < QLEN + tlen - 1; ++step) {
        const int j = step - i;
        if (j >= 0 && j < tlen) {
            int up = diag[prev][i] - GAP;
            int left = diag[prev][i + 1] - GAP;
            int dg = diag[prev2][i] + (q[i] == t[j] ? 3 : -1);
            int h = max(max(up, left), max(dg, 0));
            diag[now][i + 1] = h;
            mx = max(mx, h);
        } else {
            diag[now][i + 1] = 0;
        }
        __syncthreads();
        int tmp = prev2;
        prev2 = prev;
        prev = now;
        now = tmp;
    }
    best[i] = mx;
    __syncthreads();
    for (int n = QLEN; n > 1;) {
        int half = (n + 1) / 2;
        if (i + half < n) best[i] = max(best[i], best[i + half]);
        __syncthreads();
        n = half;
    }
    if (i == 0) scores[blockIdx.x] = best[0];
}

/****************************************************************************
 * pathfinder: minimum path through a grid, ghost zone pyramid
 ****************************************************************************/
#define BLOCK_SIZE 256
#define HALO 1
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

__global__ void dynproc_kernel(int iteration, const int *gpuWall, const int *gpuSrc, int *gpuResults, int cols, int startStep, int border)
{
    __shared__ int prev[BLOCK_SIZE];
    __shared__ int result[BLOCK_SIZE];

    int bx = blockIdx.x;
    int tx = threadIdx.x;

    // each block finally computes result for a small block
    int small_block_cols = BLOCK_SIZE - iteration * HALO * 2;
    int blkX = small_block_cols * bx - border;
    int blkXmax = blkX + BLOCK_SIZE - 1;
    int xidx = blkX + tx;

    // effective range within this block that falls within the valid range of the input data
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > cols - 1) ? BLOCK_SIZE - 1 - (blkXmax - cols + 1) : BLOCK_SIZE - 1;

    int W = tx - 1;
    int E = tx + 1;
    W = (W < validXmin) ? validXmin : W;
    E = (E > validXmax) ? validXmax : E;
    bool isValid = IN_RANGE(tx, validXmin, validXmax);

    if (IN_RANGE(xidx, 0, cols - 1)) prev[tx] = gpuSrc[xidx];
    __syncthreads();
    bool computed = false;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && isValid) {
            computed = true;
            int left = prev[W];
            int up = prev[tx];
            int right = prev[E];
            int shortest = MIN(left, up);
            shortest = MIN(shortest, right);
            int index = cols * (startStep + i) + xidx;
            result[tx] = shortest + gpuWall[index];
        }
        __syncthreads();
        if (i == iteration - 1) break;
        if (computed) prev[tx] = result[tx];
        __syncthreads();
    }
    if (computed) gpuResults[xidx] = result[tx];
}

/****************************************************************************
 * LCS of short reads; one pair per thread, the DP row is private
 ****************************************************************************/
#define RL 36
__global__ void lcs_private_row(const char *a, const char *b, unsigned char *len, int npairs)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= npairs) return;
    unsigned char row[RL + 1];
    char bb[RL];
    for (int j = 0; j < RL; j++) bb[j] = b[(size_t)j * npairs + p];
    for (int j = 0; j <= RL; j++) row[j] = 0;
    for (int i = 0; i < RL; i++) {
        char c = a[(size_t)i * npairs + p];
        int diag = 0;
        for (int j = 1; j <= RL; j++) {
            int up = row[j];
            if (bb[j - 1] == c) row[j] = (unsigned char)(diag + 1);
            else if (row[j - 1] > up) row[j] = row[j - 1];
            diag = up;
        }
    }
    len[p] = row[RL];
}

/****************************************************************************
 * 5-mer spectrum of each chunk of a genome
 ****************************************************************************/
#define KMER 5
#define NK 1024
__device__ __forceinline__ int code(char c)
{
    switch (c) {
    case 'A': return 0;
    case 'C': return 1;
    case 'G': return 2;
    default: return 3;
    }
}
__global__ void kmer_spectrum(const char *genome, unsigned short *spec, int chunk)
{
    __shared__ int cnt[NK];
    __shared__ unsigned char enc[512 + KMER - 1];
    for (int i = threadIdx.x; i < NK; i += blockDim.x) cnt[i] = 0;
    const char *g = genome + (size_t)blockIdx.x * chunk;
    for (int base = 0; base + KMER <= chunk; base += 512) {
        __syncthreads();
        for (int i = threadIdx.x; i < 512 + KMER - 1; i += blockDim.x)
            if (base + i < chunk) enc[i] = (unsigned char)code(g[base + i]);
        __syncthreads();
        for (int i = threadIdx.x; i < 512; i += blockDim.x) {
            if (base + i + KMER > chunk) break;
            int v = 0;
            for (int k = 0; k < KMER; k++) v = (v << 2) | enc[i + k];
            atomicAdd(&cnt[v], 1);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < NK; i += blockDim.x) spec[(size_t)blockIdx.x * NK + i] = (unsigned short)cnt[i];
}

/****************************************************************************
 * Viterbi decoding with traceback in shared memory
 ****************************************************************************/
template <int NS, int MAXT>
__global__ void viterbi_decode(const unsigned char *obs, const float *logA, const float *logB, unsigned char *path, int T)
{
    __shared__ float A[NS][NS + 1];
    __shared__ float delta[2][NS];
    __shared__ unsigned char bp[MAXT][NS];
    int s = threadIdx.x;
    for (int k = 0; k < NS; k++) A[k][s] = logA[k * NS + s];
    const unsigned char *o = obs + (size_t)blockIdx.x * T;
    delta[0][s] = logB[s * 13 + o[0] % 13];
    __syncthreads();
    for (int t = 1; t < T; t++) {
        const float *old = delta[(t - 1) & 1];
        float best = old[0] + A[0][s];
        int arg = 0;
        for (int k = 1; k < NS; k++) {
            float v = old[k] + A[k][s];
            if (v > best) {
                best = v;
                arg = k;
            }
        }
        delta[t & 1][s] = best + logB[s * 13 + o[t] % 13];
        bp[t][s] = (unsigned char)arg;
        __syncthreads();
    }
    if (s == 0) {
        const float *last = delta[(T - 1) & 1];
        int cur = 0;
        for (int k = 1; k < NS; k++)
            if (last[k] > last[cur]) cur = k;
        int t = T - 1;
        while (true) {
            path[(size_t)blockIdx.x * T + t] = (unsigned char)cur;
            if (t == 0) break;
            cur = bp[t][cur];
            --t;
        }
    }
}

/****************************************************************************
 * 0/1 knapsack, one instance per block
 ****************************************************************************/
#define CAP 1000
__global__ void knapsack_block(const int *weight, const int *value, int *answer, int items)
{
    __shared__ int dpA[CAP + 1], dpB[CAP + 1];
    int *cur = dpA, *nxt = dpB;
    for (int c = threadIdx.x; c <= CAP; c += blockDim.x) cur[c] = 0;
    __syncthreads();
    for (int it = 0; it < items; ++it) {
        const int wt = weight[blockIdx.x * items + it] * 3 + 1;
        const int val = value[blockIdx.x * items + it] + 2;
        for (int c = threadIdx.x; c <= CAP; c += blockDim.x) {
            int keep = cur[c];
            if (c >= wt) {
                int take = cur[c - wt] + val;
                if (take > keep) keep = take;
            }
            nxt[c] = keep;
        }
        __syncthreads();
        int *sw = cur;
        cur = nxt;
        nxt = sw;
    }
    if (threadIdx.x == 0) answer[blockIdx.x] = cur[CAP];
}

/****************************************************************************
 * blocked Floyd-Warshall, the "remaining blocks" phase for pivot block p
 ****************************************************************************/
#define FB 32
__global__ void fw_phase3(int *dist, int n, int p)
{
    const int bi = blockIdx.y, bj = blockIdx.x;
    if (bi == p || bj == p) return;
    __shared__ int colblk[FB][FB], rowblk[FB][FB];
    int i = bi * FB + threadIdx.y, j = bj * FB + threadIdx.x;
    int pi = p * FB + threadIdx.y, pj = p * FB + threadIdx.x;
    for (int r = 0; r < FB; r += 8) {
        colblk[threadIdx.y + r][threadIdx.x] = dist[(size_t)(i + r) * n + pj];
        rowblk[threadIdx.y + r][threadIdx.x] = dist[(size_t)(pi + r) * n + j];
    }
    __syncthreads();
    for (int r = 0; r < FB; r += 8) {
        int d = dist[(size_t)(i + r) * n + j];
        for (int k = 0; k < FB; ++k) {
            int via = colblk[threadIdx.y + r][k] + rowblk[k][threadIdx.x];
            if (via < d) d = via;
        }
        dist[(size_t)(i + r) * n + j] = d;
    }
}

/****************************************************************************
 * PSSM scan with score table and sequence window in shared memory
 ****************************************************************************/
#define MOTIF 18
#define PER 3
__global__ void pssm_scan(const char *seq, const short *pssm, int *hit, int n)
{
    __shared__ short mat[MOTIF * 4];
    extern __shared__ char window[];
    int base = blockIdx.x * blockDim.x * PER;
    if (threadIdx.x < MOTIF * 4) mat[threadIdx.x] = (short)(pssm[threadIdx.x] - 5);
    for (int i = threadIdx.x; i < blockDim.x * PER + MOTIF - 1; i += blockDim.x)
        window[i] = (char)(base + i < n ? code(seq[base + i]) : 0);
    __syncthreads();
    for (int e = 0; e < PER; ++e) {
        int l = threadIdx.x * PER + e;
        if (base + l + MOTIF > n) break;
        int fwd = 0, rev = 0;
        for (int m = 0; m < MOTIF; ++m) {
            int c = window[l + m];
            fwd += mat[m * 4 + c];
            rev += mat[(MOTIF - 1 - m) * 4 + 3 - c];
        }
        hit[base + l] = fwd > rev ? fwd : rev;
    }
}

int main(int argc, char **argv)
{
    {
        int n = 6000, tlen = 333;
        char *q = mk_dna((size_t)n * QLEN, 1), *t = mk_dna((size_t)n * tlen, 2);
        int *sc = mk<int>(n);
        sw_antidiagonal<<<n, QLEN>>>(q, t, sc, tlen);
        show("sw_antidiagonal", sc, n * 4);
    }
    {
        int cols = 1000003, rows = 20, pyr = 20, border = pyr * HALO;
        int *wall = mk<int>((size_t)cols * rows), *src = mk<int>(cols), *res = mk<int>(cols);
        int small = BLOCK_SIZE - pyr * HALO * 2;
        dynproc_kernel<<<(cols + small - 1) / small, BLOCK_SIZE>>>(pyr, wall, src, res, cols, 0, border);
        show("dynproc_kernel", res, (size_t)cols * 4);
    }
    {
        int n = 400001;
        char *a = mk_dna((size_t)n * RL, 7), *b = mk_dna((size_t)n * RL, 8);
        unsigned char *l = mk<unsigned char>(n);
        lcs_private_row<<<(n + 127) / 128, 128>>>(a, b, l, n);
        show("lcs_private_row", l, n);
    }
    {
        int chunk = 7001, nch = 2500;
        char *g = mk_dna((size_t)chunk * nch, 55);
        unsigned short *sp = mk<unsigned short>((size_t)nch * NK);
        kmer_spectrum<<<nch, 160>>>(g, sp, chunk);
        show("kmer_spectrum", sp, (size_t)nch * NK * 2);
        int len = chunk * nch;
        short *pm = mk<short>(MOTIF * 4);
        int *hit = mk<int>(len);
        const int th = 224;
        pssm_scan<<<(len + th * PER - 1) / (th * PER), th, th * PER + MOTIF - 1>>>(g, pm, hit, len);
        show("pssm_scan", hit, (size_t)len * 4);
    }
    {
        int n = 20000, T = 150;
        unsigned char *o = mk<unsigned char>((size_t)n * T), *p = mk<unsigned char>((size_t)n * T);
        float *A = mk<float>(32 * 32), *B = mk<float>(32 * 13);
        viterbi_decode<32, 160><<<n, 32>>>(o, A, B, p, T);
        show("viterbi_decode", p, (size_t)n * T);
    }
    {
        int n = 2000, items = 100;
        int *w = mk<int>(n * items), *v = mk<int>(n * items), *ans = mk<int>(n);
        knapsack_block<<<n, 192>>>(w, v, ans, items);
        show("knapsack_block", ans, n * 4);
    }
    {
        int n = 3200;
        int *d = mk<int>((size_t)n * n);
        fw_phase3<<<dim3(n / FB, n / FB), dim3(FB, 8)>>>(d, n, 41);
        show("fw_phase3", d, (size_t)n * n * 4);
    }
    return 0;
}
