// DSP kernels
#include "shown.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#ifndef PI_F
#define PI_F 3.14159265358979f
#endif

typedef float2 cplx;
__device__ __forceinline__ cplx cmul(cplx a, cplx b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ __forceinline__ cplx cadd(cplx a, cplx b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ cplx csub(cplx a, cplx b) { return make_float2(a.x - b.x, a.y - b.y); }

// ---- FIR, 4 outputs per thread ------------------------------------------------------------------
#define NTAPS 61
#define FIR_THREADS 128
#define FIR_PER 4
__constant__ float h_taps[NTAPS];

__global__ void fir_real_x4(const float *x, float *y, int len)
{
    __shared__ float seg[FIR_THREADS * FIR_PER + NTAPS - 1];
    const int first = blockIdx.x * FIR_THREADS * FIR_PER;
    int k = threadIdx.x;
    do {
        int src = first + k - (NTAPS - 1);
        seg[k] = src >= 0 && src < len ? x[src] : 0.0f;
        k += FIR_THREADS;
    } while (k < FIR_THREADS * FIR_PER + NTAPS - 1);
    __syncthreads();

    float a0 = 0, a1 = 0, a2 = 0, a3 = 0;
    int p = threadIdx.x + NTAPS - 1;
    for (int t = 0; t < NTAPS; ++t, --p) {
        const float c = h_taps[t];
        a0 += c * seg[p];
        a1 += c * seg[p + FIR_THREADS];
        a2 += c * seg[p + 2 * FIR_THREADS];
        a3 += c * seg[p + 3 * FIR_THREADS];
    }
    int o = first + threadIdx.x;
    if (o < len) y[o] = a0;
    if ((o += FIR_THREADS) < len) y[o] = a1;
    if ((o += FIR_THREADS) < len) y[o] = a2;
    if ((o += FIR_THREADS) < len) y[o] = a3;
}

// ---- radix-2 FFT in shared memory ---------------------------------------------------------------
template <unsigned LOGN>
__global__ void fft_radix2_block(cplx *data)
{
    constexpr unsigned N = 1u << LOGN;
    __shared__ cplx s[N];
    cplx *base = data + (size_t)blockIdx.x * N;
    for (unsigned i = threadIdx.x; i < N; i += blockDim.x) s[__brev(i) >> (32 - LOGN)] = base[i];
    __syncthreads();

    for (unsigned half = 1; half < N; half <<= 1) {
        for (unsigned b = threadIdx.x; b < N / 2; b += blockDim.x) {
            unsigned j = b & (half - 1);
            unsigned i0 = ((b & ~(half - 1)) << 1) | j;
            float sn, cs;
            sincospif(-(float)j / (float)half, &sn, &cs);
            cplx t = cmul(make_float2(cs, sn), s[i0 + half]);
            cplx u = s[i0];
            s[i0] = cadd(u, t);
            s[i0 + half] = csub(u, t);
        }
        __syncthreads();
    }
    for (unsigned i = threadIdx.x; i < N; i += blockDim.x) base[i] = s[i];
}

// ---- fast Walsh-Hadamard, radix-4 stages --------------------------------------------------------
__global__ void fwtBatchKernel(float *d_Output, const float *d_Input, int log2N)
{
    cg::thread_block cta = cg::this_thread_block();
    const int N = 1 << log2N;
    const int base = blockIdx.x << log2N;
    extern __shared__ float s_data[];

    for (int pos = threadIdx.x; pos < N; pos += blockDim.x) s_data[pos] = d_Input[base + pos];

    // Main radix-4 stages
    for (int stride = N >> 2; stride > 0; stride >>= 2) {
        cg::sync(cta);
        int pos = threadIdx.x;
        int lo = pos & (stride - 1);
        int i0 = ((pos - lo) << 2) + lo;
        int i1 = i0 + stride;
        int i2 = i1 + stride;
        int i3 = i2 + stride;

        float D0 = s_data[i0];
        float D1 = s_data[i1];
        float D2 = s_data[i2];
        float D3 = s_data[i3];

        float T;
        T = D0; D0 = D0 + D2; D2 = T - D2;
        T = D1; D1 = D1 + D3; D3 = T - D3;
        T = D0; s_data[i0] = D0 + D1; s_data[i1] = T - D1;
        T = D2; s_data[i2] = D2 + D3; s_data[i3] = T - D3;
    }
    // Do a single radix-2 stage for odd power of two
    if (log2N & 1) {
        cg::sync(cta);
        for (int pos = threadIdx.x; pos < N / 2; pos += blockDim.x) {
            int i0 = pos << 1;
            int i1 = i0 + 1;
            float D0 = s_data[i0];
            float D1 = s_data[i1];
            s_data[i0] = D0 + D1;
            s_data[i1] = D0 - D1;
        }
    }
    cg::sync(cta);
    for (int pos = threadIdx.x; pos < N; pos += blockDim.x) d_Output[base + pos] = s_data[pos];
}

// ---- 8x8 DCT, several blocks per CUDA block -----------------------------------------------------
__constant__ float dctm[64];
__global__ void dct8x8_mat(const float *img, float *coef, int width, int height)
{
    __shared__ float pixels[4][8][8 + 1];
    __shared__ float tmp[4][8][8 + 1];
    const int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    const int x = (blockIdx.x * 4 + tz) * 8 + tx;
    const int y = blockIdx.y * 8 + ty;
    const bool ok = x < width;                       // height is padded
    pixels[tz][ty][tx] = ok ? img[y * width + x] - 6.f : 0.f;
    __syncthreads();
    float acc = 0.f;
    for (int k = 0; k < 8; k++) acc += dctm[ty * 8 + k] * pixels[tz][k][tx];
    tmp[tz][ty][tx] = acc;
    __syncthreads();
    acc = 0.f;
    for (int k = 0; k < 8; k++) acc += tmp[tz][ty][k] * dctm[tx * 8 + k];
    if (ok) coef[y * width + x] = rintf(acc * 4.f) * 0.25f;
}

// ---- biquad cascade over many channels ----------------------------------------------------------
// 32 channels a block; the samples arrive channel-major, so they go through a 32x33 tile
__global__ void iir_biquad_channels(const float *in, float *out, int nsamp, int nchan, float b0, float b1, float b2, float a1, float a2)
{
    __shared__ float tile[32][33];
    const int lane = threadIdx.x, wrp = threadIdx.y;       // 32 x 4
    const int ch0 = blockIdx.x * 32;
    float z1[2] = {0.f, 0.f}, z2[2] = {0.f, 0.f};
    for (int t0 = 0; t0 < nsamp; t0 += 32) {
        for (int c = wrp; c < 32; c += 4) {
            float v = 0.f;
            if (ch0 + c < nchan && t0 + lane < nsamp) v = in[(size_t)(ch0 + c) * nsamp + t0 + lane];
            tile[c][lane] = v;
        }
        __syncthreads();
        if (wrp == 0) {
            for (int t = 0; t < 32; ++t) {
                float v = tile[lane][t];
                for (int s = 0; s < 2; ++s) {
                    float y = b0 * v + z1[s];
                    z1[s] = b1 * v - a1 * y + z2[s];
                    z2[s] = b2 * v - a2 * y;
                    v = y;
                }
                tile[lane][t] = v;
            }
        }
        __syncthreads();
        for (int c = wrp; c < 32; c += 4)
            if (ch0 + c < nchan && t0 + lane < nsamp) out[(size_t)(ch0 + c) * nsamp + t0 + lane] = tile[c][lane];
        __syncthreads();
    }
}

// ---- Haar wavelet pyramid -----------------------------------------------------------------------
#define INV_SQRT_2 0.70710678118654752440f
__global__ void haar_levels(const float *id, float *od, float *approx_final, int dlevels)
{
    extern __shared__ float shared[];
    const int bdim = blockDim.x;
    const int tid = threadIdx.x;
    const int half_total = gridDim.x * bdim;           // detail coefficients of the first level
    const int bid = blockIdx.x;

    const float *src = id + (size_t)bid * bdim * 2;
    shared[tid] = src[tid];
    shared[tid + bdim] = src[tid + bdim];
    __syncthreads();

    int num = bdim;
    int level_off = half_total;
    float a = 0.f, d = 0.f;
    while (dlevels-- > 0 && num > 0) {
        if (tid < num) {
            float d0 = shared[2 * tid], d1 = shared[2 * tid + 1];
            a = (d0 + d1) * INV_SQRT_2;
            d = (d0 - d1) * INV_SQRT_2;
            od[level_off + bid * num + tid] = d;
        }
        __syncthreads();
        if (tid < num) shared[tid] = a;
        __syncthreads();
        num >>= 1;
        level_off >>= 1;
    }
    if (tid == 0) approx_final[bid] = shared[0];
}

// ---- rational resampler L/M ---------------------------------------------------------------------
__global__ void polyphase_resample(const float *__restrict__ x, const float *__restrict__ proto, float *__restrict__ y,
                                   int nin, int nout, int L, int M, int tapsPerPhase)
{
    extern __shared__ float sh[];
    float *coef = sh;                              // L * tapsPerPhase
    float *win = sh + L * tapsPerPhase;
    const int o0 = blockIdx.x * blockDim.x;
    const int firstIn = (int)((long long)o0 * M / L) - (tapsPerPhase - 1);
    const int lastIn = (int)((long long)(o0 + blockDim.x - 1) * M / L);
    for (int i = threadIdx.x; i < L * tapsPerPhase; i += blockDim.x) coef[i] = proto[(i % tapsPerPhase) * L + i / tapsPerPhase];
    for (int i = firstIn + threadIdx.x; i <= lastIn; i += blockDim.x) win[i - firstIn] = (i >= 0 && i < nin) ? x[i] : 0.f;
    __syncthreads();
    const int o = o0 + threadIdx.x;
    if (o >= nout) return;
    const long long pos = (long long)o * M;
    const int ph = (int)(pos % L);
    const int ctr = (int)(pos / L) - firstIn;
    float s = 0.f;
    for (int t = tapsPerPhase - 1; t >= 0; --t) s += coef[ph * tapsPerPhase + t] * win[ctr - t];
    y[o] = s;
}

// ---- autocorrelation + Levinson-Durbin ----------------------------------------------------------
#define FRAME 240
#define ORDER 12
__global__ void lpc_frames(const float *pcm, float *lpc, int nframes)
{
    __shared__ float w[FRAME];
    __shared__ float r[ORDER + 1];
    const int f = blockIdx.x;
    if (f >= nframes) return;
    for (int i = threadIdx.x; i < FRAME; i += blockDim.x)
        w[i] = pcm[(size_t)f * FRAME / 2 + i] * (0.54f - 0.46f * cosf(2.f * PI_F * i / (FRAME - 1)));
    __syncthreads();
    if (threadIdx.x <= ORDER) {
        int lag = threadIdx.x;
        float acc = lag == 0 ? 1e-3f : 0.f;
        for (int i = lag; i < FRAME; ++i) acc += w[i] * w[i - lag];
        r[lag] = acc;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    float a[ORDER + 1], err = r[0];
    a[0] = 1.f;
    for (int i = 1; i <= ORDER; ++i) {
        float k = -r[i];
        for (int j = 1; j < i; ++j) k -= a[j] * r[i - j];
        k /= err;
        a[i] = k;
        int lo = 1, hi = i - 1;
        while (lo < hi) {
            float tl = a[lo] + k * a[hi];
            a[hi] += k * a[lo];
            a[lo] = tl;
            lo++;
            hi--;
        }
        if (lo == hi) a[lo] += k * a[lo];
        err *= 1.f - k * k;
    }
    for (int i = 0; i <= ORDER; ++i) lpc[(size_t)f * (ORDER + 1) + i] = a[i];
}

int main(void)
{
    float taps[NTAPS];
    for (int i = 0; i < NTAPS; ++i) taps[i] = (float)((i * 37) % 19 - 9) / 64.f;
    cudaMemcpyToSymbol(h_taps, taps, sizeof taps);
    float m[64];
    for (int u = 0; u < 8; ++u)
        for (int k = 0; k < 8; ++k) m[u * 8 + k] = (float)(((u * (2 * k + 1)) % 32) - 15) / 31.f;
    cudaMemcpyToSymbol(dctm, m, sizeof m);

    const int LEN = 12345678;
    float *x = mk<float>(1 << 24), *y = mk<float>(1 << 24);
    fir_real_x4<<<(LEN + 511) / 512, FIR_THREADS>>>(x, y, LEN);
    show("fir_real_x4", y, (size_t)LEN * 4);

    cplx *z = (cplx *)mk<float>(1 << 24);
    fft_radix2_block<9><<<(1 << 23) / 512, 128>>>(z);
    show("fft_radix2_block", z, (size_t)(1 << 23) * 8);

    fwtBatchKernel<<<(1 << 24) >> 11, 512, 2048 * sizeof(float)>>>(y, x, 11);
    show("fwtBatchKernel", y, (size_t)(1 << 24) * 4);

    {
        int w = 3832, h = 4096;
        dct8x8_mat<<<dim3((w / 8 + 3) / 4, h / 8), dim3(8, 8, 4)>>>(x, y, w, h);
        show("dct8x8_mat", y, (size_t)w * h * 4);
    }
    {
        int ns = 1999, nc = 8003;
        iir_biquad_channels<<<(nc + 31) / 32, dim3(32, 4)>>>(x, y, ns, nc, 0.2f, 0.3f, 0.2f, -0.4f, 0.1f);
        show("iir_biquad_channels", y, (size_t)ns * nc * 4);
    }
    {
        float *ap = mk<float>(1 << 15);
        haar_levels<<<(1 << 24) / 512, 256, 512 * sizeof(float)>>>(x, y, ap, 9);
        show("haar_levels detail", y, (size_t)(1 << 24) * 4);
        show("haar_levels approx", ap, (size_t)(1 << 15) * 4);
    }
    {
        int L = 5, M = 3, T = 14, nin = 5000000, nout = 5000000 / 3 * 5;
        float *p = mk<float>(L * T);
        int B = 192;
        size_t sm = (L * T + B * M / L + 2 + T) * sizeof(float);
        polyphase_resample<<<(nout + B - 1) / B, B, sm>>>(x, p, y, nin, nout, L, M, T);
        show("polyphase_resample", y, (size_t)nout * 4);
    }
    {
        int nf = 100000;
        float *c = mk<float>((size_t)nf * (ORDER + 1));
        lpc_frames<<<nf, 64>>>(x, c, nf);
        show("lpc_frames", c, (size_t)nf * (ORDER + 1) * 4);
    }
    return 0;
}
