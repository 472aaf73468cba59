// sequences, strings and hashing
#include "shown.h"

static char *mk_dna(size_t n, unsigned seed)
{
    char *h = (char *)malloc(n), *d;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1103515245u + 12345u;
        h[i] = "ACGT"[(seed >> 20) & 3];
    }
    cudaMalloc(&d, n);
    cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);
    free(h);
    return d;
}

// ------------------------------------------------------------------ Smith-Waterman, linear gap, a pair for each block
#define SW_Q 128
#define SW_S 320
__global__ void smith_waterman_antidiagonal(const char *queries, const char *subjects, int *bestScore, int match, int mismatch, int gap)
{
    __shared__ char subject[SW_S];
    __shared__ int diag[3][SW_Q + 1];
    __shared__ int best[SW_Q];
    int i = threadIdx.x;                    // row of the matrix
    char qc = queries[(size_t)blockIdx.x * SW_Q + i];
    for (int k = i; k < SW_S; k += SW_Q) subject[k] = subjects[(size_t)blockIdx.x * SW_S + k];
    for (int d = 0; d < 3; d++) {
        diag[d][i + 1] = 0;
        if (i == 0) diag[d][0] = 0;
    }
    __syncthreads();
    int mybest = 0;
    int p2 = 0, p1 = 1, p0 = 2;
    for (int d = 0; d < SW_Q + SW_S - 1; d++) {
        int j = d - i;
        int h = 0;
        if (j >= 0 && j < SW_S) {
            int up = diag[p1][i];           // H[i-1][j]
            int left = diag[p1][i + 1];     // H[i][j-1]
            int dia = diag[p2][i];          // H[i-1][j-1]
            h = dia + (qc == subject[j] ? match : mismatch);
            h = max(h, up - gap);
            h = max(h, left - gap);
            h = max(h, 0);
            mybest = max(mybest, h);
        }
        diag[p0][i + 1] = h;
        __syncthreads();
        int t = p2;
        p2 = p1;
        p1 = p0;
        p0 = t;
    }
    best[i] = mybest;
    __syncthreads();
    for (int s = SW_Q / 2; s > 0; s >>= 1) {
        if (i < s) best[i] = max(best[i], best[i + s]);
        __syncthreads();
    }
    if (i == 0) bestScore[blockIdx.x] = best[0];
}

// ------------------------------------------------------------------ Needleman-Wunsch tile
#define NW_BLOCK 32
__device__ __host__ int maximum(int a, int b, int c)
{
    int k;
    if (a <= b) k = b;
    else k = a;
    if (k <= c) return c;
    else return k;
}
__global__ void needle_tile_batch(const int *referrence, int *matrix, int penalty)
{
    __shared__ int temp[NW_BLOCK + 1][NW_BLOCK + 1];
    __shared__ int ref[NW_BLOCK][NW_BLOCK];
    int tx = threadIdx.x;
    const int *r = referrence + (size_t)blockIdx.x * NW_BLOCK * NW_BLOCK;
    int *out = matrix + (size_t)blockIdx.x * NW_BLOCK * NW_BLOCK;

    if (tx == 0) temp[tx][0] = 0;
    for (int ty = 0; ty < NW_BLOCK; ty++) ref[ty][tx] = r[NW_BLOCK * ty + tx] - 6;
    temp[tx + 1][0] = -penalty * (tx + 1);
    temp[0][tx + 1] = -penalty * (tx + 1);
    __syncthreads();

    for (int m = 0; m < NW_BLOCK; m++) {
        if (tx <= m) {
            int t_index_x = tx + 1;
            int t_index_y = m - tx + 1;
            temp[t_index_y][t_index_x] = maximum(temp[t_index_y - 1][t_index_x - 1] + ref[t_index_y - 1][t_index_x - 1],
                                                 temp[t_index_y][t_index_x - 1] - penalty,
                                                 temp[t_index_y - 1][t_index_x] - penalty);
        }
        __syncthreads();
    }
    for (int m = NW_BLOCK - 2; m >= 0; m--) {
        if (tx <= m) {
            int t_index_x = tx + NW_BLOCK - m;
            int t_index_y = NW_BLOCK - tx;
            temp[t_index_y][t_index_x] = maximum(temp[t_index_y - 1][t_index_x - 1] + ref[t_index_y - 1][t_index_x - 1],
                                                 temp[t_index_y][t_index_x - 1] - penalty,
                                                 temp[t_index_y - 1][t_index_x] - penalty);
        }
        __syncthreads();
    }
    for (int ty = 0; ty < NW_BLOCK; ty++) out[ty * NW_BLOCK + tx] = temp[ty + 1][tx + 1];
}

