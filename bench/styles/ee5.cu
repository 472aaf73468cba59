// Products and everything shaped like a product.
#include <cfloat>
#include <cuda_fp16.h>
#include "shown.h"

/*************** plain tiled product, guarded, batch in z ***************/
#define TILE_WIDTH 16
__global__ void MatMulBatched(const float *M, const float *N, float *P, int Mrows, int K, int Ncols)
{
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
    int bx = blockIdx.x, by = blockIdx.y, bz = blockIdx.z;
    int tx = threadIdx.x, ty = threadIdx.y;
    int Row = by * TILE_WIDTH + ty;
    int Col = bx * TILE_WIDTH + tx;
    M += (size_t)bz * Mrows * K;
    N += (size_t)bz * K * Ncols;
    float Pvalue = 0;
    for (int ph = 0; ph < (K - 1) / TILE_WIDTH + 1; ++ph) {
        if (Row < Mrows && ph * TILE_WIDTH + tx < K)
            Mds[ty][tx] = M[Row * K + ph * TILE_WIDTH + tx];
        else
            Mds[ty][tx] = 0.0f;
        if (ph * TILE_WIDTH + ty < K && Col < Ncols)
            Nds[ty][tx] = N[(ph * TILE_WIDTH + ty) * Ncols + Col];
        else
            Nds[ty][tx] = 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; ++k)
            Pvalue += Mds[ty][k] * Nds[k][tx];
        __syncthreads();
    }
    if (Row < Mrows && Col < Ncols)
        P[(size_t)bz * Mrows * Ncols + Row * Ncols + Col] = Pvalue;
}

/*************** C = beta C + alpha A A', lower blocks only, double ***************/
template <int NB, int KB>
__global__ void syrkLower(int n, int k, double alpha, const double *__restrict__ A, int lda, double beta, double *__restrict__ C, int ldc)
{
    if (blockIdx.x > blockIdx.y) return;
    __shared__ double left[NB][KB + 1], right[NB][KB + 1];
    const int ti = threadIdx.y, tj = threadIdx.x;          // KB == NB threads each way
    const int i = blockIdx.y * NB + ti, j = blockIdx.x * NB + tj, jj = blockIdx.x * NB + ti;
    double dot = 0.;
    for (int k0 = 0; k0 < k; k0 += KB) {
        left[ti][tj] = (i < n && k0 + tj < k) ? A[i * (size_t)lda + k0 + tj] : 0.;
        right[ti][tj] = (jj < n && k0 + tj < k) ? A[jj * (size_t)lda + k0 + tj] : 0.;
        __syncthreads();
#pragma unroll
        for (int q = 0; q < KB; ++q) dot = fma(left[ti][q], right[tj][q], dot);
        __syncthreads();
    }
    if (i < n && j <= i) {
        double &c = C[i * (size_t)ldc + j];
        c = beta * c + alpha * dot;
    }
}

