//
// Layout changes and reductions along different axes.
//
#include "shown.h"
#include <climits>
#include <cfloat>

template <typename T> struct Min { static __device__ T id() { return INT_MAX; } __device__ T operator()(T a, T b) const { return a < b ? a : b; } };
template <typename T> struct Add { static __device__ T id() { return T(0); } __device__ T operator()(T a, T b) const { return a + b; } };

// in-place square transpose; a block swaps a pair of tiles
template <typename T, int S>
__global__ void transpose_inplace(T *m, int n)
{
    __shared__ T up[S][S + 1];
    __shared__ T lo[S][S + 1];
    if (blockIdx.y > blockIdx.x) return;
    int r = blockIdx.y * S + threadIdx.y, c = blockIdx.x * S + threadIdx.x;
    int r2 = blockIdx.x * S + threadIdx.y, c2 = blockIdx.y * S + threadIdx.x;
    bool a = r < n && c < n, b = r2 < n && c2 < n;
    if (a) up[threadIdx.y][threadIdx.x] = m[(size_t)r * n + c];
    if (b) lo[threadIdx.y][threadIdx.x] = m[(size_t)r2 * n + c2];
    __syncthreads();
    if (b) m[(size_t)r2 * n + c2] = up[threadIdx.x][threadIdx.y];
    if (a && blockIdx.x != blockIdx.y) m[(size_t)r * n + c] = lo[threadIdx.x][threadIdx.y];
}

// (a,b,c) -> (c,a,b)
__global__ void permute_cab(const float *in, float *out, int na, int nb, int nc)
{
    __shared__ float buf[32 * 33];
    int a = blockIdx.z;
    for (int k = 0; k < 32; k += blockDim.y) {
        int b = blockIdx.y * 32 + threadIdx.y + k, c = blockIdx.x * 32 + threadIdx.x;
        if (b < nb && c < nc) buf[(threadIdx.y + k) * 33 + threadIdx.x] = in[((size_t)a * nb + b) * nc + c];
    }
    __syncthreads();
    for (int k = 0; k < 32; k += blockDim.y) {
        int c = blockIdx.x * 32 + threadIdx.y + k, b = blockIdx.y * 32 + threadIdx.x;
        if (b < nb && c < nc) out[((size_t)c * na + a) * nb + b] = buf[threadIdx.x * 33 + threadIdx.y + k];
    }
}

// AoS of 6 doubles -> SoA through shared memory
struct Particle { double x, y, z, u, v, w; };
__global__ void aos_to_soa(const Particle *p, double *soa, int n)
{
    __shared__ Particle s[128];
    const double *src = reinterpret_cast<const double *>(p + blockIdx.x * 128);
    double *flat = reinterpret_cast<double *>(s);
    int have = min(128, n - (int)blockIdx.x * 128);
    for (int e = threadIdx.x; e < have * 6; e += 128) flat[e] = src[e];
    __syncthreads();
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) {
        const Particle &q = s[threadIdx.x];
        soa[i] = q.x;
        soa[n + i] = q.y;
        soa[2 * (size_t)n + i] = q.z;
        soa[3 * (size_t)n + i] = q.u * q.u + q.v * q.v + q.w * q.w;
    }
}

// row reduction, several rows per block: block (64,4)
template <typename T, template <typename> class Op>
__global__ void reduce_rows(const T *in, T *out, int rows, int cols)
{
    __shared__ T sm[4][64];
    Op<T> op;
    int row = blockIdx.x * 4 + threadIdx.y;
    T v = Op<T>::id();
    if (row < rows)
        for (int c = threadIdx.x; c < cols; c += 64) v = op(v, in[(size_t)row * cols + c]);
    volatile T *s = sm[threadIdx.y];
    s[threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int h = 32; h > 0; h >>= 1) {
            T o = threadIdx.x < h ? s[threadIdx.x + h] : Op<T>::id();
            __syncwarp();
            v = op(v, o);
            if (threadIdx.x < h) s[threadIdx.x] = v;
            __syncwarp();
        }
    }
    if (threadIdx.x == 0 && row < rows) out[row] = v;
}

// argmax by segment described by offsets; index/value pairs in two shared arrays
__global__ void segment_argmax(const float *v, const int *off, float *mx, int *am, int nseg)
{
    __shared__ float sv[96];
    __shared__ int si[96];
    const int seg = blockIdx.x, t = threadIdx.x;
    float b = -FLT_MAX;
    int bi = INT_MAX;
    for (int i = off[seg] + t; i < off[seg + 1]; i += 96)
        if (v[i] > b) b = v[i], bi = i;
    sv[t] = b;
    si[t] = bi;
    __syncthreads();
    for (int n = 96; n > 1;) {
        int h = (n + 1) / 2;
        if (t + h < n) {
            float o = sv[t + h];
            int oi = si[t + h];
            if (o > sv[t] || (o == sv[t] && oi < si[t])) { sv[t] = o; si[t] = oi; }
        }
        n = h;
        __syncthreads();
    }
    if (t == 0) { mx[seg] = sv[0]; am[seg] = si[0]; }
}

