// volume processing
#include "shown.h"

#define RADIUS 4
#define k_blockDimX 32
#define k_blockDimY 8
__constant__ float stencil[RADIUS + 1] = {0.5f, 0.1f, 0.05f, 0.02f, 0.01f};

// finite difference in the well-known "infront/behind" style on a padded volume
__global__ void FiniteDifferences3D(float *output, const float *input, const int dimx, const int dimy, const int dimz)
{
    __shared__ float tile[k_blockDimY + 2 * RADIUS][k_blockDimX + 2 * RADIUS];
    const int gtidx = blockIdx.x * blockDim.x + threadIdx.x;
    const int gtidy = blockIdx.y * blockDim.y + threadIdx.y;
    const int ltidx = threadIdx.x, ltidy = threadIdx.y;
    const int stride_y = dimx + 2 * RADIUS;
    const int stride_z = stride_y * (dimy + 2 * RADIUS);
    bool validr = true, validw = true;
    if ((gtidx >= dimx + RADIUS) || (gtidy >= dimy + RADIUS)) validr = false;
    if ((gtidx >= dimx) || (gtidy >= dimy)) validw = false;
    int inputIndex = RADIUS * stride_y + RADIUS + gtidy * stride_y + gtidx;
    int outputIndex = 0;
    float infront[RADIUS], behind[RADIUS], current = 0.f;
    const int tx = ltidx + RADIUS, ty = ltidy + RADIUS;
    for (int i = RADIUS - 2; i >= 0; i--) {
        behind[i] = validr ? input[inputIndex] : 0.f;
        inputIndex += stride_z;
    }
    behind[RADIUS - 1] = 0.f;
    if (validr) current = input[inputIndex];
    outputIndex = inputIndex;
    inputIndex += stride_z;
    for (int i = 0; i < RADIUS; i++) {
        infront[i] = validr ? input[inputIndex] : 0.f;
        inputIndex += stride_z;
    }
    for (int iz = 0; iz < dimz; iz++) {
        for (int i = RADIUS - 1; i > 0; i--) behind[i] = behind[i - 1];
        behind[0] = current;
        current = infront[0];
        for (int i = 0; i < RADIUS - 1; i++) infront[i] = infront[i + 1];
        if (validr) infront[RADIUS - 1] = input[inputIndex];
        inputIndex += stride_z;
        outputIndex += stride_z;
        __syncthreads();
        if (ltidy < RADIUS && validr) {
            tile[ltidy][tx] = input[outputIndex - RADIUS * stride_y];
            if (gtidy + k_blockDimY < dimy + RADIUS) tile[ltidy + k_blockDimY + RADIUS][tx] = input[outputIndex + k_blockDimY * stride_y];
        }
        if (ltidx < RADIUS && validr) {
            tile[ty][ltidx] = input[outputIndex - RADIUS];
            if (gtidx + k_blockDimX < dimx + RADIUS) tile[ty][ltidx + k_blockDimX + RADIUS] = input[outputIndex + k_blockDimX];
        }
        tile[ty][tx] = current;
        __syncthreads();
        float value = stencil[0] * current;
#pragma unroll
        for (int i = 1; i <= RADIUS; i++)
            if (validw) value += stencil[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
        if (validw) output[outputIndex] = value;
    }
}

// gradient magnitude, 3-D thread block, six face branches
struct Dim { int x, y, z; };
__device__ __forceinline__ int at(Dim d, int x, int y, int z) { return (z * d.y + y) * d.x + x; }
__global__ void gradMag(const short *vol, float *g, Dim d)
{
    __shared__ short t[6][10][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z * 4 + threadIdx.z;
    int i = threadIdx.x + 1, j = threadIdx.y + 1, k = threadIdx.z + 1;
    bool in = x < d.x && y < d.y && z < d.z;
    if (in) {
        short c = vol[at(d, x, y, z)];
        t[k][j][i] = c;
        if (i == 1) t[k][j][0] = x ? vol[at(d, x - 1, y, z)] : c;
        if (i == 16 || x == d.x - 1) t[k][j][i + 1] = x < d.x - 1 ? vol[at(d, x + 1, y, z)] : c;
        if (j == 1) t[k][0][i] = y ? vol[at(d, x, y - 1, z)] : c;
        if (j == 8 || y == d.y - 1) t[k][j + 1][i] = y < d.y - 1 ? vol[at(d, x, y + 1, z)] : c;
        if (k == 1) t[0][j][i] = z ? vol[at(d, x, y, z - 1)] : c;
        if (k == 4 || z == d.z - 1) t[k + 1][j][i] = z < d.z - 1 ? vol[at(d, x, y, z + 1)] : c;
    }
    __syncthreads();
    if (!in) return;
    float gx = t[k][j][i + 1] - t[k][j][i - 1];
    float gy = t[k][j + 1][i] - t[k][j - 1][i];
    float gz = t[k + 1][j][i] - t[k - 1][j][i];
    g[at(d, x, y, z)] = 0.5f * sqrtf(gx * gx + gy * gy + gz * gz);
}

// vorticity of a staggered field; three planes staged, march in z, periodic
template <typename T, int TX, int TY>
__global__ void curl_zmarch(const T *__restrict__ u, const T *__restrict__ v, const T *__restrict__ w, T *__restrict__ omx, T *__restrict__ omy, int n, int nz)
{
    __shared__ T sw[TY + 1][TX + 1];
    const int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    const int xp = (x + 1) % n, yp = (y + 1) % n;
    const size_t pl = (size_t)n * n;
    const size_t c = (size_t)y * n + x;
    T un = u[c], vn = v[c];
    for (int z = 0; z < nz; z++) {
        const T *wp = w + z * pl;
        sw[threadIdx.y][threadIdx.x] = wp[c];
        if (threadIdx.x == TX - 1) sw[threadIdx.y][TX] = wp[(size_t)y * n + xp];
        if (threadIdx.y == TY - 1) sw[TY][threadIdx.x] = wp[(size_t)yp * n + x];
        T uc = un, vc = vn;
        size_t up = (size_t)((z + 1) % nz) * pl + c;
        un = u[up];
        vn = v[up];
        __syncthreads();
        T w0 = sw[threadIdx.y][threadIdx.x];
        omx[z * pl + c] = (sw[threadIdx.y + 1][threadIdx.x] - w0) - (vn - vc);
        omy[z * pl + c] = (un - uc) - (sw[threadIdx.y][threadIdx.x + 1] - w0);
        __syncthreads();
    }
}

// 3x3x3 grey erosion of bytes, clamped, 8x8x8 block
#define E8 8
#define E10 10
__global__ void erode3(const unsigned char *I, unsigned char *O, int sx, int sy, int sz)
{
    __shared__ unsigned char s[E10][E10][E10];
    int b0 = blockIdx.x * E8 - 1, b1 = blockIdx.y * E8 - 1, b2 = blockIdx.z * E8 - 1;
    for (int z = threadIdx.z; z < E10; z += E8)
        for (int y = threadIdx.y; y < E10; y += E8)
            for (int x = threadIdx.x; x < E10; x += E8) {
                int cx = min(max(b0 + x, 0), sx - 1), cy = min(max(b1 + y, 0), sy - 1), cz = min(max(b2 + z, 0), sz - 1);
                s[z][y][x] = I[((size_t)cz * sy + cy) * sx + cx];
            }
    __syncthreads();
    int x = b0 + 1 + threadIdx.x, y = b1 + 1 + threadIdx.y, z = b2 + 1 + threadIdx.z;
    if (x >= sx || y >= sy || z >= sz) return;
    int m = 255;
    for (int dz = 0; dz < 3; dz++)
        for (int dy = 0; dy < 3; dy++)
            for (int dx = 0; dx < 3; dx++) m = min(m, (int)s[threadIdx.z + dz][threadIdx.y + dy][threadIdx.x + dx]);
    O[((size_t)z * sy + y) * sx + x] = (unsigned char)m;
}

// 5x5x5 box mean: plane sums by shared memory, running sum in z by a register queue
__global__ void boxmean5(const float *in, float *out, int nx, int ny, int nz)
{
    __shared__ float p[12][36];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float q0 = 0, q1 = 0, q2 = 0, q3 = 0, q4 = 0;
    for (int z = 0; z < nz + 2; ++z) {
        float s = 0.f;
        if (z < nz) {   // uniform over the block
            __syncthreads();
            for (int a = threadIdx.y; a < 12; a += 8)
                for (int b = threadIdx.x; b < 36; b += 32) {
                    int gy = blockIdx.y * 8 + a - 2, gx = blockIdx.x * 32 + b - 2;
                    p[a][b] = (gx < 0 || gy < 0 || gx >= nx || gy >= ny) ? 0.f : in[((size_t)z * ny + gy) * nx + gx];
                }
            __syncthreads();
            for (int a = 0; a < 5; ++a)
                for (int b = 0; b < 5; ++b) s += p[threadIdx.y + a][threadIdx.x + b];
        }
        q0 = q1; q1 = q2; q2 = q3; q3 = q4; q4 = s;
        if (z >= 2 && x < nx && y < ny) out[((size_t)(z - 2) * ny + y) * nx + x] = (q0 + q1 + q2 + q3 + q4) * (1.f / 125.f);
    }
}

int main()
{
    const int n = 256;
    const size_t N = (size_t)(n + 8) * (n + 8) * (n + 8);
    float *a = mk<float>(N), *b, *c;
    cudaMalloc(&b, N * sizeof(float));
    cudaMalloc(&c, N * sizeof(float));
    cudaMemset(b, 0, N * sizeof(float));
    FiniteDifferences3D<<<dim3((250 + 31) / 32, (252 + 7) / 8), dim3(k_blockDimX, k_blockDimY)>>>(b, a, 250, 252, 256);
    show("FiniteDifferences3D", b, N * sizeof(float));
    short *sv = mk<short>((size_t)400 * 399 * 100);
    Dim d = {400, 399, 100};
    gradMag<<<dim3(25, 50, 25), dim3(16, 8, 4)>>>(sv, b, d);
    show("gradMag", b, sizeof(float) * 400 * 399 * 100);
    curl_zmarch<float, 32, 16><<<dim3(n / 32, n / 16), dim3(32, 16)>>>(a, a + 1000001, a + 77, b, c, n, 240);
    show("curl_zmarch.x", b, sizeof(float) * n * n * 240);
    show("curl_zmarch.y", c, sizeof(float) * n * n * 240);
    erode3<<<dim3((399 + 7) / 8, (390 + 7) / 8, 25), dim3(8, 8, 8)>>>((unsigned char *)sv, (unsigned char *)b, 399, 390, 200);
    show("erode3", b, (size_t)399 * 390 * 200);
    boxmean5<<<dim3((255 + 31) / 32, (250 + 7) / 8), dim3(32, 8)>>>(a, b, 255, 250, 250);
    show("boxmean5", b, sizeof(float) * 255 * 250 * 250);
    return 0;
}
