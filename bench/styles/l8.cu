// l8 -- pictures and signals: morphology, diffusion, wavelets, shuffles, labels.
#include "shown.h"

using uchar = unsigned char;

template <typename P> P *noise(size_t count, int levels, unsigned seed)
{
    P *host = (P *)malloc(count * sizeof(P)), *dev;
    unsigned v = seed * 1103515245u + 12345u;
    for (size_t i = 0; i < count; ++i) {
        v = v * 1103515245u + 12345u;
        host[i] = (P)((v >> 9) % (unsigned)levels);
    }
    cudaMalloc(&dev, count * sizeof(P));
    cudaMemcpy(dev, host, count * sizeof(P), cudaMemcpyHostToDevice);
    free(host);
    return dev;
}

// class 5: erosion by a cross, several rounds, 16x16 tile, ping-pong between two arrays, clamped borders
__global__ void erodeTile(const uchar *src, uchar *dst, int w, int h, int rounds)
{
    __shared__ uchar ping[16][16];
    __shared__ uchar pong[16][16];
    const int x = threadIdx.x, y = threadIdx.y;
    const int gx = min((int)(blockIdx.x * 16) + x, w - 1), gy = min((int)(blockIdx.y * 16) + y, h - 1);
    ping[y][x] = src[gy * w + gx];
    __syncthreads();
    const int xm = x > 0 ? x - 1 : 0, xp = x < 15 ? x + 1 : 15;
    const int ym = y > 0 ? y - 1 : 0, yp = y < 15 ? y + 1 : 15;
    for (int r = 0; r < rounds; ++r) {
        uchar (*in)[16] = r & 1 ? pong : ping;
        uchar (*out)[16] = r & 1 ? ping : pong;
        int m = in[y][x];
        m = min(m, (int)in[y][xm]);
        m = min(m, (int)in[y][xp]);
        m = min(m, (int)in[ym][x]);
        m = min(m, (int)in[yp][x]);
        out[y][x] = (uchar)m;
        __syncthreads();
    }
    const uchar res = rounds & 1 ? pong[y][x] : ping[y][x];
    if (blockIdx.x * 16 + x < w && blockIdx.y * 16 + y < h) dst[gy * w + gx] = res;
}

// class 5: integer heat, 32x8 tile in place, five steps, walls fixed
constexpr int HW = 32, HH = 8;
__global__ void heatInteger(const int *__restrict__ t0, int *__restrict__ t1, int width)
{
    __shared__ int T[HH][HW];
    const int i = threadIdx.x, j = threadIdx.y;
    const int at = (blockIdx.y * HH + j) * width + blockIdx.x * HW + i;
    T[j][i] = t0[at] << 8;
    __syncthreads();
    const bool wall = i == 0 || j == 0 || i == HW - 1 || j == HH - 1;
#pragma unroll 1
    for (int step = 0; step < 5; ++step) {
        int c = T[j][i];
        if (!wall) c += (T[j][i - 1] + T[j][i + 1] + T[j - 1][i] + T[j + 1][i] - 4 * c) >> 3;
        __syncthreads();
        T[j][i] = c;
        __syncthreads();
    }
    t1[at] = T[j][i];
}

// class 4: Walsh-Hadamard transform of 512 integers, partner by xor, in place with two barriers
__global__ void hadamard512(const int *sig, int *spec)
{
    __shared__ int buf[512];
    const int k = threadIdx.x;
    buf[k] = sig[blockIdx.x * 512 + k];
    __syncthreads();
    for (int h = 1; h < 512; h += h) {
        const int mine = buf[k], other = buf[k ^ h];
        __syncthreads();
        buf[k] = (k & h) ? other - mine : mine + other;
        __syncthreads();
    }
    spec[blockIdx.x * 512 + k] = buf[k];
}

