// volumes: stencils and filters in three dimensions
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime.h>

#define CUDA_CALL(f) { cudaError_t err_ = (f); if (err_ != cudaSuccess) { fprintf(stderr, "%s:%d: %s -> %s\n", __FILE__, __LINE__, #f, cudaGetErrorString(err_)); exit(1); } }

#define TX 16
#define TY 4
#define TZ 4
#define VOX(i, j, k) (((size_t)(k) * ny + (j)) * nx + (i))

// 7-point laplacian, full tile, faces by the outer threads
__global__ void lap7_tile3d(const float *u, float *v, int nx, int ny, int nz, float c0, float c1)
{
    __shared__ float s[TZ + 2][TY + 2][TX + 2];
    int i = blockIdx.x * TX + threadIdx.x;
    int j = blockIdx.y * TY + threadIdx.y;
    int k = blockIdx.z * TZ + threadIdx.z;
    int a = threadIdx.x + 1, b = threadIdx.y + 1, c = threadIdx.z + 1;
    if (i < nx && j < ny && k < nz) {
        s[c][b][a] = u[VOX(i, j, k)];
        if (threadIdx.x == 0 && i > 0) s[c][b][0] = u[VOX(i - 1, j, k)];
        if (threadIdx.x == TX - 1 && i + 1 < nx) s[c][b][TX + 1] = u[VOX(i + 1, j, k)];
        if (threadIdx.y == 0 && j > 0) s[c][0][a] = u[VOX(i, j - 1, k)];
        if (threadIdx.y == TY - 1 && j + 1 < ny) s[c][TY + 1][a] = u[VOX(i, j + 1, k)];
        if (threadIdx.z == 0 && k > 0) s[0][b][a] = u[VOX(i, j, k - 1)];
        if (threadIdx.z == TZ - 1 && k + 1 < nz) s[TZ + 1][b][a] = u[VOX(i, j, k + 1)];
    }
    __syncthreads();
    if (i > 0 && j > 0 && k > 0 && i < nx - 1 && j < ny - 1 && k < nz - 1)
        v[VOX(i, j, k)] = c0 * s[c][b][a] + c1 * (s[c][b][a - 1] + s[c][b][a + 1] + s[c][b - 1][a] + s[c][b + 1][a] + s[c - 1][b][a] + s[c + 1][b][a]);
}

// 27-point mean, three planes kept in a ring
#define PX 32
#define PY 8
__device__ void loadPlane(float (*p)[PX + 2], const float *u, int k, int nx, int ny, int nz)
{
    k = k < 0 ? 0 : (k > nz - 1 ? nz - 1 : k);
    for (int r = threadIdx.y; r < PY + 2; r += PY)
        for (int q = threadIdx.x; q < PX + 2; q += PX) {
            int i = (int)(blockIdx.x * PX) + q - 1, j = (int)(blockIdx.y * PY) + r - 1;
            i = i < 0 ? 0 : (i > nx - 1 ? nx - 1 : i);
            j = j < 0 ? 0 : (j > ny - 1 ? ny - 1 : j);
            p[r][q] = u[VOX(i, j, k)];
        }
}
__global__ void mean27_ring(const float *u, float *v, int nx, int ny, int nz)
{
    __shared__ float ring[3][PY + 2][PX + 2];
    int i = blockIdx.x * PX + threadIdx.x, j = blockIdx.y * PY + threadIdx.y;
    int k0 = blockIdx.z * 32, k1 = min(k0 + 32, nz);
    int lo = 0, mid = 1, hi = 2;
    loadPlane(ring[lo], u, k0 - 1, nx, ny, nz);
    loadPlane(ring[mid], u, k0, nx, ny, nz);
    for (int k = k0; k < k1; k++) {
        loadPlane(ring[hi], u, k + 1, nx, ny, nz);
        __syncthreads();
        if (i < nx && j < ny) {
            float sum = 0.0f;
            for (int r = 0; r < 3; r++)
                for (int q = 0; q < 3; q++)
                    sum += ring[lo][threadIdx.y + r][threadIdx.x + q] + ring[mid][threadIdx.y + r][threadIdx.x + q] + ring[hi][threadIdx.y + r][threadIdx.x + q];
            v[VOX(i, j, k)] = sum * (1.0f / 27.0f);
        }
        __syncthreads();
        int t = lo;
        lo = mid;
        mid = hi;
        hi = t;
    }
}

// gaussian along z on 16 bit data, one column of the tile per thread row
#define GR 4
__constant__ float zTaps[2 * GR + 1];
__global__ void gauss_along_z(const short *src, short *dst, int nx, int ny, int nz)
{
    __shared__ short col[16 + 2 * GR][32];
    int i = blockIdx.x * 32 + threadIdx.x;
    int j = blockIdx.y;
    int kb = blockIdx.z * 16;
    if (i < nx)
        for (int r = threadIdx.y; r < 16 + 2 * GR; r += 16) {
            int k = min(max(kb + r - GR, 0), nz - 1);
            col[r][threadIdx.x] = src[VOX(i, j, k)];
        }
    __syncthreads();
    int k = kb + threadIdx.y;
    if (i < nx && k < nz) {
        float acc = 0.5f;
#pragma unroll
        for (int t = 0; t <= 2 * GR; t++) acc += zTaps[t] * col[threadIdx.y + t][threadIdx.x];
        dst[VOX(i, j, k)] = (short)acc;
    }
}

