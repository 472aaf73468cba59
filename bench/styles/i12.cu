#include "shown.h"
#include <cfloat>
#include <vector>

// particles, clusters, neighbours -------------------------------------------------

__device__ float3 operator-(float4 a, float4 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ float dot3(float3 a) { return a.x * a.x + a.y * a.y + a.z * a.z; }

// gravity, tiles of float4 in dynamic shared memory, two bodies per thread
__global__ void gravity2(const float4 *pos, float4 *acc, int n, float eps2)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * 2 * blockDim.x + threadIdx.x, j2 = i + blockDim.x;
    float4 a = pos[min(i, n - 1)], b = pos[min(j2, n - 1)];
    float3 fa = {0, 0, 0}, fb = {0, 0, 0};
    for (int t = 0; t < n; t += blockDim.x) {
        tile[threadIdx.x] = t + threadIdx.x < n ? pos[t + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < blockDim.x; k++) {
            float4 q = tile[k];
            float3 d = q - a;
            float inv = rsqrtf(dot3(d) + eps2), s = q.w * inv * inv * inv;
            fa.x += s * d.x; fa.y += s * d.y; fa.z += s * d.z;
            d = q - b;
            inv = rsqrtf(dot3(d) + eps2); s = q.w * inv * inv * inv;
            fb.x += s * d.x; fb.y += s * d.y; fb.z += s * d.z;
        }
        __syncthreads();
    }
    if (i < n) acc[i] = make_float4(fa.x, fa.y, fa.z, 0);
    if (j2 < n) acc[j2] = make_float4(fb.x, fb.y, fb.z, 0);
}

// Lennard-Jones in boxes: home box per block, walks 27 neighbour boxes (particles sorted by box, fixed capacity)
#define PER_BOX 64
struct Box { int count; int nn[27]; };
__global__ void lj_boxes(const Box *boxes, const double *px, const double *py, const double *pz, double *fx, double *fy, double *fz, double cut2)
{
    __shared__ double sx[PER_BOX], sy[PER_BOX], sz[PER_BOX];
    __shared__ Box home;
    const int t = threadIdx.x;
    const int *src = (const int *)&boxes[blockIdx.x];
    if (t < (int)(sizeof(Box) / sizeof(int))) ((int *)&home)[t] = src[t];
    __syncthreads();
    const int me = blockIdx.x * PER_BOX + t;
    const bool live = t < home.count;
    const double x = px[me], y = py[me], z = pz[me];
    double ax = 0, ay = 0, az = 0;
    for (int b = 0; b < 27; b++) {
        int nb = home.nn[b];
        if (nb < 0) continue;
        int cnt = boxes[nb].count;
        __syncthreads();
        if (t < cnt) { sx[t] = px[nb * PER_BOX + t]; sy[t] = py[nb * PER_BOX + t]; sz[t] = pz[nb * PER_BOX + t]; }
        __syncthreads();
        if (live)
            for (int j = 0; j < cnt; j++) {
                double dx = x - sx[j], dy = y - sy[j], dz = z - sz[j], r2 = dx * dx + dy * dy + dz * dz;
                if (r2 < cut2 && r2 > 1e-12) {
                    double i2 = 1.0 / (r2 + 0.05), i6 = i2 * i2 * i2, f = i6 * (i6 - 0.5) * i2;
                    ax += f * dx; ay += f * dy; az += f * dz;
                }
            }
    }
    if (live) { fx[me] = ax; fy[me] = ay; fz[me] = az; }
}

// k-means assignment: centroids in shared (transposed), fixed-point sums per block so that order does not matter
template <int K, int D>
__global__ void kmeans_assign(const float *pts, const float *cent, int n, unsigned char *label, int *sums, int *counts)
{
    __shared__ float c[D][K];
    __shared__ int s[D][K], cnt[K];
    for (int e = threadIdx.x; e < K * D; e += blockDim.x) { c[e % D][e / D] = cent[e]; s[e / K][e % K] = 0; }
    for (int e = threadIdx.x; e < K; e += blockDim.x) cnt[e] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float p[D];
#pragma unroll
        for (int d = 0; d < D; d++) p[d] = pts[(size_t)d * n + i];
        int best = 0;
        float bd = FLT_MAX;
        for (int k = 0; k < K; k++) {
            float r = 0;
#pragma unroll
            for (int d = 0; d < D; d++) { float u = p[d] - c[d][k]; r += u * u; }
            if (r < bd) { bd = r; best = k; }
        }
        label[i] = best;
        atomicAdd(&cnt[best], 1);
        for (int d = 0; d < D; d++) atomicAdd(&s[d][best], (int)(p[d] * 8));
    }
    __syncthreads();
    for (int e = threadIdx.x; e < K * D; e += blockDim.x) atomicAdd(&sums[e], s[e / K][e % K]);
    for (int e = threadIdx.x; e < K; e += blockDim.x) atomicAdd(&counts[e], cnt[e]);
}

