// j4: two buffers in shared memory, exchanged by their pointers
#include "shown.h"
#include <climits>

// Kogge-Stone, one block one section, the sums of the sections go out too
#define SECTION 1024
__global__ void kogge_stone_double_buffer(const int *X, int *Y, int *sums, int N)
{
    __shared__ int buffer1[SECTION];
    __shared__ int buffer2[SECTION];
    int *in_s = buffer1;
    int *out_s = buffer2;

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    in_s[threadIdx.x] = (i < N) ? X[i] : 0;
    __syncthreads();

    for (int stride = 1; stride <= SECTION / 2; stride *= 2) {
        if (threadIdx.x >= stride) {
            out_s[threadIdx.x] = in_s[threadIdx.x] + in_s[threadIdx.x - stride];
        } else {
            out_s[threadIdx.x] = in_s[threadIdx.x];
        }
        __syncthreads();
        int *tmp = in_s;
        in_s = out_s;
        out_s = tmp;
    }

    if (i < N) Y[i] = in_s[threadIdx.x];
    if (threadIdx.x == SECTION - 1) sums[blockIdx.x] = in_s[threadIdx.x];
}

// exclusive, double, dynamic shared memory (GPU Gems writes it with pout/pin; here with pointers)
__global__ void scan_excl(double *g_odata, const double *g_idata, int n)
{
    extern __shared__ double temp[];
    double *pin = temp, *pout = temp + blockDim.x;
    const int thid = threadIdx.x;
    const int gid = blockIdx.x * blockDim.x + thid;
    pin[thid] = (thid > 0 && gid < n) ? g_idata[gid - 1] : 0.0;
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset <<= 1)
    {
        double v = pin[thid];
        if (thid >= offset) v += pin[thid - offset];
        pout[thid] = v;
        double *t = pin; pin = pout; pout = t;
        __syncthreads();
    }
    if (gid < n) g_odata[gid] = pin[thid];
}

template <class P> __device__ __forceinline__ void exchange(P *&a, P *&b) { P *c = a; a = b; b = c; }

// segmented: values and flags, four buffers, two swaps
template <int NT>
__global__ void segscan(const float *val, const unsigned char *head, float *out, int n)
{
    __shared__ float va[NT], vb[NT];
    __shared__ int fa[NT], fb[NT];
    float *vi = va, *vo = vb;
    int *fi = fa, *fo = fb;
    int t = threadIdx.x, g = blockIdx.x * NT + t;
    vi[t] = g < n ? val[g] : 0.f;
    fi[t] = g < n ? (head[g] == 0) : 1;
    __syncthreads();
#pragma unroll
    for (int d = 1; d < NT; d <<= 1) {
        float v = vi[t];
        int f = fi[t];
        if (t >= d) {
            if (!f) v += vi[t - d];
            f |= fi[t - d];
        }
        vo[t] = v;
        fo[t] = f;
        exchange(vi, vo);
        exchange(fi, fo);
        __syncthreads();
    }
    if (g < n) out[g] = vi[t];
}

// pointer jumping: every block ranks its own forest of 512 nodes
__global__ void list_rank(const int *seed, int *rank, int *root)
{
    __shared__ int P0[512], P1[512], R0[512], R1[512];
    int *p = P0, *pn = P1, *r = R0, *rn = R1;
    const int me = threadIdx.x;
    const size_t g = (size_t)blockIdx.x * 512 + me;
    int par = me - 1 - seed[g] % 3;
    if (par < 0) par = me;
    p[me] = par;
    r[me] = par == me ? 0 : 1;
    __syncthreads();
    for (int it = 0; it < 9; it++) {
        int q = p[me];
        rn[me] = r[me] + r[q];
        pn[me] = p[q];
        __syncthreads();
        int *tp = p; p = pn; pn = tp;
        int *tr = r; r = rn; rn = tr;
    }
    rank[g] = r[me];
    root[g] = p[me];
}

// explicit heat, eight steps in one launch, the valid part shrinks by one each step
#define STEPS 8
#define TB 256
__global__ void heat1d_multi(const float *u, float *w, int n, float lam) {
  __shared__ float a[TB], b[TB];
  float *cur = a, *nxt = b, *swp;
  int x = blockIdx.x * (TB - 2 * STEPS) + threadIdx.x - STEPS;
  cur[threadIdx.x] = u[min(max(x, 0), n - 1)];
  __syncthreads();
  for (int s = 1; s <= STEPS; s++) {
    float c = cur[threadIdx.x];
    if (threadIdx.x >= s && threadIdx.x < TB - s && x > 0 && x < n - 1)
      c += lam * (cur[threadIdx.x - 1] - 2.f * c + cur[threadIdx.x + 1]);
    nxt[threadIdx.x] = c;
    __syncthreads();
    swp = cur;
    cur = nxt;
    nxt = swp;
  }
  if (threadIdx.x >= STEPS && threadIdx.x < TB - STEPS && x < n)
    w[x] = cur[threadIdx.x];
}

