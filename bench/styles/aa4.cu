// image filters
#include "shown.h"
#include <cstdint>

typedef unsigned char uchar;

// 1. --------------------------------------------------------------- sobel on 8-bit
#define SB_W 32
#define SB_H 8
__global__ void sobel_magnitude_u8(const uchar *src, uchar *dst, int width, int height, int pitch)
{
    __shared__ uchar win[SB_H + 2][SB_W + 2];
    const int col = blockIdx.x * SB_W + threadIdx.x;
    const int row = blockIdx.y * SB_H + threadIdx.y;
    for (int dy = threadIdx.y; dy < SB_H + 2; dy += SB_H) {
        for (int dx = threadIdx.x; dx < SB_W + 2; dx += SB_W) {
            int sx = (int)(blockIdx.x * SB_W) + dx - 1, sy = (int)(blockIdx.y * SB_H) + dy - 1;
            sx = sx < 0 ? 0 : (sx >= width ? width - 1 : sx);
            sy = sy < 0 ? 0 : (sy >= height ? height - 1 : sy);
            win[dy][dx] = src[sy * pitch + sx];
        }
    }
    __syncthreads();
    if (col >= width || row >= height) return;
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    int gx = win[y - 1][x + 1] + 2 * win[y][x + 1] + win[y + 1][x + 1] - win[y - 1][x - 1] - 2 * win[y][x - 1] - win[y + 1][x - 1];
    int gy = win[y + 1][x - 1] + 2 * win[y + 1][x] + win[y + 1][x + 1] - win[y - 1][x - 1] - 2 * win[y - 1][x] - win[y - 1][x + 1];
    int mag = abs(gx) + abs(gy);
    dst[row * pitch + col] = (uchar)(mag > 255 ? 255 : mag);
}

// 2. --------------------------------------------------------------- bilateral
template <int R, int BX, int BY>
__global__ void bilateral_filter_gray(const float *__restrict__ img, float *__restrict__ out, int w, int h, float inv2ss, float inv2sr)
{
    constexpr int TW = BX + 2 * R, TH = BY + 2 * R;
    __shared__ float t[TH * TW];
    __shared__ float spatial[(2 * R + 1) * (2 * R + 1)];
    const int lin = threadIdx.y * BX + threadIdx.x;
    for (int k = lin; k < (2 * R + 1) * (2 * R + 1); k += BX * BY) {
        int dx = k % (2 * R + 1) - R, dy = k / (2 * R + 1) - R;
        spatial[k] = __expf(-(dx * dx + dy * dy) * inv2ss);
    }
    for (int k = lin; k < TW * TH; k += BX * BY) {
        int x = min(max((int)(blockIdx.x * BX) + k % TW - R, 0), w - 1);
        int y = min(max((int)(blockIdx.y * BY) + k / TW - R, 0), h - 1);
        t[k] = img[(size_t)y * w + x];
    }
    __syncthreads();
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x < w && y < h) {
        const float c = t[(threadIdx.y + R) * TW + threadIdx.x + R];
        float num = 0.f, den = 0.f;
        for (int dy = 0; dy <= 2 * R; ++dy)
            for (int dx = 0; dx <= 2 * R; ++dx) {
                float v = t[(threadIdx.y + dy) * TW + threadIdx.x + dx];
                float g = spatial[dy * (2 * R + 1) + dx] * __expf(-(v - c) * (v - c) * inv2sr);
                num += g * v;
                den += g;
            }
        out[(size_t)y * w + x] = num / den;
    }
}

// 3. --------------------------------------------------------------- 5x5 median, private window
__global__ void median5x5_private(const uchar *in, uchar *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    uchar win[25];
    int n = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int xx = x + dx, yy = y + dy;
            if (xx < 0 || yy < 0 || xx >= w || yy >= h) continue;
            uchar v = in[yy * w + xx];
            int p = n++;
            while (p > 0 && win[p - 1] > v) {
                win[p] = win[p - 1];
                p--;
            }
            win[p] = v;
        }
    out[y * w + x] = win[n / 2];
}

