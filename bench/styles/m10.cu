// course assignments and forum answers
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include "shown.h"
#include <vector>

#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort = true)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
        if (abort) exit(code);
    }
}

#define TILE 16
// C = alpha * A^T * B,  A is k x m, B is k x n, all row major
__global__ void matmul_AtB(const float *A, const float *B, float *C, int m, int n, int k, float alpha)
{
    __shared__ float sA[TILE][TILE];
    __shared__ float sB[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y; // in 0..m
    int col = blockIdx.x * TILE + threadIdx.x; // in 0..n
    int acol = blockIdx.y * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (k - 1) / TILE + 1; t++) {
        int r = t * TILE + threadIdx.y;
        if (r < k && acol < m)
            sA[threadIdx.y][threadIdx.x] = A[r * m + acol];
        else
            sA[threadIdx.y][threadIdx.x] = 0.0f;
        if (r < k && col < n)
            sB[threadIdx.y][threadIdx.x] = B[r * n + col];
        else
            sB[threadIdx.y][threadIdx.x] = 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += sA[i][threadIdx.y] * sB[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = alpha * sum;
}

// covariance matrix, only the blocks on and above the diagonal work
__global__ void covariance_kernel(const double *data, const double *mean, double *cov, int n, int m)
{
    if (blockIdx.x < blockIdx.y) return;
    __shared__ double da[TILE][TILE + 1], db[TILE][TILE + 1];
    __shared__ double ma[TILE], mb[TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int ci = blockIdx.y * TILE + tx, cj = blockIdx.x * TILE + tx;
    if (ty == 0) {
        ma[tx] = ci < m ? mean[ci] : 0.0;
        mb[tx] = cj < m ? mean[cj] : 0.0;
    }
    __syncthreads();
    double acc = 0.0;
    for (int s = 0; s < n; s += TILE) {
        int r = s + ty;
        da[ty][tx] = (r < n && ci < m) ? data[(size_t)r * m + ci] - ma[tx] : 0.0;
        db[ty][tx] = (r < n && cj < m) ? data[(size_t)r * m + cj] - mb[tx] : 0.0;
        __syncthreads();
#pragma unroll
        for (int q = 0; q < TILE; q++) acc += da[q][ty] * db[q][tx];
        __syncthreads();
    }
    int i = blockIdx.y * TILE + ty, j = blockIdx.x * TILE + tx;
    if (i < m && j < m) {
        acc /= n - 1;
        cov[(size_t)i * m + j] = acc;
        if (blockIdx.x != blockIdx.y) cov[(size_t)j * m + i] = acc;
    }
}

// 2-norm of every row; a warp for a row
__device__ void warpReduceV(volatile float *s, int t)
{
    float v = s[t];
    v += s[t + 16]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 8]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 4]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 2]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 1]; __syncwarp(); s[t] = v; __syncwarp();
}
__global__ void rowNorm2(const float *mat, float *norms, int rows, int cols)
{
    __shared__ float sdata[8][32 + 16];
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    float *mine = sdata[threadIdx.y];
    float s = 0;
    if (row < rows)
        for (int c = threadIdx.x; c < cols; c += 32) {
            float v = mat[(size_t)row * cols + c];
            s += v * v;
        }
    mine[threadIdx.x] = s;
    if (threadIdx.x < 16) mine[32 + threadIdx.x] = 0.0f;
    __syncwarp();
    warpReduceV(mine, threadIdx.x);
    if (threadIdx.x == 0 && row < rows) norms[row] = sqrtf(mine[0]);
}

// mean and variance in one pass (Welford / Chan)
struct Moments {
    float n, mean, M2;
};
__device__ Moments combine(const Moments &a, const Moments &b)
{
    Moments r;
    r.n = a.n + b.n;
    float delta = b.mean - a.mean;
    float f = r.n > 0.f ? b.n / r.n : 0.f;
    r.mean = a.mean + delta * f;
    r.M2 = a.M2 + b.M2 + delta * delta * a.n * f;
    return r;
}
template <unsigned BLOCK>
__global__ void variance_welford(const float *x, Moments *out, int n)
{
    __shared__ Moments sm[BLOCK];
    Moments m = {0.f, 0.f, 0.f};
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * gridDim.x) {
        float v = x[i];
        m.n += 1.f;
        float d = v - m.mean;
        m.mean += d / m.n;
        m.M2 += d * (v - m.mean);
    }
    sm[threadIdx.x] = m;
    for (unsigned s = BLOCK >> 1; s; s >>= 1) {
        __syncthreads();
        if (threadIdx.x < s) sm[threadIdx.x] = combine(sm[threadIdx.x], sm[threadIdx.x + s]);
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sm[0];
}