/*************** C = A' B with a 4 x 4 patch a thread ***************/
constexpr int BM = 64, BN = 64, BK = 8;
__global__ void __launch_bounds__(256) gemmTN(const float *At, const float *B, float *C, int M, int N, int K)
{
    __shared__ float4 As[BK][BM / 4];
    __shared__ float4 Bs[BK][BN / 4];
    const int tid = threadIdx.x;
    const int tm = tid / 16, tn = tid % 16;
    const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        const int kk = (tid % 128) / 16, q = tid % 16;
        if (tid < 128) As[kk][q] = *reinterpret_cast<const float4 *>(&At[(size_t)(k0 + kk) * M + m0 + 4 * q]);
        else Bs[kk][q] = *reinterpret_cast<const float4 *>(&B[(size_t)(k0 + kk) * N + n0 + 4 * q]);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            const float4 a = As[k][tm], b = Bs[k][tn];
            const float av[4] = {a.x, a.y, a.z, a.w};
            const float bv[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
            for (int r = 0; r < 4; ++r)
#pragma unroll
                for (int c = 0; c < 4; ++c) acc[r][c] += av[r] * bv[c];
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        *reinterpret_cast<float4 *>(&C[(size_t)(m0 + tm * 4 + r) * N + n0 + tn * 4]) =
            make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
}

/*************** half inputs, float sums, B held transposed (dense layer + bias + relu) ***************/
__global__ void dense_half(const half2 *x, const half2 *w, const float *bias, __half *y, int batch, int in2, int outs)
{
    __shared__ half2 xs[16][16 + 1], ws[16][16 + 1];
    int o = blockIdx.x * 16 + threadIdx.x, b = blockIdx.y * 16 + threadIdx.y;
    int wrow = blockIdx.x * 16 + threadIdx.y;
    float s0 = 0.f, s1 = 0.f;
    for (int c = 0; c < in2; c += 16) {
        int cc = c + threadIdx.x;
        half2 zero = __float2half2_rn(0.f);
        xs[threadIdx.y][threadIdx.x] = b < batch && cc < in2 ? x[b * in2 + cc] : zero;
        ws[threadIdx.y][threadIdx.x] = wrow < outs && cc < in2 ? w[wrow * in2 + cc] : zero;
        __syncthreads();
        for (int q = 0; q < 16; q++) {
            float2 a = __half22float2(xs[threadIdx.y][q]);
            float2 k = __half22float2(ws[threadIdx.x][q]);
            s0 += a.x * k.x;
            s1 += a.y * k.y;
        }
        __syncthreads();
    }
    if (b < batch && o < outs) {
        float v = s0 + s1 - bias[o];
        y[b * outs + o] = __float2half(v > 0.f ? v * 0.01f : 0.f);
    }
}

/*************** squared distances between two point sets, dimension at run time ***************/
template <class T, int P>
class DistTile {
    T (*a_)[P], (*b_)[P];
    int dim_;
public:
    __device__ DistTile(T *store, int dim) : a_((T(*)[P])store), b_((T(*)[P])(store + dim * P)), dim_(dim) {}
    __device__ void fill(const T *pa, const T *pb, int na, int nb, int a0, int b0) {
        for (int e = threadIdx.y * P + threadIdx.x; e < dim_ * P; e += P * P) {
            int d = e % dim_, p = e / dim_;
            a_[d][p] = a0 + p < na ? pa[(a0 + p) * dim_ + d] : T(0);
            b_[d][p] = b0 + p < nb ? pb[(b0 + p) * dim_ + d] : T(0);
        }
    }
    __device__ T dist(int i, int j) const {
        T s = 0;
        for (int d = 0; d < dim_; ++d) { T u = a_[d][i] - b_[d][j]; s += u * u; }
        return s;
    }
};
__global__ void pairwiseSq(const float *a, const float *b, float *out, int na, int nb, int dim)
{
    extern __shared__ float store[];
    DistTile<float, 16> t(store, dim);
    t.fill(a, b, na, nb, blockIdx.y * 16, blockIdx.x * 16);
    __syncthreads();
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i < na && j < nb) out[(size_t)i * nb + j] = t.dist(threadIdx.y, threadIdx.x);
}

/*************** k-means: nearest centroid, centroids staged a chunk at a time ***************/
#define KM_D 8
#define KM_CHUNK 32
__global__ void kmeansAssign(const float *__restrict__ feat, const float *__restrict__ cent, int *__restrict__ label, float *__restrict__ d2min, int npts, int k)
{
    __shared__ float c[KM_CHUNK * KM_D];
    const int pt = blockDim.x * blockIdx.x + threadIdx.x;
    float f[KM_D];
    for (int d = 0; d < KM_D; ++d) f[d] = pt < npts ? feat[d * npts + pt] : 0.f;   // feature-major
    int lab = -1;
    float best = FLT_MAX;
    for (int first = 0; first < k; first += KM_CHUNK) {
        const int have = min(KM_CHUNK, k - first);
        __syncthreads();
        for (int e = threadIdx.x; e < have * KM_D; e += blockDim.x) c[e] = cent[first * KM_D + e];
        __syncthreads();
        for (int q = 0; q < have; ++q) {
            float s = 0.f;
#pragma unroll
            for (int d = 0; d < KM_D; ++d) s += (f[d] - c[q * KM_D + d]) * (f[d] - c[q * KM_D + d]);
            if (s < best) { best = s; lab = first + q; }
        }
    }
    if (pt >= npts) return;
    label[pt] = lab;
    d2min[pt] = best;
}

