// throughput kernels: dense, stencil, reductions, scan, SAD, histogram
#include "shown.h"

#define TILE_SZ 16

__global__ void sgemm_guarded(int m, int n, int k, const float *__restrict__ A, const float *__restrict__ B,
                              float *__restrict__ C, float alpha, float beta) {
  __shared__ float As[TILE_SZ][TILE_SZ];
  __shared__ float Bs[TILE_SZ][TILE_SZ];
  const int row = blockIdx.y * TILE_SZ + threadIdx.y;
  const int col = blockIdx.x * TILE_SZ + threadIdx.x;
  float acc = 0.0f;
  for (int t = 0; t < (k - 1) / TILE_SZ + 1; ++t) {
    if (row < m && t * TILE_SZ + threadIdx.x < k)
      As[threadIdx.y][threadIdx.x] = A[(size_t)row * k + t * TILE_SZ + threadIdx.x];
    else
      As[threadIdx.y][threadIdx.x] = 0.0f;
    if (col < n && t * TILE_SZ + threadIdx.y < k)
      Bs[threadIdx.y][threadIdx.x] = B[(size_t)(t * TILE_SZ + threadIdx.y) * n + col];
    else
      Bs[threadIdx.y][threadIdx.x] = 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE_SZ; ++i) acc += As[threadIdx.y][i] * Bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) C[(size_t)row * n + col] = alpha * acc + beta * C[(size_t)row * n + col];
}

#define Index3D(_nx, _ny, _i, _j, _k) ((_i) + _nx * ((_j) + _ny * (_k)))

__global__ void block2D_stencil(float c0, float c1, const float *A0, float *Anext, int nx, int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  extern __shared__ float sh_A0[];
  const int sh_id = threadIdx.x + threadIdx.y * blockDim.x;
  const bool inside = (i < nx) && (j < ny);
  float bottom = 0.f, current = 0.f, top = 0.f;
  if (inside) {
    bottom = A0[Index3D(nx, ny, i, j, 0)];
    current = A0[Index3D(nx, ny, i, j, 1)];
  }
  for (int k = 1; k < nz - 1; k++) {
    sh_A0[sh_id] = current;
    __syncthreads();
    if (inside) {
      top = A0[Index3D(nx, ny, i, j, k + 1)];
      if (i > 0 && j > 0 && i < nx - 1 && j < ny - 1) {
        float a_left = threadIdx.x == 0 ? A0[Index3D(nx, ny, i - 1, j, k)] : sh_A0[sh_id - 1];
        float a_right = threadIdx.x == blockDim.x - 1 ? A0[Index3D(nx, ny, i + 1, j, k)] : sh_A0[sh_id + 1];
        float a_up = threadIdx.y == 0 ? A0[Index3D(nx, ny, i, j - 1, k)] : sh_A0[sh_id - blockDim.x];
        float a_down = threadIdx.y == blockDim.y - 1 ? A0[Index3D(nx, ny, i, j + 1, k)] : sh_A0[sh_id + blockDim.x];
        Anext[Index3D(nx, ny, i, j, k)] = (top + bottom + a_up + a_down + a_left + a_right) * c1 - current * c0;
      }
    }
    __syncthreads();
    bottom = current;
    current = top;
  }
}

