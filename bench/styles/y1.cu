// CS-4370 HW3: image filters on the GPU
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define BLK 16
#define KR 5
#define ROW_BX 64
#define ROW_BY 4

#define cudaCheck(e) do { cudaError_t _e = (e); if (_e != cudaSuccess) { fprintf(stderr, "CUDA error %s at line %d\n", cudaGetErrorString(_e), __LINE__); exit(1); } } while (0)

__constant__ float d_taps[2 * KR + 1];

// edge magnitude; halo is filled by the threads at the border of the block, image border is replicated
__global__ void hw_sobel_gray(const unsigned char *in, unsigned char *out, int W, int H) {
    __shared__ unsigned char sm[BLK + 2][BLK + 2];
    int x = blockIdx.x * BLK + threadIdx.x;
    int y = blockIdx.y * BLK + threadIdx.y;
    int lx = threadIdx.x + 1;
    int ly = threadIdx.y + 1;
    int xc = min(x, W - 1), yc = min(y, H - 1);
    int xl = max(xc - 1, 0), xr = min(x + 1, W - 1);
    int yu = max(yc - 1, 0), yd = min(y + 1, H - 1);

    sm[ly][lx] = in[yc * W + xc];
    if (threadIdx.x == 0) sm[ly][0] = in[yc * W + xl];
    if (threadIdx.x == BLK - 1) sm[ly][BLK + 1] = in[yc * W + xr];
    if (threadIdx.y == 0) sm[0][lx] = in[yu * W + xc];
    if (threadIdx.y == BLK - 1) sm[BLK + 1][lx] = in[yd * W + xc];
    if (threadIdx.x == 0 && threadIdx.y == 0) sm[0][0] = in[yu * W + xl];
    if (threadIdx.x == BLK - 1 && threadIdx.y == 0) sm[0][BLK + 1] = in[yu * W + xr];
    if (threadIdx.x == 0 && threadIdx.y == BLK - 1) sm[BLK + 1][0] = in[yd * W + xl];
    if (threadIdx.x == BLK - 1 && threadIdx.y == BLK - 1) sm[BLK + 1][BLK + 1] = in[yd * W + xr];
    __syncthreads();

    if (x < W && y < H) {
        int gx = -sm[ly - 1][lx - 1] + sm[ly - 1][lx + 1] - 2 * sm[ly][lx - 1] + 2 * sm[ly][lx + 1] - sm[ly + 1][lx - 1] + sm[ly + 1][lx + 1];
        int gy = sm[ly - 1][lx - 1] + 2 * sm[ly - 1][lx] + sm[ly - 1][lx + 1] - sm[ly + 1][lx - 1] - 2 * sm[ly + 1][lx] - sm[ly + 1][lx + 1];
        float m = sqrtf((float)(gx * gx + gy * gy));
        out[y * W + x] = m > 255.0f ? 255 : (unsigned char)m;
    }
}

// horizontal pass of the separable gaussian, zero outside of the image
__global__ void hw_gauss_row(const float *src, float *dst, int W, int H) {
    __shared__ float line[ROW_BY][ROW_BX + 2 * KR];
    int col = blockIdx.x * ROW_BX + threadIdx.x;
    int row = blockIdx.y * ROW_BY + threadIdx.y;
    int base = row * W;
    bool rowOk = row < H;

    line[threadIdx.y][threadIdx.x + KR] = (rowOk && col < W) ? src[base + col] : 0.0f;
    if (threadIdx.x < KR) {
        int l = col - KR;
        line[threadIdx.y][threadIdx.x] = (rowOk && l >= 0) ? src[base + l] : 0.0f;
        int r = col + ROW_BX;
        line[threadIdx.y][threadIdx.x + ROW_BX + KR] = (rowOk && r < W) ? src[base + r] : 0.0f;
    }
    __syncthreads();

    if (!rowOk || col >= W) return;
    float acc = 0.0f;
#pragma unroll
    for (int k = -KR; k <= KR; k++)
        acc += d_taps[KR + k] * line[threadIdx.y][threadIdx.x + KR + k];
    dst[base + col] = acc;
}

