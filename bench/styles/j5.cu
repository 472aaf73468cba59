// j5: dynamic programming, sorting and transforms that ping-pong in shared memory
#include "shown.h"
#include <climits>
#include <cmath>
#include <vector>
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

//============ pathfinder: rows of a grid, the cheapest way down, HALO = rows per launch
#define BLOCK_SIZE 256
#define HALO 1
__global__ void dynproc_kernel(int iteration, const int *gpuWall, const int *gpuSrc, int *gpuResults, int cols, int startStep)
{
    __shared__ int bufA[BLOCK_SIZE];
    __shared__ int bufB[BLOCK_SIZE];
    int *prev = bufA, *result = bufB;

    int bx = blockIdx.x;
    int tx = threadIdx.x;
    int small_block_cols = BLOCK_SIZE - iteration * HALO * 2;
    int blkX = small_block_cols * bx - iteration * HALO;
    int xidx = blkX + tx;

    prev[tx] = (xidx >= 0 && xidx < cols) ? gpuSrc[xidx] : 1 << 28;
    __syncthreads();

    for (int i = 0; i < iteration; i++) {
        int shortest = prev[tx];
        if (tx > 0) shortest = MIN(shortest, prev[tx - 1]);
        if (tx < BLOCK_SIZE - 1) shortest = MIN(shortest, prev[tx + 1]);
        if (xidx >= 0 && xidx < cols)
            shortest += gpuWall[(size_t)cols * (startStep + i) + xidx];
        else
            shortest = 1 << 28;
        result[tx] = shortest;
        __syncthreads();
        int *tmp = prev; prev = result; result = tmp;
    }

    if (tx >= iteration && tx < BLOCK_SIZE - iteration && xidx < cols)
        gpuResults[xidx] = prev[tx];
}

//============ edit distance, one pair of words a block, three diagonals that rotate
template <int L>
__global__ void edit_distance(const int *A, const int *B, int *dist)
{
    __shared__ int d0[L + 1], d1[L + 1], d2[L + 1];
    __shared__ int wb[L];
    int *pp = d0, *p = d1, *c = d2;
    const int t = threadIdx.x;                 // t is the row, 0..L
    const int *a = A + (size_t)blockIdx.x * L, *b = B + (size_t)blockIdx.x * L;
    int mine = t > 0 ? a[t - 1] : -1;
    if (t < L) wb[t] = b[t];
    pp[t] = 0;
    p[t] = 0;
    __syncthreads();
    for (int diag = 0; diag <= 2 * L; ++diag) {
        int j = diag - t;
        if (j >= 0 && j <= L) {
            int v;
            if (t == 0) v = j;
            else if (j == 0) v = t;
            else {
                int sub = pp[t - 1] + (mine != wb[j - 1]);
                int gap = min(p[t - 1], p[t]) + 1;
                v = min(sub, gap);
            }
            c[t] = v;
        }
        __syncthreads();
        int *q = pp;
        pp = p;
        p = c;
        c = q;
    }
    if (t == L) dist[blockIdx.x] = p[L];
}

//============ Viterbi with 64 states in double, back pointers to global memory
const int NSTATE = 64;
__global__ void viterbi(const double* __restrict__ logA, const double* __restrict__ emit, const int* __restrict__ obs, unsigned char* back, double* score, int T, int M)
{
  __shared__ double sA[NSTATE], sB[NSTATE];
  double *alpha = sA;
  double *beta  = sB;
  const int s = threadIdx.x;
  const int *o = obs + (size_t)blockIdx.x * T;
  unsigned char *bk = back + (size_t)blockIdx.x * T * NSTATE;

  alpha[s] = emit[s * M + o[0] % M];
  bk[s] = 0;
  __syncthreads();
  for (int t = 1; t < T; t++) {
    double best = -1e300; int arg = 0;
    for (int k = 0; k < NSTATE; k++) {
      double v = alpha[k] - logA[k * NSTATE + s];
      if (v > best) { best = v; arg = k; }
    }
    beta[s] = best + emit[s * M + o[t] % M];
    bk[(size_t)t * NSTATE + s] = arg;
    __syncthreads();
    double *x = alpha; alpha = beta; beta = x;
  }
  score[(size_t)blockIdx.x * NSTATE + s] = alpha[s];
}

