// computational physics
#include "shown.h"

static inline unsigned cdiv(unsigned a, unsigned b) { return (a + b - 1) / b; }

//-------------------------------------------------------------------------
// gravitational n-body, tiles of bodies
__device__ float3 bodyBodyInteraction(float3 ai, float4 bi, float4 bj, float softeningSq)
{
    float3 r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z;
    distSqr += softeningSq;
    float invDist = rsqrtf(distSqr);
    float invDistCube = invDist * invDist * invDist;
    float s = bj.w * invDistCube;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}
__device__ float3 computeBodyAccel(float4 bodyPos, const float4 *positions, int numTiles, int numBodies)
{
    extern __shared__ float4 sharedPos[];
    float3 acc = {0.0f, 0.0f, 0.0f};
    for (int tile = 0; tile < numTiles; tile++) {
        int idx = tile * blockDim.x + threadIdx.x;
        sharedPos[threadIdx.x] = idx < numBodies ? positions[idx] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 32
        for (unsigned int counter = 0; counter < blockDim.x; counter++)
            acc = bodyBodyInteraction(acc, bodyPos, sharedPos[counter], 0.01f);
        __syncthreads();
    }
    return acc;
}
__global__ void integrateBodies(float4 *newPos, const float4 *oldPos, float4 *vel, int numBodies, float deltaTime, float damping, int numTiles)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    float4 position = index < numBodies ? oldPos[index] : make_float4(0, 0, 0, 0);
    float3 accel = computeBodyAccel(position, oldPos, numTiles, numBodies);
    if (index >= numBodies) return;
    float4 velocity = vel[index];
    velocity.x = (velocity.x + accel.x * deltaTime) * damping;
    velocity.y = (velocity.y + accel.y * deltaTime) * damping;
    velocity.z = (velocity.z + accel.z * deltaTime) * damping;
    position.x += velocity.x * deltaTime;
    position.y += velocity.y * deltaTime;
    position.z += velocity.z * deltaTime;
    newPos[index] = position;
    vel[index] = velocity;
}

//-------------------------------------------------------------------------
// Maxwell 2-D TM, electric field update
#define TMX 32
#define TMY 8
__global__ void fdtd_update_ez(float *ez, const float *hx, const float *hy, const float *cb, int nx, int ny)
{
    __shared__ float shx[TMY + 1][TMX], shy[TMY][TMX + 1];
    int i = blockIdx.x * TMX + threadIdx.x;
    int j = blockIdx.y * TMY + threadIdx.y;
    int id = j * nx + i;
    if (i < nx && j < ny) {
        shx[threadIdx.y + 1][threadIdx.x] = hx[id];
        shy[threadIdx.y][threadIdx.x + 1] = hy[id];
        if (threadIdx.y == 0) shx[0][threadIdx.x] = j > 0 ? hx[id - nx] : 0.f;
        if (threadIdx.x == 0) shy[threadIdx.y][0] = i > 0 ? hy[id - 1] : 0.f;
    }
    __syncthreads();
    if (i > 0 && i < nx && j > 0 && j < ny) {
        float curl = (shy[threadIdx.y][threadIdx.x + 1] - shy[threadIdx.y][threadIdx.x])
                   - (shx[threadIdx.y + 1][threadIdx.x] - shx[threadIdx.y][threadIdx.x]);
        ez[id] += cb[id] * curl;
    }
}