// the same in the plane: 32 x 32 in, 24 x 24 out, four steps, fixed rim
constexpr int T_STEPS = 4;
constexpr int SIDE = 32;
constexpr int KEEP = SIDE - 2 * T_STEPS;
__global__ void relax2d_multi(const float *__restrict__ src, float *__restrict__ dst, int w, int h, float om)
{
    extern __shared__ float sh[];
    float *from = sh;
    float *to = sh + SIDE * SIDE;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int gx = blockIdx.x * KEEP + tx - T_STEPS;
    const int gy = blockIdx.y * KEEP + ty - T_STEPS;
    const int k = ty * SIDE + tx;
    const bool exists = gx >= 0 && gy >= 0 && gx < w && gy < h;
    const bool rim = gx <= 0 || gy <= 0 || gx >= w - 1 || gy >= h - 1;
    from[k] = exists ? src[gy * w + gx] : 0.f;
    __syncthreads();
    for (int t = 1; t <= T_STEPS; ++t) {
        if (tx >= t && ty >= t && tx < SIDE - t && ty < SIDE - t && !rim)
            to[k] = (1 - om) * from[k] + om * 0.25f * (from[k - 1] + from[k + 1] + from[k - SIDE] + from[k + SIDE]);
        else
            to[k] = from[k];
        __syncthreads();
        float *tmp = from; from = to; to = tmp;
    }
    if (exists && tx >= T_STEPS && ty >= T_STEPS && tx < SIDE - T_STEPS && ty < SIDE - T_STEPS)
        dst[gy * w + gx] = from[k];
}

// contrast: arg-max as a tree
__global__ void argmax_tree(const int *v, int2 *best, int n)
{
    __shared__ int key[512];
    __shared__ int pos[512];
    int t = threadIdx.x;
    int k = INT_MIN, p = INT_MAX;
    for (int i = blockIdx.x * 512 + t; i < n; i += gridDim.x * 512) {
        int x = (v[i] * 7919) ^ (i >> 3);
        if (x > k) { k = x; p = i; }
    }
    key[t] = k; pos[t] = p;
    __syncthreads();
    for (int s = 256; s >= 1; s >>= 1) {
        if (t < s) {
            int k2 = key[t + s], p2 = pos[t + s];
            if (k2 > key[t] || (k2 == key[t] && p2 < pos[t])) { key[t] = k2; pos[t] = p2; }
        }
        __syncthreads();
    }
    if (t == 0) best[blockIdx.x] = make_int2(key[0], pos[0]);
}

int main()
{
    {
        int n = 8000001, g = (n + SECTION - 1) / SECTION;
        int *x = mk<int>(n), *y = mk<int>(n), *s = mk<int>(g);
        kogge_stone_double_buffer<<<g, SECTION>>>(x, y, s, n);
        show("kogge_stone", y, 4ull * n);
        show("kogge_stone_sums", s, 4ull * g);
        int2 *b = (int2 *)mk<int>(2 * 528);
        argmax_tree<<<528, 512>>>(x, b, n);
        show("argmax_tree", b, 8 * 528);
    }
    {
        int n = 4000100;
        double *a = mk<double>(n), *b = mk<double>(n);
        scan_excl<<<(n + 127) / 128, 128, 2 * 128 * sizeof(double)>>>(b, a, n);
        show("scan_excl", b, 8ull * n);
    }
    {
        int n = 6000011;
        float *v = mk<float>(n), *o = mk<float>(n);
        unsigned char *h = mk<unsigned char>(n);
        segscan<256><<<(n + 255) / 256, 256>>>(v, h, o, n);
        show("segscan", o, 4ull * n);
    }
    {
        int nb = 9001;
        size_t n = 512ull * nb;
        int *s = mk<int>(n), *r = mk<int>(n), *t = mk<int>(n);
        list_rank<<<nb, 512>>>(s, r, t);
        show("list_rank", r, n * 4);
        show("list_root", t, n * 4);
    }
    {
        int n = 10000001;
        float *u = mk<float>(n), *w = mk<float>(n);
        heat1d_multi<<<(n + TB - 2 * STEPS - 1) / (TB - 2 * STEPS), TB>>>(u, w, n, 0.23f);
        show("heat1d_multi", w, 4ull * n);
    }
    {
        int w = 2222, h = 1777;
        float *a = mk<float>((size_t)w * h), *b = mk<float>((size_t)w * h);
        relax2d_multi<<<dim3((w + KEEP - 1) / KEEP, (h + KEEP - 1) / KEEP), dim3(SIDE, SIDE), 2 * SIDE * SIDE * 4>>>(a, b, w, h, 0.8f);
        show("relax2d_multi", b, 4ull * w * h);
    }
    return 0;
}
