// j1: image filters, the block covers the input tile
#include "shown.h"
#include <cuda_fp16.h>
#include <cmath>

typedef unsigned char uchar;

// ---------------------------------------------------------------- textbook convolution, channels interleaved
#define MASK_WIDTH 5
#define MASK_RADIUS (MASK_WIDTH / 2)
#define O_TILE_WIDTH 12
#define BLOCK_WIDTH (O_TILE_WIDTH + MASK_WIDTH - 1)
__constant__ float M[MASK_WIDTH][MASK_WIDTH];

__global__ void convolution_2D_tiled_kernel(float *P, const float *N, int height, int width, int channels)
{
    __shared__ float N_ds[BLOCK_WIDTH][BLOCK_WIDTH];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row_o = blockIdx.y * O_TILE_WIDTH + ty;
    int col_o = blockIdx.x * O_TILE_WIDTH + tx;
    int row_i = row_o - MASK_RADIUS;
    int col_i = col_o - MASK_RADIUS;

    for (int c = 0; c < channels; c++) {
        if ((row_i >= 0) && (row_i < height) && (col_i >= 0) && (col_i < width)) {
            N_ds[ty][tx] = N[(row_i * width + col_i) * channels + c];
        } else {
            N_ds[ty][tx] = 0.0f;
        }
        __syncthreads();

        float output = 0.0f;
        if (ty < O_TILE_WIDTH && tx < O_TILE_WIDTH) {
            for (int i = 0; i < MASK_WIDTH; i++) {
                for (int j = 0; j < MASK_WIDTH; j++) {
                    output += M[i][j] * N_ds[i + ty][j + tx];
                }
            }
            if (row_o < height && col_o < width)
                P[(row_o * width + col_o) * channels + c] = output;
        }
        __syncthreads();
    }
}

// ---------------------------------------------------------------- sobel, 8 bit, clamp
__global__ void sobelU8(const uchar *__restrict__ src, uchar *__restrict__ dst, int w, int h)
{
    __shared__ uchar t[8][32];
    const int x = blockIdx.x * 30 + threadIdx.x - 1, y = blockIdx.y * 6 + threadIdx.y - 1;
    const int cx = min(max(x, 0), w - 1), cy = min(max(y, 0), h - 1);
    t[threadIdx.y][threadIdx.x] = src[cy * w + cx];
    __syncthreads();
    if (threadIdx.x > 0 && threadIdx.x < 31 && threadIdx.y > 0 && threadIdx.y < 7 && x < w && y < h) {
        const int i = threadIdx.x, j = threadIdx.y;
        int gx = t[j - 1][i + 1] + 2 * t[j][i + 1] + t[j + 1][i + 1] - t[j - 1][i - 1] - 2 * t[j][i - 1] - t[j + 1][i - 1];
        int gy = t[j + 1][i - 1] + 2 * t[j + 1][i] + t[j + 1][i + 1] - t[j - 1][i - 1] - 2 * t[j - 1][i] - t[j - 1][i + 1];
        int m = abs(gx) + abs(gy);
        dst[y * w + x] = m > 255 ? 255 : m;
    }
}

// ---------------------------------------------------------------- 3x3 median, rim leaves after the barrier
#define CSWAP(a, b) { int _m = min(a, b); b = max(a, b); a = _m; }
const int MT = 16;
__global__ void Median3x3(const uchar* in, uchar* out, int width, int height)
{
  __shared__ int tile[MT][MT + 1];
  int gx = blockIdx.x * (MT - 2) + threadIdx.x - 1;
  int gy = blockIdx.y * (MT - 2) + threadIdx.y - 1;
  int v = 0;
  if (gx >= 0 && gy >= 0 && gx < width && gy < height) v = in[gy * width + gx];
  tile[threadIdx.y][threadIdx.x] = v;
  __syncthreads();

  if (threadIdx.x == 0 || threadIdx.y == 0 || threadIdx.x == MT - 1 || threadIdx.y == MT - 1) return;
  if (gx >= width || gy >= height) return;

  int p[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) p[k] = tile[threadIdx.y + k / 3 - 1][threadIdx.x + k % 3 - 1];
  CSWAP(p[1], p[2]) CSWAP(p[4], p[5]) CSWAP(p[7], p[8])
  CSWAP(p[0], p[1]) CSWAP(p[3], p[4]) CSWAP(p[6], p[7])
  CSWAP(p[1], p[2]) CSWAP(p[4], p[5]) CSWAP(p[7], p[8])
  CSWAP(p[0], p[3]) CSWAP(p[5], p[8]) CSWAP(p[4], p[7])
  CSWAP(p[3], p[6]) CSWAP(p[1], p[4]) CSWAP(p[2], p[5])
  CSWAP(p[4], p[7]) CSWAP(p[4], p[2]) CSWAP(p[6], p[4])
  CSWAP(p[4], p[2])
  out[gy * width + gx] = (uchar)p[4];
}

