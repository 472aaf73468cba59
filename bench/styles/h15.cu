// h15: geoscience, medical imaging, rendering
#include "shown.h"
#include <math.h>
#include <vector>

// ---------- acoustic wave, 8th order in space, 2-D, shared tile with 4 halo ----------
#define BDIMX 32
#define BDIMY 16
#define FD 4
__constant__ float c_fd[FD + 1];
__global__ void wave2d_o8(float *p_next, const float *p, const float *vel, int nx, int nz, float dtdx2)
{
    __shared__ float s_p[BDIMY + 2 * FD][BDIMX + 2 * FD];
    const int ix = blockIdx.x * BDIMX + threadIdx.x;
    const int iz = blockIdx.y * BDIMY + threadIdx.y;
    const int tx = threadIdx.x + FD, tz = threadIdx.y + FD;
    const bool in = ix < nx && iz < nz;

    s_p[tz][tx] = in ? p[iz * nx + ix] : 0.f;
    if (threadIdx.x < FD) {
        s_p[tz][threadIdx.x] = (ix >= FD && ix - FD < nx && iz < nz) ? p[iz * nx + ix - FD] : 0.f;
        s_p[tz][tx + BDIMX] = (ix + BDIMX < nx && iz < nz) ? p[iz * nx + ix + BDIMX] : 0.f;
    }
    if (threadIdx.y < FD) {
        s_p[threadIdx.y][tx] = (iz >= FD && iz - FD < nz && ix < nx) ? p[(iz - FD) * nx + ix] : 0.f;
        s_p[tz + BDIMY][tx] = (iz + BDIMY < nz && ix < nx) ? p[(iz + BDIMY) * nx + ix] : 0.f;
    }
    __syncthreads();
    if (!in) return;

    float lap = 2.f * c_fd[0] * s_p[tz][tx];
#pragma unroll
    for (int k = 1; k <= FD; k++)
        lap += c_fd[k] * (s_p[tz][tx - k] + s_p[tz][tx + k] + s_p[tz - k][tx] + s_p[tz + k][tx]);
    const int id = iz * nx + ix;
    p_next[id] = 2.f * s_p[tz][tx] - p_next[id] + vel[id] * dtdx2 * lap;
}

// ---------- parallel-beam back projection, sinogram row chunk in shared ----------
#define ANG_CHUNK 8
#define MAXDET 1024
__global__ void backproject(const float *sino, const float2 *cs, float *img, int N, int nang, int ndet)
{
    __shared__ float s[ANG_CHUNK][MAXDET / 8];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    const int tid = threadIdx.y * 16 + threadIdx.x;
    const float xc = x - 0.5f * N, yc = y - 0.5f * N;
    const float bx = blockIdx.x * 16 + 8 - 0.5f * N, by = blockIdx.y * 16 + 8 - 0.5f * N;
    float acc = 0.f;
    for (int a0 = 0; a0 < nang; a0 += ANG_CHUNK) {
        // detector window touched by the tile: at most 16*sqrt2 + 2 cells
        for (int e = tid; e < ANG_CHUNK * 32; e += 256) {
            int a = e >> 5, k = e & 31;
            float v = 0.f;
            if (a0 + a < nang) {
                float2 c = cs[a0 + a];
                int t0 = (int)floorf(bx * c.x + by * c.y + 0.5f * ndet) - 15;
                int t = t0 + k;
                if (t >= 0 && t < ndet) v = sino[(a0 + a) * ndet + t];
            }
            s[a][k] = v;
        }
        __syncthreads();
        for (int a = 0; a < ANG_CHUNK && a0 + a < nang; a++) {
            float2 c = cs[a0 + a];
            int t0 = (int)floorf(bx * c.x + by * c.y + 0.5f * ndet) - 15;
            float t = xc * c.x + yc * c.y + 0.5f * ndet;
            float fl = floorf(t), w = t - fl;
            int i = (int)fl - t0;
            i = max(0, min(i, 30));
            acc += (1.f - w) * s[a][i] + w * s[a][i + 1];
        }
        __syncthreads();
    }
    if (x < N && y < N) img[y * N + x] = acc * 3.14159265f / nang;
}

