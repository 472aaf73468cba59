// Block-wide tree reductions collected from several code bases.
#include <cfloat>
#include <cmath>
#include <climits>
#include "shown.h"

/* ---- 1: sum of every row, one block a row, old style ---- */
#define ROWSUM_THREADS 256
__global__ void RowSum(float *d_in, float *d_out, int ncols, int pitch)
{
    __shared__ float s_part[ROWSUM_THREADS];
    int tx = threadIdx.x;
    float *p = d_in + blockIdx.x * (size_t)pitch;
    float acc = 0.0f;
    for (int c = tx; c < ncols; c += ROWSUM_THREADS)
        acc += p[c];
    s_part[tx] = acc;
    __syncthreads();
    for (int s = ROWSUM_THREADS >> 1; s; s >>= 1) {
        if (tx < s) s_part[tx] += s_part[tx + s];
        __syncthreads();
    }
    if (tx == 0) d_out[blockIdx.x] = s_part[0];
}

/* ---- 2: min and max together, a block length that is no power of two ---- */
template <class V>
struct Range {
    V lo, hi;
    __device__ void include(V v) { if (v < lo) lo = v; if (hi < v) hi = v; }
    __device__ void join(const Range &o) { lo = o.lo < lo ? o.lo : lo; hi = hi < o.hi ? o.hi : hi; }
};
template <class V, int NTHREADS>
__global__ void rangeKernel(const V *__restrict__ values, Range<V> *__restrict__ result, size_t count, V lowest, V highest)
{
    __shared__ Range<V> work[NTHREADS];
    Range<V> r{highest, lowest};
    const size_t step = size_t(gridDim.x) * NTHREADS;
    for (size_t i = size_t(blockIdx.x) * NTHREADS + threadIdx.x; i < count; i += step) r.include(values[i]);
    work[threadIdx.x] = r;
    __syncthreads();
    int active = NTHREADS;
    while (active > 1) {
        const int half = (active + 1) / 2;
        if (int(threadIdx.x) < active - half) {
            Range<V> m = work[threadIdx.x];
            m.join(work[threadIdx.x + half]);
            work[threadIdx.x] = m;
        }
        __syncthreads();
        active = half;
    }
    if (threadIdx.x == 0) result[blockIdx.x] = work[0];
}

/* ---- 3: arg-min, lower index wins ---- */
__global__ void argmin_kernel(const float *score, const float *bias, int *best_idx, float *best_val, int n)
{
    extern __shared__ unsigned char raw_argmin[];
    float *sv = reinterpret_cast<float *>(raw_argmin);
    int *si = reinterpret_cast<int *>(sv + blockDim.x);
    const int tid = threadIdx.x;
    const float *mine = score + (long)blockIdx.x * n;
    float bv = FLT_MAX;
    int bi = INT_MAX;
    for (int k = tid; k < n; k += blockDim.x) {
        float v = fabsf(mine[k] - bias[k]);
        if (v < bv) { bv = v; bi = k; }
    }
    sv[tid] = bv;
    si[tid] = bi;
    for (unsigned int off = blockDim.x / 2; off > 0; off /= 2) {
        __syncthreads();
        if (tid < off) {
            float ov = sv[tid + off];
            int oi = si[tid + off];
            bool take = ov < sv[tid] || (ov == sv[tid] && oi < si[tid]);
            if (take) {
                sv[tid] = ov;
                si[tid] = oi;
            }
        }
    }
    if (!tid) {
        best_idx[blockIdx.x] = si[0];
        best_val[blockIdx.x] = sv[0];
    }
}

/* ---- 4: product modulo a prime, interleaved tree ---- */
typedef unsigned int u32;
typedef unsigned long long u64;
__device__ __forceinline__ u32 mulmod(u32 a, u32 b) { return (u32)((u64)a * b % 2147483647u); }

