// Filters with halos.
#include <cmath>
#include "shown.h"

//------------------------------------------------------------------------------
// Fixed-point FIR, zeros outside, halo as a loop over the longer span
//------------------------------------------------------------------------------
const int FIR_TAPS = 33;
const int FIR_BLOCK = 256;
__constant__ short c_fir[FIR_TAPS];
__global__ void fir_q15(const short *x, short *y, int n)
{
    __shared__ short tile[FIR_BLOCK + FIR_TAPS - 1];
    const int start = blockIdx.x * FIR_BLOCK - (FIR_TAPS - 1);
    for (int k = threadIdx.x; k < FIR_BLOCK + FIR_TAPS - 1; k += FIR_BLOCK) {
        int i = start + k;
        tile[k] = (i >= 0 && i < n) ? x[i] * 1000 : 0;
    }
    __syncthreads();
    int i = blockIdx.x * FIR_BLOCK + threadIdx.x;
    if (i >= n) return;
    int acc = 1 << 14;
#pragma unroll
    for (int t = 0; t < FIR_TAPS; ++t) acc += (int)c_fir[t] * tile[threadIdx.x + FIR_TAPS - 1 - t];
    acc >>= 15;
    y[i] = acc > 32767 ? 32767 : acc < -32768 ? -32768 : acc;
}

//------------------------------------------------------------------------------
// Row pass of a separable blur, four results a thread, border replicated
//------------------------------------------------------------------------------
#define KERNEL_RADIUS 7
#define RESULT_STEPS 4
#define ROWS_BDX 32
#define ROWS_BDY 4
__constant__ float c_Kernel[2 * KERNEL_RADIUS + 1];
__global__ void blurRows(float *d_Dst, const float *d_Src, int imageW, int imageH, int pitch)
{
    __shared__ float s_Data[ROWS_BDY][RESULT_STEPS * ROWS_BDX + 2 * KERNEL_RADIUS];
    const int baseX = blockIdx.x * RESULT_STEPS * ROWS_BDX;
    const int y = blockIdx.y * ROWS_BDY + threadIdx.y;
    const int yy = min(y, imageH - 1);
    for (int s = threadIdx.x; s < RESULT_STEPS * ROWS_BDX + 2 * KERNEL_RADIUS; s += ROWS_BDX) {
        int x = min(max(baseX + s - KERNEL_RADIUS, 0), imageW - 1);
        s_Data[threadIdx.y][s] = d_Src[yy * pitch + x];
    }
    __syncthreads();
    if (y < imageH) {
#pragma unroll
        for (int i = 0; i < RESULT_STEPS; i++) {
            float sum = 0;
#pragma unroll
            for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
                sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * ROWS_BDX + KERNEL_RADIUS + j];
            int x = baseX + i * ROWS_BDX + threadIdx.x;
            if (x < imageW) d_Dst[y * pitch + x] = sum;
        }
    }
}

//------------------------------------------------------------------------------
// Column pass on RGBA bytes, wrapped; radius is a template value
//------------------------------------------------------------------------------
template <int R, int BX, int BY>
__global__ void colsWrapRGBA(const uchar4 *__restrict__ src, uchar4 *__restrict__ dst, const float *__restrict__ w, int cols, int rows)
{
    static_assert(R <= BY, "halo is loaded by one more row of loads on each side");
    __shared__ uchar4 px[BY + 2 * R][BX];
    __shared__ float wt[2 * R + 1];
    const int c = blockIdx.x * BX + threadIdx.x;
    const int r = blockIdx.y * BY + threadIdx.y;
    const int cc = c < cols ? c : cols - 1;
    auto wrap = [=](int q) { q %= rows; return q < 0 ? q + rows : q; };
    if (threadIdx.y == 0 && threadIdx.x < 2 * R + 1) wt[threadIdx.x] = w[threadIdx.x];
    px[threadIdx.y + R][threadIdx.x] = src[wrap(r) * cols + cc];
    if (threadIdx.y < R) {
        px[threadIdx.y][threadIdx.x] = src[wrap(r - R) * cols + cc];
        px[threadIdx.y + R + BY][threadIdx.x] = src[wrap(r + BY) * cols + cc];
    }
    __syncthreads();
    if (c >= cols || r >= rows) return;
    float3 s = {0, 0, 0};
    float total = 0;
    for (int k = 0; k <= 2 * R; ++k) {
        uchar4 p = px[threadIdx.y + k][threadIdx.x];
        s.x += wt[k] * p.x;
        s.y += wt[k] * p.y;
        s.z += wt[k] * p.z;
        total += wt[k];
    }
    total = 1.f / total;
    dst[r * cols + c] = make_uchar4(s.x * total, s.y * total, s.z * total, px[threadIdx.y + R][threadIdx.x].w);
}

