// k5 -- sorts, dynamic programming, signal processing, finance, bioinformatics.
#include "shown.h"

typedef unsigned int uint;
typedef unsigned char uchar;
#define GRID(n, b) (((n) + (b) - 1) / (b))

__device__ __host__ inline uint mixBits(uint x) { x ^= x >> 16; x *= 0x7feb352dU; x ^= x >> 15; x *= 0x846ca68bU; x ^= x >> 16; return x; }

__global__ void scramble(uint *a, uint n, uint mask)
{
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = mixBits(i + 17u * a[i]) & mask;
}

// ---- bitonic sort of keys with values, SHARED_SIZE_LIMIT elements a block ----
#define SHARED_SIZE_LIMIT 1024U
__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir)
{
    uint t;
    if ((keyA > keyB) == dir) {
        t = keyA; keyA = keyB; keyB = t;
        t = valA; valA = valB; valB = t;
    }
}
__global__ void bitonicSortShared(uint *d_DstKey, uint *d_DstVal, const uint *d_SrcKey, const uint *d_SrcVal, uint arrayLength, uint dir)
{
    __shared__ uint s_key[SHARED_SIZE_LIMIT];
    __shared__ uint s_val[SHARED_SIZE_LIMIT];
    d_SrcKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    d_SrcVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    d_DstKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    d_DstVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    s_key[threadIdx.x + 0] = d_SrcKey[0];
    s_val[threadIdx.x + 0] = d_SrcVal[0];
    s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcKey[(SHARED_SIZE_LIMIT / 2)];
    s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcVal[(SHARED_SIZE_LIMIT / 2)];

    for (uint size = 2; size < arrayLength; size <<= 1) {
        uint ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
        for (uint stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride], s_val[pos + stride], ddd);
        }
    }
    for (uint stride = arrayLength / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride], s_val[pos + stride], dir);
    }
    __syncthreads();
    d_DstKey[0] = s_key[threadIdx.x + 0];
    d_DstVal[0] = s_val[threadIdx.x + 0];
    d_DstKey[(SHARED_SIZE_LIMIT / 2)] = s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
    d_DstVal[(SHARED_SIZE_LIMIT / 2)] = s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
}

// ---- radix sort of a tile by splits, one bit at a time ----
template <int NTHREADS>
__global__ void radix_sort_tile(const uint *in, uint *out, int n, int bits)
{
    __shared__ uint keys[NTHREADS];
    __shared__ int scan[2][NTHREADS];
    const int t = threadIdx.x, g = blockIdx.x * NTHREADS + t;
    keys[t] = g < n ? in[g] : 0xffffffffu;
    __syncthreads();
    for (int b = 0; b < bits; b++) {
        uint k = keys[t];
        int zero = !((k >> b) & 1u);
        int cur = 0;
        scan[0][t] = zero;
        __syncthreads();
        for (int d = 1; d < NTHREADS; d *= 2) {
            scan[1 - cur][t] = scan[cur][t] + (t >= d ? scan[cur][t - d] : 0);
            cur = 1 - cur;
            __syncthreads();
        }
        int totalZeros = scan[cur][NTHREADS - 1];
        int before = scan[cur][t] - zero;
        int dst = zero ? before : totalZeros + t - before;
        keys[dst] = k;
        __syncthreads();
    }
    if (g < n) out[g] = keys[t];
}

// ---- odd-even transposition on short rows of floats ----
__global__ void oddEvenRows(float *rows, int len)
{
    extern __shared__ float srow[];
    float *mine = rows + (size_t)blockIdx.x * len;
    for (int i = threadIdx.x; i < len; i += blockDim.x) srow[i] = mine[i];
    __syncthreads();
    for (int phase = 0; phase < len; phase++) {
        for (int i = 2 * threadIdx.x + (phase & 1); i + 1 < len; i += 2 * blockDim.x)
            if (srow[i] > srow[i + 1]) {
                float tmp = srow[i];
                srow[i] = srow[i + 1];
                srow[i + 1] = tmp;
            }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < len; i += blockDim.x) mine[i] = srow[i];
}

