// computational physics course kernels
#include "shown.h"

#define EPS2 0.01f

// --- N-body (GPU Gems 3) ---
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

__global__ void calculate_forces(const float4 *devX, float4 *devA, int N)
{
   extern __shared__ float4 shPosition[];
   int gtid = blockIdx.x * blockDim.x + threadIdx.x;
   float4 myPosition = gtid < N ? devX[gtid] : make_float4(0, 0, 0, 0);
   float3 acc = {0.0f, 0.0f, 0.0f};
   for (int i = 0, tile = 0; i < N; i += blockDim.x, tile++) {
      int idx = tile * blockDim.x + threadIdx.x;
      shPosition[threadIdx.x] = idx < N ? devX[idx] : make_float4(0.f, 0.f, 0.f, 0.f);
      __syncthreads();
#pragma unroll 8
      for (int j = 0; j < blockDim.x; j++) acc = bodyBodyInteraction(myPosition, shPosition[j], acc);
      __syncthreads();
   }
   if (gtid < N) devA[gtid] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}

// --- D2Q9 lattice Boltzmann, collide + propagate through shared memory ---
#define LX 128
__global__ void lbm_d2q9(const float *f, float *g, int nx, int ny, float omega)
{
   __shared__ float fe[LX], fne[LX], fse[LX], fw[LX], fnw[LX], fsw[LX];
   const int tx = threadIdx.x, x = blockIdx.x * LX + tx, y = blockIdx.y;
   const size_t n = (size_t)nx * ny, k = (size_t)y * nx + x;
   float f0 = f[k], f1 = f[k + n], f2 = f[k + 2 * n], f3 = f[k + 3 * n], f4 = f[k + 4 * n];
   float f5 = f[k + 5 * n], f6 = f[k + 6 * n], f7 = f[k + 7 * n], f8 = f[k + 8 * n];
   float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8 + 1e-3f;
   float ux = (f1 - f3 + f5 - f6 - f7 + f8) / rho;
   float uy = (f2 - f4 + f5 + f6 - f7 - f8) / rho;
   float usq = 1.5f * (ux * ux + uy * uy);
   float w1 = rho / 9.f, w2 = rho / 36.f, e;
   f0 += omega * (rho * 4.f / 9.f * (1.f - usq) - f0);
   f1 += omega * (w1 * (1.f + 3.f * ux + 4.5f * ux * ux - usq) - f1);
   f2 += omega * (w1 * (1.f + 3.f * uy + 4.5f * uy * uy - usq) - f2);
   f3 += omega * (w1 * (1.f - 3.f * ux + 4.5f * ux * ux - usq) - f3);
   f4 += omega * (w1 * (1.f - 3.f * uy + 4.5f * uy * uy - usq) - f4);
   e = ux + uy;  f5 += omega * (w2 * (1.f + 3.f * e + 4.5f * e * e - usq) - f5);
   e = -ux + uy; f6 += omega * (w2 * (1.f + 3.f * e + 4.5f * e * e - usq) - f6);
   e = -ux - uy; f7 += omega * (w2 * (1.f + 3.f * e + 4.5f * e * e - usq) - f7);
   e = ux - uy;  f8 += omega * (w2 * (1.f + 3.f * e + 4.5f * e * e - usq) - f8);

   int yn = y + 1 == ny ? 0 : y + 1, ys = y == 0 ? ny - 1 : y - 1;
   if (tx < LX - 1) { fe[tx + 1] = f1; fne[tx + 1] = f5; fse[tx + 1] = f8; }
   else {  // leaves the block to the east
      int xe = x + 1 == nx ? 0 : x + 1;
      g[n + (size_t)y * nx + xe] = f1;
      g[5 * n + (size_t)yn * nx + xe] = f5;
      g[8 * n + (size_t)ys * nx + xe] = f8;
   }
   if (tx > 0) { fw[tx - 1] = f3; fnw[tx - 1] = f6; fsw[tx - 1] = f7; }
   else {
      int xw = x == 0 ? nx - 1 : x - 1;
      g[3 * n + (size_t)y * nx + xw] = f3;
      g[6 * n + (size_t)yn * nx + xw] = f6;
      g[7 * n + (size_t)ys * nx + xw] = f7;
   }
   g[k] = f0;
   g[2 * n + (size_t)yn * nx + x] = f2;
   g[4 * n + (size_t)ys * nx + x] = f4;
   __syncthreads();
   if (tx > 0) {
      g[n + k] = fe[tx];
      g[5 * n + (size_t)yn * nx + x] = fne[tx];
      g[8 * n + (size_t)ys * nx + x] = fse[tx];
   }
   if (tx < LX - 1) {
      g[3 * n + k] = fw[tx];
      g[6 * n + (size_t)yn * nx + x] = fnw[tx];
      g[7 * n + (size_t)ys * nx + x] = fsw[tx];
   }
}