// ---------- non-local means, patch 3, window 7, tile in shared ----------
#define NLM_B 16
#define NLM_W 3
#define NLM_P 1
__global__ void nlm(const float *in, float *out, int w, int h, float invh2)
{
    const int E = NLM_W + NLM_P, S = NLM_B + 2 * (NLM_W + NLM_P);
    __shared__ float t[(NLM_B + 2 * (NLM_W + NLM_P)) * (NLM_B + 2 * (NLM_W + NLM_P) + 1)];
    for (int i = threadIdx.x + threadIdx.y * NLM_B; i < S * S; i += NLM_B * NLM_B) {
        int yy = i / S, xx = i - yy * S;
        int gx = (int)blockIdx.x * NLM_B + xx - E, gy = (int)blockIdx.y * NLM_B + yy - E;
        gx = gx < 0 ? -gx : gx; gx = gx >= w ? 2 * w - 2 - gx : gx;
        gy = gy < 0 ? -gy : gy; gy = gy >= h ? 2 * h - 2 - gy : gy;
        t[yy * (S + 1) + xx] = in[gy * w + gx];
    }
    __syncthreads();
    int x = blockIdx.x * NLM_B + threadIdx.x, y = blockIdx.y * NLM_B + threadIdx.y;
    if (x >= w || y >= h) return;
    int cx = threadIdx.x + E, cy = threadIdx.y + E;
    float num = 0, den = 0;
    for (int dy = -NLM_W; dy <= NLM_W; dy++)
        for (int dx = -NLM_W; dx <= NLM_W; dx++) {
            float d = 0;
            for (int py = -NLM_P; py <= NLM_P; py++)
                for (int px = -NLM_P; px <= NLM_P; px++) {
                    float q = t[(cy + py) * (S + 1) + cx + px] - t[(cy + dy + py) * (S + 1) + cx + dx + px];
                    d += q * q;
                }
            float wt = __expf(-d * invh2);
            num += wt * t[(cy + dy) * (S + 1) + cx + dx];
            den += wt;
        }
    out[y * w + x] = num / den;
}

// ---------- BVH traversal with an explicit stack ----------
struct Node { float lo[3], hi[3]; int left, right; };   // left < 0 : leaf, ~left = primitive
struct Ray { float o[3], d[3]; };
__device__ bool hitBox(const Node &n, const float *o, const float *inv, float tmax)
{
    float t0 = 0.f, t1 = tmax;
    for (int a = 0; a < 3; a++) {
        float ta = (n.lo[a] - o[a]) * inv[a], tb = (n.hi[a] - o[a]) * inv[a];
        if (ta > tb) { float s = ta; ta = tb; tb = s; }
        t0 = fmaxf(t0, ta);
        t1 = fminf(t1, tb);
    }
    return t0 <= t1;
}
__global__ void trace(const Node *nodes, const float4 *spheres, float *depth, int W, int H)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= W || py >= H) return;
    float o[3] = {32.f, 32.f, -60.f}, d[3], inv[3];
    d[0] = (px - 0.5f * W) / W; d[1] = (py - 0.5f * H) / W; d[2] = 1.f;
    float l = rsqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    for (int a = 0; a < 3; a++) { d[a] *= l; inv[a] = 1.f / (fabsf(d[a]) < 1e-8f ? 1e-8f : d[a]); }
    int stack[40], sp = 0;
    stack[sp++] = 0;
    float best = 1e30f;
    while (sp) {
        const Node n = nodes[stack[--sp]];
        if (!hitBox(n, o, inv, best)) continue;
        if (n.left < 0) {
            float4 s = spheres[~n.left];
            float ox = o[0] - s.x, oy = o[1] - s.y, oz = o[2] - s.z;
            float b = ox * d[0] + oy * d[1] + oz * d[2], c = ox * ox + oy * oy + oz * oz - s.w * s.w;
            float disc = b * b - c;
            if (disc > 0) { float t = -b - sqrtf(disc); if (t > 0 && t < best) best = t; }
        } else if (sp < 38) {
            stack[sp++] = n.left;
            stack[sp++] = n.right;
        }
    }
    depth[py * W + px] = best < 1e29f ? best : 0.f;
}

