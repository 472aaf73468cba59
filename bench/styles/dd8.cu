// Audio, radio and codec kernels.
#include <cmath>
#include <cstdint>
#include "shown.h"

#define PI_F 3.14159265358979f

// -- Stockham FFT, radix 2, one transform of N points a block, N/2 threads, twiddles in shared ---------------
template <int LOGN, bool INVERSE>
__global__ void fftStockham(const float2 *__restrict__ in, float2 *__restrict__ out, int batch)
{
    constexpr int N = 1 << LOGN;
    __shared__ float2 a[2][N];
    __shared__ float2 tw[N / 2];
    const int t = threadIdx.x;
    sincospif((INVERSE ? 2.f : -2.f) * t / N, &tw[t].y, &tw[t].x);
    for (int f = blockIdx.x; f < batch; f += gridDim.x) {
        const float2 *src = in + (size_t)f * N;
        a[0][t] = src[t];
        a[0][t + N / 2] = src[t + N / 2];
        int cur = 0;
#pragma unroll
        for (int s = 0; s < LOGN; s++) {
            __syncthreads();
            int q = t & ((1 << s) - 1);             // position in a sub-transform already done
            float2 x = a[cur][t], y = a[cur][t + N / 2];
            float2 w = tw[q << (LOGN - 1 - s)];
            y = make_float2(y.x * w.x - y.y * w.y, y.x * w.y + y.y * w.x);
            int o = ((t - q) << 1) + q;
            cur ^= 1;
            a[cur][o] = make_float2(x.x + y.x, x.y + y.y);
            a[cur][o + (1 << s)] = make_float2(x.x - y.x, x.y - y.y);
        }
        __syncthreads();
        const float sc = INVERSE ? 1.f / N : 1.f;
        for (int i = t; i < N; i += N / 2) out[(size_t)f * N + i] = make_float2(a[cur][i].x * sc, a[cur][i].y * sc);
        __syncthreads();
    }
}

// -- JPEG: 8x8 DCT of blocks in a strip, quantisation, zigzag order, count of the last non-zero -------------------
__constant__ unsigned char k_zig[64];
__constant__ unsigned char k_quant[64];

__global__ void jpegForward(const unsigned char *img, short *coef, unsigned char *lastNz, int width, int pitch, int blocksPerRow)
{
    __shared__ float blk[4][8][9];
    __shared__ float c8[8][8];
    __shared__ unsigned last[4];
    const int x = threadIdx.x, y = threadIdx.y, b = threadIdx.z;
    const int bx = blockIdx.x * 4 + b;
    const bool live = bx < blocksPerRow;
    if (b == 0) c8[y][x] = (y == 0 ? 0.35355339f : 0.5f) * cospif((2 * x + 1) * y / 16.f);
    if (x == 0 && y == 0) last[b] = 0;
    int px = min(bx * 8 + x, width - 1);
    blk[b][y][x] = (float)img[(size_t)(blockIdx.y * 8 + y) * pitch + px] - 128.f;
    __syncthreads();
    float s = 0.f;
    for (int k = 0; k < 8; k++) s += c8[x][k] * blk[b][y][k];
    __syncthreads();
    blk[b][y][x] = s;
    __syncthreads();
    s = 0.f;
    for (int k = 0; k < 8; k++) s += c8[y][k] * blk[b][k][x];
    int z = k_zig[y * 8 + x];
    int q = __float2int_rn(s / k_quant[z]);
    if (q != 0) atomicMax(&last[b], (unsigned)z);
    __syncthreads();
    if (live) {
        size_t o = (size_t)blockIdx.y * blocksPerRow + bx;
        coef[o * 64 + z] = (short)q;
        if (x == 7 && y == 7) lastNz[o] = (unsigned char)last[b];
    }
}

