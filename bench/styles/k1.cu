// k1 -- image and volume processing: filters, morphology, histograms, transforms.
#include "shown.h"

#define DIVUP(a, b) (((a) + (b) - 1) / (b))
typedef unsigned char uchar;

__host__ __device__ inline int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }

/* ---------- Sobel: 16x16 outputs from an 18x18 tile, clamped borders ---------- */
#define TILE_W 16
#define TILE_H 16
#define SOBEL_R 1
#define BLOCK_W (TILE_W + 2 * SOBEL_R)
#define BLOCK_H (TILE_H + 2 * SOBEL_R)
__global__ void sobelFilter(const uchar *g_src, uchar *g_dst, int width, int height)
{
    __shared__ uchar sharedMem[BLOCK_H * BLOCK_W];

    int x = blockIdx.x * TILE_W + threadIdx.x - SOBEL_R;
    int y = blockIdx.y * TILE_H + threadIdx.y - SOBEL_R;

    int cx = max(0, x);
    cx = min(cx, width - 1);
    int cy = max(0, y);
    cy = min(cy, height - 1);

    unsigned int index = cy * width + cx;
    unsigned int bindex = threadIdx.y * blockDim.x + threadIdx.x;
    sharedMem[bindex] = g_src[index];
    __syncthreads();

    if (x < width && y < height &&
        threadIdx.x >= SOBEL_R && threadIdx.x < BLOCK_W - SOBEL_R &&
        threadIdx.y >= SOBEL_R && threadIdx.y < BLOCK_H - SOBEL_R) {
        int sumX = 0, sumY = 0;
        for (int dy = -SOBEL_R; dy <= SOBEL_R; dy++)
            for (int dx = -SOBEL_R; dx <= SOBEL_R; dx++) {
                int pix = sharedMem[bindex + dy * (int)blockDim.x + dx];
                sumX += pix * dx * (2 - abs(dy));
                sumY += pix * dy * (2 - abs(dx));
            }
        int mag = abs(sumX) + abs(sumY);
        g_dst[y * width + x] = (uchar)min(mag * 4, 255);
    }
}

/* ---------- box blur: threads stride over the halo tile ---------- */
template <int RADIUS, int TX, int TY>
__global__ void box_blur(const float *__restrict__ in, float *__restrict__ out, int w, int h, int pitch)
{
    constexpr int SW = TX + 2 * RADIUS;
    constexpr int SH = TY + 2 * RADIUS;
    __shared__ float smem[SH][SW];
    const int x0 = blockIdx.x * TX - RADIUS;
    const int y0 = blockIdx.y * TY - RADIUS;
    for (int j = threadIdx.y; j < SH; j += TY) {
        int gy = y0 + j;
        for (int i = threadIdx.x; i < SW; i += TX) {
            int gx = x0 + i;
            float v = 0.0f;
            if (gx >= 0 && gx < w && gy >= 0 && gy < h) v = in[gy * pitch + gx];
            smem[j][i] = v;
        }
    }
    __syncthreads();
    const int ox = blockIdx.x * TX + threadIdx.x;
    const int oy = blockIdx.y * TY + threadIdx.y;
    if (ox >= w || oy >= h) return;
    float acc = 0.0f;
#pragma unroll
    for (int j = 0; j <= 2 * RADIUS; ++j)
#pragma unroll
        for (int i = 0; i <= 2 * RADIUS; ++i)
            acc += smem[threadIdx.y + j][threadIdx.x + i];
    out[oy * pitch + ox] = acc * (1.0f / ((2 * RADIUS + 1) * (2 * RADIUS + 1)));
}

/* ---------- separable convolution, rows: several results per thread ---------- */
#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
__constant__ float c_Kernel[KERNEL_LENGTH];

