// Rows streamed through a window; arrays that stay in shared memory with several
// outputs a thread. The rewritten program prints the checksums of the original
// for sizes around the blocks, in two thread orders.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check run %s > %t.original
// RUN: rcache-check run %t.cu > %t.rewritten
// RUN: diff %t.original %t.rewritten
// RUN: %if slow %{ rcache-check run --schedule=random:7 %t.cu > %t.random %}
// RUN: %if slow %{ diff %t.original %t.random %}
// RUN: %if slow %{ %nvcc -std=c++17 -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// RUN: %if slow %{ rcache-rewrite %s -o %t.kept.cu -q --kernel=product --explain-choice --cuda-path=%cuda 2>&1 | awk '$2 == "1x8" && /As: shared; Bs: shared/ {print $1}' > %t.number %}
// RUN: %if slow %{ xargs -a %t.number -I@ rcache-rewrite %s -o %t.kept.cu --kernel=product --candidate=@ --cuda-path=%cuda 2>&1 | FileCheck --check-prefix=KEPT %s %}
// RUN: %if slow %{ rcache-check run %t.kept.cu > %t.kept %}
// RUN: %if slow %{ diff %t.original %t.kept %}
// KEPT: rewrote 'product' {{.*}}'As' kept shared; 'Bs' kept shared
//
// RUN: %if slow %{ rcache-rewrite %s -o %t.shared.cu --force --exchange=shared --coarsen=2 --cuda-path=%cuda 2>&1 | FileCheck --check-prefix=SHARED %s %}
// RUN: %if slow %{ rcache-check run %t.shared.cu > %t.shared %}
// RUN: %if slow %{ diff %t.original %t.shared %}
// SHARED-DAG: rewrote 'forces' {{.*}}2 outputs a thread; 'tile' kept shared
// SHARED-DAG: rewrote 'lookup' {{.*}}2 outputs a thread; 'table' kept shared
//
// CHECK-DAG: rewrote 'blur' {{.*}}reloaded row by row
// CHECK-DAG: rewrote 'centred' {{.*}}reloaded
// CHECK-DAG: rewrote 'star'
// CHECK-DAG: rewrote 'running' {{.*}}reloaded
// CHECK-DAG: rewrote 'product' {{.*}}'As' {{.*}}'Bs'
// CHECK-DAG: rewrote 'forces'
// CHECK-DAG: rewrote 'sums' {{.*}}'part' owned by a warp
// CHECK-DAG: rewrote 'lookup'
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
// The barrier keeps the loads in front of the stores: it stands behind them.
// TEXT-LABEL: blur_rc(
// TEXT: blurRow_w_row(
// TEXT: else { // at a border
// TEXT: __syncthreads();
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int R = 3, D = 2 * R + 1;
__constant__ float weights[D * D];

// May alias; zero borders; linear staging.
__global__ void blur(const float *in, float *out, int w, int h) {
  __shared__ float blurRow[(8 + 2 * R)][32 + 2 * R];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < (8 + 2 * R) * (32 + 2 * R);
       i += 256) {
    const int r = i / (32 + 2 * R), c = i % (32 + 2 * R);
    const int gy = int(blockIdx.y) * 8 + r - R, gx = int(blockIdx.x) * 32 + c - R;
    blurRow[r][c] = gx >= 0 && gx < w && gy >= 0 && gy < h ? in[gy * w + gx] : 0.f;
  }
  __syncthreads();
  if (x >= w || y >= h)
    return;
  float acc = 0;
  for (int j = 0; j < D; ++j)
    for (int i = 0; i < D; ++i)
      acc += weights[j * D + i] * blurRow[threadIdx.y + j][threadIdx.x + i];
  out[y * w + x] = acc;
}

