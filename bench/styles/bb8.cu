// Particles and lattices
#include <vector>
#include "shown.h"

// 1 -------------------------------------------------- all-pairs gravity, tiles of float4
__device__ float3 bodyBodyInteraction(float3 ai, float4 bi, float4 bj, float eps2) {
  float3 r;
  r.x = bj.x - bi.x;
  r.y = bj.y - bi.y;
  r.z = bj.z - bi.z;
  float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + eps2;
  float invDist = rsqrtf(distSqr);
  float s = bj.w * invDist * invDist * invDist;
  ai.x += r.x * s;
  ai.y += r.y * s;
  ai.z += r.z * s;
  return ai;
}
template <int P>
__global__ void gravityTiles(const float4 *__restrict__ pos, float4 *__restrict__ acc, int n, float eps2) {
  __shared__ float4 sharedPos[P];
  int i = blockIdx.x * P + threadIdx.x;
  float4 me = i < n ? pos[i] : make_float4(0, 0, 0, 0);
  float3 a = {0.f, 0.f, 0.f};
  for (int t = 0; t < n; t += P) {
    int j = t + threadIdx.x;
    sharedPos[threadIdx.x] = j < n ? pos[j] : make_float4(0.f, 0.f, 0.f, 0.f);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < P; k++) a = bodyBodyInteraction(a, me, sharedPos[k], eps2);
    __syncthreads();
  }
  if (i < n) acc[i] = make_float4(a.x, a.y, a.z, 0.f);
}

// 2 -------------------------------------------------- Lennard-Jones, a block per cell
#define CELL_CAP 48
__global__ void ljCells(const float4 *particles, const int *cellCount, float4 *force, int nc, float cell, float rc2)
{
    __shared__ float3 nb[CELL_CAP];
    __shared__ int nCount;
    int cx = blockIdx.x, cy = blockIdx.y, cz = blockIdx.z;
    int me = (cz * nc + cy) * nc + cx;
    int myCount = cellCount[me];
    float3 p = make_float3(0, 0, 0);
    if (threadIdx.x < myCount) {
        float4 q = particles[me * CELL_CAP + threadIdx.x];
        p = make_float3(q.x, q.y, q.z);
    }
    float fx = 0, fy = 0, fz = 0, en = 0;
    for (int k = 0; k < 27; k++) {
        int dx = k % 3 - 1, dy = (k / 3) % 3 - 1, dz = k / 9 - 1;
        int ox = (cx + dx + nc) % nc, oy = (cy + dy + nc) % nc, oz = (cz + dz + nc) % nc;
        int other = (oz * nc + oy) * nc + ox;
        if (threadIdx.x == 0) nCount = cellCount[other];
        __syncthreads();
        if (threadIdx.x < nCount) {
            float4 q = particles[other * CELL_CAP + threadIdx.x];
            nb[threadIdx.x] = make_float3(q.x + dx * cell, q.y + dy * cell, q.z + dz * cell);
        }
        __syncthreads();
        if (threadIdx.x < myCount)
            for (int j = 0; j < nCount; j++) {
                if (k == 13 && j == threadIdx.x) continue;
                float x = p.x - nb[j].x, y = p.y - nb[j].y, z = p.z - nb[j].z;
                float r2 = x * x + y * y + z * z;
                if (r2 >= rc2) continue;
                r2 = fmaxf(r2, 0.3f);
                float i2 = 1.f / r2, i6 = i2 * i2 * i2;
                float f = 24.f * i2 * i6 * (2.f * i6 - 1.f);
                fx += f * x; fy += f * y; fz += f * z;
                en += 4.f * i6 * (i6 - 1.f);
            }
        __syncthreads();
    }
    if (threadIdx.x < myCount) force[me * CELL_CAP + threadIdx.x] = make_float4(fx, fy, fz, 0.5f * en);
}

