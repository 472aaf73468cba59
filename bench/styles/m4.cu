// image filters
#include "shown.h"
#include <cuda_fp16.h>
#include <cstdint>
#include <vector>

typedef unsigned char uchar;

template <class T, class F> T *upload(size_t n, F f)
{
    std::vector<T> h(n);
    for (size_t i = 0; i < n; i++) h[i] = f(i);
    T *d;
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    return d;
}

static inline int iDivUp(int a, int b) { return (a % b != 0) ? (a / b + 1) : (a / b); }

// ---------------------------------------------------------------- Sobel
#define SOBEL_BX 32
#define SOBEL_BY 16
__global__ void sobel_u8(const uchar *__restrict__ src, size_t srcPitch, uchar *__restrict__ dst, size_t dstPitch, int width, int height, int threshold)
{
    __shared__ uchar sm[SOBEL_BY + 2][SOBEL_BX + 4];
    const int x0 = blockIdx.x * SOBEL_BX, y0 = blockIdx.y * SOBEL_BY;
    // borders replicated
    for (int y = threadIdx.y; y < SOBEL_BY + 2; y += blockDim.y) {
        int gy = min(max(y0 + y - 1, 0), height - 1);
        const uchar *row = src + gy * srcPitch;
        for (int x = threadIdx.x; x < SOBEL_BX + 2; x += blockDim.x)
            sm[y][x] = row[min(max(x0 + x - 1, 0), width - 1)];
    }
    __syncthreads();
    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= width || y >= height) return;
    const int tx = threadIdx.x, ty = threadIdx.y;
    int ul = sm[ty][tx], um = sm[ty][tx + 1], ur = sm[ty][tx + 2];
    int ml = sm[ty + 1][tx], mr = sm[ty + 1][tx + 2];
    int ll = sm[ty + 2][tx], lm = sm[ty + 2][tx + 1], lr = sm[ty + 2][tx + 2];
    int horz = ur + 2 * mr + lr - ul - 2 * ml - ll;
    int vert = ul + 2 * um + ur - ll - 2 * lm - lr;
    int mag = abs(horz) + abs(vert);
    mag = mag > 255 ? 255 : mag;
    dst[y * dstPitch + x] = mag > threshold ? (uchar)mag : 0;
}

// ---------------------------------------------------------------- bilateral
#define BILAT_R 3
#define BILAT_T 16
#define BILAT_W (BILAT_T + 2 * BILAT_R)
__constant__ float cGaussian[2 * BILAT_R + 1];
__global__ void bilateral_filter(const float *in, float *out, int w, int h, float e_d)
{
    __shared__ float tile[BILAT_W * BILAT_W];
    int x = blockIdx.x * BILAT_T + threadIdx.x;
    int y = blockIdx.y * BILAT_T + threadIdx.y;
    int tid = threadIdx.y * blockDim.x + threadIdx.x;
    for (int p = tid; p < BILAT_W * BILAT_W; p += BILAT_T * BILAT_T) {
        int gx = (int)(blockIdx.x * BILAT_T) + p % BILAT_W - BILAT_R;
        int gy = (int)(blockIdx.y * BILAT_T) + p / BILAT_W - BILAT_R;
        gx = gx < 0 ? -gx : (gx >= w ? 2 * w - 2 - gx : gx); // mirror
        gy = gy < 0 ? -gy : (gy >= h ? 2 * h - 2 - gy : gy);
        gx = max(0, min(gx, w - 1));
        gy = max(0, min(gy, h - 1));
        tile[p] = in[(size_t)gy * w + gx];
    }
    __syncthreads();
    if (x >= w || y >= h) return;
    float center = tile[(threadIdx.y + BILAT_R) * BILAT_W + threadIdx.x + BILAT_R];
    float sum = 0.0f, t = 0.f;
    for (int i = -BILAT_R; i <= BILAT_R; i++)
        for (int j = -BILAT_R; j <= BILAT_R; j++) {
            float cur = tile[(threadIdx.y + BILAT_R + i) * BILAT_W + threadIdx.x + BILAT_R + j];
            float mod = cur - center;
            float factor = cGaussian[i + BILAT_R] * cGaussian[j + BILAT_R] * __expf(-(mod * mod) / (2 * e_d * e_d));
            t += factor * cur;
            sum += factor;
        }
    out[(size_t)y * w + x] = t / sum;
}