//-------------------------------------------------------------------------
// 25 point star, z in registers
#define RADIUS 4
#define k_blockDimX 32
#define k_blockDimMaxY 16
__constant__ float stencil[RADIUS + 1];
__global__ void FiniteDifferences3DKernel(float *output, const float *input, const int dimx, const int dimy, const int dimz)
{
    const int ltidx = threadIdx.x;
    const int ltidy = threadIdx.y;
    const int workx = blockDim.x;
    const int worky = blockDim.y;
    __shared__ float tile[k_blockDimMaxY + 2 * RADIUS][k_blockDimX + 2 * RADIUS];
    const int gtidx = blockIdx.x * blockDim.x + threadIdx.x;
    const int gtidy = blockIdx.y * blockDim.y + threadIdx.y;
    const int stride_y = dimx + 2 * RADIUS;
    const int stride_z = stride_y * (dimy + 2 * RADIUS);
    int inputIndex = RADIUS * stride_y + RADIUS + gtidy * stride_y + gtidx;
    int outputIndex = 0;

    float infront[RADIUS];
    float behind[RADIUS];
    float current;
    const int tx = ltidx + RADIUS;
    const int ty = ltidy + RADIUS;

    for (int i = RADIUS - 2; i >= 0; i--) {
        behind[i] = input[inputIndex];
        inputIndex += stride_z;
    }
    current = input[inputIndex];
    outputIndex = inputIndex;
    inputIndex += stride_z;
    for (int i = 0; i < RADIUS; i++) {
        infront[i] = input[inputIndex];
        inputIndex += stride_z;
    }

#pragma unroll 9
    for (int iz = 0; iz < dimz; iz++) {
        // Advance the slice (move the thread-front)
        for (int i = RADIUS - 1; i > 0; i--) behind[i] = behind[i - 1];
        behind[0] = current;
        current = infront[0];
#pragma unroll
        for (int i = 0; i < RADIUS - 1; i++) infront[i] = infront[i + 1];
        infront[RADIUS - 1] = input[inputIndex];
        inputIndex += stride_z;
        outputIndex += stride_z;
        __syncthreads();

        // Halo above & below
        if (ltidy < RADIUS) {
            tile[ltidy][tx] = input[outputIndex - RADIUS * stride_y];
            tile[ltidy + worky + RADIUS][tx] = input[outputIndex + worky * stride_y];
        }
        // Halo left & right
        if (ltidx < RADIUS) {
            tile[ty][ltidx] = input[outputIndex - RADIUS];
            tile[ty][ltidx + workx + RADIUS] = input[outputIndex + workx];
        }
        tile[ty][tx] = current;
        __syncthreads();

        float value = stencil[0] * current;
#pragma unroll
        for (int i = 1; i <= RADIUS; i++)
            value += stencil[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
        output[outputIndex] = value;
    }
}

//-------------------------------------------------------------------------
// Lennard-Jones forces with cell lists, periodic, double precision
#define CAP 48
__global__ void lj_cell_force(const double *__restrict__ px, const double *__restrict__ py, const double *__restrict__ pz, const int *__restrict__ count,
                              double *fx, double *fy, double *fz, int nc, double cell, double rc2)
{
    __shared__ double sx[CAP], sy[CAP], sz[CAP];
    const int c = blockIdx.x;
    const int cx = c % nc, cy = (c / nc) % nc, cz = c / (nc * nc);
    const int mine = min(CAP, 30 + count[c]);
    const int t = threadIdx.x;
    double x = 0, y = 0, z = 0, ax = 0, ay = 0, az = 0;
    if (t < mine) {
        x = px[c * CAP + t];
        y = py[c * CAP + t];
        z = pz[c * CAP + t];
    }
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int o = ((cz + dz + nc) % nc * nc + (cy + dy + nc) % nc) * nc + (cx + dx + nc) % nc;
                int other = min(CAP, 30 + count[o]);
                __syncthreads();
                if (t < other) {
                    sx[t] = px[o * CAP + t] + dx * cell;
                    sy[t] = py[o * CAP + t] + dy * cell;
                    sz[t] = pz[o * CAP + t] + dz * cell;
                }
                __syncthreads();
                if (t < mine)
                    for (int j = 0; j < other; j++) {
                        double rx = x - sx[j], ry = y - sy[j], rz = z - sz[j];
                        double r2 = rx * rx + ry * ry + rz * rz;
                        if (r2 < rc2) {
                            double ir2 = 1.0 / (r2 + 0.5);
                            double ir6 = ir2 * ir2 * ir2;
                            double ff = 24.0 * ir6 * (2.0 * ir6 - 1.0) * ir2;
                            ax += ff * rx;
                            ay += ff * ry;
                            az += ff * rz;
                        }
                    }
            }
    if (t < mine) {
        fx[c * CAP + t] = ax;
        fy[c * CAP + t] = ay;
        fz[c * CAP + t] = az;
    }
}