/*************** n-body, positions in float4 with the mass in w ***************/
#define EPS2 0.01f
__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai)
{
    float3 r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + EPS2;
    float inv = rsqrtf(distSqr);
    float s = bj.w * inv * inv * inv;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}
__global__ void calculate_forces(void *devX, void *devA, int N)
{
    extern __shared__ float4 shPosition[];
    float4 *globalX = (float4 *)devX;
    float4 *globalA = (float4 *)devA;
    int p = blockDim.x;
    int gtid = blockIdx.x * blockDim.x + threadIdx.x;
    float4 myPosition = globalX[gtid < N ? gtid : N - 1];
    float3 acc = {0.0f, 0.0f, 0.0f};
    for (int i = 0, tile = 0; i < N; i += p, tile++) {
        int idx = tile * p + threadIdx.x;
        shPosition[threadIdx.x] = idx < N ? globalX[idx] : make_float4(0.f, 0.f, 0.f, 0.f);
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < p; j++)
            acc = bodyBodyInteraction(myPosition, shPosition[j], acc);
        __syncthreads();
    }
    if (gtid < N) globalA[gtid] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}

/*************** convolution 3 x 3 as an implicit product: rows are filters, columns are pixels ***************/
struct ConvShape { int C, H, W, F; };
__global__ void conv_as_gemm(const float *img, const float *flt, float *out, ConvShape s)
{
    __shared__ float Ft[16][18], Px[18][16];
    const int K = s.C * 9, pix = s.H * s.W;
    const int f = blockIdx.y * 16 + threadIdx.y;
    const int p = blockIdx.x * 16 + threadIdx.x;
    const int py = p / s.W, px = p % s.W;
    img += (size_t)blockIdx.z * s.C * pix;
    float acc = 0.f;
    for (int k0 = 0; k0 < K; k0 += 18) {          // two channels a step
        for (int kk = threadIdx.x; kk < 18; kk += 16)
            Ft[threadIdx.y][kk] = (f < s.F && k0 + kk < K) ? flt[f * K + k0 + kk] : 0.f;
        for (int kk = threadIdx.y; kk < 18; kk += 16) {
            int k = k0 + kk, ch = k / 9, tap = k % 9;
            int y = py + tap / 3 - 1, x = px + tap % 3 - 1;
            bool ok = p < pix && k < K && (unsigned)y < (unsigned)s.H && (unsigned)x < (unsigned)s.W;
            Px[kk][threadIdx.x] = ok ? img[ch * pix + y * s.W + x] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 18; ++kk) acc += Ft[threadIdx.y][kk] * Px[kk][threadIdx.x];
        __syncthreads();
    }
    if (f < s.F && p < pix) out[((size_t)blockIdx.z * s.F + f) * pix + p] = acc;
}