__global__ void product_mod(const u32 *a, u32 *partial, u32 n)
{
    __shared__ u32 prod[128];
    u32 p = 1;
    u32 base = blockIdx.x * 1024u + threadIdx.x;
#pragma unroll
    for (u32 j = 0; j < 8; ++j) {
        u32 at = base + j * 128u;
        if (at < n) p = mulmod(p, a[at] * 2654435u + 17u + at % 1013u);
    }
    prod[threadIdx.x] = p;
    __syncthreads();
    for (u32 s = 1; s < 128; s *= 2) {
        if (threadIdx.x % (2 * s) == 0)
            prod[threadIdx.x] = mulmod(prod[threadIdx.x], prod[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = prod[0];
}

/* ---- 5: logical trees: all nonzero? any above? parity? packed result ---- */
__global__ void logic_flags(const short *cells, unsigned char *verdict, int per_group, short limit) {
    __shared__ bool all_ok[512];
    __shared__ bool any_hi[512];
    __shared__ unsigned parity[512];
    const short *g = &cells[(size_t)per_group * blockIdx.x];
    bool a = true, b = false;
    unsigned x = 0u;
    int i = threadIdx.x;
    while (i < per_group) {
        short c = g[i];
        a = a && (c >= 0);
        b = b || (c + (i & 3) > limit);
        x ^= (unsigned)c << (i & 15);
        i += 512;
    }
    all_ok[threadIdx.x] = a;
    any_hi[threadIdx.x] = b;
    parity[threadIdx.x] = x;
    __syncthreads();
    for (int w = 256; w >= 1; w = w / 2) {
        if (threadIdx.x < w) {
            all_ok[threadIdx.x] = all_ok[threadIdx.x] && all_ok[threadIdx.x + w];
            any_hi[threadIdx.x] = any_hi[threadIdx.x] || any_hi[threadIdx.x + w];
            parity[threadIdx.x] ^= parity[threadIdx.x + w];
        }
        __syncthreads();
    }
    if (threadIdx.x == 511) {
        unsigned q = parity[0];
        verdict[blockIdx.x] = (unsigned char)(all_ok[0] | any_hi[0] << 1 | (__popc(q) & 1) << 2 | (q & 0x1f) << 3);
    }
}

/* ---- 6: softmax of rows, generic tree functor called twice ---- */
struct MaxOp { __device__ static float id() { return -INFINITY; } __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct AddOp { __device__ static float id() { return 0.f; } __device__ float operator()(float a, float b) const { return a + b; } };

template <int BS, class Op>
__device__ float block_tree(float v, float (&buf)[BS], Op op = Op())
{
    __syncthreads();
    buf[threadIdx.x] = v;
    __syncthreads();
#pragma unroll
    for (int d = BS / 2; d > 0; d /= 2) {
        if (threadIdx.x < d) buf[threadIdx.x] = op(buf[threadIdx.x], buf[threadIdx.x + d]);
        __syncthreads();
    }
    return buf[0];
}

template <int BS, int ITEMS>
__global__ __launch_bounds__(BS) void softmax_rows(const float *__restrict__ logits, float *__restrict__ probs, int width, float inv_temp)
{
    __shared__ float buf[BS];
    const float *in = logits + (size_t)blockIdx.x * width;
    float *out = probs + (size_t)blockIdx.x * width;
    float keep[ITEMS];
    float m = MaxOp::id();
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        int c = threadIdx.x + k * BS;
        keep[k] = c < width ? in[c] * inv_temp : MaxOp::id();
        m = fmaxf(m, keep[k]);
    }
    const float top = block_tree<BS, MaxOp>(m, buf);
    float z = AddOp::id();
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        keep[k] = __expf(keep[k] - top);
        z += keep[k];
    }
    const float norm = 1.f / block_tree<BS, AddOp>(z, buf);
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        int c = threadIdx.x + k * BS;
        if (c < width) out[c] = keep[k] * norm;
    }
}

/* ---- 7: column mean/variance, tree along y of a 32 x 16 block, double ---- */
__global__ void colStats(const double *M, double *mean, double *var, int rows, int cols)
{
    __shared__ double S[16][33], Q[16][33];
    const int lx = threadIdx.x, ly = threadIdx.y;
    const int col = blockIdx.x * 32 + lx;
    double s = 0, q = 0;
    if (col < cols)
        for (int r = ly; r < rows; r += 16) {
            double v = M[(size_t)r * cols + col];
            s += v;
            q += v * v;
        }
    S[ly][lx] = s;
    Q[ly][lx] = q;
    __syncthreads();
    if (ly < 8) { S[ly][lx] += S[ly + 8][lx]; Q[ly][lx] += Q[ly + 8][lx]; }
    __syncthreads();
    if (ly < 4) { S[ly][lx] += S[ly + 4][lx]; Q[ly][lx] += Q[ly + 4][lx]; }
    __syncthreads();
    if (ly < 2) { S[ly][lx] += S[ly + 2][lx]; Q[ly][lx] += Q[ly + 2][lx]; }
    __syncthreads();
    if (ly == 0 && col < cols) {
        double m = (S[0][lx] + S[1][lx]) / rows;
        mean[col] = m;
        var[col] = (Q[0][lx] + Q[1][lx]) / rows - m * m;
    }
}

/* ---- 8: dot product of float4 vectors, tail of the tree unrolled in one warp ---- */
template <unsigned int blockSize>
__global__ void dot4(const float4 *x, const float4 *y, float *out, unsigned int n4)
{
    __shared__ float sdata[blockSize];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockSize * 2) + tid;
    const unsigned int gridSize = blockSize * 2 * gridDim.x;
    float mySum = 0;
    while (i < n4) {
        float4 a = x[i], b = y[i];
        mySum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
        if (i + blockSize < n4) {
            a = x[i + blockSize]; b = y[i + blockSize];
            mySum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
        }
        i += gridSize;
    }
    sdata[tid] = mySum;
    __syncthreads();
    if (blockSize >= 1024) { if (tid < 512) { sdata[tid] = mySum = mySum + sdata[tid + 512]; } __syncthreads(); }
    if (blockSize >= 512) { if (tid < 256) { sdata[tid] = mySum = mySum + sdata[tid + 256]; } __syncthreads(); }
    if (blockSize >= 256) { if (tid < 128) { sdata[tid] = mySum = mySum + sdata[tid + 128]; } __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64) { sdata[tid] = mySum = mySum + sdata[tid + 64]; } __syncthreads(); }
    if (tid < 32) {
        mySum += sdata[tid + 32]; __syncwarp();
        sdata[tid] = mySum; __syncwarp();
        mySum += sdata[(tid + 16) & 31]; __syncwarp();
        sdata[tid] = mySum; __syncwarp();
        mySum += sdata[(tid + 8) & 31]; __syncwarp();
        sdata[tid] = mySum; __syncwarp();
        mySum += sdata[(tid + 4) & 31]; __syncwarp();
        sdata[tid] = mySum; __syncwarp();
        mySum += sdata[(tid + 2) & 31]; __syncwarp();
        sdata[tid] = mySum; __syncwarp();
        mySum += sdata[(tid + 1) & 31];
        if (tid == 0) out[blockIdx.x] = mySum;
    }
}