//-------------------------------------------------------------------------
// 1-D wave equation, many steps in shared memory, three arrays rotate
#define WB 512
#define WSTEPS 16
__global__ void wave1d_multistep(const float *uold, const float *u, float *unew, int n, float c2)
{
    __shared__ float s0[WB], s1[WB], s2[WB];
    float *prev = s0, *cur = s1, *next = s2;
    int tid = threadIdx.x;
    int x = blockIdx.x * (WB - 2 * WSTEPS) + tid - WSTEPS;
    bool in = x >= 0 && x < n;
    prev[tid] = in ? uold[x] : 0.f;
    cur[tid] = in ? u[x] : 0.f;
    __syncthreads();
    for (int s = 0; s < WSTEPS; s++) {
        float v = 0.f;
        if (tid > 0 && tid < WB - 1 && x > 0 && x < n - 1)
            v = 2.f * cur[tid] - prev[tid] + c2 * (cur[tid - 1] - 2.f * cur[tid] + cur[tid + 1]);
        next[tid] = v;
        __syncthreads();
        float *t = prev;
        prev = cur;
        cur = next;
        next = t;
    }
    if (in && tid >= WSTEPS && tid < WB - WSTEPS) unew[x] = cur[tid];
}

//-------------------------------------------------------------------------
// Poisson residual, double, periodic in both directions
__global__ void poisson_residual_periodic(const double *phi, const double *rho, double *res, int nx, int ny, double ih2)
{
    __shared__ double t[18][18];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    bool act = x < nx && y < ny;
    if (act) {
        t[ty + 1][tx + 1] = phi[(size_t)y * nx + x];
        if (tx == 0) t[ty + 1][0] = phi[(size_t)y * nx + (x + nx - 1) % nx];
        if (tx == 15 || x == nx - 1) t[ty + 1][tx + 2] = phi[(size_t)y * nx + (x + 1) % nx];
        if (ty == 0) t[0][tx + 1] = phi[(size_t)((y + ny - 1) % ny) * nx + x];
        if (ty == 15 || y == ny - 1) t[ty + 2][tx + 1] = phi[(size_t)((y + 1) % ny) * nx + x];
    }
    __syncthreads();
    if (act) {
        double lap = t[ty + 1][tx] + t[ty + 1][tx + 2] + t[ty][tx + 1] + t[ty + 2][tx + 1] - 4.0 * t[ty + 1][tx + 1];
        res[(size_t)y * nx + x] = rho[(size_t)y * nx + x] - lap * ih2;
    }
}

//-------------------------------------------------------------------------
const int threadsPerBlock = 256;
__global__ void dot(int N, const double *a, const double *b, double *c)
{
    __shared__ double cache[threadsPerBlock];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;
    double temp = 0;
    while (tid < N) {
        temp += a[tid] * b[tid];
        tid += blockDim.x * gridDim.x;
    }
    // set the cache values
    cache[cacheIndex] = temp;
    // synchronize threads in this block
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0) c[blockIdx.x] = cache[0];
}

//-------------------------------------------------------------------------
// Gray-Scott reaction diffusion, a few steps per launch with ghost zone
template <int STEPS>
__global__ void gray_scott(const float2 *in, float2 *out, int nx, int ny, float F, float k)
{
    __shared__ float su[32][33], sv[32][33];
    constexpr int USE = 32 - 2 * STEPS;
    const int lx = threadIdx.x, ly = threadIdx.y;
    const int gx = blockIdx.x * USE + lx - STEPS, gy = blockIdx.y * USE + ly - STEPS;
    const int wx = (gx + nx) % nx, wy = (gy + ny) % ny;
    float2 uv = in[wy * nx + wx];
    su[ly][lx] = 0.08f * uv.x;
    sv[ly][lx] = 0.03f * uv.y;
    __syncthreads();
#pragma unroll
    for (int s = 1; s <= STEPS; ++s) {
        bool upd = lx >= s && lx < 32 - s && ly >= s && ly < 32 - s;
        float u = su[ly][lx], v = sv[ly][lx];
        if (upd) {
            float lu = su[ly][lx - 1] + su[ly][lx + 1] + su[ly - 1][lx] + su[ly + 1][lx] - 4.f * u;
            float lv = sv[ly][lx - 1] + sv[ly][lx + 1] + sv[ly - 1][lx] + sv[ly + 1][lx] - 4.f * v;
            float uvv = u * v * v;
            u += 0.16f * lu - uvv + F * (1.f - u);
            v += 0.08f * lv + uvv - (F + k) * v;
        }
        __syncthreads();
        if (upd) {
            su[ly][lx] = u;
            sv[ly][lx] = v;
        }
        __syncthreads();
    }
    if (lx >= STEPS && lx < 32 - STEPS && ly >= STEPS && ly < 32 - STEPS && gx < nx && gy < ny)
        out[gy * nx + gx] = make_float2(su[ly][lx], sv[ly][lx]);
}

