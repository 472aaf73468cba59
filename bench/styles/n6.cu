// linear algebra and data mining kernels
#include <stdio.h>
#include <stdlib.h>
#include <float.h>
#include <cuda_runtime.h>
static void HandleError(cudaError_t err, const char *file, int line) {
  if (err != cudaSuccess) { printf("%s in %s at line %d\n", cudaGetErrorString(err), file, line); exit(EXIT_FAILURE); }
}
#define HANDLE_ERROR(err) (HandleError(err, __FILE__, __LINE__))

typedef float DATA_TYPE;
/* C = alpha A A^T + beta C  (PolyBench SYRK made to use shared memory) */
#define DIM_THREAD_BLOCK 16
__global__ void syrk_shared(int ni, int nj, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE *a, DATA_TYPE *c) {
  __shared__ DATA_TYPE ai[DIM_THREAD_BLOCK][DIM_THREAD_BLOCK], aj[DIM_THREAD_BLOCK][DIM_THREAD_BLOCK + 1];
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int jr = blockIdx.x * blockDim.x + threadIdx.y;
  DATA_TYPE acc = 0;
  for (int k = 0; k < nj; k += DIM_THREAD_BLOCK) {
    int kk = k + threadIdx.x;
    ai[threadIdx.y][threadIdx.x] = (i < ni && kk < nj) ? a[i * nj + kk] : 0;
    aj[threadIdx.y][threadIdx.x] = (jr < ni && kk < nj) ? a[jr * nj + kk] : 0;
    __syncthreads();
    for (int q = 0; q < DIM_THREAD_BLOCK; q++) acc += ai[threadIdx.y][q] * aj[threadIdx.x][q];
    __syncthreads();
  }
  if (i < ni && j < ni) c[i * ni + j] = beta * c[i * ni + j] + alpha * acc;
}

/* assign points to nearest centroid, centroids all in dynamic shared memory */
__global__ void nearest_center(const float *points, const float *centers, int *membership, int npoints, int ncl, int nfeat) {
  extern __shared__ float s_centers[];
  for (int i = threadIdx.x; i < ncl * nfeat; i += blockDim.x) s_centers[i] = centers[i];
  __syncthreads();
  int pid = blockDim.x * blockIdx.x + threadIdx.x;
  if (pid < npoints) {
    int index = -1;
    float min_dist = FLT_MAX;
    for (int c = 0; c < ncl; c++) {
      float ans = 0.0f;
      for (int f = 0; f < nfeat; f++) {
        float t = points[f * npoints + pid] - s_centers[c * nfeat + f];
        ans += t * t;
      }
      if (ans < min_dist) {
        min_dist = ans;
        index = c;
      }
    }
    membership[pid] = index;
  }
}

/* brute force 1-NN in 3D with tiles of 256 reference points */
__global__ void nn_search3(const float *qx, const float *qy, const float *qz, const float3 *ref, int nq, int nr, int *best, float *bestd) {
  __shared__ float3 tile[256];
  int q = blockIdx.x * 256 + threadIdx.x;
  float x = 0, y = 0, z = 0;
  if (q < nq) { x = qx[q]; y = qy[q]; z = qz[q]; }
  float bd = 3.4e38f;
  int bi = -1;
  for (int base = 0; base < nr; base += 256) {
    int m = min(256, nr - base);
    if (threadIdx.x < m) tile[threadIdx.x] = ref[base + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < m; j++) {
      float dx = tile[j].x - x, dy = tile[j].y - y, dz = tile[j].z - z;
      float d = dx * dx + dy * dy + dz * dz;
      if (d < bd) { bd = d; bi = base + j; }
    }
    __syncthreads();
  }
  if (q < nq) { best[q] = bi; bestd[q] = bd; }
}

/* blocked Floyd-Warshall, independent block */
#define FW 32
__global__ void fw_dependent_phase(int *graph, int pitch, int nblk, int b) {
  __shared__ int prim[FW][FW];
  __shared__ int cur[FW][FW];
  if (blockIdx.x == b) return;
  int x = threadIdx.x, y = threadIdx.y;
  prim[y][x] = graph[(b * FW + y) * pitch + b * FW + x];
  int v, u;
  if (blockIdx.y == 0) { v = b * FW + y; u = blockIdx.x * FW + x; }
  else { v = blockIdx.x * FW + y; u = b * FW + x; }
  cur[y][x] = graph[v * pitch + u];
  __syncthreads();
  int path = cur[y][x];
  for (int i = 0; i < FW; i++) {
    int np = blockIdx.y == 0 ? prim[y][i] + cur[i][x] : cur[y][i] + prim[i][x];
    if (np < path) path = np;
    __syncthreads();
    cur[y][x] = path;
    __syncthreads();
  }
  graph[v * pitch + u] = path;
}

#define LB 16
template <class T> static T *init(size_t n, double scale, double off) {
  T *h = (T *)malloc(n * sizeof(T));
  for (size_t i = 0; i < n; i++) h[i] = (T)(((i * 1103515245u + 12345u) >> 9 & 1023) * scale + off);
  T *d;
  HANDLE_ERROR(cudaMalloc((void **)&d, n * sizeof(T)));
  HANDLE_ERROR(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main(void) {
  int ni = 1024, nj = 1000;
  float *a = init<float>(ni * nj, 0.01, 0), *c = init<float>(ni * ni, 0.01, 0);
  syrk_shared<<<dim3(ni / 16, ni / 16), dim3(16, 16)>>>(ni, nj, 1.2f, 0.7f, a, c);
  int m = 4000, n = 3500, lda = 3517;
  double *A = init<double>((size_t)m * lda, 0.001, 0), *x = init<double>(n, 0.01, 0), *y = init<double>(m, 0, 0);
  HANDLE_ERROR(cudaGetLastError());
  int np = 494020, ncl = 24, nf = 34;
  float *pts = init<float>((size_t)np * nf, 0.1, 0), *ctr = init<float>(ncl * nf, 0.09, 1);
  int *mem = init<int>(np, 0, 0);
  nearest_center<<<(np + 255) / 256, 256, ncl * nf * sizeof(float)>>>(pts, ctr, mem, np, ncl, nf);
  HANDLE_ERROR(cudaGetLastError());
  int nq = 100000, nr = 5003;
  float *ref = init<float>(3 * nr, 0.1, 0);
  nn_search3<<<(nq + 255) / 256, 256>>>(pts, pts + nq, pts + 2 * nq, (float3 *)ref, nq, nr, mem, c);
  HANDLE_ERROR(cudaGetLastError());
  int gv = 2048;
  int *graph = init<int>(gv * gv, 1, 1);
  fw_dependent_phase<<<dim3(gv / FW, 2), dim3(FW, FW)>>>(graph, gv, gv / FW, 3);
  HANDLE_ERROR(cudaGetLastError());
  int cnt = 50001;
  float *mats = init<float>((size_t)cnt * 256, 0.001, 3.0);
  HANDLE_ERROR(cudaGetLastError());
  HANDLE_ERROR(cudaDeviceSynchronize());
  return 0;
}
