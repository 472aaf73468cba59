// Arrays that a warp owns, in other words than its own: clamped neighbours, loops
// that all threads leave together, arrays padded against conflicts of banks, loops
// that threads share in front of a tree.
//
// RUN: rcache-rewrite %s --force --exchange=owned -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// REQUIRES: cuda-toolkit
#include "program.h"

// The least path through rows, as benchmarks have it: the valid part shrinks.
// CHECK-DAG: rewrote 'dynproc' {{.*}}; 'prev' owned by a warp; 'result' owned by a warp
#define BLOCK_SIZE 256
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))
__global__ void dynproc(int iteration, const int *gpuWall, const int *gpuSrc,
                        int *gpuResults, int cols, int startStep, int border) {
  __shared__ int prev[BLOCK_SIZE];
  __shared__ int result[BLOCK_SIZE];
  int bx = blockIdx.x;
  int tx = threadIdx.x;
  int small_block_cols = BLOCK_SIZE - iteration * 2;
  int blkX = small_block_cols * bx - border;
  int blkXmax = blkX + BLOCK_SIZE - 1;
  int xidx = blkX + tx;
  int validXmin = (blkX < 0) ? -blkX : 0;
  int validXmax = (blkXmax > cols - 1)
                      ? BLOCK_SIZE - 1 - (blkXmax - cols + 1)
                      : BLOCK_SIZE - 1;
  int W = tx - 1;
  int E = tx + 1;
  W = (W < validXmin) ? validXmin : W;
  E = (E > validXmax) ? validXmax : E;
  bool isValid = IN_RANGE(tx, validXmin, validXmax);
  if (IN_RANGE(xidx, 0, cols - 1))
    prev[tx] = gpuSrc[xidx];
  __syncthreads();
  bool computed;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && isValid) {
      computed = true;
      int left = prev[W];
      int up = prev[tx];
      int right = prev[E];
      int shortest = MIN(left, up);
      shortest = MIN(shortest, right);
      int index = cols * (startStep + i) + xidx;
      result[tx] = shortest + gpuWall[index];
    }
    __syncthreads();
    if (i == iteration - 1)
      break;
    if (computed) // assign the computation range
      prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed)
    gpuResults[xidx] = result[tx];
}

// Reflected at the borders.
// CHECK-DAG: rewrote 'reflected' {{.*}}; 's' owned by a warp
__global__ void reflected(const float *in, float *out) {
  __shared__ float s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = in[g];
  __syncthreads();
  for (int k = 0; k < 6; k++) {
    float v = fmaxf(s[t == 0 ? 1 : t - 1], s[t < 127 ? t + 1 : 126]);
    __syncthreads();
    s[t] = v;
    __syncthreads();
  }
  out[g] = s[t];
}

// A ring.
// CHECK-DAG: rewrote 'ring' {{.*}}; 's' owned by a warp
__global__ void ring(const int *in, int *out, int rounds) {
  __shared__ int s[96];
  int t = threadIdx.x, g = blockIdx.x * 96 + t;
  s[t] = in[g];
  __syncthreads();
  while (rounds-- > 0) {
    int v = s[(t + 1) % 96] - s[(t + 95) % 96];
    __syncthreads();
    s[t] = v;
    __syncthreads();
  }
  out[g] = s[t];
}

