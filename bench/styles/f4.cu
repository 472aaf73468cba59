// sorting networks, permutations and butterflies inside one block
#include "shown.h"
typedef unsigned int uint;

// ------------------------------------------------------------------ SDK flavour
#define SHARED_SIZE_LIMIT 1024U

__device__ inline void Comparator(uint &keyA, uint &keyB, uint dir)
{
    uint t;
    if ((keyA > keyB) == dir) {
        t = keyA;
        keyA = keyB;
        keyB = t;
    }
}

__global__ void bitonicSortKeys(uint *d_DstKey, uint *d_SrcKey, uint arrayLength, uint dir)
{
    __shared__ uint s_key[SHARED_SIZE_LIMIT];

    d_SrcKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    d_DstKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    s_key[threadIdx.x + 0] = d_SrcKey[0];
    s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcKey[(SHARED_SIZE_LIMIT / 2)];

    for (uint size = 2; size < arrayLength; size <<= 1) {
        uint ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
        for (uint stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos + 0], s_key[pos + stride], ddd);
        }
    }
    for (uint stride = arrayLength / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        Comparator(s_key[pos + 0], s_key[pos + stride], dir);
    }

    __syncthreads();
    d_DstKey[0] = s_key[threadIdx.x + 0];
    d_DstKey[(SHARED_SIZE_LIMIT / 2)] = s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
}

// ------------------------------------------------------------------ key/value, one element per thread
struct KV { float key; int val; };

template <int N>
__global__ void sort_pairs(const float* __restrict__ k_in, float* __restrict__ k_out, int* __restrict__ v_out)
{
  __shared__ KV tile[N];
  const int i = threadIdx.x;
  const int base = blockIdx.x * N;
  tile[i].key = k_in[base + i];
  tile[i].val = base + i;
  __syncthreads();
  for (int k = 2; k <= N; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      int ixj = i ^ j;
      if (ixj > i) {
        bool up = (i & k) == 0;
        KV a = tile[i], b = tile[ixj];
        bool gt = a.key > b.key || (a.key == b.key && a.val > b.val);
        if (gt == up) { tile[i] = b; tile[ixj] = a; }
      }
      __syncthreads();
    }
  }
  k_out[base + i] = tile[i].key;
  v_out[base + i] = tile[i].val;
}

// ------------------------------------------------------------------ student code: brick sort
__global__ void oddEvenSort(short *data, short *sorted, int n)
{
	__shared__ short arr[128];
	int tid = threadIdx.x;
	int start = blockIdx.x * n;

	// 2 elements per thread
	arr[tid] = data[start + tid];
	arr[tid + n/2] = data[start + tid + n/2];
	__syncthreads();

	for (int phase = 0; phase < n; phase++)
	{
		int left = 2 * tid + (phase & 1);
		if (left + 1 < n)
		{
			if (arr[left] > arr[left+1])
			{
				short tmp = arr[left];
				arr[left] = arr[left+1];
				arr[left+1] = tmp;
			}
		}
		__syncthreads();
	}
	sorted[start + tid] = arr[tid];
	sorted[start + tid + n/2] = arr[tid + n/2];
}

// ------------------------------------------------------------------ reverse then rotate every segment by k
template <class T>
__global__ void rotate_reversed(const T *in, T *out, int k, int n)
{
    extern __shared__ unsigned char raw[];
    T *seg = reinterpret_cast<T *>(raw);
    const int len = blockDim.x;
    const int off = blockIdx.x * len;
    int t = threadIdx.x;
    if (off + t < n) seg[len - 1 - t] = in[off + t];
    else             seg[len - 1 - t] = T(-1);
    __syncthreads();
    int from = (t + k) % len;
    if (off + t < n) out[off + t] = seg[from];
}

// ------------------------------------------------------------------ Walsh-Hadamard, radix 4 on a tile of 2^log2N
#define ELEMENTARY_LOG2SIZE 11
__global__ void fwtBatch(float *d_Output, const float *d_Input, int log2N)
{
    const int N = 1 << log2N;
    const int base = blockIdx.x << log2N;
    extern __shared__ float s_data[];

    for (int pos = threadIdx.x; pos < N; pos += blockDim.x)
        s_data[pos] = d_Input[base + pos];

    const int pos = threadIdx.x;
    for (int stride = N >> 2; stride > 0; stride >>= 2) {
        int lo = pos & (stride - 1);
        int i0 = ((pos - lo) << 2) + lo;
        int i1 = i0 + stride;
        int i2 = i1 + stride;
        int i3 = i2 + stride;

        __syncthreads();
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
    // odd power of two needs one radix 2 stage
    if (log2N & 1) {
        __syncthreads();
        for (int p = threadIdx.x; p < N / 2; p += blockDim.x) {
            int i0 = p << 1;
            int i1 = i0 + 1;
            float D0 = s_data[i0], D1 = s_data[i1];
            s_data[i0] = D0 + D1;
            s_data[i1] = D0 - D1;
        }
    }
    __syncthreads();
    for (int q = threadIdx.x; q < N; q += blockDim.x)
        d_Output[base + q] = s_data[q];
}

// ------------------------------------------------------------------ radix 2 FFT, split real and imaginary arrays
namespace fft {
template <int LOGN>
__global__ void __launch_bounds__(1 << (LOGN - 1)) forward(const float2 *__restrict__ src, float2 *__restrict__ dst)
{
    constexpr int n = 1 << LOGN;
    __shared__ float re[n], im[n];
    const float2 *s = src + (size_t)blockIdx.x * n;
    float2 *d = dst + (size_t)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += n / 2) {
        unsigned r = __brev((unsigned)i) >> (32 - LOGN);
        float2 v = s[i];
        re[r] = v.x;
        im[r] = v.y;
    }
#pragma unroll
    for (int stage = 1; stage <= LOGN; ++stage) {
        const int half = 1 << (stage - 1);
        const int j = threadIdx.x & (half - 1);
        const int a = ((threadIdx.x >> (stage - 1)) << stage) + j;
        const int b = a + half;
        float sn, cs;
        sincospif(-(float)j / (float)half, &sn, &cs);
        __syncthreads();
        float tr = cs * re[b] - sn * im[b];
        float ti = cs * im[b] + sn * re[b];
        re[b] = re[a] - tr;
        im[b] = im[a] - ti;
        re[a] += tr;
        im[a] += ti;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += n / 2)
        d[i] = make_float2(re[i], im[i]);
}
}

