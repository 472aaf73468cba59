#include "shown.h"
#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
__constant__ float c_Kernel[KERNEL_LENGTH];

// ---- separable convolution, rows --------------------------------------
#define ROWS_BLOCKDIM_X 16
#define ROWS_BLOCKDIM_Y 4
#define ROWS_RESULT_STEPS 8
#define ROWS_HALO_STEPS 1
__global__ void convolutionRowsKernel(float *d_Dst, float *d_Src, int imageW, int imageH, int pitch)
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

// ---- columns, own variant: ring loads, guarded ------------------------
#define CB_X 32
#define CB_Y 8
#define COL_OUT 64
__global__ void convolutionColumnsTall(float *dst, const float *src, int imageW, int imageH)
{
    __shared__ float col[COL_OUT + 2 * KERNEL_RADIUS][CB_X];
    int x = blockIdx.x * CB_X + threadIdx.x;
    int y0 = blockIdx.y * COL_OUT - KERNEL_RADIUS;
    for (int k = threadIdx.y; k < COL_OUT + 2 * KERNEL_RADIUS; k += CB_Y) {
        int y = y0 + k;
        col[k][threadIdx.x] = (x < imageW && y >= 0 && y < imageH) ? src[y * imageW + x] : 0.0f;
    }
    __syncthreads();
    if (x >= imageW) return;
    for (int k = threadIdx.y; k < COL_OUT; k += CB_Y) {
        int y = blockIdx.y * COL_OUT + k;
        if (y >= imageH) break;
        float sum = 0.0f;
#pragma unroll
        for (int j = 0; j < KERNEL_LENGTH; j++) sum += c_Kernel[j] * col[k + j][threadIdx.x];
        dst[y * imageW + x] = sum;
    }
}

// ---- bilateral ---------------------------------------------------------
#define BRAD 3
#define BT 16
__global__ void bilateral_shared(const float *__restrict__ img, float *__restrict__ res, int cols, int rows, float inv2s, float inv2r)
{
    __shared__ float sm[(BT + 2 * BRAD) * (BT + 2 * BRAD)];
    const int SW = BT + 2 * BRAD;
    const int ox = blockIdx.x * BT - BRAD;
    const int oy = blockIdx.y * BT - BRAD;
    for (int idx = threadIdx.y * blockDim.x + threadIdx.x; idx < SW * SW; idx += blockDim.x * blockDim.y) {
        int yy = max(0, min(rows - 1, oy + idx / SW));
        int xx = max(0, min(cols - 1, ox + idx % SW));
        sm[idx] = __ldg(&img[yy * cols + xx]);
    }
    __syncthreads();
    int x = blockIdx.x * BT + threadIdx.x, y = blockIdx.y * BT + threadIdx.y;
    if (x < cols && y < rows) {
        float c = sm[(threadIdx.y + BRAD) * SW + threadIdx.x + BRAD];
        float num = 0.f, den = 0.f;
        for (int dy = -BRAD; dy <= BRAD; ++dy)
            for (int dx = -BRAD; dx <= BRAD; ++dx) {
                float v = sm[(threadIdx.y + BRAD + dy) * SW + threadIdx.x + BRAD + dx];
                float w = __expf(-(dx * dx + dy * dy) * inv2s - (v - c) * (v - c) * inv2r);
                num += w * v;
                den += w;
            }
        res[y * cols + x] = num / den;
    }
}

// ---- sharpen an RGBA image --------------------------------------------
__device__ __host__ inline int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }
__global__ void sharpenRGBA(const uchar4 *src, uchar4 *dst, int w, int h)
{
    const int S = 32;
    __shared__ uchar4 px[10][S + 2];
    const int gx = blockIdx.x * S + threadIdx.x;
    const int gy = blockIdx.y * 8 + threadIdx.y;
    int cx = clampi(gx, 0, w - 1), cy = clampi(gy, 0, h - 1);
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    px[ly][lx] = src[cy * w + cx];
    if (threadIdx.x == 0) px[ly][0] = src[cy * w + clampi(gx - 1, 0, w - 1)];
    if (threadIdx.x == S - 1) px[ly][S + 1] = src[cy * w + clampi(gx + 1, 0, w - 1)];
    if (threadIdx.y == 0) px[0][lx] = src[clampi(gy - 1, 0, h - 1) * w + cx];
    if (threadIdx.y == 7) px[9][lx] = src[clampi(gy + 1, 0, h - 1) * w + cx];
    __syncthreads();
    if (gx >= w || gy >= h) return;
    uchar4 c = px[ly][lx], l = px[ly][lx - 1], r = px[ly][lx + 1], u = px[ly - 1][lx], d = px[ly + 1][lx], o;
    o.x = clampi(5 * c.x - l.x - r.x - u.x - d.x, 0, 255);
    o.y = clampi(5 * c.y - l.y - r.y - u.y - d.y, 0, 255);
    o.z = clampi(5 * c.z - l.z - r.z - u.z - d.z, 0, 255);
    o.w = c.w;
    dst[gy * w + gx] = o;
}

