// signal processing
#include "shown.h"
#include <cmath>

#define NTAPS 63
__constant__ float taps[NTAPS];

// y[i] = sum_k h[k] x[i-k], zero history
__global__ void fir_filter_tile(const float *__restrict__ x, float *__restrict__ y, int n)
{
    extern __shared__ float sx[];
    int base = blockIdx.x * blockDim.x;
    for (int i = threadIdx.x; i < (int)blockDim.x + NTAPS - 1; i += blockDim.x) {
        int g = base + i - (NTAPS - 1);
        sx[i] = (g >= 0 && g < n) ? x[g] : 0.0f;
    }
    __syncthreads();
    int gid = base + threadIdx.x;
    if (gid < n) {
        float acc = 0.0f;
#pragma unroll
        for (int k = 0; k < NTAPS; k++) acc += taps[k] * sx[threadIdx.x + NTAPS - 1 - k];
        y[gid] = acc;
    }
}

// ------------------------------------------------------------------
struct Biquad {
    float b0, b1, b2, a1, a2;
    float z1, z2;
    __device__ void reset() { z1 = z2 = 0.0f; }
    __device__ float step(float in)
    {
        float out = b0 * in + z1;
        z1 = b1 * in - a1 * out + z2;
        z2 = b2 * in - a2 * out;
        return out;
    }
};

template <int CH, int LEN>
__global__ void iir_biquad_bank(const float *in, float *out, const float *coef, int samples)
{
    __shared__ float tile[CH][LEN + 1];
    int first = blockIdx.x * CH;
    Biquad q;
    q.b0 = coef[0]; q.b1 = coef[1]; q.b2 = coef[2]; q.a1 = coef[3]; q.a2 = coef[4];
    q.reset();
    for (int s0 = 0; s0 < samples; s0 += LEN) {
        for (int i = threadIdx.x; i < CH * LEN; i += CH)
            tile[i / LEN][i % LEN] = in[(size_t)(first + i / LEN) * samples + s0 + i % LEN];
        __syncthreads();
        for (int k = 0; k < LEN; ++k)
            tile[threadIdx.x][k] = q.step(tile[threadIdx.x][k]);
        __syncthreads();
        for (int i = threadIdx.x; i < CH * LEN; i += CH)
            out[(size_t)(first + i / LEN) * samples + s0 + i % LEN] = tile[i / LEN][i % LEN];
        __syncthreads();
    }
}

// ------------------------------------------------------------------
#define FRAME 480
#define LAGS 64
// LPC analysis: short time autocorrelation with a window
__global__ void autocorrelation_frames(const short *pcm, const float *window, float *acf, int hop)
{
    __shared__ float frame[FRAME + LAGS];
    const short *p = pcm + (size_t)blockIdx.x * hop;
    for (int i = threadIdx.x; i < FRAME; i += LAGS)
        frame[i] = p[i] * window[i];
    frame[FRAME + threadIdx.x] = 0.0f;
    __syncthreads();
    int lag = threadIdx.x;
    float s = 0.0f;
    for (int i = 0; i < FRAME; i++)
        s += frame[i] * frame[i + lag];
    acf[blockIdx.x * LAGS + lag] = s;
}

// ------------------------------------------------------------------
#define FFT_N 256
__global__ void fft256_stockham(const float2 *in, float2 *out)
{
    __shared__ float2 buf[2][FFT_N];
    int t = threadIdx.x;                 // FFT_N / 2 threads
    const float2 *src = in + (size_t)blockIdx.x * FFT_N;
    float2 *dst = out + (size_t)blockIdx.x * FFT_N;
    buf[0][t] = src[t];
    buf[0][t + FFT_N / 2] = src[t + FFT_N / 2];
    __syncthreads();
    int cur = 0;
    for (int m = 1; m < FFT_N; m <<= 1) {
        int k = t & (m - 1);
        float2 a = buf[cur][t];
        float2 b = buf[cur][t + FFT_N / 2];
        float sn, cs;
        sincospif(-(float)k / (float)m, &sn, &cs);
        float2 w;
        w.x = b.x * cs - b.y * sn;
        w.y = b.x * sn + b.y * cs;
        int j = ((t - k) << 1) + k;
        buf[1 - cur][j] = make_float2(a.x + w.x, a.y + w.y);
        buf[1 - cur][j + m] = make_float2(a.x - w.x, a.y - w.y);
        cur = 1 - cur;
        __syncthreads();
    }
    dst[t] = buf[cur][t];
    dst[t + FFT_N / 2] = buf[cur][t + FFT_N / 2];
}