// The loop runs from -R to R; weights come through a pointer.
__global__ void centred(const float *__restrict__ in, float *__restrict__ out,
                        const float *__restrict__ k, int w, int h) {
  __shared__ float s[16 + 4][16 + 4];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  for (int j = ty; j < 20; j += 16)
    for (int i = tx; i < 20; i += 16) {
      const int gx = min(max(int(blockIdx.x) * 16 + i - 2, 0), w - 1);
      const int gy = min(max(int(blockIdx.y) * 16 + j - 2, 0), h - 1);
      s[j][i] = in[gy * w + gx];
    }
  __syncthreads();
  if (x < w && y < h) {
    float acc = 0.5f;
    for (int dy = -2; dy <= 2; ++dy)
      for (int dx = -2; dx <= 2; ++dx)
        acc += s[ty + dy + 2][tx + dx + 2] * k[(dy + 2) * 5 + dx + 2];
    out[y * w + x] = acc;
  }
}

// A star leaves out the corners of its tile: they are neither staged nor read.
__global__ void star(const float *in, float *out, int w, int h) {
  __shared__ float s[8 + 4][16 + 4];
  const int tx = threadIdx.x + 2, ty = threadIdx.y + 2;
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const bool in_image = x < w && y < h;
  s[ty][tx] = in_image ? in[y * w + x] : 0.f;
  if (threadIdx.x < 2) {
    s[ty][tx - 2] = y < h && x >= 2 && x - 2 < w ? in[y * w + x - 2] : 0.f;
    s[ty][tx + 16] = y < h && x + 16 < w ? in[y * w + x + 16] : 0.f;
  }
  if (threadIdx.y < 2) {
    s[ty - 2][tx] = x < w && y >= 2 && y - 2 < h ? in[(y - 2) * w + x] : 0.f;
    s[ty + 8][tx] = x < w && y + 8 < h ? in[(y + 8) * w + x] : 0.f;
  }
  __syncthreads();
  if (in_image)
    out[y * w + x] = 0.5f * s[ty][tx] + 0.1f * (s[ty - 1][tx] + s[ty + 1][tx]) +
                     0.2f * (s[ty][tx - 1] + s[ty][tx + 1]) +
                     0.05f * (s[ty - 2][tx] + s[ty + 2][tx] + s[ty][tx - 2] + s[ty][tx + 2]);
}

// A counter that every round moves: each slot has its own.
__global__ void running(const int *__restrict__ in, int *__restrict__ out, int w,
                        int h) {
  __shared__ int s[12][36];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int j = threadIdx.y; j < 12; j += 8)
    for (int i = threadIdx.x; i < 36; i += 32) {
      const int gx = int(blockIdx.x) * 32 + i - 2, gy = int(blockIdx.y) * 8 + j - 2;
      s[j][i] = gx >= 0 && gx < w && gy >= 0 && gy < h ? in[gy * w + gx] : -1;
    }
  __syncthreads();
  int best = -1, at = 0, where = 0;
#pragma unroll
  for (int j = 0; j < 5; ++j) {
    for (int i = 0; i < 5; ++i) {
      const int v = s[threadIdx.y + j][threadIdx.x + i];
      if (v > best) {
        best = v;
        where = at;
      }
      ++at;
    }
  }
  if (x < w && y < h)
    out[y * w + x] = best * 16 + where;
}

__global__ void product(const float *A, const float *B, float *C, int m, int n,
                        int k) {
  __shared__ float As[16][16], Bs[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int t = 0; t < (k + 15) / 16; ++t) {
    const int a = t * 16 + tx, b = t * 16 + ty;
    As[ty][tx] = row < m && a < k ? A[row * k + a] : 0.f;
    Bs[ty][tx] = b < k && col < n ? B[b * n + col] : 0.f;
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += As[ty][i] * Bs[i][tx];
    __syncthreads();
  }
  if (row < m && col < n)
    C[row * n + col] = sum;
}

__global__ void forces(const float4 *pos, float4 *acc, int n, int tiles) {
  extern __shared__ float4 tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = i < n ? pos[i] : make_float4(0, 0, 0, 0);
  float ax = 0, ay = 0, az = 0;
  for (int t = 0; t < tiles; ++t) {
    const int j = t * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = j < n ? pos[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int k = 0; k < blockDim.x; ++k) {
      const float4 o = tile[k];
      const float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
      const float d = dx * dx + dy * dy + dz * dz + 0.01f;
      const float f = o.w / (d * d);
      ax += dx * f;
      ay += dy * f;
      az += dz * f;
    }
    __syncthreads();
  }
  if (i < n)
    acc[i] = make_float4(ax, ay, az, 0);
}

