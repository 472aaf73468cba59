// Assorted kernels from applications; all stage something in shared memory.
#include <cmath>
#include <climits>
#include <cstdint>
#include "shown.h"

// -- image: local contrast equalization, one tile a block, integer histogram in shared memory
__global__ void tileEqualize(const unsigned char *in, unsigned char *out, int w, int h, int clip)
{
    __shared__ unsigned hist[256];
    __shared__ unsigned cdf[256];
    const int TS = 64;
    int tid = threadIdx.x;
    hist[tid] = 0;
    __syncthreads();
    int x0 = blockIdx.x * TS, y0 = blockIdx.y * TS;
    int tw = min(TS, w - x0), th = min(TS, h - y0);
    for (int p = tid; p < tw * th; p += 256) {
        int x = x0 + p % tw, y = y0 + p / tw;
        atomicAdd(&hist[(in[y * w + x] * 19 + (x & 7)) & 255], 1u);
    }
    __syncthreads();
    unsigned v = hist[tid];
    cdf[tid] = v > clip ? clip : v;
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
        unsigned add = tid >= d ? cdf[tid - d] : 0;
        __syncthreads();
        cdf[tid] += add;
        __syncthreads();
    }
    float scale = 255.f / cdf[255];
    for (int p = tid; p < tw * th; p += 256) {
        int x = x0 + p % tw, y = y0 + p / tw;
        out[y * w + x] = (unsigned char)(cdf[(in[y * w + x] * 19 + (x & 7)) & 255] * scale);
    }
}

// -- neural net: layer norm with the row kept in shared memory, then GELU
template <int THREADS>
struct RowReducer {
    float scratch[THREADS];
    __device__ float sum(float mine)
    {
        scratch[threadIdx.x] = mine;
        __syncthreads();
        for (int n = THREADS / 2; n; n >>= 1) {
            if (threadIdx.x < n) scratch[threadIdx.x] += scratch[threadIdx.x + n];
            __syncthreads();
        }
        float r = scratch[0];
        __syncthreads();
        return r;
    }
};
template <int THREADS>
__global__ void layerNormGelu(const float *x, const float *gamma, const float *beta, float *y, int dim, float eps)
{
    extern __shared__ float row[];
    __shared__ RowReducer<THREADS> red;
    const size_t base = (size_t)blockIdx.x * dim;
    float s = 0.f;
    for (int c = threadIdx.x; c < dim; c += THREADS) s += (row[c] = x[base + c]);
    const float mu = red.sum(s) / dim;
    s = 0.f;
    for (int c = threadIdx.x; c < dim; c += THREADS) {
        float d = row[c] - mu;
        s += d * d;
    }
    const float rstd = rsqrtf(red.sum(s) / dim + eps);
    for (int c = threadIdx.x; c < dim; c += THREADS) {
        float t = (row[c] - mu) * rstd * gamma[c] + beta[c] - 6.f;
        y[base + c] = 0.5f * t * (1.f + tanhf(0.7978846f * (t + 0.044715f * t * t * t)));
    }
}

// -- neural net: one query head against all keys, running softmax, keys and values staged by tiles
#define HD 32
__global__ void attendTile(const float *Q, const float *K, const float *V, float *O, int seq, float scale)
{
    __shared__ float ks[64][HD], vs[64][HD];
    const size_t head = (size_t)blockIdx.y * seq * HD;
    const int q = blockIdx.x * 64 + threadIdx.x;
    float qr[HD], acc[HD], m = -1e30f, l = 0.f;
    const int qq = q < seq ? q : seq - 1;
    for (int d = 0; d < HD; d++) {
        qr[d] = Q[head + (size_t)qq * HD + d] * scale;
        acc[d] = 0.f;
    }
    for (int t0 = 0; t0 < seq; t0 += 64) {
        const int have = seq - t0 < 64 ? seq - t0 : 64;
        for (int e = threadIdx.x; e < have * HD; e += 64) {
            ks[e / HD][e % HD] = K[head + (size_t)t0 * HD + e];
            vs[e / HD][e % HD] = V[head + (size_t)t0 * HD + e];
        }
        __syncthreads();
        for (int j = 0; j < have; j++) {
            float s = 0.f;
#pragma unroll
            for (int d = 0; d < HD; d++) s += qr[d] * ks[j][d];
            float mn = fmaxf(m, s), f = __expf(m - mn), p = __expf(s - mn);
            l = l * f + p;
#pragma unroll
            for (int d = 0; d < HD; d++) acc[d] = acc[d] * f + p * vs[j][d];
            m = mn;
        }
        __syncthreads();
    }
    if (q < seq)
        for (int d = 0; d < HD; d++) O[head + (size_t)q * HD + d] = acc[d] / l;
}

