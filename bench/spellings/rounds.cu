// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts, a scan and a tree whose threads stage and store two elements each in loops
// (`for (i = t; i < 256; i += blockDim.x)`). Prints a checksum a kernel. Build it and what
// `rcache-rewrite rounds.cu -o rounds_rc.cu` makes of it with nvcc, run both on one device.
#include "../styles/shown.h"
typedef unsigned u32;
#define CMPSWAP(K, V, i, j, up)                                     \
    do {                                                            \
        if ((K[i] > K[j]) == (up)) {                                \
            u32 tk_ = K[i]; K[i] = K[j]; K[j] = tk_;                \
            u32 tv_ = V[i]; V[i] = V[j]; V[j] = tv_;                \
        }                                                           \
    } while (0)
template <u32 SIZE>
__global__ void sortPairs(const u32 *key, const u32 *val, u32 *okey, u32 *oval, u32 segLen, u32 total)
{
    __shared__ u32 k[SIZE], v[SIZE];
    const u32 base = blockIdx.x * segLen;
    for (u32 i = threadIdx.x; i < SIZE; i += blockDim.x) {
        bool in = i < segLen && base + i < total;
        k[i] = in ? key[base + i] : 0xffffffffu;
        v[i] = in ? val[base + i] : 0xffffffffu;
    }
    for (u32 size = 2; size <= SIZE; size <<= 1) {
        for (u32 stride = size >> 1; stride > 0; stride >>= 1) {
            __syncthreads();
            u32 t = threadIdx.x;
            u32 pos = 2 * t - (t & (stride - 1));
            bool up = (pos & size) == 0;
            CMPSWAP(k, v, pos, pos + stride, up);
        }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < segLen && base + i < total; i += blockDim.x) {
        okey[base + i] = k[i];
        oval[base + i] = v[i];
    }
}
__global__ void sortKeys(const float *in, float *out, int n) {
    __shared__ float s[512];
    const int base = blockIdx.x * 512;
    for (int i = threadIdx.x; i < 512; i += 256) s[i] = base + i < n ? in[base + i] : 3e38f;
    for (int k = 2; k <= 512; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            int t = threadIdx.x, p = 2 * t - (t & (j - 1));
            float a = s[p], b = s[p + j];
            if ((a > b) == ((p & k) == 0)) { s[p] = b; s[p + j] = a; }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 256) if (base + i < n) out[base + i] = s[i];
}
__global__ void blelloch(const int *in, int *out, int n) {
    __shared__ int s[256];
    const int t = threadIdx.x, base = blockIdx.x * 256;
    for (int i = t; i < 256; i += 128) s[i] = base + i < n ? in[base + i] : 0;
    int o = 1;
    for (int d = 128; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) s[o * (2 * t + 2) - 1] += s[o * (2 * t + 1) - 1];
        o *= 2;
    }
    if (t == 0) s[255] = 0;
    for (int d = 1; d < 256; d *= 2) {
        o >>= 1;
        __syncthreads();
        if (t < d) { int a = o * (2 * t + 1) - 1, b = o * (2 * t + 2) - 1; int x = s[a]; s[a] = s[b]; s[b] += x; }
    }
    __syncthreads();
    for (int i = t; i < 256; i += 128) if (base + i < n) out[base + i] = s[i];
}
__global__ void rowSums(const float *in, float *out, int n) {
    __shared__ float s[256];
    const int t = threadIdx.x, base = blockIdx.x * 256;
    for (int r = 0; r < 2; ++r) s[t + 128 * r] = base + t + 128 * r < n ? in[base + t + 128 * r] : 0.f;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
    if (t == 0) out[blockIdx.x] = s[0];
}
int main() {
    const int n = (1 << 24) + 77;
    u32 *a = mk<u32>(n), *b = mk<u32>(n), *c = mk<u32>(n), *d = mk<u32>(n);
    float *x = mk<float>(n), *y = mk<float>(n);
    sortPairs<256><<<(n + 249) / 250, 128>>>(a, b, c, d, 250, n); show("sortPairs", c, (size_t)n * 4); show("sortPairs", d, (size_t)n * 4);
    sortKeys<<<(n + 511) / 512, 256>>>(x, y, n); show("sortKeys", y, (size_t)n * 4);
    blelloch<<<(n + 255) / 256, 128>>>((int *)a, (int *)c, n); show("blelloch", c, (size_t)n * 4);
    rowSums<<<(n + 255) / 256, 128>>>(x, y, n); show("rowSums", y, (size_t)((n + 255) / 256) * 4);
    return 0;
}
