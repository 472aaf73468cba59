/*
 * GPU programming course, assignments 1-8
 */
#include "shown.h"

#define TILE_WIDTH 16
#define HIST_SIZE 256
#define MASK_WIDTH 9
#define SCAN_BLOCK 512
#define LOG_BANKS 5
#define PAD(n) ((n) >> LOG_BANKS)

/* ---- HW1 ---- */
__global__ void hw1MatrixMultiplyShared(double *A, double *B, double *C, int numARows, int numAColumns, int numBColumns) {
  __shared__ double ds_A[TILE_WIDTH][TILE_WIDTH];
  __shared__ double ds_B[TILE_WIDTH][TILE_WIDTH];
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int Row = by * TILE_WIDTH + ty;
  int Col = bx * TILE_WIDTH + tx;
  double Pvalue = 0;

  for (int m = 0; m < (numAColumns - 1) / TILE_WIDTH + 1; ++m) {
    if (Row < numARows && m * TILE_WIDTH + tx < numAColumns)
      ds_A[ty][tx] = A[Row * numAColumns + m * TILE_WIDTH + tx];
    else
      ds_A[ty][tx] = 0;
    if (Col < numBColumns && m * TILE_WIDTH + ty < numAColumns)
      ds_B[ty][tx] = B[(m * TILE_WIDTH + ty) * numBColumns + Col];
    else
      ds_B[ty][tx] = 0;
    __syncthreads();
    for (int k = 0; k < TILE_WIDTH; ++k)
      Pvalue += ds_A[ty][k] * ds_B[k][tx];
    __syncthreads();
  }
  if (Row < numARows && Col < numBColumns)
    C[Row * numBColumns + Col] = Pvalue;
}

/* ---- HW2: argmin of each segment ---- */
__global__ void hw2ArgMinReduce(const float *input, float *minVal, int *minPos, int len) {
  __shared__ float val[256];
  __shared__ int pos[256];
  unsigned int t = threadIdx.x, start = 4 * blockIdx.x * blockDim.x;
  float best = 1e30f;
  int where = -1;
  for (int k = 0; k < 4; k++) {
    int i = start + k * blockDim.x + t;
    if (i < len) {
      float v = input[i] + (float)(i % 977);
      if (v < best) { best = v; where = i; }
    }
  }
  val[t] = best;
  pos[t] = where;
  for (unsigned int stride = blockDim.x >> 1; stride >= 1; stride >>= 1) {
    __syncthreads();
    if (t < stride) {
      if (val[t + stride] < val[t] || (val[t + stride] == val[t] && pos[t + stride] < pos[t])) {
        val[t] = val[t + stride];
        pos[t] = pos[t + stride];
      }
    }
  }
  if (t == 0) { minVal[blockIdx.x] = val[0]; minPos[blockIdx.x] = pos[0]; }
}

/* ---- HW3: work-efficient scan, exclusive, block sums written aside ---- */
__global__ void hw3BlellochScan(const int *in, int *out, int *sums, int n) {
  __shared__ int temp[2 * SCAN_BLOCK + PAD(2 * SCAN_BLOCK)];
  int thid = threadIdx.x;
  int base = blockIdx.x * 2 * SCAN_BLOCK;
  int ai = thid, bi = thid + SCAN_BLOCK;
  temp[ai + PAD(ai)] = base + ai < n ? in[base + ai] : 0;
  temp[bi + PAD(bi)] = base + bi < n ? in[base + bi] : 0;
  int offset = 1;
  for (int d = SCAN_BLOCK; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
      a += PAD(a);
      b += PAD(b);
      temp[b] += temp[a];
    }
    offset *= 2;
  }
  if (thid == 0) {
    int last = 2 * SCAN_BLOCK - 1 + PAD(2 * SCAN_BLOCK - 1);
    sums[blockIdx.x] = temp[last];
    temp[last] = 0;
  }
  for (int d = 1; d < 2 * SCAN_BLOCK; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
      a += PAD(a);
      b += PAD(b);
      int tmp = temp[a];
      temp[a] = temp[b];
      temp[b] += tmp;
    }
  }
  __syncthreads();
  if (base + ai < n) out[base + ai] = temp[ai + PAD(ai)];
  if (base + bi < n) out[base + bi] = temp[bi + PAD(bi)];
}

