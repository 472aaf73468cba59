// signal processing
#include "shown.h"
#include <cuda_fp16.h>

#define TAPS 63
__constant__ float taps[TAPS];

// FIR, valid samples only after zero history
__global__ void firFilter(const float *in, float *out, int len)
{
    __shared__ float win[512 + TAPS - 1];
    int start = blockIdx.x * blockDim.x;
    int n = start + threadIdx.x;
    if (threadIdx.x < TAPS - 1) {
        int h = start + threadIdx.x - (TAPS - 1);
        win[threadIdx.x] = (h >= 0) ? in[h] : 0.0f;
    }
    if (n < len) win[threadIdx.x + TAPS - 1] = in[n];
    else win[threadIdx.x + TAPS - 1] = 0.0f;
    __syncthreads();
    float acc = 0.0f;
    for (int k = 0; k < TAPS; k++) acc += taps[k] * win[threadIdx.x + TAPS - 1 - k];
    if (n < len) out[n] = acc;
}

// multi-level Haar decomposition of 1024 samples per block
__global__ void haar1024(const float *x, float *coef)
{
    __shared__ float s[1024];
    const int t = threadIdx.x;
    const size_t o = (size_t)blockIdx.x << 10;
    s[t] = x[o + t];
    s[t + 512] = x[o + t + 512];
    __syncthreads();
    for (int half = 512; half > 0; half >>= 1) {
        float lo = 0, hi = 0;
        if (t < half) {
            lo = (s[2 * t] + s[2 * t + 1]) * 0.70710678f;
            hi = (s[2 * t] - s[2 * t + 1]) * 0.70710678f;
        }
        __syncthreads();
        if (t < half) {
            s[t] = lo;
            coef[o + half + t] = hi;
        }
        __syncthreads();
    }
    if (t == 0) coef[o] = s[0];
}

// biquad per channel: 32 channels x 32 samples tiles staged (coalesced), then the recurrence
__global__ void biquadChannels(const float *x, float *y, int samples, float b0, float b1, float b2, float a1, float a2)
{
    __shared__ float buf[32][33];
    int ch0 = blockIdx.x * 32;
    int lane = threadIdx.x;
    float z1 = 0.f, z2 = 0.f;
    for (int s0 = 0; s0 < samples; s0 += 32) {
        for (int r = threadIdx.y; r < 32; r += blockDim.y) buf[r][lane] = x[(size_t)(ch0 + r) * samples + s0 + lane];
        __syncthreads();
        if (threadIdx.y == 0) {
            for (int k = 0; k < 32; k++) {
                float v = buf[lane][k];
                float o = b0 * v + z1;
                z1 = b1 * v - a1 * o + z2;
                z2 = b2 * v - a2 * o;
                buf[lane][k] = o;
            }
        }
        __syncthreads();
        for (int r = threadIdx.y; r < 32; r += blockDim.y) y[(size_t)(ch0 + r) * samples + s0 + lane] = buf[r][lane];
        __syncthreads();
    }
}

// autocorrelation: block (lag, segment)
__global__ void autocorr(const float *__restrict__ sig, float *__restrict__ r, int seg)
{
    __shared__ double acc[128];
    int lag = blockIdx.x;
    const float *p = sig + (size_t)blockIdx.y * seg;
    double a = 0;
    for (int i = threadIdx.x; i + lag < seg; i += 128) a += (double)p[i] * p[i + lag];
    acc[threadIdx.x] = a;
    for (int step = 1; step < 128; step <<= 1) {
        __syncthreads();
        if ((threadIdx.x & (2 * step - 1)) == 0) acc[threadIdx.x] += acc[threadIdx.x + step];
    }
    if (threadIdx.x == 0) r[blockIdx.y * gridDim.x + lag] = (float)acc[0];
}

// running median, window kept sorted in a private array
#define MW 15
__global__ void runningMedian(const float *in, float *out, int channels, int samples)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float sorted[MW], hist[MW];
    for (int i = 0; i < MW; i++) sorted[i] = hist[i] = 0.f;
    int pos = 0;
    for (int s = 0; s < samples; s++) {
        float v = in[(size_t)s * channels + c];
        float old = hist[pos];
        hist[pos] = v;
        pos = (pos + 1) % MW;
        int i = 0;
        while (i < MW - 1 && sorted[i] != old) i++;
        while (i < MW - 1 && sorted[i + 1] < v) { sorted[i] = sorted[i + 1]; i++; }
        while (i > 0 && sorted[i - 1] > v) { sorted[i] = sorted[i - 1]; i--; }
        sorted[i] = v;
        out[(size_t)s * channels + c] = sorted[MW / 2];
    }
}

// half precision 5x5 Gaussian
__global__ void toHalf(const float *f, __half *h, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) h[i] = __float2half(f[i]);
}
__global__ void gauss5_half(const __half *src, __half *dst, int w, int h)
{
    constexpr int B = 16, R = 2, P = B + 2 * R;
    __shared__ __half t[P][P + 2];
    const float g[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    for (int j = threadIdx.y; j < P; j += B)
        for (int i = threadIdx.x; i < P; i += B) {
            int x = (int)blockIdx.x * B + i - R, y = (int)blockIdx.y * B + j - R;
            // mirror
            x = x < 0 ? -x : x; x = x >= w ? 2 * w - 2 - x : x;
            y = y < 0 ? -y : y; y = y >= h ? 2 * h - 2 - y : y;
            x = x < 0 ? 0 : x; y = y < 0 ? 0 : y;
            t[j][i] = src[y * w + x];
        }
    __syncthreads();
    int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
    if (x < w && y < h) {
        float a = 0.f;
#pragma unroll
        for (int j = 0; j < 5; j++)
#pragma unroll
            for (int i = 0; i < 5; i++) a += g[j] * g[i] * __half2float(t[threadIdx.y + j][threadIdx.x + i]);
        dst[y * w + x] = __float2half(a);
    }
}

int main()
{
    float h[TAPS];
    for (int i = 0; i < TAPS; i++) h[i] = 1.f / (3 + abs(i - TAPS / 2));
    cudaMemcpyToSymbol(taps, h, sizeof(h));
    const int n = 1 << 24;
    float *x = mk<float>(n), *y;
    cudaMalloc(&y, n * sizeof(float));
    firFilter<<<(n - 300 + 511) / 512, 512>>>(x, y, n - 300);
    show("firFilter", y, (n - 300) * sizeof(float));
    haar1024<<<n / 1024, 512>>>(x, y);
    show("haar1024", y, n * sizeof(float));
    biquadChannels<<<4096 / 32, dim3(32, 8)>>>(x, y, 1024, 0.2f, 0.3f, 0.2f, -0.4f, 0.1f);
    show("biquadChannels", y, 4096 * 1024 * sizeof(float));
    autocorr<<<dim3(64, 128), 128>>>(x, y, 20000);
    show("autocorr", y, 64 * 128 * sizeof(float));
    runningMedian<<<(65000 + 127) / 128, 128>>>(x, y, 65000, 64);
    show("runningMedian", y, 65000 * 64 * sizeof(float));
    __half *ha = (__half *)y, *hb = ha + n;
    toHalf<<<n / 256, 256>>>(x, ha, n);
    show("toHalf", ha, n * sizeof(__half));
    gauss5_half<<<dim3((4090 + 15) / 16, (4095 + 15) / 16), dim3(16, 16)>>>(ha, hb, 4090, 4095);
    show("gauss5_half", hb, 4090 * 4095 * sizeof(__half));
    return 0;
}