//------------------------------------------------------------------------------
// Sobel magnitude + direction sector on bytes, 16 x 16 with corner cases spelled out
//------------------------------------------------------------------------------
__device__ int px_or_zero(const unsigned char *im, int x, int y, int w, int h)
{
    if (x < 0 || y < 0 || x >= w || y >= h) return 0;
    return im[y * w + x] * 16;
}
__global__ void sobelKernel(const unsigned char *im, unsigned short *mag, int w, int h)
{
    __shared__ int t[18][18];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    t[ty][tx] = px_or_zero(im, x, y, w, h);
    if (tx == 1) t[ty][0] = px_or_zero(im, x - 1, y, w, h);
    if (tx == 16) t[ty][17] = px_or_zero(im, x + 1, y, w, h);
    if (ty == 1) t[0][tx] = px_or_zero(im, x, y - 1, w, h);
    if (ty == 16) t[17][tx] = px_or_zero(im, x, y + 1, w, h);
    if (tx == 1 && ty == 1) t[0][0] = px_or_zero(im, x - 1, y - 1, w, h);
    if (tx == 16 && ty == 1) t[0][17] = px_or_zero(im, x + 1, y - 1, w, h);
    if (tx == 1 && ty == 16) t[17][0] = px_or_zero(im, x - 1, y + 1, w, h);
    if (tx == 16 && ty == 16) t[17][17] = px_or_zero(im, x + 1, y + 1, w, h);
    __syncthreads();
    int gx = t[ty - 1][tx + 1] + 2 * t[ty][tx + 1] + t[ty + 1][tx + 1] - t[ty - 1][tx - 1] - 2 * t[ty][tx - 1] - t[ty + 1][tx - 1];
    int gy = t[ty + 1][tx - 1] + 2 * t[ty + 1][tx] + t[ty + 1][tx + 1] - t[ty - 1][tx - 1] - 2 * t[ty - 1][tx] - t[ty - 1][tx + 1];
    int sector = (gx < 0) | (gy < 0) << 1 | (abs(gx) < abs(gy)) << 2;
    if (x < w && y < h) mag[y * w + x] = (unsigned short)((int)sqrtf((float)(gx * gx + gy * gy)) << 3 | sector);
}

//------------------------------------------------------------------------------
// Median of nine by exchange network, 16-bit, tile filled through a linear index
//------------------------------------------------------------------------------
#define CSWAP(a, b) { unsigned short lo_ = min(a, b), hi_ = max(a, b); a = lo_; b = hi_; }
__global__ void median3x3(const unsigned short *in, unsigned short *out, const int width, const int height)
{
    __shared__ unsigned short s[(32 + 2) * (8 + 2)];
    const int bx0 = blockIdx.x * 32 - 1, by0 = blockIdx.y * 8 - 1;
    for (int l = threadIdx.x; l < 34 * 10; l += 256) {
        int yy = by0 + l / 34, xx = bx0 + l % 34;
        if (yy < 0) yy = -yy;
        if (xx < 0) xx = -xx;
        if (yy >= height) yy = height - 1;
        if (xx >= width) xx = width - 1;
        s[l] = in[yy * width + xx];
    }
    __syncthreads();
    const int lx = threadIdx.x & 31, ly = threadIdx.x >> 5;
    const unsigned short *c = s + ly * 34 + lx;
    unsigned short p0 = c[0], p1 = c[1], p2 = c[2], p3 = c[34], p4 = c[35], p5 = c[36], p6 = c[68], p7 = c[69], p8 = c[70];
    CSWAP(p1, p2) CSWAP(p4, p5) CSWAP(p7, p8) CSWAP(p0, p1) CSWAP(p3, p4) CSWAP(p6, p7)
    CSWAP(p1, p2) CSWAP(p4, p5) CSWAP(p7, p8) CSWAP(p0, p3) CSWAP(p5, p8) CSWAP(p4, p7)
    CSWAP(p3, p6) CSWAP(p1, p4) CSWAP(p2, p5) CSWAP(p4, p7) CSWAP(p4, p2) CSWAP(p6, p4) CSWAP(p4, p2)
    const int ox = blockIdx.x * 32 + lx, oy = blockIdx.y * 8 + ly;
    if (ox < width && oy < height) out[oy * width + ox] = p4;
}

