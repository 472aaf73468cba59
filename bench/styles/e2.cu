// 2-D stencils: Jacobi, 9 point, Sobel, FDTD, life, pyramid of time steps
#include "shown.h"

#define BX 16
#define BY 16

__global__ void jacobi2d(const float *a, float *b, int nx, int ny)
{
    __shared__ float t[BY + 2][BX + 2];
    int x = blockIdx.x * BX + threadIdx.x;
    int y = blockIdx.y * BY + threadIdx.y;
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    int id = y * nx + x;

    t[ly][lx] = a[id];
    if (threadIdx.x == 0 && x > 0)            t[ly][0] = a[id - 1];
    if (threadIdx.x == BX - 1 && x < nx - 1)  t[ly][BX + 1] = a[id + 1];
    if (threadIdx.y == 0 && y > 0)            t[0][lx] = a[id - nx];
    if (threadIdx.y == BY - 1 && y < ny - 1)  t[BY + 1][lx] = a[id + nx];
    __syncthreads();

    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
        b[id] = 0.25f * (t[ly][lx - 1] + t[ly][lx + 1] + t[ly - 1][lx] + t[ly + 1][lx]);
    else
        b[id] = t[ly][lx];
}

// nine point Laplacian in double with corner loads, 32x8 block
struct Tile9 { double v[10][34]; };

__device__ double fetch(const double *p, int i, int j, int w, int h)
{
    i = i < 0 ? 0 : (i >= w ? w - 1 : i);
    j = j < 0 ? 0 : (j >= h ? h - 1 : j);
    return p[(size_t)j * w + i];
}

__global__ void nine_point(double *__restrict__ out, const double *__restrict__ in, int w, int h)
{
    __shared__ Tile9 tile;
    const int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
    const int lin = threadIdx.y * 32 + threadIdx.x;
    for (int k = lin; k < 34 * 10; k += 256) {
        int r = k / 34, c = k % 34;
        tile.v[r][c] = fetch(in, blockIdx.x * 32 + c - 1, blockIdx.y * 8 + r - 1, w, h);
    }
    __syncthreads();
    if (i >= w || j >= h) return;
    int r = threadIdx.y + 1, c = threadIdx.x + 1;
    double edge = tile.v[r - 1][c] + tile.v[r + 1][c] + tile.v[r][c - 1] + tile.v[r][c + 1];
    double corner = tile.v[r - 1][c - 1] + tile.v[r - 1][c + 1] + tile.v[r + 1][c - 1] + tile.v[r + 1][c + 1];
    out[(size_t)j * w + i] = (4.0 * edge + corner - 20.0 * tile.v[r][c]) / 6.0;
}

// Sobel magnitude on bytes, output tile is smaller than the block
__global__ void sobel_u8(const unsigned char *img, unsigned char *mag, int width, int height, int pitch)
{
    __shared__ unsigned char px[18 * 18];
    int tx = threadIdx.x, ty = threadIdx.y;
    int gx = blockIdx.x * 16 + tx - 1;
    int gy = blockIdx.y * 16 + ty - 1;
    int cx = min(max(gx, 0), width - 1), cy = min(max(gy, 0), height - 1);
    px[ty * 18 + tx] = img[cy * pitch + cx];
    __syncthreads();
    if (tx == 0 || ty == 0 || tx == 17 || ty == 17) return;
    if (gx >= width || gy >= height) return;
    const unsigned char *p = px + ty * 18 + tx;
    int dx = (p[-17] + 2 * p[1] + p[19]) - (p[-19] + 2 * p[-1] + p[17]);
    int dy = (p[17] + 2 * p[18] + p[19]) - (p[-19] + 2 * p[-18] + p[-17]);
    int m = abs(dx) + abs(dy);
    mag[gy * pitch + gx] = (unsigned char)(m > 255 ? 255 : m);
}

// FDTD TE mode: update of Ex, Ey from Hz with a one sided halo
__global__ void fdtd_e(float *ex, float *ey, const float *hz, int nx, int ny, float coef)
{
    __shared__ float H[5][33];
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int ii = row * nx + col;
    if (col < nx && row < ny) {
        H[threadIdx.y + 1][threadIdx.x + 1] = hz[ii];
        if (threadIdx.x == 0) H[threadIdx.y + 1][0] = col ? hz[ii - 1] : 0.0f;
        if (threadIdx.y == 0) H[0][threadIdx.x + 1] = row ? hz[ii - nx] : 0.0f;
    }
    __syncthreads();
    if (col < nx && row < ny) {
        float h = H[threadIdx.y + 1][threadIdx.x + 1];
        if (row > 0) ex[ii] += coef * (h - H[threadIdx.y][threadIdx.x + 1]);
        if (col > 0) ey[ii] -= coef * (h - H[threadIdx.y + 1][threadIdx.x]);
    }
}

