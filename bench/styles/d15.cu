// Stencils with halos: 1-D star, 2-D five point, separable convolution, 3-D marching along z, Sobel
#include "shown.h"

// ---- CUDA course, 1-D stencil
#define RADIUS 7
#define BLOCK_1D 256
__global__ void stencil_1d(const int *in, int *out, int n)
{
    __shared__ int temp[BLOCK_1D + 2 * RADIUS];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x + RADIUS;
    int lindex = threadIdx.x + RADIUS;

    // Read input elements into shared memory (input is padded by RADIUS on both sides)
    temp[lindex] = in[gindex];
    if (threadIdx.x < RADIUS) {
        temp[lindex - RADIUS] = in[gindex - RADIUS];
        temp[lindex + BLOCK_1D] = in[gindex + BLOCK_1D];
    }
    __syncthreads();

    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++)
        result += temp[lindex + offset] * (RADIUS + 1 - abs(offset));
    out[gindex] = result;
}

// ---- 2-D five point with template tile
template <typename T, int BX, int BY>
__global__ void laplace5(const T *__restrict__ u, T *__restrict__ v, int nx, int ny, T c0, T c1)
{
    __shared__ T s[BY + 2][BX + 2];
    int gx = blockIdx.x * BX + threadIdx.x;
    int gy = blockIdx.y * BY + threadIdx.y;
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    if (gx < nx && gy < ny) {
        s[ly][lx] = u[gy * nx + gx];
        if (threadIdx.x == 0 && gx > 0) s[ly][0] = u[gy * nx + gx - 1];
        if (threadIdx.x == BX - 1 && gx < nx - 1) s[ly][BX + 1] = u[gy * nx + gx + 1];
        if (threadIdx.y == 0 && gy > 0) s[0][lx] = u[(gy - 1) * nx + gx];
        if (threadIdx.y == BY - 1 && gy < ny - 1) s[BY + 1][lx] = u[(gy + 1) * nx + gx];
    }
    __syncthreads();
    if (gx > 0 && gx < nx - 1 && gy > 0 && gy < ny - 1)
        v[gy * nx + gx] = c0 * s[ly][lx] + c1 * (s[ly][lx - 1] + s[ly][lx + 1] + s[ly - 1][lx] + s[ly + 1][lx]);
}

