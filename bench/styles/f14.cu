// kernels that hold many values in registers
#include "shown.h"
#include <cstdint>

// ============ molecular dynamics: Lennard-Jones with a neighbour list, SHOC flavour; positions of the block staged ============
template <class T, class posVecType, class forceVecType>
__global__ void compute_lj_force(forceVecType *__restrict__ force3, const posVecType *__restrict__ position, const int neighCount,
                                 const int *__restrict__ neighList, const T cutsq, const T lj1, const T lj2, const int inum)
{
    __shared__ posVecType home[128];
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    home[threadIdx.x] = position[min(idx, inum - 1)];
    __syncthreads();
    if (idx >= inum) return;

    posVecType ipos = home[threadIdx.x];
    forceVecType f = {0.0f, 0.0f, 0.0f};
    const int lo = blockIdx.x * blockDim.x;

    int j = 0;
    while (j < neighCount) {
        int jidx = neighList[j * inum + idx];
        // close neighbours are at home
        posVecType jpos = (jidx >= lo && jidx < lo + (int)blockDim.x) ? home[jidx - lo] : position[jidx];

        // Calculate distance
        T delx = ipos.x - jpos.x;
        T dely = ipos.y - jpos.y;
        T delz = ipos.z - jpos.z;
        T r2inv = delx * delx + dely * dely + delz * delz;

        // If distance is less than cutoff, calculate force
        if (r2inv < cutsq && r2inv > T(0)) {
            r2inv = T(1) / r2inv;
            T r6inv = r2inv * r2inv * r2inv;
            T force = r2inv * r6inv * (lj1 * r6inv - lj2);
            f.x += delx * force;
            f.y += dely * force;
            f.z += delz * force;
        }
        j++;
    }
    force3[idx] = f;
}

// ============ SHA-256 of one 64 byte block, message schedule as a ring of 16 private words ============
__constant__ uint32_t dev_k[64];
#define ROTRIGHT(a,b) (((a) >> (b)) | ((a) << (32-(b))))
#define CH(x,y,z) (((x) & (y)) ^ (~(x) & (z)))
#define MAJ(x,y,z) (((x) & (y)) ^ ((x) & (z)) ^ ((y) & (z)))
#define EP0(x) (ROTRIGHT(x,2) ^ ROTRIGHT(x,13) ^ ROTRIGHT(x,22))
#define EP1(x) (ROTRIGHT(x,6) ^ ROTRIGHT(x,11) ^ ROTRIGHT(x,25))
#define SIG0(x) (ROTRIGHT(x,7) ^ ROTRIGHT(x,18) ^ ((x) >> 3))
#define SIG1(x) (ROTRIGHT(x,17) ^ ROTRIGHT(x,19) ^ ((x) >> 10))

typedef struct { uint32_t state[8]; } SHA256_CTX;

__device__ __forceinline__ void sha256_transform(SHA256_CTX *ctx, uint32_t m[16])
{
	uint32_t a, b, c, d, e, f, g, h, i, t1, t2;
	a = ctx->state[0]; b = ctx->state[1]; c = ctx->state[2]; d = ctx->state[3];
	e = ctx->state[4]; f = ctx->state[5]; g = ctx->state[6]; h = ctx->state[7];

	for (i = 0; i < 64; ++i) {
		if (i >= 16)
			m[i & 15] += SIG1(m[(i - 2) & 15]) + m[(i - 7) & 15] + SIG0(m[(i - 15) & 15]);
		t1 = h + EP1(e) + CH(e, f, g) + dev_k[i] + m[i & 15];
		t2 = EP0(a) + MAJ(a, b, c);
		h = g; g = f; f = e;
		e = d + t1;
		d = c; c = b; b = a;
		a = t1 + t2;
	}
	ctx->state[0] += a; ctx->state[1] += b; ctx->state[2] += c; ctx->state[3] += d;
	ctx->state[4] += e; ctx->state[5] += f; ctx->state[6] += g; ctx->state[7] += h;
}