// 4. --------------------------------------------------------------- gaussian along rows, RGBA float4, several pixels per thread
#define GR 6
#define GSTEPS 4
#define GTX 16
#define GTY 4
__constant__ float c_gauss[2 * GR + 1];
__global__ void gaussian_rows_rgba(float4 *d_Dst, const float4 *d_Src, int imageW, int imageH, int pitch)
{
    __shared__ float4 s_Data[GTY][(GSTEPS + 2) * GTX];
    const int baseX = (blockIdx.x * GSTEPS - 1) * GTX + threadIdx.x;
    const int baseY = blockIdx.y * GTY + threadIdx.y;
    const float4 zero = make_float4(0.f, 0.f, 0.f, 0.f);
    const bool rowok = baseY < imageH;
#pragma unroll
    for (int i = 0; i < GSTEPS + 2; i++) {
        int x = baseX + i * GTX;
        s_Data[threadIdx.y][threadIdx.x + i * GTX] = (rowok && x >= 0 && x < imageW) ? d_Src[(size_t)baseY * pitch + x] : zero;
    }
    __syncthreads();
    if (!rowok) return;
#pragma unroll
    for (int i = 1; i <= GSTEPS; i++) {
        int x = baseX + i * GTX;
        if (x >= imageW) break;
        float4 sum = zero;
#pragma unroll
        for (int j = -GR; j <= GR; j++) {
            float4 v = s_Data[threadIdx.y][threadIdx.x + i * GTX + j];
            float k = c_gauss[GR - j];
            sum.x += k * v.x; sum.y += k * v.y; sum.z += k * v.z; sum.w += k * v.w;
        }
        d_Dst[(size_t)baseY * pitch + x] = sum;
    }
}

// 5. --------------------------------------------------------------- erosion along a row, van Herk / Gil-Werman
template <unsigned K>     // odd structuring element length, K threads-groups share one row segment
__global__ void erode_row_vanherk(const uchar *src, uchar *dst, int width, int height)
{
    constexpr int SEG = 8;                       // K-blocks per thread block
    constexpr int LEN = K * (SEG + 1);
    __shared__ uchar fwd[LEN], bwd[LEN], raw[LEN];
    const int x0 = blockIdx.x * K * SEG - (int)(K / 2);
    const uchar *line = src + (size_t)blockIdx.y * width;
    for (int i = threadIdx.x; i < LEN; i += blockDim.x) {
        int x = x0 + i;
        raw[i] = (x >= 0 && x < width) ? line[x] : 255;
    }
    __syncthreads();
    if (threadIdx.x < SEG + 1) {
        int b = threadIdx.x * K;
        uchar m = 255;
        for (int i = 0; i < (int)K; i++) { m = min(m, raw[b + i]); fwd[b + i] = m; }
    } else if (threadIdx.x >= 32 && threadIdx.x < 32 + SEG + 1) {
        int b = (threadIdx.x - 32) * K;
        uchar m = 255;
        for (int i = (int)K - 1; i >= 0; i--) { m = min(m, raw[b + i]); bwd[b + i] = m; }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < (int)K * SEG; i += blockDim.x) {
        int x = blockIdx.x * K * SEG + i;
        if (x < width) dst[(size_t)blockIdx.y * width + x] = min(bwd[i], fwd[i + K - 1]);
    }
}

// 6. --------------------------------------------------------------- row pass of an integral image
__global__ void integral_image_rows(const uchar *img, unsigned int *sat, int w, int h)
{
    __shared__ unsigned int part[8];
    __shared__ unsigned int carry;
    const int lane = threadIdx.x % 32, wid = threadIdx.x / 32;
    const size_t base = (size_t)blockIdx.x * w;
    if (threadIdx.x == 0) carry = 0;
    __syncthreads();
    for (int c0 = 0; c0 < w; c0 += 256) {
        int c = c0 + threadIdx.x;
        unsigned int v = c < w ? img[base + c] : 0;
        for (int d = 1; d < 32; d <<= 1) {
            unsigned int o = __shfl_up_sync(~0u, v, d);
            if (lane >= d) v += o;
        }
        if (lane == 31) part[wid] = v;
        __syncthreads();
        unsigned int add = carry;
        for (int k = 0; k < wid; k++) add += part[k];
        if (c < w) sat[base + c] = v + add;
        __syncthreads();
        if (threadIdx.x == 255) carry = v + add;
        __syncthreads();
    }
}

// 7. --------------------------------------------------------------- JPEG-like 8x8 DCT + quantisation, 4 blocks wide
__constant__ float dct_basis[64];
__global__ void dct8x8_quantise(const uchar *plane, int16_t *coef, int stride, const float *qtab)
{
    __shared__ float blk[4][8][9];
    __shared__ float tmp[4][8][9];
    const int b = threadIdx.z, r = threadIdx.y, c = threadIdx.x;
    const int X = (blockIdx.x * 4 + b) * 8, Y = blockIdx.y * 8;
    blk[b][r][c] = (float)plane[(size_t)(Y + r) * stride + X + c] - 6.0f;
    __syncthreads();
    float s = 0.f;
    for (int k = 0; k < 8; ++k) s += dct_basis[r * 8 + k] * blk[b][k][c];
    tmp[b][r][c] = s;
    __syncthreads();
    s = 0.f;
    for (int k = 0; k < 8; ++k) s += tmp[b][r][k] * dct_basis[c * 8 + k];
    coef[(size_t)(Y + r) * stride + X + c] = (int16_t)__float2int_rn(s / (qtab[r * 8 + c] * 0.1f + 0.5f));
}

