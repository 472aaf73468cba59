// Tile loops over points: pairwise distance, correlation, k-means, n-body, Lennard-Jones
#include "shown.h"

// kNN-CUDA style distance matrix, column-major points
#define BLOCK_DIM 16
__global__ void compute_distances(float *ref, int ref_width, int ref_pitch,
                                  float *query, int query_width, int query_pitch,
                                  int height, float *dist)
{
    // Declaration of the shared memory arrays As and Bs used to store the sub-matrix of A and B
    __shared__ float shared_A[BLOCK_DIM][BLOCK_DIM];
    __shared__ float shared_B[BLOCK_DIM][BLOCK_DIM];

    // Sub-matrix of A (begin, step, end) and Sub-matrix of B (begin, step)
    __shared__ int begin_A;
    __shared__ int begin_B;
    __shared__ int step_A;
    __shared__ int step_B;
    __shared__ int end_A;

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    float ssd = 0.f;

    if (tx == 0 && ty == 0) {
        begin_A = BLOCK_DIM * blockIdx.y;
        begin_B = BLOCK_DIM * blockIdx.x;
        step_A = BLOCK_DIM * ref_pitch;
        step_B = BLOCK_DIM * query_pitch;
        end_A = begin_A + (height - 1) * ref_pitch;
    }

    // Conditions
    int cond0 = (BLOCK_DIM * blockIdx.y + tx < ref_width); // used to write in shared memory
    int cond1 = (BLOCK_DIM * blockIdx.x + tx < query_width); // used to write in shared memory and to computations
    int cond2 = (BLOCK_DIM * blockIdx.y + ty < ref_width); // used to computations and to write in output matrix
    __syncthreads();

    for (int a = begin_A, b = begin_B; a <= end_A; a += step_A, b += step_B) {
        if (a / ref_pitch + ty < height) {
            shared_A[ty][tx] = (cond0) ? ref[a + ref_pitch * ty + tx] : 0;
            shared_B[ty][tx] = (cond1) ? query[b + query_pitch * ty + tx] : 0;
        } else {
            shared_A[ty][tx] = 0;
            shared_B[ty][tx] = 0;
        }
        __syncthreads();

        if (cond2 && cond1) {
            for (int k = 0; k < BLOCK_DIM; ++k) {
                float tmp = shared_A[k][ty] - shared_B[k][tx];
                ssd += tmp * tmp;
            }
        }
        __syncthreads();
    }
    if (cond2 && cond1) {
        dist[(begin_A + ty) * query_pitch + begin_B + tx] = ssd;
    }
}

// Pearson correlation of gene expression rows
#define CT 16
__global__ void pearsonTiled(const float *__restrict__ expr, float *__restrict__ corr, int genes, int samples)
{
    __shared__ float ta[CT][CT + 1], tb[CT][CT + 1];
    const int gi = blockIdx.y * CT + threadIdx.y;
    const int gj = blockIdx.x * CT + threadIdx.x;
    float sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
    for (int s = 0; s < samples; s += CT) {
        int col = s + threadIdx.x;
        ta[threadIdx.y][threadIdx.x] = col < samples ? expr[gi * samples + col] : 0.f;
        tb[threadIdx.y][threadIdx.x] = col < samples ? expr[(blockIdx.x * CT + threadIdx.y) * samples + col] : 0.f;
        __syncthreads();
        for (int k = 0; k < CT; ++k) {
            float x = ta[threadIdx.y][k];
            float y = tb[threadIdx.x][k];
            sx += x; sy += y;
            sxx += x * x; syy += y * y; sxy += x * y;
        }
        __syncthreads();
    }
    float n = (float)samples;
    float num = n * sxy - sx * sy;
    float den = sqrtf((n * sxx - sx * sx) * (n * syy - sy * sy));
    corr[gi * genes + gj] = den > 0.f ? num / den : 0.f;
}

