// Neural net and vector pieces: matvec, histogram, max pooling, depthwise conv, bilinear upsampling, RMS norm + rope
#include "shown.h"

// ---- y = A x, x staged in shared memory, one row a thread
class DenseMatVec {
public:
    static const int BLK = 128;
    int rows, cols;
    DenseMatVec(int r, int c) : rows(r), cols(c) {}
    void operator()(const float *A, const float *x, float *y) const;
};

__global__ void matvecTiledX(const float *A, const float *x, float *y, int rows, int cols)
{
    __shared__ float xs[DenseMatVec::BLK];
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float acc = 0.0f;
    for (int m = 0; m < (cols + DenseMatVec::BLK - 1) / DenseMatVec::BLK; ++m) {
        int c = m * DenseMatVec::BLK + threadIdx.x;
        xs[threadIdx.x] = c < cols ? x[c] : 0.0f;
        __syncthreads();
        for (int e = 0; e < DenseMatVec::BLK; ++e) {
            int cc = m * DenseMatVec::BLK + e;
            if (cc < cols && row < rows)
                acc += A[(size_t)cc * rows + row] * xs[e]; // column-major
        }
        __syncthreads();
    }
    if (row < rows) y[row] = acc;
}

void DenseMatVec::operator()(const float *A, const float *x, float *y) const
{
    matvecTiledX<<<(rows + BLK - 1) / BLK, BLK>>>(A, x, y, rows, cols);
}

// ---- histogram with shared atomics
#define BIN_COUNT 256
__global__ void histogramPrivatized(const unsigned int *buffer, unsigned int *histo, int words)
{
    __shared__ unsigned int histo_private[BIN_COUNT];
    histo_private[threadIdx.x] = 0;
    __syncthreads();
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int stride = blockDim.x * gridDim.x;
    while (i < words) {
        unsigned int d = buffer[i] * 2654435761u + i * 40503u;
        atomicAdd(&histo_private[d & 255], 1u);
        atomicAdd(&histo_private[(d >> 8) & 255], 1u);
        atomicAdd(&histo_private[(d >> 16) & 255], 1u);
        atomicAdd(&histo_private[d >> 24], 1u);
        i += stride;
    }
    __syncthreads();
    atomicAdd(&histo[threadIdx.x], histo_private[threadIdx.x]);
}

// ---- overlapping max pooling 3x3 stride 2, tile with halo
#define POOL_T 16
__global__ void maxPool3s2(const float *in, float *out, int C, int H, int W, int OH, int OW)
{
    const int S = 2 * POOL_T + 1;
    __shared__ float t[S * S];
    int nc = blockIdx.z;
    const float *p = in + (size_t)nc * H * W;
    int oy0 = blockIdx.y * POOL_T, ox0 = blockIdx.x * POOL_T;
    for (int k = threadIdx.y * POOL_T + threadIdx.x; k < S * S; k += POOL_T * POOL_T) {
        int y = 2 * oy0 + k / S - 1, x = 2 * ox0 + k % S - 1;
        t[k] = (y >= 0 && y < H && x >= 0 && x < W) ? p[y * W + x] : -3.0e38f;
    }
    __syncthreads();
    int oy = oy0 + threadIdx.y, ox = ox0 + threadIdx.x;
    if (oy < OH && ox < OW) {
        float m = -3.0e38f;
        for (int ky = 0; ky < 3; ky++)
            for (int kx = 0; kx < 3; kx++)
                m = fmaxf(m, t[(2 * threadIdx.y + ky) * S + 2 * threadIdx.x + kx]);
        out[((size_t)nc * OH + oy) * OW + ox] = m;
    }
}

// ---- depthwise convolution with ReLU6, filter and patch in shared memory
template <int K>
__global__ void depthwiseConv(const float *__restrict__ x, const float *__restrict__ filt, const float *__restrict__ bias,
                              float *__restrict__ y, int C, int H, int W)
{
    constexpr int P = K / 2;
    __shared__ float sf[K * K];
    __shared__ float sx[8 + 2 * P][32 + 2 * P];
    const int ch = blockIdx.z % C;
    const float *xp = x + (size_t)blockIdx.z * H * W;
    const int tid = threadIdx.y * 32 + threadIdx.x;
    if (tid < K * K) sf[tid] = filt[ch * K * K + tid] * 0.02f - 0.1f;
    const int by = blockIdx.y * 8 - P, bx = blockIdx.x * 32 - P;
    for (int e = tid; e < (8 + 2 * P) * (32 + 2 * P); e += 256) {
        int r = e / (32 + 2 * P), c = e % (32 + 2 * P);
        int gy = by + r, gx = bx + c;
        sx[r][c] = (gy >= 0 && gy < H && gx >= 0 && gx < W) ? xp[gy * W + gx] : 0.f;
    }
    __syncthreads();
    int oy = blockIdx.y * 8 + threadIdx.y, ox = blockIdx.x * 32 + threadIdx.x;
    if (oy >= H || ox >= W) return;
    float acc = bias[ch];
#pragma unroll
    for (int r = 0; r < K; ++r)
#pragma unroll
        for (int c = 0; c < K; ++c)
            acc += sx[threadIdx.y + r][threadIdx.x + c] * sf[r * K + c];
    y[(size_t)blockIdx.z * H * W + oy * W + ox] = fminf(fmaxf(acc, 0.f), 6.f);
}