// 8. --------------------------------------------------------------- local mode (oil painting), per-thread histogram
#define LEVELS 12
__global__ void oil_paint_mode(const uchar4 *in, uchar4 *out, int w, int h, int radius)
{
    const int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (!(x < w && y < h)) return;
    int cnt[LEVELS], rs[LEVELS], gs[LEVELS], bs[LEVELS];
    for (int i = 0; i < LEVELS; i++) cnt[i] = rs[i] = gs[i] = bs[i] = 0;
    int ylo = max(y - radius, 0), yhi = min(y + radius, h - 1);
    int xlo = max(x - radius, 0), xhi = min(x + radius, w - 1);
    for (int yy = ylo; yy <= yhi; yy++)
        for (int xx = xlo; xx <= xhi; xx++) {
            uchar4 p = in[yy * w + xx];
            int level = ((p.x + p.y + p.z) / 3) % LEVELS;
            cnt[level]++;
            rs[level] += p.x;
            gs[level] += p.y;
            bs[level] += p.z;
        }
    int best = 0;
    for (int i = 1; i < LEVELS; i++)
        if (cnt[i] > cnt[best]) best = i;
    int n = cnt[best];
    out[y * w + x] = make_uchar4(rs[best] / n, gs[best] / n, bs[best] / n, 255);
}

int main()
{
    {
        int w = 5000, h = 3100, p = 5024;
        uchar *a = mk<uchar>((size_t)p * h), *b = mk<uchar>((size_t)p * h);
        sobel_magnitude_u8<<<dim3((w + SB_W - 1) / SB_W, (h + SB_H - 1) / SB_H), dim3(SB_W, SB_H)>>>(a, b, w, h, p);
        show("sobel_magnitude_u8", b, (size_t)p * h);
    }
    {
        int w = 1920, h = 1080;
        float *a = mk<float>(w * h), *b = mk<float>(w * h);
        bilateral_filter_gray<5, 32, 8><<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a, b, w, h, 0.06f, 0.1f);
        show("bilateral_filter_gray", b, (size_t)w * h * 4);
    }
    {
        int w = 2100, h = 1700;
        uchar *a = mk<uchar>(w * h), *b = mk<uchar>(w * h);
        median5x5_private<<<dim3((w + 31) / 32, (h + 3) / 4), dim3(32, 4)>>>(a, b, w, h);
        show("median5x5_private", b, (size_t)w * h);
    }
    {
        int w = 1930, h = 1201, p = 1952;
        float4 *a = (float4 *)mk<float>((size_t)p * h * 4), *b = (float4 *)mk<float>((size_t)p * h * 4);
        float g[2 * GR + 1];
        for (int i = 0; i <= 2 * GR; i++) g[i] = 1.0f / (1 + (i - GR) * (i - GR));
        cudaMemcpyToSymbol(c_gauss, g, sizeof g);
        gaussian_rows_rgba<<<dim3((w + GSTEPS * GTX - 1) / (GSTEPS * GTX), (h + GTY - 1) / GTY), dim3(GTX, GTY)>>>(b, a, w, h, p);
        show("gaussian_rows_rgba", b, (size_t)p * h * 16);
        cudaFree(a); cudaFree(b);
    }
    {
        int w = 6000, h = 4000;
        uchar *a = mk<uchar>((size_t)w * h), *b = mk<uchar>((size_t)w * h);
        erode_row_vanherk<31><<<dim3((w + 31 * 8 - 1) / (31 * 8), h), 128>>>(a, b, w, h);
        show("erode_row_vanherk", b, (size_t)w * h);
    }
    {
        int w = 4321, h = 3000;
        uchar *a = mk<uchar>((size_t)w * h);
        unsigned int *s = mk<unsigned int>((size_t)w * h);
        integral_image_rows<<<h, 256>>>(a, s, w, h);
        show("integral_image_rows", s, (size_t)w * h * 4);
    }
    {
        int w = 4096, h = 2160;
        uchar *a = mk<uchar>((size_t)w * h);
        int16_t *c = mk<int16_t>((size_t)w * h);
        float *q = mk<float>(64), basis[64];
        for (int i = 0; i < 64; i++) basis[i] = ((i * 29) % 17 - 8) * 0.06f;
        cudaMemcpyToSymbol(dct_basis, basis, sizeof basis);
        dct8x8_quantise<<<dim3(w / 32, h / 8), dim3(8, 8, 4)>>>(a, c, w, q);
        show("dct8x8_quantise", c, (size_t)w * h * 2);
    }
    {
        int w = 1600, h = 1200;
        uchar4 *a = (uchar4 *)mk<uchar>((size_t)w * h * 4), *b = (uchar4 *)mk<uchar>((size_t)w * h * 4);
        oil_paint_mode<<<dim3(w / 16, h / 16), dim3(16, 16)>>>(a, b, w, h, 4);
        show("oil_paint_mode", b, (size_t)w * h * 4);
    }
    return 0;
}
