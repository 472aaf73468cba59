// sparse / graph building blocks
#include "shown.h"
#include <vector>
using std::vector;

#define FULL 0xffffffffu
static const int kBlock = 256;

// CSR-vector, 32 threads a row, tree in shared memory
__global__ void spmv_csr_vector(const int num_rows, const int *Ap, const int *Aj, const float *Ax, const float *x, float *y)
{
    __shared__ float sdata[256];
    __shared__ int ptrs[256 / 32][2];
    const int thread_id = blockDim.x * blockIdx.x + threadIdx.x;
    const int thread_lane = threadIdx.x & 31;
    const int warp_id = thread_id / 32;
    const int warp_lane = threadIdx.x / 32;
    const int num_warps = (256 / 32) * gridDim.x;
    for (int row = warp_id; row < num_rows; row += num_warps) {
        if (thread_lane < 2) ptrs[warp_lane][thread_lane] = Ap[row + thread_lane];
        __syncwarp();
        const int row_start = ptrs[warp_lane][0];
        const int row_end = ptrs[warp_lane][1];
        float sum = 0;
        for (int jj = row_start + thread_lane; jj < row_end; jj += 32) sum += Ax[jj] * x[Aj[jj]];
        sdata[threadIdx.x] = sum;
        __syncwarp();
        for (int h = 16; h >= 1; h >>= 1) {
            if (thread_lane < h) sdata[threadIdx.x] = sum = sum + sdata[threadIdx.x + h];
            __syncwarp();
        }
        if (thread_lane == 0) y[row] = sdata[threadIdx.x];
        __syncwarp();
    }
}

// blocked Floyd-Warshall: remaining tiles of one pivot block
#define FW 32
__global__ void fw_phase3(int *dist, int n, int kb)
{
    int bi = blockIdx.y, bj = blockIdx.x;
    if (bi == kb || bj == kb) return;
    __shared__ int colT[FW][FW];
    __shared__ int rowT[FW][FW];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int i = bi * FW + ty, j = bj * FW + tx;
    colT[ty][tx] = dist[(size_t)i * n + kb * FW + tx];
    rowT[ty][tx] = dist[(size_t)(kb * FW + ty) * n + j];
    __syncthreads();
    int d = dist[(size_t)i * n + j];
#pragma unroll
    for (int k = 0; k < FW; ++k) {
        int via = colT[ty][k] + rowT[k][tx];
        if (via < d) d = via;
    }
    dist[(size_t)i * n + j] = d;
}

// segmented inclusive scan by head flags, one value per thread
__global__ void segmentedScan(const float *val, const int *key, float *out, int n)
{
    __shared__ float v[kBlock];
    __shared__ unsigned char f[kBlock];
    int t = threadIdx.x;
    int g = blockIdx.x * blockDim.x + t;
    bool in = g < n;
    v[t] = in ? val[g] : 0.0f;
    f[t] = (t == 0) || !in || (key[g] > 9);
    for (int o = 1; o < kBlock; o *= 2) {
        __syncthreads();
        float nv = v[t];
        unsigned char nf = f[t];
        if (t >= o) {
            if (!nf) nv += v[t - o];
            nf |= f[t - o];
        }
        __syncthreads();
        v[t] = nv;
        f[t] = nf;
    }
    if (in) out[g] = v[t];
}