//============ merge sort of 512 ints a block: every element finds its rank in the other run
__global__ void mergesort_block(const int *in, int *out)
{
    __shared__ int s0[512];
    __shared__ int s1[512];
    int *src = s0, *dst = s1;
    unsigned tid = threadIdx.x;
    size_t base = (size_t)blockIdx.x * 512;
    src[tid] = in[base + tid] * 4099 + (int)(((base + tid) * 2654435761u >> 20) & 0xffff);
    __syncthreads();
    for (unsigned run = 1; run < 512; run *= 2) {
        int key = src[tid];
        unsigned pair = tid & ~(2 * run - 1);      // start of both runs
        bool left = (tid & run) == 0;
        unsigned other = left ? pair + run : pair;
        unsigned lo = 0, hi = run;
        while (lo < hi) {                          // left: strictly smaller; right: smaller or equal
            unsigned mid = (lo + hi) / 2;
            int q = src[other + mid];
            bool before = left ? q < key : q <= key;
            if (before) lo = mid + 1; else hi = mid;
        }
        unsigned within = tid & (run - 1);
        dst[pair + within + lo] = key;
        __syncthreads();
        int *t = src;
        src = dst;
        dst = t;
    }
    out[base + tid] = src[tid];
}

//============ odd-even transposition of floats
__global__ void oddEvenSort(float *data)
{
    __shared__ float bufs[2][64];
    float *in = bufs[0], *out = bufs[1], *tmp;
    int t = threadIdx.x;
    float *mine = data + blockIdx.x * 64;
    in[t] = mine[t] + 0.001f * ((t * 37) % 64);
    __syncthreads();
    for (int phase = 0; phase < 64; phase++)
    {
        int mate = ((t ^ phase) & 1) ? t - 1 : t + 1;
        float v = in[t];
        if (mate >= 0 && mate < 64)
        {
            float u = in[mate];
            v = mate > t ? fminf(u, v) : fmaxf(u, v);
        }
        out[t] = v;
        __syncthreads();
        tmp = in; in = out; out = tmp;
    }
    mine[t] = in[t];
}

//============ Stockham FFT, radix 2, 512 points, 256 threads, twiddles from a table
#define FFT_N 512
__constant__ float2 tw[FFT_N / 2];
__global__ __launch_bounds__(FFT_N / 2) void fft_stockham(const float2 *x, float2 *X)
{
    __shared__ float2 ping[FFT_N];
    __shared__ float2 pong[FFT_N];
    float2 *a = ping, *b = pong;
    const int j = threadIdx.x;
    x += (size_t)blockIdx.x * FFT_N;
    X += (size_t)blockIdx.x * FFT_N;
    a[j] = x[j];
    a[j + FFT_N / 2] = x[j + FFT_N / 2];
    __syncthreads();
    for (int m = 1; m < FFT_N; m *= 2) {
        int k = j & (m - 1);
        float2 u = a[j], v = a[j + FFT_N / 2], w = tw[k * (FFT_N / 2 / m)];
        float2 z = make_float2(v.x * w.x - v.y * w.y, v.x * w.y + v.y * w.x);
        int d = ((j - k) << 1) + k;
        b[d] = make_float2(u.x + z.x, u.y + z.y);
        b[d + m] = make_float2(u.x - z.x, u.y - z.y);
        __syncthreads();
        float2 *t = a; a = b; b = t;
    }
    X[j] = a[j];
    X[j + FFT_N / 2] = a[j + FFT_N / 2];
}