// vertical pass
__global__ void hw_gauss_col(const float *src, float *dst, int W, int H) {
    __shared__ float patch[BLK + 2 * KR][BLK];
    const int col = blockIdx.x * BLK + threadIdx.x;
    const int row = blockIdx.y * BLK + threadIdx.y;
    if (col < W) {
        patch[threadIdx.y + KR][threadIdx.x] = row < H ? src[row * W + col] : 0.0f;
        if (threadIdx.y < KR) {
            patch[threadIdx.y][threadIdx.x] = row - KR >= 0 ? src[(row - KR) * W + col] : 0.0f;
            patch[threadIdx.y + BLK + KR][threadIdx.x] = row + BLK < H ? src[(row + BLK) * W + col] : 0.0f;
        }
    }
    __syncthreads();
    if (col < W && row < H) {
        float acc = 0.0f;
        for (int k = -KR; k <= KR; k++)
            acc += d_taps[KR + k] * patch[threadIdx.y + KR + k][threadIdx.x];
        dst[row * W + col] = acc;
    }
}

__device__ inline void cmp_swap(unsigned char &a, unsigned char &b) {
    unsigned char lo = min(a, b), hi = max(a, b);
    a = lo; b = hi;
}

// 3x3 median, exchange network
__global__ void hw_median3(const unsigned char *__restrict__ in, unsigned char *__restrict__ out, int W, int H) {
    __shared__ unsigned char win[(BLK + 2) * (BLK + 2)];
    int t = threadIdx.y * BLK + threadIdx.x;
    for (int i = t; i < (BLK + 2) * (BLK + 2); i += BLK * BLK) {
        int px = (int)(blockIdx.x * BLK) + i % (BLK + 2) - 1;
        int py = (int)(blockIdx.y * BLK) + i / (BLK + 2) - 1;
        px = px < 0 ? 0 : (px >= W ? W - 1 : px);
        py = py < 0 ? 0 : (py >= H ? H - 1 : py);
        win[i] = in[py * W + px];
    }
    __syncthreads();
    int x = blockIdx.x * BLK + threadIdx.x, y = blockIdx.y * BLK + threadIdx.y;
    if (x >= W || y >= H) return;
    unsigned char v[9];
#pragma unroll
    for (int j = 0; j < 3; j++)
#pragma unroll
        for (int i = 0; i < 3; i++) v[j * 3 + i] = win[(threadIdx.y + j) * (BLK + 2) + threadIdx.x + i];
    cmp_swap(v[1], v[2]); cmp_swap(v[4], v[5]); cmp_swap(v[7], v[8]);
    cmp_swap(v[0], v[1]); cmp_swap(v[3], v[4]); cmp_swap(v[6], v[7]);
    cmp_swap(v[1], v[2]); cmp_swap(v[4], v[5]); cmp_swap(v[7], v[8]);
    cmp_swap(v[0], v[3]); cmp_swap(v[5], v[8]); cmp_swap(v[4], v[7]);
    cmp_swap(v[3], v[6]); cmp_swap(v[1], v[4]); cmp_swap(v[2], v[5]);
    cmp_swap(v[4], v[7]); cmp_swap(v[4], v[2]); cmp_swap(v[6], v[4]);
    cmp_swap(v[4], v[2]);
    out[y * W + x] = v[4];
}