#define ROWS_BLOCKDIM_X 16
#define ROWS_BLOCKDIM_Y 4
#define ROWS_RESULT_STEPS 8
#define ROWS_HALO_STEPS 1
__global__ void convolutionRowsKernel(float *d_Dst, const float *d_Src, int imageW, int imageH, int pitch)
{
    __shared__ float s_Data[ROWS_BLOCKDIM_Y][(ROWS_RESULT_STEPS + 2 * ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X];

    const int baseX = (blockIdx.x * ROWS_RESULT_STEPS - ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X + threadIdx.x;
    const int baseY = blockIdx.y * ROWS_BLOCKDIM_Y + threadIdx.y;

    d_Src += baseY * pitch + baseX;
    d_Dst += baseY * pitch + baseX;

#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = d_Src[i * ROWS_BLOCKDIM_X];
#pragma unroll
    for (int i = 0; i < ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (baseX >= -i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
#pragma unroll
    for (int i = ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS + ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (imageW - baseX > i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;

    __syncthreads();
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
            sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X + j];
        d_Dst[i * ROWS_BLOCKDIM_X] = sum;
    }
}

/* ---------- column pass, one result per thread, image of any size ---------- */
#define COL_W 16
#define COL_H 48
__global__ void convolutionColumnGPU(float *d_Result, const float *d_Data, int dataW, int dataH)
{
    __shared__ float data[COL_W * (KERNEL_RADIUS + COL_H + KERNEL_RADIUS)];
    const int tileStart = blockIdx.y * COL_H;
    const int tileEnd = tileStart + COL_H - 1;
    const int apronStart = tileStart - KERNEL_RADIUS;
    const int apronEnd = tileEnd + KERNEL_RADIUS;
    const int tileEndClamped = min(tileEnd, dataH - 1);
    const int columnStart = blockIdx.x * COL_W + threadIdx.x;
    const bool live = columnStart < dataW;

    int smemPos = threadIdx.y * COL_W + threadIdx.x;
    for (int y = apronStart + threadIdx.y; y <= apronEnd; y += blockDim.y) {
        data[smemPos] = (live && y >= 0 && y < dataH) ? d_Data[y * dataW + columnStart] : 0;
        smemPos += COL_W * blockDim.y;
    }
    __syncthreads();

    if (!live) return;
    smemPos = (threadIdx.y + KERNEL_RADIUS) * COL_W + threadIdx.x;
    for (int y = tileStart + threadIdx.y; y <= tileEndClamped; y += blockDim.y) {
        float sum = 0;
        for (int k = -KERNEL_RADIUS; k <= KERNEL_RADIUS; k++)
            sum += data[smemPos + k * COL_W] * c_Kernel[KERNEL_RADIUS - k];
        d_Result[y * dataW + columnStart] = sum;
        smemPos += COL_W * blockDim.y;
    }
}

/* ---------- 3x3 median, window in a private array ---------- */
__global__ void median3x3(const unsigned short *src, unsigned short *dst, int cols, int rows)
{
    __shared__ unsigned short surround[16 + 2][16 + 2];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int gx = blockIdx.x * 16 + tx, gy = blockIdx.y * 16 + ty;
    const bool left = tx == 0, right = tx == 15, top = ty == 0, bottom = ty == 15;
#define PIX(X, Y) (((X) >= 0 && (X) < cols && (Y) >= 0 && (Y) < rows) ? src[(size_t)(Y) * cols + (X)] : (unsigned short)0)
    surround[ty + 1][tx + 1] = PIX(gx, gy);
    if (left) surround[ty + 1][0] = PIX(gx - 1, gy);
    if (right) surround[ty + 1][17] = PIX(gx + 1, gy);
    if (top) {
        surround[0][tx + 1] = PIX(gx, gy - 1);
        if (left) surround[0][0] = PIX(gx - 1, gy - 1);
        if (right) surround[0][17] = PIX(gx + 1, gy - 1);
    }
    if (bottom) {
        surround[17][tx + 1] = PIX(gx, gy + 1);
        if (left) surround[17][0] = PIX(gx - 1, gy + 1);
        if (right) surround[17][17] = PIX(gx + 1, gy + 1);
    }
#undef PIX
    __syncthreads();

    unsigned short v[9];
    for (int i = 0; i < 9; ++i)
        v[i] = surround[ty + i / 3][tx + i % 3];
    for (int i = 0; i < 5; ++i) {
        for (int j = i + 1; j < 9; ++j)
            if (v[i] > v[j]) {
                unsigned short t = v[i];
                v[i] = v[j];
                v[j] = t;
            }
    }
    if (gx < cols && gy < rows) dst[(size_t)gy * cols + gx] = v[4];
}

/* ---------- 256 bins, one sub-histogram per warp ---------- */
#define WARP_COUNT 6
#define BINS 256
__global__ void histogram256Kernel(unsigned int *d_Hist, const unsigned int *d_Data, unsigned int dataCount)
{
    __shared__ unsigned int s_Hist[WARP_COUNT * BINS];
    unsigned int *s_WarpHist = s_Hist + (threadIdx.x >> 5) * BINS;
    for (unsigned int i = threadIdx.x; i < WARP_COUNT * BINS; i += blockDim.x) s_Hist[i] = 0;
    __syncthreads();
    for (unsigned int pos = blockIdx.x * blockDim.x + threadIdx.x; pos < dataCount; pos += blockDim.x * gridDim.x) {
        unsigned int d = d_Data[pos];
        atomicAdd(s_WarpHist + ((d >> 0) & 0xFFU), 1u);
        atomicAdd(s_WarpHist + ((d >> 8) & 0xFFU), 1u);
        atomicAdd(s_WarpHist + ((d >> 16) & 0xFFU), 1u);
        atomicAdd(s_WarpHist + ((d >> 24) & 0xFFU), 1u);
    }
    __syncthreads();
    for (unsigned int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        unsigned int sum = 0;
        for (unsigned int i = 0; i < WARP_COUNT; i++) sum += s_Hist[bin + i * BINS];
        d_Hist[blockIdx.x * BINS + bin] = sum;
    }
}

/* ---------- rotate by 90 degrees, RGBA pixels ---------- */
__global__ void rotate90(const uchar4 *in, uchar4 *out, int width, int height)
{
    __shared__ uchar4 patch[32][33];
    int x = blockIdx.x * 32 + threadIdx.x;
    for (int k = 0; k < 32; k += 8) {
        int y = blockIdx.y * 32 + threadIdx.y + k;
        if (x < width && y < height) patch[threadIdx.y + k][threadIdx.x] = in[(size_t)y * width + x];
    }
    __syncthreads();
    int sy = blockIdx.y * 32 + threadIdx.x;
    for (int k = 0; k < 32; k += 8) {
        int sx = blockIdx.x * 32 + threadIdx.y + k;
        if (sx < width && sy < height)
            out[(size_t)sx * height + (height - 1 - sy)] = patch[threadIdx.x][threadIdx.y + k];
    }
}

/* ---------- bilateral filter, dynamic tile ---------- */
__device__ __forceinline__ float rangeWeight(float a, float b, float inv2s) { float d = a - b; return __expf(-d * d * inv2s); }

__global__ void bilateral_filter(const float *image, float *filtered, int W, int H, int r, float inv_2sigma_s, float inv_2sigma_r)
{
    extern __shared__ float s_img[];
    const int tile_w = blockDim.x + 2 * r, tile_h = blockDim.y + 2 * r;
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    for (int p = tid; p < tile_w * tile_h; p += blockDim.x * blockDim.y) {
        int px = clampi((int)(blockIdx.x * blockDim.x) + p % tile_w - r, 0, W - 1);
        int py = clampi((int)(blockIdx.y * blockDim.y) + p / tile_w - r, 0, H - 1);
        s_img[p] = image[py * W + px];
    }
    __syncthreads();
    int gx = blockIdx.x * blockDim.x + threadIdx.x, gy = blockIdx.y * blockDim.y + threadIdx.y;
    if (gx < W && gy < H) {
        float centre = s_img[(threadIdx.y + r) * tile_w + threadIdx.x + r];
        float num = 0.f, den = 0.f;
        for (int dy = -r; dy <= r; ++dy)
            for (int dx = -r; dx <= r; ++dx) {
                float q = s_img[(threadIdx.y + r + dy) * tile_w + threadIdx.x + r + dx];
                float wgt = __expf(-(dx * dx + dy * dy) * inv_2sigma_s) * rangeWeight(q, centre, inv_2sigma_r);
                num += wgt * q;
                den += wgt;
            }
        filtered[gy * W + gx] = num / den;
    }
}

/* ---------- erosion by a segment along the row: min of 2R+1 pixels ---------- */
template <int R, int THREADS>
__global__ void erode_rows(const uchar *__restrict__ src, uchar *__restrict__ dst, int w, int h)
{
    __shared__ uchar line[THREADS + 2 * R];
    const int y = blockIdx.y;
    const int base = blockIdx.x * THREADS;
    for (int i = threadIdx.x; i < THREADS + 2 * R; i += THREADS) {
        int x = base + i - R;
        line[i] = (x < 0 || x >= w) ? 255 : src[(size_t)y * w + x];
    }
    __syncthreads();
    int x = base + threadIdx.x;
    if (x < w) {
        uchar m = line[threadIdx.x];
        for (int k = 1; k <= 2 * R; ++k) m = min((int)m, (int)line[threadIdx.x + k]);
        dst[(size_t)y * w + x] = m;
    }
}

/* ---------- gradient magnitude of a CT volume of shorts, 3-D block ---------- */
struct VolumeDims { int nx, ny, nz; };
__global__ void gradientMagnitude(const short *vol, float *grad, VolumeDims d)
{
    __shared__ short brick[4 + 2][8 + 2][8 + 2];
    const int bx = blockIdx.x * 8, by = blockIdx.y * 8, bz = blockIdx.z * 4;
    const int t = (threadIdx.z * 8 + threadIdx.y) * 8 + threadIdx.x;
    for (int i = t; i < 6 * 10 * 10; i += 8 * 8 * 4) {
        int lx = i % 10, ly = (i / 10) % 10, lz = i / 100;
        int x = clampi(bx + lx - 1, 0, d.nx - 1);
        int y = clampi(by + ly - 1, 0, d.ny - 1);
        int z = clampi(bz + lz - 1, 0, d.nz - 1);
        brick[lz][ly][lx] = vol[((size_t)z * d.ny + y) * d.nx + x];
    }
    __syncthreads();
    int x = bx + threadIdx.x, y = by + threadIdx.y, z = bz + threadIdx.z;
    if (x >= d.nx || y >= d.ny || z >= d.nz) return;
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1, lz = threadIdx.z + 1;
    float gx = 0.5f * (brick[lz][ly][lx + 1] - brick[lz][ly][lx - 1]);
    float gy = 0.5f * (brick[lz][ly + 1][lx] - brick[lz][ly - 1][lx]);
    float gz = 0.5f * (brick[lz + 1][ly][lx] - brick[lz - 1][ly][lx]);
    grad[((size_t)z * d.ny + y) * d.nx + x] = sqrtf(gx * gx + gy * gy + gz * gz);
}

/* ---------- 8x8 DCT by two products with the basis ---------- */
__constant__ float DCTv8matrix[64];
__global__ void CUDAkernel1DCT(float *Dst, const float *Src, int ImgWidth)
{
    __shared__ float CurBlockLocal1[64];
    __shared__ float CurBlockLocal2[64];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int pos = (blockIdx.y * 8 + ty) * ImgWidth + blockIdx.x * 8 + tx;
    CurBlockLocal1[(ty << 3) + tx] = Src[pos];
    __syncthreads();

    float curelem = 0;
    int DCTv8matrixIndex = 0 * 8 + ty;
    int CurBlockLocal1Index = 0 * 8 + tx;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        curelem += DCTv8matrix[DCTv8matrixIndex] * CurBlockLocal1[CurBlockLocal1Index];
        DCTv8matrixIndex += 8;
        CurBlockLocal1Index += 8;
    }
    CurBlockLocal2[(ty << 3) + tx] = curelem;
    __syncthreads();

    curelem = 0;
    int CurBlockLocal2Index = (ty << 3) + 0;
    DCTv8matrixIndex = 0 * 8 + tx;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        curelem += CurBlockLocal2[CurBlockLocal2Index] * DCTv8matrix[DCTv8matrixIndex];
        CurBlockLocal2Index += 1;
        DCTv8matrixIndex += 8;
    }
    Dst[pos] = curelem;
}

/* ---------- integral image, pass over rows (one block per row) ---------- */
__global__ void integralRows(const uchar *img, unsigned int *sum, int w)
{
    __shared__ unsigned int buf[2][512];
    unsigned int carry = 0;
    const uchar *row = img + (size_t)blockIdx.x * w;
    unsigned int *orow = sum + (size_t)blockIdx.x * w;
    for (int base = 0; base < w; base += 512) {
        int x = base + threadIdx.x;
        int cur = 0;
        buf[cur][threadIdx.x] = x < w ? row[x] : 0u;
        __syncthreads();
        for (int off = 1; off < 512; off <<= 1) {
            unsigned int v = buf[cur][threadIdx.x];
            if (threadIdx.x >= off) v += buf[cur][threadIdx.x - off];
            buf[cur ^ 1][threadIdx.x] = v;
            cur ^= 1;
            __syncthreads();
        }
        if (x < w) orow[x] = carry + buf[cur][threadIdx.x];
        carry += buf[cur][511];
        __syncthreads();
    }
}

int main()
{
    {
        int w = 4000, h = 3001;
        size_t N = (size_t)w * h;
        uchar *a = mk<uchar>(N), *b = mk<uchar>(N);
        unsigned int *s = mk<unsigned int>(N);
        sobelFilter<<<dim3(DIVUP(w, TILE_W), DIVUP(h, TILE_H)), dim3(BLOCK_W, BLOCK_H)>>>(a, b, w, h);
        show("sobelFilter", b, N);
        erode_rows<7, 256><<<dim3(DIVUP(w, 256), h), 256>>>(a, b, w, h);
        show("erode_rows", b, N);
        integralRows<<<h, 512>>>(a, s, w);
        show("integralRows", s, N * 4);
        unsigned short *u = mk<unsigned short>(N), *v = mk<unsigned short>(N);
        median3x3<<<dim3(DIVUP(w, 16), DIVUP(h, 16)), dim3(16, 16)>>>(u, v, w, h);
        show("median3x3", v, N * 2);
    }
    {
        int w = 3003, h = 2900, pitch = 3008;
        size_t N = (size_t)pitch * h;
        float *a = mk<float>(N), *b = mk<float>(N), *c = mk<float>(N);
        box_blur<3, 32, 8><<<dim3(DIVUP(w, 32), DIVUP(h, 8)), dim3(32, 8)>>>(a, b, w, h, pitch);
        show("box_blur_3", b, N * 4);
        box_blur<1, 32, 32><<<dim3(DIVUP(w, 32), DIVUP(h, 32)), dim3(32, 32)>>>(a, b, w, h, pitch);
        show("box_blur_1", b, N * 4);
        int r = 4;
        bilateral_filter<<<dim3(DIVUP(w, 16), DIVUP(h, 16)), dim3(16, 16), (16 + 2 * r) * (16 + 2 * r) * sizeof(float)>>>(a, c, w, h, r, 0.04f, 0.02f);
        show("bilateral_filter", c, (size_t)w * h * 4);
    }
    {
        float hk[KERNEL_LENGTH];
        for (int i = 0; i < KERNEL_LENGTH; ++i) hk[i] = (float)((i * 5) % 7 + 1) / 64.f;
        cudaMemcpyToSymbol(c_Kernel, hk, sizeof hk);
        int w = 3072, h = 3072;
        size_t N = (size_t)w * h;
        float *a = mk<float>(N), *b = mk<float>(N), *c = mk<float>(N);
        convolutionRowsKernel<<<dim3(w / (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X), h / ROWS_BLOCKDIM_Y), dim3(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y)>>>(b, a, w, h, w);
        show("convolutionRows", b, N * 4);
        int w2 = 3070, h2 = 3001;
        convolutionColumnGPU<<<dim3(DIVUP(w2, COL_W), DIVUP(h2, COL_H)), dim3(COL_W, 8)>>>(c, b, w2, h2);
        show("convolutionColumn", c, (size_t)w2 * h2 * 4);
    }
    {
        unsigned int n = 16000003u;
        unsigned int *d = mk<unsigned int>(n), *hist = mk<unsigned int>(480 * BINS);
        histogram256Kernel<<<480, WARP_COUNT * 32>>>(hist, d, n);
        show("histogram256", hist, 480 * BINS * 4);
    }
    {
        int w = 3500, h = 2777;
        size_t N = (size_t)w * h;
        uchar *a = mk<uchar>(N * 4), *b = mk<uchar>(N * 4);
        rotate90<<<dim3(DIVUP(w, 32), DIVUP(h, 32)), dim3(32, 8)>>>((uchar4 *)a, (uchar4 *)b, w, h);
        show("rotate90", b, N * 4);
    }
    {
        VolumeDims d = {300, 257, 190};
        size_t N = (size_t)d.nx * d.ny * d.nz;
        short *v = mk<short>(N);
        float *g = mk<float>(N);
        gradientMagnitude<<<dim3(DIVUP(d.nx, 8), DIVUP(d.ny, 8), DIVUP(d.nz, 4)), dim3(8, 8, 4)>>>(v, g, d);
        show("gradientMagnitude", g, N * 4);
    }
    {
        float m[64];
        for (int i = 0; i < 64; ++i) m[i] = (float)((i * 37) % 19 - 9) / 16.f;
        cudaMemcpyToSymbol(DCTv8matrix, m, sizeof m);
        int w = 4096, h = 4000;
        size_t N = (size_t)w * h;
        float *a = mk<float>(N), *b = mk<float>(N);
        CUDAkernel1DCT<<<dim3(w / 8, h / 8), dim3(8, 8)>>>(b, a, w);
        show("dct8x8", b, N * 4);
    }
    return 0;
}