// -- sequences: Smith-Waterman with affine gaps; thread = query column, borders passed to the right through shared memory
struct SwCell { short h, e; };
template <int QLEN>
__global__ void smithWaterman(const char *query, const char *targets, const signed char *subst, int *score, int tlen)
{
    __shared__ SwCell wire[2][QLEN + 1];
    __shared__ signed char sub[16 * 16];
    __shared__ int bestOf[QLEN];
    const int c = threadIdx.x;
    for (int k = c; k < 256; k += QLEN) sub[k] = subst[k] % 7 - (k % 17 == 0 ? -5 : 4);
    const char *tg = targets + (size_t)blockIdx.x * tlen;
    const int qc = query[c] & 15;
    wire[0][c + 1] = wire[1][c + 1] = SwCell{0, -99};
    if (c == 0) wire[0][0] = wire[1][0] = SwCell{0, -99};
    __syncthreads();
    short hUp = 0, f = -99, hDiag = 0;
    int best = 0;
    for (int step = 0; step < tlen + QLEN - 1; ++step) {
        const int r = step - c;
        SwCell left = wire[(step + 1) & 1][c];          // written by the left neighbour one step ago
        SwCell out = {0, -99};
        if (r >= 0 && r < tlen) {
            short e = max(left.e - 1, left.h - 3);
            f = max(f - 1, hUp - 3);
            short s = hDiag + sub[(tg[r] & 15) * 16 + qc];
            short h = max(max((int)s, 0), max((int)e, (int)f));
            hDiag = left.h;
            hUp = h;
            best = max(best, (int)h);
            out.h = h;
            out.e = e;
        }
        wire[step & 1][c + 1] = out;
        __syncthreads();
    }
    bestOf[c] = best;
    __syncthreads();
    if (c < 32) {
        int b = 0;
        for (int k = c; k < QLEN; k += 32) b = max(b, bestOf[k]);
        score[blockIdx.x * 32 + c] = b;
    }
}

// -- physics: checkerboard Ising sweeps inside separate 32 x 32 lattices, counter-based random numbers
__device__ unsigned rnd(unsigned a, unsigned b, unsigned c)
{
    unsigned z = a * 0x9e3779b1u ^ b * 0x85ebca77u ^ c * 0xc2b2ae3du;
    z = (z ^ z >> 15) * 0x2c1b3c6du;
    z = (z ^ z >> 13) * 0x297a2d39u;
    return z ^ z >> 16;
}
__global__ void isingSweeps(int8_t *spins, int *magnet, const float beta, int sweeps)
{
    __shared__ int8_t s[32][32];
    __shared__ int rowSum[16];
    __shared__ unsigned thresh[5];
    const int tx = threadIdx.x, ty = threadIdx.y;           // 32 x 16, a thread has two rows
    int8_t *g = spins + blockIdx.x * 1024;
    if (ty == 0 && tx < 5) {
        float p = expf(-2.f * beta * (2 * tx - 4));
        thresh[tx] = p >= 1.f ? 0xffffffffu : (unsigned)(p * 4294967040.f);
    }
    s[ty][tx] = g[ty * 32 + tx] & 1 ? 1 : -1;
    s[ty + 16][tx] = g[(ty + 16) * 32 + tx] & 1 ? 1 : -1;
    __syncthreads();
    for (int it = 0; it < 2 * sweeps; ++it) {
        for (int half = 0; half < 2; ++half) {
            int y = ty + 16 * half;
            if (((tx + y + it) & 1) == 0) {
                int nb = s[y][(tx + 1) & 31] + s[y][(tx + 31) & 31] + s[(y + 1) & 31][tx] + s[(y + 31) & 31][tx];
                int de = s[y][tx] * nb;                      // -4, -2, 0, 2, 4
                if (rnd(blockIdx.x * 1024 + y * 32 + tx, it, 77u) <= thresh[(de + 4) / 2]) s[y][tx] = -s[y][tx];
            }
        }
        __syncthreads();
    }
    g[ty * 32 + tx] = s[ty][tx];
    g[(ty + 16) * 32 + tx] = s[ty + 16][tx];
    if (tx == 0) {
        int m = 0;
        for (int k = 0; k < 32; ++k) m += s[ty][k] + s[ty + 16][k];
        rowSum[ty] = m;
    }
    __syncthreads();
    if (tx == 0 && ty == 0) {
        int m = 0;
        for (int k = 0; k < 16; ++k) m += rowSum[k];
        magnet[blockIdx.x] = m;
    }
}

