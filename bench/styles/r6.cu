// finance + particles
#include "shown.h"

// ============================ finance ============================

// CRR tree, one option per block (double buffered, coarse to the root)
#define NUM_STEPS 512
#define TREE_THREADS 128
struct OptionData { float S, X, vDt, pu, pd; };

__global__ void binomialOptionsKernel(const float *S0, float *callValue, int n)
{
    __shared__ float call_a[NUM_STEPS + 1];
    __shared__ float call_b[NUM_STEPS + 1];
    const int opt = blockIdx.x;
    OptionData d;
    d.S = 20.f + S0[opt];
    d.X = 25.f;
    d.vDt = 0.012f;
    d.pu = 0.503f * 0.99995f;
    d.pd = 0.497f * 0.99995f;
    for (int i = threadIdx.x; i <= NUM_STEPS; i += TREE_THREADS) {
        float payoff = d.S * __expf(d.vDt * (2.0f * i - NUM_STEPS)) - d.X;
        call_a[i] = payoff > 0.f ? payoff : 0.f;
    }
    float *src = call_a, *dst = call_b;
    for (int level = NUM_STEPS; level > 0; --level) {
        __syncthreads();
        for (int i = threadIdx.x; i < level; i += TREE_THREADS) dst[i] = d.pu * src[i + 1] + d.pd * src[i];
        float *t = src; src = dst; dst = t;
    }
    __syncthreads();
    if (threadIdx.x == 0) callValue[opt] = src[0];
}

// arithmetic Asian option, each block prices one strike; partial sums by tree
__device__ inline unsigned xorshift32(unsigned &s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }

template <unsigned int BLOCK>
__global__ void mc_asian(const float *strikes, double *price, int pathsPerThread, int steps)
{
    __shared__ double pay[BLOCK];
    unsigned seed = 2463534242u + 7919u * (blockIdx.x * BLOCK + threadIdx.x);
    const float K = 90.f + strikes[blockIdx.x];
    double sum = 0.0;
    for (int p = 0; p < pathsPerThread; ++p) {
        float s = 100.f, avg = 0.f;
        int t = steps;
        while (t--) {
            float u = (xorshift32(seed) >> 8) * (1.f / 16777216.f) + (xorshift32(seed) >> 8) * (1.f / 16777216.f) - 1.f;
            s *= 1.0004f + 0.035f * u;
            avg += s;
        }
        avg /= steps;
        sum += fmaxf(avg - K, 0.f);
    }
    pay[threadIdx.x] = sum;
    __syncthreads();
    if (BLOCK >= 512) { if (threadIdx.x < 256) pay[threadIdx.x] += pay[threadIdx.x + 256]; __syncthreads(); }
    if (BLOCK >= 256) { if (threadIdx.x < 128) pay[threadIdx.x] += pay[threadIdx.x + 128]; __syncthreads(); }
    if (BLOCK >= 128) { if (threadIdx.x < 64) pay[threadIdx.x] += pay[threadIdx.x + 64]; __syncthreads(); }
    for (int k = 32; k > 0; k /= 2) {
        if (threadIdx.x < k) pay[threadIdx.x] += pay[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) price[blockIdx.x] = pay[0] / ((double)BLOCK * pathsPerThread);
}

// implicit finite difference step for many assets: parallel cyclic reduction
#define PCR_N 256
__global__ void pcr_implicit_step(const float *v, float *vnew, float theta)
{
    __shared__ float a[PCR_N], b[PCR_N], c[PCR_N], r[PCR_N];
    const int i = threadIdx.x;
    const float sig = 0.01f * i * theta;
    a[i] = i > 0 ? -0.5f * sig : 0.f;
    c[i] = i < PCR_N - 1 ? -0.5f * sig : 0.f;
    b[i] = 1.f + sig;
    r[i] = v[(size_t)blockIdx.x * PCR_N + i];
    __syncthreads();
    for (int s = 1; s < PCR_N; s *= 2) {
        float na = 0.f, nb = b[i], nc = 0.f, nr = r[i];
        if (i - s >= 0) {
            float k = a[i] / b[i - s];
            na = -a[i - s] * k;
            nb -= c[i - s] * k;
            nr -= r[i - s] * k;
        }
        if (i + s < PCR_N) {
            float k = c[i] / b[i + s];
            nc = -c[i + s] * k;
            nb -= a[i + s] * k;
            nr -= r[i + s] * k;
        }
        __syncthreads();
        a[i] = na; b[i] = nb; c[i] = nc; r[i] = nr;
        __syncthreads();
    }
    vnew[(size_t)blockIdx.x * PCR_N + i] = r[i] / b[i];
}

// LIBOR market model path, forward rates in a private array
#define NN 40
#define NMAT 20
__global__ void libor_path(const float *z, float *v, int npath, float delta)
{
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= npath) return;
    float L[NN];
    for (int i = 0; i < NN; i++) L[i] = 0.05f;
    for (int n = 0; n < NMAT; n++) {
        float sqez = sqrtf(delta) * (z[(size_t)n * npath + path] * 0.2f - 1.2f);
        float drift = 0.f;
        for (int i = n + 1; i < NN; i++) {
            float lam = 0.2f;
            float con1 = delta * lam;
            drift += con1 * L[i] / (1.f + delta * L[i]);
            float vrat = expf(con1 * drift + lam * (sqez - 0.5f * con1));
            L[i] = L[i] * vrat;
        }
    }
    float b = 1.f, s = 0.f, swapval = 0.f;
    for (int n = NMAT; n < NN; n++) {
        b /= 1.f + delta * L[n];
        s += delta * b;
        if ((n + 1 - NMAT) % 5 != 0) continue;
        float sw = b + 0.045f * s - 1.f;
        if (sw < 0.f) swapval -= 100.f * sw;
    }
    v[path] = swapval;
}