// ------------------------------------------------------------------ k-mer spectrum
#define KMER 5
#define KBINS (1 << (2 * KMER))
__device__ __forceinline__ unsigned base_code(char c)
{
    return ((unsigned)c >> 1) & 3u;         // A C T G
}
__global__ void kmer_spectrum_shared(const char *seq, int n, unsigned *spectrum, int perBlock)
{
    extern __shared__ __align__(16) unsigned char raw[];
    unsigned *bins = (unsigned *)raw;
    char *chunk = (char *)(bins + KBINS);
    for (int b = threadIdx.x; b < KBINS; b += blockDim.x) bins[b] = 0u;
    int start = blockIdx.x * perBlock;
    int len = min(perBlock + KMER - 1, n - start);
    for (int i = threadIdx.x; i < len; i += blockDim.x) chunk[i] = seq[start + i];
    __syncthreads();
    for (int i = threadIdx.x; i + KMER <= len; i += blockDim.x) {
        unsigned code = 0;
#pragma unroll
        for (int k = 0; k < KMER; k++) code = (code << 2) | base_code(chunk[i + k]);
        atomicAdd(&bins[code], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < KBINS; b += blockDim.x)
        if (bins[b]) atomicAdd(&spectrum[b], bins[b]);
}

// ------------------------------------------------------------------ CRC32 of many messages
__device__ unsigned crc_table_entry(unsigned v)
{
    for (int k = 0; k < 8; k++) v = (v & 1u) ? (v >> 1) ^ 0xEDB88320u : v >> 1;
    return v;
}
__global__ void crc32_messages(const unsigned *words, unsigned *crc, int messages, int wordsPerMessage)
{
    __shared__ unsigned table[256];
    table[threadIdx.x] = crc_table_entry(threadIdx.x);
    __syncthreads();
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= messages) return;
    unsigned c = 0xFFFFFFFFu;
    for (int w = 0; w < wordsPerMessage; w++) {
        unsigned v = words[(size_t)w * messages + m];
        for (int b = 0; b < 4; b++) {
            c = table[(c ^ v) & 0xFFu] ^ (c >> 8);
            v >>= 8;
        }
    }
    crc[m] = ~c;
}

// ------------------------------------------------------------------ edit distance with one private row
#define ED_LEN 24
__global__ void levenshtein_private_row(const char *a, const char *b, unsigned char *dist, int pairs)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pairs) return;
    int row[ED_LEN + 1];
    char sb[ED_LEN];
    for (int j = 0; j < ED_LEN; j++) sb[j] = b[(size_t)j * pairs + p];
    for (int j = 0; j <= ED_LEN; j++) row[j] = j;
    for (int i = 1; i <= ED_LEN; i++) {
        char ca = a[(size_t)(i - 1) * pairs + p];
        int diag = row[0];
        row[0] = i;
        for (int j = 1; j <= ED_LEN; j++) {
            int old = row[j];
            int cost = diag + (ca != sb[j - 1]);
            int v = row[j] + 1;
            if (row[j - 1] + 1 < v) v = row[j - 1] + 1;
            if (cost < v) v = cost;
            row[j] = v;
            diag = old;
        }
    }
    dist[p] = (unsigned char)row[ED_LEN];
}

