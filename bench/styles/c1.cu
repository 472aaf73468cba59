// CS 4xx - Assignment 3: Image filters on the GPU
#include "shown.h"

#define TILE_W 16
#define RAD 2
#define BW (TILE_W + 2 * RAD)

typedef unsigned char uchar;

// Part (a): 5x5 mean filter, zero outside of the image, one branch per edge
__global__ void boxBlur(uchar *in, uchar *out, int w, int h)
{
    __shared__ uchar t[BW][BW];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int x = blockIdx.x * TILE_W + tx;
    int y = blockIdx.y * TILE_W + ty;

    t[ty + RAD][tx + RAD] = (x < w && y < h) ? in[y * w + x] : 0;

    // left and right
    if (tx < RAD)
        t[ty + RAD][tx] = (x - RAD >= 0 && y < h) ? in[y * w + x - RAD] : 0;
    if (tx >= TILE_W - RAD)
        t[ty + RAD][tx + 2 * RAD] = (x + RAD < w && y < h) ? in[y * w + x + RAD] : 0;
    // top and bottom
    if (ty < RAD)
        t[ty][tx + RAD] = (y - RAD >= 0 && x < w) ? in[(y - RAD) * w + x] : 0;
    if (ty >= TILE_W - RAD)
        t[ty + 2 * RAD][tx + RAD] = (y + RAD < h && x < w) ? in[(y + RAD) * w + x] : 0;
    // four corners
    if (tx < RAD && ty < RAD)
        t[ty][tx] = (x - RAD >= 0 && y - RAD >= 0) ? in[(y - RAD) * w + x - RAD] : 0;
    if (tx >= TILE_W - RAD && ty < RAD)
        t[ty][tx + 2 * RAD] = (x + RAD < w && y - RAD >= 0) ? in[(y - RAD) * w + x + RAD] : 0;
    if (tx < RAD && ty >= TILE_W - RAD)
        t[ty + 2 * RAD][tx] = (x - RAD >= 0 && y + RAD < h) ? in[(y + RAD) * w + x - RAD] : 0;
    if (tx >= TILE_W - RAD && ty >= TILE_W - RAD)
        t[ty + 2 * RAD][tx + 2 * RAD] = (x + RAD < w && y + RAD < h) ? in[(y + RAD) * w + x + RAD] : 0;
    __syncthreads();

    if (x < w && y < h) {
        int sum = 0;
        for (int i = 0; i < 2 * RAD + 1; i++)
            for (int j = 0; j < 2 * RAD + 1; j++)
                sum += t[ty + i][tx + j];
        out[y * w + x] = (uchar)((sum * 10) / 25);
    }
}

// Part (b): Sobel magnitude, clamp to edge
__global__ void sobelTile(const uchar *src, uchar *dst, int width, int height)
{
    __shared__ int tile[18][18];
    int x0 = blockIdx.x * 16 - 1;
    int y0 = blockIdx.y * 16 - 1;
    for (int r = threadIdx.y; r < 18; r += blockDim.y) {
        for (int c = threadIdx.x; c < 18; c += blockDim.x) {
            int gx = min(max(x0 + c, 0), width - 1);
            int gy = min(max(y0 + r, 0), height - 1);
            tile[r][c] = src[gy * width + gx];
        }
    }
    __syncthreads();
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= width || y >= height) return;
    int r = threadIdx.y + 1, c = threadIdx.x + 1;
    int gx = tile[r - 1][c + 1] + 2 * tile[r][c + 1] + tile[r + 1][c + 1]
           - tile[r - 1][c - 1] - 2 * tile[r][c - 1] - tile[r + 1][c - 1];
    int gy = tile[r + 1][c - 1] + 2 * tile[r + 1][c] + tile[r + 1][c + 1]
           - tile[r - 1][c - 1] - 2 * tile[r - 1][c] - tile[r - 1][c + 1];
    float m = sqrtf((float)(gx * gx + gy * gy));
    dst[y * width + x] = m > 255.0f ? 255 : (uchar)m;
}

// Part (c): 3x3 median, bubble sort of the window
__global__ void medianFilter(uchar *in, uchar *out, int w, int h)
{
    __shared__ uchar s[TILE_W + 2][TILE_W + 2];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int tid = threadIdx.y * blockDim.x + threadIdx.x;
    for (int k = tid; k < (TILE_W + 2) * (TILE_W + 2); k += TILE_W * TILE_W) {
        int yy = (int)(blockIdx.y * TILE_W) + k / (TILE_W + 2) - 1;
        int xx = (int)(blockIdx.x * TILE_W) + k % (TILE_W + 2) - 1;
        uchar v = 0;
        if (xx >= 0 && yy >= 0 && xx < w && yy < h) v = in[yy * w + xx];
        s[k / (TILE_W + 2)][k % (TILE_W + 2)] = v;
    }
    __syncthreads();
    if (x >= w || y >= h) return;
    uchar win[9];
    int n = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            win[n++] = s[threadIdx.y + i][threadIdx.x + j];
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 9; j++)
            if (win[i] > win[j]) { uchar tmp = win[i]; win[i] = win[j]; win[j] = tmp; }
    out[y * w + x] = win[4];
}

// Part (d): horizontal erosion, 1-D blocks, radius 7
#define ER 7
__global__ void erodeRow(const uchar *in, uchar *out, int w, int h)
{
    __shared__ uchar line[256 + 2 * ER];
    int y = blockIdx.y;
    int x = blockIdx.x * 256 + threadIdx.x;
    const uchar *row = in + (size_t)y * w;
    for (int i = threadIdx.x; i < 256 + 2 * ER; i += 256) {
        int g = blockIdx.x * 256 + i - ER;
        line[i] = (g < 0 || g >= w) ? 255 : row[g];
    }
    __syncthreads();
    if (x < w) {
        uchar m = 255;
        for (int k = 0; k <= 2 * ER; k++) m = min((int)m, (int)line[threadIdx.x + k]);
        out[(size_t)y * w + x] = m;
    }
}

// Part (e): histogram
__global__ void histogram256(const uchar *img, unsigned int *hist, int n)
{
    __shared__ unsigned int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        atomicAdd(&bins[(img[i] * 5 + (i & 31)) & 255], 1u);
    __syncthreads();
    atomicAdd(&hist[threadIdx.x], bins[threadIdx.x]);
}

int main()
{
    int w = 8000, h = 6000, n = w * h;
    uchar *a = mk<uchar>(n), *b;
    unsigned int *hist;
    cudaMalloc((void **)&b, n);
    cudaMalloc((void **)&hist, 256 * sizeof(unsigned int));
    cudaMemset(hist, 0, 256 * sizeof(unsigned int));
    dim3 block(TILE_W, TILE_W);
    dim3 grid((w + TILE_W - 1) / TILE_W, (h + TILE_W - 1) / TILE_W);
    boxBlur<<<grid, block>>>(a, b, w, h);
    show("boxBlur", b, n);
    sobelTile<<<grid, block>>>(a, b, w, h);
    show("sobelTile", b, n);
    medianFilter<<<grid, block>>>(a, b, w, h);
    show("medianFilter", b, n);
    erodeRow<<<dim3((w + 255) / 256, h), 256>>>(a, b, w, h);
    show("erodeRow", b, n);
    histogram256<<<1024, 256>>>(a, hist, n);
    show("histogram256", hist, 256 * sizeof(unsigned int));
    return 0;
}
