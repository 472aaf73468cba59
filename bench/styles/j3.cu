// j3: lines and volumes
#include "shown.h"

static inline unsigned blocks(int n, int per) { return (n + per - 1) / per; }

// 1. 1-D convolution, mask by value -----------------------------------------------------------
struct Mask7 { float w[7]; };
__global__ void conv1d(const float *x, float *y, int n, Mask7 m)
{
    __shared__ float xs[256];
    const int OUT = 256 - 6;
    int out = blockIdx.x * OUT + threadIdx.x;
    int in = out - 3;
    xs[threadIdx.x] = (in >= 0 && in < n) ? x[in] : 0.0f;
    __syncthreads();
    if (threadIdx.x < OUT && out < n) {
        float s = 0.0f;
        for (int k = 0; k < 7; ++k)
            s += m.w[k] * xs[threadIdx.x + k];
        y[out] = s;
    }
}

// 2. many signals, one per blockIdx.y, derivative of order eight, clamped --------------------
template <int NT>
__global__ void ddx8(const double* __restrict__ q, double* __restrict__ dq, int len, double rdx)
{
    __shared__ double s[NT];
    const double* line = q + (size_t)blockIdx.y * len;
    int g = blockIdx.x * (NT - 8) + (int)threadIdx.x - 4;
    s[threadIdx.x] = line[g < 0 ? 0 : g >= len ? len - 1 : g];
    __syncthreads();
    int t = threadIdx.x;
    if (t < 4 || t >= NT - 4 || g >= len) return;
    dq[(size_t)blockIdx.y * len + g] = rdx * (0.8 * (s[t + 1] - s[t - 1]) - 0.2 * (s[t + 2] - s[t - 2]) +
                                              4.0 / 105 * (s[t + 3] - s[t - 3]) - 1.0 / 280 * (s[t + 4] - s[t - 4]));
}

// 3. 7-point stencil, 8x8x8 in, 6x6x6 out -----------------------------------------------------
#define IN_TILE_DIM 8
#define OUT_TILE_DIM (IN_TILE_DIM - 2)
#define c0 0.4f
#define c1 0.11f
#define c2 0.09f
#define c3 0.12f
#define c4 0.08f
#define c5 0.13f
#define c6 0.07f
__global__ void stencil_kernel(float* in, float* out, unsigned int N) {
    int i = blockIdx.z*OUT_TILE_DIM + threadIdx.z - 1;
    int j = blockIdx.y*OUT_TILE_DIM + threadIdx.y - 1;
    int k = blockIdx.x*OUT_TILE_DIM + threadIdx.x - 1;
    __shared__ float in_s[IN_TILE_DIM][IN_TILE_DIM][IN_TILE_DIM];
    if(i >= 0 && i < N && j >= 0 && j < N && k >= 0 && k < N) {
        in_s[threadIdx.z][threadIdx.y][threadIdx.x] = in[i*N*N + j*N + k];
    }
    __syncthreads();
    if(i >= 1 && i < N-1 && j >= 1 && j < N-1 && k >= 1 && k < N-1) {
        if(threadIdx.z >= 1 && threadIdx.z < IN_TILE_DIM-1 && threadIdx.y >= 1
          && threadIdx.y<IN_TILE_DIM-1 && threadIdx.x>=1 && threadIdx.x<IN_TILE_DIM-1) {
            out[i*N*N + j*N + k] = c0*in_s[threadIdx.z][threadIdx.y][threadIdx.x]
                                 + c1*in_s[threadIdx.z][threadIdx.y][threadIdx.x-1]
                                 + c2*in_s[threadIdx.z][threadIdx.y][threadIdx.x+1]
                                 + c3*in_s[threadIdx.z][threadIdx.y-1][threadIdx.x]
                                 + c4*in_s[threadIdx.z][threadIdx.y+1][threadIdx.x]
                                 + c5*in_s[threadIdx.z-1][threadIdx.y][threadIdx.x]
                                 + c6*in_s[threadIdx.z+1][threadIdx.y][threadIdx.x];
        }
    }
}

