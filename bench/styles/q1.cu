// image processing kernels
#include "shown.h"

typedef unsigned char uchar;

static uchar *mk_image(int w, int h, unsigned seed)
{
    uchar *img = (uchar *)malloc((size_t)w * h), *d;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            seed = seed * 1664525u + 1013904223u;
            img[(size_t)y * w + x] = (uchar)(((x >> 3) + (y >> 2) + (seed >> 27)) & 255);
        }
    cudaMalloc(&d, (size_t)w * h);
    cudaMemcpy(d, img, (size_t)w * h, cudaMemcpyHostToDevice);
    free(img);
    return d;
}

// ---------------------------------------------------------------- bilateral
#define BIL_R 4
__constant__ float c_spatial[2 * BIL_R + 1];

__global__ void bilateral_filter_smem(const float *src, float *dst, int width, int height, float inv2sr)
{
    extern __shared__ float tile[];
    const int tw = blockDim.x + 2 * BIL_R;
    const int th = blockDim.y + 2 * BIL_R;
    const int x0 = (int)(blockIdx.x * blockDim.x) - BIL_R;
    const int y0 = (int)(blockIdx.y * blockDim.y) - BIL_R;

    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < tw * th; i += blockDim.x * blockDim.y) {
        int x = min(max(x0 + i % tw, 0), width - 1);
        int y = min(max(y0 + i / tw, 0), height - 1);
        tile[i] = src[y * width + x];
    }
    __syncthreads();

    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;

    const float center = tile[(threadIdx.y + BIL_R) * tw + threadIdx.x + BIL_R];
    float sum = 0.0f, norm = 0.0f;
    for (int dy = -BIL_R; dy <= BIL_R; dy++) {
        for (int dx = -BIL_R; dx <= BIL_R; dx++) {
            float v = tile[(threadIdx.y + BIL_R + dy) * tw + threadIdx.x + BIL_R + dx];
            float d = v - center;
            float wgt = c_spatial[dx + BIL_R] * c_spatial[dy + BIL_R] * expf(-d * d * inv2sr);
            sum += wgt * v;
            norm += wgt;
        }
    }
    dst[y * width + x] = sum / norm;
}

// ---------------------------------------------------------------- median 3x3
#define TILE_SIZE 16
__global__ void medianFilterSharedKernel(const uchar *inputImage, uchar *outputImage, int imageWidth, int imageHeight)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ uchar sharedmem[TILE_SIZE + 2][TILE_SIZE + 2];

    bool is_x_left = (threadIdx.x == 0), is_x_right = (threadIdx.x == TILE_SIZE - 1);
    bool is_y_top = (threadIdx.y == 0), is_y_bottom = (threadIdx.y == TILE_SIZE - 1);

    // initialise with zero
    if (is_x_left) sharedmem[threadIdx.y + 1][0] = 0;
    else if (is_x_right) sharedmem[threadIdx.y + 1][TILE_SIZE + 1] = 0;
    if (is_y_top) {
        sharedmem[0][threadIdx.x + 1] = 0;
        if (is_x_left) sharedmem[0][0] = 0;
        else if (is_x_right) sharedmem[0][TILE_SIZE + 1] = 0;
    } else if (is_y_bottom) {
        sharedmem[TILE_SIZE + 1][threadIdx.x + 1] = 0;
        if (is_x_right) sharedmem[TILE_SIZE + 1][TILE_SIZE + 1] = 0;
        else if (is_x_left) sharedmem[TILE_SIZE + 1][0] = 0;
    }

    bool inside = row < imageHeight && col < imageWidth;
    sharedmem[threadIdx.y + 1][threadIdx.x + 1] = inside ? inputImage[row * imageWidth + col] : (uchar)0;
    if (inside) {
        if (is_x_left && col > 0)
            sharedmem[threadIdx.y + 1][0] = inputImage[row * imageWidth + (col - 1)];
        else if (is_x_right && col < imageWidth - 1)
            sharedmem[threadIdx.y + 1][TILE_SIZE + 1] = inputImage[row * imageWidth + (col + 1)];
        if (is_y_top && row > 0) {
            sharedmem[0][threadIdx.x + 1] = inputImage[(row - 1) * imageWidth + col];
            if (is_x_left && col > 0)
                sharedmem[0][0] = inputImage[(row - 1) * imageWidth + (col - 1)];
            else if (is_x_right && col < imageWidth - 1)
                sharedmem[0][TILE_SIZE + 1] = inputImage[(row - 1) * imageWidth + (col + 1)];
        } else if (is_y_bottom && row < imageHeight - 1) {
            sharedmem[TILE_SIZE + 1][threadIdx.x + 1] = inputImage[(row + 1) * imageWidth + col];
            if (is_x_right && col < imageWidth - 1)
                sharedmem[TILE_SIZE + 1][TILE_SIZE + 1] = inputImage[(row + 1) * imageWidth + (col + 1)];
            else if (is_x_left && col > 0)
                sharedmem[TILE_SIZE + 1][0] = inputImage[(row + 1) * imageWidth + (col - 1)];
        }
    }
    __syncthreads();

    uchar filterVector[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            filterVector[i * 3 + j] = sharedmem[threadIdx.y + i][threadIdx.x + j];
    for (int i = 0; i < 9; i++) {
        for (int j = i + 1; j < 9; j++) {
            if (filterVector[i] > filterVector[j]) {
                uchar tmp = filterVector[i];
                filterVector[i] = filterVector[j];
                filterVector[j] = tmp;
            }
        }
    }
    if (inside) outputImage[row * imageWidth + col] = filterVector[4];
}