/* ---- HW4 ---- */
__global__ void hw4TransposeNoBankConflicts(float *odata, const float *idata, int width, int height) {
  __shared__ float tile[32][32 + 1];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height)
      tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width)
      odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

/* ---- HW5 ---- */
__global__ void hw5PrivatizedHistogram(unsigned char *buffer, long size, unsigned int *histo) {
  __shared__ unsigned int histo_private[HIST_SIZE];
  for (int b = threadIdx.x; b < HIST_SIZE; b += blockDim.x) histo_private[b] = 0;
  __syncthreads();
  long i = threadIdx.x + (long)blockIdx.x * blockDim.x;
  long stride = (long)blockDim.x * gridDim.x;
  while (i < size) {
    atomicAdd(&histo_private[(unsigned char)(buffer[i] * 19 + (i & 7))], 1u);
    i += stride;
  }
  __syncthreads();
  for (int b = threadIdx.x; b < HIST_SIZE; b += blockDim.x)
    atomicAdd(&histo[b], histo_private[b]);
}

/* ---- HW6: 1-D convolution, halo by extra threads ---- */
__constant__ float M[MASK_WIDTH];
#define O_TILE_WIDTH (192 - MASK_WIDTH + 1)

__global__ void hw6Convolution1D(float *N, float *P, int Width) {
  __shared__ float Ns[192];
  int index_out = blockIdx.x * O_TILE_WIDTH + threadIdx.x;
  int index_in = index_out - MASK_WIDTH / 2;
  if (index_in >= 0 && index_in < Width)
    Ns[threadIdx.x] = N[index_in];
  else
    Ns[threadIdx.x] = 0.0f;
  __syncthreads();
  if (threadIdx.x < O_TILE_WIDTH && index_out < Width) {
    float output = 0.0f;
    for (int j = 0; j < MASK_WIDTH; j++) output += M[j] * Ns[j + threadIdx.x];
    P[index_out] = output;
  }
}

/* ---- HW7 ---- */
__global__ void hw7BitonicSortChunks(int *keys, int n) {
  extern __shared__ int sh[];
  int tid = threadIdx.x;
  int g = blockIdx.x * blockDim.x + tid;
  sh[tid] = g < n ? (int)(((unsigned)keys[g] * 7717u + (unsigned)g * 4099u) & 0xfffffu) : 0x7fffffff;
  __syncthreads();
  for (int k = 2; k <= blockDim.x; k <<= 1) {
    for (int j = k >> 1; j > 0; j >>= 1) {
      int ixj = tid ^ j;
      if (ixj > tid) {
        int a = sh[tid], b = sh[ixj];
        if (((tid & k) == 0) == (a > b)) {
          sh[tid] = b;
          sh[ixj] = a;
        }
      }
      __syncthreads();
    }
  }
  if (g < n) keys[g] = sh[tid];
}

/* ---- HW8: count N-queens completions below a fixed prefix; explicit stack per thread ---- */
__global__ void hw8QueensPrefixCount(unsigned int *counts, int N, int nprefix) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= nprefix) return;
  unsigned int cols[16], ld[16], rd[16], avail[16];
  unsigned int full = (1u << N) - 1;
  /* prefix: 5 rows in base N */
  unsigned int c = 0, l = 0, r = 0;
  int code = id, ok = 1;
  for (int k = 0; k < 5; k++) {
    unsigned int bit = 1u << (code % N);
    code /= N;
    if ((c | l | r) & bit) { ok = 0; break; }
    c |= bit;
    l = ((l | bit) << 1) & full;
    r = (r | bit) >> 1;
  }
  unsigned int found = 0;
  if (ok) {
    int sp = 0;
    cols[0] = c; ld[0] = l; rd[0] = r;
    avail[0] = full & ~(c | l | r);
    while (sp >= 0) {
      if (avail[sp] == 0) { sp--; continue; }
      unsigned int bit = avail[sp] & (0u - avail[sp]);
      avail[sp] ^= bit;
      unsigned int nc = cols[sp] | bit;
      if (nc == full) { found++; continue; }
      unsigned int nl = ((ld[sp] | bit) << 1) & full, nr = (rd[sp] | bit) >> 1;
      sp++;
      cols[sp] = nc; ld[sp] = nl; rd[sp] = nr;
      avail[sp] = full & ~(nc | nl | nr);
    }
  }
  counts[id] = found;
}