// ---------------------------------------------------------------- 3x3 median: window in a local array
#define MED_X 16
#define MED_Y 16
__global__ void medianFilterKernel(unsigned short *inputImage, unsigned short *outputImage, int imageWidth, int imageHeight)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned short filterVector[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    __shared__ unsigned short sharedmem[(MED_Y + 2)][(MED_X + 2)];
    bool is_x_left = (threadIdx.x == 0), is_x_right = (threadIdx.x == MED_X - 1);
    bool is_y_top = (threadIdx.y == 0), is_y_bottom = (threadIdx.y == MED_Y - 1);

    // initialize with zero
    if (is_x_left) sharedmem[threadIdx.y + 1][0] = 0;
    else if (is_x_right) sharedmem[threadIdx.y + 1][MED_X + 1] = 0;
    if (is_y_top) {
        sharedmem[0][threadIdx.x + 1] = 0;
        if (is_x_left) sharedmem[0][0] = 0;
        else if (is_x_right) sharedmem[0][MED_X + 1] = 0;
    } else if (is_y_bottom) {
        sharedmem[MED_Y + 1][threadIdx.x + 1] = 0;
        if (is_x_left) sharedmem[MED_Y + 1][0] = 0;
        else if (is_x_right) sharedmem[MED_Y + 1][MED_X + 1] = 0;
    }
    bool inside = row < imageHeight && col < imageWidth;
    sharedmem[threadIdx.y + 1][threadIdx.x + 1] = inside ? inputImage[row * imageWidth + col] : 0;
    if (inside) {
        if (is_x_left && col > 0) sharedmem[threadIdx.y + 1][0] = inputImage[row * imageWidth + (col - 1)];
        if (is_x_right && col < imageWidth - 1) sharedmem[threadIdx.y + 1][MED_X + 1] = inputImage[row * imageWidth + (col + 1)];
        if (is_y_top && row > 0) {
            sharedmem[0][threadIdx.x + 1] = inputImage[(row - 1) * imageWidth + col];
            if (is_x_left && col > 0) sharedmem[0][0] = inputImage[(row - 1) * imageWidth + (col - 1)];
            if (is_x_right && col < imageWidth - 1) sharedmem[0][MED_X + 1] = inputImage[(row - 1) * imageWidth + (col + 1)];
        }
        if (is_y_bottom && row < imageHeight - 1) {
            sharedmem[MED_Y + 1][threadIdx.x + 1] = inputImage[(row + 1) * imageWidth + col];
            if (is_x_left && col > 0) sharedmem[MED_Y + 1][0] = inputImage[(row + 1) * imageWidth + (col - 1)];
            if (is_x_right && col < imageWidth - 1) sharedmem[MED_Y + 1][MED_X + 1] = inputImage[(row + 1) * imageWidth + (col + 1)];
        }
    }
    __syncthreads();

    for (int x = 0; x < 3; x++)
        for (int y = 0; y < 3; y++)
            filterVector[x * 3 + y] = sharedmem[threadIdx.y + x][threadIdx.x + y];
    // bubble sort
    for (int i = 0; i < 9; i++)
        for (int j = i + 1; j < 9; j++)
            if (filterVector[i] > filterVector[j]) {
                unsigned short tmp = filterVector[i];
                filterVector[i] = filterVector[j];
                filterVector[j] = tmp;
            }
    if (inside) outputImage[row * imageWidth + col] = filterVector[4];
}