// k-means assignment: centroids staged in chunks through shared memory
template <int DIM, int CHUNK>
__global__ void kmeansAssign(const float *points, const float *centroids, int *label, int *counts, int n, int k)
{
    __shared__ float cen[CHUNK][DIM];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float p[DIM];
    if (i < n)
        for (int d = 0; d < DIM; ++d)
            p[d] = points[d * n + i];
    else
        for (int d = 0; d < DIM; ++d)
            p[d] = 0.f;
    float best = 3.4e38f;
    int bestC = -1;
    for (int c0 = 0; c0 < k; c0 += CHUNK) {
        for (int e = threadIdx.x; e < CHUNK * DIM; e += blockDim.x)
            cen[e / DIM][e % DIM] = centroids[c0 * DIM + e];
        __syncthreads();
        for (int c = 0; c < CHUNK; ++c) {
            float d2 = 0.f;
            for (int d = 0; d < DIM; ++d) {
                float t = p[d] - cen[c][d];
                d2 += t * t;
            }
            if (d2 < best) { best = d2; bestC = c0 + c; }
        }
        __syncthreads();
    }
    if (i < n) {
        label[i] = bestC;
        atomicAdd(&counts[bestC], 1);
    }
}

// GPU Gems 3, chapter 31
#define EPS2 0.01f
__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai)
{
    float3 r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + EPS2;
    float distSixth = distSqr * distSqr * distSqr;
    float invDistCube = 1.0f / sqrtf(distSixth);
    float s = bj.w * invDistCube;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}

__device__ float3 tile_calculation(float4 myPosition, float3 accel)
{
    extern __shared__ float4 shPosition[];
    for (int i = 0; i < blockDim.x; i++)
        accel = bodyBodyInteraction(myPosition, shPosition[i], accel);
    return accel;
}

__global__ void calculate_forces(void *devX, void *devA, int N)
{
    extern __shared__ float4 shPosition[];
    float4 *globalX = (float4 *)devX;
    float4 *globalA = (float4 *)devA;
    float4 myPosition;
    int i, tile;
    float3 acc = {0.0f, 0.0f, 0.0f};
    int gtid = blockIdx.x * blockDim.x + threadIdx.x;
    myPosition = globalX[gtid];
    for (i = 0, tile = 0; i < N; i += blockDim.x, tile++) {
        int idx = tile * blockDim.x + threadIdx.x;
        shPosition[threadIdx.x] = globalX[idx];
        __syncthreads();
        acc = tile_calculation(myPosition, acc);
        __syncthreads();
    }
    float4 acc4 = {acc.x, acc.y, acc.z, 0.0f};
    globalA[gtid] = acc4;
}

// Lennard-Jones in cells: block = cell, loop over 27 neighbour cells staged in shared memory
#define MAXCELL 64
struct Atom { float x, y, z; int type; };

__global__ void ljCellForce(const Atom *atoms, const int *cellCount, float4 *force, int ncx, int ncy, int ncz,
                            float cell, float cut2)
{
    __shared__ Atom nb[MAXCELL];
    __shared__ float eps_s[4], sig_s[4];
    int cx = blockIdx.x, cy = blockIdx.y, cz = blockIdx.z;
    int me = (cz * ncy + cy) * ncx + cx;
    int t = threadIdx.x;
    if (t < 4) {
        eps_s[t] = 0.5f + 0.1f * t;
        sig_s[t] = 0.9f + 0.05f * t;
    }
    int myCount = cellCount[me];
    Atom a;
    a.x = a.y = a.z = 0.f;
    a.type = 0;
    if (t < myCount) a = atoms[me * MAXCELL + t];
    float fx = 0, fy = 0, fz = 0, pe = 0;

    for (int dz = -1; dz <= 1; dz++)
    for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
        int ox = cx + dx, oy = cy + dy, oz = cz + dz;
        float shx = 0, shy = 0, shz = 0; // periodic images
        if (ox < 0) { ox += ncx; shx = -cell * ncx; } else if (ox >= ncx) { ox -= ncx; shx = cell * ncx; }
        if (oy < 0) { oy += ncy; shy = -cell * ncy; } else if (oy >= ncy) { oy -= ncy; shy = cell * ncy; }
        if (oz < 0) { oz += ncz; shz = -cell * ncz; } else if (oz >= ncz) { oz -= ncz; shz = cell * ncz; }
        int other = (oz * ncy + oy) * ncx + ox;
        int cnt = cellCount[other];
        __syncthreads();
        if (t < cnt) {
            Atom b = atoms[other * MAXCELL + t];
            b.x += shx; b.y += shy; b.z += shz;
            nb[t] = b;
        }
        __syncthreads();
        if (t < myCount) {
            for (int j = 0; j < cnt; j++) {
                if (other == me && j == t) continue;
                float rx = a.x - nb[j].x, ry = a.y - nb[j].y, rz = a.z - nb[j].z;
                float r2 = rx * rx + ry * ry + rz * rz;
                if (r2 < cut2) {
                    float e = sqrtf(eps_s[a.type] * eps_s[nb[j].type]);
                    float s = 0.5f * (sig_s[a.type] + sig_s[nb[j].type]);
                    float ir2 = s * s / r2;
                    float ir6 = ir2 * ir2 * ir2;
                    float ff = 48.f * e * ir6 * (ir6 - 0.5f) / r2;
                    fx += ff * rx; fy += ff * ry; fz += ff * rz;
                    pe += 4.f * e * ir6 * (ir6 - 1.f);
                }
            }
        }
    }
    if (t < myCount)
        force[me * MAXCELL + t] = make_float4(fx, fy, fz, 0.5f * pe);
}