static half2 *mkHalf2(size_t n)
{
    half2 *h = (half2 *)malloc(n * sizeof(half2)), *d;
    for (size_t i = 0; i < n; i++) h[i] = __floats2half2_rn((i * 31 % 61) * 0.05f - 1.f, (i * 17 % 53) * 0.04f - 1.f);
    cudaMalloc(&d, n * sizeof(half2));
    cudaMemcpy(d, h, n * sizeof(half2), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    {
        int m = 301, k = 250, n = 275, b = 60;
        float *A = mk<float>((size_t)m * k * b), *B = mk<float>((size_t)k * n * b), *C = mk<float>((size_t)m * n * b);
        MatMulBatched<<<dim3((n + 15) / 16, (m + 15) / 16, b), dim3(16, 16)>>>(A, B, C, m, k, n);
        show("MatMulBatched", C, (size_t)m * n * b * 4);
        cudaFree(A); cudaFree(B); cudaFree(C);
    }
    {
        int n = 1501, k = 600, lda = 608, ldc = 1504;
        double *A = mk<double>((size_t)n * lda), *C = mk<double>((size_t)n * ldc);
        int g = (n + 15) / 16;
        syrkLower<16, 16><<<dim3(g, g), dim3(16, 16)>>>(n, k, -0.5, A, lda, 2.0, C, ldc);
        show("syrkLower", C, (size_t)n * ldc * 8);
        cudaFree(A); cudaFree(C);
    }
    {
        int m = 1536, n = 1024, k = 1000;
        float *A = mk<float>((size_t)m * k), *B = mk<float>((size_t)n * k), *C = mk<float>((size_t)m * n);
        gemmTN<<<dim3(n / BN, m / BM), 256>>>(A, B, C, m, n, k);
        show("gemmTN", C, (size_t)m * n * 4);
        cudaFree(A); cudaFree(B); cudaFree(C);
    }
    {
        int batch = 1000, in2 = 380, outs = 777;
        half2 *x = mkHalf2((size_t)batch * in2), *w = mkHalf2((size_t)outs * in2);
        float *bias = mk<float>(outs);
        __half *y = (__half *)mk<short>((size_t)batch * outs);
        dense_half<<<dim3((outs + 15) / 16, (batch + 15) / 16), dim3(16, 16)>>>(x, w, bias, y, batch, in2, outs);
        show("dense_half", y, (size_t)batch * outs * 2);
        cudaFree(x); cudaFree(w); cudaFree(bias); cudaFree(y);
    }
    {
        int na = 5001, nb = 4007, dim = 21;
        float *a = mk<float>(na * dim), *b = mk<float>(nb * dim), *o = mk<float>((size_t)na * nb);
        pairwiseSq<<<dim3((nb + 15) / 16, (na + 15) / 16), dim3(16, 16), 2 * dim * 16 * sizeof(float)>>>(a, b, o, na, nb, dim);
        show("pairwiseSq", o, (size_t)na * nb * 4);
        cudaFree(a); cudaFree(b); cudaFree(o);
    }
    {
        int n = 1000003, k = 150;
        float *f = mk<float>((size_t)n * KM_D), *c = mk<float>(k * KM_D), *d = mk<float>(n);
        int *l = mk<int>(n);
        kmeansAssign<<<(n + 127) / 128, 128>>>(f, c, l, d, n, k);
        show("kmeansAssign", l, (size_t)n * 4);
        show("kmeansAssign", d, (size_t)n * 4);
        cudaFree(f); cudaFree(c); cudaFree(d); cudaFree(l);
    }
    {
        int n = 29999, p = 128;
        float *x = mk<float>(4 * n), *a = mk<float>(4 * n);
        calculate_forces<<<(n + p - 1) / p, p, p * sizeof(float4)>>>(x, a, n);
        show("calculate_forces", a, (size_t)n * 16);
        cudaFree(x); cudaFree(a);
    }
    {
        ConvShape s = {17, 62, 75, 40};
        int batch = 64;
        float *x = mk<float>((size_t)batch * s.C * s.H * s.W), *f = mk<float>(s.F * s.C * 9), *y = mk<float>((size_t)batch * s.F * s.H * s.W);
        conv_as_gemm<<<dim3((s.H * s.W + 15) / 16, (s.F + 15) / 16, batch), dim3(16, 16)>>>(x, f, y, s);
        show("conv_as_gemm", y, (size_t)batch * s.F * s.H * s.W * 4);
        cudaFree(x); cudaFree(f); cudaFree(y);
    }
    return 0;
}