// ---------- DTW, one pair per block, anti-diagonals in shared ----------
__global__ void dtw_pairs(const float *a, const float *b, float *res, int n)
{
    extern __shared__ float smem[];
    float *sb = smem, *d0 = sb + n, *d1 = d0 + n, *d2 = d1 + n;
    const float INF = 3e38f;
    int i = threadIdx.x;
    float ai = i < n ? a[(size_t)blockIdx.x * n + i] : 0.f;
    if (i < n) { sb[i] = b[(size_t)blockIdx.x * n + i] * 0.75f; d0[i] = d1[i] = d2[i] = INF; }
    __syncthreads();
    for (int d = 0; d < 2 * n - 1; d++) {
        int j = d - i;
        if (i < n && j >= 0 && j < n) {
            float c = fabsf(ai - sb[j]);
            float up = i > 0 ? d1[i - 1] : INF;
            float left = j > 0 ? d1[i] : INF;
            float diag = i > 0 && j > 0 ? d2[i - 1] : INF;
            float m = fminf(up, fminf(left, diag));
            if (i == 0 && j == 0) m = 0.f;
            d0[i] = c + m;
        }
        __syncthreads();
        float *t = d2; d2 = d1; d1 = d0; d0 = t;
    }
    if (i == n - 1) res[blockIdx.x] = d1[i];
}

// ---------- volume down-sampling 2x with 4x4x4 window, planes in shared ----------
__global__ void downsample3d(const unsigned short *vol, unsigned short *out, int3 sz, int3 osz)
{
    __shared__ float s[4][18][34];
    int ox = blockIdx.x * 16 + threadIdx.x, oy = blockIdx.y * 8 + threadIdx.y, oz = blockIdx.z;
    for (int e = threadIdx.y * 16 + threadIdx.x; e < 4 * 18 * 34; e += 128) {
        int x = e % 34, y = e / 34 % 18, z = e / (34 * 18);
        int gx = min(max((int)blockIdx.x * 32 + x - 1, 0), sz.x - 1);
        int gy = min(max((int)blockIdx.y * 16 + y - 1, 0), sz.y - 1);
        int gz = min(max(2 * oz + z - 1, 0), sz.z - 1);
        s[z][y][x] = vol[((size_t)gz * sz.y + gy) * sz.x + gx];
    }
    __syncthreads();
    if (ox < osz.x && oy < osz.y) {
        const float k[4] = {1.f, 3.f, 3.f, 1.f};
        float r = 0.f;
        for (int z = 0; z < 4; z++)
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 4; x++) r += k[x] * k[y] * k[z] * s[z][2 * threadIdx.y + y][2 * threadIdx.x + x];
        out[((size_t)oz * osz.y + oy) * osz.x + ox] = (unsigned short)(r / 512.f * 16.f + 0.5f);
    }
}

// ---------- D8 flow direction & slope with the cell neighbourhood in shared and local copy ----------
__global__ void d8_flow(const float *dem, unsigned char *dir, float *slope, int ncols, int nrows)
{
    __shared__ float z[10][34];
    int c0 = blockIdx.x * 32 - 1, r0 = blockIdx.y * 8 - 1;
    for (int r = threadIdx.y; r < 10; r += 8)
        for (int c = threadIdx.x; c < 34; c += 32) {
            int gr = r0 + r, gc = c0 + c;
            z[r][c] = (gr < 0 || gc < 0 || gr >= nrows || gc >= ncols) ? -9999.f : dem[gr * ncols + gc];
        }
    __syncthreads();
    int col = c0 + 1 + threadIdx.x, row = r0 + 1 + threadIdx.y;
    if (col >= ncols || row >= nrows) return;
    const int dx[8] = {1, 1, 0, -1, -1, -1, 0, 1}, dy[8] = {0, 1, 1, 1, 0, -1, -1, -1};
    float me = z[threadIdx.y + 1][threadIdx.x + 1], best = 0.f;
    int b = 0;
    for (int k = 0; k < 8; k++) {
        float v = z[threadIdx.y + 1 + dy[k]][threadIdx.x + 1 + dx[k]];
        if (v == -9999.f) continue;
        float sl = (me - v) * ((k & 1) ? 0.70710678f : 1.f);
        if (sl > best) { best = sl; b = k + 1; }
    }
    dir[row * ncols + col] = b ? 1 << (b - 1) : 0;
    slope[row * ncols + col] = best;
}

static int build(std::vector<Node> &nodes, std::vector<float4> &s, int lo, int hi, int axis)
{
    int id = (int)nodes.size();
    nodes.push_back(Node());
    Node n;
    for (int a = 0; a < 3; a++) { n.lo[a] = 1e30f; n.hi[a] = -1e30f; }
    for (int i = lo; i < hi; i++) {
        float c[3] = {s[i].x, s[i].y, s[i].z};
        for (int a = 0; a < 3; a++) { n.lo[a] = fminf(n.lo[a], c[a] - s[i].w); n.hi[a] = fmaxf(n.hi[a], c[a] + s[i].w); }
    }
    if (hi - lo == 1) { n.left = ~lo; n.right = 0; }
    else {
        int mid = (lo + hi) / 2;
        n.left = build(nodes, s, lo, mid, axis + 1);
        n.right = build(nodes, s, mid, hi, axis + 1);
    }
    nodes[id] = n;
    return id;
}