// k nearest: insertion into a private sorted list, references staged in shared
template <int KN>
__global__ void knn_insert(const float2 *query, int nq, const float2 *ref, int nr, int *idx, float *dist)
{
    __shared__ float2 buf[128];
    float bd[KN];
    int bi[KN];
    int q = blockIdx.x * 128 + threadIdx.x;
    float2 me = q < nq ? query[q] : make_float2(0, 0);
    for (int k = 0; k < KN; k++) { bd[k] = 3e38f; bi[k] = -1; }
    for (int base = 0; base < nr; base += 128) {
        if (base + threadIdx.x < nr) buf[threadIdx.x] = ref[base + threadIdx.x];
        __syncthreads();
        int m = min(128, nr - base);
        for (int j = 0; j < m; j++) {
            float dx = me.x - buf[j].x, dy = me.y - buf[j].y, d = dx * dx + dy * dy;
            if (d < bd[KN - 1]) {
                int p = KN - 1;
                while (p > 0 && bd[p - 1] > d) { bd[p] = bd[p - 1]; bi[p] = bi[p - 1]; p--; }
                bd[p] = d;
                bi[p] = base + j;
            }
        }
        __syncthreads();
    }
    if (q < nq)
        for (int k = 0; k < KN; k++) { idx[k * nq + q] = bi[k]; dist[k * nq + q] = sqrtf(bd[k]); }
}

// pairwise Manhattan distances, 16x16 tiles, both operands transposed on the way in
__global__ void pairwise_l1(const float *X, const float *Y, float *D, int nx, int ny, int dim)
{
    __shared__ float xs[16][17], ys[16][17];
    int tx = threadIdx.x, ty = threadIdx.y;
    int xr = blockIdx.y * 16 + ty, yr = blockIdx.x * 16 + ty;
    float s = 0;
    for (int k = 0; k < dim; k += 16) {
        xs[tx][ty] = xr < nx && k + tx < dim ? X[xr * dim + k + tx] : 0;
        ys[tx][ty] = yr < ny && k + tx < dim ? Y[yr * dim + k + tx] : 0;
        __syncthreads();
#pragma unroll
        for (int p = 0; p < 16; p++) s += fabsf(xs[p][ty] - ys[p][tx]);
        __syncthreads();
    }
    int col = blockIdx.x * 16 + tx;
    if (xr < nx && col < ny) D[(size_t)xr * ny + col] = s;
}

// SPH density with a uniform grid (cell start table), thread per particle
__device__ __forceinline__ int cellOf(float v, float inv, int g) { return min(max((int)(v * inv), 0), g - 1); }
__global__ void sph_density(const float2 *p, const int *cellStart, float *rho, int n, int g, float h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float2 a = p[i];
    const float h2 = h * h, norm = 4.f / (3.14159265f * h2 * h2 * h2 * h2);
    int cx = cellOf(a.x, 1.f / h, g), cy = cellOf(a.y, 1.f / h, g);
    float sum = 0;
    for (int y = max(cy - 1, 0); y <= min(cy + 1, g - 1); y++)
        for (int x = max(cx - 1, 0); x <= min(cx + 1, g - 1); x++)
            for (int j = cellStart[y * g + x], e = cellStart[y * g + x + 1]; j < e; j++) {
                float dx = a.x - p[j].x, dy = a.y - p[j].y, d = h2 - dx * dx - dy * dy;
                if (d > 0) sum += d * d * d;
            }
    rho[i] = sum * norm;
}

// bounding boxes of leaves of 64 points: min and max trees side by side
__global__ void leaf_aabb(const float *xyz, float *box, int npts)
{
    __shared__ float mn[3][64];
    __shared__ float mx[3][64];
    int t = threadIdx.x, axis = threadIdx.y;
    int i = min((int)(blockIdx.x * 64 + t), npts - 1);
    mn[axis][t] = mx[axis][t] = xyz[(size_t)i * 3 + axis];
    __syncthreads();
    for (int s = 32; s > 0; s >>= 1) {
        if (t < s) {
            mn[axis][t] = fminf(mn[axis][t], mn[axis][t + s]);
            mx[axis][t] = fmaxf(mx[axis][t], mx[axis][t + s]);
        }
        __syncthreads();
    }
    if (t < 2) box[blockIdx.x * 6 + t * 3 + axis] = t ? mx[axis][0] : mn[axis][0];
}