// class 4: Haar pyramid of 256 samples of short, halves exchanged in place
__global__ void haarPyramid(short *samples)
{
    __shared__ short s[256];
    short *g = samples + (size_t)blockIdx.x * 256;
    const int t = threadIdx.x;
    s[t] = g[t];
    s[t + 128] = g[t + 128];
    __syncthreads();
    for (int len = 256; len >= 2; len >>= 1) {
        const int half = len >> 1;
        int a = 0, b = 0;
        if (t < half) {
            a = s[2 * t];
            b = s[2 * t + 1];
        }
        __syncthreads();
        if (t < half) {
            s[t] = (short)((a + b) >> 1);
            s[half + t] = (short)(a - b);
        }
        __syncthreads();
    }
    g[t] = s[t];
    g[t + 128] = s[t + 128];
}

// class 4: interleaver: perfect shuffle, rotation by 5 and reversal, repeated on one array
template <int LEN, int ROUNDS>
__global__ void interleave(const float *in, float *out)
{
    __shared__ float line[LEN];
    const int p = threadIdx.x;
    line[p] = in[blockIdx.x * LEN + p];
    __syncthreads();
    for (int r = 0; r < ROUNDS; ++r) {
        float v = line[(p >> 1) + (p & 1) * (LEN / 2)];
        __syncthreads();
        line[p] = v;
        __syncthreads();
        v = line[(p + 5) % LEN];
        __syncthreads();
        line[p] = v;
        __syncthreads();
        v = line[LEN - 1 - p];
        __syncthreads();
        line[p] = v * 0.5f + r;
        __syncthreads();
    }
    out[blockIdx.x * LEN + p] = line[p];
}

// class 3: integral image of 32x32 tiles: scans along rows, then along columns, 1024 threads
__global__ void integralTile(const uchar *img, int *sat, int pitch)
{
    __shared__ int tile[32][33];
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t g = (size_t)(blockIdx.y * 32 + y) * pitch + blockIdx.x * 32 + x;
    tile[y][x] = img[g];
    __syncthreads();
    for (int d = 1; d < 32; d <<= 1) {
        int add = x >= d ? tile[y][x - d] : 0;
        __syncthreads();
        tile[y][x] += add;
        __syncthreads();
    }
    for (int d = 1; d < 32; d <<= 1) {
        int add = y >= d ? tile[y - d][x] : 0;
        __syncthreads();
        tile[y][x] += add;
        __syncthreads();
    }
    sat[g] = tile[y][x];
}

// class 1: darkest and brightest pixel of 64x4 patches at once, the contrast then stretched by all threads
__global__ void autoContrast(const short *in, short *out, int stride)
{
    __shared__ short lo[64 * 4];
    __shared__ short hi[64 * 4];
    const int t = threadIdx.y * 64 + threadIdx.x;
    const int g = (blockIdx.y * 4 + threadIdx.y) * stride + blockIdx.x * 64 + threadIdx.x;
    const short v = in[g];
    lo[t] = hi[t] = v;
    __syncthreads();
    for (int n = 64 * 4 / 2; n > 0; n >>= 1) {
        if (t < n) {
            if (lo[t + n] < lo[t]) lo[t] = lo[t + n];
            if (hi[t + n] > hi[t]) hi[t] = hi[t + n];
        }
        __syncthreads();
    }
    const int range = max(hi[0] - lo[0], 1);
    out[g] = (short)((v - lo[0]) * 255 / range);
}

// class 7: median of each 32x32 block by counting
__global__ void blockMedian(const uchar *img, uchar *med, int w)
{
    __shared__ unsigned counts[256];
    const int t = threadIdx.x;
    counts[t] = 0;
    __syncthreads();
    for (int k = t; k < 1024; k += 256) {
        int yy = blockIdx.y * 32 + (k >> 5), xx = blockIdx.x * 32 + (k & 31);
        atomicAdd(&counts[img[(size_t)yy * w + xx]], 1u);
    }
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        unsigned c = counts[t] + (t >= d ? counts[t - d] : 0u);
        __syncthreads();
        counts[t] = c;
        __syncthreads();
    }
    unsigned below = t ? counts[t - 1] : 0u;
    if (below < 512 && counts[t] >= 512) med[blockIdx.y * gridDim.x + blockIdx.x] = (uchar)t;
}