// ------------------------------------------------------------------ Haar pyramid with ping-pong rows
__global__ void haar1D(float *signal, float *coeff)
{
    __shared__ float ping[2][512];
    const float INV_SQRT2 = 0.70710678118654752440f;
    int tid = threadIdx.x;            // 256 threads
    int gp  = blockIdx.x * 512;
    ping[0][tid]       = signal[gp + tid];
    ping[0][tid + 256] = signal[gp + tid + 256];
    __syncthreads();

    int cur = 0;
    for (int num = 256; num >= 1; num >>= 1) {
        if (tid < num) {
            float d0 = ping[cur][2 * tid];
            float d1 = ping[cur][2 * tid + 1];
            ping[cur ^ 1][tid] = (d0 + d1) * INV_SQRT2;
            coeff[gp + num + tid] = (d0 - d1) * INV_SQRT2;
        }
        cur ^= 1;
        __syncthreads();
    }
    if (tid == 0) coeff[gp] = ping[cur][0];
}

template <class T> static T *scrambled(size_t n)
{
    T *h = (T *)malloc(n * sizeof(T)), *d;
    unsigned s = 12345u;
    for (size_t i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; h[i] = (T)(int)(s >> 14) - (T)100000; }
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    const size_t n = 1 << 23;
    {
        uint *k = scrambled<uint>(n), *o = mk<uint>(n);
        bitonicSortKeys<<<n / 1024, 512>>>(o, k, 1024, 1);
        show("bitonicSortKeys up", o, n * 4);
        bitonicSortKeys<<<n / 1024, 512>>>(o, k, 512, 0);
        show("bitonicSortKeys 512 down", o, n * 4);
        cudaFree(k); cudaFree(o);
    }
    {
        float *k = scrambled<float>(n), *ko = mk<float>(n);
        int *vo = mk<int>(n);
        sort_pairs<256><<<n / 256, 256>>>(k, ko, vo);
        show("sort_pairs<256>.key", ko, n * 4);
        show("sort_pairs<256>.val", vo, n * 4);
        fwtBatch<<<n >> ELEMENTARY_LOG2SIZE, (1 << ELEMENTARY_LOG2SIZE) / 4, (1 << ELEMENTARY_LOG2SIZE) * sizeof(float)>>>(ko, k, ELEMENTARY_LOG2SIZE);
        show("fwtBatch 11", ko, n * 4);
        fwtBatch<<<n >> 10, 256, 1024 * sizeof(float)>>>(ko, k, 10);
        show("fwtBatch 10", ko, n * 4);
        haar1D<<<n / 512, 256>>>(k, ko);
        show("haar1D", ko, n * 4);
    }
    {
        short *s = scrambled<short>(n), *t = mk<short>(n);
        oddEvenSort<<<n / 128, 64>>>(s, t, 128);
        show("oddEvenSort", t, n * 2);
        oddEvenSort<<<n / 100, 50>>>(s, t, 100);
        show("oddEvenSort 100", t, n / 100 * 100 * 2);
    }
    {
        int m = (1 << 25) - 999;
        int *a = scrambled<int>(m), *b = mk<int>(m);
        rotate_reversed<int><<<(m + 319) / 320, 320, 320 * sizeof(int)>>>(a, b, 77, m);
        show("rotate_reversed<int>", b, (size_t)m * 4);
        double *da = (double *)a, *db = (double *)b;
        rotate_reversed<double><<<(m / 2 + 255) / 256, 256, 256 * sizeof(double)>>>(da, db, 3, m / 2);
        show("rotate_reversed<double>", db, (size_t)(m / 2) * 8);
    }
    {
        float2 *a = (float2 *)scrambled<float>(2 * n), *b = (float2 *)mk<float>(2 * n);
        fft::forward<10><<<n / 1024, 512>>>(a, b);
        show("fft::forward<10>", b, n * 8);
        fft::forward<8><<<n / 256, 128>>>(a, b);
        show("fft::forward<8>", b, n * 8);
    }
    return 0;
}
