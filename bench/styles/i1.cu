// Graph algorithms on CSR and dense adjacency.
#include "shown.h"
#include <algorithm>
#include <vector>

#define BLK 32
#define INF 0x3fffffff

struct Csr {
    int nv;
    const int *off;
    const int *adj;
};

// ---- BFS, bottom-up step: an unvisited vertex looks for a parent on the current level
__global__ void bfs_pull(Csr g, const int *__restrict__ lev_in, int *__restrict__ lev_out, int cur, int *found)
{
    __shared__ int cnt;
    if (threadIdx.x == 0) cnt = 0;
    __syncthreads();
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < g.nv) {
        int l = lev_in[v];
        if (l < 0) {
            for (int e = g.off[v]; e < g.off[v + 1]; ++e)
                if (lev_in[g.adj[e]] == cur) {
                    l = cur + 1;
                    atomicAdd(&cnt, 1);
                    break;
                }
        }
        lev_out[v] = l;
    }
    __syncthreads();
    if (threadIdx.x == 0 && cnt) atomicAdd(found, cnt);
}

// ---- PageRank, pull, grid stride
__global__ void pagerank_pull(Csr g, const double *__restrict__ rank, const double *__restrict__ inv_deg, double *__restrict__ next, double damp)
{
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < g.nv; v += gridDim.x * blockDim.x) {
        double s = 0.0;
        const int *p = g.adj + g.off[v], *end = g.adj + g.off[v + 1];
        while (p != end) {
            int u = *p++;
            s += rank[u] * inv_deg[u];
        }
        next[v] = (1.0 - damp) / g.nv + damp * s;
    }
}

// ---- Floyd-Warshall, three phases
__device__ __forceinline__ void relax(int &c, int a, int b) { c = min(c, a + b); }

__global__ void fw_diag(int *d, int n, int kb)
{
    __shared__ int t[BLK][BLK];
    int i = threadIdx.y, j = threadIdx.x;
    int *p = &d[(size_t)(kb * BLK + i) * n + kb * BLK + j];
    t[i][j] = *p;
    __syncthreads();
    for (int k = 0; k < BLK; ++k) {
        int cand = t[i][k] + t[k][j];
        __syncthreads();
        if (cand < t[i][j]) t[i][j] = cand;
        __syncthreads();
    }
    *p = t[i][j];
}

__global__ void fw_cross(int *d, int n, int kb)
{
    if (blockIdx.x == kb) return;
    __shared__ int diag[BLK][BLK], mine[BLK][BLK];
    int i = threadIdx.y, j = threadIdx.x;
    const bool row = blockIdx.y == 0;
    int bi = row ? kb : blockIdx.x, bj = row ? blockIdx.x : kb;
    size_t at = (size_t)(bi * BLK + i) * n + bj * BLK + j;
    diag[i][j] = d[(size_t)(kb * BLK + i) * n + kb * BLK + j];
    mine[i][j] = d[at];
    __syncthreads();
    int c = mine[i][j];
    for (int k = 0; k < BLK; ++k) {
        int cand = row ? diag[i][k] + mine[k][j] : mine[i][k] + diag[k][j];
        __syncthreads();
        c = min(c, cand);
        mine[i][j] = c;
        __syncthreads();
    }
    d[at] = c;
}

__global__ void fw_rest(int *d, int n, int kb)
{
    if (blockIdx.x == kb || blockIdx.y == kb) return;
    __shared__ int col[BLK][BLK], row[BLK][BLK];
    int i = threadIdx.y, j = threadIdx.x;
    int gi = blockIdx.y * BLK + i, gj = blockIdx.x * BLK + j;
    col[i][j] = d[(size_t)gi * n + kb * BLK + j];
    row[i][j] = d[(size_t)(kb * BLK + i) * n + gj];
    int c = d[(size_t)gi * n + gj];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BLK; ++k) relax(c, col[i][k], row[k][j]);
    d[(size_t)gi * n + gj] = c;
}

// ---- triangles: block per vertex, own list in shared, binary search
#define MAXDEG 64
__device__ bool contains(const int *list, int n, int x)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int m = (lo + hi) >> 1;
        if (list[m] < x) lo = m + 1; else hi = m;
    }
    return lo < n && list[lo] == x;
}
__global__ void triangles(Csr g, int *tri)
{
    __shared__ int mine[MAXDEG];
    __shared__ int total;
    int v = blockIdx.x, b = g.off[v], deg = g.off[v + 1] - b;
    if (deg > MAXDEG) deg = MAXDEG;
    for (int t = threadIdx.x; t < deg; t += blockDim.x) mine[t] = g.adj[b + t];
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int c = 0;
    for (int t = threadIdx.x; t < deg; t += blockDim.x) {
        int u = mine[t];
        for (int e = g.off[u]; e < g.off[u + 1]; ++e)
            c += contains(mine, deg, g.adj[e]);
    }
    if (c) atomicAdd(&total, c);
    __syncthreads();
    if (threadIdx.x == 0) tri[v] = total;
}