// 4. variable-coefficient diffusion, 16x4x4, two tiles, flat shared arrays --------------------
#define DX 16
#define DY 4
#define DZ 4
__global__ void diffuse_var(const double *u, const double *kappa, double *out, int nx, int ny, int nz, double dt)
{
    __shared__ double su[DX * DY * DZ], sk[DX * DY * DZ];
    int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    int x = blockIdx.x * (DX - 2) + tx - 1;
    int y = blockIdx.y * (DY - 2) + ty - 1;
    int z = blockIdx.z * (DZ - 2) + tz - 1;
    int l = (tz * DY + ty) * DX + tx;
    int xx = min(max(x, 0), nx - 1), yy = min(max(y, 0), ny - 1), zz = min(max(z, 0), nz - 1);
    size_t g = ((size_t)zz * ny + yy) * nx + xx;
    su[l] = u[g];
    sk[l] = kappa[g] + 1.0;
    __syncthreads();
    if (tx == 0 || tx == DX - 1 || ty == 0 || ty == DY - 1 || tz == 0 || tz == DZ - 1) return;
    if (x >= nx || y >= ny || z >= nz) return;
    const int off[3] = {1, DX, DX * DY};
    double flux = 0;
#pragma unroll
    for (int d = 0; d < 3; d++) {
        flux += 0.5 * (sk[l] + sk[l + off[d]]) * (su[l + off[d]] - su[l]);
        flux -= 0.5 * (sk[l] + sk[l - off[d]]) * (su[l] - su[l - off[d]]);
    }
    out[g] = su[l] + dt * flux;
}

// 5. morphological gradient of a labelled volume, 32x4x4, zero outside ------------------------
__global__ void morph3(const short *vol, short *grad, int W, int H, int D)
{
    __shared__ short v[4][4][32];
    int X = (int)(blockIdx.x * 30 + threadIdx.x) - 1;
    int Y = (int)(blockIdx.y * 2 + threadIdx.y) - 1;
    int Z = (int)(blockIdx.z * 2 + threadIdx.z) - 1;
    short val = 0;
    if ((unsigned)X < (unsigned)W && (unsigned)Y < (unsigned)H && (unsigned)Z < (unsigned)D)
        val = vol[((size_t)Z * H + Y) * W + X];
    v[threadIdx.z][threadIdx.y][threadIdx.x] = val;
    __syncthreads();
    bool core = threadIdx.x - 1u < 30u && threadIdx.y - 1u < 2u && threadIdx.z - 1u < 2u;
    if (core && X < W && Y < H && Z < D) {
        int lo = 32767, hi = -32768;
        for (int c = -1; c <= 1; c++)
            for (int b = -1; b <= 1; b++)
                for (int a = -1; a <= 1; a++) {
                    int q = v[threadIdx.z + c][threadIdx.y + b][threadIdx.x + a];
                    lo = q < lo ? q : lo;
                    hi = q > hi ? q : hi;
                }
        grad[((size_t)Z * H + Y) * W + X] = (short)(hi - lo);
    }
}

// 6. marching along z, one plane in shared memory, the neighbours in registers ----------------
template <int BX, int BY>
__global__ void march25d(const float *__restrict__ a, float *__restrict__ b, int nx, int ny, int nz)
{
    __shared__ float plane[BY][BX];
    const int x = blockIdx.x * (BX - 2) + threadIdx.x - 1;
    const int y = blockIdx.y * (BY - 2) + threadIdx.y - 1;
    const bool ok = x >= 0 && x < nx && y >= 0 && y < ny;
    const bool wr = ok && threadIdx.x > 0 && threadIdx.x < BX - 1 && threadIdx.y > 0 && threadIdx.y < BY - 1;
    const size_t sl = (size_t)nx * ny;
    size_t p = ok ? (size_t)y * nx + x : 0;
    float below = 0.f, here = ok ? a[p] : 0.f;
    for (int z = 0; z < nz; z++, p += sl) {
        float above = (ok && z + 1 < nz) ? a[p + sl] : 0.f;
        plane[threadIdx.y][threadIdx.x] = here;
        __syncthreads();
        if (wr)
            b[p] = 0.5f * here + 0.0625f * (below + above) + 0.09375f * (plane[threadIdx.y][threadIdx.x - 1] + plane[threadIdx.y][threadIdx.x + 1] + plane[threadIdx.y - 1][threadIdx.x] + plane[threadIdx.y + 1][threadIdx.x]);
        __syncthreads();
        below = here;
        here = above;
    }
}