// ============================ particles ============================

#define SOFTENING 0.01f
__device__ float3 bodyBodyInteraction(float3 ai, float4 bi, float4 bj)
{
    float3 r = make_float3(bj.x - bi.x, bj.y - bi.y, bj.z - bi.z);
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + SOFTENING;
    float invDist = rsqrtf(distSqr);
    float s = bj.w * invDist * invDist * invDist;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}

__global__ void nbody_tiles(const float4 *pos, float4 *acc, int nbodies)
{
    extern __shared__ float4 sharedPos[];
    const int gtid = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = gtid < nbodies ? pos[gtid] : make_float4(0.f, 0.f, 0.f, 0.f);
    float3 a = {0.f, 0.f, 0.f};
    for (int i = 0, tile = 0; i < nbodies; i += blockDim.x, tile++) {
        int idx = tile * blockDim.x + threadIdx.x;
        sharedPos[threadIdx.x] = idx < nbodies ? pos[idx] : make_float4(0.f, 0.f, 0.f, 0.f);
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < blockDim.x; k++) a = bodyBodyInteraction(a, mine, sharedPos[k]);
        __syncthreads();
    }
    if (gtid < nbodies) acc[gtid] = make_float4(a.x, a.y, a.z, 0.f);
}

// Lennard-Jones with cells of fixed capacity; block = one cell
#define PPC 24
struct Atom { float x, y, z; int type; };
__global__ void lj_cells(const Atom *atoms, const int *count, float4 *force, int cx, int cy, int cz, float rc2)
{
    __shared__ Atom nb[PPC];
    const int X = blockIdx.x, Y = blockIdx.y, Z = blockIdx.z;
    const int home = (Z * cy + Y) * cx + X;
    const int me = threadIdx.x;
    const int nhome = count[home] + 8;
    Atom p = {0, 0, 0, 0};
    if (me < nhome) p = atoms[home * PPC + me];
    float fx = 0, fy = 0, fz = 0, pe = 0;
    for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                int nx = X + dx, ny = Y + dy, nz = Z + dz;
                nx = nx < 0 ? nx + cx : nx >= cx ? nx - cx : nx;     // periodic box, coordinates are cell-local
                ny = ny < 0 ? ny + cy : ny >= cy ? ny - cy : ny;
                nz = nz < 0 ? nz + cz : nz >= cz ? nz - cz : nz;
                int cell = (nz * cy + ny) * cx + nx;
                int n = count[cell] + 8;
                __syncthreads();
                if (me < n) {
                    nb[me] = atoms[cell * PPC + me];
                    nb[me].x += 14.f * dx;
                    nb[me].y += 14.f * dy;
                    nb[me].z += 14.f * dz;
                }
                __syncthreads();
                if (me >= nhome) continue;
                for (int j = 0; j < n; ++j) {
                    if (cell == home && j == me) continue;
                    float rx = p.x - nb[j].x, ry = p.y - nb[j].y, rz = p.z - nb[j].z;
                    float r2 = rx * rx + ry * ry + rz * rz;
                    if (r2 > rc2) continue;
                    r2 = fmaxf(r2, 0.25f);
                    float i2 = 1.f / r2, i6 = i2 * i2 * i2;
                    float eps = nb[j].type == p.type ? 1.f : 0.7f;
                    float f = 24.f * eps * i6 * (2.f * i6 - 1.f) * i2;
                    fx += f * rx;
                    fy += f * ry;
                    fz += f * rz;
                    pe += 4.f * eps * i6 * (i6 - 1.f);
                }
            }
    if (me < nhome) force[home * PPC + me] = make_float4(fx, fy, fz, 0.5f * pe);
}

