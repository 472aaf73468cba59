// Sorting networks and data movement within a block.
#include <cmath>
#include <cuda_fp16.h>
#include "shown.h"

// 1. bitonic, one key a thread, partner by xor
template <typename Key, int COUNT>
__global__ void bitonicXor(Key *keys)
{
    __shared__ Key s[COUNT];
    const unsigned t = threadIdx.x;
    Key *g = keys + (size_t)COUNT * blockIdx.x;
    s[t] = g[t];
    __syncthreads();
    for (unsigned k = 2; k <= COUNT; k <<= 1) {
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            unsigned p = t ^ j;
            if (p > t) {
                Key a = s[t], b = s[p];
                if ((t & k) == 0) {
                    if (a > b) { s[t] = b; s[p] = a; }
                } else {
                    if (a < b) { s[t] = b; s[p] = a; }
                }
            }
            __syncthreads();
        }
    }
    g[t] = s[t];
}

// 2. bitonic with payload, a thread handles one comparator; ascending or descending by run-time flag
__device__ inline void comparator(unsigned &ka, unsigned &va, unsigned &kb, unsigned &vb, unsigned dir)
{
    if ((ka > kb || (ka == kb && va > vb)) == dir) {
        unsigned t;
        t = ka; ka = kb; kb = t;
        t = va; va = vb; vb = t;
    }
}
__global__ void bitonicPairs(unsigned *dKey, unsigned *dVal, unsigned arrayLength, unsigned dir)
{
    extern __shared__ unsigned mem[];
    unsigned *sk = mem, *sv = mem + arrayLength;
    dKey += blockIdx.x * arrayLength;
    dVal += blockIdx.x * arrayLength;
    const unsigned half = arrayLength / 2;
    sk[threadIdx.x] = dKey[threadIdx.x] * 40503u % 65521u;
    sv[threadIdx.x] = threadIdx.x;
    sk[threadIdx.x + half] = dKey[threadIdx.x + half] * 40503u % 65521u;
    sv[threadIdx.x + half] = threadIdx.x + half;
    for (unsigned size = 2; size < arrayLength; size <<= 1) {
        unsigned ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            comparator(sk[pos], sv[pos], sk[pos + stride], sv[pos + stride], ddd);
        }
    }
    for (unsigned stride = half; stride > 0; stride >>= 1) {
        __syncthreads();
        unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        comparator(sk[pos], sv[pos], sk[pos + stride], sv[pos + stride], dir);
    }
    __syncthreads();
    for (unsigned k = threadIdx.x; k < arrayLength; k += half) {
        dKey[k] = sk[k];
        dVal[k] = sv[k];
    }
}

// 3. odd-even transposition of short lists, odd lengths welcome
#define LISTMAX 160
__global__ void brick_sort(float *lists, const int len, const int pitch)
{
    __shared__ float v[LISTMAX];
    float *l = lists + blockIdx.x * pitch;
    int i;
    for (i = threadIdx.x; i < len; i += blockDim.x) v[i] = l[i] + 0.001f * ((i * 37) % len);
    __syncthreads();
    for (int phase = 0; phase < len; ++phase) {
        i = 2 * threadIdx.x + (phase & 1);
        if (i + 1 < len) {
            float a = v[i], b = v[i + 1];
            v[i] = fminf(a, b);
            v[i + 1] = fmaxf(a, b);
        }
        __syncthreads();
    }
    for (i = threadIdx.x; i < len; i += blockDim.x) l[i] = v[i];
}

// 4. Batcher's odd-even merge sort, 16-bit values hashed at loading
template <int N>
struct OddEvenMerge {
    static __device__ __forceinline__ void sort(unsigned short *w)
    {
        for (int p = 1; p < N; p += p)
            for (int k = p; k >= 1; k /= 2) {
                for (int j = threadIdx.x; j < N - k; j += blockDim.x) {
                    bool starts = j >= (k % p) && ((j - k % p) / k) % 2 == 0;
                    if (starts && j / (2 * p) == (j + k) / (2 * p)) {
                        unsigned short lo = w[j], hi = w[j + k];
                        if (hi < lo) { w[j] = hi; w[j + k] = lo; }
                    }
                }
                __syncthreads();
            }
    }
};
__global__ void oddEvenMergeSort512(unsigned short *a)
{
    __shared__ unsigned short w[512];
    unsigned short *mine = a + 512u * blockIdx.x;
    for (int j = threadIdx.x; j < 512; j += 128) w[j] = (unsigned short)(mine[j] * 4099 + j * 31);
    __syncthreads();
    OddEvenMerge<512>::sort(w);
    for (int j = threadIdx.x; j < 512; j += 128) mine[j] = w[j];
}