// ---- pathfinder of Rodinia ----
#define PF_BLOCK 256
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define CLAMP_RANGE(x, min, max) x = (x < (min)) ? min : ((x > (max)) ? max : x)
#define MIN(a, b) ((a) <= (b) ? (a) : (b))
__global__ void dynproc_kernel(int iteration, const int *gpuWall, const int *gpuSrc, int *gpuResults, int cols, int startStep, int border)
{
    __shared__ int prev[PF_BLOCK];
    __shared__ int result[PF_BLOCK];
    int bx = blockIdx.x;
    int tx = threadIdx.x;
    int small_block_cols = PF_BLOCK - iteration * 2;
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
            int shortest = MIN(left, up);
            shortest = MIN(shortest, right);
            result[tx] = shortest + gpuWall[(size_t)cols * (startStep + i) + xidx];
        }
        __syncthreads();
        if (i == iteration - 1) break;
        if (computed) prev[tx] = result[tx];
        __syncthreads();
    }
    if (computed) gpuResults[xidx] = result[tx];
}

// ---- Smith-Waterman score: a block per pair, anti-diagonals, three buffers ----
template <int LEN>
__global__ void sw_score(const uchar *seqA, const uchar *seqB, int *best, int match, int mismatch, int gap)
{
    __shared__ uchar a[LEN], b[LEN];
    __shared__ short diag[3][LEN + 1];
    __shared__ int red[LEN];
    const int t = threadIdx.x;
    a[t] = seqA[(size_t)blockIdx.x * LEN + t] & 3;
    b[t] = seqB[(size_t)blockIdx.x * LEN + (t * 5) % LEN] & 3;
    for (int k = 0; k < 3; k++) {
        diag[k][t + 1] = 0;
        if (t == 0) diag[k][0] = 0;
    }
    int mx = 0;
    __syncthreads();
    for (int d = 0; d < 2 * LEN - 1; d++) {
        short *now = diag[d % 3];
        const short *p1 = diag[(d + 2) % 3];
        const short *p2 = diag[(d + 1) % 3];
        int j = d - t;
        int h = 0;
        if (j >= 0 && j < LEN) {
            int up = p1[t], left = j > 0 ? p1[t + 1] : 0, dg = j > 0 ? p2[t] : 0;
            h = dg + (a[t] == b[j] ? match : mismatch);
            h = max(h, max(up, left) + gap);
            h = max(h, 0);
            mx = max(mx, h);
        }
        now[t + 1] = (short)h;
        __syncthreads();
    }
    red[t] = mx;
    __syncthreads();
    for (int s = LEN / 2; s > 0; s /= 2) {
        if (t < s) red[t] = max(red[t], red[t + s]);
        __syncthreads();
    }
    if (t == 0) best[blockIdx.x] = red[0];
}

// ---- FFT of 512 complex points per block, radix 2, bit reversed load ----
__global__ void fft512(const float2 *in, float2 *out, float sign)
{
    __shared__ float2 s[512];
    const float2 *src = in + (size_t)blockIdx.x * 512;
    for (int k = 0; k < 2; k++) {
        int i = threadIdx.x + k * 256;
        s[__brev(i) >> (32 - 9)] = src[i];
    }
    __syncthreads();
    for (int half = 1; half < 512; half <<= 1) {
        int j = threadIdx.x & (half - 1);
        int i0 = ((threadIdx.x - j) << 1) + j, i1 = i0 + half;
        float sn, cs;
        sincospif(sign * (float)j / (float)half, &sn, &cs);
        float2 u = s[i0], v = s[i1];
        float2 w = make_float2(v.x * cs - v.y * sn, v.x * sn + v.y * cs);
        s[i0] = make_float2(u.x + w.x, u.y + w.y);
        s[i1] = make_float2(u.x - w.x, u.y - w.y);
        __syncthreads();
    }
    out[(size_t)blockIdx.x * 512 + threadIdx.x] = s[threadIdx.x];
    out[(size_t)blockIdx.x * 512 + threadIdx.x + 256] = s[threadIdx.x + 256];
}

// ---- fast Walsh transform, radix 4 in shared memory ----
__global__ void fwtBatch1Kernel(float *d_Output, const float *d_Input, int log2N)
{
    extern __shared__ float s_data[];
    const int N = 1 << log2N;
    const float *d_Src = d_Input + (size_t)blockIdx.x * N;
    float *d_Dst = d_Output + (size_t)blockIdx.x * N;
    for (int pos = threadIdx.x; pos < N; pos += blockDim.x) s_data[pos] = d_Src[pos];
    const int pos = threadIdx.x;
    int stride;
    for (stride = N >> 2; stride > 0; stride >>= 2) {
        int lo = pos & (stride - 1);
        int i0 = ((pos - lo) << 2) + lo;
        int i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
        __syncthreads();
        float D0 = s_data[i0], D1 = s_data[i1], D2 = s_data[i2], D3 = s_data[i3], T;
        T = D0; D0 = D0 + D2; D2 = T - D2;
        T = D1; D1 = D1 + D3; D3 = T - D3;
        T = D0; s_data[i0] = D0 + D1; s_data[i1] = T - D1;
        T = D2; s_data[i2] = D2 + D3; s_data[i3] = T - D3;
    }
    if (log2N & 1) {
        __syncthreads();
        for (int p = threadIdx.x; p < N / 2; p += blockDim.x) {
            int i0 = p << 1, i1 = i0 + 1;
            float D0 = s_data[i0], D1 = s_data[i1];
            s_data[i0] = D0 + D1;
            s_data[i1] = D0 - D1;
        }
    }
    __syncthreads();
    for (int p = threadIdx.x; p < N; p += blockDim.x) d_Dst[p] = s_data[p];
}

