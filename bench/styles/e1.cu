// 1-D stencils and filters on tiles with halos
#include "shown.h"

// explicit heat equation, the two edge threads fetch the halo
__global__ void heat_step(const float *__restrict__ u, float *__restrict__ unew, int n, float lambda)
{
    __shared__ float s[256 + 2];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int l = threadIdx.x + 1;

    s[l] = (i < n) ? u[i] : 0.0f;
    if (threadIdx.x == 0)
        s[0] = (i > 0) ? u[i - 1] : 0.0f;
    if (threadIdx.x == blockDim.x - 1)
        s[l + 1] = (i + 1 < n) ? u[i + 1] : 0.0f;
    __syncthreads();

    if (i < n)
        unew[i] = s[l] + lambda * (s[l - 1] - 2.0f * s[l] + s[l + 1]);
}

// generic radius, the first R threads fetch both halos
template <typename T, int BLOCK, int R>
__global__ void box_average(T *dst, const T *src, int count)
{
  __shared__ T window[BLOCK + 2 * R];
  const int g = blockIdx.x * BLOCK + threadIdx.x;
  const int c = threadIdx.x + R;
  window[c] = g < count ? src[g] : T(0);
  if (threadIdx.x < R) {
    int left = g - R;
    int right = g + BLOCK;
    window[c - R] = left >= 0 ? src[left] : T(0);
    window[c + BLOCK] = right < count ? src[right] : T(0);
  }
  __syncthreads();
  if (g >= count) return;
  T acc = 0;
#pragma unroll
  for (int k = -R; k <= R; ++k) acc += window[c + k];
  dst[g] = acc / T(2 * R + 1);
}

// FIR with 33 taps from the constant bank; cooperative loop loads the tile
#define TAPS 33
__constant__ float c_taps[TAPS];

__global__ void fir33(const float *x, float *y, int n)
{
    __shared__ float tile[4 * 128 + TAPS - 1];
    const int base = blockIdx.x * 4 * 128;
    for (int k = threadIdx.x; k < 4 * 128 + TAPS - 1; k += 128) {
        int idx = base + k - (TAPS - 1);
        tile[k] = (idx >= 0 && idx < n) ? x[idx] : 0.f;
    }
    __syncthreads();
    for (int r = 0; r < 4; r++) {
        int o = r * 128 + threadIdx.x;
        float sum = 0.f;
        for (int t = 0; t < TAPS; t++)
            sum += c_taps[t] * tile[o + TAPS - 1 - t];
        if (base + o < n)
            y[base + o] = sum;
    }
}

// wave equation, several time levels inside one tile (trapezoid shrinks by one each step)
#define WSTEPS 4
__global__ void wave_tile(const double *up, const double *uc, double *outp, double *outc, int n, double c2)
{
    __shared__ double prev[256];
    __shared__ double curr[256];
    const int tx = threadIdx.x;
    const int useful = 256 - 2 * WSTEPS;
    const int i = (int)blockIdx.x * useful + tx - WSTEPS;
    bool in = i >= 0 && i < n;

    prev[tx] = in ? up[i] : 0.0;
    curr[tx] = in ? uc[i] : 0.0;
    __syncthreads();

    for (int t = 0; t < WSTEPS; ++t) {
        double nxt = 0.0;
        bool active = tx > t && tx < 255 - t;
        if (active) {
            nxt = 2.0 * curr[tx] - prev[tx] + c2 * (curr[tx + 1] - 2.0 * curr[tx] + curr[tx - 1]);
            if (!in) nxt = 0.0;
        }
        __syncthreads();
        if (active) {
            prev[tx] = curr[tx];
            curr[tx] = nxt;
        }
        __syncthreads();
    }
    if (tx >= WSTEPS && tx < 256 - WSTEPS && i < n) {
        outp[i] = prev[tx];
        outc[i] = curr[tx];
    }
}

// MUSCL reconstruction with a minmod limiter and a Burgers flux, two ghost cells on each side
__device__ __forceinline__ float minmod(float a, float b)
{
    if (a * b <= 0.f) return 0.f;
    return fabsf(a) < fabsf(b) ? a : b;
}

