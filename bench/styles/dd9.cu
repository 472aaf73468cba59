// Databases, graphs, geometry, features of computer vision.
#include <cmath>
#include <cfloat>
#include <cstdint>
#include <cooperative_groups.h>
#include "shown.h"

namespace cg = cooperative_groups;

static uint32_t h32(uint32_t x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ (x >> 16); }

template <class T, class F> static T *upload(size_t n, F f) {
    T *h = (T *)malloc(n * sizeof(T)), *d;
    for (size_t i = 0; i < n; i++) h[i] = f(i);
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

//////////////// 1. histogram, a copy for each warp, folded at the end ////////////////
template <typename Bin, int WARPS, int BINS>
__global__ void histogramWarps(const uint32_t *__restrict__ data, size_t nwords, unsigned long long *__restrict__ out)
{
    __shared__ Bin h[WARPS][BINS];
    Bin *mine = h[threadIdx.x / 32];
    for (int i = threadIdx.x; i < WARPS * BINS; i += WARPS * 32) (&h[0][0])[i] = 0;
    __syncthreads();
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < nwords; i += step) {
        uint32_t w = data[i];
        for (int b = 0; b < 4; b++, w >>= 8) atomicAdd(mine + (w & 0xffu) % BINS, (Bin)1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        Bin s = 0;
#pragma unroll
        for (int k = 0; k < WARPS; k++) s += h[k][b];
        if (s) atomicAdd(&out[b], (unsigned long long)s);
    }
}

//////////////// 2. hash join: build side of a partition in shared memory, linear probing ////////////////
#define EMPTY_KEY 0xffffffffu
#define JOIN_SLOTS 2048

__device__ __forceinline__ unsigned slotOf(unsigned key) { return (key * 2654435769u) >> (32 - 11); }

__global__ void hashJoin(const uint2 *build, const int *bofs, const uint2 *probe, const int *pofs, unsigned *joined, unsigned *matches)
{
    __shared__ unsigned keys[JOIN_SLOTS];
    __shared__ unsigned vals[JOIN_SLOTS];
    __shared__ unsigned found;
    if (threadIdx.x == 0) found = 0;
    for (unsigned i = threadIdx.x; i < JOIN_SLOTS; i += blockDim.x) keys[i] = EMPTY_KEY;
    __syncthreads();
    const int part = blockIdx.x;
    for (int i = bofs[part] + threadIdx.x; i < bofs[part + 1]; i += blockDim.x) {
        uint2 kv = build[i];                                  // unique keys
        unsigned s = slotOf(kv.x);
        while (atomicCAS(&keys[s], EMPTY_KEY, kv.x) != EMPTY_KEY) s = (s + 1) & (JOIN_SLOTS - 1);
        vals[s] = kv.y;
    }
    __syncthreads();
    unsigned hits = 0;
    for (int i = pofs[part] + threadIdx.x; i < pofs[part + 1]; i += blockDim.x) {
        uint2 kv = probe[i];
        unsigned s = slotOf(kv.x), r = 0;
        for (unsigned k; (k = keys[s]) != EMPTY_KEY; s = (s + 1) & (JOIN_SLOTS - 1))
            if (k == kv.x) { r = vals[s] + kv.y; hits++; break; }
        joined[i] = r;
    }
    atomicAdd(&found, hits);
    __syncthreads();
    if (threadIdx.x == 0) matches[part] = found;
}

//////////////// 3. k nearest neighbours, reference tile in shared, candidates in a private heap ////////////////
template <int K>
struct MaxHeap {
    float d[K];
    int id[K];
    __device__ void init() { for (int i = 0; i < K; i++) { d[i] = FLT_MAX; id[i] = -1; } }
    __device__ void replaceTop(float v, int who) {
        int p = 0;
        for (;;) {
            int c = 2 * p + 1;
            if (c >= K) break;
            if (c + 1 < K && d[c + 1] > d[c]) c++;
            if (d[c] <= v) break;
            d[p] = d[c];
            id[p] = id[c];
            p = c;
        }
        d[p] = v;
        id[p] = who;
    }
};

template <int K, int TILE>
__global__ void knnHeap(const float *__restrict__ ref, const float *__restrict__ qry, int *__restrict__ ids, float *__restrict__ dist, int nref, int nq)
{
    __shared__ float rx[TILE], ry[TILE], rz[TILE];
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    float x = 0, y = 0, z = 0;
    if (q < nq) { x = qry[q]; y = qry[nq + q]; z = qry[2 * nq + q]; }
    MaxHeap<K> heap;
    heap.init();
    for (int t = 0; t < nref; t += TILE) {
        for (int i = threadIdx.x; i < TILE && t + i < nref; i += blockDim.x) {
            rx[i] = ref[t + i];
            ry[i] = ref[nref + t + i];
            rz[i] = ref[2 * nref + t + i];
        }
        __syncthreads();
        const int m = min(TILE, nref - t);
        for (int i = 0; i < m; i++) {
            float dx = rx[i] - x, dy = ry[i] - y, dz = rz[i] - z;
            float d = dx * dx + dy * dy + dz * dz;
            if (d < heap.d[0]) heap.replaceTop(d, t + i);
        }
        __syncthreads();
    }
    if (q < nq)
        for (int k = 0; k < K; k++) { ids[(size_t)k * nq + q] = heap.id[k]; dist[(size_t)k * nq + q] = heap.d[k]; }
}

//////////////// 4. triangles: adjacency of a vertex in shared memory, a thread group binary-searches it //////////////
__global__ void trianglesVertex(const int *rowPtr, const int *adj, unsigned *tri, int nv, int cap)
{
    extern __shared__ int list[];
    __shared__ unsigned total;
    cg::thread_block blk = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(blk);
    for (int v = blockIdx.x; v < nv; v += gridDim.x) {
        const int b = rowPtr[v], deg = min(rowPtr[v + 1] - b, cap);
        if (blk.thread_rank() == 0) total = 0;
        for (int i = blk.thread_rank(); i < deg; i += blk.size()) list[i] = adj[b + i];
        blk.sync();
        unsigned mine = 0;
        for (int e = tile.meta_group_rank(); e < deg; e += tile.meta_group_size()) {
            const int u = list[e];
            for (int k = rowPtr[u] + tile.thread_rank(); k < rowPtr[u + 1]; k += tile.size()) {
                const int w = adj[k];
                int lo = 0, hi = deg;
                while (lo < hi) {
                    int mid = (lo + hi) >> 1;
                    if (list[mid] < w) lo = mid + 1; else hi = mid;
                }
                mine += lo < deg && list[lo] == w;
            }
        }
        for (int o = tile.size() / 2; o > 0; o /= 2) mine += tile.shfl_down(mine, o);
        if (tile.thread_rank() == 0 && mine) atomicAdd(&total, mine);
        blk.sync();
        if (blk.thread_rank() == 0) tri[v] = total;
        blk.sync();
    }
}

//////////////// 5. Hough transform: block is an angle, votes along rho in shared memory ////////////////
__global__ void houghLines(const short2 *edge, int nedge, unsigned *acc, int nrho, int nang)
{
    extern __shared__ unsigned votes[];
    const int ang = blockIdx.x;
    for (int r = threadIdx.x; r < nrho; r += blockDim.x) votes[r] = 0;
    __syncthreads();
    float sn, cs;
    sincospif((float)ang / nang, &sn, &cs);
    const int fs = __float2int_rn(sn * 4096.f), fc = __float2int_rn(cs * 4096.f);
    for (int e = threadIdx.x; e < nedge; e += blockDim.x) {
        short2 p = edge[e];
        int rho = ((p.x * fc + p.y * fs + 2048) >> 12) + nrho / 2;
        if ((unsigned)rho < (unsigned)nrho) atomicAdd(votes + rho, 1u);
    }
    __syncthreads();
    for (int r = threadIdx.x; r < nrho; r += blockDim.x) {
        unsigned v = votes[r];
        bool peak = v > 2 && v >= (r ? votes[r - 1] : 0u) && v > (r + 1 < nrho ? votes[r + 1] : 0u);
        acc[(size_t)ang * nrho + r] = v | (peak ? 0x80000000u : 0u);
    }
}

//////////////// 6. HOG: 8x8 cells, private orientation bins of a thread, summed over the cell in a fixed order //////
#define NBIN 9
__global__ void hogCells(const unsigned char *img, float *desc, int w, int h, int cellsX, int cellsY)
{
    __shared__ float part[8][8][NBIN];        // [cell][row of the cell][bin]
    __shared__ float norm[8];
    const int row = threadIdx.x, cell = threadIdx.y;
    const int cx = blockIdx.x * 8 + cell, cy = blockIdx.y;
    float bins[NBIN];
    for (int i = 0; i < NBIN; i++) bins[i] = 0.f;
    if (cx < cellsX) {
        const int y = cy * 8 + row;
        const unsigned char *up = img + (size_t)max(y - 1, 0) * w, *mid = img + (size_t)y * w, *dn = img + (size_t)min(y + 1, h - 1) * w;
        for (int i = 0; i < 8; i++) {
            int x = cx * 8 + i;
            float gx = (float)mid[min(x + 1, w - 1)] - (float)mid[max(x - 1, 0)];
            float gy = (float)dn[x] - (float)up[x];
            float mag = sqrtf(gx * gx + gy * gy);
            float a = atan2f(gy, gx) * (NBIN / 3.14159265f);
            if (a < 0.f) a += NBIN;
            int b0 = (int)a;
            float f = a - b0;
            b0 %= NBIN;
            int b1 = b0 + 1 == NBIN ? 0 : b0 + 1;
            bins[b0] += mag * (1.f - f);
            bins[b1] += mag * f;
        }
    }
    for (int i = 0; i < NBIN; i++) part[cell][row][i] = bins[i];
    __syncthreads();
    for (int b = row; b < NBIN; b += 8) {
        float s = 0.f;
        for (int r = 0; r < 8; r++) s += part[cell][r][b];
        part[cell][0][b] = s;                 // column b belongs to this thread alone
    }
    __syncthreads();
    if (row == 0) {
        float s = 1e-3f;
        for (int b = 0; b < NBIN; b++) s += part[cell][0][b] * part[cell][0][b];
        norm[cell] = rsqrtf(s);
    }
    __syncthreads();
    if (cx < cellsX)
        for (int b = row; b < NBIN; b += 8)
            desc[((size_t)cy * cellsX + cx) * NBIN + b] = fminf(part[cell][0][b] * norm[cell], 0.6f);
}

//////////////// 7. GROUP BY with count, sum, min, max in a shared table of structs ////////////////
struct Agg { unsigned count; int minv, maxv; unsigned reserved; unsigned long long sum; };

__global__ void groupBy(const unsigned char *group, const int *value, const unsigned char *filter, size_t n, Agg *result, int ngroups)
{
    extern __shared__ __align__(8) char raw[];
    Agg *agg = (Agg *)raw;
    for (int g = threadIdx.x; g < ngroups; g += blockDim.x) { agg[g].count = 0; agg[g].minv = INT32_MAX; agg[g].maxv = INT32_MIN; agg[g].reserved = 0; agg[g].sum = 0; }
    __syncthreads();
    const size_t per = (n + gridDim.x - 1) / gridDim.x;
    size_t e = (blockIdx.x + 1) * per;
    if (e > n) e = n;
    for (size_t i = blockIdx.x * per + threadIdx.x; i < e; i += blockDim.x) {
        if (filter[i] < 3) continue;
        Agg &a = agg[group[i] % ngroups];
        int v = value[i];
        atomicAdd(&a.count, 1u);
        atomicAdd(&a.sum, (unsigned long long)(long long)v);
        atomicMin(&a.minv, v);
        atomicMax(&a.maxv, v);
    }
    __syncthreads();
    for (int g = threadIdx.x; g < ngroups; g += blockDim.x) {
        if (agg[g].count == 0) continue;
        atomicAdd(&result[g].count, agg[g].count);
        atomicAdd(&result[g].sum, agg[g].sum);
        atomicMin(&result[g].minv, agg[g].minv);
        atomicMax(&result[g].maxv, agg[g].maxv);
    }
}

//////////////// 8. binary descriptors: Hamming distance, best and second best over train tiles ////////////////
template <int WORDS, int QX = 16, int TY = 16>
__global__ void briefMatch(const uint4 *query, const uint4 *train, int *bestIdx, unsigned short *bestDist, unsigned short *secondDist, int nq, int nt)
{
    __shared__ uint4 tr[TY * 2][WORDS];
    __shared__ unsigned b1[TY][QX];
    __shared__ unsigned short b2[TY][QX];
    const int q = blockIdx.x * QX + threadIdx.x;
    uint4 mine[WORDS];
#pragma unroll
    for (int w = 0; w < WORDS; w++) mine[w] = query[(size_t)min(q, nq - 1) * WORDS + w];
    unsigned best = 0xffffffffu;              // distance << 20 | index
    unsigned second = 4095;
    for (int t0 = 0; t0 < nt; t0 += 2 * TY) {
        for (int i = threadIdx.y * QX + threadIdx.x; i < 2 * TY * WORDS; i += QX * TY)
            if (t0 + i / WORDS < nt) tr[i / WORDS][i % WORDS] = train[(size_t)t0 * WORDS + i];
        __syncthreads();
        for (int k = threadIdx.y; k < 2 * TY && t0 + k < nt; k += TY) {
            unsigned d = 0;
#pragma unroll
            for (int w = 0; w < WORDS; w++) {
                uint4 o = tr[k][w];
                d += __popc(o.x ^ mine[w].x) + __popc(o.y ^ mine[w].y) + __popc(o.z ^ mine[w].z) + __popc(o.w ^ mine[w].w);
            }
            unsigned code = d << 20 | (unsigned)(t0 + k);
            if (code < best) { second = min(second, best >> 20); best = code; }
            else second = min(second, d);
        }
        __syncthreads();
    }
    b1[threadIdx.y][threadIdx.x] = best;
    b2[threadIdx.y][threadIdx.x] = (unsigned short)second;
    __syncthreads();
    if (threadIdx.y == 0 && q < nq) {
        for (int k = 1; k < TY; k++) {
            unsigned c = b1[k][threadIdx.x], s = b2[k][threadIdx.x];
            if (c < best) { second = min(min(second, best >> 20), s); best = c; }
            else second = min(min(second, c >> 20), s);
        }
        bestIdx[q] = (int)(best & 0xfffffu);
        bestDist[q] = (unsigned short)(best >> 20);
        secondDist[q] = (unsigned short)second;
    }
}

int main()
{
    {
        size_t n = 5000003;
        uint32_t *d = upload<uint32_t>(n, [](size_t i) { return h32((uint32_t)i) & h32((uint32_t)i + 9); });
        unsigned long long *o = mk<unsigned long long>(200);
        histogramWarps<unsigned, 8, 200><<<600, 256>>>(d, n, o);
        show("histogramWarps", o, 1600);
        cudaFree(d);
    }
    {
        int parts = 1000;
        int *bo = (int *)malloc((parts + 1) * 4), *po = (int *)malloc((parts + 1) * 4);
        bo[0] = po[0] = 0;
        for (int i = 0; i < parts; i++) { bo[i + 1] = bo[i] + 900 + i % 501; po[i + 1] = po[i] + 4000 + (i * 7) % 999; }
        uint2 *b = upload<uint2>(bo[parts], [](size_t i) { return make_uint2((uint32_t)i * 2654435761u & 0x7fffffffu, (uint32_t)i ^ 0x55u); });
        int np = po[parts], nb = bo[parts];
        uint2 *p = upload<uint2>(np, [=](size_t i) { return make_uint2((uint32_t)((i * (unsigned long long)nb / np) + h32((uint32_t)i) % 700) * 2654435761u & 0x7fffffffu, (uint32_t)i); });
        int *dbo = upload<int>(parts + 1, [=](size_t i) { return bo[i]; }), *dpo = upload<int>(parts + 1, [=](size_t i) { return po[i]; });
        unsigned *j = mk<unsigned>(np), *m = mk<unsigned>(parts);
        hashJoin<<<parts, 256>>>(b, dbo, p, dpo, j, m);
        show("hashJoin", j, (size_t)np * 4);
        show("hashJoin", m, parts * 4);
        cudaFree(b); cudaFree(p); cudaFree(j);
    }
    {
        int nr = 3001, nq = 30011; const int K = 10;
        float *r = upload<float>(3 * (size_t)nr, [](size_t i) { return (h32((uint32_t)i) >> 8) / 16777216.f; });
        float *q = upload<float>(3 * (size_t)nq, [](size_t i) { return (h32((uint32_t)i + 77777) >> 8) / 16777216.f; });
        int *id = mk<int>((size_t)K * nq); float *d = mk<float>((size_t)K * nq);
        knnHeap<K, 192><<<(nq + 127) / 128, 128>>>(r, q, id, d, nr, nq);
        show("knnHeap", id, (size_t)K * nq * 4);
        show("knnHeap", d, (size_t)K * nq * 4);
    }
    {
        int nv = 60001, *rp = (int *)malloc((nv + 1) * 4);
        rp[0] = 0;
        for (int v = 0; v < nv; v++) rp[v + 1] = rp[v] + (v % 1000 == 0 ? 300 : 5 + (int)(h32(v) % 30));
        int ne = rp[nv], *ad = (int *)malloc((size_t)ne * 4);
        for (int v = 0; v < nv; v++) {                       // strictly increasing neighbours
            int deg = rp[v + 1] - rp[v], at = (v / 64) * 64;
            at = at > nv - 3000 ? nv - 3000 : at;
            for (int k = 0; k < deg; k++) { at += 1 + (int)(h32(v * 331 + k) % 4); ad[rp[v] + k] = at; }
        }
        int *drp = upload<int>(nv + 1, [=](size_t i) { return rp[i]; }), *dad = upload<int>(ne, [=](size_t i) { return ad[i]; });
        unsigned *t = mk<unsigned>(nv);
        trianglesVertex<<<8000, 96, 304 * 4>>>(drp, dad, t, nv, 304);
        show("trianglesVertex", t, (size_t)nv * 4);
    }
    {
        int ne = 40001, nrho = 3001, na = 181;
        short2 *e = upload<short2>(ne, [](size_t i) { uint32_t h = h32((uint32_t)i); return make_short2((short)(h % 1900), (short)(i % 3 ? (h >> 16) % 1080 : (h % 1900) / 2)); });
        unsigned *a = mk<unsigned>((size_t)nrho * na);
        houghLines<<<na, 320, nrho * 4>>>(e, ne, a, nrho, na);
        show("houghLines", a, (size_t)nrho * na * 4);
    }
    {
        int cx = 353, cy = 261, w = cx * 8 + 3, h = cy * 8 + 5;
        unsigned char *im = upload<unsigned char>((size_t)w * h, [](size_t i) { return (unsigned char)((i * 3 >> 4) + (h32((uint32_t)i) & 31)); });
        float *d = mk<float>((size_t)cx * cy * NBIN);
        hogCells<<<dim3((cx + 7) / 8, cy), dim3(8, 8)>>>(im, d, w, h, cx, cy);
        show("hogCells", d, (size_t)cx * cy * NBIN * 4);
        cudaFree(im);
    }
    {
        size_t n = 8000009; int ng = 97;
        unsigned char *g = upload<unsigned char>(n, [](size_t i) { return (unsigned char)(h32((uint32_t)i) >> 24); }), *f = mk<unsigned char>(n);
        int *v = upload<int>(n, [](size_t i) { return (int)h32((uint32_t)i + 5) / 16; });
        Agg *r = upload<Agg>(ng, [](size_t) { Agg a; memset(&a, 0, sizeof a); a.minv = INT32_MAX; a.maxv = INT32_MIN; return a; });
        groupBy<<<700, 256, ng * sizeof(Agg)>>>(g, v, f, n, r, ng);
        show("groupBy", r, ng * sizeof(Agg));
        cudaFree(g); cudaFree(f); cudaFree(v);
    }
    {
        int nq = 5003, nt = 4001; const int W = 2;
        uint4 *q = (uint4 *)upload<uint32_t>((size_t)nq * W * 4, [](size_t i) { return h32((uint32_t)i); });
        uint4 *t = (uint4 *)upload<uint32_t>((size_t)nt * W * 4, [](size_t i) { return h32((uint32_t)i * 3) ^ (h32((uint32_t)i) & h32((uint32_t)i + 1)); });
        int *bi = mk<int>(nq); unsigned short *bd = mk<unsigned short>(nq), *sd = mk<unsigned short>(nq);
        briefMatch<W><<<(nq + 15) / 16, dim3(16, 16)>>>(q, t, bi, bd, sd, nq, nt);
        show("briefMatch", bi, nq * 4);
        show("briefMatch", bd, nq * 2);
        show("briefMatch", sd, nq * 2);
    }
    return 0;
}