// 3 -------------------------------------------------- D2Q9 lattice Boltzmann, x-propagation in shared memory
#define LBX 128
__constant__ int c_ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int c_ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__global__ void lbmRowD2Q9(const float *__restrict__ f0, float *__restrict__ f1, int nx, int ny, float omega) {
  __shared__ float row[9][LBX + 2];
  const int x0 = blockIdx.x * LBX, y = blockIdx.y;
  const size_t plane = (size_t)nx * ny;
  for (int q = 0; q < 9; q++) {
    int ys = (y - c_ey[q] + ny) % ny;
    for (int k = threadIdx.x; k < LBX + 2; k += LBX) {
      int xs = (x0 + k - 1 + nx) % nx;
      row[q][k] = 1.f + 0.01f * f0[q * plane + (size_t)ys * nx + xs];
    }
  }
  __syncthreads();
  const int x = x0 + threadIdx.x;
  if (x >= nx) return;
  float f[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
  for (int q = 0; q < 9; q++) {
    f[q] = row[q][threadIdx.x + 1 - c_ex[q]];
    rho += f[q];
    ux += f[q] * c_ex[q];
    uy += f[q] * c_ey[q];
  }
  ux /= rho;
  uy /= rho;
  float usq = 1.5f * (ux * ux + uy * uy);
#pragma unroll
  for (int q = 0; q < 9; q++) {
    float w = q == 0 ? 4.f / 9 : (q < 5 ? 1.f / 9 : 1.f / 36);
    float cu = 3.f * (c_ex[q] * ux + c_ey[q] * uy);
    float feq = w * rho * (1.f + cu + 0.5f * cu * cu - usq);
    f1[q * plane + (size_t)y * nx + x] = f[q] + omega * (feq - f[q]);
  }
}

// 4 -------------------------------------------------- 3-D Ising, several checkerboard sweeps of an 8^3 block
__device__ unsigned hash3(unsigned a, unsigned b) {
  unsigned h = a * 0x85ebca6bu ^ (b + 0x9e3779b9u);
  h ^= h >> 16; h *= 0x7feb352du; h ^= h >> 15; h *= 0x846ca68bu; h ^= h >> 16;
  return h;
}
__global__ void ising3dBlocks(const signed char *in, signed char *out, int L, int sweeps, unsigned seed) {
  __shared__ signed char s[10][10][10];
  __shared__ float boltz[13];
  const int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
  const int lid = (tz * 8 + ty) * 8 + tx;
  if (lid < 13) boltz[lid] = expf(-0.4432f * (lid - 6));
  for (int k = lid; k < 1000; k += 512) {
    int x = (blockIdx.x * 8 + k % 10 - 1 + L) % L, y = (blockIdx.y * 8 + (k / 10) % 10 - 1 + L) % L,
        z = (blockIdx.z * 8 + k / 100 - 1 + L) % L;
    s[k / 100][(k / 10) % 10][k % 10] = (in[((size_t)z * L + y) * L + x] & 1) ? 1 : -1;
  }
  __syncthreads();
  const unsigned site = ((blockIdx.z * 8 + tz) * L + blockIdx.y * 8 + ty) * L + blockIdx.x * 8 + tx;
  for (int sw = 0; sw < sweeps; sw++)
    for (int color = 0; color < 2; color++) {
      if (((tx + ty + tz) & 1) == color) {
        int nbr = s[tz + 1][ty + 1][tx] + s[tz + 1][ty + 1][tx + 2] + s[tz + 1][ty][tx + 1] + s[tz + 1][ty + 2][tx + 1] +
                  s[tz][ty + 1][tx + 1] + s[tz + 2][ty + 1][tx + 1];
        int me = s[tz + 1][ty + 1][tx + 1];
        float u = hash3(site, seed + sw) * 2.3283064e-10f;
        if (u < boltz[me * nbr + 6]) s[tz + 1][ty + 1][tx + 1] = -me;
      }
      __syncthreads();
    }
  out[site] = s[tz + 1][ty + 1][tx + 1];
}

// 5 -------------------------------------------------- cloud-in-cell deposit in fixed point
enum { TB = 8, TC = (TB + 1) * (TB + 1) * (TB + 1) };
__global__ void cicDepositFixed(const float4 *part, unsigned long long *rho, int perTile, int G) {
  __shared__ unsigned long long acc[TC];
  for (int i = threadIdx.x; i < TC; i += blockDim.x) acc[i] = 0ull;
  __syncthreads();
  const int tiles = G / TB;
  const int bx = blockIdx.x % tiles, by = (blockIdx.x / tiles) % tiles, bz = blockIdx.x / (tiles * tiles);
  for (int p = threadIdx.x; p < perTile; p += blockDim.x) {
    float4 q = part[(size_t)blockIdx.x * perTile + p];
    float x = q.x * 0.63f, y = q.y * 0.63f, z = q.z * 0.63f;   // 0 .. 7.9
    int ix = (int)x, iy = (int)y, iz = (int)z;
    float fx = x - ix, fy = y - iy, fz = z - iz;
    for (int c = 0; c < 8; ++c) {
      float w = ((c & 1) ? fx : 1.f - fx) * ((c & 2) ? fy : 1.f - fy) * ((c & 4) ? fz : 1.f - fz);
      int cell = ((iz + (c >> 2)) * (TB + 1) + iy + ((c >> 1) & 1)) * (TB + 1) + ix + (c & 1);
      atomicAdd(&acc[cell], (unsigned long long)(w * (q.w + 1.f) * 1048576.f));
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < TC; i += blockDim.x) {
    int x = (bx * TB + i % (TB + 1)) % G, y = (by * TB + (i / (TB + 1)) % (TB + 1)) % G, z = (bz * TB + i / ((TB + 1) * (TB + 1))) % G;
    if (acc[i]) atomicAdd(&rho[((size_t)z * G + y) * G + x], acc[i]);
  }
}

// 6 -------------------------------------------------- K nearest neighbours, list kept per thread
#define KNN_MAX 16
#define KNN_TPB 128
__global__ void knnBrute(const float *px, const float *py, const float *pz, int *idx, float *d2out, int n, int K)
{
	__shared__ float3 tile[KNN_TPB];
	float bd[KNN_MAX];
	int bi[KNN_MAX];
	int me = blockIdx.x * KNN_TPB + threadIdx.x;
	float x = 0, y = 0, z = 0;
	if (me < n) { x = px[me]; y = py[me]; z = pz[me]; }
	for (int k = 0; k < K; k++) { bd[k] = 1e30f; bi[k] = -1; }
	for (int t0 = 0; t0 < n; t0 += KNN_TPB) {
		int j = t0 + threadIdx.x;
		if (j < n) tile[threadIdx.x] = make_float3(px[j], py[j], pz[j]);
		__syncthreads();
		int lim = min(KNN_TPB, n - t0);
		for (int k = 0; k < lim; k++) {
			float dx = x - tile[k].x, dy = y - tile[k].y, dz = z - tile[k].z;
			float d = dx*dx + dy*dy + dz*dz;
			if (d < bd[K-1] && t0 + k != me) {
				int m = K - 1;
				while (m > 0 && bd[m-1] > d) { bd[m] = bd[m-1]; bi[m] = bi[m-1]; m--; }
				bd[m] = d;
				bi[m] = t0 + k;
			}
		}
		__syncthreads();
	}
	if (me < n)
		for (int k = 0; k < K; k++) { idx[k*n + me] = bi[k]; d2out[k*n + me] = bd[k]; }
}

// 7 -------------------------------------------------- radial distribution histogram, minimum image
template <int BLOCK, int BINS>
__global__ void rdfHistogram(const double3 *r, unsigned int *g, int n, double box, double dr) {
  __shared__ double3 sh[BLOCK];
  __shared__ unsigned int h[BINS];
  for (int b = threadIdx.x; b < BINS; b += BLOCK) h[b] = 0;
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  const int j0 = blockIdx.y * BLOCK;
  if (j0 + (int)threadIdx.x < n) sh[threadIdx.x] = r[j0 + threadIdx.x];
  __syncthreads();
  if (i < n) {
    const double3 a = r[i];
    const int m = min(BLOCK, n - j0);
    for (int j = 0; j < m; ++j) {
      if (j0 + j <= i) continue;
      double dx = a.x - sh[j].x, dy = a.y - sh[j].y, dz = a.z - sh[j].z;
      dx -= box * rint(dx / box);
      dy -= box * rint(dy / box);
      dz -= box * rint(dz / box);
      int bin = (int)(sqrt(dx * dx + dy * dy + dz * dz) / dr);
      if (bin < BINS) atomicAdd(h + bin, 2u);
    }
  }
  __syncthreads();
  for (int b = threadIdx.x; b < BINS; b += BLOCK)
    if (h[b]) atomicAdd(g + b, h[b]);
}

// 8 -------------------------------------------------- bond constraints of polymer chains, red-black relaxation
#define BEADS 200
__global__ void chainShake(float *xyz, float bond, int iterations, int chains) {
  __shared__ float X[BEADS], Y[BEADS], Z[BEADS];
  float *c = xyz + (size_t)blockIdx.x * BEADS * 3;
  for (int i = threadIdx.x; i < BEADS; i += blockDim.x) {
    X[i] = c[3 * i] + 0.5f * i;
    Y[i] = c[3 * i + 1];
    Z[i] = c[3 * i + 2];
  }
  __syncthreads();
  for (int it = 0; it < iterations; it++) {
    for (int parity = 0; parity < 2; parity++) {
      int a = 2 * threadIdx.x + parity, b = a + 1;
      if (b < BEADS) {
        float dx = X[b] - X[a], dy = Y[b] - Y[a], dz = Z[b] - Z[a];
        float r = sqrtf(dx * dx + dy * dy + dz * dz) + 1e-6f;
        float g = 0.5f * (r - bond) / r;
        X[a] += g * dx; Y[a] += g * dy; Z[a] += g * dz;
        X[b] -= g * dx; Y[b] -= g * dy; Z[b] -= g * dz;
      }
      __syncthreads();
    }
  }
  for (int i = threadIdx.x; i < BEADS; i += blockDim.x) {
    c[3 * i] = X[i];
    c[3 * i + 1] = Y[i];
    c[3 * i + 2] = Z[i];
  }
}

template <class T> T *randomBuf(size_t n, double lo, double hi, unsigned long long seed) {
  std::vector<T> h(n);
  for (auto &v : h) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    v = (T)(lo + (hi - lo) * ((seed >> 40) / 16777216.0));
  }
  T *d;
  cudaMalloc(&d, n * sizeof(T));
  cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  return d;
}

int main() {
  {
    int n = 25000;
    float4 *p = (float4 *)randomBuf<float>(4 * n, 0, 10, 1), *a = (float4 *)mk<float>(4 * n);
    gravityTiles<256><<<(n + 255) / 256, 256>>>(p, a, n, 0.01f);
    show("gravityTiles", a, n * sizeof(float4));
  }
  {
    int nc = 20, cells = nc * nc * nc;
    float4 *p = (float4 *)randomBuf<float>((size_t)4 * cells * CELL_CAP, 0, 2.5, 2), *f = (float4 *)mk<float>((size_t)4 * cells * CELL_CAP);
    int *c = randomBuf<int>(cells, 8, 40, 3);
    ljCells<<<dim3(nc, nc, nc), 64>>>(p, c, f, nc, 2.5f, 6.25f);
    show("ljCells", f, (size_t)cells * CELL_CAP * sizeof(float4));
  }
  {
    int nx = 1500, ny = 1111;
    float *a = mk<float>((size_t)9 * nx * ny), *b = mk<float>((size_t)9 * nx * ny);
    lbmRowD2Q9<<<dim3((nx + LBX - 1) / LBX, ny), LBX>>>(a, b, nx, ny, 1.2f);
    show("lbmRowD2Q9", b, (size_t)9 * nx * ny * sizeof(float));
  }
  {
    int L = 200;
    signed char *a = randomBuf<signed char>((size_t)L * L * L, 0, 100, 4), *b = mk<signed char>((size_t)L * L * L);
    ising3dBlocks<<<dim3(L / 8, L / 8, L / 8), dim3(8, 8, 8)>>>(a, b, L, 5, 99u);
    show("ising3dBlocks", b, (size_t)L * L * L);
  }
  {
    int G = 128, tiles = 16 * 16 * 16, per = 700;
    float4 *p = (float4 *)randomBuf<float>((size_t)4 * tiles * per, 0, 12.5, 5);
    unsigned long long *rho = mk<unsigned long long>((size_t)G * G * G);
    cudaMemset(rho, 0, (size_t)G * G * G * 8);
    cicDepositFixed<<<tiles, 192>>>(p, rho, per, G);
    show("cicDepositFixed", rho, (size_t)G * G * G * 8);
  }
  {
    int n = 20011, K = 12;
    float *x = randomBuf<float>(n, 0, 1, 6), *y = randomBuf<float>(n, 0, 1, 7), *z = randomBuf<float>(n, 0, 1, 8), *d = mk<float>(n * K);
    int *id = mk<int>(n * K);
    knnBrute<<<(n + KNN_TPB - 1) / KNN_TPB, KNN_TPB>>>(x, y, z, id, d, n, K);
    show("knnBrute", id, n * K * sizeof(int));
    show("knnBrute", d, n * K * sizeof(float));
  }
  {
    int n = 9000;
    double3 *r = (double3 *)randomBuf<double>(3 * n, 0, 30, 9);
    unsigned *g = mk<unsigned>(300);
    cudaMemset(g, 0, 300 * sizeof(unsigned));
    rdfHistogram<128, 300><<<dim3((n + 127) / 128, (n + 127) / 128), 128>>>(r, g, n, 30.0, 0.05);
    show("rdfHistogram", g, 300 * sizeof(unsigned));
  }
  {
    int chains = 12000;
    float *c = mk<float>((size_t)chains * BEADS * 3);
    chainShake<<<chains, 100>>>(c, 1.1f, 30, chains);
    show("chainShake", c, (size_t)chains * BEADS * 3 * sizeof(float));
  }
  return 0;
}