//------------------------------------------------------------------------------
// Bilateral, radius at run time, dynamic tile, spatial weights tabulated by the block
//------------------------------------------------------------------------------
__global__ void bilateral(const float *img, float *res, int W, int H, int R, float sigS, float sigR)
{
    extern __shared__ float sm[];
    const int TW = blockDim.x + 2 * R, TH = blockDim.y + 2 * R, D = 2 * R + 1;
    float *tile = sm, *gs = sm + TW * TH;
    const int lin = threadIdx.y * blockDim.x + threadIdx.x, tot = blockDim.x * blockDim.y;
    for (int e = lin; e < D * D; e += tot) {
        float dx = e % D - R, dy = e / D - R;
        gs[e] = __expf(-(dx * dx + dy * dy) / (2.f * sigS * sigS));
    }
    for (int j = threadIdx.y; j < TH; j += blockDim.y) {
        int gy = min(max((int)(blockIdx.y * blockDim.y) + j - R, 0), H - 1);
        for (int i = threadIdx.x; i < TW; i += blockDim.x) {
            int gx = min(max((int)(blockIdx.x * blockDim.x) + i - R, 0), W - 1);
            tile[j * TW + i] = img[(size_t)gy * W + gx];
        }
    }
    __syncthreads();
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H) {
        const float mid = tile[(threadIdx.y + R) * TW + threadIdx.x + R], k = -0.5f / (sigR * sigR);
        float num = 0.f, den = 0.f;
        for (int j = 0; j < D; ++j)
            for (int i = 0; i < D; ++i) {
                float v = tile[(threadIdx.y + j) * TW + threadIdx.x + i];
                float wgt = gs[j * D + i] * __expf(k * (v - mid) * (v - mid));
                num += wgt * v;
                den += wgt;
            }
        res[(size_t)y * W + x] = num / den;
    }
}

//------------------------------------------------------------------------------
// Morphological gradient, cross of arm A: dilation minus erosion
//------------------------------------------------------------------------------
template <typename Pix, unsigned A>
struct MorphTile {
    static const unsigned SX = 64, SY = 4;
    Pix v[SY + 2 * A][SX + 2 * A];
};
template <typename Pix, unsigned A>
__global__ void morphGradient(Pix *grad, const Pix *src, unsigned w, unsigned h, Pix border)
{
    typedef MorphTile<Pix, A> MT;
    __shared__ MT tile;
    unsigned r, c;
    for (r = threadIdx.y; r < MT::SY + 2 * A; r += MT::SY)
        for (c = threadIdx.x; c < MT::SX + 2 * A; c += MT::SX) {
            unsigned gx = blockIdx.x * MT::SX + c - A, gy = blockIdx.y * MT::SY + r - A;   // wraps to huge when left of 0
            tile.v[r][c] = (gx < w && gy < h) ? src[gy * w + gx] : border;
        }
    __syncthreads();
    r = threadIdx.y + A;
    c = threadIdx.x + A;
    Pix hi = tile.v[r][c], lo = hi;
#define SEE(P) { Pix q_ = (P); hi = q_ > hi ? q_ : hi; lo = q_ < lo ? q_ : lo; }
    for (unsigned k = 1; k <= A; ++k) {
        SEE(tile.v[r - k][c])
        SEE(tile.v[r + k][c])
        SEE(tile.v[r][c - k])
        SEE(tile.v[r][c + k])
    }
#undef SEE
    unsigned x = blockIdx.x * MT::SX + threadIdx.x, y = blockIdx.y * MT::SY + threadIdx.y;
    if (x < w && y < h) grad[y * w + x] = hi - lo;
}

//------------------------------------------------------------------------------
// Fourth derivative along a line, double, mirrored, halo by the first and last threads
//------------------------------------------------------------------------------
__global__ void hyperdiffuse1d(const double *u, double *un, long n, double nu)
{
    __shared__ double s_[512 + 6], *s;
    if (threadIdx.x == 0) s = s_ + 3;
    __syncthreads();
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    int t = threadIdx.x;
    if (i < n) s[t] = u[i]; else s[t] = u[2 * n - 2 - i > 0 ? 2 * n - 2 - i : 0];
    if (t < 3) {
        long l = i - 3;
        s[t - 3] = u[l < 0 ? -l : l];
    }
    if (t >= blockDim.x - 3) {
        long r = i + 3;
        if (r > n - 1) r = 2 * (n - 1) - r;
        s[t + 3] = u[r < 0 ? 0 : r];
    }
    __syncthreads();
    if (i < n) {
        double d6 = (s[t - 3] + s[t + 3]) - 6.0 * (s[t - 2] + s[t + 2]) + 15.0 * (s[t - 1] + s[t + 1]) - 20.0 * s[t];
        un[i] = s[t] + nu * d6;
    }
}