int main()
{
    {
        int nx = 3500, nz = 2777, n = nx * nz;
        float c[FD + 1] = {-2.847222f, 1.6f, -0.2f, 0.025397f, -0.001786f};
        cudaMemcpyToSymbol(c_fd, c, sizeof c);
        float *a = mk<float>(n), *b = mk<float>(n), *v = mk<float>(n);
        wave2d_o8<<<dim3((nx + BDIMX - 1) / BDIMX, (nz + BDIMY - 1) / BDIMY), dim3(BDIMX, BDIMY)>>>(a, b, v, nx, nz, 0.01f);
        show("wave2d_o8", a, 4ull * n);
    }
    {
        int N = 700, nang = 180, ndet = 1001;
        std::vector<float2> cs(nang);
        for (int i = 0; i < nang; i++) cs[i] = make_float2(cosf(i * 3.14159265f / nang), sinf(i * 3.14159265f / nang));
        float *s = mk<float>(nang * ndet), *im = mk<float>(N * N);
        float2 *d = (float2 *)mk<float>(2 * nang);
        cudaMemcpy(d, cs.data(), nang * 8, cudaMemcpyHostToDevice);
        backproject<<<dim3((N + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(s, d, im, N, nang, ndet);
        show("backproject", im, 4ull * N * N);
    }
    {
        int w = 1501, h = 1203;
        float *a = mk<float>(w * h), *b = mk<float>(w * h);
        nlm<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a, b, w, h, 0.01f);
        show("nlm", b, 4ull * w * h);
    }
    {
        std::vector<float4> s;
        for (int z = 0; z < 16; z++) for (int y = 0; y < 16; y++) for (int x = 0; x < 16; x++)
            s.push_back(make_float4(x * 4 + (y % 3) * 0.5f, y * 4 + (z % 5) * 0.3f, z * 4 + (x % 4) * 0.4f, 0.4f + ((x + y * 3 + z * 7) % 5) * 0.2f));
        std::vector<Node> nodes;
        build(nodes, s, 0, (int)s.size(), 0);
        Node *dn; float4 *ds;
        cudaMalloc(&dn, nodes.size() * sizeof(Node));
        cudaMalloc(&ds, s.size() * sizeof(float4));
        cudaMemcpy(dn, nodes.data(), nodes.size() * sizeof(Node), cudaMemcpyHostToDevice);
        cudaMemcpy(ds, s.data(), s.size() * sizeof(float4), cudaMemcpyHostToDevice);
        int W = 800, H = 603;
        float *d = mk<float>(W * H);
        trace<<<dim3((W + 7) / 8, (H + 7) / 8), dim3(8, 8)>>>(dn, ds, d, W, H);
        show("trace", d, 4ull * W * H);
    }
    {
        int n = 250, np = 3000;
        float *a = mk<float>(n * np), *b = mk<float>(n * np), *r = mk<float>(np);
        dtw_pairs<<<np, 256, 4 * n * sizeof(float)>>>(a, b, r, n);
        show("dtw_pairs", r, 4ull * np);
    }
    {
        int3 sz = make_int3(401, 333, 250), osz = make_int3(201, 167, 125);
        unsigned short *v = mk<unsigned short>((size_t)sz.x * sz.y * sz.z), *o = mk<unsigned short>((size_t)osz.x * osz.y * osz.z);
        downsample3d<<<dim3((osz.x + 15) / 16, (osz.y + 7) / 8, osz.z), dim3(16, 8)>>>(v, o, sz, osz);
        show("downsample3d", o, 2ull * osz.x * osz.y * osz.z);
    }
    {
        int nc = 3777, nr = 2800;
        float *z = mk<float>(nc * nr), *s = mk<float>(nc * nr);
        unsigned char *d = mk<unsigned char>(nc * nr);
        d8_flow<<<dim3((nc + 31) / 32, (nr + 7) / 8), dim3(32, 8)>>>(z, d, s, nc, nr);
        show("d8_dir", d, nc * nr);
        show("d8_slope", s, 4ull * nc * nr);
    }
    return 0;
}
