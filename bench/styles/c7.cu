#include "shown.h"
#include <math.h>

//////////////////////////////////////////////////////////////////////////
// bitonic sort of key/value pairs in shared memory
//////////////////////////////////////////////////////////////////////////
#define SHARED_SIZE_LIMIT 1024U
typedef unsigned int uint;

__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir)
{
    uint t;
    if ((keyA > keyB) == dir) {
        t = keyA; keyA = keyB; keyB = t;
        t = valA; valA = valB; valB = t;
    }
}

__global__ void bitonicSortShared(uint *d_DstKey, uint *d_DstVal, uint *d_SrcKey, uint *d_SrcVal, uint arrayLength, uint dir)
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

//////////////////////////////////////////////////////////////////////////
const int TILE_DIM = 32;
const int BLOCK_ROWS = 8;
__global__ void transposeNoBankConflicts(float *odata, const float *idata, int width, int height)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width) odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

//////////////////////////////////////////////////////////////////////////
// fast Walsh transform, 2048 points a block
__global__ void fwtBatch(float *d_Output, const float *d_Input, int log2N)
{
    extern __shared__ float s_data[];
    const int N = 1 << log2N;
    const size_t base = (size_t)blockIdx.x << log2N;
    for (int pos = threadIdx.x; pos < N; pos += blockDim.x) s_data[pos] = d_Input[base + pos];
    for (int stride = N / 2; stride >= 1; stride >>= 1) {
        __syncthreads();
        for (int p = threadIdx.x; p < N / 2; p += blockDim.x) {
            int lo = p & (stride - 1);
            int i0 = ((p - lo) << 1) + lo;
            int i1 = i0 + stride;
            float a = s_data[i0], b = s_data[i1];
            s_data[i0] = a + b;
            s_data[i1] = a - b;
        }
    }
    __syncthreads();
    for (int pos = threadIdx.x; pos < N; pos += blockDim.x) d_Output[base + pos] = s_data[pos];
}

//////////////////////////////////////////////////////////////////////////
// Stockham radix 2 FFT, 1024 points
__device__ float2 cmul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__global__ void fft1024(const float2 *in, float2 *out, int sign)
{
    __shared__ float2 ping[1024], pong[1024];
    float2 *src = ping, *dst = pong;
    size_t base = (size_t)blockIdx.x * 1024;
    for (int i = threadIdx.x; i < 1024; i += 512) ping[i] = in[base + i];
    __syncthreads();
    int t = threadIdx.x;
    for (int ns = 1; ns < 1024; ns *= 2) {
        float ang = sign * 3.14159265f * (float)(t % ns) / (float)ns;
        float2 w;
        sincosf(ang, &w.y, &w.x);
        float2 u = src[t];
        float2 v = cmul(w, src[t + 512]);
        int j = (t / ns) * ns * 2 + (t % ns);
        dst[j] = make_float2(u.x + v.x, u.y + v.y);
        dst[j + ns] = make_float2(u.x - v.x, u.y - v.y);
        __syncthreads();
        float2 *tmp = src; src = dst; dst = tmp;
    }
    out[base + t] = src[t];
    out[base + t + 512] = src[t + 512];
}

//////////////////////////////////////////////////////////////////////////
// LSD radix sort inside of the block by 1-bit split
__global__ void radixSplitBlock(const uint *in, uint *out, int bits)
{
    __shared__ uint keys[256];
    __shared__ int sc[2][256];
    int t = threadIdx.x;
    uint k = in[blockIdx.x * 256 + t];
    k = (k * 2654435761u + (uint)t * 40503u) >> 20;
    for (int b = 0; b < bits; b++) {
        int e = !((k >> b) & 1);
        int p = 0;
        sc[0][t] = e;
        __syncthreads();
        for (int d = 1; d < 256; d *= 2) {
            int v = sc[p][t];
            if (t >= d) v += sc[p][t - d];
            p ^= 1;
            sc[p][t] = v;
            __syncthreads();
        }
        int zeros = sc[p][255];
        int rank = sc[p][t] - e;
        int dst = e ? rank : t - rank + zeros;
        keys[dst] = k;
        __syncthreads();
        k = keys[t];
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = k;
}

int main()
{
    const int n = 1 << 23;
    uint *k0 = mk<uint>(n), *v0 = mk<uint>(n), *k1, *v1;
    cudaMalloc((void **)&k1, n * sizeof(uint));
    cudaMalloc((void **)&v1, n * sizeof(uint));
    bitonicSortShared<<<n / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(k1, v1, k0, v0, SHARED_SIZE_LIMIT, 1);
    show("bitonicSortShared.k", k1, n * sizeof(uint));
    show("bitonicSortShared.v", v1, n * sizeof(uint));
    radixSplitBlock<<<n / 256, 256>>>(k0, k1, 12);
    show("radixSplitBlock", k1, n * sizeof(uint));

    float *fa = mk<float>(1 << 24), *fb;
    cudaMalloc((void **)&fb, sizeof(float) << 24);
    int w = 5000, h = 3300;
    transposeNoBankConflicts<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(TILE_DIM, BLOCK_ROWS)>>>(fb, fa, w, h);
    show("transposeNoBankConflicts", fb, sizeof(float) * w * h);
    fwtBatch<<<8192, 512, 2048 * sizeof(float)>>>(fb, fa, 11);
    show("fwtBatch", fb, sizeof(float) << 24);
    fft1024<<<8192, 512>>>((float2 *)fa, (float2 *)fb, -1);
    show("fft1024", fb, sizeof(float) << 24);
}