// direct Coulomb summation on a lattice, atoms staged, 4 points per thread in x
#define ATOM_BATCH 64
__global__ void coulomb_lattice(const float4 *atominfo, int natoms, float *grid, int gx, int gy, float spacing, float z)
{
    __shared__ float4 at[ATOM_BATCH];
    const int xi = blockIdx.x * (blockDim.x * 4) + threadIdx.x;
    const int yi = blockIdx.y * blockDim.y + threadIdx.y;
    const float cy = spacing * yi;
    const float sx = spacing * blockDim.x;
    const float cx = spacing * xi;
    float e0 = 0, e1 = 0, e2 = 0, e3 = 0;
    int left = natoms;
    const float4 *next = atominfo;
    while (left > 0) {
        int n = left < ATOM_BATCH ? left : ATOM_BATCH;
        int t = threadIdx.y * blockDim.x + threadIdx.x;
        if (t < n) {
            float4 a = next[t];
            float dz = z - a.z;
            a.z = dz * dz + 0.05f;
            at[t] = a;
        }
        __syncthreads();
        for (int k = 0; k < n; k++) {
            float dy = cy - at[k].y;
            float dyz2 = dy * dy + at[k].z;
            float dx0 = cx - at[k].x, dx1 = dx0 + sx, dx2 = dx1 + sx, dx3 = dx2 + sx;
            e0 += at[k].w * rsqrtf(dx0 * dx0 + dyz2);
            e1 += at[k].w * rsqrtf(dx1 * dx1 + dyz2);
            e2 += at[k].w * rsqrtf(dx2 * dx2 + dyz2);
            e3 += at[k].w * rsqrtf(dx3 * dx3 + dyz2);
        }
        __syncthreads();
        next += n;
        left -= n;
    }
    if (yi >= gy) return;
    size_t o = (size_t)yi * gx + xi;
    if (xi < gx) grid[o] += e0;
    if (xi + blockDim.x < gx) grid[o + blockDim.x] += e1;
    if (xi + 2 * blockDim.x < gx) grid[o + 2 * blockDim.x] += e2;
    if (xi + 3 * blockDim.x < gx) grid[o + 3 * blockDim.x] += e3;
}

