// Morphology and edge preserving filters (grey-scale, 8 bit and float)
#include <cuda_runtime.h>
#include <iostream>
#include <memory>
#include <vector>

using byte_t = unsigned char;

#define CUDA_TRY(stmt)                                                      \
    if (cudaError_t err__ = (stmt); err__ != cudaSuccess) {                 \
        std::cerr << #stmt << ": " << cudaGetErrorString(err__) << "\n";    \
        std::exit(3);                                                       \
    }

namespace morph {

constexpr int kBlockW = 128;

// minimum along a row, flat element of 2R+1 pixels
template <int R>
__global__ void erode_row_flat(const byte_t* __restrict__ src, byte_t* __restrict__ dst, int width, int height, int stride)
{
    __shared__ byte_t s_row[kBlockW + 2 * R];
    const int y = blockIdx.y;
    const int x = blockIdx.x * kBlockW + threadIdx.x;
    const byte_t* line = src + static_cast<size_t>(y) * stride;
    for (int i = threadIdx.x; i < kBlockW + 2 * R; i += kBlockW) {
        const int gx = static_cast<int>(blockIdx.x) * kBlockW + i - R;
        s_row[i] = (gx < 0 || gx >= width) ? 255 : line[gx];
    }
    __syncthreads();
    if (x >= width) return;
    byte_t m = 255;
#pragma unroll
    for (int k = 0; k <= 2 * R; ++k) m = min(m, s_row[threadIdx.x + k]);
    dst[static_cast<size_t>(y) * stride + x] = m;
}

// maximum along a column
template <int R, int BX, int BY>
__global__ void dilate_col_flat(const byte_t* __restrict__ src, byte_t* __restrict__ dst, int width, int height, int stride)
{
    __shared__ byte_t s_tile[BY + 2 * R][BX];
    const int x = blockIdx.x * BX + threadIdx.x;
    const int y0 = blockIdx.y * BY;
    for (int j = threadIdx.y; j < BY + 2 * R; j += BY) {
        const int gy = y0 + j - R;
        s_tile[j][threadIdx.x] = (x < width && gy >= 0 && gy < height) ? src[static_cast<size_t>(gy) * stride + x] : 0;
    }
    __syncthreads();
    const int y = y0 + threadIdx.y;
    if (x < width && y < height) {
        byte_t m = 0;
#pragma unroll
        for (int k = 0; k <= 2 * R; ++k) m = max(m, s_tile[threadIdx.y + k][threadIdx.x]);
        dst[static_cast<size_t>(y) * stride + x] = m;
    }
}

// morphological gradient with a 3x3 cross; the block covers tile and rim, inner threads write
#define GT 16
#define GTO (GT - 2)
__global__ void morph_gradient_cross(const byte_t* src, byte_t* dst, int width, int height, int stride)
{
    __shared__ byte_t t[GT][GT];
    int x = (int)(blockIdx.x * GTO + threadIdx.x) - 1;
    int y = (int)(blockIdx.y * GTO + threadIdx.y) - 1;
    int cx = max(0, min(x, width - 1)), cy = max(0, min(y, height - 1));
    t[threadIdx.y][threadIdx.x] = src[(size_t)cy * stride + cx];
    __syncthreads();
    bool inner = threadIdx.x > 0 && threadIdx.x < GT - 1 && threadIdx.y > 0 && threadIdx.y < GT - 1;
    if (inner && x < width && y < height) {
        byte_t c = t[threadIdx.y][threadIdx.x];
        byte_t l = t[threadIdx.y][threadIdx.x - 1], r = t[threadIdx.y][threadIdx.x + 1];
        byte_t u = t[threadIdx.y - 1][threadIdx.x], d = t[threadIdx.y + 1][threadIdx.x];
        byte_t hi = max(max(max(l, r), max(u, d)), c);
        byte_t lo = min(min(min(l, r), min(u, d)), c);
        dst[(size_t)y * stride + x] = hi - lo;
    }
}

__device__ __forceinline__ int reflect101(int p, int len)
{
    if (p < 0) p = -p;
    if (p >= len) p = 2 * len - 2 - p;
    return max(p, 0);
}

// 7x7 bilateral, mirrored border
constexpr int BR = 3, BB = 16;
__global__ void bilateral7_mirror(const float* __restrict__ img, float* __restrict__ out, int w, int h, float inv2ss, float inv2sr)
{
    __shared__ float t[BB + 2 * BR][BB + 2 * BR + 1];
    int ox = (int)(blockIdx.x * BB) - BR, oy = (int)(blockIdx.y * BB) - BR;
    for (int j = threadIdx.y; j < BB + 2 * BR; j += BB)
        for (int i = threadIdx.x; i < BB + 2 * BR; i += BB)
            t[j][i] = img[(size_t)reflect101(oy + j, h) * w + reflect101(ox + i, w)];
    __syncthreads();
    int x = blockIdx.x * BB + threadIdx.x, y = blockIdx.y * BB + threadIdx.y;
    if (x >= w || y >= h) return;
    const float c = t[threadIdx.y + BR][threadIdx.x + BR];
    float num = 0.f, den = 0.f;
    for (int j = -BR; j <= BR; ++j)
#pragma unroll
        for (int i = -BR; i <= BR; ++i) {
            float v = t[threadIdx.y + BR + j][threadIdx.x + BR + i];
            float e = __expf(-(float)(i * i + j * j) * inv2ss - (v - c) * (v - c) * inv2sr);
            num += e * v;
            den += e;
        }
    out[(size_t)y * w + x] = num / den;
}

// second pass of a distance transform restricted to a window: min over k of g(x+k)^2 + k^2
__global__ void edt_row_limited(const int* g, int* d, int w, int reach)
{
    extern __shared__ int sg[];
    int y = blockIdx.y;
    int x0 = blockIdx.x * blockDim.x - reach;
    for (int i = threadIdx.x; i < blockDim.x + 2 * reach; i += blockDim.x) {
        int x = x0 + i;
        int v = (x >= 0 && x < w) ? g[(size_t)y * w + x] : 10000;
        sg[i] = v * v;
    }
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < w) {
        int best = 1 << 30;
        for (int k = -reach; k <= reach; k++) best = min(best, sg[threadIdx.x + reach + k] + k * k);
        d[(size_t)y * w + x] = best;
    }
}

}  // namespace morph