// connected components on an image grid: some label sweeps inside of a tile
__global__ void ccl_tile(const unsigned char *img, int *label, int w, int h, int sweeps)
{
    __shared__ int lab[2][18][18];
    __shared__ unsigned char pix[18][18];
    int tid = threadIdx.x + 16 * threadIdx.y;
    for (int k = tid; k < 18 * 18; k += 256) {
        int y = k / 18, x = k - 18 * y;
        int gx = blockIdx.x * 16 + x - 1, gy = blockIdx.y * 16 + y - 1;
        bool ok = gx >= 0 && gy >= 0 && gx < w && gy < h;
        pix[y][x] = ok ? img[gy * w + gx] / 5 : 255;
        lab[0][y][x] = lab[1][y][x] = ok ? gy * w + gx : 0x7fffffff;
    }
    __syncthreads();
    int x = threadIdx.x + 1, y = threadIdx.y + 1, cur = 0;
    unsigned char me = pix[y][x];
    for (int s = 0; s < sweeps; s++) {
        int m = lab[cur][y][x];
        if (pix[y - 1][x] == me) m = min(m, lab[cur][y - 1][x]);
        if (pix[y + 1][x] == me) m = min(m, lab[cur][y + 1][x]);
        if (pix[y][x - 1] == me) m = min(m, lab[cur][y][x - 1]);
        if (pix[y][x + 1] == me) m = min(m, lab[cur][y][x + 1]);
        lab[cur ^ 1][y][x] = m;
        cur ^= 1;
        __syncthreads();
    }
    int gx = blockIdx.x * 16 + threadIdx.x, gy = blockIdx.y * 16 + threadIdx.y;
    if (gx < w && gy < h) label[gy * w + gx] = lab[cur][y][x];
}

// depth first walk limited to some nodes on an implicit 8-regular graph, private stack + visited ring
__global__ void dfs_walk(const int *seed, int *visitedSum, int nodes, int count)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= count) return;
    int stack[64], ring[16];
    for (int i = 0; i < 16; ++i) ring[i] = -1;
    int sp = 0, seen = 0, acc = 0;
    stack[sp++] = (int)((s * 48271u + seed[s]) % nodes);
    while (sp > 0 && seen < 100) {
        int v = stack[--sp];
        bool dup = false;
        for (int i = 0; i < 16; ++i) dup |= ring[i] == v;
        if (dup) continue;
        ring[v & 15] = v;
        acc += v ^ seen;
        ++seen;
        int deg = 1 + (v & 3);
        for (int e = 0; e < deg && sp < 64; ++e) stack[sp++] = (int)(((unsigned)v * 3u + e * 7919u + 1u) % nodes);
    }
    visitedSum[s] = acc;
}

int main()
{
    // CSR matrix with irregular rows
    const int rows = 400000;
    vector<int> ptr(rows + 1);
    for (int r = 0; r < rows; ++r) ptr[r + 1] = ptr[r] + 8 + (r * 13) % 41;
    int nnz = ptr[rows];
    vector<int> idx(nnz);
    for (int i = 0; i < nnz; ++i) idx[i] = (int)(((unsigned)i * 2654435761u) >> 13) % rows;
    int *dp, *dj;
    cudaMalloc(&dp, ptr.size() * sizeof(int));
    cudaMalloc(&dj, idx.size() * sizeof(int));
    cudaMemcpy(dp, ptr.data(), ptr.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dj, idx.data(), idx.size() * sizeof(int), cudaMemcpyHostToDevice);
    float *ax = mk<float>(1 << 24), *y;
    cudaMalloc(&y, sizeof(float) << 24);
    spmv_csr_vector<<<2112, 256>>>(rows, dp, dj, ax, ax + 999, y);
    show("spmv_csr_vector", y, rows * sizeof(float));

    int *dist = mk<int>(1 << 24);
    segmentedScan<<<((1 << 24) - 3 + kBlock - 1) / kBlock, kBlock>>>(ax, dist, y, (1 << 24) - 3);
    show("segmentedScan", y, sizeof(float) * ((1 << 24) - 3));
    dfs_walk<<<(300000 + 127) / 128, 128>>>(dist, (int *)y, 1000003, 300000);
    show("dfs_walk", y, sizeof(int) * 300000);
    fw_phase3<<<dim3(4096 / FW, 4096 / FW), dim3(FW, FW)>>>(dist, 4096, 17);
    show("fw_phase3", dist, sizeof(int) << 24);

    unsigned char *img = mk<unsigned char>(4000 * 4001);
    ccl_tile<<<dim3((4000 + 15) / 16, (4001 + 15) / 16), dim3(16, 16)>>>(img, dist, 4000, 4001, 10);
    show("ccl_tile", dist, sizeof(int) * 4000 * 4001);
    return 0;
}