// -- database: GROUP BY key with COUNT, SUM, MIN, MAX; partial tables in shared memory, flushed to the block's own slice
#define GROUPS 128
struct Agg { unsigned cnt; int sum, mn, mx; };
__global__ void groupBy(const int *key, const short *amount, Agg *partial, long nrows, int filter)
{
    __shared__ unsigned cnt[GROUPS];
    __shared__ int sum[GROUPS], mn[GROUPS], mx[GROUPS];
    for (int g = threadIdx.x; g < GROUPS; g += blockDim.x) {
        cnt[g] = 0u;
        sum[g] = 0;
        mn[g] = INT_MAX;
        mx[g] = INT_MIN;
    }
    __syncthreads();
    for (long r = (long)blockIdx.x * blockDim.x + threadIdx.x; r < nrows; r += (long)gridDim.x * blockDim.x) {
        int a = amount[r] * 10 + (int)(r % 7);
        if (a < filter) continue;
        int g = (key[r] * 11 + (int)(r & 15)) & (GROUPS - 1);
        atomicAdd(cnt + g, 1u);
        atomicAdd(sum + g, a);
        atomicMin(mn + g, a);
        atomicMax(mx + g, a);
    }
    __syncthreads();
    for (int g = threadIdx.x; g < GROUPS; g += blockDim.x)
        partial[(size_t)blockIdx.x * GROUPS + g] = Agg{cnt[g], sum[g], mn[g], mx[g]};
}

// -- database: sorted-merge join counts: build side tile in shared memory, binary search by every probe row
__global__ void probeSorted(const unsigned *build, const unsigned *probe, unsigned *matches, unsigned *firstPos, int nbuildPerPart, int nprobePerPart)
{
    extern __shared__ unsigned sb[];
    const unsigned *b = build + (size_t)blockIdx.x * nbuildPerPart;
    unsigned run = threadIdx.x * 0u;
    for (int k = threadIdx.x; k < nbuildPerPart; k += blockDim.x) sb[k] = k * 3u + (b[k] & 1u) + run;   // ascending
    __syncthreads();
    for (int k = threadIdx.x; k < nprobePerPart; k += blockDim.x) {
        size_t row = (size_t)blockIdx.x * nprobePerPart + k;
        unsigned want = (probe[row] * 2654435761u + k * 40503u) % (3u * nbuildPerPart + 5u);
        int lo = 0, hi = nbuildPerPart;
        while (lo < hi) {
            int mid = (lo + hi) >> 1;
            if (sb[mid] < want) lo = mid + 1;
            else hi = mid;
        }
        matches[row] = lo < nbuildPerPart && sb[lo] == want;
        firstPos[row] = lo;
    }
}

// -- sequences: minimizers: hash of every k-mer of a tile, then the lowest hash in windows of W
template <unsigned KMER, unsigned WIN, unsigned NT>
__global__ void minimizers(const uint8_t *__restrict__ bases, uint2 *__restrict__ picked, unsigned nwin)
{
    __shared__ uint8_t code[NT + WIN + KMER];
    __shared__ uint32_t hash[NT + WIN];
    const unsigned start = blockIdx.x * NT, tid = threadIdx.x;
    const unsigned total = nwin + WIN + KMER - 2;                     // number of bases
    for (unsigned i = tid; i < NT + WIN + KMER; i += NT)
        code[i] = start + i < total ? (bases[start + i] * 5 + (start + i) / 13) & 3 : 0;
    __syncthreads();
    for (unsigned i = tid; i < NT + WIN; i += NT) {
        uint32_t fwd = 0, rev = 0;
#pragma unroll
        for (unsigned k = 0; k < KMER; ++k) {
            fwd = fwd << 2 | code[i + k];
            rev |= (3u - code[i + k]) << (2 * k);
        }
        uint32_t h = fwd < rev ? fwd : rev;
        h = (h ^ h >> 9) * 0x9e3779b1u;
        hash[i] = h ^ h >> 14;
    }
    __syncthreads();
    if (start + tid >= nwin) return;
    uint32_t lowest = ~0u, where = 0;
    for (unsigned k = 0; k < WIN; ++k)
        if (hash[tid + k] < lowest) { lowest = hash[tid + k]; where = start + tid + k; }
    picked[start + tid] = make_uint2(lowest, where);
}