// ---- Canny: non maximum suppression over gradient magnitude ------------
__global__ void nonMaxSuppress(const float *gx, const float *gy, unsigned char *edge, int W, int H, float thr)
{
    __shared__ float mag[18][18];
    for (int j = threadIdx.y; j < 18; j += 16)
        for (int i = threadIdx.x; i < 18; i += 16) {
            int x = blockIdx.x * 16 + i - 1, y = blockIdx.y * 16 + j - 1;
            float m = 0.f;
            if (x >= 0 && x < W && y >= 0 && y < H) {
                float a = gx[y * W + x] - 6.f, b = gy[y * W + x] - 6.f;
                m = sqrtf(a * a + b * b);
            }
            mag[j][i] = m;
        }
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    float a = gx[y * W + x] - 6.f, b = gy[y * W + x] - 6.f;
    int sx, sy;
    if (fabsf(b) < 0.414f * fabsf(a)) { sx = 1; sy = 0; }
    else if (fabsf(a) < 0.414f * fabsf(b)) { sx = 0; sy = 1; }
    else if (a * b > 0) { sx = 1; sy = 1; }
    else { sx = 1; sy = -1; }
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    float m = mag[j][i];
    edge[y * W + x] = (m > thr && m >= mag[j + sy][i + sx] && m > mag[j - sy][i - sx]) ? 255 : 0;
}

int main()
{
    float hk[KERNEL_LENGTH], tot = 0;
    for (int i = 0; i < KERNEL_LENGTH; i++) { hk[i] = 1.0f / (1 + (i - KERNEL_RADIUS) * (i - KERNEL_RADIUS)); tot += hk[i]; }
    for (int i = 0; i < KERNEL_LENGTH; i++) hk[i] /= tot;
    cudaMemcpyToSymbol(c_Kernel, hk, sizeof(hk));
    const int W = 4096, H = 4096;
    float *a = mk<float>(W * H + 1000), *b, *c;
    cudaMalloc(&b, sizeof(float) * W * H);
    cudaMalloc(&c, sizeof(float) * W * H);
    convolutionRowsKernel<<<dim3(W / (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X), H / ROWS_BLOCKDIM_Y), dim3(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y)>>>(b, a, W, H, W);
    show("convolutionRowsKernel", b, sizeof(float) * W * H);
    convolutionColumnsTall<<<dim3((4000 + CB_X - 1) / CB_X, (4100 + COL_OUT - 1) / COL_OUT), dim3(CB_X, CB_Y)>>>(c, b, 4000, 4100);
    show("convolutionColumnsTall", c, sizeof(float) * 4000 * 4100);
    bilateral_shared<<<dim3((3000 + BT - 1) / BT, (2000 + BT - 1) / BT), dim3(BT, BT)>>>(a, c, 3000, 2000, 0.06f, 0.1f);
    show("bilateral_shared", c, sizeof(float) * 3000 * 2000);
    uchar4 *img = (uchar4 *)mk<unsigned char>(4 * 4000 * 4001);
    sharpenRGBA<<<dim3((4000 + 31) / 32, (4001 + 7) / 8), dim3(32, 8)>>>(img, (uchar4 *)c, 4000, 4001);
    show("sharpenRGBA", c, 4 * 4000 * 4001);
    nonMaxSuppress<<<dim3((4095 + 15) / 16, (4095 + 15) / 16), dim3(16, 16)>>>(a, a + 501, (unsigned char *)c, 4095, 4095, 2.0f);
    show("nonMaxSuppress", c, 4095 * 4095);
    return 0;
}