// ---- American put on a binomial lattice, a block per option ----
#define NUM_STEPS 255
struct OptionData { float S, X, T; };
__global__ void binomialAmericanPut(const float *params, float *price, float R, float V)
{
    __shared__ double call[2][NUM_STEPS + 1];
    OptionData o = {20.f + params[3 * blockIdx.x], 22.f + params[3 * blockIdx.x + 1], 0.5f + params[3 * blockIdx.x + 2]};
    const double dt = o.T / (double)NUM_STEPS, vsdt = V * sqrt(dt), rdt = R * dt;
    const double u = exp(vsdt), d = 1.0 / u, df = exp(-rdt), pu = (exp(rdt) - d) / (u - d);
    const double pud = pu * df, pdd = (1.0 - pu) * df;
    const int i = threadIdx.x;
    call[0][i] = fmax(o.X - o.S * exp(vsdt * (2.0 * i - NUM_STEPS)), 0.0);
    __syncthreads();
    int cur = 0;
    for (int step = NUM_STEPS; step > 0; step--) {
        if (i < step) {
            double cont = pud * call[cur][i + 1] + pdd * call[cur][i];
            double ex = o.X - o.S * exp(vsdt * (2.0 * i - (step - 1)));
            call[cur ^ 1][i] = cont > ex ? cont : ex;
        }
        cur ^= 1;
        __syncthreads();
    }
    if (i == 0) price[blockIdx.x] = (float)call[cur][0];
}

// ---- Asian option by simulation: a tree of payoffs and of squares ----
__global__ void asianMC(float2 *moments, int pathsPerThread, int steps, float drift, float vol, float strike)
{
    __shared__ float2 acc[192];
    uint state = mixBits(blockIdx.x * 192u + threadIdx.x + 1u);
    float s1 = 0, s2 = 0;
    for (int p = 0; p < pathsPerThread; p++) {
        float S = 1.f, avg = 0.f;
        for (int k = 0; k < steps; k++) {
            state = state * 1664525u + 1013904223u;
            float z = ((state >> 8) * (1.0f / 16777216.0f) - 0.5f) * 3.4641f;
            S *= 1.f + drift + vol * z;
            avg += S;
        }
        float pay = fmaxf(avg / steps - strike, 0.f);
        s1 += pay;
        s2 += pay * pay;
    }
    acc[threadIdx.x] = make_float2(s1, s2);
    __syncthreads();
    for (int len = 192; len > 1;) {
        int h = (len + 1) / 2;
        if (threadIdx.x + h < len) {
            acc[threadIdx.x].x += acc[threadIdx.x + h].x;
            acc[threadIdx.x].y += acc[threadIdx.x + h].y;
        }
        len = h;
        __syncthreads();
    }
    if (threadIdx.x == 0) moments[blockIdx.x] = acc[0];
}

// ---- FIR filter with decimation; taps and samples both staged ----
template <typename T, int NTAPS, int DECIM, int BS>
__global__ void fir_decimate(const T *x, const T *taps, T *y, int nout, int nin)
{
    __shared__ T sx[BS * DECIM + NTAPS];
    __shared__ T st[NTAPS];
    const int first = blockIdx.x * BS * DECIM - (NTAPS - 1);
    for (int i = threadIdx.x; i < BS * DECIM + NTAPS; i += BS) {
        int g = first + i;
        sx[i] = (g >= 0 && g < nin) ? x[g] : T(0);
    }
    if (threadIdx.x < NTAPS) st[threadIdx.x] = taps[threadIdx.x];
    __syncthreads();
    int o = blockIdx.x * BS + threadIdx.x;
    if (o < nout) {
        T s = 0;
        for (int k = 0; k < NTAPS; k++) s += st[k] * sx[threadIdx.x * DECIM + NTAPS - 1 - k];
        y[o] = s;
    }
}