__global__ void burgers_muscl(const float *q, float *qn, int cells, float dtdx)
{
    const int NG = 2;
    __shared__ float cell[192 + 4];
    __shared__ float flux[192 + 1];
    int t = threadIdx.x, gi = blockIdx.x * 192 + t;

    cell[t + NG] = q[min(gi, cells - 1)];
    if (t < NG)
        cell[t] = q[max(gi - NG, 0)];
    else if (t >= 192 - NG)
        cell[t + 2 * NG] = q[min(gi + NG, cells - 1)];
    __syncthreads();

    // interface f lies between cell f+1 and f+2 of the array
    for (int f = t; f < 193; f += 192) {
        float l2 = cell[f], l1 = cell[f + 1], r1 = cell[f + 2], r2 = cell[f + 3];
        float ul = l1 + 0.5f * minmod(l1 - l2, r1 - l1);
        float ur = r1 - 0.5f * minmod(r1 - l1, r2 - r1);
        float a = fmaxf(fabsf(ul), fabsf(ur));
        flux[f] = 0.25f * (ul * ul + ur * ur) - 0.5f * a * (ur - ul);
    }
    __syncthreads();
    if (gi < cells)
        qn[gi] = cell[t + NG] - dtdx * (flux[t + 1] - flux[t]);
}

// eighth order first derivative of pairs
__global__ void deriv8(const float2 *f, float2 *df, int n, float invh)
{
    extern __shared__ float2 sh[];
    const float w[4] = {0.8f, -0.2f, 4.0f / 105.0f, -1.0f / 280.0f};
    unsigned int lid = threadIdx.x;
    unsigned int gid = blockIdx.x * blockDim.x + lid;
    // periodic domain
    sh[lid + 4] = f[gid];
    if (lid < 4) {
        sh[lid] = f[(gid + n - 4) % n];
        sh[lid + blockDim.x + 4] = f[(gid + blockDim.x) % n];
    }
    __syncthreads();
    float2 d = make_float2(0.f, 0.f);
    for (int k = 1; k <= 4; k++) {
        float2 p = sh[lid + 4 + k], m = sh[lid + 4 - k];
        d.x += w[k - 1] * (p.x - m.x);
        d.y += w[k - 1] * (p.y - m.y);
    }
    d.x *= invh;
    d.y *= invh;
    df[gid] = d;
}

int main()
{
    {
        int n = (1 << 25) - 77;
        float *a = mk<float>(n), *b = mk<float>(n);
        heat_step<<<(n + 255) / 256, 256>>>(a, b, n, 0.23f);
        show("heat_step", b, n * sizeof(float));
        box_average<float, 512, 5><<<(n + 511) / 512, 512>>>(b, a, n);
        show("box_average<float>", b, n * sizeof(float));
    }
    {
        int n = (1 << 24) + 300;
        int *a = mk<int>(n), *b = mk<int>(n);
        box_average<int, 128, 3><<<(n + 127) / 128, 128>>>(b, a, n);
        show("box_average<int>", b, n * sizeof(int));
    }
    {
        int n = 1 << 24;
        float h[TAPS];
        for (int i = 0; i < TAPS; i++) h[i] = (float)(TAPS / 2 + 1 - abs(i - TAPS / 2)) / 289.0f;
        cudaMemcpyToSymbol(c_taps, h, sizeof(h));
        float *x = mk<float>(n), *y = mk<float>(n);
        fir33<<<n / 512, 128>>>(x, y, n);
        show("fir33", y, n * sizeof(float));
    }
    {
        int n = 1 << 23;
        double *p = mk<double>(n), *c = mk<double>(n), *op = mk<double>(n), *oc = mk<double>(n);
        int useful = 256 - 2 * WSTEPS;
        wave_tile<<<(n + useful - 1) / useful, 256>>>(p, c, op, oc, n, 0.4);
        show("wave_tile.prev", op, n * sizeof(double));
        show("wave_tile.curr", oc, n * sizeof(double));
    }
    {
        int n = 192 * 87381 - 50;
        float *q = mk<float>(n), *r = mk<float>(n);
        burgers_muscl<<<(n + 191) / 192, 192>>>(q, r, n, 0.02f);
        show("burgers_muscl", r, n * sizeof(float));
    }
    {
        int n = 1 << 23;
        float2 *f = (float2 *)mk<float>(2 * (size_t)n), *d = (float2 *)mk<float>(2 * (size_t)n);
        deriv8<<<n / 256, 256, (256 + 8) * sizeof(float2)>>>(f, d, n, 3.5f);
        show("deriv8", d, n * sizeof(float2));
    }
    return 0;
}
