// sparse, graph, particle codes
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>
#define CUDA_ERR(ans) do { cudaError_t _e = (ans); if (_e != cudaSuccess) { fprintf(stderr, "GPU error %s at %s:%d\n", cudaGetErrorString(_e), __FILE__, __LINE__); exit(-1); } } while (0)

#define SPMV_BS 128
#define BAND 12
/* BFS frontier expansion: next frontier is collected in a block queue first */
#define QCAP 2048
__global__ void bfs_block_queue(const int *rowPtr, const int *col, const int *frontier, int nf, int *next, int *nnext, int *level, int cur) {
  __shared__ int queue[QCAP];
  __shared__ int qn, qbase;
  if (threadIdx.x == 0) qn = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nf) {
    int v = frontier[i];
    for (int e = rowPtr[v]; e < rowPtr[v + 1]; e++) {
      int u = col[e];
      if (atomicCAS(&level[u], -1, cur + 1) == -1) {
        int p = atomicAdd(&qn, 1);
        if (p < QCAP) queue[p] = u;
        else next[atomicAdd(nnext, 1)] = u;
      }
    }
  }
  __syncthreads();
  int m = min(qn, QCAP);
  if (threadIdx.x == 0) qbase = atomicAdd(nnext, m);
  __syncthreads();
  for (int k = threadIdx.x; k < m; k += blockDim.x) next[qbase + k] = queue[k];
}

struct LJ { float eps, sig; };
/* direct coulomb summation on a plane, atoms through shared, 4 lattice points a thread */
__global__ void coulomb_plane(const float4 *atoms, int natoms, float *energy, float gridspacing, float z, int ex) {
  __shared__ float4 at[128];
  int xi = blockIdx.x * 16 * 4 + threadIdx.x, yi = blockIdx.y * 8 + threadIdx.y;
  int tid = threadIdx.y * 16 + threadIdx.x;
  float cy = gridspacing * yi, cx = gridspacing * xi, gs = gridspacing * 16;
  float e0 = 0, e1 = 0, e2 = 0, e3 = 0;
  for (int s = 0; s < natoms; s += 128) {
    int cnt = min(128, natoms - s);
    __syncthreads();
    if (tid < cnt) at[tid] = atoms[s + tid];
    __syncthreads();
    for (int n = 0; n < cnt; n++) {
      float dy = cy - at[n].y, dz = z - at[n].z, dyz2 = dy * dy + dz * dz;
      float dx0 = cx - at[n].x, dx1 = dx0 + gs, dx2 = dx1 + gs, dx3 = dx2 + gs;
      e0 += at[n].w * rsqrtf(dx0 * dx0 + dyz2 + 1e-5f);
      e1 += at[n].w * rsqrtf(dx1 * dx1 + dyz2 + 1e-5f);
      e2 += at[n].w * rsqrtf(dx2 * dx2 + dyz2 + 1e-5f);
      e3 += at[n].w * rsqrtf(dx3 * dx3 + dyz2 + 1e-5f);
    }
  }
  float *o = energy + (size_t)yi * ex + xi;
  o[0] += e0;
  o[16] += e1;
  o[32] += e2;
  o[48] += e3;
}

template <class T> T *copyin(const std::vector<T> &h) {
  T *d;
  CUDA_ERR(cudaMalloc((void **)&d, h.size() * sizeof(T)));
  CUDA_ERR(cudaMemcpy(d, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice));
  return d;
}
int main() {
  const int rows = 300000;
  std::vector<int> ap(rows + 1), aj;
  unsigned r = 17;
  for (int i = 0; i < rows; i++) {
    ap[i] = aj.size();
    r = r * 1664525u + 1013904223u;
    int len = 5 + (r >> 24) % 60;
    for (int k = 0; k < len; k++) { r = r * 1664525u + 1013904223u; aj.push_back((i + (r >> 12) % 4000) % rows); }
  }
  ap[rows] = aj.size();
  std::vector<float> ax(aj.size(), 0.5f), vx(rows);
  for (int i = 0; i < rows; i++) vx[i] = (i % 37) * 0.1f;
  int *dap = copyin(ap), *daj = copyin(aj);
  float *dax = copyin(ax), *dx = copyin(vx), *dy = copyin(vx);
  CUDA_ERR(cudaGetLastError());
  int n = 1000003;
  std::vector<double> dv((size_t)n * (2 * BAND + 1), 0.25), xv(n, 1.5);
  double *vals = copyin(dv), *xx = copyin(xv), *yy = copyin(xv);
  CUDA_ERR(cudaGetLastError());
  const int nf = 20000;
  std::vector<int> lev(rows, -1), fr(nf), zero(1, 0);
  for (int i = 0; i < nf; i++) { fr[i] = i * 14; lev[fr[i]] = 0; }
  int *dl = copyin(lev), *dfr = copyin(fr), *dnn = copyin(zero), *dnext = copyin(lev);
  bfs_block_queue<<<(nf + 255) / 256, 256>>>(dap, daj, dfr, nf, dnext, dnn, dl, 0);
  CUDA_ERR(cudaGetLastError());
  int np = 8100;
  std::vector<float4> p(16384);
  std::vector<LJ> lj(np);
  for (size_t i = 0; i < p.size(); i++) p[i] = make_float4(i % 25 * 1.1f, i / 25 % 25 * 1.1f, i / 625 * 1.1f, i & 1 ? 1.f : -1.f);
  for (int i = 0; i < np; i++) lj[i] = {1.f + (i & 3) * 0.1f, 1.f};
  float4 *dp = copyin(p);
  LJ *dlj = copyin(lj);
  float3 *df = (float3 *)copyin(std::vector<float>(3 * np, 0.f));
  CUDA_ERR(cudaGetLastError());
  int ex = 512, ey = 512;
  float *en = copyin(std::vector<float>(ex * ey, 0.f));
  coulomb_plane<<<dim3(ex / 64, ey / 8), dim3(16, 8)>>>(dp, 10001, en, 0.05f, 3.3f, ex);
  CUDA_ERR(cudaGetLastError());
  CUDA_ERR(cudaDeviceSynchronize());
  return 0;
}