// LSD radix sort of a block, one bit at a time (split primitive)
#define RADIX_N 512
__device__ unsigned scanBlock(unsigned *s, unsigned v)
{
    int t = threadIdx.x;
    s[t] = v;
    __syncthreads();
    for (int o = 1; o < RADIX_N; o <<= 1) {
        unsigned add = t >= o ? s[t - o] : 0;
        __syncthreads();
        s[t] += add;
        __syncthreads();
    }
    return s[t]; // inclusive
}
__global__ void radixSortBlocks(const unsigned *keys, unsigned *sorted, int bits)
{
    __shared__ unsigned data[RADIX_N];
    __shared__ unsigned sc[RADIX_N];
    __shared__ unsigned totalFalses;
    int t = threadIdx.x;
    data[t] = keys[blockIdx.x * RADIX_N + t];
    __syncthreads();
    for (int b = 0; b < bits; b++) {
        unsigned k = data[t];
        unsigned isZero = ((k >> b) & 1u) == 0;
        unsigned incl = scanBlock(sc, isZero);
        if (t == RADIX_N - 1) totalFalses = incl;
        __syncthreads();
        unsigned dst = isZero ? incl - 1 : t - incl + totalFalses;
        data[dst] = k;
        __syncthreads();
    }
    sorted[blockIdx.x * RADIX_N + t] = data[t];
}

// odd-even transposition sort
__global__ void oddEvenSort(const float *in, float *out, int n)
{
    __shared__ float arr[256];
    int tid = threadIdx.x; // 128 threads
    int base = blockIdx.x * 256;
    arr[tid] = base + tid < n ? in[base + tid] : 1e30f;
    arr[tid + 128] = base + tid + 128 < n ? in[base + tid + 128] : 1e30f;
    for (int phase = 0; phase < 256; phase++) {
        __syncthreads();
        int i = 2 * tid + (phase & 1);
        if (i + 1 < 256) {
            if (arr[i] > arr[i + 1]) {
                float tmp = arr[i];
                arr[i] = arr[i + 1];
                arr[i + 1] = tmp;
            }
        }
    }
    __syncthreads();
    if (base + tid < n) out[base + tid] = arr[tid];
    if (base + tid + 128 < n) out[base + tid + 128] = arr[tid + 128];
}

// range sum in an implicit search tree; explicit stack, top levels cached
#define CACHED 1023
#define STACK 40
__global__ void bst_range_sum(const float2 *tree, int nodes, const float *query, float radius, float *result, int nq)
{
    __shared__ float2 top[CACHED];
    for (int i = threadIdx.x; i < CACHED && i < nodes; i += blockDim.x) top[i] = tree[i];
    __syncthreads();
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= nq) return;
    float c = query[q];
    float lo = c - radius, hi = c + radius, sum = 0.f;
    int stack[STACK];
    int sp = 0;
    stack[sp++] = 0;
    while (sp > 0) {
        int node = stack[--sp];
        float2 kv = node < CACHED ? top[node] : tree[node];
        if (kv.x >= lo && kv.x <= hi) sum += kv.y;
        int l = 2 * node + 1, r = 2 * node + 2;
        if (r < nodes && kv.x <= hi) stack[sp++] = r;
        if (l < nodes && kv.x >= lo) stack[sp++] = l;
    }
    result[q] = sum;
}

// shared storage reused by two phases through a union
__global__ void normalize_and_rank(const float *in, float *out, unsigned char *rank, int n)
{
    __shared__ union {
        float stat[256];
        struct {
            float v[256];
            unsigned char bucket[256];
        } s;
    } u;
    __shared__ float lo, range;
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    float x = in[g < n ? g : n - 1];
    u.stat[t] = x;
    __syncthreads();
    for (int o = 128; o > 0; o >>= 1) {
        if (t < o) u.stat[t] = fminf(u.stat[t], u.stat[t + o]);
        __syncthreads();
    }
    if (t == 0) lo = u.stat[0];
    __syncthreads();
    u.stat[t] = x;
    __syncthreads();
    for (int o = 128; o > 0; o >>= 1) {
        if (t < o) u.stat[t] = fmaxf(u.stat[t], u.stat[t + o]);
        __syncthreads();
    }
    if (t == 0) range = u.stat[0] - lo + 1e-6f;
    __syncthreads();
    float v = (x - lo) / range;
    u.s.v[t] = v;
    u.s.bucket[t] = (unsigned char)(v * 255.f);
    __syncthreads();
    int less = 0;
    for (int k = 0; k < 256; k++) less += u.s.bucket[k] < u.s.bucket[t] || (u.s.bucket[k] == u.s.bucket[t] && k < t);
    if (g < n) {
        out[g] = 0.5f * (u.s.v[t] + u.s.v[(t + 1) & 255]);
        rank[g] = (unsigned char)less;
    }
}