// ---- bilinear 2x upsampling, source window staged
__global__ void upsampleBilinear2x(const float *src, float *dst, int h, int w)
{
    __shared__ float win[10][18];
    const float *s = src + (size_t)blockIdx.z * h * w;
    float *d = dst + (size_t)blockIdx.z * 4 * h * w;
    int sx0 = blockIdx.x * 16 - 1, sy0 = blockIdx.y * 8 - 1;
    int tid = threadIdx.y * blockDim.x + threadIdx.x; // 32 x 16
    if (tid < 180) {
        int yy = min(max(sy0 + tid / 18, 0), h - 1);
        int xx = min(max(sx0 + tid % 18, 0), w - 1);
        win[tid / 18][tid % 18] = s[yy * w + xx];
    }
    __syncthreads();
    int ox = blockIdx.x * 32 + threadIdx.x, oy = blockIdx.y * 16 + threadIdx.y;
    float fx = (ox + 0.5f) * 0.5f - 0.5f, fy = (oy + 0.5f) * 0.5f - 0.5f;
    int ix = (int)floorf(fx), iy = (int)floorf(fy);
    float ax = fx - ix, ay = fy - iy;
    int lx = ix - sx0, ly = iy - sy0;
    float top = win[ly][lx] * (1.f - ax) + win[ly][lx + 1] * ax;
    float bot = win[ly + 1][lx] * (1.f - ax) + win[ly + 1][lx + 1] * ax;
    d[(size_t)oy * 2 * w + ox] = top * (1.f - ay) + bot * ay;
}

// ---- llama style RMS norm, then rotary embedding of the normalised row, row kept in shared memory
__global__ void rmsnorm_rope(float *o, const float *x, const float *weight, int dim, int head_size, int pos0)
{
    extern __shared__ float xrow[];
    __shared__ float warpSum[32];
    const float *xr = x + (size_t)blockIdx.x * dim;
    float ss = 0.0f;
    for (int j = threadIdx.x; j < dim; j += blockDim.x) {
        float v = xr[j];
        xrow[j] = v;
        ss += v * v;
    }
    for (int off = 16; off > 0; off >>= 1)
        ss += __shfl_xor_sync(0xffffffffu, ss, off);
    if (threadIdx.x % 32 == 0) warpSum[threadIdx.x / 32] = ss;
    __syncthreads();
    if (threadIdx.x < 32) {
        float v = threadIdx.x < blockDim.x / 32 ? warpSum[threadIdx.x] : 0.0f;
        for (int off = 16; off > 0; off >>= 1)
            v += __shfl_xor_sync(0xffffffffu, v, off);
        if (threadIdx.x == 0) warpSum[0] = rsqrtf(v / dim + 1e-5f);
    }
    __syncthreads();
    float scale = warpSum[0];
    int pos = pos0 + blockIdx.x % 2048;
    for (int i = threadIdx.x * 2; i < dim; i += blockDim.x * 2) {
        int head_dim = i % head_size;
        float freq = 1.0f / powf(10000.0f, head_dim / (float)head_size);
        float val = pos * freq;
        float fcr = cosf(val), fci = sinf(val);
        float v0 = xrow[i] * scale * weight[i];
        float v1 = xrow[i + 1] * scale * weight[i + 1];
        o[(size_t)blockIdx.x * dim + i] = v0 * fcr - v1 * fci;
        o[(size_t)blockIdx.x * dim + i + 1] = v0 * fci + v1 * fcr;
    }
}

int main()
{
    {
        int rows = 10000, cols = 4000;
        float *A = mk<float>((size_t)rows * cols), *x = mk<float>(cols), *y = mk<float>(rows);
        DenseMatVec mv(rows, cols);
        mv(A, x, y);
        show("matvecTiledX", y, rows * 4);
    }
    {
        int words = 1 << 25;
        unsigned *b = mk<unsigned>(words), *h = mk<unsigned>(BIN_COUNT);
        cudaMemset(h, 0, BIN_COUNT * 4);
        histogramPrivatized<<<1024, BIN_COUNT>>>(b, h, words);
        show("histogramPrivatized", h, BIN_COUNT * 4);
    }
    {
        int N = 32, C = 64, H = 112, W = 112, OH = 56, OW = 56;
        float *x = mk<float>((size_t)N * C * H * W), *y = mk<float>((size_t)N * C * H * W);
        maxPool3s2<<<dim3((OW + 15) / 16, (OH + 15) / 16, N * C), dim3(POOL_T, POOL_T)>>>(x, y, C, H, W, OH, OW);
        show("maxPool3s2", y, (size_t)N * C * OH * OW * 4);
        float *f = mk<float>(C * 25), *b = mk<float>(C);
        depthwiseConv<3><<<dim3((W + 31) / 32, (H + 7) / 8, N * C), dim3(32, 8)>>>(x, f, b, y, C, H, W);
        show("depthwiseConv3", y, (size_t)N * C * H * W * 4);
        depthwiseConv<5><<<dim3((W + 31) / 32, (H + 7) / 8, N * C), dim3(32, 8)>>>(x, f, b, y, C, H, W);
        show("depthwiseConv5", y, (size_t)N * C * H * W * 4);
    }
    {
        int maps = 128, h = 192, w = 256;
        float *s = mk<float>((size_t)maps * h * w), *d = mk<float>((size_t)maps * h * w * 4);
        upsampleBilinear2x<<<dim3(w / 16, h / 8, maps), dim3(32, 16)>>>(s, d, h, w);
        show("upsampleBilinear2x", d, (size_t)maps * h * w * 16);
    }
    {
        int tokens = 4096, dim = 4096;
        float *x = mk<float>((size_t)tokens * dim), *o = mk<float>((size_t)tokens * dim), *wt = mk<float>(dim);
        rmsnorm_rope<<<tokens, 512, dim * 4>>>(o, x, wt, dim, 128, 5);
        show("rmsnorm_rope", o, (size_t)tokens * dim * 4);
    }
    return 0;
}
