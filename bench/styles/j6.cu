// j6: products whose staging is guarded, and dearly
#include "shown.h"
#include <cuda_fp16.h>

#define TILE 16

// ------------------------------------------------------------------ C = A * B + bias, everything size_t
__global__ void matmul_sz(const float *A, const float *B, const float *bias, float *C, size_t m, size_t n, size_t k)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];

    size_t row = (size_t)blockIdx.y * blockDim.y + threadIdx.y;
    size_t col = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float acc = 0.0f;

    for (size_t t = 0; t < (k + TILE - 1) / TILE; ++t)
    {
        size_t kc = t * TILE + threadIdx.x;
        size_t kr = t * TILE + threadIdx.y;
        if (row < m && kc < k)
            As[threadIdx.y][threadIdx.x] = A[row * k + kc];
        else
            As[threadIdx.y][threadIdx.x] = 0.0f;
        if (kr < k && col < n)
            Bs[threadIdx.y][threadIdx.x] = B[kr * n + col];
        else
            Bs[threadIdx.y][threadIdx.x] = 0.0f;
        __syncthreads();

        for (int i = 0; i < TILE; ++i)
            acc += As[threadIdx.y][i] * Bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = acc + bias[col];
}

// ------------------------------------------------------------------ batched, double; rows are scaled by 1/sqrt while they are staged
__global__ void batchedScaled(const double* __restrict__ A, const double* __restrict__ B, const double* __restrict__ deg, double* __restrict__ C, int n, int p, int batch)
{
    __shared__ double a[TILE][TILE + 1], b[TILE][TILE + 1];
    const int bt = blockIdx.z;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int i = blockIdx.y * TILE + ty, j = blockIdx.x * TILE + tx;
    const double* Ab = A + (size_t)bt * n * n;
    const double* Bb = B + (size_t)bt * n * p;
    const double* d = deg + (size_t)bt * n;
    double sum = 0;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        a[ty][tx] = 0;
        b[ty][tx] = 0;
        int k = k0 + tx;
        if (bt < batch && i < n && k < n && i != k) {
            double w = Ab[(size_t)i * n + k];
            if (w > 0.5) a[ty][tx] = w / sqrt((1.0 + d[i]) * (1.0 + d[k]));
        }
        k = k0 + ty;
        if (bt < batch && k < n && j < p) b[ty][tx] = Bb[(size_t)k * p + j];
        __syncthreads();
#pragma unroll
        for (int q = 0; q < TILE; q++) sum += a[ty][q] * b[q][tx];
        __syncthreads();
    }
    if (i < n && j < p) C[((size_t)bt * n + i) * p + j] = sum;
}

// ------------------------------------------------------------------ half in, half out, 32 x 32, exp in the staging (softmax numerator times V)
template <int T>
__global__ void softmax_times_v(const __half *S, const float *rowmax, const float *rowsum, const __half *V, __half *O, int L, int dv, int heads)
{
    __shared__ __half ps[T][T];
    __shared__ __half vs[T][T];
    int h = blockIdx.z;
    int r = blockIdx.y * T + threadIdx.y;
    int c = blockIdx.x * T + threadIdx.x;
    float acc = 0.f;
    for (int t = 0; t < L; t += T) {
        int kx = t + threadIdx.x, ky = t + threadIdx.y;
        if (r < L && kx < L && kx <= r && h < heads) {
            float s = __half2float(S[((size_t)h * L + r) * L + kx]);
            ps[threadIdx.y][threadIdx.x] = __float2half(__expf(s - rowmax[h * L + r]) / (1.f + rowsum[h * L + r]));
        } else {
            ps[threadIdx.y][threadIdx.x] = __float2half(0.f);
        }
        vs[threadIdx.y][threadIdx.x] = (ky < L && c < dv) ? V[((size_t)h * L + ky) * dv + c] : __float2half(0.f);
        __syncthreads();
        for (int q = 0; q < T; q++)
            acc += __half2float(ps[threadIdx.y][q]) * __half2float(vs[q][threadIdx.x]);
        __syncthreads();
    }
    if (r < L && c < dv)
        O[((size_t)h * L + r) * dv + c] = __float2half(acc);
}