// 7. contrast: the usual halo in one dimension ------------------------------------------------
#define RADIUS 3
#define BLOCK_SIZE 256
__global__ void stencil_1d(const int *in, int *out, int n)
{
    __shared__ int temp[BLOCK_SIZE + 2 * RADIUS];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x;
    int lindex = threadIdx.x + RADIUS;

    temp[lindex] = gindex < n ? in[gindex] : 0;
    if (threadIdx.x < RADIUS) {
        temp[lindex - RADIUS] = gindex - RADIUS >= 0 ? in[gindex - RADIUS] : 0;
        temp[lindex + BLOCK_SIZE] = gindex + BLOCK_SIZE < n ? in[gindex + BLOCK_SIZE] : 0;
    }
    __syncthreads();

    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++)
        result += temp[lindex + offset];
    if (gindex < n) out[gindex] = result;
}

int main()
{
    {
        int n = 16000003;
        float *x = mk<float>(n), *y = mk<float>(n);
        Mask7 m = {{0.05f, 0.1f, 0.2f, 0.3f, 0.2f, 0.1f, 0.07f}};
        conv1d<<<blocks(n, 250), 256>>>(x, y, n, m);
        show("conv1d", y, 4ull * n);
        cudaFree(x); cudaFree(y);
    }
    {
        int len = 10001, rows = 500;
        size_t n = (size_t)len * rows;
        double *q = mk<double>(n), *d = mk<double>(n);
        ddx8<128><<<dim3(blocks(len, 120), rows), 128>>>(q, d, len, 3.5);
        show("ddx8", d, n * 8);
    }
    {
        unsigned N = 231;
        size_t n = (size_t)N * N * N;
        float *a = mk<float>(n), *b = mk<float>(n);
        unsigned g = blocks(N, OUT_TILE_DIM);
        stencil_kernel<<<dim3(g, g, g), dim3(8, 8, 8)>>>(a, b, N);
        show("stencil_kernel", b, n * 4);
    }
    {
        int nx = 170, ny = 150, nz = 141;
        size_t n = (size_t)nx * ny * nz;
        double *u = mk<double>(n), *k = mk<double>(n), *o = mk<double>(n);
        diffuse_var<<<dim3(blocks(nx, 14), blocks(ny, 2), blocks(nz, 2)), dim3(DX, DY, DZ)>>>(u, k, o, nx, ny, nz, 0.01);
        show("diffuse_var", o, n * 8);
    }
    {
        int W = 250, H = 181, D = 160;
        size_t n = (size_t)W * H * D;
        short *v = mk<short>(n), *g = mk<short>(n);
        morph3<<<dim3(blocks(W, 30), blocks(H, 2), blocks(D, 2)), dim3(32, 4, 4)>>>(v, g, W, H, D);
        show("morph3", g, n * 2);
    }
    {
        int nx = 700, ny = 613, nz = 48;
        size_t n = (size_t)nx * ny * nz;
        float *a = mk<float>(n), *b = mk<float>(n);
        march25d<32, 8><<<dim3(blocks(nx, 30), blocks(ny, 6)), dim3(32, 8)>>>(a, b, nx, ny, nz);
        show("march25d", b, n * 4);
    }
    {
        int n = 20000001;
        int *a = mk<int>(n), *b = mk<int>(n);
        stencil_1d<<<blocks(n, BLOCK_SIZE), BLOCK_SIZE>>>(a, b, n);
        show("stencil_1d", b, 4ull * n);
    }
    return 0;
}