// life on a torus, sizes are powers of two
__global__ void life(const unsigned char *world, unsigned char *next, int logw, int logh)
{
    const int TW = 64, TH = 8;
    __shared__ int alive[TH + 2][TW + 2];
    int W = 1 << logw, Hh = 1 << logh;
    int x0 = blockIdx.x * TW, y0 = blockIdx.y * TH;
    for (int y = threadIdx.y; y < TH + 2; y += TH)
        for (int x = threadIdx.x; x < TW + 2; x += TW)
            alive[y][x] = world[(((y0 + y - 1) & (Hh - 1)) << logw) | ((x0 + x - 1) & (W - 1))] & 1;
    __syncthreads();
    int n = 0;
    for (int dy = 0; dy < 3; ++dy)
        for (int dx = 0; dx < 3; ++dx)
            n += alive[threadIdx.y + dy][threadIdx.x + dx];
    int me = alive[threadIdx.y + 1][threadIdx.x + 1];
    n -= me;
    next[((y0 + threadIdx.y) << logw) + x0 + threadIdx.x] = (n == 3 || (me && n == 2)) ? 1 : 0;
}

// temperature with a power map: ITER steps in one block, border of ITER
#define B2 16
#define ITER 2
__global__ void thermal(const float *power, const float *tin, float *tout, int rows, int cols, float rx, float ry, float rz)
{
    __shared__ float cur[B2][B2];
    __shared__ float pw[B2][B2];
    __shared__ float nxt[B2][B2];
    const int small = B2 - 2 * ITER;
    int tx = threadIdx.x, ty = threadIdx.y;
    int y = (int)blockIdx.y * small - ITER + ty;
    int x = (int)blockIdx.x * small - ITER + tx;
    bool inside = x >= 0 && x < cols && y >= 0 && y < rows;
    if (inside) {
        cur[ty][tx] = tin[y * cols + x];
        pw[ty][tx] = power[y * cols + x];
    }
    __syncthreads();

    for (int it = 0; it < ITER; it++) {
        bool work = inside && tx > it && tx < B2 - 1 - it && ty > it && ty < B2 - 1 - it;
        if (work) {
            int n = y == 0 ? ty : ty - 1, s = y == rows - 1 ? ty : ty + 1;
            int w = x == 0 ? tx : tx - 1, e = x == cols - 1 ? tx : tx + 1;
            float c = cur[ty][tx];
            nxt[ty][tx] = c + 0.05f * (pw[ty][tx] + (cur[n][tx] + cur[s][tx] - 2.f * c) * ry +
                                       (cur[ty][w] + cur[ty][e] - 2.f * c) * rx + (80.f - c) * rz);
        }
        __syncthreads();
        if (it == ITER - 1) {
            if (work) tout[y * cols + x] = nxt[ty][tx];
            break;
        }
        if (work) cur[ty][tx] = nxt[ty][tx];
        __syncthreads();
    }
}

int main()
{
    {
        int nx = 4096, ny = 4096;
        float *a = mk<float>(nx * ny), *b = mk<float>(nx * ny);
        jacobi2d<<<dim3(nx / BX, ny / BY), dim3(BX, BY)>>>(a, b, nx, ny);
        show("jacobi2d", b, sizeof(float) * nx * ny);
    }
    {
        int w = 3001, h = 2777;
        double *a = mk<double>(w * h), *b = mk<double>(w * h);
        dim3 grid((w + 31) / 32, (h + 7) / 8);
        nine_point<<<grid, dim3(32, 8)>>>(b, a, w, h);
        show("nine_point", b, sizeof(double) * w * h);
    }
    {
        int w = 5000, h = 4001, pitch = 5120;
        unsigned char *a = mk<unsigned char>(pitch * h), *b = mk<unsigned char>(pitch * h);
        sobel_u8<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(18, 18)>>>(a, b, w, h, pitch);
        show("sobel_u8", b, pitch * h);
    }
    {
        int nx = 4090, ny = 3000;
        float *ex = mk<float>(nx * ny), *ey = mk<float>(nx * ny), *hz = mk<float>(nx * ny);
        fdtd_e<<<dim3((nx + 31) / 32, (ny + 3) / 4), dim3(32, 4)>>>(ex, ey, hz, nx, ny, 0.5f);
        show("fdtd_e.ex", ex, sizeof(float) * nx * ny);
        show("fdtd_e.ey", ey, sizeof(float) * nx * ny);
    }
    {
        unsigned char *a = mk<unsigned char>(1 << 24), *b = mk<unsigned char>(1 << 24);
        life<<<dim3(64, 512), dim3(64, 8)>>>(a, b, 12, 12);
        show("life", b, 1 << 24);
    }
    {
        int rows = 3000, cols = 3000;
        float *p = mk<float>(rows * cols), *t = mk<float>(rows * cols), *o = mk<float>(rows * cols);
        int small = B2 - 2 * ITER;
        dim3 g((cols + small - 1) / small, (rows + small - 1) / small);
        thermal<<<g, dim3(B2, B2)>>>(p, t, o, rows, cols, 0.3f, 0.4f, 0.01f);
        show("thermal", o, sizeof(float) * rows * cols);
    }
    return 0;
}