int main()
{
    {
        int rows = 20000, cols = 3001, pitch = 3008;
        float *a = mk<float>((size_t)rows * pitch), *s = mk<float>(rows);
        RowSum<<<rows, ROWSUM_THREADS>>>(a, s, cols, pitch);
        show("RowSum", s, rows * 4);
        cudaFree(a); cudaFree(s);
    }
    {
        size_t n = 60000013;
        int *a = mk<int>(n);
        Range<int> *r = (Range<int> *)mk<int>(2 * 1056);
        rangeKernel<int, 352><<<1056, 352>>>(a, r, n, INT_MIN, INT_MAX);
        show("rangeKernel", r, 1056 * sizeof(*r));
        cudaFree(a); cudaFree(r);
    }
    {
        int n = 4500, g = 12000, th = 128;
        float *s = mk<float>((size_t)n * g), *b = mk<float>(n), *v = mk<float>(g);
        int *ix = mk<int>(g);
        argmin_kernel<<<g, th, th * (sizeof(float) + sizeof(int))>>>(s, b, ix, v, n);
        show("argmin_kernel", ix, g * 4);
        show("argmin_kernel", v, g * 4);
        cudaFree(s); cudaFree(b); cudaFree(v); cudaFree(ix);
    }
    {
        u32 n = 50000003, nb = (n + 1023) / 1024;
        u32 *a = mk<u32>(n), *p = mk<u32>(nb);
        product_mod<<<nb, 128>>>(a, p, n);
        show("product_mod", p, nb * 4);
        cudaFree(a); cudaFree(p);
    }
    {
        int per = 5555, groups = 20000;
        short *c = mk<short>((size_t)per * groups);
        unsigned char *v = mk<unsigned char>(groups);
        logic_flags<<<groups, 512>>>(c, v, per, 14);
        show("logic_flags", v, groups);
        cudaFree(c); cudaFree(v);
    }
    {
        int w = 1900, rows = 18000;
        float *a = mk<float>((size_t)w * rows), *b = mk<float>((size_t)w * rows);
        softmax_rows<256, 8><<<rows, 256>>>(a, b, w, 0.7f);
        show("softmax_rows", b, (size_t)w * rows * 4);
        cudaFree(a); cudaFree(b);
    }
    {
        int rows = 2000, cols = 16003;
        double *m = mk<double>((size_t)rows * cols), *u = mk<double>(cols), *v = mk<double>(cols);
        colStats<<<(cols + 31) / 32, dim3(32, 16)>>>(m, u, v, rows, cols);
        show("colStats", u, cols * 8);
        show("colStats", v, cols * 8);
        cudaFree(m); cudaFree(u); cudaFree(v);
    }
    {
        unsigned n4 = 9000001;
        float4 *x = (float4 *)mk<float>(4ull * n4), *y = (float4 *)mk<float>(4ull * n4);
        float *o = mk<float>(1024);
        dot4<512><<<1024, 512>>>(x, y, o, n4);
        show("dot4", o, 4096);
        cudaFree(x); cudaFree(y); cudaFree(o);
    }
    return 0;
}
