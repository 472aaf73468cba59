// Dynamic programming rows kept in shared memory: pathfinder, LCS, edit distance, knapsack, Viterbi
#include "shown.h"

#define BLOCK_SIZE 256
#define HALO 1 // halo width along one direction when advancing to the next iteration
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

// Rodinia pathfinder
__global__ void dynproc_kernel(
    int iteration,
    int *gpuWall,
    int *gpuSrc,
    int *gpuResults,
    int cols,
    int rows,
    int startStep,
    int border)
{
    __shared__ int prev[BLOCK_SIZE];
    __shared__ int result[BLOCK_SIZE];

    int bx = blockIdx.x;
    int tx = threadIdx.x;

    // each block finally computes result for a small block after N iterations
    // calculate the small block size
    int small_block_cols = BLOCK_SIZE - iteration * HALO * 2;

    // calculate the boundary for the block according to the boundary of its small block
    int blkX = small_block_cols * bx - border;
    int blkXmax = blkX + BLOCK_SIZE - 1;

    // calculate the global thread coordination
    int xidx = blkX + tx;

    // effective range within this block that falls within the valid range of the input data
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > cols - 1) ? BLOCK_SIZE - 1 - (blkXmax - cols + 1) : BLOCK_SIZE - 1;

    int W = tx - 1;
    int E = tx + 1;

    W = (W < validXmin) ? validXmin : W;
    E = (E > validXmax) ? validXmax : E;

    bool isValid = IN_RANGE(tx, validXmin, validXmax);

    if (IN_RANGE(xidx, 0, cols - 1)) {
        prev[tx] = gpuSrc[xidx];
    }
    __syncthreads();
    bool computed;
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
        if (i == iteration - 1)
            break;
        if (computed) // Assign the computation range
            prev[tx] = result[tx];
        __syncthreads();
    }

    // after the last iteration only threads inside the small block write
    if (computed) {
        gpuResults[xidx] = result[tx];
    }
}

// Longest common subsequence of many pairs, one block a pair, one column a thread, anti-diagonal wave
#define LCS_LEN 128
__global__ void lcs_wavefront(const char *seqA, const char *seqB, int *lengths)
{
    __shared__ char b[LCS_LEN];
    __shared__ int d0[LCS_LEN + 1];
    __shared__ int d1[LCS_LEN + 1];
    __shared__ int d2[LCS_LEN + 1];
    int t = threadIdx.x;
    char myA = seqA[blockIdx.x * LCS_LEN + t];
    b[t] = seqB[blockIdx.x * LCS_LEN + t];
    d0[t + 1] = 0;
    d1[t + 1] = 0;
    d2[t + 1] = 0;
    if (t == 0) { d0[0] = 0; d1[0] = 0; d2[0] = 0; }
    __syncthreads();

    // cell (row j, column t) lies on diagonal j + t; index t+1 holds column t
    for (int diag = 0; diag < 2 * LCS_LEN - 1; ++diag) {
        int j = diag - t;
        if (j >= 0 && j < LCS_LEN) {
            int v;
            if (b[j] == myA)
                v = (j > 0 ? d0[t] : 0) + 1;      // diagonal neighbour, two waves ago
            else
                v = max(j > 0 ? d1[t + 1] : 0, d1[t]); // up, left: last wave
            d2[t + 1] = v;
        }
        __syncthreads();
        int m = d1[t + 1];
        int c = d2[t + 1];
        __syncthreads();
        d0[t + 1] = m;
        d1[t + 1] = c;
        __syncthreads();
    }
    if (t == LCS_LEN - 1)
        lengths[blockIdx.x] = d1[LCS_LEN];
}

// Levenshtein distance; query of 64 characters against a longer reference, rolling row buffers
namespace edit {
constexpr int Q = 64;

__device__ __forceinline__ int min3(int a, int b, int c) { return min(a, min(b, c)); }

__global__ void levenshteinKernel(const unsigned char *query, const unsigned char *ref, int refLen, int *dist)
{
    __shared__ int wave[3][Q + 1];
    const int lane = threadIdx.x;            // 0 .. Q-1, row lane + 1
    const unsigned char q = query[blockIdx.x * Q + lane];
    const unsigned char *r = ref + (size_t)blockIdx.x * refLen;

    wave[0][lane + 1] = lane + 1;
    wave[1][lane + 1] = lane + 1;
    wave[2][lane + 1] = lane + 1;
    if (lane == 0) {
        wave[0][0] = 0;
        wave[1][0] = 0;
        wave[2][0] = 0;
    }
    __syncthreads();
    int cur = 2, last = 1, prev2 = 0;
    for (int step = 0; step < refLen + Q - 1; ++step) {
        int col = step - lane;               // reference position, column col + 1
        if (lane == 0) {
            wave[last][0] = step + 1;        // boundary row: cell (0, step + 1)
            wave[prev2][0] = step;           // cell (0, step)
        }
        __syncthreads();
        int v = wave[last][lane + 1];
        if (col >= 0 && col < refLen) {
            int up = wave[last][lane];
            int left = (col == 0) ? lane + 1 : wave[last][lane + 1];
            int dg = (col == 0) ? lane : wave[prev2][lane];
            v = min3(up + 1, left + 1, dg + (r[col] != q));
        }
        __syncthreads();
        wave[cur][lane + 1] = v;
        __syncthreads();
        int tmp = prev2; prev2 = last; last = cur; cur = tmp;
    }
    if (lane == Q - 1)
        dist[blockIdx.x] = wave[last][Q];
}
} // namespace edit