// -- Haar pyramid of a line, all levels in place with compaction --------------------------------------------------
__global__ void haarPyramid(const float *in, float *out, unsigned len, unsigned levels, float thr)
{
    extern __shared__ float line[];
    const size_t off = (size_t)blockIdx.x * len;
    for (unsigned i = threadIdx.x; i < len; i += blockDim.x) line[i] = in[off + i];
    __syncthreads();
    unsigned n = len;
    for (unsigned l = 0; l < levels && (n & 1) == 0; ++l, n >>= 1) {
        // up to four pairs a thread are kept in registers between the barriers
        float lo[4], hi[4];
        const unsigned half = n / 2;
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            unsigned i = threadIdx.x + k * blockDim.x;
            if (i < half) {
                float a = line[2 * i], b = line[2 * i + 1];
                lo[k] = (a + b) * 0.70710678f;
                hi[k] = (a - b) * 0.70710678f;
            }
        }
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            unsigned i = threadIdx.x + k * blockDim.x;
            if (i < half) {
                line[i] = lo[k];
                line[half + i] = fabsf(hi[k]) < thr ? 0.f : hi[k];
            }
        }
        __syncthreads();
    }
    for (unsigned i = threadIdx.x; i < len; i += blockDim.x) out[off + i] = line[i];
}

// -- Viterbi decoder of the K=7 (171,133) code: 64 states a frame, two frames a block, decisions as ballots ---------
template <int FRAME>
__global__ void __launch_bounds__(128) viterbiK7(const signed char *soft, unsigned char *bits, int frames)
{
    __shared__ int metric[2][2][64];
    __shared__ unsigned decision[2][FRAME][2];
    const int f = threadIdx.x >> 6, s = threadIdx.x & 63;
    const int frame = min((int)blockIdx.x * 2 + f, frames - 1);
    const signed char *y = soft + (size_t)frame * FRAME * 2;
    metric[f][0][s] = s == 0 ? 0 : -100000;
    // state s is reached from p and p + 1; the input bit is the top bit of s
    const int p = (s << 1) & 63;
    const int in = s >> 5;
    const int reg0 = (in << 6) | p, reg1 = reg0 | 1;
    const int g00 = __popc(reg0 & 0171) & 1, g01 = __popc(reg0 & 0133) & 1;
    const int g10 = __popc(reg1 & 0171) & 1, g11 = __popc(reg1 & 0133) & 1;
    __syncthreads();
    for (int t = 0; t < FRAME; t++) {
        const int a = y[2 * t] - 6, b = y[2 * t + 1] - 6;
        int m0 = metric[f][t & 1][p] + (g00 ? a : -a) + (g01 ? b : -b);
        int m1 = metric[f][t & 1][p | 1] + (g10 ? a : -a) + (g11 ? b : -b);
        bool second = m1 > m0;
        unsigned vote = __ballot_sync(0xffffffffu, second);
        metric[f][(t + 1) & 1][s] = second ? m1 : m0;
        if ((s & 31) == 0) decision[f][t][s >> 5] = vote;
        __syncthreads();
    }
    if (s == 0 && blockIdx.x * 2 + f < (unsigned)frames) {
        int best = 0;
        const int *m = metric[f][FRAME & 1];
        for (int k = 1; k < 64; k++) if (m[k] > m[best]) best = k;
        unsigned char acc = 0;
        for (int t = FRAME - 1; t >= 0; t--) {
            acc |= (unsigned char)((best >> 5) << (t & 7));
            if ((t & 7) == 0) { bits[(size_t)frame * (FRAME / 8) + t / 8] = acc; acc = 0; }
            unsigned d = (decision[f][t][best >> 5] >> (best & 31)) & 1u;
            best = ((best << 1) & 63) | d;
        }
    }
}

