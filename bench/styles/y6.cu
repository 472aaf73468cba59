// sorting kernels
#include <stdio.h>
#include <stdlib.h>
#include <limits.h>
#include <float.h>
#include <cuda_runtime.h>

#define SHARED_SIZE 1024
#define HANDLE_ERROR(err) (HandleError(err, __FILE__, __LINE__))
static void HandleError(cudaError_t err, const char *file, int line) {
    if (err != cudaSuccess) {
        printf("%s in %s at line %d\n", cudaGetErrorString(err), file, line);
        exit(EXIT_FAILURE);
    }
}

__device__ inline void comparator(unsigned &a, unsigned &b, unsigned dir) {
    if ((a > b) == dir) { unsigned t = a; a = b; b = t; }
}

// bitonic sort of SHARED_SIZE keys in a block
__global__ void bitonic_sort_block(const unsigned *src, unsigned *dst) {
    __shared__ unsigned keys[SHARED_SIZE];
    src += blockIdx.x * SHARED_SIZE;
    dst += blockIdx.x * SHARED_SIZE;
    keys[threadIdx.x] = src[threadIdx.x];
    keys[threadIdx.x + SHARED_SIZE / 2] = src[threadIdx.x + SHARED_SIZE / 2];
    for (unsigned size = 2; size <= SHARED_SIZE; size <<= 1) {
        unsigned ddd = (blockIdx.x & 1) ^ ((threadIdx.x & (size / 2)) != 0) ^ 1;
        if (size == SHARED_SIZE) ddd = (blockIdx.x & 1) ^ 1;
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            comparator(keys[pos], keys[pos + stride], ddd);
        }
    }
    __syncthreads();
    dst[threadIdx.x] = keys[threadIdx.x];
    dst[threadIdx.x + SHARED_SIZE / 2] = keys[threadIdx.x + SHARED_SIZE / 2];
}

// one compare-exchange level through global memory
__global__ void bitonic_global_step(unsigned *v, unsigned size, unsigned stride, unsigned half) {
    unsigned idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= half) return;
    unsigned pos = 2 * idx - (idx & (stride - 1));
    unsigned up = ((idx & (size / 2)) == 0);
    unsigned a = v[pos], b = v[pos + stride];
    comparator(a, b, up);
    v[pos] = a;
    v[pos + stride] = b;
}

// odd-even transposition of 256 shorts
__global__ void oddeven_block(short *data, int n) {
    __shared__ short s[256];
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    s[t] = g < n ? data[g] : SHRT_MAX;
    __syncthreads();
    for (int phase = 0; phase < 256; phase++) {
        int lo = 2 * t + (phase & 1);
        if (lo + 1 < 256) {
            if (s[lo] > s[lo + 1]) {
                short tmp = s[lo];
                s[lo] = s[lo + 1];
                s[lo + 1] = tmp;
            }
        }
        __syncthreads();
    }
    if (g < n) data[g] = s[t];
}

// running median of 9 samples: staged signal, private array sorted by insertion
#define WIN 9
__global__ void running_median9(const float *sig, float *med, int n) {
    __shared__ float seg[128 + WIN - 1];
    int start = blockIdx.x * 128 - WIN / 2;
    for (int k = threadIdx.x; k < 128 + WIN - 1; k += 128) {
        int g = start + k;
        g = g < 0 ? 0 : g;
        g = g > n - 1 ? n - 1 : g;
        seg[k] = sig[g];
    }
    __syncthreads();
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) {
        float a[WIN];
        for (int k = 0; k < WIN; k++) {
            float x = seg[threadIdx.x + k];
            int j = k;
            while (j > 0 && a[j - 1] > x) { a[j] = a[j - 1]; j--; }
            a[j] = x;
        }
        med[i] = a[WIN / 2];
    }
}