// ------------------------------------------------------------------ Viterbi decoding
template <int STATES>
__global__ void hmm_viterbi(const float *trans, const float *emit, const unsigned char *obs, short *path, float *score, int T, int symbols)
{
    __shared__ float tr[STATES][STATES];
    __shared__ float delta[2][STATES];
    __shared__ unsigned char psi[64][STATES];
    const int s = threadIdx.x;
    for (int r = 0; r < STATES; ++r) tr[r][s] = trans[r * STATES + s];
    const unsigned char *o = obs + (size_t)blockIdx.x * T;
    delta[0][s] = emit[s * symbols + o[0] % symbols];
    psi[0][s] = 0;
    __syncthreads();
    int cur = 0;
    for (int t = 1; t < T; ++t) {
        float best = delta[cur][0] + tr[0][s];
        int arg = 0;
        for (int r = 1; r < STATES; ++r) {
            float v = delta[cur][r] + tr[r][s];
            if (v > best) {
                best = v;
                arg = r;
            }
        }
        delta[cur ^ 1][s] = best + emit[s * symbols + o[t] % symbols];
        psi[t][s] = (unsigned char)arg;
        cur ^= 1;
        __syncthreads();
    }
    if (s == 0) {
        int arg = 0;
        for (int r = 1; r < STATES; ++r)
            if (delta[cur][r] > delta[cur][arg]) arg = r;
        score[blockIdx.x] = delta[cur][arg];
        for (int t = T - 1; t >= 0; --t) {
            path[(size_t)blockIdx.x * T + t] = (short)arg;
            arg = psi[t][arg];
        }
    }
}