// colour box filter, run-time radius
__global__ void hw_box_rgba(const uchar4 *in, uchar4 *out, int W, int H, int r) {
    extern __shared__ uchar4 px[];
    int tw = blockDim.x + 2 * r, th = blockDim.y + 2 * r;
    int ox = (int)(blockIdx.x * blockDim.x) - r, oy = (int)(blockIdx.y * blockDim.y) - r;
    for (int j = threadIdx.y; j < th; j += blockDim.y)
        for (int i = threadIdx.x; i < tw; i += blockDim.x) {
            int gx = min(max(ox + i, 0), W - 1);
            int gy = min(max(oy + j, 0), H - 1);
            px[j * tw + i] = in[gy * W + gx];
        }
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H) {
        int sr = 0, sg = 0, sb = 0;
        for (int j = 0; j <= 2 * r; j++)
            for (int i = 0; i <= 2 * r; i++) {
                uchar4 p = px[(threadIdx.y + j) * tw + threadIdx.x + i];
                sr += p.x; sg += p.y; sb += p.z;
            }
        int area = (2 * r + 1) * (2 * r + 1);
        out[y * W + x] = make_uchar4(sr / area, sg / area, sb / area, 255);
    }
}

int main(int argc, char **argv) {
    int W = argc > 1 ? atoi(argv[1]) : 3840;
    int H = argc > 2 ? atoi(argv[2]) : 2161;
    size_t n = (size_t)W * H;
    unsigned char *h = (unsigned char *)malloc(n * 4);
    float *hf = (float *)malloc(n * sizeof(float));
    for (size_t i = 0; i < n * 4; i++) h[i] = (unsigned char)((i * 1103515245u + 12345u) >> 16);
    for (size_t i = 0; i < n; i++) hf[i] = h[i] / 255.0f;
    float taps[2 * KR + 1], s = 0;
    for (int k = -KR; k <= KR; k++) { taps[k + KR] = expf(-k * k / 8.0f); s += taps[k + KR]; }
    for (int k = 0; k <= 2 * KR; k++) taps[k] /= s;
    cudaCheck(cudaMemcpyToSymbol(d_taps, taps, sizeof(taps)));

    unsigned char *d_in, *d_out;
    float *d_f, *d_tmp, *d_blur;
    cudaCheck(cudaMalloc(&d_in, n * 4));
    cudaCheck(cudaMalloc(&d_out, n * 4));
    cudaCheck(cudaMalloc(&d_f, n * sizeof(float)));
    cudaCheck(cudaMalloc(&d_tmp, n * sizeof(float)));
    cudaCheck(cudaMalloc(&d_blur, n * sizeof(float)));
    cudaCheck(cudaMemcpy(d_in, h, n * 4, cudaMemcpyHostToDevice));
    cudaCheck(cudaMemcpy(d_f, hf, n * sizeof(float), cudaMemcpyHostToDevice));

    dim3 blk(BLK, BLK), grd((W + BLK - 1) / BLK, (H + BLK - 1) / BLK);
    hw_sobel_gray<<<grd, blk>>>(d_in, d_out, W, H);
    cudaCheck(cudaGetLastError());
    dim3 rblk(ROW_BX, ROW_BY), rgrd((W + ROW_BX - 1) / ROW_BX, (H + ROW_BY - 1) / ROW_BY);
    hw_gauss_row<<<rgrd, rblk>>>(d_f, d_tmp, W, H);
    hw_gauss_col<<<grd, blk>>>(d_tmp, d_blur, W, H);
    cudaCheck(cudaGetLastError());
    hw_median3<<<grd, blk>>>(d_in, d_out, W, H);
    cudaCheck(cudaGetLastError());
    int r = 3;
    dim3 bb(32, 8), bg((W + 31) / 32, (H + 7) / 8);
    hw_box_rgba<<<bg, bb, (32 + 2 * r) * (8 + 2 * r) * sizeof(uchar4)>>>((const uchar4 *)d_in, (uchar4 *)d_out, W, H, r);
    cudaCheck(cudaGetLastError());
    cudaCheck(cudaDeviceSynchronize());
    cudaFree(d_in); cudaFree(d_out); cudaFree(d_f); cudaFree(d_tmp); cudaFree(d_blur);
    free(h); free(hf);
    return 0;
}