// ---- connected components: warp per vertex, min label, reduction through shared memory
template <int WARPS>
__global__ void cc_minlabel(Csr g, const int *lab, int *out)
{
    __shared__ int red[WARPS][32];
    int w = threadIdx.x >> 5, lane = threadIdx.x & 31;
    int *r = red[w];
    for (int v = blockIdx.x * WARPS + w; v < g.nv; v += gridDim.x * WARPS) {
        int m = lab[v];
        for (int e = g.off[v] + lane; e < g.off[v + 1]; e += 32) m = min(m, lab[g.adj[e]]);
        r[lane] = m;
        __syncwarp();
        for (int s = 16; s > 0; s >>= 1) {
            if (lane < s) r[lane] = min(r[lane], r[lane + s]);
            __syncwarp();
        }
        if (lane == 0) out[v] = r[0];
        __syncwarp();
    }
}

int main()
{
    const int nv = 300000;
    std::vector<int> off(nv + 1), adj;
    unsigned s = 99;
    for (int v = 0; v < nv; ++v) {
        off[v] = (int)adj.size();
        int deg = 4 + (s >> 16) % 21;
        std::vector<int> l(deg);
        for (int &x : l) {
            s = s * 1664525u + 1013904223u;
            x = (s >> 8) % 3 ? (int)((v + (s >> 12) % 61) % nv) : (int)((s >> 4) % nv);
        }
        std::sort(l.begin(), l.end());
        l.erase(std::unique(l.begin(), l.end()), l.end());
        adj.insert(adj.end(), l.begin(), l.end());
    }
    off[nv] = (int)adj.size();
    int *doff, *dadj;
    cudaMalloc(&doff, (nv + 1) * sizeof(int));
    cudaMalloc(&dadj, adj.size() * sizeof(int));
    cudaMemcpy(doff, off.data(), (nv + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dadj, adj.data(), adj.size() * sizeof(int), cudaMemcpyHostToDevice);
    Csr g{nv, doff, dadj};
    {
        std::vector<int> l0(nv, -1);
        l0[5] = 0;
        int *a = mk<int>(nv), *b = mk<int>(nv), *f = mk<int>(1);
        cudaMemcpy(a, l0.data(), nv * 4, cudaMemcpyHostToDevice);
        for (int k = 0; k < 10; ++k) {
            bfs_pull<<<(nv + 255) / 256, 256>>>(g, a, b, k, f);
            std::swap(a, b);
        }
        show("bfs_pull", a, nv * 4);
        show("bfs_found", f, 4);
    }
    {
        double *r = mk<double>(nv), *i = mk<double>(nv), *o = mk<double>(nv);
        pagerank_pull<<<528, 256>>>(g, r, i, o, 0.85);
        show("pagerank_pull", o, nv * 8ull);
    }
    {
        const int n = 1536, nb = n / BLK;
        std::vector<int> h((size_t)n * n);
        for (size_t k = 0; k < h.size(); ++k) {
            s = s * 1664525u + 1013904223u;
            h[k] = k / n == k % n ? 0 : (s >> 24) < 40 ? 1 + (s >> 10) % 1000 : INF;
        }
        int *d = mk<int>((size_t)n * n);
        cudaMemcpy(d, h.data(), h.size() * 4, cudaMemcpyHostToDevice);
        for (int k = 0; k < 6; ++k) {
            fw_diag<<<1, dim3(BLK, BLK)>>>(d, n, k);
            if (k == 0) show("fw_diag", d, 4ull * n * n);
            fw_cross<<<dim3(nb, 2), dim3(BLK, BLK)>>>(d, n, k);
            if (k == 0) show("fw_cross", d, 4ull * n * n);
            fw_rest<<<dim3(nb, nb), dim3(BLK, BLK)>>>(d, n, k);
        }
        show("fw_rest", d, 4ull * n * n);
    }
    {
        int *t = mk<int>(nv);
        triangles<<<nv, 32>>>(g, t);
        show("triangles", t, nv * 4);
    }
    {
        std::vector<int> l(nv);
        for (int i = 0; i < nv; ++i) l[i] = (int)((i * 7919ull + 13) % nv);
        int *a = mk<int>(nv), *b = mk<int>(nv);
        cudaMemcpy(a, l.data(), nv * 4, cudaMemcpyHostToDevice);
        cc_minlabel<8><<<1056, 256>>>(g, a, b);
        show("cc_minlabel", b, nv * 4);
    }
    return 0;
}
