// signal processing
#include "shown.h"
#include <cmath>
#include <vector>
#define PI_F 3.14159265358979f

struct __align__(8) c32 {
    float x, y;
    __device__ c32 operator+(const c32 &o) const { return {x + o.x, y + o.y}; }
    __device__ c32 operator-(const c32 &o) const { return {x - o.x, y - o.y}; }
    __device__ c32 operator*(const c32 &o) const { return {x * o.x - y * o.y, x * o.y + y * o.x}; }
};
__device__ inline c32 twiddle(int k, int n) { c32 w; sincospif(-2.0f * k / n, &w.y, &w.x); return w; }

/* radix-2 DIT with bit reversal on load, twiddle table in shared */
template <int LOGN>
__global__ void fft_dit(const c32 *in, c32 *out)
{
    constexpr int N = 1 << LOGN;
    __shared__ c32 s[N];
    __shared__ c32 tw[N / 2];
    const c32 *src = in + (size_t)blockIdx.x * N;
    for (int i = threadIdx.x; i < N; i += blockDim.x) s[__brev(i) >> (32 - LOGN)] = src[i];
    for (int i = threadIdx.x; i < N / 2; i += blockDim.x) tw[i] = twiddle(i, N);
    __syncthreads();
    for (int lg = 1; lg <= LOGN; ++lg) {
        int half = 1 << (lg - 1);
        for (int b = threadIdx.x; b < N / 2; b += blockDim.x) {
            int k = b & (half - 1);
            int i = ((b >> (lg - 1)) << lg) + k;
            c32 u = s[i], v = s[i + half] * tw[k << (LOGN - lg)];
            s[i] = u + v;
            s[i + half] = u - v;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < N; i += blockDim.x) out[(size_t)blockIdx.x * N + i] = s[i];
}

/* 512 point Stockham: 64 threads, 8 values in registers, real and imaginary exchanged separately */
__device__ void dft8(c32 *a)
{
    const float h = 0.70710678f;
    c32 b[8];
    for (int k = 0; k < 4; ++k) { b[k] = a[k] + a[k + 4]; b[k + 4] = a[k] - a[k + 4]; }
    b[5] = c32{h * (b[5].x + b[5].y), h * (b[5].y - b[5].x)};
    b[6] = c32{b[6].y, -b[6].x};
    b[7] = c32{h * (b[7].y - b[7].x), -h * (b[7].x + b[7].y)};
    for (int o = 0; o < 8; o += 4) {
        c32 p = b[o] + b[o + 2], q = b[o] - b[o + 2], r = b[o + 1] + b[o + 3], t = b[o + 1] - b[o + 3];
        t = c32{t.y, -t.x};
        int base = o / 4;
        a[base] = p + r; a[base + 4] = p - r; a[base + 2] = q + t; a[base + 6] = q - t;
    }
}
__global__ void fft512_regs(const c32 *in, c32 *out)
{
    __shared__ float ex[512];
    const int t = threadIdx.x;
    c32 a[8];
    in += (size_t)blockIdx.x * 512;
    out += (size_t)blockIdx.x * 512;
#pragma unroll
    for (int k = 0; k < 8; ++k) a[k] = in[t + 64 * k];
    for (int ns = 1; ns < 512; ns *= 8) {
        int j = t % ns;
#pragma unroll
        for (int k = 1; k < 8; ++k) a[k] = a[k] * twiddle(j * k, ns * 8);
        dft8(a);
        int d = (t / ns) * ns * 8 + j;
        __syncthreads();
        for (int k = 0; k < 8; ++k) ex[d + k * ns] = a[k].x;
        __syncthreads();
        for (int k = 0; k < 8; ++k) a[k].x = ex[t + 64 * k];
        __syncthreads();
        for (int k = 0; k < 8; ++k) ex[d + k * ns] = a[k].y;
        __syncthreads();
        for (int k = 0; k < 8; ++k) a[k].y = ex[t + 64 * k];
    }
    for (int k = 0; k < 8; ++k) out[t + 64 * k] = a[k];
}

/* Walsh-Hadamard, integer, shared in place */
__global__ void fwht(int *d, int logn)
{
    extern __shared__ int sh[];
    int n = 1 << logn;
    int *g = d + (size_t)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sh[i] = g[i];
    for (int h = 1; h < n; h <<= 1) {
        __syncthreads();
        for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
            int p = (i / h) * 2 * h + i % h;
            int a = sh[p], b = sh[p + h];
            sh[p] = a + b;
            sh[p + h] = a - b;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) g[i] = sh[i];
}

/* polyphase decimating FIR: taps and input span in dynamic shared memory */
__global__ void fir_decimate(const float *x, const float *taps, float *y, int nout, int ntaps, int dec)
{
    extern __shared__ float dyn[];
    float *h = dyn, *buf = dyn + ntaps;
    int o0 = blockIdx.x * blockDim.x;
    int span = (blockDim.x - 1) * dec + ntaps;
    for (int i = threadIdx.x; i < ntaps; i += blockDim.x) h[i] = taps[ntaps - 1 - i];
    int last = (nout - 1) * dec + ntaps;
    for (int i = threadIdx.x; i < span; i += blockDim.x) buf[i] = o0 * dec + i < last ? x[o0 * dec + i] : 0.f;
    __syncthreads();
    int o = o0 + threadIdx.x;
    if (o >= nout) return;
    float acc = 0;
    const float *b = buf + threadIdx.x * dec;
#pragma unroll 4
    for (int k = 0; k < ntaps; ++k) acc += h[k] * b[k];
    y[o] = acc;
}

/* cascade of biquads, channel per thread, state kept in a private array; samples interleaved */
#define SECTIONS 4
__constant__ float sos[SECTIONS][5];
__global__ void biquad_bank(const float *x, float *y, int channels, int len)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float z[SECTIONS][2] = {};
    for (int n = 0; n < len; ++n) {
        float v = x[(size_t)n * channels + c];
        for (int s = 0; s < SECTIONS; ++s) {
            float w = sos[s][0] * v + z[s][0];
            z[s][0] = sos[s][1] * v - sos[s][3] * w + z[s][1];
            z[s][1] = sos[s][2] * v - sos[s][4] * w;
            v = w;
        }
        y[(size_t)n * channels + c] = v;
    }
}