// Where to clamp is data.
// CHECK-DAG: rewrote 'byData' {{.*}}; 's' kept shared
__global__ void byData(const int *in, const int *at, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  int w = max(t - 1, at[g]);
  __syncthreads();
  for (int k = 0; k < 6; k++) {
    int v = w < 64 && w >= 0 ? s[w] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  out[g] = s[t];
}

// Left by data of the block, and in two places.
// CHECK-DAG: 'leaves' left as it is
__global__ void leaves(const int *in, int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  __syncthreads();
  for (int k = 0; k < n; k++) {
    int v = t > 0 ? s[t - 1] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
    if (s[63] > 1000)
      break;
    __syncthreads();
  }
  out[g] = s[t];
}

// A loop without a header, left in its middle.
// CHECK-DAG: rewrote 'middle' {{.*}}; 's' owned by a warp
__global__ void middle(const int *in, int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  __syncthreads();
  int k = 0;
  while (k < n) {
    int v = t + 1 < 64 ? s[t + 1] : 0;
    __syncthreads();
    s[t] ^= v;
    if (k * k > n) {
      break;
    }
    __syncthreads();
    ++k;
  }
  __syncthreads();
  out[g] = s[t] + k;
}

// Padded: a scan after Blelloch, one after Hillis and Steele.
// CHECK-DAG: rewrote 'prescan' {{.*}}; 'temp' owned by a warp
#define CF(n) ((n) >> 5)
__global__ void prescan(const int *g_idata, int *g_odata) {
  __shared__ int temp[256 + 8];
  int thid = threadIdx.x;
  int offset = 1;
  int base = blockIdx.x * 256;
  int ai = thid;
  int bi = thid + 128;
  int bankOffsetA = CF(ai);
  int bankOffsetB = CF(bi);
  temp[ai + bankOffsetA] = g_idata[base + ai];
  temp[bi + bankOffsetB] = g_idata[base + bi];
  for (int d = 256 >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      ai += CF(ai);
      bi += CF(bi);
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (thid == 0)
    temp[256 - 1 + CF(256 - 1)] = 0;
  for (int d = 1; d < 256; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      ai += CF(ai);
      bi += CF(bi);
      int t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  g_odata[base + ai] = temp[ai + bankOffsetA];
  g_odata[base + bi] = temp[bi + bankOffsetB];
}
// CHECK-DAG: rewrote 'padded' {{.*}}; 's' owned by a warp
__global__ void padded(const float *in, float *out) {
  __shared__ float s[256 + 256 / 32];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  int p = t + t / 32;
  s[p] = in[g];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    float v = 0.f;
    int q = t - d;
    if (t >= d)
      v = s[q + q / 32];
    __syncthreads();
    if (t >= d)
      s[p] += v;
    __syncthreads();
  }
  out[g] = s[p];
}
// What pads the rows is used.
// CHECK-DAG: rewrote 'paddingUsed' {{.*}}; 's' kept shared
__global__ void paddingUsed(const int *in, int *out) {
  __shared__ int s[66];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t + t / 32] = in[g];
  if (t < 2)
    s[33 * t + 32] = t;
  __syncthreads();
  for (int k = 0; k < 3; ++k) {
    int v = s[t + t / 32 + 1];
    __syncthreads();
    s[t + t / 32] += v;
    __syncthreads();
  }
  out[g] = s[t + t / 32];
}

// Four rounds of loads in front of each of two trees.
// CHECK-DAG: rewrote 'layernorm' {{.*}}; 's' owned by a warp
__global__ void layernorm(const float *x, float *y, float eps) {
  __shared__ float s[256];
  int t = threadIdx.x;
  const float *row = x + blockIdx.x * 1024;
  float sum = 0;
  for (int i = t; i < 1024; i += 256)
    sum += row[i];
  s[t] = sum;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  float mean = s[0] / 1024;
  __syncthreads();
  float most = 0;
  for (int i = t; i < 1000; i += blockDim.x) {
    most = fmaxf(most, fabsf(row[i] - mean));
  }
  s[t] = most;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d)
      s[t] = fmaxf(s[t], s[t + d]);
    __syncthreads();
  }
  float scale = s[0] + eps;
  for (int i = t; i < 1024; i += 256)
    y[blockIdx.x * 1024 + i] = (row[i] - mean) / scale;
}

int main() {
  const int n = 6144;
  Buffer<float> F(randoms<float>(n)), G(n);
  Buffer<int> I(randoms<int>(n)), J(n), K(randoms<int>(n));
  dynproc<<<3, BLOCK_SIZE>>>(7, I.Data, K.Data, J.Data, 600, 1, 7);
  J.show("dynproc");
  dynproc<<<3, BLOCK_SIZE>>>(1, I.Data, K.Data, J.Data, 700, 0, 1);
  J.show("dynproc");
  reflected<<<n / 128, 128>>>(F.Data, G.Data);
  G.show("reflected");
  ring<<<n / 96, 96>>>(I.Data, J.Data, 5);
  J.show("ring");
  byData<<<n / 64, 64>>>(I.Data, K.Data, J.Data);
  J.show("byData");
  leaves<<<n / 64, 64>>>(I.Data, J.Data, 9);
  J.show("leaves");
  middle<<<n / 64, 64>>>(I.Data, J.Data, 40);
  J.show("middle");
  middle<<<n / 64, 64>>>(I.Data, J.Data, 3);
  J.show("middle");
  prescan<<<n / 256, 128>>>(I.Data, J.Data);
  J.show("prescan");
  padded<<<n / 256, 256>>>(F.Data, G.Data);
  G.show("padded");
  paddingUsed<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("paddingUsed");
  layernorm<<<n / 1024, 256>>>(F.Data, G.Data, 1e-5f);
  G.show("layernorm");
}
