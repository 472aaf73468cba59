// Private arrays: thread histograms, k nearest lists, medians, tree traversal stacks, Chebyshev, Needleman-Wunsch rows
#include "shown.h"
#include <vector>
#include <algorithm>

// every thread builds the histogram of its own run of pixels
#define NBINS 16
__global__ void threadHistogram(const unsigned char *pix, unsigned short *hist, int run)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int total = gridDim.x * blockDim.x;
    unsigned short h[NBINS];
    for (int b = 0; b < NBINS; b++) h[b] = 0;
    for (int i = 0; i < run; i++) {
        unsigned char p = pix[(size_t)i * total + id];
        h[p & (NBINS - 1)]++;
    }
    for (int b = 0; b < NBINS; b++)
        hist[(size_t)b * total + id] = h[b];
}

// brute force k nearest neighbours with an insertion-sorted private list
template <int KNN>
__global__ void knnInsertion(const float3 *query, const float3 *ref, int nref, int *outIdx, float *outDist, int nq)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= nq) return;
    float  dist[KNN];
    int    idx[KNN];
    for (int i = 0; i < KNN; ++i) { dist[i] = 1e30f; idx[i] = -1; }
    float3 p = query[q];
    for (int r = 0; r < nref; ++r) {
        float dx = p.x - ref[r].x, dy = p.y - ref[r].y, dz = p.z - ref[r].z;
        float d = dx * dx + dy * dy + dz * dz;
        if (d >= dist[KNN - 1]) continue;
        int j = KNN - 1;
        while (j > 0 && dist[j - 1] > d) {
            dist[j] = dist[j - 1];
            idx[j] = idx[j - 1];
            --j;
        }
        dist[j] = d;
        idx[j] = r;
    }
    for (int i = 0; i < KNN; ++i) {
        outDist[i * nq + q] = dist[i];
        outIdx[i * nq + q] = idx[i];
    }
}

// 5x5 median straight from global memory
__global__ void median5x5(const unsigned char *src, unsigned char *dst, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    unsigned char window[25];
    int c = 0;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++) {
            int xx = min(max(x + i, 0), w - 1);
            int yy = min(max(y + j, 0), h - 1);
            window[c++] = src[yy * w + xx];
        }
    // partial selection sort up to the middle
    for (int i = 0; i < 13; i++) {
        int m = i;
        for (int j = i + 1; j < 25; j++)
            if (window[j] < window[m]) m = j;
        unsigned char t = window[i];
        window[i] = window[m];
        window[m] = t;
    }
    dst[y * w + x] = window[12];
}

// BVH over spheres: implicit heap, stack in local memory
struct BVHNode { float lo[3], hi[3]; };
struct Sphere { float c[3]; float r; };

__device__ bool slab(const BVHNode &n, const float o[3], const float inv[3], float tmax)
{
    float t0 = 0.f, t1 = tmax;
    for (int a = 0; a < 3; ++a) {
        float ta = (n.lo[a] - o[a]) * inv[a];
        float tb = (n.hi[a] - o[a]) * inv[a];
        if (ta > tb) { float s = ta; ta = tb; tb = s; }
        t0 = ta > t0 ? ta : t0;
        t1 = tb < t1 ? tb : t1;
    }
    return t0 <= t1;
}

__global__ void traceSpheres(const BVHNode *nodes, const Sphere *sph, int nleaf, float *depth, int *hitId, int w, int h)
{
    int x = blockIdx.x * 16 + threadIdx.x % 16;
    int y = blockIdx.y * 8 + threadIdx.x / 16;
    float o[3] = {0.f, 0.f, -5.f};
    float d[3] = {(x + 0.5f) / w - 0.5f, (y + 0.5f) / h - 0.5f, 1.f};
    float len = rsqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    float inv[3];
    for (int a = 0; a < 3; ++a) {
        d[a] *= len;
        inv[a] = 1.f / d[a];
    }
    int stack[32];
    int sp = 0;
    stack[sp++] = 1;
    float best = 1e20f;
    int id = -1;
    while (sp > 0) {
        int n = stack[--sp];
        if (!slab(nodes[n], o, inv, best)) continue;
        if (n >= nleaf) {
            Sphere s = sph[n - nleaf];
            float oc[3] = {o[0] - s.c[0], o[1] - s.c[1], o[2] - s.c[2]};
            float b = oc[0] * d[0] + oc[1] * d[1] + oc[2] * d[2];
            float c = oc[0] * oc[0] + oc[1] * oc[1] + oc[2] * oc[2] - s.r * s.r;
            float disc = b * b - c;
            if (disc > 0.f) {
                float t = -b - sqrtf(disc);
                if (t > 1e-4f && t < best) { best = t; id = n - nleaf; }
            }
        } else {
            stack[sp++] = 2 * n + 1;
            stack[sp++] = 2 * n;
        }
    }
    depth[y * w + x] = best;
    hitId[y * w + x] = id;
}

// Chebyshev series with Clenshaw, basis recomputed in a private table (ephemeris code)
__constant__ double chebScale[3] = {1.0, 0.5, 0.25};
__global__ void chebyshevEphemeris(const double *coef, const double *tau, double *pos, double *vel, int nq, int nseg)
{
    const int NC = 13;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nq) return;
    double t = tau[i] / 12.5 * 2.0 - 1.0;
    int seg = i % nseg;
    double T[NC], dT[NC];
    T[0] = 1.0; T[1] = t;
    dT[0] = 0.0; dT[1] = 1.0;
    for (int k = 2; k < NC; ++k) {
        T[k] = 2.0 * t * T[k - 1] - T[k - 2];
        dT[k] = 2.0 * T[k - 1] + 2.0 * t * dT[k - 1] - dT[k - 2];
    }
    for (int c = 0; c < 3; ++c) {
        double p = 0.0, v = 0.0;
        const double *a = coef + (seg * 3 + c) * NC;
        for (int k = NC - 1; k >= 0; --k) {
            p += a[k] * T[k];
            v += a[k] * dT[k];
        }
        pos[3 * i + c] = p * chebScale[c];
        vel[3 * i + c] = v * chebScale[c];
    }
}