// ---------------------------------------------------------------- erosion, block = input tile
#define SE_R 2
#define BLOCK_W 32
#define OUT_W (BLOCK_W - 2 * SE_R)
__constant__ uchar structuring[2 * SE_R + 1][2 * SE_R + 1];

__global__ void erode_structuring_element(const uchar *in, uchar *out, int w, int h)
{
    __shared__ uchar s[BLOCK_W][BLOCK_W];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * OUT_W + tx - SE_R;
    int y = blockIdx.y * OUT_W + ty - SE_R;
    if (x < 0 || y < 0 || x >= w || y >= h) s[ty][tx] = 255;
    else s[ty][tx] = in[y * w + x];
    __syncthreads();
    if (tx < SE_R || tx >= BLOCK_W - SE_R || ty < SE_R || ty >= BLOCK_W - SE_R) return;
    if (x >= w || y >= h) return;
    uchar m = 255;
    for (int j = -SE_R; j <= SE_R; ++j)
        for (int i = -SE_R; i <= SE_R; ++i)
            if (structuring[j + SE_R][i + SE_R]) {
                uchar v = s[ty + j][tx + i];
                if (v < m) m = v;
            }
    out[y * w + x] = m;
}

// ---------------------------------------------------------------- Canny: gradient + non-maximum suppression
#define CB_X 32
#define CB_Y 8
__global__ void canny_gradient_nms(const float *gray, float *edges, int width, int height, float lowThreshold)
{
    __shared__ float pix[CB_Y + 4][CB_X + 4];
    __shared__ float mag[CB_Y + 2][CB_X + 2];
    __shared__ unsigned char dir[CB_Y + 2][CB_X + 2];

    int bx = blockIdx.x * CB_X, by = blockIdx.y * CB_Y;
    int tid = threadIdx.y * CB_X + threadIdx.x;

    for (int k = tid; k < (CB_Y + 4) * (CB_X + 4); k += CB_X * CB_Y) {
        int ly = k / (CB_X + 4), lx = k % (CB_X + 4);
        int gx = bx + lx - 2, gy = by + ly - 2;
        pix[ly][lx] = (gx >= 0 && gx < width && gy >= 0 && gy < height) ? gray[gy * width + gx] : 0.f;
    }
    __syncthreads();

    for (int k = tid; k < (CB_Y + 2) * (CB_X + 2); k += CB_X * CB_Y) {
        int ly = k / (CB_X + 2), lx = k % (CB_X + 2);
        float gx = pix[ly][lx + 2] - pix[ly][lx] + 2.f * (pix[ly + 1][lx + 2] - pix[ly + 1][lx]) + pix[ly + 2][lx + 2] - pix[ly + 2][lx];
        float gy = pix[ly + 2][lx] - pix[ly][lx] + 2.f * (pix[ly + 2][lx + 1] - pix[ly][lx + 1]) + pix[ly + 2][lx + 2] - pix[ly][lx + 2];
        mag[ly][lx] = sqrtf(gx * gx + gy * gy);
        float ax = fabsf(gx), ay = fabsf(gy);
        unsigned char d;
        if (ay < 0.4142f * ax) d = 0;
        else if (ay > 2.4142f * ax) d = 2;
        else d = (gx * gy > 0.f) ? 1 : 3;
        dir[ly][lx] = d;
    }
    __syncthreads();

    int x = bx + threadIdx.x, y = by + threadIdx.y;
    if (x < width && y < height) {
        int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
        float m = mag[ly][lx], a, b;
        switch (dir[ly][lx]) {
        case 0: a = mag[ly][lx - 1]; b = mag[ly][lx + 1]; break;
        case 1: a = mag[ly - 1][lx - 1]; b = mag[ly + 1][lx + 1]; break;
        case 2: a = mag[ly - 1][lx]; b = mag[ly + 1][lx]; break;
        default: a = mag[ly - 1][lx + 1]; b = mag[ly + 1][lx - 1]; break;
        }
        edges[y * width + x] = (m >= a && m >= b && m > lowThreshold) ? m : 0.f;
    }
}