int main(int argc, char **argv)
{
    {
        int w = 6001, h = 5003;
        unsigned char *a = mk<unsigned char>((size_t)w * h), *b = mk<unsigned char>((size_t)w * h);
        tileEqualize<<<dim3((w + 63) / 64, (h + 63) / 64), 256>>>(a, b, w, h, 300);
        show("tileEqualize", b, (size_t)w * h);
        cudaFree(a); cudaFree(b);
    }
    {
        int dim = 1111, rows = 16000;
        float *x = mk<float>((size_t)dim * rows), *g = mk<float>(dim), *b = mk<float>(dim), *y = mk<float>((size_t)dim * rows);
        layerNormGelu<128><<<rows, 128, dim * sizeof(float)>>>(x, g, b, y, dim, 1e-5f);
        show("layerNormGelu", y, (size_t)dim * rows * 4);
        cudaFree(x); cudaFree(g); cudaFree(b); cudaFree(y);
    }
    {
        int seq = 700, heads = 160;
        size_t n = (size_t)seq * heads * HD;
        float *q = mk<float>(n), *k = mk<float>(n), *v = mk<float>(n), *o = mk<float>(n);
        attendTile<<<dim3((seq + 63) / 64, heads), 64>>>(q, k, v, o, seq, 0.02f);
        show("attendTile", o, n * 4);
        cudaFree(q); cudaFree(k); cudaFree(v); cudaFree(o);
    }
    {
        int tlen = 333, nt = 8000;
        char *q = mk<char>(128), *t = mk<char>((size_t)nt * tlen);
        signed char *s = mk<signed char>(256);
        int *sc = mk<int>(nt * 32);
        smithWaterman<128><<<nt, 128>>>(q, t, s, sc, tlen);
        show("smithWaterman", sc, nt * 128);
        cudaFree(q); cudaFree(t); cudaFree(s); cudaFree(sc);
    }
    {
        int n = 6000;
        int8_t *s = mk<int8_t>(n * 1024);
        int *m = mk<int>(n);
        isingSweeps<<<n, dim3(32, 16)>>>(s, m, 0.42f, 20);
        show("isingSweeps", s, n * 1024);
        show("isingSweeps", m, n * 4);
        cudaFree(s); cudaFree(m);
    }
    {
        long n = 30000005;
        int *k = mk<int>(n);
        short *a = mk<short>(n);
        int nb = 528;
        Agg *p = (Agg *)mk<int>((size_t)nb * GROUPS * 4);
        groupBy<<<nb, 512>>>(k, a, p, n, 15);
        show("groupBy", p, (size_t)nb * GROUPS * sizeof(Agg));
        cudaFree(k); cudaFree(a); cudaFree(p);
    }
    {
        int parts = 3000, nbp = 2500, npp = 4001;
        unsigned *b = mk<unsigned>((size_t)parts * nbp), *p = mk<unsigned>((size_t)parts * npp);
        unsigned *m = mk<unsigned>((size_t)parts * npp), *f = mk<unsigned>((size_t)parts * npp);
        probeSorted<<<parts, 384, nbp * sizeof(unsigned)>>>(b, p, m, f, nbp, npp);
        show("probeSorted", m, (size_t)parts * npp * 4);
        show("probeSorted", f, (size_t)parts * npp * 4);
        cudaFree(b); cudaFree(p); cudaFree(m); cudaFree(f);
    }
    {
        unsigned nwin = 20000003;
        uint8_t *b = mk<uint8_t>(nwin + 64);
        uint2 *p = (uint2 *)mk<uint32_t>(2ull * nwin);
        minimizers<15, 10, 256><<<(nwin + 255) / 256, 256>>>(b, p, nwin);
        show("minimizers", p, 8ull * nwin);
        cudaFree(b); cudaFree(p);
    }
    return 0;
}