// ---- k-mer spectrum: 4^5 counters in a block, overlapping windows ----
__global__ void kmer_count(const uchar *dna, uint *counts, int n)
{
    __shared__ uint table[1024];
    __shared__ uchar chunk[256 + 4];
    for (int i = threadIdx.x; i < 1024; i += 256) table[i] = 0;
    for (int base = blockIdx.x * 256; base < n - 4; base += gridDim.x * 256) {
        __syncthreads();
        for (int i = threadIdx.x; i < 260; i += 256) chunk[i] = base + i < n ? dna[base + i] & 3 : 0;
        __syncthreads();
        if (base + (int)threadIdx.x < n - 4) {
            uint code = 0;
            for (int k = 0; k < 5; k++) code = code * 4 + chunk[threadIdx.x + k];
            atomicAdd(&table[code], 1u);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += 256) counts[blockIdx.x * 1024 + i] = table[i];
}

int main()
{
    {
        uint n = 1024u * 9000u;
        uint *k = mk<uint>(n), *v = mk<uint>(n), *dk = mk<uint>(n), *dv = mk<uint>(n);
        scramble<<<2048, 256>>>(k, n, 0x3fffffffu);
        bitonicSortShared<<<n / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(dk, dv, k, v, SHARED_SIZE_LIMIT, 1);
        show("bitonic_keys", dk, 4ull * n);
        show("bitonic_vals", dv, 4ull * n);
        int m = n - 77;
        scramble<<<2048, 256>>>(v, n, 0xffffu);
        radix_sort_tile<256><<<GRID(m, 256), 256>>>(v, dv, m, 16);
        show("radix_tile", dv, 4ull * m);
    }
    {
        int rows = 20000, len = 201;
        float *a = mk<float>((size_t)rows * len);
        oddEvenRows<<<rows, 128, len * sizeof(float)>>>(a, len);
        show("oddEvenRows", a, 4ull * rows * len);
    }
    {
        int cols = 1000003, it = 20;
        int *wall = mk<int>((size_t)cols * it), *src = mk<int>(cols), *dst = mk<int>(cols);
        dynproc_kernel<<<GRID(cols, PF_BLOCK - 2 * it), PF_BLOCK>>>(it, wall, src, dst, cols, 0, it);
        show("pathfinder", dst, 4ull * cols);
    }
    {
        int pairs = 12000;
        uchar *a = mk<uchar>((size_t)pairs * 128), *b = mk<uchar>((size_t)pairs * 128);
        int *best = mk<int>(pairs);
        sw_score<128><<<pairs, 128>>>(a, b, best, 3, -2, -2);
        show("sw_score", best, 4ull * pairs);
    }
    {
        int batch = 16000;
        size_t N = (size_t)batch * 512;
        float *a = mk<float>(N * 2), *b = mk<float>(N * 2);
        fft512<<<batch, 256>>>((float2 *)a, (float2 *)b, -1.f);
        show("fft512", b, N * 8);
        int lg = 11, nb = (int)(N * 2 >> lg);
        fwtBatch1Kernel<<<nb, (1 << lg) / 4, (1 << lg) * sizeof(float)>>>(b, a, lg);
        show("fwtBatch1", b, ((size_t)nb << lg) * 4);
    }
    {
        int opt = 2000, blocks = 3000;
        float *p = mk<float>(3 * opt), *r = mk<float>(opt), *m = mk<float>(2 * blocks);
        binomialAmericanPut<<<opt, NUM_STEPS + 1>>>(p, r, 0.02f, 0.3f);
        show("binomial", r, 4ull * opt);
        asianMC<<<blocks, 192>>>((float2 *)m, 16, 64, 0.0002f, 0.02f, 1.0f);
        show("asianMC", m, 8ull * blocks);
    }
    {
        int nin = 24000001, nout = GRID(nin, 4);
        float *x = mk<float>(nin), *t = mk<float>(64), *y = mk<float>(nout);
        fir_decimate<float, 48, 4, 128><<<GRID(nout, 128), 128>>>(x, t, y, nout, nin);
        show("fir_decimate", y, 4ull * nout);
        uchar *d = mk<uchar>(nin);
        uint *c = mk<uint>(1024 * 1024);
        kmer_count<<<1024, 256>>>(d, c, nin);
        show("kmer_count", c, 4096ull * 1024);
    }
    return 0;
}