// ---------------------------------------------------------------- box filter on rows of RGBA
#define BOX_THREADS 256
#define BOX_R 7
__global__ void box_row_rgba(const uchar4 *src, uchar4 *dst, int width, int height)
{
    __shared__ uchar4 seg[BOX_THREADS + 2 * BOX_R];
    int y = blockIdx.y;
    int start = blockIdx.x * BOX_THREADS;
    const uchar4 *row = src + (size_t)y * width;
    for (int i = threadIdx.x; i < BOX_THREADS + 2 * BOX_R; i += BOX_THREADS) {
        int x = start + i - BOX_R;
        if (x < 0) x = 0;
        if (x > width - 1) x = width - 1;
        seg[i] = row[x];
    }
    __syncthreads();
    int x = start + threadIdx.x;
    if (x < width) {
        int4 acc = make_int4(0, 0, 0, 0);
        for (int k = 0; k <= 2 * BOX_R; k++) {
            uchar4 p = seg[threadIdx.x + k];
            acc.x += p.x;
            acc.y += p.y;
            acc.z += p.z;
            acc.w += p.w;
        }
        const int n = 2 * BOX_R + 1;
        dst[(size_t)y * width + x] = make_uchar4((acc.x + n / 2) / n, (acc.y + n / 2) / n, (acc.z + n / 2) / n, (acc.w + n / 2) / n);
    }
}

// ---------------------------------------------------------------- morphology
template <int RADIO, bool DILATE>
__global__ void morph_tile(const short *in, short *out, int w, int h)
{
    extern __shared__ short smem[];
    const int tile_w = blockDim.x - 2 * RADIO, tile_h = blockDim.y - 2 * RADIO;
    int tx = threadIdx.x, ty = threadIdx.y;
    int bx = blockIdx.x, by = blockIdx.y;
    int x = bx * tile_w + tx - RADIO;
    int y = by * tile_h + ty - RADIO;
    const short neutral = DILATE ? -32768 : 32767;
    smem[ty * blockDim.x + tx] = (x < 0 || y < 0 || x >= w || y >= h) ? neutral : in[y * w + x];
    __syncthreads();
    if (x >= w || x < 0 || y >= h || y < 0) return;
    if (x < (bx * tile_w) || x >= (bx * tile_w + tile_w)) return;
    if (y < (by * tile_h) || y >= (by * tile_h + tile_h)) return;
    const short *smem_thread = &smem[(ty - RADIO) * blockDim.x + tx - RADIO];
    short val = smem_thread[0];
    for (int yy = 0; yy <= 2 * RADIO; yy++) {
        for (int xx = 0; xx <= 2 * RADIO; xx++)
            val = DILATE ? max(val, smem_thread[xx]) : min(val, smem_thread[xx]);
        smem_thread += blockDim.x;
    }
    out[y * w + x] = val;
}

// ---------------------------------------------------------------- unsharp mask, both passes in one kernel
#define UW 32
#define UH 8
#define UR 4
__constant__ float gk[2 * UR + 1];
__global__ void unsharp_mask(const float *__restrict__ img, float *__restrict__ res, int W, int H, float amount)
{
    __shared__ float raw[UH + 2 * UR][UW + 2 * UR];
    __shared__ float hor[UH + 2 * UR][UW];
    int ox = blockIdx.x * UW, oy = blockIdx.y * UH;
    for (int j = threadIdx.y; j < UH + 2 * UR; j += UH)
        for (int i = threadIdx.x; i < UW + 2 * UR; i += UW) {
            int xx = ox + i - UR, yy = oy + j - UR;
            float v = 0.0f;
            if (xx >= 0 && xx < W && yy >= 0 && yy < H) v = img[yy * W + xx];
            raw[j][i] = v;
        }
    __syncthreads();
    for (int j = threadIdx.y; j < UH + 2 * UR; j += UH) {
        float s = 0.f;
#pragma unroll
        for (int k = 0; k < 2 * UR + 1; k++) s += gk[k] * raw[j][threadIdx.x + k];
        hor[j][threadIdx.x] = s;
    }
    __syncthreads();
    float s = 0.f;
#pragma unroll
    for (int k = 0; k < 2 * UR + 1; k++) s += gk[k] * hor[threadIdx.y + k][threadIdx.x];
    int x = ox + threadIdx.x, y = oy + threadIdx.y;
    if (x < W && y < H) {
        float o = raw[threadIdx.y + UR][threadIdx.x + UR];
        res[y * W + x] = o + amount * (o - s);
    }
}