// Allen-Cahn step with periodic boundaries, double, run-time block
__global__ void allen_cahn_step(const double *phi, double *phiNew, int nx, int ny, int nz, double dt, double kappa)
{
    extern __shared__ double ph[];
    int sx = blockDim.x + 2, sy = blockDim.y + 2;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z;
    int l = (threadIdx.y + 1) * sx + threadIdx.x + 1;
    bool inside = i < nx && j < ny;
    double up = 0, dn = 0;
    if (inside) {
        ph[l] = phi[VOX(i, j, k)];
        if (threadIdx.x == 0) ph[l - 1] = phi[VOX(i == 0 ? nx - 1 : i - 1, j, k)];
        if (threadIdx.x == blockDim.x - 1 || i == nx - 1) ph[l + 1] = phi[VOX(i == nx - 1 ? 0 : i + 1, j, k)];
        if (threadIdx.y == 0) ph[l - sx] = phi[VOX(i, j == 0 ? ny - 1 : j - 1, k)];
        if (threadIdx.y == blockDim.y - 1 || j == ny - 1) ph[l + sx] = phi[VOX(i, j == ny - 1 ? 0 : j + 1, k)];
        up = phi[VOX(i, j, k == nz - 1 ? 0 : k + 1)];
        dn = phi[VOX(i, j, k == 0 ? nz - 1 : k - 1)];
    }
    __syncthreads();
    if (inside) {
        double c = ph[l];
        double lap = ph[l - 1] + ph[l + 1] + ph[l - sx] + ph[l + sx] + up + dn - 6.0 * c;
        phiNew[VOX(i, j, k)] = c + dt * (kappa * lap - c * (c * c - 1.0));
    }
}

int main(int argc, char **argv)
{
    int nx = 300, ny = 260, nz = 256;
    if (argc > 3) { nx = atoi(argv[1]); ny = atoi(argv[2]); nz = atoi(argv[3]); }
    size_t n = (size_t)nx * ny * nz;
    float *h = (float *)malloc(n * sizeof(float)), *u, *v;
    short *hs = (short *)malloc(n * sizeof(short)), *s0, *s1;
    for (size_t i = 0; i < n; i++) { h[i] = (float)((i * 7) % 1013) / 1013.0f; hs[i] = (short)((i * 31) % 2000); }
    CUDA_CALL(cudaMalloc((void **)&u, n * sizeof(float)));
    CUDA_CALL(cudaMalloc((void **)&v, n * sizeof(float)));
    CUDA_CALL(cudaMalloc((void **)&s0, n * sizeof(short)));
    CUDA_CALL(cudaMalloc((void **)&s1, n * sizeof(short)));
    CUDA_CALL(cudaMemcpy(u, h, n * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CALL(cudaMemcpy(v, h, n * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CALL(cudaMemcpy(s0, hs, n * sizeof(short), cudaMemcpyHostToDevice));

    dim3 tb(TX, TY, TZ), tg((nx + TX - 1) / TX, (ny + TY - 1) / TY, (nz + TZ - 1) / TZ);
    lap7_tile3d<<<tg, tb>>>(u, v, nx, ny, nz, 0.4f, 0.1f);
    lap7_tile3d<<<tg, tb>>>(v, u, nx, ny, nz, 0.4f, 0.1f);
    CUDA_CALL(cudaGetLastError());
    mean27_ring<<<dim3((nx + PX - 1) / PX, (ny + PY - 1) / PY, (nz + 31) / 32), dim3(PX, PY)>>>(u, v, nx, ny, nz);
    CUDA_CALL(cudaGetLastError());
    float taps[2 * GR + 1] = {0.028f, 0.066f, 0.124f, 0.180f, 0.204f, 0.180f, 0.124f, 0.066f, 0.028f};
    CUDA_CALL(cudaMemcpyToSymbol(zTaps, taps, sizeof(taps)));
    gauss_along_z<<<dim3((nx + 31) / 32, ny, (nz + 15) / 16), dim3(32, 16)>>>(s0, s1, nx, ny, nz);
    CUDA_CALL(cudaGetLastError());
    CUDA_CALL(cudaDeviceSynchronize());
    cudaFree(u); cudaFree(v); cudaFree(s0); cudaFree(s1);

    int m = 200;
    size_t mm = (size_t)m * m * m;
    double *hd = (double *)malloc(mm * sizeof(double)), *p0, *p1;
    for (size_t i = 0; i < mm; i++) hd[i] = ((i * 12289) % 2001) / 1000.0 - 1.0;
    CUDA_CALL(cudaMalloc((void **)&p0, mm * sizeof(double)));
    CUDA_CALL(cudaMalloc((void **)&p1, mm * sizeof(double)));
    CUDA_CALL(cudaMemcpy(p0, hd, mm * sizeof(double), cudaMemcpyHostToDevice));
    dim3 ab(32, 8);
    allen_cahn_step<<<dim3((m + 31) / 32, (m + 7) / 8, m), ab, (32 + 2) * (8 + 2) * sizeof(double)>>>(p0, p1, m, m, m, 0.01, 0.5);
    CUDA_CALL(cudaGetLastError());
    CUDA_CALL(cudaDeviceSynchronize());
    cudaFree(p0); cudaFree(p1);
    free(h); free(hs); free(hd);
    return 0;
}
