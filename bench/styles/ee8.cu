// Threads with small private arrays of their own.
#include <cmath>
#include <cstdint>
#include "shown.h"

/* one histogram a thread, then written column-wise */
#define BINS 24
__global__ void private_hist(const unsigned char *data, unsigned short *hist, int per_thread, int nthreads)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= nthreads) return;
    unsigned short h[BINS];
    for (int b = 0; b < BINS; b++) h[b] = 0;
    for (int k = 0; k < per_thread; k++) {
        unsigned char v = data[(size_t)k * nthreads + t];
        h[(v * 3 + k) % BINS]++;
    }
    for (int b = 0; b < BINS; b++) hist[(size_t)b * nthreads + t] = h[b];
}

/* adaptive Simpson with an explicit stack of intervals */
struct Interval { float a, b, fa, fm, fb; int depth; };
template <class F> __device__ float adaptiveSimpson(F f, float a, float b, float tol)
{
    Interval stack[16];
    int top = 0;
    stack[top++] = Interval{a, b, f(a), f(0.5f * (a + b)), f(b), 0};
    float sum = 0.f;
    while (top > 0) {
        Interval it = stack[--top];
        float m = 0.5f * (it.a + it.b), h = it.b - it.a;
        float fl = f(0.5f * (it.a + m)), fr = f(0.5f * (m + it.b));
        float whole = h / 6.f * (it.fa + 4.f * it.fm + it.fb);
        float split = h / 12.f * (it.fa + 4.f * fl + 2.f * it.fm + 4.f * fr + it.fb);
        if (it.depth >= 9 || fabsf(split - whole) < 15.f * tol * h) {
            sum += split + (split - whole) / 15.f;
        } else {
            stack[top++] = Interval{it.a, m, it.fa, fl, it.fm, it.depth + 1};
            stack[top++] = Interval{m, it.b, it.fm, fr, it.fb, it.depth + 1};
        }
    }
    return sum;
}
__global__ void quadrature(const float *freq, const float *damp, float *area, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float w = freq[i] + 0.5f, d = 0.1f + damp[i] * 0.1f;
        area[i] = adaptiveSimpson([=](float x) { return __sinf(w * x) * __expf(-d * x) + 1.f / (0.02f + x * x); }, 0.f, 3.f, 1e-4f);
    }
}

/* Romberg table, two rows swapped */
template <typename Real, int LEVELS>
__global__ void romberg(const Real *__restrict__ p, Real *__restrict__ res, unsigned n)
{
    const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n) return;
    const Real k = p[id];
    Real r0[LEVELS], r1[LEVELS];
    Real *prev = r0, *cur = r1;
    Real h = 2;
    auto f = [k](Real x) { return x * x * x / (k + Real(1) + x) + sqrt(x + k); };
    prev[0] = (f(0) + f(h)) * h / 2;
    int best = 0;
    for (int i = 1; i < LEVELS; ++i) {
        h /= 2;
        Real c = 0;
        for (int j = 1; j <= (1 << (i - 1)); ++j) c += f((2 * j - 1) * h);
        cur[0] = h * c + prev[0] / 2;
        Real pw = 1;
        for (int j = 1; j <= i; ++j) {
            pw *= 4;
            cur[j] = (pw * cur[j - 1] - prev[j - 1]) / (pw - 1);
        }
        best = i;
        bool done = i > 1 && fabs(prev[i - 1] - cur[i]) < Real(1e-9);
        Real *sw = prev; prev = cur; cur = sw;
        if (done) break;
    }
    res[id] = prev[best];
}

/* percentile of a sliding window kept sorted: remove the oldest, insert the newest */
#define PW 21
__global__ void sliding_percentile(const float *x, float *y, int len, int series, int rank)
{
    int s = threadIdx.x + blockIdx.x * blockDim.x;
    if (s >= series) return;
    float sorted[PW], ring[PW];
    int oldest = 0, i, j;
    for (i = 0; i < PW; i++) {
        float v = x[(size_t)i * series + s] + i * 0.125f;
        ring[i] = v;
        j = i - 1;
        while (j >= 0 && sorted[j] > v) {
            sorted[j + 1] = sorted[j];
            j--;
        }
        sorted[j + 1] = v;
    }
    y[s] = sorted[rank];
    for (i = PW; i < len; i++) {
        float in = x[(size_t)i * series + s] + (i % 29) * 0.125f, out = ring[oldest];
        ring[oldest] = in;
        oldest = oldest + 1 == PW ? 0 : oldest + 1;
        for (j = 0; j < PW - 1 && sorted[j] != out; j++) ;
        for (; j < PW - 1 && sorted[j + 1] < in; j++) sorted[j] = sorted[j + 1];
        for (; j > 0 && sorted[j - 1] > in; j--) sorted[j] = sorted[j - 1];
        sorted[j] = in;
        y[(size_t)(i - PW + 1) * series + s] = sorted[rank];
    }
}