// global alignment score of short reads against windows: row of the matrix held privately
#define READ 32
__global__ void nwShortReads(const char *reads, const char *windows, int *score, int n, int match, int mismatch, int gap)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    int row[READ + 1];
    char q[READ];
    for (int j = 0; j < READ; j++) q[j] = reads[(size_t)j * n + r] & 3;
    for (int j = 0; j <= READ; j++) row[j] = j * gap;
    for (int i = 1; i <= READ; i++) {
        char w = windows[(size_t)(i - 1) * n + r] & 3;
        int diag = row[0];
        row[0] = i * gap;
        for (int j = 1; j <= READ; j++) {
            int up = row[j];
            int s = diag + (q[j - 1] == w ? match : mismatch);
            s = max(s, up + gap);
            s = max(s, row[j - 1] + gap);
            row[j] = s;
            diag = up;
        }
    }
    score[r] = row[READ];
}

int main()
{
    {
        int threads = 1 << 18, run = 256;
        unsigned char *p = mk<unsigned char>((size_t)threads * run);
        unsigned short *h = mk<unsigned short>((size_t)threads * NBINS);
        threadHistogram<<<threads / 256, 256>>>(p, h, run);
        show("threadHistogram", h, (size_t)threads * NBINS * 2);
        int w = 4096, hh = 3000;
        unsigned char *o = mk<unsigned char>((size_t)w * hh);
        median5x5<<<dim3(w / 32, (hh + 7) / 8), dim3(32, 8)>>>(p, o, w, hh);
        show("median5x5", o, (size_t)w * hh);
    }
    {
        int nq = 100000, nref = 2000;
        float3 *q = (float3 *)mk<float>(3 * nq), *r = (float3 *)mk<float>(3 * nref);
        int *idx = mk<int>(8 * nq);
        float *d = mk<float>(8 * nq);
        knnInsertion<8><<<(nq + 127) / 128, 128>>>(q, r, nref, idx, d, nq);
        show("knnInsertion", idx, (size_t)8 * nq * sizeof(int));
    }
    {
        const int nleaf = 4096;
        std::vector<Sphere> s(nleaf);
        unsigned rnd = 99;
        auto next = [&]() { rnd = rnd * 1664525u + 1013904223u; return (rnd >> 8) / 16777216.f; };
        for (auto &e : s) { e.c[0] = next() * 8 - 4; e.c[1] = next() * 8 - 4; e.c[2] = next() * 10; e.r = 0.02f + 0.1f * next(); }
        std::sort(s.begin(), s.end(), [](const Sphere &a, const Sphere &b) { return a.c[0] < b.c[0]; });
        for (int i = 0; i < nleaf; i += 64)
            std::sort(s.begin() + i, s.begin() + i + 64, [](const Sphere &a, const Sphere &b) { return a.c[1] < b.c[1]; });
        std::vector<BVHNode> nd(2 * nleaf);
        for (int a = 0; a < 3; a++) { nd[0].lo[a] = 0; nd[0].hi[a] = 0; }
        for (int n = 2 * nleaf - 1; n >= 1; --n)
            for (int a = 0; a < 3; a++) {
                if (n >= nleaf) { nd[n].lo[a] = s[n - nleaf].c[a] - s[n - nleaf].r; nd[n].hi[a] = s[n - nleaf].c[a] + s[n - nleaf].r; }
                else { nd[n].lo[a] = std::min(nd[2 * n].lo[a], nd[2 * n + 1].lo[a]); nd[n].hi[a] = std::max(nd[2 * n].hi[a], nd[2 * n + 1].hi[a]); }
            }
        BVHNode *dn; Sphere *ds;
        cudaMalloc(&dn, nd.size() * sizeof(BVHNode));
        cudaMalloc(&ds, s.size() * sizeof(Sphere));
        cudaMemcpy(dn, nd.data(), nd.size() * sizeof(BVHNode), cudaMemcpyHostToDevice);
        cudaMemcpy(ds, s.data(), s.size() * sizeof(Sphere), cudaMemcpyHostToDevice);
        int w = 1920, h = 1080;
        float *dep = mk<float>(w * h);
        int *hit = mk<int>(w * h);
        traceSpheres<<<dim3(w / 16, h / 8), 128>>>(dn, ds, nleaf, dep, hit, w, h);
        show("traceSpheres", dep, (size_t)w * h * 4);
    }
    {
        int nq = 1 << 21, nseg = 1000;
        double *co = mk<double>(nseg * 39), *t = mk<double>(nq), *p = mk<double>((size_t)3 * nq), *v = mk<double>((size_t)3 * nq);
        chebyshevEphemeris<<<(nq + 127) / 128, 128>>>(co, t, p, v, nq, nseg);
        show("chebyshevEphemeris", p, (size_t)3 * nq * 8);
        show("chebyshevEphemeris_v", v, (size_t)3 * nq * 8);
    }
    {
        int n = 1 << 20;
        char *r = mk<char>((size_t)READ * n), *w = mk<char>((size_t)READ * n + 50);
        int *s = mk<int>(n);
        nwShortReads<<<n / 128, 128>>>(r, w + 29, s, n, 2, -1, -2);
        show("nwShortReads", s, n * sizeof(int));
    }
    return 0;
}