// ---------------------------------------------------------------- integral image, row pass
#define ROW_THREADS 256
__global__ void integral_image_rows(const uchar *img, unsigned *integral, int width)
{
    __shared__ unsigned sums[2][ROW_THREADS];
    const int tid = threadIdx.x;
    const uchar *row = img + (size_t)blockIdx.x * width;
    unsigned *dst = integral + (size_t)blockIdx.x * width;
    const int per = (width + ROW_THREADS - 1) / ROW_THREADS;
    const int begin = tid * per;
    const int end = min(begin + per, width);

    unsigned local = 0;
    for (int i = begin; i < end; i++) local += row[i];
    int pin = 0;
    sums[0][tid] = local;
    __syncthreads();
    for (int off = 1; off < ROW_THREADS; off <<= 1) {
        int pout = 1 - pin;
        if (tid >= off) sums[pout][tid] = sums[pin][tid] + sums[pin][tid - off];
        else sums[pout][tid] = sums[pin][tid];
        pin = pout;
        __syncthreads();
    }
    unsigned run = tid > 0 ? sums[pin][tid - 1] : 0;
    for (int i = begin; i < end; i++) {
        run += row[i];
        dst[i] = run;
    }
}

// ---------------------------------------------------------------- demosaic RGGB, mirrored border
__device__ __forceinline__ int reflect101(int i, int n)
{
    if (i < 0) i = -i;
    if (i >= n) i = 2 * n - 2 - i;
    return i;
}

#define DM_X 32
#define DM_Y 16
__global__ void demosaic_bilinear_rggb(const short *raw, short *r, short *g, short *b, int w, int h)
{
    __shared__ short t[DM_Y + 2][DM_X + 2];
    const int ox = blockIdx.x * DM_X - 1, oy = blockIdx.y * DM_Y - 1;
    for (int j = threadIdx.y; j < DM_Y + 2; j += DM_Y)
        for (int i = threadIdx.x; i < DM_X + 2; i += DM_X) {
            int sx = reflect101(ox + i, w), sy = reflect101(oy + j, h);
            sx = max(0, min(w - 1, sx));
            sy = max(0, min(h - 1, sy));
            t[j][i] = raw[sy * w + sx];
        }
    __syncthreads();
    const int x = blockIdx.x * DM_X + threadIdx.x, y = blockIdx.y * DM_Y + threadIdx.y;
    if (x >= w || y >= h) return;
    const int i = threadIdx.x + 1, j = threadIdx.y + 1;
    const int c = t[j][i];
    const int hor = (t[j][i - 1] + t[j][i + 1]) / 2;
    const int ver = (t[j - 1][i] + t[j + 1][i]) / 2;
    const int crs = (t[j][i - 1] + t[j][i + 1] + t[j - 1][i] + t[j + 1][i]) / 4;
    const int dia = (t[j - 1][i - 1] + t[j - 1][i + 1] + t[j + 1][i - 1] + t[j + 1][i + 1]) / 4;
    int R, G, B;
    if ((y & 1) == 0) {
        if ((x & 1) == 0) { R = c; G = crs; B = dia; }
        else { R = hor; G = c; B = ver; }
    } else {
        if ((x & 1) == 0) { R = ver; G = c; B = hor; }
        else { R = dia; G = crs; B = c; }
    }
    const int o = y * w + x;
    r[o] = (short)R; g[o] = (short)G; b[o] = (short)B;
}

// ---------------------------------------------------------------- vertical box blur with a private ring
#define BOX_R 5
#define BOX_D (2 * BOX_R + 1)
__global__ void box_blur_column_ring(const float *src, float *dst, int width, int height, int rowsPerThread)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    int yBegin = blockIdx.y * rowsPerThread;
    int yEnd = min(yBegin + rowsPerThread, height);

    float ring[BOX_D];
    for (int k = 0; k < BOX_D; k++) {
        int y = min(max(yBegin - BOX_R - 1 + k, 0), height - 1);
        ring[k] = src[(size_t)y * width + x];
    }
    int head = 0;      // the oldest entry
    for (int y = yBegin; y < yEnd; y++) {
        int yy = min(y + BOX_R, height - 1);
        ring[head] = src[(size_t)yy * width + x];
        head = head + 1 == BOX_D ? 0 : head + 1;
        float sum = 0.f;
        for (int k = 0; k < BOX_D; k++) sum += ring[k];
        dst[(size_t)y * width + x] = sum * (1.0f / BOX_D);
    }
}