/* zigzag + dequantization + row pass of an 8 x 8 inverse cosine transform, tables local and constant */
__global__ void dequantZigzag(const short *coef, float *pix, int nblocks, float quality)
{
    const int zz[64] = {0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
                        35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
    const float cs[8] = {0.5f, 0.4903926f, 0.4619398f, 0.4157348f, 0.3535534f, 0.2777851f, 0.1913417f, 0.0975452f};
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= nblocks) return;
    float m[64];
    for (int k = 0; k < 64; k++) {
        short c = coef[(size_t)k * nblocks + b];
        m[zz[k]] = c * (1.f + (zz[k] / 8 + zz[k] % 8) * quality);
    }
    for (int r = 0; r < 8; r++) {
        float o[8];
        for (int x = 0; x < 8; x++) {
            float s = m[r * 8] * 0.3535534f;
            for (int u = 1; u < 8; u++) {
                int ph = (2 * x + 1) * u % 32;            // cos(ph pi / 16)
                if (ph > 16) ph = 32 - ph;
                s += m[r * 8 + u] * (ph == 8 ? 0.f : ph < 8 ? cs[ph] : -cs[16 - ph]);
            }
            o[x] = s;
        }
        for (int x = 0; x < 8; x++) pix[((size_t)r * 8 + x) * nblocks + b] = o[x];
    }
}

/* K smallest with a max-heap in a private array */
template <int K>
class SmallHeap {
    float key[K];
    int val[K];
    int size = 0;
public:
    __device__ void push(float k, int v) {
        if (size < K) {
            int c = size++;
            while (c && key[(c - 1) >> 1] < k) {
                key[c] = key[(c - 1) >> 1];
                val[c] = val[(c - 1) >> 1];
                c = (c - 1) >> 1;
            }
            key[c] = k;
            val[c] = v;
        } else if (k < key[0]) {
            int c = 0;
            for (;;) {
                int ch = 2 * c + 1;
                if (ch >= K) break;
                if (ch + 1 < K && key[ch + 1] > key[ch]) ++ch;
                if (key[ch] <= k) break;
                key[c] = key[ch];
                val[c] = val[ch];
                c = ch;
            }
            key[c] = k;
            val[c] = v;
        }
    }
    __device__ float keyAt(int i) const { return key[i]; }
    __device__ int valAt(int i) const { return val[i]; }
};
__global__ void topkQueries(const float *q, const float *db, float *dist, int *idx, int nq, int ndb)
{
    int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= nq) return;
    SmallHeap<10> heap;
    float x = q[me], y = q[nq + me];
    for (int j = 0; j < ndb; ++j) {
        float dx = db[2 * j] - x, dy = db[2 * j + 1] - y + j * 1e-3f;
        heap.push(dx * dx + dy * dy, j);
    }
    for (int i = 0; i < 10; ++i) {
        dist[i * nq + me] = heap.keyAt(i);
        idx[i * nq + me] = heap.valAt(i);
    }
}

/* Levenshtein distance of short words, a DP row in the thread */
enum { WORD = 28 };
__global__ void editDistance(const char *words, const char *dict, unsigned char *best, int *where, int nwords, int ndict)
{
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= nwords) return;
    char a[WORD];
    for (int i = 0; i < WORD; i++) a[i] = words[w * WORD + i];
    int la = WORD - (w % 9);
    int bd = 255, bw = -1;
    for (int d = 0; d < ndict; d++) {
        unsigned char row[WORD + 1];
        for (int i = 0; i <= la; i++) row[i] = i;
        int lb = WORD - d % 5;
        for (int j = 1; j <= lb; j++) {
            char cb = dict[d * WORD + j - 1];
            unsigned char diag = row[0];
            row[0] = j;
            for (int i = 1; i <= la; i++) {
                unsigned char old = row[i];
                unsigned char v = diag + (a[i - 1] != cb);
                if (old + 1 < v) v = old + 1;
                if (row[i - 1] + 1 < v) v = row[i - 1] + 1;
                row[i] = v;
                diag = old;
            }
        }
        if (row[la] < bd) { bd = row[la]; bw = d; }
    }
    best[w] = (unsigned char)bd;
    where[w] = bw;
}