// ------------------------------------------------------------------
#define BLOCK_SIZE 8
__constant__ float DCTv8matrix[BLOCK_SIZE * BLOCK_SIZE];
__global__ void forward_dct8x8(float *Dst, const float *Src, int ImgWidth)
{
    __shared__ float CurBlockLocal1[BLOCK_SIZE * BLOCK_SIZE];
    __shared__ float CurBlockLocal2[BLOCK_SIZE * BLOCK_SIZE];
    const int bx = blockIdx.x, by = blockIdx.y;
    const int tx = threadIdx.x, ty = threadIdx.y;
    int gidx = (by * BLOCK_SIZE + ty) * ImgWidth + bx * BLOCK_SIZE + tx;
    CurBlockLocal1[(ty << 3) + tx] = Src[gidx] - 128.0f;
    __syncthreads();

    // C^T * A
    float curelem = 0;
    int DCTv8matrixIndex = 0 * BLOCK_SIZE + ty;
    int CurBlockLocal1Index = 0 * BLOCK_SIZE + tx;
#pragma unroll
    for (int i = 0; i < BLOCK_SIZE; i++) {
        curelem += DCTv8matrix[DCTv8matrixIndex] * CurBlockLocal1[CurBlockLocal1Index];
        DCTv8matrixIndex += BLOCK_SIZE;
        CurBlockLocal1Index += BLOCK_SIZE;
    }
    CurBlockLocal2[(ty << 3) + tx] = curelem;
    __syncthreads();

    // (C^T * A) * C
    curelem = 0;
    int CurBlockLocal2Index = (ty << 3) + 0;
    DCTv8matrixIndex = 0 * BLOCK_SIZE + tx;
#pragma unroll
    for (int i = 0; i < BLOCK_SIZE; i++) {
        curelem += CurBlockLocal2[CurBlockLocal2Index] * DCTv8matrix[DCTv8matrixIndex];
        CurBlockLocal2Index += 1;
        DCTv8matrixIndex += BLOCK_SIZE;
    }
    __syncthreads();
    CurBlockLocal1[(ty << 3) + tx] = curelem;
    __syncthreads();
    Dst[gidx] = CurBlockLocal1[(ty << 3) + tx];
}

// ------------------------------------------------------------------
// short time energy and zero crossings of overlapping frames
__global__ void frame_energy_zcr(const float *x, float *energy, int *zcr, int frameLen, int hop, float dc)
{
    __shared__ float e[256];
    __shared__ int z[256];
    const float *p = x + (size_t)blockIdx.x * hop;
    float es = 0.f;
    int zs = 0;
    int i = threadIdx.x;
    while (i < frameLen) {
        float a = p[i] - dc;
        es += a * a;
        if (i > 0) {
            float b = p[i - 1] - dc;
            zs += (a >= 0.f) != (b >= 0.f);
        }
        i += 256;
    }
    e[threadIdx.x] = es;
    z[threadIdx.x] = zs;
    __syncthreads();
    if (threadIdx.x < 128) { e[threadIdx.x] += e[threadIdx.x + 128]; z[threadIdx.x] += z[threadIdx.x + 128]; }
    __syncthreads();
    if (threadIdx.x < 64) { e[threadIdx.x] += e[threadIdx.x + 64]; z[threadIdx.x] += z[threadIdx.x + 64]; }
    __syncthreads();
    i = 32;
    while (i != 0) {
        if (threadIdx.x < i) {
            e[threadIdx.x] += e[threadIdx.x + i];
            z[threadIdx.x] += z[threadIdx.x + i];
        }
        __syncthreads();
        i /= 2;
    }
    if (threadIdx.x == 0) {
        energy[blockIdx.x] = e[0] / frameLen;
        zcr[blockIdx.x] = z[0];
    }
}

// ------------------------------------------------------------------
// every block decomposes 2*blockDim.x samples down to a single approximation coefficient
__global__ void haar_dwt_1d(const float *id, float *od)
{
    extern __shared__ float approx[];
    const float INV_SQRT_2 = 0.70710678118654752440f;
    unsigned tid = threadIdx.x, bdim = blockDim.x;
    size_t base = (size_t)blockIdx.x * 2 * bdim;
    approx[tid] = id[base + tid];
    approx[tid + bdim] = id[base + tid + bdim];
    __syncthreads();
    for (unsigned active = bdim; active > 0; active >>= 1) {
        float d0 = 0.f, d1 = 0.f;
        if (tid < active) {
            d0 = approx[2 * tid];
            d1 = approx[2 * tid + 1];
        }
        __syncthreads();
        if (tid < active) {
            od[base + active + tid] = (d0 - d1) * INV_SQRT_2;
            approx[tid] = (d0 + d1) * INV_SQRT_2;
        }
        __syncthreads();
    }
    if (tid == 0) od[base] = approx[0];
}