// -- linear prediction: windowed frame in shared, autocorrelation by warps, Levinson-Durbin by a thread ------------
template <int ORDER, int WARPS = 4>
__global__ void lpcFrames(const int16_t *pcm, float *refl, float *gain, size_t n, int frame, int hop)
{
    extern __shared__ float w[];
    __shared__ float r[ORDER + 1];
    const size_t start = (size_t)blockIdx.x * hop;
    for (int i = threadIdx.x; i < frame; i += WARPS * 32) {
        float win = 0.54f - 0.46f * __cosf(2.f * PI_F * i / (frame - 1));
        w[i] = start + i < n ? win * pcm[start + i] : 0.f;
    }
    __syncthreads();
    for (int lag = threadIdx.x >> 5; lag <= ORDER; lag += WARPS) {
        float s = 0.f;
        for (int i = threadIdx.x & 31; i < frame - lag; i += 32) s += w[i] * w[i + lag];
        for (int o = 16; o > 0; o >>= 1) s += __shfl_down_sync(0xffffffffu, s, o);
        if ((threadIdx.x & 31) == 0) r[lag] = s * (lag == 0 ? 1.0001f : 1.f) + (lag == 0 ? 1e-3f : 0.f);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float a[ORDER + 1], t[ORDER + 1];
        float e = r[0];
        a[0] = 1.f;
        for (int i = 1; i <= ORDER; i++) {
            float acc = r[i];
            for (int j = 1; j < i; j++) acc += a[j] * r[i - j];
            float k = -acc / e;
            for (int j = 1; j < i; j++) t[j] = a[j] + k * a[i - j];
            for (int j = 1; j < i; j++) a[j] = t[j];
            a[i] = k;
            e *= 1.f - k * k;
            refl[(size_t)blockIdx.x * ORDER + i - 1] = k;
        }
        gain[blockIdx.x] = sqrtf(e);
    }
}

// -- polyphase channeliser: M branches, commutated samples in a circular shared buffer, direct DFT of M points ----------
template <int M, int P>
__global__ void channelizer(const float2 *__restrict__ x, const float *__restrict__ h, float2 *__restrict__ y, int nblocks, int perBlock)
{
    __shared__ float2 hist[P][M];               // last P commutator turns
    __shared__ float2 branch[M];
    __shared__ float2 root[M];
    const int c = threadIdx.x;                   // M threads
    float tap[P];
#pragma unroll
    for (int p = 0; p < P; p++) tap[p] = h[p * M + c] * 0.1f;
    sincospif(-2.f * c / M, &root[c].y, &root[c].x);
    const int first = blockIdx.x * perBlock;
    for (int p = 0; p < P - 1; p++) {
        int b = first - (P - 1) + p;
        hist[(b + P) % P][c] = b >= 0 ? x[(size_t)b * M + (M - 1 - c)] : make_float2(0.f, 0.f);
    }
    const int last = min(first + perBlock, nblocks);
    for (int b = first; b < last; b++) {
        hist[b % P][c] = x[(size_t)b * M + (M - 1 - c)];
        float2 s = make_float2(0.f, 0.f);
        int slot = b % P;
        for (int p = 0; p < P; p++) {
            float2 v = hist[slot][c];            // only this thread's own column
            s.x += tap[p] * v.x;
            s.y += tap[p] * v.y;
            slot = slot == 0 ? P - 1 : slot - 1;
        }
        branch[c] = s;
        __syncthreads();
        float2 o = make_float2(0.f, 0.f);
        for (int k = 0, e = 0; k < M; k++) {
            float2 v = branch[k], w = root[e];
            o.x += v.x * w.x - v.y * w.y;
            o.y += v.x * w.y + v.y * w.x;
            e += c;
            if (e >= M) e -= M;
        }
        y[(size_t)b * M + c] = o;
        __syncthreads();
    }
}

// -- IMA ADPCM decoding, tables in shared memory, blocks of nibbles a thread, output as short2 ---------------------------
__device__ const int8_t ima_index[8] = {-1, -1, -1, -1, 2, 4, 6, 8};