// ------------------------------------------------------------------ SHA-256 of one 64 byte block a thread
__constant__ unsigned k_sha[64];
__device__ __forceinline__ unsigned rotr(unsigned x, int n) { return (x >> n) | (x << (32 - n)); }
__global__ void sha256_single_block(const unsigned *data, unsigned *digest, int n)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n) return;
    unsigned w[64];
    for (int i = 0; i < 16; i++) w[i] = data[(size_t)i * n + id];
    for (int i = 16; i < 64; i++) {
        unsigned s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        unsigned s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    unsigned st[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
    unsigned h0[8];
    for (int i = 0; i < 8; i++) h0[i] = st[i];
    for (int i = 0; i < 64; i++) {
        unsigned S1 = rotr(st[4], 6) ^ rotr(st[4], 11) ^ rotr(st[4], 25);
        unsigned ch = (st[4] & st[5]) ^ (~st[4] & st[6]);
        unsigned t1 = st[7] + S1 + ch + k_sha[i] + w[i];
        unsigned S0 = rotr(st[0], 2) ^ rotr(st[0], 13) ^ rotr(st[0], 22);
        unsigned mj = (st[0] & st[1]) ^ (st[0] & st[2]) ^ (st[1] & st[2]);
        unsigned t2 = S0 + mj;
        for (int k = 7; k > 0; k--) st[k] = st[k - 1];
        st[4] += t1;
        st[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) digest[(size_t)i * n + id] = h0[i] + st[i];
}

// ------------------------------------------------------------------ path finding through a grid, several rows a launch
#define PF_BLOCK 256
#define HALO 1
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define CLAMP_RANGE(x, min, max) x = (x < (min)) ? min : ((x > (max)) ? max : x)
__global__ void pathfinder_dynproc(int iteration, const int *gpuWall, const int *gpuSrc, int *gpuResults, int cols, int startStep, int border)
{
    __shared__ int prev[PF_BLOCK];
    __shared__ int result[PF_BLOCK];
    int bx = blockIdx.x;
    int tx = threadIdx.x;
    int small_block_cols = PF_BLOCK - iteration * HALO * 2;
    int blkX = small_block_cols * bx - border;
    int blkXmax = blkX + PF_BLOCK - 1;
    int xidx = blkX + tx;
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > cols - 1) ? PF_BLOCK - 1 - (blkXmax - cols + 1) : PF_BLOCK - 1;
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
        if (IN_RANGE(tx, i + 1, PF_BLOCK - i - 2) && isValid) {
            computed = true;
            int left = prev[W];
            int up = prev[tx];
            int right = prev[E];
            int shortest = min(left, up);
            shortest = min(shortest, right);
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

int main()
{
    int pairs = 6000;
    char *q = mk_dna((size_t)pairs * SW_Q, 1), *s = mk_dna((size_t)pairs * SW_S, 2);
    int *score = mk<int>(pairs);
    smith_waterman_antidiagonal<<<pairs, SW_Q>>>(q, s, score, 3, -2, 4);
    show("smith_waterman_antidiagonal", score, pairs * 4);

    int tiles = 12000;
    int *ref = mk<int>((size_t)tiles * NW_BLOCK * NW_BLOCK), *mat = mk<int>((size_t)tiles * NW_BLOCK * NW_BLOCK);
    needle_tile_batch<<<tiles, NW_BLOCK>>>(ref, mat, 3);
    show("needle_tile_batch", mat, (size_t)tiles * NW_BLOCK * NW_BLOCK * 4);

    int dn = 20000003, per = 8192;
    char *genome = mk_dna(dn, 3);
    unsigned *spec = mk<unsigned>(KBINS);
    kmer_spectrum_shared<<<(dn + per - 1) / per, 256, KBINS * sizeof(unsigned) + per + KMER - 1>>>(genome, dn, spec, per);
    show("kmer_spectrum_shared", spec, KBINS * 4);

    int msgs = 400003, wpm = 32;
    unsigned *words = mk<unsigned>((size_t)msgs * 64), *crc = mk<unsigned>((size_t)msgs * 8);
    crc32_messages<<<(msgs + 255) / 256, 256>>>(words, crc, msgs, wpm);
    show("crc32_messages", crc, (size_t)msgs * 4);

    int ep = 500001;
    char *ea = mk_dna((size_t)ep * ED_LEN, 4), *eb = mk_dna((size_t)ep * ED_LEN, 5);
    unsigned char *dist = mk<unsigned char>(ep);
    levenshtein_private_row<<<(ep + 127) / 128, 128>>>(ea, eb, dist, ep);
    show("levenshtein_private_row", dist, ep);

    int seqs = 3000, T = 50, symbols = 13;
    float *tr = mk<float>(32 * 32), *em = mk<float>(32 * symbols), *vs = mk<float>(seqs);
    unsigned char *obs = mk<unsigned char>((size_t)seqs * T);
    short *path = mk<short>((size_t)seqs * T);
    hmm_viterbi<32><<<seqs, 32>>>(tr, em, obs, path, vs, T, symbols);
    show("hmm_viterbi path", path, (size_t)seqs * T * 2);
    show("hmm_viterbi score", vs, seqs * 4);

    unsigned kk[64], x = 0x428a2f98u;
    for (int i = 0; i < 64; i++) { kk[i] = x; x = x * 2654435761u + 0x71374491u; }
    cudaMemcpyToSymbol(k_sha, kk, sizeof(kk));
    int sn = 1500001;
    unsigned *blocks = mk<unsigned>((size_t)sn * 16), *dig = mk<unsigned>((size_t)sn * 8);
    sha256_single_block<<<(sn + 255) / 256, 256>>>(blocks, dig, sn);
    show("sha256_single_block", dig, (size_t)sn * 8 * 4);

    int cols = 1000001, it = 20;
    int *wall = mk<int>((size_t)cols * it), *src = mk<int>(cols), *res = mk<int>(cols);
    int sb = PF_BLOCK - it * HALO * 2;
    pathfinder_dynproc<<<(cols + sb - 1) / sb, PF_BLOCK>>>(it, wall, src, res, cols, 0, it * HALO);
    show("pathfinder_dynproc", res, (size_t)cols * 4);
    return 0;
}