int main()
{
    int bodies = 14000, p = 256;
    float *pos = mk<float>(4 * bodies), *npos = mk<float>(4 * bodies), *vel = mk<float>(4 * bodies);
    integrateBodies<<<cdiv(bodies, p), p, p * sizeof(float4)>>>((float4 *)npos, (float4 *)pos, (float4 *)vel, bodies, 0.001f, 0.995f, cdiv(bodies, p));
    show("integrateBodies", npos, 16ull * bodies);

    const int dx = 320, dy = 240, dz = 200;
    const size_t vol = (size_t)(dx + 8) * (dy + 8) * (dz + 8);
    float *a = mk<float>(vol), *b = mk<float>(vol), *c = mk<float>(vol), *d = mk<float>(vol);
    int nx = 4001, ny = 3999;
    fdtd_update_ez<<<dim3(cdiv(nx, TMX), cdiv(ny, TMY)), dim3(TMX, TMY)>>>(c, a, b, d, nx, ny);
    show("fdtd_update_ez", c, (size_t)nx * ny * 4);

    float coef[RADIUS + 1] = {0.3f, 0.1f, 0.05f, -0.02f, 0.01f};
    cudaMemcpyToSymbol(stencil, coef, sizeof(coef));
    FiniteDifferences3DKernel<<<dim3(dx / 32, dy / 16), dim3(32, 16)>>>(b, a, dx, dy, dz);
    show("FiniteDifferences3DKernel", b, vol * 4);

    int nc = 18, cells = nc * nc * nc;
    double *x = mk<double>(9000000), *y = mk<double>(9000000), *z = mk<double>(9000000);
    int *cnt = mk<int>(cells);
    double *fx, *fy, *fz;
    cudaMalloc(&fx, 3ull * cells * CAP * 8);
    cudaMemset(fx, 0, 3ull * cells * CAP * 8);
    fy = fx + (size_t)cells * CAP;
    fz = fy + (size_t)cells * CAP;
    lj_cell_force<<<cells, 64>>>(x, y + 31, z + 57, cnt, fx, fy, fz, nc, 12.5, 81.0);
    show("lj_cell_force", fx, 3ull * cells * CAP * 8);

    int nw = (1 << 23) + 11;
    wave1d_multistep<<<cdiv(nw, WB - 2 * WSTEPS), WB>>>(a, d, c, nw, 0.25f);
    show("wave1d_multistep", c, (size_t)nw * 4);

    int px = 3001, py = 2997;
    poisson_residual_periodic<<<dim3(cdiv(px, 16), cdiv(py, 16)), dim3(16, 16)>>>(x, y, z, px, py, 0.75);
    show("poisson_residual_periodic", z, (size_t)px * py * 8);

    double *partial = mk<double>(1000);
    dot<<<1000, threadsPerBlock>>>(8999999, x, y, partial);
    show("dot", partial, 1000 * 8);

    size_t gs = 2900ull * 2801;
    gray_scott<4><<<dim3(cdiv(2900, 24), cdiv(2801, 24)), dim3(32, 32)>>>((float2 *)a, (float2 *)c, 2900, 2801, 0.04f, 0.06f);
    show("gray_scott", c, gs * 8);
    return 0;
}