__global__ void imaDecode(const uint32_t *in, short2 *out, const int *stepTable, unsigned blocks, unsigned wordsPerBlock)
{
    __shared__ int steps[89];
    __shared__ int8_t adj[16];
    if (threadIdx.x < 89) steps[threadIdx.x] = stepTable[threadIdx.x];
    if (threadIdx.x < 16) adj[threadIdx.x] = ima_index[threadIdx.x & 7];
    __syncthreads();
    const unsigned b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks) return;
    uint32_t head = in[b];
    int pred = (short)(head & 0xffff), idx = (int)((head >> 16) % 89);
    auto step = [&](unsigned nib) {
        int st = steps[idx];
        int diff = st >> 3;
        if (nib & 1) diff += st >> 2;
        if (nib & 2) diff += st >> 1;
        if (nib & 4) diff += st;
        pred = nib & 8 ? pred - diff : pred + diff;
        pred = max(-32768, min(32767, pred));
        idx = max(0, min(88, idx + adj[nib]));
        return (short)pred;
    };
    for (unsigned w = 1; w < wordsPerBlock; w++) {
        uint32_t v = in[(size_t)w * blocks + b];
        for (unsigned k = 0; k < 4; k++, v >>= 8) {
            short lo = step(v & 15), hi = step((v >> 4) & 15);
            out[((size_t)(w - 1) * 4 + k) * blocks + b] = make_short2(lo, hi);
        }
    }
}

// -- cascade of biquads with run-time number of sections, delays private, transposed tile loads for coalescing ------------
struct Biquad { float b0, b1, b2, a1, a2; };
#define BQ_MAX 6

__global__ void biquadCascade(const float *x, float *y, const Biquad *sec, int nsec, int channels, int len)
{
    __shared__ float tile[32][33];
    __shared__ Biquad s[BQ_MAX];
    float z1[BQ_MAX], z2[BQ_MAX];
    for (int i = 0; i < BQ_MAX; i++) z1[i] = z2[i] = 0.f;
    if ((int)threadIdx.x < nsec) s[threadIdx.x] = sec[threadIdx.x];
    const int ch0 = blockIdx.x * 32;
    for (int t0 = 0; t0 < len; t0 += 32) {
        const int t = t0 + threadIdx.x;
        __syncwarp();
        for (int c = 0; c < 32; c++)
            tile[c][threadIdx.x] = (ch0 + c < channels && t < len) ? x[(size_t)(ch0 + c) * len + t] : 0.f;
        __syncwarp();
        float *mine = tile[threadIdx.x];
        for (int k = 0; k < 32; k++) {
            float v = mine[k];
            for (int q = 0; q < nsec; q++) {
                const Biquad &bq = s[q];
                float o = bq.b0 * v + z1[q];
                z1[q] = bq.b1 * v - bq.a1 * o + z2[q];
                z2[q] = bq.b2 * v - bq.a2 * o;
                v = o;
            }
            mine[k] = v;
        }
        __syncwarp();
        for (int c = 0; c < 32; c++)
            if (ch0 + c < channels && t < len) y[(size_t)(ch0 + c) * len + t] = tile[c][threadIdx.x];
    }
}