// --- FDTD, TM mode, update of Ez ---
__global__ void updateEz(float *ez, const float *hx, const float *hy, const float *ceze, int Nx, int Ny, float dt)
{
   __shared__ float shx[17][16];
   __shared__ float shy[16][17];
   int i = threadIdx.x + blockIdx.x * blockDim.x;
   int j = threadIdx.y + blockIdx.y * blockDim.y;
   bool valid = (i < Nx) && (j < Ny);
   if (valid) {
      shx[threadIdx.y + 1][threadIdx.x] = hx[j * Nx + i];
      shy[threadIdx.y][threadIdx.x + 1] = hy[j * Nx + i];
      if (threadIdx.y == 0) shx[0][threadIdx.x] = (j > 0) ? hx[(j - 1) * Nx + i] : 0.0f;
      if (threadIdx.x == 0) shy[threadIdx.y][0] = (i > 0) ? hy[j * Nx + i - 1] : 0.0f;
   }
   __syncthreads();
   if (valid) {
      float curl = (shy[threadIdx.y][threadIdx.x + 1] - shy[threadIdx.y][threadIdx.x]) - (shx[threadIdx.y + 1][threadIdx.x] - shx[threadIdx.y][threadIdx.x]);
      ez[j * Nx + i] = ceze[j * Nx + i] * ez[j * Nx + i] + dt * curl;
   }
}

// --- direct Coulomb summation, atoms staged, four lattice points a thread ---
__global__ void coulomb_slab(const float4 *atoms, int natoms, float *energy, float spacing, float z, int pitch)
{
   __shared__ float4 a[128];
   int lx = blockIdx.x * 32 * 4 + threadIdx.x;
   int ly = blockIdx.y * 4 + threadIdx.y;
   int t = threadIdx.y * 32 + threadIdx.x;
   float y = ly * spacing, x0 = lx * spacing, step = 32 * spacing;
   float e0 = 0, e1 = 0, e2 = 0, e3 = 0;
   for (int base = 0; base < natoms; base += 128) {
      __syncthreads();
      if (base + t < natoms) a[t] = atoms[base + t];
      __syncthreads();
      int lim = min(128, natoms - base);
      for (int j = 0; j < lim; j++) {
         float4 p = a[j];
         float dy = y - p.y, dz = z - p.z;
         float d = dy * dy + dz * dz + 0.05f;
         float dx = x0 - p.x;
         e0 += p.w * rsqrtf(dx * dx + d); dx += step;
         e1 += p.w * rsqrtf(dx * dx + d); dx += step;
         e2 += p.w * rsqrtf(dx * dx + d); dx += step;
         e3 += p.w * rsqrtf(dx * dx + d);
      }
   }
   float *o = energy + (size_t)ly * pitch + lx;
   o[0] = e0; o[32] = e1; o[64] = e2; o[96] = e3;
}

// --- Ising model, Metropolis with counter based random numbers, periodic ---
__device__ __forceinline__ unsigned hash32(unsigned h)
{
   h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; h ^= h >> 16;
   return h;
}
__global__ void ising_sweep(const signed char *s, signed char *sn, int L, int parity, float beta)
{
   __shared__ signed char sp[10][66];
   int bx = blockIdx.x * 64, by = blockIdx.y * 8;
   for (int r = threadIdx.y; r < 10; r += blockDim.y)
      for (int c = threadIdx.x; c < 66; c += blockDim.x) {
         int yy = (by + r - 1 + L) % L, xx = (bx + c - 1 + L) % L;
         sp[r][c] = (s[(size_t)yy * L + xx] & 1) ? 1 : -1;
      }
   __syncthreads();
   int x = bx + threadIdx.x, y = by + threadIdx.y;
   int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
   signed char me = sp[ly][lx];
   if (((x ^ y) & 1) == parity) {
      int nb = sp[ly - 1][lx] + sp[ly + 1][lx] + sp[ly][lx - 1] + sp[ly][lx + 1];
      float p = __expf(-2.0f * beta * me * nb);
      float u = hash32(y * L + x) * 2.3283064e-10f;
      if (u < p) me = -me;
   }
   sn[(size_t)y * L + x] = me;
}

int main()
{
   const int NB = 12000;
   float4 *pos = (float4 *)mk<float>(4 * NB), *acc;
   cudaMalloc(&acc, NB * sizeof(float4));
   calculate_forces<<<(NB + 127) / 128, 128, 128 * sizeof(float4)>>>(pos, acc, NB);
   show("calculate_forces", acc, NB * sizeof(float4));

   const int nx = 2048, ny = 1024;
   float *f = mk<float>((size_t)9 * nx * ny), *g;
   cudaMalloc(&g, sizeof(float) * 9 * nx * ny);
   lbm_d2q9<<<dim3(nx / LX, ny), LX>>>(f, g, nx, ny, 1.1f);
   show("lbm_d2q9", g, sizeof(float) * 9 * nx * ny);

   const int ex = 3000, ey = 2000;
   float *ez = f + 6000000 * 2;
   updateEz<<<dim3((ex + 15) / 16, (ey + 15) / 16), dim3(16, 16)>>>(ez, f, f + 6000000, f + 1000, ex, ey, 0.5f);
   show("updateEz", ez, sizeof(float) * ex * ey);

   coulomb_slab<<<dim3(1024 / 128, 1024 / 4), dim3(32, 4)>>>(pos, 1500, g, 0.013f, 3.1f, 1024);
   show("coulomb_slab", g, sizeof(float) * 1024 * 1024);

   const int L = 4096;
   signed char *sa = mk<signed char>((size_t)L * L), *sb;
   cudaMalloc(&sb, (size_t)L * L);
   ising_sweep<<<dim3(L / 64, L / 8), dim3(64, 8)>>>(sa, sb, L, 0, 0.44f);
   show("ising_sweep", sb, (size_t)L * L);
   return 0;
}