// ------------------------------------------------------------------ int8 with zero points, B is transposed
typedef signed char i8;
__global__ void qgemm_nt(const i8 *a, const i8 *bt, i8 *c, int M, int N, int K, int za, int zb, float scale)
{
  __shared__ int sa[TILE][TILE], sb[TILE][TILE + 1];
  int lx = threadIdx.x, ly = threadIdx.y;
  int m = blockIdx.y * TILE + ly;
  int n = blockIdx.x * TILE + lx;
  int nload = blockIdx.x * TILE + ly;
  int acc = 0;
  for (int kk = 0; kk < K; kk += TILE) {
    sa[ly][lx] = (m < M && kk + lx < K) ? a[m * K + kk + lx] - za : 0;
    sb[ly][lx] = (nload < N && kk + lx < K) ? bt[nload * K + kk + lx] - zb : 0;
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < TILE; ++i) acc += sa[ly][i] * sb[lx][i];
    __syncthreads();
  }
  if (m < M && n < N) {
    int q = __float2int_rn(acc * scale);
    c[m * N + n] = (i8)(q < -128 ? -128 : q > 127 ? 127 : q);
  }
}

// ------------------------------------------------------------------ convolution as a product; the columns are made on the fly
struct ConvShape { int C, H, W, K, R, S, stride, pad, OH, OW; };
__global__ void conv_im2col(const float *img, const float *wgt, float *out, ConvShape g)
{
    __shared__ float sw[16][16];
    __shared__ float sx[16][16];
    const int CRS = g.C * g.R * g.S, PQ = g.OH * g.OW;
    const int oc = blockIdx.y * 16 + threadIdx.y;
    const int px = blockIdx.x * 16 + threadIdx.x;
    const float *x = img + (size_t)blockIdx.z * g.C * g.H * g.W;
    float acc = 0.f;
    for (int base = 0; base < CRS; base += 16) {
        int e = base + threadIdx.x;
        sw[threadIdx.y][threadIdx.x] = oc < g.K && e < CRS ? wgt[oc * CRS + e] : 0.f;
        e = base + threadIdx.y;
        float v = 0.f;
        if (e < CRS && px < PQ) {
            int ch = e / (g.R * g.S), rs = e % (g.R * g.S);
            int iy = px / g.OW * g.stride - g.pad + rs / g.S;
            int ix = px % g.OW * g.stride - g.pad + rs % g.S;
            if (iy >= 0 && iy < g.H && ix >= 0 && ix < g.W)
                v = x[((size_t)ch * g.H + iy) * g.W + ix];
        }
        sx[threadIdx.y][threadIdx.x] = v;
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += sw[threadIdx.y][k] * sx[k][threadIdx.x];
        __syncthreads();
    }
    if (oc < g.K && px < PQ)
        out[((size_t)blockIdx.z * g.K + oc) * PQ + px] = acc > 0.f ? acc : 0.f;
}

// ------------------------------------------------------------------ A * A^T, lower triangle only
__global__ void syrk_lower(float *C, const float *A, int n, int k, float alpha)
{
    if (blockIdx.x > blockIdx.y) return;
    __shared__ float P[TILE][TILE + 1], Q[TILE][TILE + 1];
    int i = blockIdx.y * TILE + threadIdx.y;
    int j = blockIdx.x * TILE + threadIdx.x;
    int jj = blockIdx.x * TILE + threadIdx.y;
    float s = 0;
    for (int t = 0; t < k; t += TILE) {
        bool ck = t + threadIdx.x < k;
        P[threadIdx.y][threadIdx.x] = ck && i < n ? A[(size_t)i * k + t + threadIdx.x] : 0;
        Q[threadIdx.y][threadIdx.x] = ck && jj < n ? A[(size_t)jj * k + t + threadIdx.x] : 0;
        __syncthreads();
        for (int q = 0; q < TILE; q++) s += P[threadIdx.y][q] * Q[threadIdx.x][q];
        __syncthreads();
    }
    if (i < n && j <= i) C[(size_t)i * n + j] = alpha * s;
}