// 5. rotation of byte records by three reversals in place
__device__ void reverseSpan(char *s, int lo, int hi)   // [lo, hi)
{
    int pairs = (hi - lo) / 2;
    for (int q = threadIdx.x; q < pairs; q += blockDim.x) {
        char t = s[lo + q];
        s[lo + q] = s[hi - 1 - q];
        s[hi - 1 - q] = t;
    }
    __syncthreads();
}
__global__ void rotate_records(const char *in, char *out, int reclen, const int *shift)
{
    extern __shared__ char rec[];
    const size_t at = (size_t)blockIdx.x * reclen;
    for (int q = threadIdx.x; q < reclen; q += blockDim.x) rec[q] = in[at + q] + (q & 15);
    __syncthreads();
    int k = (shift[blockIdx.x] * 61 + 5) % reclen;
    reverseSpan(rec, 0, k);
    reverseSpan(rec, k, reclen);
    reverseSpan(rec, 0, reclen);
    for (int q = threadIdx.x; q < reclen; q += blockDim.x) out[at + q] = rec[q];
}

// 6. transpose of square tiles of half2, 32 x 8 threads, swap of halves at the same time
constexpr int TD = 32, TR = 8;
__global__ void transposeHalf2(const half2 *__restrict__ A, half2 *__restrict__ B, int W, int H)
{
    __shared__ half2 t[TD][TD + 1];
    int x = blockIdx.x * TD + threadIdx.x;
    int y = blockIdx.y * TD + threadIdx.y;
    for (int r = 0; r < TD; r += TR)
        if (x < W && y + r < H) t[threadIdx.y + r][threadIdx.x] = A[(size_t)(y + r) * W + x];
    __syncthreads();
    x = blockIdx.y * TD + threadIdx.x;
    y = blockIdx.x * TD + threadIdx.y;
    for (int r = 0; r < TD; r += TR)
        if (x < H && y + r < W) B[(size_t)(y + r) * H + x] = __lowhigh2highlow(t[threadIdx.x][threadIdx.y + r]);
}