// k largest of a strided list, per-thread insertion
#define TOPK 16
__global__ void topk_insert(const float *scores, float *best, int *ids, int lists, int len) {
    int l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l >= lists) return;
    float v[TOPK];
    int id[TOPK];
    for (int i = 0; i < TOPK; i++) { v[i] = -FLT_MAX; id[i] = -1; }
    for (int j = 0; j < len; j++) {
        float x = scores[(size_t)j * lists + l];
        if (x > v[TOPK - 1]) {
            int p = TOPK - 1;
            while (p > 0 && v[p - 1] < x) { v[p] = v[p - 1]; id[p] = id[p - 1]; p--; }
            v[p] = x;
            id[p] = j;
        }
    }
    for (int i = 0; i < TOPK; i++) {
        best[(size_t)i * lists + l] = v[i];
        ids[(size_t)i * lists + l] = id[i];
    }
}

// rank sort: every thread counts the smaller keys of its block
__global__ void rank_sort_block(const int *in, int *out, int n) {
    extern __shared__ int sk[];
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    int key = g < n ? in[g] : INT_MAX;
    sk[threadIdx.x] = key;
    __syncthreads();
    int rank = 0;
    for (int j = 0; j < blockDim.x; j++) {
        int o = sk[j];
        rank += (o < key) || (o == key && j < (int)threadIdx.x);
    }
    int dstIdx = blockIdx.x * blockDim.x + rank;
    if (dstIdx < n) out[dstIdx] = key;
}

int main(int argc, char **argv) {
    unsigned n = argc > 1 ? atoi(argv[1]) : 1 << 22;
    unsigned *h = (unsigned *)malloc(n * sizeof(unsigned));
    unsigned seed = 12345;
    for (unsigned i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; h[i] = seed >> 1; }
    unsigned *d_a, *d_b;
    HANDLE_ERROR(cudaMalloc((void **)&d_a, n * sizeof(unsigned)));
    HANDLE_ERROR(cudaMalloc((void **)&d_b, n * sizeof(unsigned)));
    HANDLE_ERROR(cudaMemcpy(d_a, h, n * sizeof(unsigned), cudaMemcpyHostToDevice));
    bitonic_sort_block<<<n / SHARED_SIZE, SHARED_SIZE / 2>>>(d_a, d_b);
    HANDLE_ERROR(cudaGetLastError());
    unsigned half = n / 2;
    bitonic_global_step<<<(half + 255) / 256, 256>>>(d_b, 2 * SHARED_SIZE, SHARED_SIZE, half);
    HANDLE_ERROR(cudaGetLastError());

    int ns = 3000001;
    short *d_s;
    HANDLE_ERROR(cudaMalloc((void **)&d_s, ns * sizeof(short)));
    HANDLE_ERROR(cudaMemcpy(d_s, h, ns * sizeof(short), cudaMemcpyHostToDevice));
    oddeven_block<<<(ns + 255) / 256, 256>>>(d_s, ns);
    HANDLE_ERROR(cudaGetLastError());

    int nf = 4000037;
    float *hf = (float *)malloc(nf * sizeof(float)), *d_f, *d_m;
    for (int i = 0; i < nf; i++) hf[i] = (float)((i * 7919u) % 10007u) + 0.25f;
    HANDLE_ERROR(cudaMalloc((void **)&d_f, nf * sizeof(float)));
    HANDLE_ERROR(cudaMalloc((void **)&d_m, nf * sizeof(float)));
    HANDLE_ERROR(cudaMemcpy(d_f, hf, nf * sizeof(float), cudaMemcpyHostToDevice));
    running_median9<<<(nf + 127) / 128, 128>>>(d_f, d_m, nf);
    HANDLE_ERROR(cudaGetLastError());

    int lists = 40000, len = 100;
    int *d_id;
    HANDLE_ERROR(cudaMalloc((void **)&d_id, lists * TOPK * sizeof(int)));
    topk_insert<<<(lists + 127) / 128, 128>>>(d_f, d_m, d_id, lists, len);
    HANDLE_ERROR(cudaGetLastError());

    int nr = 2000003;
    rank_sort_block<<<(nr + 255) / 256, 256, 256 * sizeof(int)>>>((int *)d_a, (int *)d_b, nr);
    HANDLE_ERROR(cudaGetLastError());
    HANDLE_ERROR(cudaDeviceSynchronize());
    cudaFree(d_a); cudaFree(d_b); cudaFree(d_s); cudaFree(d_f); cudaFree(d_m); cudaFree(d_id);
    free(h); free(hf);
    return 0;
}