// ---------------------------------------------------------------- bilateral, rgba
template <int R, int BX, int BY>
__global__ void bilateral_rgba(const uchar4 *img, uchar4 *res, int nx, int ny, float inv_ss, float inv_sr)
{
    __shared__ uchar4 cache[BY][BX];
    constexpr int OX = BX - 2 * R;
    constexpr int OY = BY - 2 * R;
    int x = blockIdx.x * OX + (int)threadIdx.x - R;
    int y = blockIdx.y * OY + (int)threadIdx.y - R;
    int lx = x < 0 ? 0 : (x > nx - 1 ? nx - 1 : x);
    int ly = y < 0 ? 0 : (y > ny - 1 ? ny - 1 : y);
    cache[threadIdx.y][threadIdx.x] = img[(size_t)ly * nx + lx];
    __syncthreads();

    bool inner = threadIdx.x >= R && threadIdx.x < BX - R && threadIdx.y >= R && threadIdx.y < BY - R;
    if (!inner || x >= nx || y >= ny)
        return;

    uchar4 c = cache[threadIdx.y][threadIdx.x];
    float sr = 0.f, sg = 0.f, sb = 0.f, sw = 0.f;
    for (int dy = -R; dy <= R; dy++)
        for (int dx = -R; dx <= R; dx++) {
            uchar4 q = cache[threadIdx.y + dy][threadIdx.x + dx];
            float a = (float)q.x - c.x, b = (float)q.y - c.y, d = (float)q.z - c.z;
            float w = __expf(-(dx * dx + dy * dy) * inv_ss - (a * a + b * b + d * d) * inv_sr);
            sr += w * q.x;
            sg += w * q.y;
            sb += w * q.z;
            sw += w;
        }
    res[(size_t)y * nx + x] = make_uchar4((uchar)(sr / sw + .5f), (uchar)(sg / sw + .5f), (uchar)(sb / sw + .5f), c.w);
}

// ---------------------------------------------------------------- grey dilation of ints, mirrored, flat block of 1024
__device__ __forceinline__ int mirror(int i, int n) { return i < 0 ? -i - 1 : (i >= n ? 2 * n - 1 - i : i); }

__global__ void dilate_disc(const int *f, int *g, int cols, int rows)
{
    extern __shared__ int s[];
    const int rad = 4, side = 32, ot = side - 2 * rad;
    const int tx = threadIdx.x % side, ty = threadIdx.x / side;
    const int col = blockIdx.x * ot + tx - rad;
    const int row = blockIdx.y * ot + ty - rad;
    // a block that reaches far outside mirrors twice: clamp
    int mc = mirror(col, cols), mr = mirror(row, rows);
    mc = max(0, min(cols - 1, mc));
    mr = max(0, min(rows - 1, mr));
    s[ty * side + tx] = f[mr * cols + mc];
    __syncthreads();
    if (tx >= rad && tx < side - rad && ty >= rad && ty < side - rad) {
        if (col < cols && row < rows) {
            int best = -2147483647;
            for (int dy = -rad; dy <= rad; ++dy)
                for (int dx = -rad; dx <= rad; ++dx)
                    if (dx * dx + dy * dy <= rad * rad + 1)
                        best = max(best, s[(ty + dy) * side + tx + dx] - abs(dx) - abs(dy));
            g[row * cols + col] = best;
        }
    }
}

// ---------------------------------------------------------------- unsharp mask in half, weights passed by value
struct W3 { float k[3][3]; };
#define TW 32
#define TH 8
__global__ void unsharp_half(const __half *a, __half *o, int w, int h, size_t pitch, W3 wt, float amount)
{
    __shared__ __half sm[TH + 2][TW + 2];
    int x = blockIdx.x * TW + threadIdx.x;     /* shifted by one */
    int y = blockIdx.y * TH + threadIdx.y;
    sm[threadIdx.y][threadIdx.x] = (x >= 1 && x <= w && y >= 1 && y <= h) ? a[(y - 1) * pitch + (x - 1)] : __float2half(0.f);
    __syncthreads();
    if (threadIdx.x < TW && threadIdx.y < TH && x < w && y < h) {
        float blur = 0;
#pragma unroll
        for (int j = 0; j < 3; j++)
#pragma unroll
            for (int i = 0; i < 3; i++) blur += wt.k[j][i] * __half2float(sm[threadIdx.y + j][threadIdx.x + i]);
        float v = __half2float(sm[threadIdx.y + 1][threadIdx.x + 1]);
        o[y * pitch + x] = __float2half(v + amount * (v - blur));
    }
}