//============ contrast: Blelloch, in place, one array
__global__ void blelloch(const unsigned *in, unsigned *out, unsigned *total)
{
    __shared__ unsigned t[1024];
    int i = threadIdx.x;
    size_t o = blockIdx.x * 1024ull;
    t[2 * i] = in[o + 2 * i];
    t[2 * i + 1] = in[o + 2 * i + 1];
    int off = 1;
    for (int d = 512; d > 0; d >>= 1) {
        __syncthreads();
        if (i < d) t[off * (2 * i + 2) - 1] += t[off * (2 * i + 1) - 1];
        off *= 2;
    }
    if (i == 0) { total[blockIdx.x] = t[1023]; t[1023] = 0; }
    for (int d = 1; d < 1024; d *= 2) {
        off >>= 1;
        __syncthreads();
        if (i < d) {
            int p = off * (2 * i + 1) - 1, q = off * (2 * i + 2) - 1;
            unsigned v = t[p];
            t[p] = t[q];
            t[q] += v;
        }
    }
    __syncthreads();
    out[o + 2 * i] = t[2 * i];
    out[o + 2 * i + 1] = t[2 * i + 1];
}

int main()
{
    {
        int cols = 1000003, rows = 20, sb = BLOCK_SIZE - rows * HALO * 2;
        int *w = mk<int>((size_t)cols * rows), *s = mk<int>(cols), *r = mk<int>(cols);
        dynproc_kernel<<<(cols + sb - 1) / sb, BLOCK_SIZE>>>(rows, w, s, r, cols, 0);
        show("dynproc_kernel", r, 4ull * cols);
    }
    {
        int nb = 3001;
        int *a = mk<int>(127ull * nb), *b = mk<int>(128ull * nb), *d = mk<int>(nb);
        edit_distance<127><<<nb, 128>>>(a, b, d);
        show("edit_distance", d, 4ull * nb);
    }
    {
        int nb = 1200, T = 50, M = 16;
        double *A = mk<double>(NSTATE * NSTATE), *e = mk<double>(NSTATE * M), *s = mk<double>((size_t)nb * NSTATE);
        int *o = mk<int>((size_t)nb * T);
        unsigned char *b = mk<unsigned char>((size_t)nb * T * NSTATE);
        viterbi<<<nb, NSTATE>>>(A, e, o, b, s, T, M);
        show("viterbi_score", s, 8ull * nb * NSTATE);
        show("viterbi_back", b, (size_t)nb * T * NSTATE);
    }
    {
        int nb = 8000;
        int *a = mk<int>(512ull * nb), *b = mk<int>(512ull * nb);
        mergesort_block<<<nb, 512>>>(a, b);
        show("mergesort_block", b, 2048ull * nb);
    }
    {
        int nb = 30000;
        float *a = mk<float>(64ull * nb);
        oddEvenSort<<<nb, 64>>>(a);
        show("oddEvenSort", a, 256ull * nb);
    }
    {
        int nb = 9000;
        std::vector<float2> h(FFT_N / 2);
        for (int i = 0; i < FFT_N / 2; i++) {
            double p = -2 * 3.14159265358979323846 * i / FFT_N;
            h[i] = make_float2((float)cos(p), (float)sin(p));
        }
        cudaMemcpyToSymbol(tw, h.data(), sizeof(float2) * FFT_N / 2);
        float2 *x = (float2 *)mk<float>(2ull * FFT_N * nb), *X = (float2 *)mk<float>(2ull * FFT_N * nb);
        fft_stockham<<<nb, FFT_N / 2>>>(x, X);
        show("fft_stockham", X, 8ull * FFT_N * nb);
    }
    {
        int nb = 7000;
        unsigned *a = mk<unsigned>(1024ull * nb), *b = mk<unsigned>(1024ull * nb), *t = mk<unsigned>(nb);
        blelloch<<<nb, 512>>>(a, b, t);
        show("blelloch", b, 4096ull * nb);
        show("blelloch_total", t, 4ull * nb);
    }
    return 0;
}