// ---- CUDA samples convolutionSeparable
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
    const int baseX = (blockIdx.x * ROWS_RESULT_STEPS - ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X + threadIdx.x;
    const int baseY = blockIdx.y * ROWS_BLOCKDIM_Y + threadIdx.y;

    d_Src += baseY * pitch + baseX;
    d_Dst += baseY * pitch + baseX;

    // Load main data
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = d_Src[i * ROWS_BLOCKDIM_X];

    // Load left halo
#pragma unroll
    for (int i = 0; i < ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (baseX >= -i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;

    // Load right halo
#pragma unroll
    for (int i = ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS + ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (imageW - baseX > i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;

    // Compute and store results
    __syncthreads();
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++)
    {
        float sum = 0;
#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
            sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X + j];
        d_Dst[i * ROWS_BLOCKDIM_X] = sum;
    }
}

// ---- column pass, simple version: 16 x 16 outputs with run time radius
__global__ void convolutionColumnsSimple(const float *src, float *dst, int w, int h, int r)
{
    extern __shared__ float col[]; // (16 + 2r) x 16
    int x = blockIdx.x * 16 + threadIdx.x;
    int y0 = blockIdx.y * 16;
    for (int j = threadIdx.y; j < 16 + 2 * r; j += 16) {
        int y = y0 + j - r;
        y = y < 0 ? 0 : (y >= h ? h - 1 : y);
        col[j * 16 + threadIdx.x] = src[y * w + x];
    }
    __syncthreads();
    float s = 0.f;
    for (int k = 0; k <= 2 * r; k++)
        s += c_Kernel[k] * col[(threadIdx.y + k) * 16 + threadIdx.x];
    dst[(y0 + threadIdx.y) * w + x] = s;
}

// ---- FDTD3d like: 2.5-D, z column in registers, xy tile in shared memory, radius 4
#define R3 4
#define TX3 32
#define TY3 16
__constant__ float stencilC[R3 + 1];
__global__ void stencil3D_25(const float *in, float *out, int nx, int ny, int nz)
{
    __shared__ float tile[TY3 + 2 * R3][TX3 + 2 * R3];
    // the volume has a halo of R3 on all sides
    const int px = nx + 2 * R3, py = ny + 2 * R3;
    const size_t plane = (size_t)px * py;
    const int ix = blockIdx.x * TX3 + threadIdx.x + R3;
    const int iy = blockIdx.y * TY3 + threadIdx.y + R3;
    const int tx = threadIdx.x + R3, ty = threadIdx.y + R3;
    size_t idx = (size_t)iy * px + ix;
    float infront[R3], behind[R3], current;

    for (int i = R3 - 2; i >= 0; i--) { behind[i] = in[idx]; idx += plane; }
    behind[R3 - 1] = 0.f;
    current = in[idx];
    size_t outIdx = idx;
    idx += plane;
    for (int i = 0; i < R3; i++) { infront[i] = in[idx]; idx += plane; }

    for (int iz = 0; iz < nz; iz++) {
        for (int i = R3 - 1; i > 0; i--) behind[i] = behind[i - 1];
        behind[0] = current;
        current = infront[0];
        for (int i = 0; i < R3 - 1; i++) infront[i] = infront[i + 1];
        infront[R3 - 1] = in[idx];
        idx += plane;
        outIdx += plane;
        __syncthreads();
        if (threadIdx.y < R3) {
            tile[threadIdx.y][tx] = in[outIdx - R3 * px];
            tile[threadIdx.y + TY3 + R3][tx] = in[outIdx + TY3 * px];
        }
        if (threadIdx.x < R3) {
            tile[ty][threadIdx.x] = in[outIdx - R3];
            tile[ty][threadIdx.x + TX3 + R3] = in[outIdx + TX3];
        }
        tile[ty][tx] = current;
        __syncthreads();
        float value = stencilC[0] * current;
#pragma unroll
        for (int i = 1; i <= R3; i++)
            value += stencilC[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
        out[outIdx] = value;
    }
}

// ---- Sobel
#define SB 16
__global__ void sobelShared(const unsigned char *img, unsigned char *edge, int w, int h)
{
    __shared__ unsigned char sh[(SB + 2) * (SB + 2)];
    int tid = threadIdx.y * SB + threadIdx.x;
    int x0 = blockIdx.x * SB - 1, y0 = blockIdx.y * SB - 1;
    for (int p = tid; p < (SB + 2) * (SB + 2); p += SB * SB) {
        int x = x0 + p % (SB + 2), y = y0 + p / (SB + 2);
        sh[p] = (x >= 0 && x < w && y >= 0 && y < h) ? img[y * w + x] : 0;
    }
    __syncthreads();
    const int cx = threadIdx.x + 1, cy = threadIdx.y + 1;
#define P(dx, dy) ((int)sh[(cy + (dy)) * (SB + 2) + cx + (dx)])
    int gx = P(1, -1) + 2 * P(1, 0) + P(1, 1) - P(-1, -1) - 2 * P(-1, 0) - P(-1, 1);
    int gy = P(-1, 1) + 2 * P(0, 1) + P(1, 1) - P(-1, -1) - 2 * P(0, -1) - P(1, -1);
    int mag = (int)sqrtf((float)(gx * gx + gy * gy));
    int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y;
    if (x < w && y < h)
        edge[y * w + x] = mag > 255 ? 255 : mag;
}

int main()
{
    {
        int n = 1 << 24;
        int *in = mk<int>(n + 2 * RADIUS), *out = mk<int>(n + 2 * RADIUS);
        stencil_1d<<<n / BLOCK_1D, BLOCK_1D>>>(in, out, n);
        show("stencil_1d", out, (size_t)(n + 2 * RADIUS) * 4);
    }
    {
        int nx = 5000, ny = 3000;
        double *u = mk<double>((size_t)nx * ny), *v = mk<double>((size_t)nx * ny);
        laplace5<double, 32, 8><<<dim3((nx + 31) / 32, (ny + 7) / 8), dim3(32, 8)>>>(u, v, nx, ny, 0.5, 0.125);
        show("laplace5", v, (size_t)nx * ny * 8);
    }
    {
        float k[KERNEL_LENGTH];
        for (int i = 0; i < KERNEL_LENGTH; i++) k[i] = (float)((i * 5) % 16) / 40.f;
        cudaMemcpyToSymbol(c_Kernel, k, sizeof(k));
        int W = 4096, H = 4096;
        float *a = mk<float>((size_t)W * H), *b = mk<float>((size_t)W * H);
        dim3 blocks(W / (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X), H / ROWS_BLOCKDIM_Y);
        dim3 threads(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y);
        convolutionRowsKernel<<<blocks, threads>>>(b, a, W, H, W);
        show("convolutionRowsKernel", b, (size_t)W * H * 4);
        convolutionColumnsSimple<<<dim3(W / 16, H / 16), dim3(16, 16), (16 + 2 * 5) * 16 * 4>>>(b, a, W, H, 5);
        show("convolutionColumnsSimple", a, (size_t)W * H * 4);
    }
    {
        float c[R3 + 1] = {-0.5f, 0.08f, 0.04f, 0.02f, 0.01f};
        cudaMemcpyToSymbol(stencilC, c, sizeof(c));
        int nx = 256, ny = 256, nz = 200;
        size_t vol = (size_t)(nx + 2 * R3) * (ny + 2 * R3) * (nz + 2 * R3);
        float *a = mk<float>(vol), *b = mk<float>(vol);
        stencil3D_25<<<dim3(nx / TX3, ny / TY3), dim3(TX3, TY3)>>>(a, b, nx, ny, nz);
        show("stencil3D_25", b, vol * 4);
    }
    {
        int w = 8000, h = 5000;
        unsigned char *a = mk<unsigned char>((size_t)w * h), *b = mk<unsigned char>((size_t)w * h);
        sobelShared<<<dim3((w + SB - 1) / SB, (h + SB - 1) / SB), dim3(SB, SB)>>>(a, b, w, h);
        show("sobelShared", b, (size_t)w * h);
    }
    return 0;
}