// ---------------------------------------------------------------- ordinary halo for contrast: rows of a separable filter
#define KR 8
__constant__ float g_taps[2 * KR + 1];
__global__ void gauss_rows(const float *src, float *dst, int w, int h)
{
    __shared__ float line[4][64 + 2 * KR];
    int x0 = blockIdx.x * 64, y = blockIdx.y * 4 + threadIdx.y;
    if (y < h)
        for (int i = threadIdx.x; i < 64 + 2 * KR; i += 64) {
            int x = x0 + i - KR;
            line[threadIdx.y][i] = (x >= 0 && x < w) ? src[y * w + x] : 0.f;
        }
    __syncthreads();
    int x = x0 + threadIdx.x;
    if (x < w && y < h) {
        float acc = 0;
#pragma unroll
        for (int k = 0; k <= 2 * KR; ++k) acc += g_taps[k] * line[threadIdx.y][threadIdx.x + k];
        dst[y * w + x] = acc;
    }
}

static int cdiv(int a, int b) { return (a + b - 1) / b; }

int main()
{
    float hm[25], ht[2 * KR + 1];
    for (int i = 0; i < 25; i++) hm[i] = (1 + i % 7) / 90.f;
    for (int i = 0; i <= 2 * KR; i++) ht[i] = expf(-(i - KR) * (i - KR) / 18.f) / 7.f;
    cudaMemcpyToSymbol(M, hm, sizeof hm);
    cudaMemcpyToSymbol(g_taps, ht, sizeof ht);
    {
        int w = 1921, h = 1283, c = 3;
        float *n = mk<float>((size_t)w * h * c), *p = mk<float>((size_t)w * h * c);
        dim3 b(BLOCK_WIDTH, BLOCK_WIDTH), g(cdiv(w, O_TILE_WIDTH), cdiv(h, O_TILE_WIDTH));
        convolution_2D_tiled_kernel<<<g, b>>>(p, n, h, w, c);
        show("convolution_2D_tiled", p, (size_t)w * h * c * 4);
    }
    {
        int w = 4099, h = 3001;
        uchar *a = mk<uchar>((size_t)w * h), *b = mk<uchar>((size_t)w * h);
        sobelU8<<<dim3(cdiv(w, 30), cdiv(h, 6)), dim3(32, 8)>>>(a, b, w, h);
        show("sobelU8", b, (size_t)w * h);
        Median3x3<<<dim3(cdiv(w, MT - 2), cdiv(h, MT - 2)), dim3(MT, MT)>>>(a, b, w, h);
        show("Median3x3", b, (size_t)w * h);
    }
    {
        int w = 2050, h = 1111;
        uchar4 *a = (uchar4 *)mk<uchar>(4ull * w * h), *b = (uchar4 *)mk<uchar>(4ull * w * h);
        bilateral_rgba<2, 32, 16><<<dim3(cdiv(w, 28), cdiv(h, 12)), dim3(32, 16)>>>(a, b, w, h, 0.08f, 0.02f);
        show("bilateral_rgba", b, 4ull * w * h);
    }
    {
        int w = 2000, h = 1501;
        int *a = mk<int>((size_t)w * h), *b = mk<int>((size_t)w * h);
        dilate_disc<<<dim3(cdiv(w, 24), cdiv(h, 24)), 1024, 4096>>>(a, b, w, h);
        show("dilate_disc", b, 4ull * w * h);
    }
    {
        int w = 3839, h = 2161;
        size_t pitch = 3840;
        __half *a = mk<__half>(pitch * h), *b = mk<__half>(pitch * h);
        W3 k;
        for (int i = 0; i < 9; i++) k.k[i / 3][i % 3] = (i % 2 ? 2.f : i == 4 ? 4.f : 1.f) / 16.f;
        unsharp_half<<<dim3(cdiv(w, TW), cdiv(h, TH)), dim3(TW + 2, TH + 2)>>>(a, b, w, h, pitch, k, 0.6f);
        show("unsharp_half", b, pitch * h * 2);
    }
    {
        int w = 4001, h = 2503;
        float *a = mk<float>((size_t)w * h), *b = mk<float>((size_t)w * h);
        gauss_rows<<<dim3(cdiv(w, 64), cdiv(h, 4)), dim3(64, 4)>>>(a, b, w, h);
        show("gauss_rows", b, 4ull * w * h);
    }
    return 0;
}