int main()
{
    {
        int rw = 4000, qw = 4100, h = 100;
        float *r = mk<float>(rw * h), *q = mk<float>(qw * h), *d = mk<float>((size_t)rw * qw);
        dim3 block(BLOCK_DIM, BLOCK_DIM, 1);
        dim3 grid((qw + BLOCK_DIM - 1) / BLOCK_DIM, (rw + BLOCK_DIM - 1) / BLOCK_DIM, 1);
        compute_distances<<<grid, block>>>(r, rw, rw, q, qw, qw, h, d);
        show("compute_distances", d, (size_t)rw * qw * sizeof(float));
    }
    {
        int genes = 2048, samples = 250;
        float *e = mk<float>(genes * samples), *c = mk<float>(genes * genes);
        pearsonTiled<<<dim3(genes / CT, genes / CT), dim3(CT, CT)>>>(e, c, genes, samples);
        show("pearsonTiled", c, (size_t)genes * genes * sizeof(float));
    }
    {
        int n = 1000000, k = 128;
        float *p = mk<float>(n * 16), *c = mk<float>(k * 16);
        int *lab = mk<int>(n), *cnt = mk<int>(k);
        cudaMemset(cnt, 0, k * sizeof(int));
        kmeansAssign<16, 32><<<(n + 255) / 256, 256>>>(p, c, lab, cnt, n, k);
        show("kmeansAssign", lab, n * sizeof(int));
        show("kmeansAssign_counts", cnt, k * sizeof(int));
    }
    {
        int N = 16384, p = 256;
        float *x = mk<float>(4 * N), *a = mk<float>(4 * N);
        calculate_forces<<<N / p, p, p * sizeof(float4)>>>(x, a, N);
        show("calculate_forces", a, 4 * N * sizeof(float));
    }
    {
        int nc = 16, cells = nc * nc * nc;
        Atom *h = (Atom *)malloc(sizeof(Atom) * cells * MAXCELL);
        int *hc = (int *)malloc(sizeof(int) * cells);
        unsigned s = 12345;
        for (int c = 0; c < cells; c++) {
            hc[c] = 48 + c % 13;
            for (int k = 0; k < MAXCELL; k++) {
                Atom &a = h[c * MAXCELL + k];
                s = s * 1664525u + 1013904223u; float jx = (s >> 8) / 16777216.f;
                s = s * 1664525u + 1013904223u; float jy = (s >> 8) / 16777216.f;
                s = s * 1664525u + 1013904223u; float jz = (s >> 8) / 16777216.f;
                a.x = (c % nc) * 4.f + (k % 4) + 0.5f * jx;
                a.y = ((c / nc) % nc) * 4.f + ((k / 4) % 4) + 0.5f * jy;
                a.z = (c / (nc * nc)) * 4.f + (k / 16) + 0.5f * jz;
                a.type = k % 4;
            }
        }
        Atom *d; int *dc;
        cudaMalloc(&d, sizeof(Atom) * cells * MAXCELL);
        cudaMalloc(&dc, sizeof(int) * cells);
        cudaMemcpy(d, h, sizeof(Atom) * cells * MAXCELL, cudaMemcpyHostToDevice);
        cudaMemcpy(dc, hc, sizeof(int) * cells, cudaMemcpyHostToDevice);
        float4 *f = (float4 *)mk<float>((size_t)cells * MAXCELL * 4);
        ljCellForce<<<dim3(nc, nc, nc), MAXCELL>>>(d, dc, f, nc, nc, nc, 4.f, 6.25f);
        show("ljCellForce", f, (size_t)cells * MAXCELL * sizeof(float4));
        free(h); free(hc);
    }
    return 0;
}