int main()
{
    {
        short f[FIR_TAPS];
        for (int i = 0; i < FIR_TAPS; i++) f[i] = 1500 - 80 * abs(i - 16);
        cudaMemcpyToSymbol(c_fir, f, sizeof f);
        int n = 20000019;
        short *x = mk<short>(n), *y = mk<short>(n);
        fir_q15<<<(n + FIR_BLOCK - 1) / FIR_BLOCK, FIR_BLOCK>>>(x, y, n);
        show("fir_q15", y, (size_t)n * 2);
        cudaFree(x); cudaFree(y);
    }
    {
        float f[2 * KERNEL_RADIUS + 1];
        for (int i = 0; i <= 2 * KERNEL_RADIUS; i++) f[i] = (1 + i * (2 * KERNEL_RADIUS - i)) / 500.f;
        cudaMemcpyToSymbol(c_Kernel, f, sizeof f);
        int w = 5001, h = 3999, p = 5008;
        float *x = mk<float>((size_t)p * h), *y = mk<float>((size_t)p * h);
        blurRows<<<dim3((w + 127) / 128, (h + 3) / 4), dim3(ROWS_BDX, ROWS_BDY)>>>(y, x, w, h, p);
        show("blurRows", y, (size_t)p * h * 4);
        cudaFree(x); cudaFree(y);
    }
    {
        int w = 4100, h = 3333;
        uchar4 *x = (uchar4 *)mk<unsigned char>((size_t)w * h * 4), *y = (uchar4 *)mk<unsigned char>((size_t)w * h * 4);
        float *k = mk<float>(11);
        colsWrapRGBA<5, 32, 8><<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(x, y, k, w, h);
        show("colsWrapRGBA", y, (size_t)w * h * 4);
        cudaFree(x); cudaFree(y); cudaFree(k);
    }
    {
        int w = 6001, h = 4003;
        unsigned char *x = mk<unsigned char>((size_t)w * h);
        unsigned short *y = mk<unsigned short>((size_t)w * h);
        sobelKernel<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(x, y, w, h);
        show("sobelKernel", y, (size_t)w * h * 2);
        cudaFree(x); cudaFree(y);
    }
    {
        int w = 5555, h = 4444;
        unsigned short *x = mk<unsigned short>((size_t)w * h), *y = mk<unsigned short>((size_t)w * h);
        median3x3<<<dim3((w + 31) / 32, (h + 7) / 8), 256>>>(x, y, w, h);
        show("median3x3", y, (size_t)w * h * 2);
        cudaFree(x); cudaFree(y);
    }
    {
        int w = 2049, h = 1999, r = 4;
        float *x = mk<float>((size_t)w * h), *y = mk<float>((size_t)w * h);
        dim3 b(24, 12);
        bilateral<<<dim3((w + 23) / 24, (h + 11) / 12), b, ((24 + 2 * r) * (12 + 2 * r) + (2 * r + 1) * (2 * r + 1)) * 4>>>(x, y, w, h, r, 2.f, 3.f);
        show("bilateral", y, (size_t)w * h * 4);
        cudaFree(x); cudaFree(y);
    }
    {
        unsigned w = 5003, h = 4009;
        int *x = mk<int>((size_t)w * h), *y = mk<int>((size_t)w * h);
        morphGradient<int, 3><<<dim3((w + 63) / 64, (h + 3) / 4), dim3(64, 4)>>>(y, x, w, h, 6);
        show("morphGradient", y, (size_t)w * h * 4);
        cudaFree(x); cudaFree(y);
    }
    {
        long n = 15000001;
        double *x = mk<double>(n), *y = mk<double>(n);
        hyperdiffuse1d<<<(n + 511) / 512, 512>>>(x, y, n, 0.015);
        show("hyperdiffuse1d", y, (size_t)n * 8);
        cudaFree(x); cudaFree(y);
    }
    return 0;
}