// 0/1 knapsack, a block an instance, capacity 1023
__global__ void knapsack01(const int *weight, const int *value, int nItems, int *best)
{
    __shared__ int dp[1024];
    int c = threadIdx.x;
    dp[c] = 0;
    __syncthreads();
    for (int k = 0; k < nItems; ++k) {
        int w = weight[blockIdx.x * nItems + k] * 9 + 5;
        int v = value[blockIdx.x * nItems + k] * 3 + (k % 7);
        int cand = dp[c];
        if (c >= w)
            cand = max(cand, dp[c - w] + v);
        __syncthreads();
        dp[c] = cand;
        __syncthreads();
    }
    best[blockIdx.x * 1024 + c] = dp[c];
}

// Viterbi decoding of a hidden Markov model with 64 states (log domain), traceback in global memory
#define NSTATES 64
template <typename Real>
__global__ void viterbi64(const Real *__restrict__ logTrans, const Real *__restrict__ logEmit, const int *__restrict__ obs,
                          int T, unsigned char *back, Real *finalScore)
{
    __shared__ Real score[NSTATES];
    __shared__ Real next[NSTATES];
    int s = threadIdx.x;
    const int *o = obs + blockIdx.x * T;
    score[s] = logEmit[o[0] * NSTATES + s];
    __syncthreads();
    for (int t = 1; t < T; t++) {
        Real bestv = (Real)-1e30;
        int arg = 0;
        for (int p = 0; p < NSTATES; p++) {
            Real x = score[p] - logTrans[p * NSTATES + s];
            if (x > bestv) { bestv = x; arg = p; }
        }
        next[s] = bestv - logEmit[o[t] * NSTATES + s];
        back[((size_t)blockIdx.x * T + t) * NSTATES + s] = (unsigned char)arg;
        __syncthreads();
        score[s] = next[s];
        __syncthreads();
    }
    finalScore[blockIdx.x * NSTATES + s] = score[s];
}

int main()
{
    {
        int cols = 1 << 20, rows = 60, pyramid_height = 20;
        int *wall = mk<int>((size_t)cols * rows), *src = mk<int>(cols), *dst = mk<int>(cols);
        int borderCols = pyramid_height * HALO;
        int smallBlockCol = BLOCK_SIZE - pyramid_height * HALO * 2;
        int blockCols = cols / smallBlockCol + ((cols % smallBlockCol == 0) ? 0 : 1);
        dim3 dimBlock(BLOCK_SIZE);
        dim3 dimGrid(blockCols);
        dynproc_kernel<<<dimGrid, dimBlock>>>(pyramid_height, wall, src, dst, cols, rows, 20, borderCols);
        show("dynproc_kernel", dst, cols * sizeof(int));
        dynproc_kernel<<<dimGrid, dimBlock>>>(MIN(pyramid_height, 13), wall, dst, src, cols - 12345, rows, 0, 13);
        show("dynproc_kernel_13", src, (cols / 4) * sizeof(int));
    }
    {
        int pairs = 8192;
        char *a = mk<char>(pairs * LCS_LEN + 7), *b = mk<char>(pairs * LCS_LEN + 7);
        int *len = mk<int>(pairs);
        lcs_wavefront<<<pairs, LCS_LEN>>>(a + 3, b, len);
        show("lcs_wavefront", len, pairs * sizeof(int));
    }
    {
        int pairs = 8192, L = 256;
        unsigned char *q = mk<unsigned char>(pairs * edit::Q), *r = mk<unsigned char>((size_t)pairs * L + 1);
        int *d = mk<int>(pairs);
        edit::levenshteinKernel<<<pairs, edit::Q>>>(q, r + 1, L, d);
        show("levenshteinKernel", d, pairs * sizeof(int));
    }
    {
        int inst = 2048, items = 100;
        int *w = mk<int>(inst * items), *v = mk<int>(inst * items), *best = mk<int>(inst * 1024);
        knapsack01<<<inst, 1024>>>(w, v, items, best);
        show("knapsack01", best, inst * 1024 * sizeof(int));
    }
    {
        int seqs = 2048, T = 64;
        float *tr = mk<float>(NSTATES * NSTATES), *em = mk<float>(16 * NSTATES);
        int *obs = mk<int>(seqs * T);
        unsigned char *back = mk<unsigned char>((size_t)seqs * T * NSTATES);
        float *fin = mk<float>(seqs * NSTATES);
        viterbi64<float><<<seqs, NSTATES>>>(tr, em, obs, T, back, fin);
        show("viterbi64_back", back, (size_t)seqs * T * NSTATES);
        show("viterbi64", fin, seqs * NSTATES * sizeof(float));
    }
    return 0;
}