// running cumulative sum down the columns with a strip buffer, double accumulate
#define STRIP 16
__global__ void cumsum_columns(const float *in, float *out, int rows, int cols)
{
    __shared__ float strip[STRIP][33];
    __shared__ double carry[32];
    int tx = threadIdx.x, ty = threadIdx.y, c = blockIdx.x * 32 + tx;
    if (ty == 0) carry[tx] = 0.0;
    for (int r0 = 0; r0 < rows; r0 += STRIP) {
        int r = r0 + ty;
        bool ok = r < rows && c < cols;
        strip[ty][tx] = ok ? in[(size_t)r * cols + c] : 0.f;
        __syncthreads();
        double s = carry[tx];
        for (int k = 0; k <= ty; k++) s += strip[k][tx];
        if (ok) out[(size_t)r * cols + c] = (float)s;
        __syncthreads();
        if (ty == STRIP - 1) carry[tx] = s;
        __syncthreads();
    }
}

// Kahan dot product with per-block partials, float2 state
__device__ inline void kahan(float2 &s, float x)
{
    float y = __fsub_rn(x, s.y), t = __fadd_rn(s.x, y);
    s.y = __fsub_rn(__fsub_rn(t, s.x), y);
    s.x = t;
}
__global__ void dot_kahan(const float4 *a, const float4 *b, float *part, int n4)
{
    __shared__ float2 st[256];
    float2 s = make_float2(0.f, 0.f);
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n4; i += 256 * gridDim.x) {
        float4 p = a[i], q = b[i];
        kahan(s, p.x * q.x);
        kahan(s, p.y * q.y);
        kahan(s, p.z * q.z);
        kahan(s, p.w * q.w);
    }
    st[threadIdx.x] = s;
    __syncthreads();
#pragma unroll
    for (unsigned h = 128; h >= 1; h >>= 1) {
        if (threadIdx.x < h) {
            kahan(s, st[threadIdx.x + h].x);
            kahan(s, -st[threadIdx.x + h].y);
            st[threadIdx.x] = s;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) part[blockIdx.x] = s.x;
}

int main()
{
    {
        int n = 3001;
        double *m = mk<double>((size_t)n * n);
        int g = (n + 15) / 16;
        transpose_inplace<double, 16><<<dim3(g, g), dim3(16, 16)>>>(m, n);
        show("transpose_inplace", m, 8ull * n * n);
    }
    {
        int na = 60, nb = 333, nc = 500;
        size_t n = (size_t)na * nb * nc;
        float *a = mk<float>(n), *b = mk<float>(n);
        permute_cab<<<dim3((nc + 31) / 32, (nb + 31) / 32, na), dim3(32, 4)>>>(a, b, na, nb, nc);
        show("permute_cab", b, 4 * n);
    }
    {
        int n = 2000003;
        double *p = mk<double>(6ull * n), *o = mk<double>(4ull * n);
        aos_to_soa<<<(n + 127) / 128, 128>>>((Particle *)p, o, n);
        show("aos_to_soa", o, 32ull * n);
    }
    {
        int r = 30001, c = 700;
        int *a = mk<int>((size_t)r * c), *o = mk<int>(r);
        reduce_rows<int, Min><<<(r + 3) / 4, dim3(64, 4)>>>(a, o, r, c);
        show("reduce_rows_min", o, 4 * r);
        double *d = mk<double>((size_t)r * c), *od = mk<double>(r);
        reduce_rows<double, Add><<<(r + 3) / 4, dim3(64, 4)>>>(d, od, r, c);
        show("reduce_rows_add", od, 8 * r);
    }
    {
        int ns = 20000;
        int *ho = (int *)malloc((ns + 1) * 4);
        ho[0] = 0;
        for (int i = 0; i < ns; i++) ho[i + 1] = ho[i] + 1 + (i * 7919) % 1500;
        float *v = mk<float>(ho[ns]), *m = mk<float>(ns);
        int *o = mk<int>(ns + 1), *am = mk<int>(ns);
        cudaMemcpy(o, ho, (ns + 1) * 4, cudaMemcpyHostToDevice);
        segment_argmax<<<ns, 96>>>(v, o, m, am, ns);
        show("segment_argmax_v", m, 4 * ns);
        show("segment_argmax_i", am, 4 * ns);
        free(ho);
    }
    {
        int r = 1000, c = 8001;
        float *a = mk<float>((size_t)r * c), *b = mk<float>((size_t)r * c);
        cumsum_columns<<<(c + 31) / 32, dim3(32, STRIP)>>>(a, b, r, c);
        show("cumsum_columns", b, 4ull * r * c);
        float *p = mk<float>(528);
        dot_kahan<<<528, 256>>>((float4 *)a, (float4 *)b, p, r * c / 4);
        show("dot_kahan", p, 528 * 4);
    }
    return 0;
}