/* multi level Haar, block per signal */
template <int N>
__global__ void haar_levels(const float *x, float *y, int levels)
{
    __shared__ float a[N], b[N / 2];
    for (int i = threadIdx.x; i < N; i += blockDim.x) a[i] = x[(size_t)blockIdx.x * N + i];
    __syncthreads();
    int n = N;
    for (int l = 0; l < levels; ++l) {
        n /= 2;
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            float2 p = make_float2(a[2 * i], a[2 * i + 1]);
            y[(size_t)blockIdx.x * N + n + i] = (p.x - p.y) * 0.70710678f;
            b[i] = (p.x + p.y) * 0.70710678f;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = b[i];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[(size_t)blockIdx.x * N + i] = a[i];
}

/* 8x8 DCT, JPEG style: 8 thread columns per tile, four tiles per warp-sized block row */
__device__ __forceinline__ void dct8(float *v, int st)
{
    float c[8];
    for (int k = 0; k < 8; ++k) {
        float s = 0;
        for (int n = 0; n < 8; ++n) s += v[n * st] * cospif((2 * n + 1) * k / 16.f);
        c[k] = s * (k ? 0.5f : 0.35355339f);
    }
    for (int k = 0; k < 8; ++k) v[k * st] = c[k];
}
__global__ void dct8x8_quant(const unsigned char *img, short *coef, int w, const int *q)
{
    __shared__ float tile[8][8][9];         // [tile][row][col]
    int col = threadIdx.x % 8, t = threadIdx.x / 8;
    int x = (blockIdx.x * 8 + t) * 8 + col, y = blockIdx.y * 8;
    for (int r = 0; r < 8; ++r) tile[t][r][col] = (float)img[(size_t)(y + r) * w + x] - 128.f;
    __syncthreads();
    dct8(&tile[t][0][col], 9);
    __syncthreads();
    dct8(&tile[t][col][0], 1);
    __syncthreads();
    for (int r = 0; r < 8; ++r) coef[(size_t)(y + r) * w + x] = (short)rintf(tile[t][r][col] / (q[r * 8 + col] + 4));
}

/* windowed autocorrelation + Levinson-Durbin (LPC), a block per frame */
#define ORDER 12
__global__ void lpc_frames(const float *sig, float *lpc, int hop)
{
    __shared__ float fr[256];
    __shared__ float r[ORDER + 1];
    int t = threadIdx.x;
    fr[t] = sig[(size_t)blockIdx.x * hop + t] * (0.54f - 0.46f * cospif(2.f * t / 255.f));
    __syncthreads();
    int w = t >> 5, lane = t & 31;
    for (int k = w; k <= ORDER; k += 8) {
        float s = 0;
        for (int i = lane; i + k < 256; i += 32) s += fr[i] * fr[i + k];
        for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
        if (lane == 0) r[k] = s;
    }
    __syncthreads();
    if (t == 0) {
        float a[ORDER + 1] = {1.f}, tmp[ORDER + 1], e = r[0] + 1e-3f;
        for (int i = 1; i <= ORDER; ++i) {
            float k = r[i];
            for (int j = 1; j < i; ++j) k += a[j] * r[i - j];
            k = -k / e;
            for (int j = 1; j < i; ++j) tmp[j] = a[j] + k * a[i - j];
            for (int j = 1; j < i; ++j) a[j] = tmp[j];
            a[i] = k;
            e *= 1.f - k * k;
        }
        for (int i = 1; i <= ORDER; ++i) lpc[blockIdx.x * ORDER + i - 1] = a[i];
    }
}

int main()
{
    const size_t n = 1 << 23;
    c32 *a = (c32 *)mk<float>(2 * n), *b = (c32 *)mk<float>(2 * n);
    fft_dit<10><<<n / 1024, 256>>>(a, b); show("fft_dit", b, 8 * n);
    fft512_regs<<<n / 512, 64>>>(a, b); show("fft512_regs", b, 8 * n);
    int *w = mk<int>(n);
    fwht<<<n / 2048, 512, 2048 * 4>>>(w, 11); show("fwht", w, 4 * n);
    float *x = mk<float>(n), *y = mk<float>(n), *h = mk<float>(96);
    int dec = 3, nout = (int)((n - 96) / dec);
    fir_decimate<<<(nout + 255) / 256, 256, (96 + 255 * dec + 96) * 4>>>(x, h, y, nout, 96, dec); show("fir_decimate", y, 4 * n);
    float c[SECTIONS][5];
    for (int s = 0; s < SECTIONS; ++s) { float v[5] = {0.2f, 0.1f + 0.02f * s, 0.05f, -0.5f + 0.1f * s, 0.25f}; memcpy(c[s], v, sizeof v); }
    cudaMemcpyToSymbol(sos, c, sizeof c);
    biquad_bank<<<(60001 + 127) / 128, 128>>>(x, y, 60001, 120); show("biquad_bank", y, 4 * n);
    haar_levels<1024><<<n / 1024, 128>>>(x, y, 7); show("haar_levels", y, 4 * n);
    unsigned char *im = mk<unsigned char>(n);
    short *co = mk<short>(n);
    int *q = mk<int>(64);
    dct8x8_quant<<<dim3(4096 / 64, 2048 / 8), 64>>>(im, co, 4096, q); show("dct8x8_quant", co, 2 * n);
    float *l = mk<float>(50000 * ORDER);
    lpc_frames<<<50000, 256>>>(x, l, 160); show("lpc_frames", l, 50000ull * ORDER * 4);
    return 0;
}