// ---------------------------------------------------------------- oil painting: histogram per pixel in local arrays
#define OIL_B 16
#define OIL_R 3
#define OIL_LEVELS 12
__global__ void oil_paint(const uchar *r, const uchar *g, const uchar *b, uchar *out, int w, int h)
{
    __shared__ uchar sr[OIL_B + 2 * OIL_R][OIL_B + 2 * OIL_R], sg[OIL_B + 2 * OIL_R][OIL_B + 2 * OIL_R], sb[OIL_B + 2 * OIL_R][OIL_B + 2 * OIL_R];
    const int T = OIL_B + 2 * OIL_R;
    for (int k = threadIdx.y * OIL_B + threadIdx.x; k < T * T; k += OIL_B * OIL_B) {
        int sy = k / T, sx = k - sy * T;
        int gx = min(max((int)blockIdx.x * OIL_B + sx - OIL_R, 0), w - 1);
        int gy = min(max((int)blockIdx.y * OIL_B + sy - OIL_R, 0), h - 1);
        int o = gy * w + gx;
        sr[sy][sx] = r[o];
        sg[sy][sx] = g[o];
        sb[sy][sx] = b[o];
    }
    __syncthreads();
    int count[OIL_LEVELS], sumR[OIL_LEVELS], sumG[OIL_LEVELS], sumB[OIL_LEVELS];
    for (int i = 0; i < OIL_LEVELS; i++) count[i] = sumR[i] = sumG[i] = sumB[i] = 0;
    for (int dy = 0; dy <= 2 * OIL_R; dy++)
        for (int dx = 0; dx <= 2 * OIL_R; dx++) {
            int R = sr[threadIdx.y + dy][threadIdx.x + dx], G = sg[threadIdx.y + dy][threadIdx.x + dx], B = sb[threadIdx.y + dy][threadIdx.x + dx];
            int level = (R + G + B) / 3 * OIL_LEVELS / 256;
            count[level]++;
            sumR[level] += R;
            sumG[level] += G;
            sumB[level] += B;
        }
    int best = 0;
    for (int i = 1; i < OIL_LEVELS; i++)
        if (count[i] > count[best]) best = i;
    int x = blockIdx.x * OIL_B + threadIdx.x, y = blockIdx.y * OIL_B + threadIdx.y;
    if (x < w && y < h) {
        uchar *p = out + 3 * (y * w + x);
        p[0] = sumR[best] / count[best];
        p[1] = sumG[best] / count[best];
        p[2] = sumB[best] / count[best];
    }
}

// ---------------------------------------------------------------- half precision 5x5 gaussian, wrap around borders
__global__ void gauss5_half(const __half *in, __half *out, int w, int h)
{
    const float wt[5] = {1.f / 16, 4.f / 16, 6.f / 16, 4.f / 16, 1.f / 16};
    __shared__ __half t[12][68];
    int bx = blockIdx.x * 64 - 2, by = blockIdx.y * 8 - 2;
    for (int y = threadIdx.y; y < 12; y += 8)
        for (int x = threadIdx.x; x < 68; x += 64) {
            int gx = (bx + x + w) % w, gy = (by + y + h) % h;
            t[y][x] = in[(size_t)gy * w + gx];
        }
    __syncthreads();
    float acc = 0.f;
#pragma unroll
    for (int y = 0; y < 5; y++) {
        float rowsum = 0.f;
#pragma unroll
        for (int x = 0; x < 5; x++) rowsum += wt[x] * __half2float(t[threadIdx.y + y][threadIdx.x + x]);
        acc += wt[y] * rowsum;
    }
    int gx = bx + 2 + threadIdx.x, gy = by + 2 + threadIdx.y;
    if (gx < w && gy < h) out[(size_t)gy * w + gx] = __float2half(acc);
}

