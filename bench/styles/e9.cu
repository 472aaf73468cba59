// Scans
#include "shown.h"

// Hillis-Steele with two buffers side by side
__global__ void scan_hs(const float *in, float *out, float *sums)
{
    __shared__ float temp[2 * 512];
    int tid = threadIdx.x, n = 512;
    int pout = 0, pin = 1;
    size_t g = (size_t)blockIdx.x * n + tid;
    temp[tid] = in[g];
    __syncthreads();
    for (int offset = 1; offset < n; offset <<= 1) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (tid >= offset)
            temp[pout * n + tid] = temp[pin * n + tid] + temp[pin * n + tid - offset];
        else
            temp[pout * n + tid] = temp[pin * n + tid];
        __syncthreads();
    }
    out[g] = temp[pout * n + tid];
    if (tid == n - 1) sums[blockIdx.x] = temp[pout * n + tid];
}

// Blelloch exclusive scan with padding against bank conflicts
#define LOG_BANKS 5
#define PAD(i) ((i) + ((i) >> LOG_BANKS))
__global__ void scan_blelloch(const unsigned *in, unsigned *out)
{
    extern __shared__ unsigned buf[];
    const int n = 2 * blockDim.x;
    int t = threadIdx.x;
    int ai = t, bi = t + n / 2;
    in += (size_t)blockIdx.x * n;
    out += (size_t)blockIdx.x * n;
    buf[PAD(ai)] = in[ai];
    buf[PAD(bi)] = in[bi];
    int offset = 1;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            buf[PAD(j)] += buf[PAD(i)];
        }
        offset *= 2;
    }
    if (t == 0) buf[PAD(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            unsigned v = buf[PAD(i)];
            buf[PAD(i)] = buf[PAD(j)];
            buf[PAD(j)] += v;
        }
    }
    __syncthreads();
    out[ai] = buf[PAD(ai)];
    out[bi] = buf[PAD(bi)];
}

// segmented inclusive scan, head flags in a second array
__global__ void seg_scan(const int *val, const int *flag, int *res)
{
    __shared__ int v[256];
    __shared__ unsigned char f[256];
    int i = threadIdx.x, g = blockIdx.x * 256 + i;
    v[i] = val[g];
    f[i] = flag[g] > 10;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int nv = v[i];
        unsigned char nf = f[i];
        if (i >= d) {
            if (!f[i]) nv += v[i - d];
            nf |= f[i - d];
        }
        __syncthreads();
        v[i] = nv;
        f[i] = nf;
        __syncthreads();
    }
    res[g] = v[i];
}

// stream compaction inside a block: flags, scan, scatter into a shared buffer
__global__ void compact_block(const float *src, float *dst, int *count, float thr)
{
    __shared__ int pos[256];
    __shared__ float keep[256];
    int t = threadIdx.x;
    float x = src[blockIdx.x * 256 + t];
    int want = x > thr ? 1 : 0;
    pos[t] = want;
    __syncthreads();
    for (int k = 1; k < 256; k <<= 1) {
        int add = 0;
        if (t >= k) add = pos[t - k];
        __syncthreads();
        pos[t] += add;
        __syncthreads();
    }
    keep[t] = 0.f;
    __syncthreads();
    if (want) keep[pos[t] - 1] = x;
    __syncthreads();
    dst[blockIdx.x * 256 + t] = keep[t];
    if (t == 255) count[blockIdx.x] = pos[255];
}

// y[i] = a[i]*y[i-1] + b[i] as a scan of affine maps
__global__ void linear_recurrence(const float *a, const float *b, float *y, float y0)
{
    __shared__ float2 m[1024];
    const int i = threadIdx.x;
    const size_t g = (size_t)blockIdx.x * 1024 + i;
    m[i] = make_float2(a[g] * 0.07f, b[g]);
    __syncthreads();
#pragma unroll
    for (int d = 1; d < 1024; d <<= 1) {
        float2 me = m[i];
        float2 before = make_float2(1.f, 0.f);
        if (i >= d) before = m[i - d];
        __syncthreads();
        m[i] = make_float2(before.x * me.x, me.x * before.y + me.y);
        __syncthreads();
    }
    y[g] = m[i].x * y0 + m[i].y;
}

// running maximum with four elements per thread, thread totals scanned in shared memory
__global__ void running_max(const short *x, short *r)
{
    __shared__ short tot[128];
    short loc[4];
    int t = threadIdx.x;
    size_t base = (size_t)blockIdx.x * 512 + t * 4;
    for (int k = 0; k < 4; k++) {
        short v = (short)(x[base + k] * 64 + (t * 37 + k * 11) % 61);
        loc[k] = k ? max(loc[k - 1], v) : v;
    }
    tot[t] = loc[3];
    __syncthreads();
    for (int d = 1; d < 128; d += d) {
        short o = t >= d ? tot[t - d] : (short)-32768;
        __syncthreads();
        if (o > tot[t]) tot[t] = o;
        __syncthreads();
    }
    short left = t ? tot[t - 1] : (short)-32768;
    for (int k = 0; k < 4; k++) r[base + k] = max(left, loc[k]);
}

int main()
{
    int n = 1 << 24;
    {
        float *a = mk<float>(n), *b = mk<float>(n), *s = mk<float>(n / 512);
        scan_hs<<<n / 512, 512>>>(a, b, s);
        show("scan_hs", b, n * sizeof(float));
        show("scan_hs.sums", s, n / 512 * sizeof(float));
        float *y = mk<float>(n);
        linear_recurrence<<<n / 1024, 1024>>>(a, b, y, 0.5f);
        show("linear_recurrence", y, n * sizeof(float));
        int *c = mk<int>(n / 256);
        compact_block<<<n / 256, 256>>>(a, b, c, 5.5f);
        show("compact_block", b, n * sizeof(float));
        show("compact_block.n", c, n / 256 * sizeof(int));
    }
    {
        unsigned *a = mk<unsigned>(n), *b = mk<unsigned>(n);
        scan_blelloch<<<n / 1024, 512, PAD(1024) * sizeof(unsigned)>>>(a, b);
        show("scan_blelloch/1024", b, n * sizeof(unsigned));
        scan_blelloch<<<n / 256, 128, PAD(256) * sizeof(unsigned)>>>(a, b);
        show("scan_blelloch/256", b, n * sizeof(unsigned));
    }
    {
        int *v = mk<int>(n), *f = mk<int>(n), *r = mk<int>(n);
        seg_scan<<<n / 256, 256>>>(v, f, r);
        show("seg_scan", r, n * sizeof(int));
    }
    {
        short *v = mk<short>(n), *r = mk<short>(n);
        running_max<<<n / 512, 128>>>(v, r);
        show("running_max", r, n * sizeof(short));
    }
    return 0;
}