// Read and written between barriers: only the slots can be merged.
__global__ void sums(const int *in, int *out, int n) {
  __shared__ int part[128];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  part[t] = g < n ? in[g] : 0;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d)
      part[t] += part[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = part[0];
}

// A table that lanes read at an index of their own.
__global__ void lookup(const float *table_in, const unsigned char *which,
                       float *out, int n) {
  __shared__ float table[256];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  table[t] = table_in[t];
  __syncthreads();
  if (g < n)
    out[g] = table[which[g]] + table[0];
}

template <class T> static unsigned long long hash(const std::vector<T> &V) {
  unsigned long long H = 14695981039346656037ull;
  const unsigned char *P = reinterpret_cast<const unsigned char *>(V.data());
  for (size_t I = 0; I < V.size() * sizeof(T); ++I)
    H = (H ^ P[I]) * 1099511628211ull;
  return H;
}
template <class T> static T *fill(size_t N, int Seed) {
  std::vector<T> V(N);
  unsigned S = 12345u + unsigned(Seed);
  unsigned char *P = reinterpret_cast<unsigned char *>(V.data());
  (void)P;
  float *F = reinterpret_cast<float *>(V.data());
  for (size_t I = 0; I < N * sizeof(T) / 4; ++I) {
    S = S * 1664525u + 1013904223u;
    F[I] = float(int(S >> 16) % 1000) * 0.01f;
  }
  T *D;
  cudaMalloc(&D, N * sizeof(T));
  cudaMemcpy(D, V.data(), N * sizeof(T), cudaMemcpyHostToDevice);
  return D;
}
template <class T> static void show(const char *Name, T *D, size_t N) {
  std::vector<T> V(N);
  cudaMemcpy(V.data(), D, N * sizeof(T), cudaMemcpyDeviceToHost);
  std::printf("%s %zu %016llx %s\n", Name, N, hash(V),
              cudaGetErrorString(cudaGetLastError()));
}
int main() {
  std::vector<float> W(D * D);
  for (int I = 0; I < D * D; ++I)
    W[I] = 0.01f * float(I) - 0.2f;
  cudaMemcpyToSymbol(weights, W.data(), sizeof(float) * D * D);
  for (int w : {1, 32, 100})
    for (int h : {1, 8, 19}) {
      const size_t N = size_t(w) * h;
      float *a = fill<float>(N, w), *b = fill<float>(N, 7), *k = fill<float>(25, 3);
      int *c = reinterpret_cast<int *>(fill<float>(N, 9)), *d = reinterpret_cast<int *>(fill<float>(N, 1));
      blur<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a, b, w, h);
      show("blur", b, N);
      centred<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a, b, k, w, h);
      show("centred", b, N);
      star<<<dim3((w + 15) / 16, (h + 7) / 8), dim3(16, 8)>>>(a, b, w, h);
      show("star", b, N);
      running<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(c, d, w, h);
      show("running", d, N);
    }
  for (int m : {1, 16, 33})
    for (int k : {1, 16, 20}) {
      const int n = 35;
      float *a = fill<float>(m * k, 1), *b = fill<float>(k * n, 2), *c = fill<float>(m * n, 3);
      product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
      show("product", c, m * n);
    }
  for (int n : {1, 100, 200})
    for (int block : {33, 64, 128}) {
      float4 *p = fill<float4>(n, 4), *q = fill<float4>(n, 5);
      forces<<<(n + block - 1) / block, block, block * sizeof(float4)>>>(
          p, q, n, (n + block - 1) / block);
      show("forces", q, n);
      int *i = reinterpret_cast<int *>(fill<float>(n, 6)), *o = reinterpret_cast<int *>(fill<float>(8, 6));
      sums<<<(n + 127) / 128, 128>>>(i, o, n);
      show("sums", o, 8);
      float *t = fill<float>(256, 8), *r = fill<float>(n, 9);
      lookup<<<(n + 255) / 256, 256>>>(t, reinterpret_cast<unsigned char *>(p), r, n);
      show("lookup", r, n);
    }
  return 0;
}