int main()
{
    const int W = 3845, H = 2163;
    const size_t N = (size_t)W * H;
    auto noise = [](size_t i) { return (uchar)((i * 2654435761u) >> 13); };
    uchar *img8 = upload<uchar>(4 * N + 64, noise);
    uchar *out8;
    cudaMalloc(&out8, 4 * N + 64);
    cudaMemset(out8, 0, 4 * N + 64);
    size_t pitch = (W + 127) / 128 * 128;
    uchar *pimg = upload<uchar>(pitch * H, noise), *pout;
    cudaMalloc(&pout, pitch * H);
    cudaMemset(pout, 0, pitch * H);
    float *f = upload<float>(N, [&](size_t i) { return noise(i) / 255.f; }), *fo = mk<float>(N);

    float g[2 * BILAT_R + 1], u[2 * UR + 1], us = 0;
    for (int i = 0; i <= 2 * BILAT_R; i++) g[i] = 1.f / (1 + (i - BILAT_R) * (i - BILAT_R));
    for (int i = 0; i <= 2 * UR; i++) us += u[i] = 1.f / (2 + (i - UR) * (i - UR));
    for (int i = 0; i <= 2 * UR; i++) u[i] /= us;
    cudaMemcpyToSymbol(cGaussian, g, sizeof g);
    cudaMemcpyToSymbol(gk, u, sizeof u);

    sobel_u8<<<dim3(iDivUp(W, SOBEL_BX), iDivUp(H, SOBEL_BY)), dim3(SOBEL_BX, SOBEL_BY)>>>(pimg, pitch, pout, pitch, W, H, 60);
    show("sobel_u8", pout, pitch * H);

    bilateral_filter<<<dim3(iDivUp(W, BILAT_T), iDivUp(H, BILAT_T)), dim3(BILAT_T, BILAT_T)>>>(f, fo, W, H, 0.2f);
    show("bilateral_filter", fo, N * 4);

    unsigned short *s = upload<unsigned short>(N, [](size_t i) { return (unsigned short)((i * 40503u) >> 3); }), *so = mk<unsigned short>(N);
    medianFilterKernel<<<dim3(iDivUp(W, MED_X), iDivUp(H, MED_Y)), dim3(MED_X, MED_Y)>>>(s, so, W, H);
    show("medianFilterKernel", so, N * 2);

    box_row_rgba<<<dim3(iDivUp(W, BOX_THREADS), H), BOX_THREADS>>>((uchar4 *)img8, (uchar4 *)out8, W, H);
    show("box_row_rgba", out8, N * 4);

    const int R = 2;
    dim3 mb(32, 24);
    morph_tile<R, false><<<dim3(iDivUp(W, mb.x - 2 * R), iDivUp(H, mb.y - 2 * R)), mb, mb.x * mb.y * sizeof(short)>>>((short *)s, (short *)so, W, H);
    show("morph_tile", so, N * 2);

    unsharp_mask<<<dim3(iDivUp(W, UW), iDivUp(H, UH)), dim3(UW, UH)>>>(f, fo, W, H, 1.5f);
    show("unsharp_mask", fo, N * 4);

    oil_paint<<<dim3(iDivUp(W, OIL_B), iDivUp(H, OIL_B)), dim3(OIL_B, OIL_B)>>>(img8, img8 + N, img8 + 2 * N, out8, W, H);
    show("oil_paint", out8, 3 * N);

    __half *hi = upload<__half>(N, [&](size_t i) { return __float2half(noise(i) / 16.f); }), *ho = (__half *)mk<unsigned short>(N);
    gauss5_half<<<dim3(iDivUp(W, 64), iDivUp(H, 8)), dim3(64, 8)>>>(hi, ho, W, H);
    show("gauss5_half", ho, N * 2);
    return 0;
}