__global__ void sha256_hash(const uint32_t *in, uint32_t *out, uint32_t n, uint32_t rounds)
{
	uint32_t tid = blockIdx.x * blockDim.x + threadIdx.x;
	if (tid >= n) return;
	SHA256_CTX ctx = {{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
	uint32_t w[16];
	for (int i = 0; i < 16; i++) w[i] = in[i * n + tid];
	for (uint32_t r = 0; r < rounds; r++) {
		sha256_transform(&ctx, w);
		for (int i = 0; i < 8; i++) w[i] ^= ctx.state[i];
	}
	for (int i = 0; i < 8; i++) out[tid * 8 + i] = ctx.state[i];
}

// ============ chemistry: Brusselator-like network of six species, classical Runge-Kutta, private arrays ============
template <int NSP>
struct Mechanism {
  double rate[NSP];
  __device__ void operator()(const double (&y)[NSP], double (&dy)[NSP]) const {
#pragma unroll
    for (int s = 0; s < NSP; ++s) {
      const double prod = rate[s] * y[(s + NSP - 1) % NSP] * y[(s + 1) % NSP];
      const double loss = rate[(s + 2) % NSP] * y[s] * y[s] + 0.1 * y[s];
      dy[s] = prod - loss + 0.05;
    }
  }
};

template <int NSP>
__global__ void integrate_cells(const double* __restrict__ conc_in, double* __restrict__ conc_out, const double* __restrict__ temp, int cells, int steps, double dt) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cells) return;
  Mechanism<NSP> mech;
  double y[NSP], k[NSP], acc[NSP], tmp[NSP];
  for (int s = 0; s < NSP; ++s) {
    y[s] = conc_in[(size_t)s * cells + c];
    mech.rate[s] = (0.2 + 0.05 * s) * exp(-1.0 / (1.0 + temp[c]));
  }
  for (int it = 0; it < steps; ++it) {
    mech(y, k);
    for (int s = 0; s < NSP; ++s) { acc[s] = k[s]; tmp[s] = y[s] + 0.5 * dt * k[s]; }
    mech(tmp, k);
    for (int s = 0; s < NSP; ++s) { acc[s] += 2.0 * k[s]; tmp[s] = y[s] + 0.5 * dt * k[s]; }
    mech(tmp, k);
    for (int s = 0; s < NSP; ++s) { acc[s] += 2.0 * k[s]; tmp[s] = y[s] + dt * k[s]; }
    mech(tmp, k);
    for (int s = 0; s < NSP; ++s) y[s] += dt / 6.0 * (acc[s] + k[s]);
  }
  for (int s = 0; s < NSP; ++s) conc_out[(size_t)s * cells + c] = y[s];
}

// ============ lattice Boltzmann D2Q9, pull scheme, periodic, tables of directions as local constants ============
#define Q 9
__global__ void lbm_step(const float *f_in, float *f_out, const unsigned char *solid, int nx, int ny, float omega)
{
    const int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
    const int cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const int opp[Q] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
    const float wt[Q] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    size_t N = (size_t)nx * ny;

    float f[Q];
    for (int q = 0; q < Q; q++) {
        int xs = (x - cx[q] + nx) % nx;
        int ys = (y - cy[q] + ny) % ny;
        f[q] = f_in[q * N + (size_t)ys * nx + xs];
    }
    size_t here = (size_t)y * nx + x;
    if (solid[here] == 0) {
        // bounce back
        for (int q = 0; q < Q; q++) f_out[q * N + here] = f[opp[q]];
        return;
    }
    float rho = 0.f, ux = 0.f, uy = 0.f;
    for (int q = 0; q < Q; q++) {
        rho += f[q];
        ux += f[q] * cx[q];
        uy += f[q] * cy[q];
    }
    ux /= rho;
    uy /= rho;
    float usq = 1.5f * (ux * ux + uy * uy);
    for (int q = 0; q < Q; q++) {
        float cu = 3.f * (cx[q] * ux + cy[q] * uy);
        float feq = wt[q] * rho * (1.f + cu + 0.5f * cu * cu - usq);
        f_out[q * N + here] = f[q] + omega * (feq - f[q]);
    }
}