int main(int argc, char** argv)
{
    using namespace morph;
    const int width = argc > 1 ? atoi(argv[1]) : 4000;
    const int height = argc > 2 ? atoi(argv[2]) : 3000;
    const int stride = (width + 63) / 64 * 64;
    std::vector<byte_t> img(static_cast<size_t>(stride) * height);
    for (size_t i = 0; i < img.size(); ++i) img[i] = static_cast<byte_t>((i * 131 + (i >> 9) * 17) & 255);
    byte_t *dA, *dB;
    CUDA_TRY(cudaMalloc(&dA, img.size()));
    CUDA_TRY(cudaMalloc(&dB, img.size()));
    CUDA_TRY(cudaMemcpy(dA, img.data(), img.size(), cudaMemcpyHostToDevice));
    erode_row_flat<7><<<dim3((width + kBlockW - 1) / kBlockW, height), kBlockW>>>(dA, dB, width, height, stride);
    CUDA_TRY(cudaGetLastError());
    dilate_col_flat<7, 32, 16><<<dim3((width + 31) / 32, (height + 15) / 16), dim3(32, 16)>>>(dA, dB, width, height, stride);
    CUDA_TRY(cudaGetLastError());
    morph_gradient_cross<<<dim3((width + GTO - 1) / GTO, (height + GTO - 1) / GTO), dim3(GT, GT)>>>(dA, dB, width, height, stride);
    CUDA_TRY(cudaGetLastError());

    const int w = 1921, h = 1081;
    std::vector<float> f(static_cast<size_t>(w) * h);
    std::vector<int> g(f.size());
    for (size_t i = 0; i < f.size(); ++i) {
        f[i] = img[i] / 255.f;
        g[i] = img[i] % 40;
    }
    float *fA, *fB;
    int *gA, *gB;
    CUDA_TRY(cudaMalloc(&fA, f.size() * 4));
    CUDA_TRY(cudaMalloc(&fB, f.size() * 4));
    CUDA_TRY(cudaMalloc(&gA, f.size() * 4));
    CUDA_TRY(cudaMalloc(&gB, f.size() * 4));
    CUDA_TRY(cudaMemcpy(fA, f.data(), f.size() * 4, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(gA, g.data(), f.size() * 4, cudaMemcpyHostToDevice));
    bilateral7_mirror<<<dim3((w + BB - 1) / BB, (h + BB - 1) / BB), dim3(BB, BB)>>>(fA, fB, w, h, 1.f / 18.f, 50.f);
    CUDA_TRY(cudaGetLastError());
    int reach = 24, bs = 256;
    edt_row_limited<<<dim3((w + bs - 1) / bs, h), bs, (bs + 2 * reach) * sizeof(int)>>>(gA, gB, w, reach);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaDeviceSynchronize());
    for (void* p : {(void*)dA, (void*)dB, (void*)fA, (void*)fB, (void*)gA, (void*)gB}) cudaFree(p);
    return 0;
}