int main()
{
    {
        int n = 12000;
        float4 *p = (float4 *)mk<float>(4 * n), *a = (float4 *)mk<float>(4 * n);
        gravity2<<<(n + 255) / 256, 128, 128 * sizeof(float4)>>>(p, a, n, 0.01f);
        show("gravity2", a, 16ull * n);
    }
    {
        const int g = 10, nb = g * g * g, n = nb * PER_BOX;
        std::vector<Box> b(nb);
        std::vector<double> h[3];
        unsigned s = 5;
        for (int i = 0; i < nb; i++) {
            int x = i % g, y = i / g % g, z = i / g / g, c = 0;
            b[i].count = 40 + i % 25;
            for (int d = 0; d < 27; d++) {
                int X = x + d % 3 - 1, Y = y + d / 3 % 3 - 1, Z = z + d / 9 - 1;
                b[i].nn[c++] = X < 0 || Y < 0 || Z < 0 || X >= g || Y >= g || Z >= g ? -1 : X + g * (Y + g * Z);
            }
            for (int k = 0; k < PER_BOX; k++)
                for (int a = 0; a < 3; a++) {
                    s = s * 1664525u + 1013904223u;
                    h[a].push_back((a == 0 ? x : a == 1 ? y : z) + (s >> 9) / 8388608.0);
                }
        }
        Box *db;
        cudaMalloc(&db, nb * sizeof(Box));
        cudaMemcpy(db, b.data(), nb * sizeof(Box), cudaMemcpyHostToDevice);
        double *p[3], *f[3];
        for (int a = 0; a < 3; a++) {
            p[a] = mk<double>(n);
            f[a] = mk<double>(n);
            cudaMemcpy(p[a], h[a].data(), n * 8ull, cudaMemcpyHostToDevice);
        }
        lj_boxes<<<nb, PER_BOX>>>(db, p[0], p[1], p[2], f[0], f[1], f[2], 1.0);
        show("lj_fx", f[0], 8ull * n);
        show("lj_fy", f[1], 8ull * n);
        show("lj_fz", f[2], 8ull * n);
    }
    {
        int n = 700001;
        float *pts = mk<float>(8ull * n), *c = mk<float>(24 * 8);
        unsigned char *l = mk<unsigned char>(n);
        int *s = mk<int>(24 * 8), *k = mk<int>(24);
        kmeans_assign<24, 8><<<264, 256>>>(pts, c, n, l, s, k);
        show("kmeans_label", l, n);
        show("kmeans_sums", s, 24 * 8 * 4);
        show("kmeans_counts", k, 96);
    }
    {
        int nq = 40000, nr = 3001;
        std::vector<float> h(2 * nq + 2 * nr);
        unsigned s = 8;
        for (auto &v : h) { s = s * 1664525u + 1013904223u; v = (s >> 8) / 16777216.f; }
        float2 *q = (float2 *)mk<float>(2 * nq + 2 * nr);
        cudaMemcpy(q, h.data(), h.size() * 4, cudaMemcpyHostToDevice);
        int *id = mk<int>(8 * nq);
        float *d = mk<float>(8 * nq);
        knn_insert<8><<<(nq + 127) / 128, 128>>>(q, nq, q + nq, nr, id, d);
        show("knn_idx", id, 32ull * nq);
        show("knn_dist", d, 32ull * nq);
    }
    {
        int nx = 1500, ny = 1333, dim = 100;
        float *x = mk<float>(nx * dim), *y = mk<float>(ny * dim), *d = mk<float>((size_t)nx * ny);
        pairwise_l1<<<dim3((ny + 15) / 16, (nx + 15) / 16), dim3(16, 16)>>>(x, y, d, nx, ny, dim);
        show("pairwise_l1", d, 4ull * nx * ny);
    }
    {
        const int g = 200;
        std::vector<float2> pt;
        std::vector<int> cs(g * g + 1);
        unsigned s = 21;
        for (int c = 0; c < g * g; c++) {
            cs[c] = (int)pt.size();
            for (int k = 0; k < 6 + c % 9; k++) {
                s = s * 1664525u + 1013904223u;
                float u = (s >> 9) / 8388608.f * 0.98f + 0.01f;
                s = s * 1664525u + 1013904223u;
                pt.push_back(make_float2((c % g + u) * 0.5f, (c / g + (s >> 9) / 8388608.f * 0.98f + 0.01f) * 0.5f));
            }
        }
        cs[g * g] = (int)pt.size();
        int n = (int)pt.size(), *dc = mk<int>(g * g + 1);
        float2 *dp = (float2 *)mk<float>(2 * n);
        float *r = mk<float>(n);
        cudaMemcpy(dp, pt.data(), n * 8ull, cudaMemcpyHostToDevice);
        cudaMemcpy(dc, cs.data(), cs.size() * 4, cudaMemcpyHostToDevice);
        sph_density<<<(n + 127) / 128, 128>>>(dp, dc, r, n, g, 0.5f);
        show("sph_density", r, 4ull * n);
    }
    {
        int n = 3000001, nb = (n + 63) / 64;
        float *x = mk<float>(3ull * n), *b = mk<float>(6ull * nb);
        leaf_aabb<<<nb, dim3(64, 3)>>>(x, b, n);
        show("leaf_aabb", b, 24ull * nb);
    }
    return 0;
}