// ============ ray / triangle (Moeller-Trumbore), triangles staged through shared memory in batches ============
namespace rt {
struct vec3 {
    float x, y, z;
    __host__ __device__ vec3() = default;
    __host__ __device__ vec3(float a, float b, float c) : x(a), y(b), z(c) {}
};
__device__ inline vec3 operator-(vec3 a, vec3 b) { return vec3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ inline float dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline vec3 cross(vec3 a, vec3 b) { return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }
struct Tri { vec3 v0, e1, e2; };
struct Hit { float t, u, v; int id; };

constexpr int kBatch = 64;
__global__ void closest_hit(const vec3 *org, const vec3 *dir, Hit *hits, int rays, const vec3 *verts, int tris)
{
    __shared__ Tri cache[kBatch];
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    const vec3 o = org[r < rays ? r : 0], d = dir[r < rays ? r : 0];
    Hit best = {1e30f, 0.f, 0.f, -1};
    for (int first = 0; first < tris; first += kBatch) {
        __syncthreads();
        if (threadIdx.x < kBatch && first + threadIdx.x < tris) {
            const vec3 *p = verts + 3 * (first + threadIdx.x);
            Tri t;
            t.v0 = p[0];
            t.e1 = p[1] - p[0];
            t.e2 = p[2] - p[0];
            cache[threadIdx.x] = t;
        }
        __syncthreads();
        const int m = tris - first < kBatch ? tris - first : kBatch;
        for (int k = 0; k < m; ++k) {
            const Tri &t = cache[k];
            const vec3 p = cross(d, t.e2);
            const float det = dot(t.e1, p);
            if (fabsf(det) < 1e-9f) continue;
            const float inv = 1.f / det;
            const vec3 s = o - t.v0;
            const float u = dot(s, p) * inv;
            if (u < 0.f || u > 1.f) continue;
            const vec3 q = cross(s, t.e1);
            const float v = dot(d, q) * inv;
            if (v < 0.f || u + v > 1.f) continue;
            const float dist = dot(t.e2, q) * inv;
            if (dist > 1e-6f && dist < best.t) {
                best.t = dist;
                best.u = u;
                best.v = v;
                best.id = first + k;
            }
        }
    }
    if (r < rays) hits[r] = best;
}
}

// ============ LSTM cell: hidden state of the sample in shared memory, four gates per thread over several time steps ============
__device__ float sigmoidf_(float v) { return 1.f / (1.f + __expf(-v)); }

template<int HID>
__global__ void lstmLayer( const float* xProj, const float* Wh, float* hSeq, float* cLast, int batch, int T )
{
  // xProj is [T][batch][4*HID], Wh is [HID][4*HID]
  __shared__ float h[ 2 ][ HID ];
  const int b = blockIdx.x, j = threadIdx.x;
  float c = 0.f;
  h[ 0 ][ j ] = 0.f;
  __syncthreads();
  for( int t = 0; t < T; ++t )
  {
    float gate[ 4 ];
    #pragma unroll
    for( int g = 0; g < 4; ++g ) gate[ g ] = xProj[ ( (size_t)t * batch + b ) * 4 * HID + g * HID + j ];
    for( int k = 0; k < HID; ++k )
    {
      const float hk = h[ t & 1 ][ k ];
      #pragma unroll
      for( int g = 0; g < 4; ++g ) gate[ g ] += hk * Wh[ k * 4 * HID + g * HID + j ];
    }
    const float i = sigmoidf_( gate[ 0 ] ), f = sigmoidf_( gate[ 1 ] ), o = sigmoidf_( gate[ 3 ] );
    c = f * c + i * tanhf( gate[ 2 ] );
    const float hn = o * tanhf( c );
    h[ ( t + 1 ) & 1 ][ j ] = hn;
    hSeq[ ( (size_t)t * batch + b ) * HID + j ] = hn;
    __syncthreads();
  }
  cLast[ b * HID + j ] = c;
}

template <class T, class F> T *mkf(size_t n, F f)
{
    T *h = (T *)malloc(n * sizeof(T)), *d;
    unsigned s = 77u;
    for (size_t i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; h[i] = (T)f(i, s >> 8); }
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    {
        int n = 300000, nb = 64;
        float4 *p = (float4 *)mkf<float>(4 * (size_t)n, [](size_t, unsigned u) { return (float)u / 1048576.f; });
        int *nl = mkf<int>((size_t)n * nb, [=](size_t i, unsigned u) { size_t me = i % n; return (int)((me + u % 200 + n - 100) % n); });
        float3 *f = (float3 *)mk<float>(3 * (size_t)n);
        compute_lj_force<float, float4, float3><<<(n + 127) / 128, 128>>>(f, p, nb, nl, 40.f, 1.5f, 2.f, n);
        show("compute_lj_force<float>", f, 12 * (size_t)n);
        double4 *dp = (double4 *)mkf<double>(4 * (size_t)n, [](size_t, unsigned u) { return (double)u / 1048576.0; });
        double3 *df = (double3 *)mk<double>(3 * (size_t)n);
        compute_lj_force<double, double4, double3><<<(n + 95) / 96, 96>>>(df, dp, nb, nl, 40.0, 1.5, 2.0, n);
        show("compute_lj_force<double>", df, 24 * (size_t)n);
    }
    {
        uint32_t k[64];
        for (int i = 0; i < 64; i++) k[i] = 0x428a2f98u * (i + 1) ^ (0x71374491u >> (i % 7));
        cudaMemcpyToSymbol(dev_k, k, sizeof(k));
        uint32_t n = 1000001;
        uint32_t *in = mkf<uint32_t>(16 * (size_t)n, [](size_t, unsigned u) { return u * 69069u; }), *out = mk<uint32_t>(8 * (size_t)n);
        sha256_hash<<<(n + 255) / 256, 256>>>(in, out, n, 2);
        show("sha256_hash", out, 32 * (size_t)n);
    }
    {
        int cells = 400000;
        double *y = mkf<double>(6 * (size_t)cells, [](size_t, unsigned u) { return (double)u / 16777216.0 + 0.1; }), *o = mk<double>(6 * (size_t)cells);
        double *t = mkf<double>(cells, [](size_t, unsigned u) { return (double)u / 16777216.0; });
        integrate_cells<6><<<(cells + 127) / 128, 128>>>(y, o, t, cells, 8, 0.01);
        show("integrate_cells<6>", o, 48 * (size_t)cells);
    }
    {
        int nx = 2000, ny = 1500;
        size_t N = (size_t)nx * ny;
        float *a = mkf<float>(9 * N, [](size_t, unsigned u) { return 0.1f + (float)u / 167772160.f; }), *b = mk<float>(9 * N);
        unsigned char *s = mkf<unsigned char>(N, [](size_t, unsigned u) { return u % 17 != 0; });
        lbm_step<<<dim3((nx + 63) / 64, (ny + 3) / 4), dim3(64, 4)>>>(a, b, s, nx, ny, 1.2f);
        show("lbm_step", b, 36 * N);
        lbm_step<<<dim3((nx + 31) / 32, (ny + 7) / 8), dim3(32, 8)>>>(b, a, s, nx, ny, 0.9f);
        show("lbm_step again", a, 36 * N);
    }
    {
        int rays = 500000, tris = 500;
        rt::vec3 *o = (rt::vec3 *)mkf<float>(3 * (size_t)rays, [](size_t i, unsigned u) { return i % 3 == 2 ? -2.f : (float)u / 16777216.f; });
        rt::vec3 *d = (rt::vec3 *)mkf<float>(3 * (size_t)rays, [](size_t i, unsigned u) { return i % 3 == 2 ? 1.f : ((float)u / 16777216.f - 0.5f) * 0.1f; });
        rt::vec3 *v = (rt::vec3 *)mkf<float>(9 * (size_t)tris, [](size_t, unsigned u) { return (float)u / 16777216.f; });
        rt::Hit *h = (rt::Hit *)mk<float>(4 * (size_t)rays);
        rt::closest_hit<<<(rays + 127) / 128, 128>>>(o, d, h, rays, v, tris);
        show("rt::closest_hit", h, 16 * (size_t)rays);
    }
    {
        int batch = 1500, T = 10;
        float *xp = mkf<float>((size_t)T * batch * 4 * 96, [](size_t, unsigned u) { return (float)u / 8388608.f - 1.f; });
        float *wh = mkf<float>(96 * 96 * 4, [](size_t, unsigned u) { return ((float)u / 8388608.f - 1.f) * 0.1f; });
        float *hs = mk<float>((size_t)T * batch * 96), *cl = mk<float>(batch * 96);
        lstmLayer<96><<<batch, 96>>>(xp, wh, hs, cl, batch, T);
        show("lstmLayer<96>.h", hs, (size_t)T * batch * 96 * 4);
        show("lstmLayer<96>.c", cl, batch * 96 * 4);
    }
    return 0;
}
