// Sorting networks and butterflies in shared memory: bitonic, odd-even, FFT, Walsh-Hadamard, Haar wavelet
#include "shown.h"

#define SHARED_SIZE_LIMIT 1024U

typedef unsigned int uint;

__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir)
{
    uint t;
    if ((keyA > keyB) == dir)
    {
        t = keyA; keyA = keyB; keyB = t;
        t = valA; valA = valB; valB = t;
    }
}

// CUDA sample flavour
__global__ void bitonicSortShared(uint *d_DstKey, uint *d_DstVal, const uint *d_SrcKey, const uint *d_SrcVal,
                                  uint arrayLength, uint dir)
{
    // Shared memory storage for one or more short vectors
    __shared__ uint s_key[SHARED_SIZE_LIMIT];
    __shared__ uint s_val[SHARED_SIZE_LIMIT];

    // Offset to the beginning of subbatch and load data
    d_SrcKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    d_SrcVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    d_DstKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    d_DstVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    s_key[threadIdx.x + 0] = d_SrcKey[0];
    s_val[threadIdx.x + 0] = d_SrcVal[0];
    s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcKey[(SHARED_SIZE_LIMIT / 2)];
    s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcVal[(SHARED_SIZE_LIMIT / 2)];

    for (uint size = 2; size < arrayLength; size <<= 1)
    {
        // Bitonic merge
        uint ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
        for (uint stride = size / 2; stride > 0; stride >>= 1)
        {
            __syncthreads();
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride], s_val[pos + stride], ddd);
        }
    }
    // ddd == dir for the last bitonic merge step
    for (uint stride = arrayLength / 2; stride > 0; stride >>= 1)
    {
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

// homework odd-even transposition sort, one element per thread
__global__ void oddEvenSort(const float *in, float *out)
{
    __shared__ float a[128];
    int tid = threadIdx.x;
    int gid = blockIdx.x * blockDim.x + tid;
    a[tid] = in[gid] + 0.01f * (float)((tid * 53) % 128);
    __syncthreads();
    for (int phase = 0; phase < 128; phase++) {
        if ((tid & 1) == (phase & 1) && tid + 1 < 128) {
            if (a[tid] > a[tid + 1]) {
                float tmp = a[tid];
                a[tid] = a[tid + 1];
                a[tid + 1] = tmp;
            }
        }
        __syncthreads();
    }
    out[gid] = a[tid];
}

// radix-2 Stockham FFT of 512 points, block of 256
__global__ void fft512(const float2 *src, float2 *dst, int sign)
{
    const int N = 512;
    __shared__ float re[N];
    __shared__ float im[N];
    int t = threadIdx.x;
    const float2 *x = src + (size_t)blockIdx.x * N;
    float2 *y = dst + (size_t)blockIdx.x * N;

    re[t] = x[t].x;             im[t] = x[t].y;
    re[t + N / 2] = x[t + N / 2].x;  im[t + N / 2] = x[t + N / 2].y;
    __syncthreads();

    for (int ns = 1; ns < N; ns *= 2) {
        float ar = re[t], ai = im[t];
        float br = re[t + N / 2], bi = im[t + N / 2];
        float ang = sign * 3.14159265358979f * (float)(t % ns) / (float)ns;
        float s, c;
        sincosf(ang, &s, &c);
        float tr = br * c - bi * s;
        float ti = br * s + bi * c;
        __syncthreads();
        int o = (t / ns) * ns * 2 + (t % ns);
        re[o] = ar + tr;       im[o] = ai + ti;
        re[o + ns] = ar - tr;  im[o + ns] = ai - ti;
        __syncthreads();
    }
    y[t] = make_float2(re[t], im[t]);
    y[t + N / 2] = make_float2(re[t + N / 2], im[t + N / 2]);
}

// Walsh-Hadamard, 2048 elements, 512 threads
__global__ void fwht2048(float *data)
{
    extern __shared__ float s_data[];
    const int N = 2048;
    float *d = data + (size_t)blockIdx.x * N;
    for (int pos = threadIdx.x; pos < N; pos += blockDim.x)
        s_data[pos] = d[pos];

    for (int stride = N / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        for (int pos = threadIdx.x; pos < N / 2; pos += blockDim.x) {
            int lo = pos & (stride - 1);
            int i0 = ((pos - lo) << 1) + lo;
            int i1 = i0 + stride;
            float T0 = s_data[i0];
            float T1 = s_data[i1];
            s_data[i0] = T0 + T1;
            s_data[i1] = T0 - T1;
        }
    }
    __syncthreads();
    for (int pos = threadIdx.x; pos < N; pos += blockDim.x)
        d[pos] = s_data[pos] / (float)N;
}

// Haar DWT, all levels of a 1024 sample signal
#define INV_SQRT2 0.70710678118654752440f
__global__ void dwtHaar1D_block(const float *id, float *od)
{
    __shared__ float approx[1024];
    const unsigned tid = threadIdx.x;
    const float *sig = id + (size_t)blockIdx.x * 1024;
    float *res = od + (size_t)blockIdx.x * 1024;

    approx[tid] = sig[tid];
    approx[tid + 512] = sig[tid + 512];
    __syncthreads();

    for (unsigned num = 512; num >= 1; num >>= 1) {
        float a = 0.f, d = 0.f;
        if (tid < num) {
            float p = approx[2 * tid], q = approx[2 * tid + 1];
            a = (p + q) * INV_SQRT2;
            d = (p - q) * INV_SQRT2;
        }
        __syncthreads();
        if (tid < num) {
            approx[tid] = a;
            res[num + tid] = d;
        }
        __syncthreads();
    }
    if (tid == 0)
        res[0] = approx[0];
}

int main()
{
    {
        uint n = 1u << 23;
        uint *k = mk<uint>(n), *v = mk<uint>(n), *ok = mk<uint>(n), *ov = mk<uint>(n);
        bitonicSortShared<<<n / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(ok, ov, k, v, SHARED_SIZE_LIMIT, 1);
        show("bitonicSortShared", ok, n * sizeof(uint));
    }
    {
        int n = 1 << 22;
        float *a = mk<float>(n), *b = mk<float>(n);
        oddEvenSort<<<n / 128, 128>>>(a, b);
        show("oddEvenSort", b, n * sizeof(float));
    }
    {
        int batch = 16384;
        float2 *a = (float2 *)mk<float>((size_t)batch * 1024), *b = (float2 *)mk<float>((size_t)batch * 1024);
        fft512<<<batch, 256>>>(a, b, -1);
        show("fft512", b, (size_t)batch * 512 * sizeof(float2));
    }
    {
        int n = 1 << 24;
        float *a = mk<float>(n), *b = mk<float>(n);
        dwtHaar1D_block<<<n / 1024, 512>>>(a, b);
        show("dwtHaar1D_block", b, n * sizeof(float));
        fwht2048<<<n / 2048, 512, 2048 * sizeof(float)>>>(a);
        show("fwht2048", a, n * sizeof(float));
    }
    return 0;
}