template <class T, int blockSize>
__global__ void reduce_tree(const T *__restrict__ g_idata, T *__restrict__ g_odata, unsigned int n) {
  __shared__ T sdata[blockSize];
  const unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (blockSize * 2) + tid;
  const unsigned int gridSize = blockSize * 2 * gridDim.x;
  sdata[tid] = 0;
  while (i < n) {
    sdata[tid] += g_idata[i] + (i + blockSize < n ? g_idata[i + blockSize] : (T)0);
    i += gridSize;
  }
  __syncthreads();
  for (unsigned int s = blockSize / 2; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

#define SCAN_THREADS 256
__global__ void scan_block_exclusive(const int *in, int *out, int *block_sums, int n) {
  __shared__ int temp[2 * SCAN_THREADS];
  int tid = threadIdx.x;
  int base = blockIdx.x * 2 * SCAN_THREADS;
  temp[2 * tid] = base + 2 * tid < n ? in[base + 2 * tid] : 0;
  temp[2 * tid + 1] = base + 2 * tid + 1 < n ? in[base + 2 * tid + 1] : 0;
  int offset = 1;
  for (int d = SCAN_THREADS; d > 0; d >>= 1) {
    __syncthreads();
    if (tid < d) {
      int ai = offset * (2 * tid + 1) - 1;
      int bi = offset * (2 * tid + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset <<= 1;
  }
  if (tid == 0) {
    block_sums[blockIdx.x] = temp[2 * SCAN_THREADS - 1];
    temp[2 * SCAN_THREADS - 1] = 0;
  }
  for (int d = 1; d < 2 * SCAN_THREADS; d <<= 1) {
    offset >>= 1;
    __syncthreads();
    if (tid < d) {
      int ai = offset * (2 * tid + 1) - 1;
      int bi = offset * (2 * tid + 2) - 1;
      int t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  if (base + 2 * tid < n) out[base + 2 * tid] = temp[2 * tid];
  if (base + 2 * tid + 1 < n) out[base + 2 * tid + 1] = temp[2 * tid + 1];
}

// 8x8 macroblock against a +-4 search window; one block per macroblock, one thread per offset (9x9 -> 81 of 96)
#define MB 8
#define SR 4
#define WIN (MB + 2 * SR)
__global__ void sad_search(const unsigned char *cur, const unsigned char *ref, unsigned short *sad, int pitch,
                           int width, int height) {
  __shared__ unsigned char blk[MB][MB];
  __shared__ unsigned char window[WIN][WIN];
  const int mbx = blockIdx.x * MB, mby = blockIdx.y * MB;
  for (int t = threadIdx.x; t < MB * MB; t += blockDim.x)
    blk[t / MB][t % MB] = cur[(mby + t / MB) * pitch + mbx + t % MB];
  for (int t = threadIdx.x; t < WIN * WIN; t += blockDim.x) {
    int y = min(max(mby - SR + t / WIN, 0), height - 1);
    int x = min(max(mbx - SR + t % WIN, 0), width - 1);
    window[t / WIN][t % WIN] = ref[y * pitch + x];
  }
  __syncthreads();
  const int ND = 2 * SR + 1;
  if (threadIdx.x >= ND * ND) return;
  int dy = threadIdx.x / ND, dx = threadIdx.x % ND;
  int s = 0;
  for (int y = 0; y < MB; ++y)
    for (int x = 0; x < MB; ++x) s += abs((int)blk[y][x] - (int)window[y + dy][x + dx]);
  sad[(size_t)(blockIdx.y * gridDim.x + blockIdx.x) * (ND * ND) + threadIdx.x] = (unsigned short)s;
}

#define NBINS 256
__global__ void histo_shared(const unsigned char *data, unsigned int *bins, int n) {
  __shared__ unsigned int local[NBINS];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[(data[i] * 37) & (NBINS - 1)], 1u);
  __syncthreads();
  if (local[threadIdx.x]) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main() {
  {
    int m = 1500, n = 1300, k = 1100;
    float *A = mk<float>((size_t)m * k), *B = mk<float>((size_t)k * n), *C = mk<float>((size_t)m * n);
    dim3 grid((n + TILE_SZ - 1) / TILE_SZ, (m + TILE_SZ - 1) / TILE_SZ), block(TILE_SZ, TILE_SZ);
    sgemm_guarded<<<grid, block>>>(m, n, k, A, B, C, 1.0f, 0.5f);
    show("sgemm_guarded", C, sizeof(float) * m * n);
  }
  {
    int nx = 256, ny = 256, nz = 256;
    size_t sz = (size_t)nx * ny * nz;
    float *a = mk<float>(sz), *b = mk<float>(sz);
    dim3 block(32, 8), grid((nx + 31) / 32, (ny + 7) / 8);
    block2D_stencil<<<grid, block, 32 * 8 * sizeof(float)>>>(1.f / 6.f, 1.f / 36.f, a, b, nx, ny, nz);
    show("block2D_stencil", b, sz * 4);
  }
  {
    const int n = 1 << 23, blocks = 512;
    double *x = mk<double>(n), *y = mk<double>(blocks);
    reduce_tree<double, 256><<<blocks, 256>>>(x, y, n);
    show("reduce_tree", y, blocks * sizeof(double));
  }
  {
    const int n = (1 << 23) - 77;
    int nb = (n + 2 * SCAN_THREADS - 1) / (2 * SCAN_THREADS);
    int *x = mk<int>(n), *y = mk<int>(n), *s = mk<int>(nb);
    scan_block_exclusive<<<nb, SCAN_THREADS>>>(x, y, s, n);
    show("scan_block_exclusive.out", y, sizeof(int) * (size_t)n);
    show("scan_block_exclusive.sums", s, sizeof(int) * nb);
  }
  {
    const int w = 2048, h = 1024;
    unsigned char *c = mk<unsigned char>(w * h), *r = mk<unsigned char>(w * h + 64);
    size_t no = (size_t)(w / MB) * (h / MB) * 81;
    unsigned short *o = mk<unsigned short>(no);
    dim3 g(w / MB, h / MB);
    sad_search<<<g, 96>>>(c, r + 13, o, w, w, h);
    show("sad_search", o, no * 2);
  }
  {
    const int n = 1 << 24;
    unsigned char *d = mk<unsigned char>(n);
    unsigned int *b = mk<unsigned int>(NBINS);
    histo_shared<<<1024, NBINS>>>(d, b, n);
    show("histo_shared", b, NBINS * 4);
  }
  return 0;
}