// ---------------------------------------------------------------- CLAHE: one lookup table for each tile
#define CLAHE_TILE 64
#define NBINS 256
__global__ void clahe_tile_lut(const uchar *img, uchar *lut, int pitch, int clipLimit)
{
    __shared__ int hist[NBINS];
    __shared__ int excess[NBINS];
    const int t = threadIdx.x;
    hist[t] = 0;
    __syncthreads();
    const uchar *base = img + (size_t)blockIdx.y * CLAHE_TILE * pitch + blockIdx.x * CLAHE_TILE;
    for (int i = t; i < CLAHE_TILE * CLAHE_TILE; i += NBINS)
        atomicAdd(&hist[base[(i / CLAHE_TILE) * pitch + i % CLAHE_TILE]], 1);
    __syncthreads();

    int v = hist[t];
    excess[t] = v > clipLimit ? v - clipLimit : 0;
    if (v > clipLimit) hist[t] = clipLimit;
    __syncthreads();
    for (int s = NBINS >> 1; s > 0; s >>= 1) {
        if (t < s) excess[t] += excess[t + s];
        __syncthreads();
    }
    int total = excess[0];
    hist[t] += total / NBINS + (t < total % NBINS ? 1 : 0);
    __syncthreads();

    // cumulative histogram in place
    for (int d = 1; d < NBINS; d *= 2) {
        int add = 0;
        if (t >= d) add = hist[t - d];
        __syncthreads();
        hist[t] += add;
        __syncthreads();
    }
    int cdf = hist[t] * 255 / (CLAHE_TILE * CLAHE_TILE);
    lut[((size_t)blockIdx.y * gridDim.x + blockIdx.x) * NBINS + t] = (uchar)min(cdf, 255);
}

int main()
{
    const int W = 4000, H = 3000;
    const size_t n = (size_t)W * H;
    float *src = mk<float>(n), *dst = mk<float>(n);
    uchar *img = mk_image(W, H, 1u), *img2 = mk<uchar>(n);

    float g[2 * BIL_R + 1];
    for (int i = 0; i < 2 * BIL_R + 1; i++) g[i] = 1.f / (1.f + 0.2f * (i - BIL_R) * (i - BIL_R));
    cudaMemcpyToSymbol(c_spatial, g, sizeof(g));
    uchar se[5][5] = {{0, 1, 1, 1, 0}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {0, 1, 1, 1, 0}};
    cudaMemcpyToSymbol(structuring, se, sizeof(se));

    {
        int w = 1920, h = 1080;
        dim3 b(16, 16), gr((w + 15) / 16, (h + 15) / 16);
        bilateral_filter_smem<<<gr, b, (16 + 2 * BIL_R) * (16 + 2 * BIL_R) * sizeof(float)>>>(src, dst, w, h, 0.03f);
        show("bilateral_filter_smem", dst, (size_t)w * h * 4);
    }
    medianFilterSharedKernel<<<dim3((W + 15) / 16, (H + 15) / 16), dim3(16, 16)>>>(img, img2, W, H);
    show("medianFilterSharedKernel", img2, n);

    erode_structuring_element<<<dim3((W + OUT_W - 1) / OUT_W, (H + OUT_W - 1) / OUT_W), dim3(BLOCK_W, BLOCK_W)>>>(img, img2, W, H);
    show("erode_structuring_element", img2, n);

    canny_gradient_nms<<<dim3((W + CB_X - 1) / CB_X, (H + CB_Y - 1) / CB_Y), dim3(CB_X, CB_Y)>>>(src, dst, W, H, 2.5f);
    show("canny_gradient_nms", dst, n * 4);

    unsigned *integral = mk<unsigned>(n);
    integral_image_rows<<<H, ROW_THREADS>>>(img, integral, W);
    show("integral_image_rows", integral, n * 4);

    short *raw = mk<short>(n), *r = mk<short>(n), *gg = mk<short>(n), *bb = mk<short>(n);
    demosaic_bilinear_rggb<<<dim3((W + DM_X - 1) / DM_X, (H + DM_Y - 1) / DM_Y), dim3(DM_X, DM_Y)>>>(raw, r, gg, bb, W, H);
    show("demosaic_bilinear_rggb r", r, n * 2);
    show("demosaic_bilinear_rggb g", gg, n * 2);
    show("demosaic_bilinear_rggb b", bb, n * 2);

    box_blur_column_ring<<<dim3((W + 127) / 128, (H + 63) / 64), 128>>>(src, dst, W, H, 64);
    show("box_blur_column_ring", dst, n * 4);

    uchar *big = mk_image(4096, 4096, 7u), *lut = mk<uchar>(64 * 64 * 256);
    clahe_tile_lut<<<dim3(64, 64), NBINS>>>(big, lut, 4096, 40);
    show("clahe_tile_lut", lut, 64 * 64 * 256);
    return 0;
}
