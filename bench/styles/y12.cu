/* gpu-dsp: block kernels for audio and radio */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cuda_runtime.h>

#define NTAPS 33
#define NT 256
__constant__ float firTaps[NTAPS];
__constant__ float decTaps[8];

#define gpuCheck() { cudaError_t e_ = cudaGetLastError(); if (e_ != cudaSuccess) { printf("cuda error: %s (%d)\n", cudaGetErrorString(e_), __LINE__); exit(-1); } }

/* causal FIR */
__global__ void fir33_causal(const float *x, float *y, int len)
{
    __shared__ float d[NT + NTAPS - 1];
    int tid = threadIdx.x;
    int n = blockIdx.x * NT + tid;

    if (n < len)
        d[tid + NTAPS - 1] = x[n];
    if (tid < NTAPS - 1) {
        int m = n - (NTAPS - 1);
        if (m >= 0)
            d[tid] = m < len ? x[m] : 0.0f;
        else
            d[tid] = 0.0f;
    }
    __syncthreads();

    if (n < len) {
        float s = 0.0f;
#pragma unroll
        for (int k = 0; k < NTAPS; k++)
            s += firTaps[k] * d[tid + NTAPS - 1 - k];
        y[n] = s;
    }
}

/* decimation by two, 8 taps */
__global__ void decimate2_8tap(const float *x, float *y, int outLen, int inLen)
{
    __shared__ float d[2 * NT + 6];
    int start = blockIdx.x * 2 * NT - 3;
    for (int i = threadIdx.x; i < 2 * NT + 6; i += NT) {
        int g = start + i;
        d[i] = (g >= 0 && g < inLen) ? x[g] : 0.0f;
    }
    __syncthreads();
    int o = blockIdx.x * NT + threadIdx.x;
    if (o < outLen) {
        float s = 0.0f;
        for (int k = 0; k < 8; k++)
            s += decTaps[k] * d[2 * threadIdx.x + k];
        y[o] = s;
    }
}

/* feed-forward comb: two taps far apart */
__global__ void comb_filter(const short *in, short *out, int n, int delay, float g)
{
    extern __shared__ short buf[];
    int base = blockIdx.x * blockDim.x - delay;
    for (int i = threadIdx.x; i < blockDim.x + delay; i += blockDim.x) {
        int p = base + i;
        buf[i] = (p < 0 || p >= n) ? 0 : in[p];
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = buf[threadIdx.x + delay] + g * buf[threadIdx.x];
        v = v > 32767.0f ? 32767.0f : (v < -32768.0f ? -32768.0f : v);
        out[i] = (short)v;
    }
}

/* 256-point FFTs, radix 2, decimation in time */
__global__ void fft256_radix2(const float2 *in, float2 *out)
{
    __shared__ float2 s[256];
    const float2 *src = in + (size_t)blockIdx.x * 256;
    float2 *dst = out + (size_t)blockIdx.x * 256;
    int t = threadIdx.x;
    s[__brev(t) >> 24] = src[t];
    s[__brev(t + 128) >> 24] = src[t + 128];
    __syncthreads();
    for (int half = 1; half < 256; half <<= 1) {
        int k = t & (half - 1);
        int i = ((t - k) << 1) + k;
        int j = i + half;
        float sn, cs;
        __sincosf(-3.14159265f * k / half, &sn, &cs);
        float2 a = s[i], b = s[j];
        float2 w = make_float2(b.x * cs - b.y * sn, b.x * sn + b.y * cs);
        s[i] = make_float2(a.x + w.x, a.y + w.y);
        s[j] = make_float2(a.x - w.x, a.y - w.y);
        __syncthreads();
    }
    dst[t] = s[t];
    dst[t + 128] = s[t + 128];
}

/* Walsh-Hadamard, 1024 points a block */
__global__ void wht1024(float *data)
{
    __shared__ float s[1024];
    float *p = data + (size_t)blockIdx.x * 1024;
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = p[i];
    __syncthreads();
    for (int h = 1; h < 1024; h *= 2) {
        for (int q = threadIdx.x; q < 512; q += blockDim.x) {
            int i = (q / h) * 2 * h + q % h;
            float a = s[i], b = s[i + h];
            s[i] = a + b;
            s[i + h] = a - b;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) p[i] = s[i] * 0.03125f;
}

/* CDF 5/3 lifting, one level; predict and update with mirrored ends */
__global__ void lift53_level(const int *x, int *low, int *high, int n)
{
    __shared__ int v[2 * 128 + 4];
    int half = n / 2;
    int first = blockIdx.x * 256 - 2;
    for (int i = threadIdx.x; i < 260; i += 128) {
        int g = first + i;
        if (g < 0) g = -g;
        if (g > n - 1) g = 2 * (n - 1) - g;
        v[i] = x[g < 0 ? 0 : g];
    }
    __syncthreads();
    int k = blockIdx.x * 128 + threadIdx.x;
    if (k < half) {
        int c = 2 * threadIdx.x + 2;
        int dPrev = v[c - 1] - ((v[c - 2] + v[c]) >> 1);
        int d = v[c + 1] - ((v[c] + v[c + 2]) >> 1);
        low[k] = v[c] + ((dPrev + d + 2) >> 2);
        high[k] = d;
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 20000000;
    float *h = (float *)malloc(n * sizeof(float));
    for (int i = 0; i < n; i++) h[i] = (float)((i * 37) % 1000) * 0.002f - 1.0f;
    float taps[NTAPS], dec[8] = {-0.01f, -0.03f, 0.1f, 0.44f, 0.44f, 0.1f, -0.03f, -0.01f};
    for (int k = 0; k < NTAPS; k++) taps[k] = (0.54f - 0.46f * cosf(6.2831853f * k / (NTAPS - 1))) / 18.0f;
    cudaMemcpyToSymbol(firTaps, taps, sizeof(taps));
    cudaMemcpyToSymbol(decTaps, dec, sizeof(dec));
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemcpy(x, h, n * sizeof(float), cudaMemcpyHostToDevice);

    fir33_causal<<<(n + NT - 1) / NT, NT>>>(x, y, n);
    gpuCheck();
    decimate2_8tap<<<(n / 2 + NT - 1) / NT, NT>>>(x, y, n / 2, n);
    gpuCheck();
    int samples = 2 * n - 1, delay = 441;
    comb_filter<<<(samples + 511) / 512, 512, (512 + delay) * sizeof(short)>>>((short *)x, (short *)y, samples, delay, 0.6f);
    gpuCheck();
    fft256_radix2<<<n / 2 / 256, 128>>>((float2 *)x, (float2 *)y);
    gpuCheck();
    wht1024<<<n / 1024, 256>>>(y);
    gpuCheck();
    lift53_level<<<(n / 2 + 127) / 128, 128>>>((int *)x, (int *)y, (int *)y + n / 2, n);
    gpuCheck();
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    cudaFree(x);
    cudaFree(y);
    free(h);
    return 0;
}