int main(int argc, char **argv) {
  {
    int m = 1100, k = 900, n = 1300;
    double *A = mk<double>(m * k), *B = mk<double>(k * n), *C = mk<double>(m * n);
    dim3 dimGrid((n - 1) / TILE_WIDTH + 1, (m - 1) / TILE_WIDTH + 1, 1);
    dim3 dimBlock(TILE_WIDTH, TILE_WIDTH, 1);
    hw1MatrixMultiplyShared<<<dimGrid, dimBlock>>>(A, B, C, m, k, n);
    show("hw1MatrixMultiplyShared", C, (size_t)m * n * 8);
  }
  {
    int len = 17000003;
    int blocks = (len + 1023) / 1024;
    float *in = mk<float>(len), *mv = mk<float>(blocks);
    int *mp = mk<int>(blocks);
    hw2ArgMinReduce<<<blocks, 256>>>(in, mv, mp, len);
    show("hw2ArgMinReduce", mp, blocks * sizeof(int));
    cudaFree(in);
  }
  {
    int n = 12345678, blocks = (n + 2 * SCAN_BLOCK - 1) / (2 * SCAN_BLOCK);
    int *in = mk<int>(n), *out = mk<int>(n), *sums = mk<int>(blocks);
    hw3BlellochScan<<<blocks, SCAN_BLOCK>>>(in, out, sums, n);
    show("hw3BlellochScan", out, (size_t)n * 4);
    cudaFree(in); cudaFree(out);
  }
  {
    int w = 4100, h = 3333;
    float *a = mk<float>(w * h), *b = mk<float>(w * h);
    dim3 grid((w + 31) / 32, (h + 31) / 32), block(32, 8);
    hw4TransposeNoBankConflicts<<<grid, block>>>(b, a, w, h);
    show("hw4TransposeNoBankConflicts", b, (size_t)w * h * 4);
    cudaFree(a); cudaFree(b);
  }
  {
    long size = 30000001;
    unsigned char *buf = mk<unsigned char>(size);
    unsigned int *hist;
    cudaMalloc(&hist, HIST_SIZE * 4);
    cudaMemset(hist, 0, HIST_SIZE * 4);
    hw5PrivatizedHistogram<<<1056, 512>>>(buf, size, hist);
    show("hw5PrivatizedHistogram", hist, HIST_SIZE * 4);
  }
  {
    int w = 15000000;
    float *a = mk<float>(w), *b = mk<float>(w);
    float m[MASK_WIDTH] = {0.1f, -0.2f, 0.3f, 0.5f, 1.0f, 0.5f, 0.3f, -0.2f, 0.1f};
    cudaMemcpyToSymbol(M, m, sizeof(m));
    hw6Convolution1D<<<(w + O_TILE_WIDTH - 1) / O_TILE_WIDTH, 192>>>(a, b, w);
    show("hw6Convolution1D", b, (size_t)w * 4);
    cudaFree(a); cudaFree(b);
  }
  {
    int n = 6000000;
    int *k = mk<int>(n);
    hw7BitonicSortChunks<<<(n + 1023) / 1024, 1024, 1024 * sizeof(int)>>>(k, n);
    show("hw7BitonicSortChunks", k, (size_t)n * 4);
  }
  {
    int N = 11, np = 161051;
    unsigned int *c = mk<unsigned int>(np);
    hw8QueensPrefixCount<<<(np + 127) / 128, 128>>>(c, N, np);
    show("hw8QueensPrefixCount", c, np * 4);
  }
  return 0;
}