// ------------------------------------------------------------------ contrast: row maximum and sum as trees
__global__ void softmax_stats(const __half *S, float *mx, float *sm, int L)
{
    __shared__ float red[128];
    const __half *row = S + (size_t)blockIdx.x * L;
    float m = -1e30f;
    for (int i = threadIdx.x; i < L; i += 128) m = fmaxf(m, __half2float(row[i]));
    red[threadIdx.x] = m;
    __syncthreads();
    for (int s = 64; s; s >>= 1) {
        if (threadIdx.x < s) red[threadIdx.x] = fmaxf(red[threadIdx.x], red[threadIdx.x + s]);
        __syncthreads();
    }
    m = red[0];
    __syncthreads();
    float a = 0.f;
    for (int i = threadIdx.x; i < L; i += 128) a += expf(__half2float(row[i]) - m);
    red[threadIdx.x] = a;
    __syncthreads();
    for (int s = 64; s; s >>= 1) {
        if (threadIdx.x < s) red[threadIdx.x] += red[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) { mx[blockIdx.x] = m; sm[blockIdx.x] = red[0]; }
}

#define UP(a) (((a) + TILE - 1) / TILE)
int main()
{
    {
        size_t m = 1000, n = 1111, k = 777;
        float *A = mk<float>(m * k), *B = mk<float>(k * n), *b = mk<float>(n), *C = mk<float>(m * n);
        matmul_sz<<<dim3(UP(n), UP(m)), dim3(TILE, TILE)>>>(A, B, b, C, m, n, k);
        show("matmul_sz", C, m * n * 4);
    }
    {
        int n = 250, p = 70, batch = 40;
        double *A = mk<double>((size_t)n * n * batch), *B = mk<double>((size_t)n * p * batch), *d = mk<double>((size_t)n * batch), *C = mk<double>((size_t)n * p * batch);
        batchedScaled<<<dim3(UP(p), UP(n), batch), dim3(TILE, TILE)>>>(A, B, d, C, n, p, batch);
        show("batchedScaled", C, 8ull * n * p * batch);
    }
    {
        int L = 500, dv = 64, H = 24;
        __half *S = mk<__half>((size_t)H * L * L), *V = mk<__half>((size_t)H * L * dv), *O = mk<__half>((size_t)H * L * dv);
        float *mx = mk<float>(H * L), *sm = mk<float>(H * L);
        softmax_stats<<<H * L, 128>>>(S, mx, sm, L);
        show("softmax_max", mx, 4ull * H * L);
        show("softmax_sum", sm, 4ull * H * L);
        softmax_times_v<32><<<dim3((dv + 31) / 32, (L + 31) / 32, H), dim3(32, 32)>>>(S, mx, sm, V, O, L, dv, H);
        show("softmax_times_v", O, 2ull * H * L * dv);
    }
    {
        int M = 900, N = 1023, K = 515;
        i8 *a = mk<i8>(M * K), *b = mk<i8>(N * K), *c = mk<i8>(M * N);
        qgemm_nt<<<dim3(UP(N), UP(M)), dim3(TILE, TILE)>>>(a, b, c, M, N, K, 6, 5, 0.02f);
        show("qgemm_nt", c, (size_t)M * N);
    }
    {
        ConvShape g = {24, 57, 61, 40, 3, 3, 1, 1, 57, 61};
        int nb = 8;
        size_t no = (size_t)nb * g.K * g.OH * g.OW;
        float *x = mk<float>((size_t)nb * g.C * g.H * g.W), *w = mk<float>(g.K * g.C * g.R * g.S), *o = mk<float>(no);
        conv_im2col<<<dim3(UP(g.OH * g.OW), UP(g.K), nb), dim3(16, 16)>>>(x, w, o, g);
        show("conv_im2col", o, no * 4);
    }
    {
        int n = 1230, k = 401;
        float *A = mk<float>((size_t)n * k), *C = mk<float>((size_t)n * n);
        syrk_lower<<<dim3(UP(n), UP(n)), dim3(TILE, TILE)>>>(C, A, n, k, 0.5f);
        show("syrk_lower", C, 4ull * n * n);
    }
    return 0;
}