static void fillTree(std::vector<float2> &t, int node, int &next)
{
    if (node >= (int)t.size()) return;
    fillTree(t, 2 * node + 1, next);
    t[node] = make_float2(next * 0.01f, (float)(next * 37 % 64));
    next++;
    fillTree(t, 2 * node + 2, next);
}

int main(int argc, char *argv[])
{
    const int N = 1 << 23;
    float *a = mk<float>(N), *b = mk<float>(N), *c = mk<float>(N);

    int m = 900, n = 1111, k = 1003;
    matmul_AtB<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(a, b, c, m, n, k, 0.5f);
    gpuErrchk(cudaPeekAtLastError());
    show("matmul_AtB", c, (size_t)m * n * sizeof(float));

    int ns = 2000, nv = 801;
    double *data = mk<double>((size_t)ns * nv), *mean = mk<double>(nv), *cov = mk<double>((size_t)nv * nv);
    covariance_kernel<<<dim3((nv + TILE - 1) / TILE, (nv + TILE - 1) / TILE), dim3(TILE, TILE)>>>(data, mean, cov, ns, nv);
    gpuErrchk(cudaPeekAtLastError());
    show("covariance_kernel", cov, (size_t)nv * nv * sizeof(double));

    int rows = 20001, cols = 400;
    float *norms = mk<float>(rows);
    rowNorm2<<<(rows + 7) / 8, dim3(32, 8)>>>(a, norms, rows, cols);
    gpuErrchk(cudaPeekAtLastError());
    show("rowNorm2", norms, rows * sizeof(float));

    Moments *mo = (Moments *)mk<float>(3 * 512);
    variance_welford<256><<<512, 256>>>(a, mo, N - 5);
    gpuErrchk(cudaPeekAtLastError());
    show("variance_welford", mo, 512 * sizeof(Moments));

    std::vector<unsigned> hk(N);
    for (int i = 0; i < N; i++) hk[i] = (i * 2654435761u) >> 16;
    unsigned *keys, *sorted = mk<unsigned>(N);
    gpuErrchk(cudaMalloc(&keys, N * sizeof(unsigned)));
    gpuErrchk(cudaMemcpy(keys, hk.data(), N * sizeof(unsigned), cudaMemcpyHostToDevice));
    radixSortBlocks<<<4096, RADIX_N>>>(keys, sorted, 16);
    gpuErrchk(cudaPeekAtLastError());
    show("radixSortBlocks", sorted, 4096ull * RADIX_N * sizeof(unsigned));

    int no = (1 << 21) - 100;
    oddEvenSort<<<(no + 255) / 256, 128>>>(a + 7, c, no);
    gpuErrchk(cudaPeekAtLastError());
    show("oddEvenSort", c, (size_t)no * sizeof(float));

    std::vector<float2> tree((1 << 16) - 1);
    int next = 0;
    fillTree(tree, 0, next);
    float2 *dtree;
    gpuErrchk(cudaMalloc(&dtree, tree.size() * sizeof(float2)));
    gpuErrchk(cudaMemcpy(dtree, tree.data(), tree.size() * sizeof(float2), cudaMemcpyHostToDevice));
    std::vector<float> hq(1 << 20);
    for (size_t i = 0; i < hq.size(); i++) hq[i] = (hk[i] % 65536) * 0.01f;
    float *dq;
    gpuErrchk(cudaMalloc(&dq, hq.size() * sizeof(float)));
    gpuErrchk(cudaMemcpy(dq, hq.data(), hq.size() * sizeof(float), cudaMemcpyHostToDevice));
    bst_range_sum<<<(1 << 20) / 128, 128>>>(dtree, (int)tree.size(), dq, 0.055f, c, 1 << 20);
    gpuErrchk(cudaPeekAtLastError());
    show("bst_range_sum", c, (1 << 20) * sizeof(float));

    int nr = 3000001;
    unsigned char *rank = mk<unsigned char>(nr);
    normalize_and_rank<<<(nr + 255) / 256, 256>>>(a, c, rank, nr);
    gpuErrchk(cudaPeekAtLastError());
    show("normalize_and_rank", rank, nr);
    return 0;
}