// class 7: connected components within 16x16 tiles, labels followed through the array, until nothing changes
__global__ void labelTile(const uchar *mask, int *labels, int w)
{
    __shared__ int lab[256];
    const int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x;
    const int g = (blockIdx.y * 16 + y) * w + blockIdx.x * 16 + x;
    const bool on = mask[g] > 2;
    lab[t] = on ? t : 256;
    __syncthreads();
    int changed;
    do {
        int m = lab[t];
        if (on) {
            if (x > 0) m = min(m, lab[t - 1]);
            if (x < 15) m = min(m, lab[t + 1]);
            if (y > 0) m = min(m, lab[t - 16]);
            if (y < 15) m = min(m, lab[t + 16]);
            m = min(m, lab[m]);
        }
        changed = __syncthreads_or(on && m < lab[t]);
        lab[t] = m;
        __syncthreads();
    } while (changed);
    labels[g] = lab[t];
}

// class 6: long integer filter as a product of two staged operands, 160 threads, 100 taps in chunks of 20
__global__ void firInteger(const int *signal, const int *taps, int *result, int n, int ntaps)
{
    __shared__ int window[160 + 20];
    __shared__ int coef[20];
    const int t = threadIdx.x;
    const int first = blockIdx.x * 160;
    int acc = 0;
    for (int c = 0; c < ntaps; c += 20) {
        for (int k = t; k < 180; k += 160) {
            int p = first - c - 20 + k;
            window[k] = p >= 0 && p < n ? signal[p] : 0;
        }
        if (t < 20) coef[t] = c + t < ntaps ? taps[c + t] : 0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 20; ++k) acc += coef[k] * window[t + 20 - k];
        __syncthreads();
    }
    if (first + t < n) result[first + t] = acc;
}

int main()
{
    {
        int w = 3001, h = 2999;
        size_t N = (size_t)3008 * 3008;
        uchar *a = noise<uchar>(N, 256, 1), *b = mk<uchar>(N);
        erodeTile<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a, b, w, h, 3);
        show("erodeTile_3", b, (size_t)w * h);
        int *s = mk<int>(N);
        integralTile<<<dim3(3008 / 32, 3008 / 32), dim3(32, 32)>>>(a, s, 3008);
        show("integralTile", s, N * 4);
        blockMedian<<<dim3(94, 94), 256>>>(a, b, 3008);
        show("blockMedian", b, 94 * 94);
        uchar *m = noise<uchar>(N, 6, 2);
        labelTile<<<dim3(188, 188), dim3(16, 16)>>>(m, s, 3008);
        show("labelTile", s, N * 4);
        int *t = noise<int>(N, 4096, 3);
        heatInteger<<<dim3(3008 / HW, 3008 / HH), dim3(HW, HH)>>>(t, s, 3008);
        show("heatInteger", s, N * 4);
        short *v = noise<short>(N, 2000, 4), *u = mk<short>(N);
        autoContrast<<<dim3(3008 / 64, 3008 / 4), dim3(64, 4)>>>(v, u, 3008);
        show("autoContrast", u, N * 2);
    }
    {
        size_t N = 1 << 23;
        int *a = noise<int>(N, 8192, 5), *b = mk<int>(N);
        hadamard512<<<(int)(N / 512), 512>>>(a, b);
        show("hadamard512", b, N * 4);
        short *s = noise<short>(N, 16000, 6);
        haarPyramid<<<(int)(N / 256), 128>>>(s);
        show("haarPyramid", s, N * 2);
        float *f = mk<float>(N), *g = mk<float>(N);
        interleave<64, 6><<<(int)(N / 64), 64>>>(f, g);
        show("interleave_64", g, N * 4);
        int *taps = noise<int>(100, 64, 7);
        firInteger<<<(int)((N - 3 + 159) / 160), 160>>>(a, taps, b, (int)N - 3, 100);
        show("firInteger", b, (N - 3) * 4);
    }
    return 0;
}