/* small open-addressing table a thread: number of distinct keys and the commonest one */
static __device__ __forceinline__ uint32_t mix32(uint32_t h) { h ^= h >> 15; h *= 0x2c1b3c6du; h ^= h >> 12; h *= 0x297a2d39u; return h ^ h >> 15; }
__global__ void distinctKeys(const uint32_t *keys, uint2 *answer, const int groups, const int m)
{
    constexpr uint32_t CAP = 64, EMPTY = 0xffffffffu;
    const int g = blockDim.x * blockIdx.x + threadIdx.x;
    if (g < groups) {
        uint32_t slot[CAP];
        uint8_t cnt[CAP];
        for (uint32_t s = 0; s < CAP; ++s) { slot[s] = EMPTY; cnt[s] = 0; }
        uint32_t used = 0;
        for (int i = 0; i < m; ++i) {
            uint32_t k = keys[(size_t)i * groups + g] * 16 + ((uint32_t)i * g) % 5;
            uint32_t s = mix32(k) & (CAP - 1);
            while (slot[s] != EMPTY && slot[s] != k) s = (s + 1) & (CAP - 1);
            if (slot[s] == EMPTY) { slot[s] = k; ++used; }
            ++cnt[s];
        }
        uint32_t top = 0;
        for (uint32_t s = 1; s < CAP; ++s)
            if (cnt[s] > cnt[top] || (cnt[s] == cnt[top] && slot[s] < slot[top])) top = s;
        answer[g] = make_uint2(used, slot[top] << 8 | cnt[top]);
    }
}

int main()
{
    {
        int per = 200, nt = 250003;
        unsigned char *d = mk<unsigned char>((size_t)per * nt);
        unsigned short *h = mk<unsigned short>((size_t)BINS * nt);
        private_hist<<<(nt + 127) / 128, 128>>>(d, h, per, nt);
        show("private_hist", h, (size_t)BINS * nt * 2);
        cudaFree(d); cudaFree(h);
    }
    {
        int n = 150000;
        float *f = mk<float>(n), *d = mk<float>(n), *a = mk<float>(n);
        quadrature<<<528, 96>>>(f, d, a, n);
        show("quadrature", a, n * 4);
        cudaFree(f); cudaFree(d); cudaFree(a);
    }
    {
        unsigned n = 100001;
        double *p = mk<double>(n), *r = mk<double>(n);
        romberg<double, 12><<<(n + 63) / 64, 64>>>(p, r, n);
        show("romberg", r, n * 8);
        cudaFree(p); cudaFree(r);
    }
    {
        int len = 150, series = 100000;
        float *x = mk<float>((size_t)len * series), *y = mk<float>((size_t)len * series);
        sliding_percentile<<<(series + 255) / 256, 256>>>(x, y, len, series, 15);
        show("sliding_percentile", y, (size_t)len * series * 4);
        cudaFree(x); cudaFree(y);
    }
    {
        int n = 300007;
        short *c = mk<short>((size_t)n * 64);
        float *p = mk<float>((size_t)n * 64);
        dequantZigzag<<<(n + 127) / 128, 128>>>(c, p, n, 0.11f);
        show("dequantZigzag", p, (size_t)n * 256);
        cudaFree(c); cudaFree(p);
    }
    {
        int nq = 100100, ndb = 1500;
        float *q = mk<float>(2 * nq), *db = mk<float>(2 * ndb), *d = mk<float>(10 * nq);
        int *ix = mk<int>(10 * nq);
        topkQueries<<<(nq + 191) / 192, 192>>>(q, db, d, ix, nq, ndb);
        show("topkQueries", d, nq * 40);
        show("topkQueries", ix, nq * 40);
        cudaFree(q); cudaFree(db); cudaFree(d); cudaFree(ix);
    }
    {
        int nw = 100000, nd = 12;
        char *w = mk<char>(nw * WORD), *dict = mk<char>(nd * WORD + 7);
        unsigned char *b = mk<unsigned char>(nw);
        int *wh = mk<int>(nw);
        editDistance<<<(nw + 63) / 64, 64>>>(w, dict + 7, b, wh, nw, nd);
        show("editDistance", b, nw);
        show("editDistance", wh, nw * 4);
        cudaFree(w); cudaFree(dict); cudaFree(b); cudaFree(wh);
    }
    {
        int g = 400000, m = 50;
        uint32_t *k = mk<uint32_t>((size_t)g * m);
        uint2 *a = (uint2 *)mk<uint32_t>(2 * g);
        distinctKeys<<<(g + 127) / 128, 128>>>(k, a, g, m);
        show("distinctKeys", a, (size_t)g * 8);
        cudaFree(k); cudaFree(a);
    }
    return 0;
}