// 2-D Ising, several checkerboard sweeps inside a frozen-border tile
#define IT 32
__global__ void ising_tile_sweeps(const signed char *spins, signed char *out, int L, int sweeps, float beta)
{
    __shared__ signed char s[IT + 2][IT + 2];
    __shared__ float boltz[5];
    const int tx = threadIdx.x, ty = threadIdx.y;
    if (ty == 0 && tx < 5) boltz[tx] = expf(-2.f * beta * (2 * tx - 4));
    for (int r = ty; r < IT + 2; r += blockDim.y)
        for (int c = tx; c < IT + 2; c += blockDim.x) {
            int y = ((int)(blockIdx.y * IT) + r - 1 + L) & (L - 1);
            int x = ((int)(blockIdx.x * IT) + c - 1 + L) & (L - 1);
            s[r][c] = spins[(size_t)y * L + x] & 1 ? 1 : -1;
        }
    __syncthreads();
    unsigned rng = (blockIdx.y * IT + ty) * 747796405u + (blockIdx.x * IT + tx) * 2891336453u + 1u;
    for (int sw = 0; sw < sweeps; ++sw) {
        for (int color = 0; color < 2; ++color) {
            for (int r = ty + 1; r <= IT; r += blockDim.y) {
                rng = rng * 1664525u + 1013904223u;
                int c = tx + 1;
                if (((r + c) & 1) != color) continue;
                int nsum = s[r - 1][c] + s[r + 1][c] + s[r][c - 1] + s[r][c + 1];
                int k = s[r][c] * nsum;                  // -4 .. 4
                if ((rng >> 8) * (1.f / 16777216.f) < boltz[(k + 4) / 2]) s[r][c] = (signed char)-s[r][c];
            }
            __syncthreads();
        }
    }
    for (int r = ty; r < IT; r += blockDim.y) out[(size_t)(blockIdx.y * IT + r) * L + blockIdx.x * IT + tx] = s[r + 1][tx + 1];
}

int main()
{
    float *f = mk<float>(1 << 23), *g = mk<float>(1 << 23);
    binomialOptionsKernel<<<3000, TREE_THREADS>>>(f, g, 3000);
    show("binomialOptionsKernel", g, 3000 * 4);

    double *pr = mk<double>(600);
    mc_asian<256><<<600, 256>>>(f, pr, 20, 64);
    show("mc_asian", pr, 600 * 8);

    pcr_implicit_step<<<(1 << 23) / PCR_N, PCR_N>>>(f, g, 0.8f);
    show("pcr_implicit_step", g, (size_t)(1 << 23) * 4);

    int npath = 250007;
    libor_path<<<(npath + 63) / 64, 64>>>(f, g, npath, 0.25f);
    show("libor_path", g, (size_t)npath * 4);

    {
        int n = 30011, p = 192;
        float4 *a = (float4 *)mk<float>((size_t)n * 4);
        nbody_tiles<<<(n + p - 1) / p, p, p * sizeof(float4)>>>((float4 *)f, a, n);
        show("nbody_tiles", a, (size_t)n * 16);
    }
    {
        int cx = 21, cy = 20, cz = 23, nc = cx * cy * cz;
        Atom *h = (Atom *)malloc((size_t)nc * PPC * sizeof(Atom)), *d;
        for (int i = 0; i < nc * PPC; i++) {
            h[i].x = (float)((i * 7919u) % 1399) / 100.f;
            h[i].y = (float)((i * 104729u) % 1399) / 100.f;
            h[i].z = (float)((i * 1299709u) % 1399) / 100.f;
            h[i].type = i % 3 == 0;
        }
        cudaMalloc(&d, (size_t)nc * PPC * sizeof(Atom));
        cudaMemcpy(d, h, (size_t)nc * PPC * sizeof(Atom), cudaMemcpyHostToDevice);
        free(h);
        int *cnt = mk<int>(nc);               // 0 .. 12
        float4 *fr = (float4 *)mk<float>((size_t)nc * PPC * 4);
        lj_cells<<<dim3(cx, cy, cz), 32>>>(d, cnt, fr, cx, cy, cz, 36.f);
        show("lj_cells", fr, (size_t)nc * PPC * 16);
    }
    {
        int gx = 1001, gy = 777;
        dim3 blk(16, 8), grd((gx + 63) / 64, (gy + 7) / 8);
        coulomb_lattice<<<grd, blk>>>((float4 *)f, 1000, g, gx, gy, 0.0125f, 3.f);
        show("coulomb_lattice", g, (size_t)gx * gy * 4);
    }
    {
        int L = 4096;
        signed char *s = mk<signed char>((size_t)L * L), *o = mk<signed char>((size_t)L * L);
        ising_tile_sweeps<<<dim3(L / IT, L / IT), dim3(IT, 8)>>>(s, o, L, 3, 0.4f);
        show("ising_tile_sweeps", o, (size_t)L * L);
    }
    return 0;
}
