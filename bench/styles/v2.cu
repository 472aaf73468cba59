// private arrays II
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CUDA_OK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); exit(1); } } while (0)
// 1. Gaussian elimination with pivoting of small matrix per thread
#define NN 6
__global__ void solveSmall(const float *A, const float *b, float *x, int count) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  float m[NN][NN + 1];
  for (int i = 0; i < NN; ++i) {
    for (int j = 0; j < NN; ++j) m[i][j] = A[(i * NN + j) * count + t];
    m[i][NN] = b[i * count + t];
  }
  for (int k = 0; k < NN; ++k) {
    int p = k;
    for (int i = k + 1; i < NN; ++i) if (fabsf(m[i][k]) > fabsf(m[p][k])) p = i;
    for (int j = k; j <= NN; ++j) { float s = m[k][j]; m[k][j] = m[p][j]; m[p][j] = s; }
    float inv = 1.f / (m[k][k] + 1e-3f);
    for (int i = k + 1; i < NN; ++i) {
      float f = m[i][k] * inv;
      for (int j = k; j <= NN; ++j) m[i][j] -= f * m[k][j];
    }
  }
  for (int i = NN - 1; i >= 0; --i) {
    float s = m[i][NN];
    for (int j = i + 1; j < NN; ++j) s -= m[i][j] * x[j * count + t];
    x[i * count + t] = s / (m[i][i] + 1e-3f);
  }
}
// 2. Mersenne twister state per thread
#define MT_N 19
#define MT_M 9
__global__ void mtRandom(unsigned *out, const unsigned *seeds, int per) {
  int tid = blockDim.x * blockIdx.x + threadIdx.x;
  int nth = blockDim.x * gridDim.x;
  unsigned mt[MT_N];
  mt[0] = seeds[tid];
  for (int i = 1; i < MT_N; i++) mt[i] = 1812433253u * (mt[i - 1] ^ (mt[i - 1] >> 30)) + i;
  int st = 0;
  unsigned mti1 = mt[0];
  for (int k = 0; k < per; k++) {
    int s1 = st + 1, sm = st + MT_M;
    if (s1 >= MT_N) s1 -= MT_N;
    if (sm >= MT_N) sm -= MT_N;
    unsigned mti = mti1;
    mti1 = mt[s1];
    unsigned mtm = mt[sm];
    unsigned x = (mti & 0xFFFFFFFEu) | (mti1 & 1u);
    x = mtm ^ (x >> 1) ^ ((x & 1) ? 0x9908b0dfu : 0);
    mt[st] = x;
    st = s1;
    x ^= x >> 12; x ^= (x << 7) & 0x9d2c5680u; x ^= x >> 18;
    out[nth * k + tid] = x;
  }
}
// 3. FIR with circular delay line in private memory
__global__ void iirBank(const float *in, float *out, const float *taps, int ntaps, int n, int channels) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= channels) return;
  float line[32];
  for (int i = 0; i < 32; ++i) line[i] = 0.f;
  int head = 0;
  for (int i = 0; i < n; ++i) {
    line[head] = in[i * channels + c];
    float acc = 0.f;
    int p = head;
    for (int k = 0; k < ntaps; ++k) {
      acc += taps[k] * line[p];
      p = (p + 31) & 31;
    }
    out[i * channels + c] = acc;
    head = (head + 1) & 31;
  }
}
// 4. lookup table: constant private table
__global__ void popcountTable(const unsigned *in, int *out, int n) {
  const int table[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = in[i];
  int c = 0;
  while (v) { c += table[v & 15]; v >>= 4; }
  out[i] = c;
}
// 5. stack passed to a device function (push/pop)
__device__ void push(int *st, int &sp, int v) { st[sp++] = v; }
__device__ int pop(int *st, int &sp) { return st[--sp]; }
__global__ void rpn(const int *prog, int len, const int *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int st[16];
  int sp = 0;
  for (int k = 0; k < len; ++k) {
    int op = prog[k];
    if (op == 0) push(st, sp, x[i]);
    else if (op == 1) { int a = pop(st, sp), b = pop(st, sp); push(st, sp, a + b); }
    else if (op == 2) { int a = pop(st, sp), b = pop(st, sp); push(st, sp, a * b); }
    else push(st, sp, op);
  }
  out[i] = pop(st, sp);
}
// 6. quickselect / heap in double of run-time k plus 2-D block
__global__ void topk(const double *v, double *out, int len, int k, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double heap[20];
  int sz = 0;
  for (int i = 0; i < len; ++i) {
    double x = v[(size_t)i * rows + r];
    if (sz < k) {
      int p = sz++;
      while (p > 0 && heap[(p - 1) / 2] > x) { heap[p] = heap[(p - 1) / 2]; p = (p - 1) / 2; }
      heap[p] = x;
    } else if (x > heap[0]) {
      int p = 0;
      while (2 * p + 1 < k) {
        int c = 2 * p + 1;
        if (c + 1 < k && heap[c + 1] < heap[c]) ++c;
        if (heap[c] >= x) break;
        heap[p] = heap[c];
        p = c;
      }
      heap[p] = x;
    }
  }
  for (int i = 0; i < k; ++i) out[(size_t)i * rows + r] = heap[i];
}
template <class T> T *mk(size_t n) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; ++i) h[i] = (T)((i * 7919u) % 611);
  CUDA_OK(cudaMalloc(&d, n * sizeof(T)));
  CUDA_OK(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 18;
  float *A = mk<float>((size_t)n * 36), *b = mk<float>(n * 32), *x = mk<float>((size_t)n * 32);
  unsigned *u = mk<unsigned>(n * 32), *s = mk<unsigned>(n);
  int *oi = mk<int>(n), *xi = mk<int>(n);
  double *dv = mk<double>((size_t)n * 40), *dout = mk<double>((size_t)n * 20);
  solveSmall<<<(n + 127) / 128, 128>>>(A, b, x, n);
  mtRandom<<<n / 128, 128>>>(u, s, 32);
  iirBank<<<(n + 127) / 128, 128>>>(b, x, A, 24, 32, n);
  popcountTable<<<(n + 255) / 256, 256>>>(s, oi, n);
  int hp[] = {0, 5, 1, 0, 2, 7, 1};
  int *prog;
  CUDA_OK(cudaMalloc(&prog, sizeof hp));
  CUDA_OK(cudaMemcpy(prog, hp, sizeof hp, cudaMemcpyHostToDevice));
  rpn<<<(n + 255) / 256, 256>>>(prog, 7, xi, oi, n);
  topk<<<(n + 63) / 64, 64>>>(dv, dout, 40, 10, n);
  CUDA_OK(cudaGetLastError());
  CUDA_OK(cudaDeviceSynchronize());
}