// ------------------------------------------------------------------
// circular smoothing of angular profiles: every row is a closed ring of samples
constexpr int RING_R = 8;
constexpr int RING_B = 128;
__global__ void circular_smooth_rows(const double *in, double *out, int ring)
{
    __shared__ double s[RING_B + 2 * RING_R];
    const double *row = in + (size_t)blockIdx.y * ring;
    int x = blockIdx.x * RING_B + threadIdx.x;
    int l = threadIdx.x + RING_R;
    s[l] = row[x % ring];
    if (threadIdx.x < RING_R) {
        s[l - RING_R] = row[(x - RING_R + ring) % ring];
        s[l + RING_B] = row[(x + RING_B) % ring];
    }
    __syncthreads();
    if (x < ring) {
        double acc = 0.0;
        for (int k = -RING_R; k <= RING_R; k++) acc += s[l + k] * (RING_R + 1 - abs(k));
        out[(size_t)blockIdx.y * ring + x] = acc / ((RING_R + 1) * (RING_R + 1));
    }
}

int main()
{
    int n = 16000001;
    float *x = mk<float>(20000000), *y = mk<float>(20000000);
    float h[NTAPS];
    for (int i = 0; i < NTAPS; i++) h[i] = (i % 7 - 3) / 16.f;
    cudaMemcpyToSymbol(taps, h, sizeof(h));
    fir_filter_tile<<<(n + 255) / 256, 256, (256 + NTAPS - 1) * sizeof(float)>>>(x, y, n);
    show("fir_filter_tile", y, (size_t)n * 4);

    float hc[5] = {0.2f, 0.4f, 0.2f, -0.35f, 0.15f}, *coef;
    cudaMalloc(&coef, sizeof(hc));
    cudaMemcpy(coef, hc, sizeof(hc), cudaMemcpyHostToDevice);
    int channels = 16384, samples = 768;
    iir_biquad_bank<64, 32><<<channels / 64, 64>>>(x, y, coef, samples);
    show("iir_biquad_bank", y, (size_t)channels * samples * 4);

    int frames = 20000, hop = 160;
    short *pcm = mk<short>((size_t)frames * hop + FRAME);
    float *window = mk<float>(FRAME), *acf = mk<float>((size_t)frames * LAGS);
    autocorrelation_frames<<<frames, LAGS>>>(pcm, window, acf, hop);
    show("autocorrelation_frames", acf, (size_t)frames * LAGS * 4);

    int ffts = 30000;
    fft256_stockham<<<ffts, FFT_N / 2>>>((const float2 *)x, (float2 *)y);
    show("fft256_stockham", y, (size_t)ffts * FFT_N * 8);

    float C[64];
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 8; i++)
            C[i * 8 + k] = (float)((k ? 0.5 : 0.35355339059327373) * cos((2 * i + 1) * k * 3.14159265358979 / 16));
    cudaMemcpyToSymbol(DCTv8matrix, C, sizeof(C));
    int W = 3840, H = 2160;
    forward_dct8x8<<<dim3(W / 8, H / 8), dim3(8, 8)>>>(y, x, W);
    show("forward_dct8x8", y, (size_t)W * H * 4);

    int fr = 30000;
    float *en = mk<float>(fr);
    int *zc = mk<int>(fr);
    frame_energy_zcr<<<fr, 256>>>(x, en, zc, 1000, 500, 6.2f);
    show("frame_energy_zcr energy", en, fr * 4);
    show("frame_energy_zcr zcr", zc, fr * 4);

    haar_dwt_1d<<<16384, 512, 1024 * sizeof(float)>>>(x, y);
    show("haar_dwt_1d", y, (size_t)16384 * 1024 * 4);

    int ring = 1440, rows = 6000;
    double *dx = mk<double>((size_t)ring * rows), *dy = mk<double>((size_t)ring * rows);
    circular_smooth_rows<<<dim3((ring + RING_B - 1) / RING_B, rows), RING_B>>>(dx, dy, ring);
    show("circular_smooth_rows", dy, (size_t)ring * rows * 8);
    return 0;
}
