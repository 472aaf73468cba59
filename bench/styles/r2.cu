// Image filters (assorted homework / library / game style)
#include "shown.h"
#include <cstdint>

static uint8_t *noise_img(size_t n, uint32_t s)
{
    uint8_t *h = (uint8_t *)malloc(n), *d = nullptr;
    for (size_t i = 0; i < n; ++i) {
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        h[i] = (uint8_t)(((i >> 5) & 127) + (s & 127));
    }
    cudaMalloc(&d, n);
    cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);
    free(h);
    return d;
}

// =========================================================== separable convolution, rows
#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
__constant__ float c_Kernel[KERNEL_LENGTH];

#define ROWS_BLOCKDIM_X 16
#define ROWS_BLOCKDIM_Y 4
#define ROWS_RESULT_STEPS 8
#define ROWS_HALO_STEPS 1

__global__ void convolutionRowsKernel(float *d_Dst, float *d_Src, int imageW, int imageH, int pitch)
{
    __shared__ float s_Data[ROWS_BLOCKDIM_Y][(ROWS_RESULT_STEPS + 2 * ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X];

    // Offset to the left halo edge
    const int baseX = ((int)blockIdx.x * ROWS_RESULT_STEPS - ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X + threadIdx.x;
    const int baseY = blockIdx.y * ROWS_BLOCKDIM_Y + threadIdx.y;

    d_Src += baseY * pitch;
    d_Dst += baseY * pitch;

    // Load main data
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = d_Src[baseX + i * ROWS_BLOCKDIM_X];

    // Load left halo
#pragma unroll
    for (int i = 0; i < ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (baseX >= -i * ROWS_BLOCKDIM_X) ? d_Src[baseX + i * ROWS_BLOCKDIM_X] : 0;

    // Load right halo
#pragma unroll
    for (int i = ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS + ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (imageW - baseX > i * ROWS_BLOCKDIM_X) ? d_Src[baseX + i * ROWS_BLOCKDIM_X] : 0;

    __syncthreads();
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
            sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X + j];
        d_Dst[baseX + i * ROWS_BLOCKDIM_X] = sum;
    }
}

// =========================================================== RGBA blur, 7x7 with weights in shared too
const int FW = 7;

__global__
void blur_rgba(const uchar4 * const rgbaIn,
               uchar4 * const rgbaOut,
               const int numRows, const int numCols,
               const float * const filter)
{
  __shared__ uchar4 sIn[12 + FW - 1][20 + FW - 1];
  __shared__ float sFilter[FW * FW];

  const int2 pos = make_int2(blockIdx.x * blockDim.x + threadIdx.x,
                             blockIdx.y * blockDim.y + threadIdx.y);
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  if (t < FW * FW)
    sFilter[t] = filter[t];

  for (int r = threadIdx.y; r < 12 + FW - 1; r += blockDim.y) {
    int ir = (int)(blockIdx.y * blockDim.y) + r - FW / 2;
    ir = min(max(ir, 0), numRows - 1);
    for (int c = threadIdx.x; c < 20 + FW - 1; c += blockDim.x) {
      int ic = (int)(blockIdx.x * blockDim.x) + c - FW / 2;
      ic = min(max(ic, 0), numCols - 1);
      sIn[r][c] = rgbaIn[ir * numCols + ic];
    }
  }
  __syncthreads();

  if (pos.x >= numCols || pos.y >= numRows)
    return;

  float R = 0.f, G = 0.f, B = 0.f;
  for (int fr = 0; fr < FW; ++fr)
    for (int fc = 0; fc < FW; ++fc) {
      const uchar4 px = sIn[threadIdx.y + fr][threadIdx.x + fc];
      const float wt = sFilter[fr * FW + fc];
      R += wt * px.x;
      G += wt * px.y;
      B += wt * px.z;
    }
  rgbaOut[pos.y * numCols + pos.x] = make_uchar4((unsigned char)R, (unsigned char)G, (unsigned char)B, 255);
}

// =========================================================== histogram, one sub-table per warp
#define HWARPS 6
__global__ void histogram64_perwarp(const unsigned int *words, unsigned int *partial, int nwords)
{
    __shared__ unsigned int h[HWARPS][64];
    unsigned int *mine = h[threadIdx.x >> 5];
    for (int i = threadIdx.x; i < HWARPS * 64; i += blockDim.x) ((unsigned int *)h)[i] = 0u;
    __syncthreads();

    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < nwords; p += gridDim.x * blockDim.x) {
        unsigned int d = words[p];
        atomicAdd(mine + ((d >> 2) & 63), 1u);
        atomicAdd(mine + ((d >> 10) & 63), 1u);
        atomicAdd(mine + ((d >> 18) & 63), 1u);
        atomicAdd(mine + ((d >> 26) & 63), 1u);
    }
    __syncthreads();
    if (threadIdx.x >= 64) return;
    unsigned int sum = 0;
    int w = HWARPS;
    while (w-- > 0) sum += h[w][threadIdx.x];
    partial[blockIdx.x * 64 + threadIdx.x] = sum;
}

// =========================================================== non local means
template <int P /* patch radius */, int S /* search radius */, int B>
__global__ void nlm_denoise(const float *__restrict__ img, float *__restrict__ out, int w, int h, float inv_h2)
{
    enum { HALO = P + S, SIDE = B + 2 * HALO };
    __shared__ float blk[SIDE * SIDE];
    const int bx = blockIdx.x * B - HALO, by = blockIdx.y * B - HALO;
    for (int y = threadIdx.y; y < SIDE; y += B)
        for (int x = threadIdx.x; x < SIDE; x += B) {
            int sx = abs(bx + x), sy = abs(by + y);
            if (sx >= w) sx = 2 * w - 2 - sx;
            if (sy >= h) sy = 2 * h - 2 - sy;
            blk[y * SIDE + x] = img[max(sy, 0) * w + max(sx, 0)];
        }
    __syncthreads();

    const int cx = threadIdx.x + HALO, cy = threadIdx.y + HALO;
    float acc = 0.f, wsum = 0.f;
    for (int dy = -S; dy <= S; ++dy) {
        for (int dx = -S; dx <= S; ++dx) {
            float dist = 0.f;
            for (int py = -P; py <= P; ++py)
                for (int px = -P; px <= P; ++px) {
                    float d = blk[(cy + py) * SIDE + cx + px] - blk[(cy + dy + py) * SIDE + cx + dx + px];
                    dist += d * d;
                }
            float wt = __expf(-dist * inv_h2);
            acc += wt * blk[(cy + dy) * SIDE + cx + dx];
            wsum += wt;
        }
    }
    int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = acc / wsum;
}

// =========================================================== Kuwahara (painterly effect)
#define KR 3
#define KB 16
__global__ void kuwahara(const uint8_t *src, uint8_t *dst, int stride, int width, int height)
{
    __shared__ uint8_t px[KB + 2 * KR][KB + 2 * KR + 2];
    int x = blockIdx.x * KB + threadIdx.x;
    int y = blockIdx.y * KB + threadIdx.y;

    for (int oy = 0; oy < KB + 2 * KR; oy += KB) {
        int ly = threadIdx.y + oy;
        if (ly >= KB + 2 * KR) break;
        for (int ox = 0; ox < KB + 2 * KR; ox += KB) {
            int lx = threadIdx.x + ox;
            if (lx >= KB + 2 * KR) continue;
            int gx = x + ox - KR, gy = y + oy - KR;
            gx = gx < 0 ? 0 : gx; gx = gx > width - 1 ? width - 1 : gx;
            gy = gy < 0 ? 0 : gy; gy = gy > height - 1 ? height - 1 : gy;
            px[ly][lx] = src[gy * stride + gx];
        }
    }
    __syncthreads();
    if (x >= width || y >= height) return;

    const int n = (KR + 1) * (KR + 1);
    int bestVar = 0x7fffffff, bestMean = 0;
    for (int quad = 0; quad < 4; ++quad) {
        int x0 = threadIdx.x + ((quad & 1) ? KR : 0);
        int y0 = threadIdx.y + ((quad & 2) ? KR : 0);
        int s = 0, s2 = 0;
        for (int j = y0; j <= y0 + KR; ++j)
            for (int i = x0; i <= x0 + KR; ++i) {
                int v = px[j][i];
                s += v;
                s2 += v * v;
            }
        int var = s2 * n - s * s;
        if (var >= bestVar) continue;
        bestVar = var;
        bestMean = s / n;
    }
    dst[y * stride + x] = (uint8_t)bestMean;
}

// =========================================================== bicubic 2x enlargement
struct Cubic {
    static __device__ float w(float t)
    {
        t = fabsf(t);
        if (t < 1.f) return (1.5f * t - 2.5f) * t * t + 1.f;
        if (t < 2.f) return ((-0.5f * t + 2.5f) * t - 4.f) * t + 2.f;
        return 0.f;
    }
};

__global__ void upscale2x_bicubic(const float *lo, float *hi, int lw, int lh)
{
    // 32x32 outputs <- 16x16 inputs plus border of 2 each side
    __shared__ float s[20][21];
    const int lx0 = 16 * blockIdx.x - 2, ly0 = 16 * blockIdx.y - 2;
    int k = threadIdx.x + 32 * threadIdx.y;
    if (k < 400) {
        int a = k / 20, b = k % 20;
        s[a][b] = lo[min(max(ly0 + a, 0), lh - 1) * lw + min(max(lx0 + b, 0), lw - 1)];
    }
    __syncthreads();
    const int X = 32 * blockIdx.x + threadIdx.x;
    const int hw = 2 * lw, hh = 2 * lh;
    if (X >= hw) return;
    for (int q = 0; q < 2; ++q) {
        const int ty = threadIdx.y + 16 * q;
        const int Y = 32 * blockIdx.y + ty;
        if (Y >= hh) break;
        float fx = 0.5f * threadIdx.x - 0.25f, fy = 0.5f * ty - 0.25f;   // in tile coordinates
        int ix = (int)floorf(fx), iy = (int)floorf(fy);
        float sum = 0.f;
        for (int m = -1; m <= 2; ++m) {
            float line = 0.f;
            for (int n = -1; n <= 2; ++n) line += Cubic::w(fx - (ix + n)) * s[iy + m + 2][ix + n + 2];
            sum += Cubic::w(fy - (iy + m)) * line;
        }
        hi[(size_t)Y * hw + X] = sum;
    }
}

// =========================================================== FAST-9 corner score
__constant__ int circ_x[16] = {0, 1, 2, 3, 3, 3, 2, 1, 0, -1, -2, -3, -3, -3, -2, -1};
__constant__ int circ_y[16] = {-3, -3, -2, -1, 0, 1, 2, 3, 3, 3, 2, 1, 0, -1, -2, -3};

__global__ void fast9_score(const uint8_t *__restrict__ im, short *__restrict__ score, int cols, int rows, int thresh)
{
    __shared__ short sm[14][38];
    int c0 = blockIdx.x * 32 - 3, r0 = blockIdx.y * 8 - 3;
    for (int idx = threadIdx.y * 32 + threadIdx.x; idx < 14 * 38; idx += 256) {
        int rr = r0 + idx / 38, cc = c0 + idx % 38;
        short v = -1;
        if ((unsigned)rr < (unsigned)rows && (unsigned)cc < (unsigned)cols) v = im[rr * cols + cc];
        sm[idx / 38][idx % 38] = v;
    }
    __syncthreads();
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    if (c >= cols || r >= rows) return;
    if (c < 3 || r < 3 || c >= cols - 3 || r >= rows - 3) { score[r * cols + c] = 0; return; }
    const int p = sm[threadIdx.y + 3][threadIdx.x + 3];
    short ring[16];
    for (int i = 0; i < 16; ++i) ring[i] = (short)(sm[threadIdx.y + 3 + circ_y[i]][threadIdx.x + 3 + circ_x[i]] - p);
    int best = 0;
    for (int start = 0; start < 16; ++start) {
        int lo = 512, hi = -512;
        for (int k = 0; k < 9; ++k) {
            int d = ring[(start + k) & 15];
            lo = min(lo, d);
            hi = max(hi, d);
        }
        if (lo > best) best = lo;
        if (-hi > best) best = -hi;
    }
    score[r * cols + c] = best > thresh ? (short)best : (short)0;
}

// =========================================================== label propagation inside tiles (local CCL)
#define LT 16
__global__ void ccl_local_tile(const uint8_t *mask, int *labels, int w, int h, int cut)
{
    __shared__ int lab[2][LT + 2][LT + 2];
    const int x = blockIdx.x * LT + threadIdx.x, y = blockIdx.y * LT + threadIdx.y;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const int BIG = 1 << 20;
    for (int k = threadIdx.y * LT + threadIdx.x; k < 2 * (LT + 2) * (LT + 2); k += LT * LT) (&lab[0][0][0])[k] = BIG;
    __syncthreads();
    bool fg = x < w && y < h && mask[y * w + x] > cut;
    int me = fg ? threadIdx.y * LT + threadIdx.x : BIG;
    int src = 0;
    lab[src][ty][tx] = me;
    int changed;
    do {
        __syncthreads();
        int m = me;
        if (fg) {
            m = min(m, lab[src][ty][tx - 1]);
            m = min(m, lab[src][ty][tx + 1]);
            m = min(m, lab[src][ty - 1][tx]);
            m = min(m, lab[src][ty + 1][tx]);
        }
        lab[src ^ 1][ty][tx] = m;
        changed = __syncthreads_or(m != me);
        me = m;
        src ^= 1;
    } while (changed);
    if (x < w && y < h)
        labels[y * w + x] = fg ? ((int)blockIdx.y * LT + me / LT) * w + (int)blockIdx.x * LT + me % LT : -1;
}

int main()
{
    float taps[KERNEL_LENGTH];
    for (int i = 0; i < KERNEL_LENGTH; i++) taps[i] = 1.f / (4.f + abs(i - KERNEL_RADIUS));
    cudaMemcpyToSymbol(c_Kernel, taps, sizeof(taps));
    {
        const int imageW = 4096, imageH = 3072;
        float *src = mk<float>((size_t)imageW * imageH), *dst = mk<float>((size_t)imageW * imageH);
        dim3 blocks(imageW / (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X), imageH / ROWS_BLOCKDIM_Y);
        dim3 threads(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y);
        convolutionRowsKernel<<<blocks, threads>>>(dst, src, imageW, imageH, imageW);
        show("convolutionRowsKernel", dst, (size_t)imageW * imageH * 4);

        nlm_denoise<1, 4, 16><<<dim3(1001 / 16 + 1, 777 / 16 + 1), dim3(16, 16)>>>(src, dst, 1001, 777, 0.02f);
        show("nlm_denoise", dst, 1001 * 777 * 4);

        float *up = mk<float>((size_t)4 * 1910 * 1070);
        upscale2x_bicubic<<<dim3((1910 + 15) / 16, (1070 + 15) / 16), dim3(32, 16)>>>(src, up, 1910, 1070);
        show("upscale2x_bicubic", up, (size_t)4 * 1910 * 1070 * 4);
    }
    {
        const int rows = 2160, cols = 3840;
        uchar4 *in = (uchar4 *)noise_img((size_t)rows * cols * 4, 99u), *out = (uchar4 *)noise_img((size_t)rows * cols * 4, 5u);
        float hf[FW * FW], *df;
        for (int i = 0; i < FW * FW; ++i) hf[i] = 1.0f / (FW * FW + 1);
        cudaMalloc(&df, sizeof(hf));
        cudaMemcpy(df, hf, sizeof(hf), cudaMemcpyHostToDevice);
        const dim3 blockSize(20, 12, 1);
        const dim3 gridSize((cols + blockSize.x - 1) / blockSize.x, (rows + blockSize.y - 1) / blockSize.y, 1);
        blur_rgba<<<gridSize, blockSize>>>(in, out, rows, cols, df);
        show("blur_rgba", out, (size_t)rows * cols * 4);

        unsigned *partial = mk<unsigned>(1056 * 64);
        histogram64_perwarp<<<1056, HWARPS * 32>>>((const unsigned *)in, partial, rows * cols);
        show("histogram64_perwarp", partial, 1056 * 64 * 4);
    }
    {
        const int w = 3999, h = 2501, stride = 4032;
        uint8_t *a = noise_img((size_t)stride * h, 12345u), *b = noise_img((size_t)stride * h, 6u);
        kuwahara<<<dim3((w + KB - 1) / KB, (h + KB - 1) / KB), dim3(KB, KB)>>>(a, b, stride, w, h);
        show("kuwahara", b, (size_t)stride * h);
        short *sc = mk<short>((size_t)w * h);
        fast9_score<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a, sc, w, h, 20);
        show("fast9_score", sc, (size_t)w * h * 2);
        int *lb = mk<int>((size_t)w * h);
        ccl_local_tile<<<dim3((w + LT - 1) / LT, (h + LT - 1) / LT), dim3(LT, LT)>>>(a, lb, w, h, 110);
        show("ccl_local_tile", lb, (size_t)w * h * 4);
    }
    return 0;
}