int main()
{
    {
        int batch = 8003; size_t n = (size_t)batch * 512;
        float2 *a = (float2 *)mk<float>(n * 2), *b = (float2 *)mk<float>(n * 2);
        fftStockham<9, false><<<2000, 256>>>(a, b, batch);
        show("fftStockham", b, n * 8);
        fftStockham<8, true><<<batch, 128>>>(b, a, batch);
        show("fftStockham", a, n * 8);
        cudaFree(a); cudaFree(b);
    }
    {
        unsigned char zig[64], quant[64]; int i = 0;
        for (int d = 0; d < 15; d++)
            for (int k = 0; k <= d; k++) {
                int r = d & 1 ? k : d - k, c = d - r;
                if (r < 8 && c < 8) zig[r * 8 + c] = (unsigned char)i++;
            }
        for (i = 0; i < 64; i++) quant[i] = (unsigned char)(1 + i / 8);
        cudaMemcpyToSymbol(k_zig, zig, 64);
        cudaMemcpyToSymbol(k_quant, quant, 64);
        int w = 2999, pitch = 3008, br = (w + 7) / 8, rows = 250;
        unsigned char *im = mk<unsigned char>((size_t)pitch * rows * 8), *l = mk<unsigned char>((size_t)br * rows);
        short *c = mk<short>((size_t)br * rows * 64);
        jpegForward<<<dim3((br + 3) / 4, rows), dim3(8, 8, 4)>>>(im, c, l, w, pitch, br);
        show("jpegForward", c, (size_t)br * rows * 128);
        show("jpegForward", l, (size_t)br * rows);
        cudaFree(im); cudaFree(c); cudaFree(l);
    }
    {
        unsigned len = 1504, lines = 5001; size_t n = (size_t)len * lines;
        float *a = mk<float>(n), *b = mk<float>(n);
        haarPyramid<<<lines, 192, len * 4>>>(a, b, len, 9, 0.3f);
        show("haarPyramid", b, n * 4);
        cudaFree(a); cudaFree(b);
    }
    {
        const int F = 192; int frames = 3001;
        signed char *s = mk<signed char>((size_t)frames * F * 2); unsigned char *o = mk<unsigned char>((size_t)frames * F / 8);
        viterbiK7<F><<<(frames + 1) / 2, 128>>>(s, o, frames);
        show("viterbiK7", o, (size_t)frames * F / 8);
    }
    {
        int frame = 400, hop = 160; size_t n = 3000007; int nf = (int)((n + hop - 1) / hop);
        int16_t *p = mk<int16_t>(n); float *r = mk<float>((size_t)nf * 12), *g = mk<float>(nf);
        lpcFrames<12><<<nf, 128, frame * 4>>>(p, r, g, n, frame, hop);
        show("lpcFrames", r, (size_t)nf * 48);
        show("lpcFrames", g, (size_t)nf * 4);
    }
    {
        const int M = 48, P = 7; int nb = 60001, per = 50; size_t n = (size_t)nb * M;
        float2 *x = (float2 *)mk<float>(n * 2), *y = (float2 *)mk<float>(n * 2); float *h = mk<float>(M * P);
        channelizer<M, P><<<(nb + per - 1) / per, M>>>(x, h, y, nb, per);
        show("channelizer", y, n * 8);
        cudaFree(x); cudaFree(y);
    }
    {
        int st[89]; double v = 7; for (int i = 0; i < 89; i++) { st[i] = (int)v; v = v * 1.1 + 0.2; if (v > 32767) v = 32767; }
        int *ds; cudaMalloc(&ds, sizeof st); cudaMemcpy(ds, st, sizeof st, cudaMemcpyHostToDevice);
        unsigned blocks = 30001, wpb = 33; size_t n = (size_t)blocks * wpb;
        uint32_t *h = (uint32_t *)malloc(n * 4), *d;
        uint32_t s = 5; for (size_t i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; h[i] = s ^ (s >> 13); }
        cudaMalloc(&d, n * 4); cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice); free(h);
        size_t on = (size_t)(wpb - 1) * 4 * blocks;
        short2 *o = (short2 *)mk<short>(on * 2);
        imaDecode<<<(blocks + 95) / 96, 96>>>(d, o, ds, blocks, wpb);
        show("imaDecode", o, on * 4);
    }
    {
        Biquad b[5], *db;
        for (int i = 0; i < 5; i++) b[i] = Biquad{0.3f + 0.02f * i, 0.2f, 0.1f - 0.01f * i, -0.5f + 0.05f * i, 0.2f};
        cudaMalloc(&db, sizeof b); cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
        int ch = 8003, len = 555; size_t n = (size_t)ch * len;
        float *x = mk<float>(n), *y = mk<float>(n);
        biquadCascade<<<(ch + 31) / 32, 32>>>(x, y, db, 5, ch, len);
        show("biquadCascade", y, n * 4);
    }
    return 0;
}