// 7. Walsh-Hadamard, radix-4 steps and a radix-2 step when the log is odd
__global__ void fwht_rows(float *data, int log2n)
{
    extern __shared__ float sd[];
    const int n = 1 << log2n;
    float *row = data + ((size_t)blockIdx.x << log2n);
    for (int i = threadIdx.x; i < n; i += blockDim.x) sd[i] = row[i];
    int stride = n >> 2;
    for (; stride >= 1; stride >>= 2) {
        __syncthreads();
        for (int q = threadIdx.x; q < n / 4; q += blockDim.x) {
            int lo = q & (stride - 1);
            int i0 = ((q - lo) << 2) + lo;
            int i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
            float d0 = sd[i0], d1 = sd[i1], d2 = sd[i2], d3 = sd[i3], t;
            t = d0; d0 = d0 + d2; d2 = t - d2;
            t = d1; d1 = d1 + d3; d3 = t - d3;
            t = d0; sd[i0] = d0 + d1; sd[i1] = t - d1;
            t = d2; sd[i2] = d2 + d3; sd[i3] = t - d3;
        }
    }
    if (log2n & 1) {
        __syncthreads();
        for (int q = threadIdx.x; q < n / 2; q += blockDim.x) {
            float a = sd[2 * q], b = sd[2 * q + 1];
            sd[2 * q] = a + b;
            sd[2 * q + 1] = a - b;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] = sd[i] / n;
}

// 8. FFT of 512 points, bit-reversed loading, table of twiddles in shared memory too
struct cplx {
    float re, im;
    __device__ cplx() {}
    __device__ cplx(float r, float i) : re(r), im(i) {}
};
__device__ cplx operator+(cplx a, cplx b) { return cplx(a.re + b.re, a.im + b.im); }
__device__ cplx operator-(cplx a, cplx b) { return cplx(a.re - b.re, a.im - b.im); }
__device__ cplx operator*(cplx a, cplx b) { return cplx(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }

template <int LOGN>
__global__ void fft_radix2(const float2 *in, float2 *out)
{
    enum { N = 1 << LOGN, H = N / 2 };
    __shared__ cplx z[N];
    __shared__ cplx tw[H];
    const int t = threadIdx.x;                       // H threads
    in += (size_t)blockIdx.x * N;
    out += (size_t)blockIdx.x * N;
    float sn, cs;
    sincospif(-2.0f * t / N, &sn, &cs);
    tw[t] = cplx(cs, sn);
    float2 v = in[t];
    z[__brev(t) >> (32 - LOGN)] = cplx(v.x, v.y);
    v = in[t + H];
    z[__brev(t + H) >> (32 - LOGN)] = cplx(v.x, v.y);
    __syncthreads();
    for (int half = 1, step = H; half < N; half *= 2, step /= 2) {
        int k = t % half;
        int top = (t / half) * 2 * half + k;
        cplx a = z[top], b = z[top + half] * tw[k * step];
        z[top] = a + b;
        z[top + half] = a - b;
        __syncthreads();
    }
    out[t] = make_float2(z[t].re, z[t].im);
    out[t + H] = make_float2(z[t + H].re, z[t + H].im);
}

int main()
{
    {
        int tiles = 10000;
        int *k = mk<int>((size_t)tiles * 1024);
        bitonicXor<int, 1024><<<tiles, 1024>>>(k);
        show("bitonicXor", k, (size_t)tiles * 4096);
        cudaFree(k);
    }
    {
        unsigned len = 512, tiles = 12000;
        unsigned *k = mk<unsigned>(len * tiles), *v = mk<unsigned>(len * tiles);
        bitonicPairs<<<tiles, len / 2, 2 * len * sizeof(unsigned)>>>(k, v, len, 1);
        show("bitonicPairs", k, 4ull * len * tiles);
        show("bitonicPairs", v, 4ull * len * tiles);
        cudaFree(k); cudaFree(v);
    }
    {
        int len = 149, pitch = 152, n = 30000;
        float *l = mk<float>((size_t)n * pitch);
        brick_sort<<<n, 96>>>(l, len, pitch);
        show("brick_sort", l, (size_t)n * pitch * 4);
        cudaFree(l);
    }
    {
        int n = 12000;
        unsigned short *a = mk<unsigned short>((size_t)n * 512);
        oddEvenMergeSort512<<<n, 128>>>(a);
        show("oddEvenMergeSort512", a, (size_t)n * 1024);
        cudaFree(a);
    }
    {
        int len = 3001, n = 20000;
        char *a = mk<char>((size_t)n * len), *b = mk<char>((size_t)n * len);
        int *s = mk<int>(n);
        rotate_records<<<n, 224, len>>>(a, b, len, s);
        show("rotate_records", b, (size_t)n * len);
        cudaFree(a); cudaFree(b); cudaFree(s);
    }
    {
        int w = 5003, h = 6001;
        half2 *a = (half2 *)mk<int>((size_t)w * h), *b = (half2 *)mk<int>((size_t)w * h);
        transposeHalf2<<<dim3((w + TD - 1) / TD, (h + TD - 1) / TD), dim3(TD, TR)>>>(a, b, w, h);
        show("transposeHalf2", b, (size_t)w * h * 4);
        cudaFree(a); cudaFree(b);
    }
    {
        int lg = 11, n = 16000;
        float *d = mk<float>((size_t)n << lg);
        fwht_rows<<<n, 256, sizeof(float) << lg>>>(d, lg);
        show("fwht_rows", d, (size_t)n << lg << 2);
        cudaFree(d);
    }
    {
        int n = 25000;
        float2 *a = (float2 *)mk<float>((size_t)n * 1024), *b = (float2 *)mk<float>((size_t)n * 1024);
        fft_radix2<9><<<n, 256>>>(a, b);
        show("fft_radix2", b, (size_t)n * 4096);
        cudaFree(a); cudaFree(b);
    }
    return 0;
}
