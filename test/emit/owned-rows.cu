// Arrays that a warp owns, in blocks of several dimensions: the threads stand in a
// line, as the device counts them.
//
// RUN: rcache-rewrite %s --force -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
//
// What is damaged is found by the plan's verifier.
// RUN: rcache-rewrite %s --force --kernel=colSum --mutate=lane-off-by-one -o %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=LANE %s
// LANE: the plan verifier found: {{.*}}: gets element
//
// REQUIRES: cuda-toolkit
#include "program.h"

// A tree along y. The launch asks for the block.
// CHECK-DAG: rewrote 'colSum' {{.*}}; 'part' owned by a warp
// TEXT: // The block's threads in a line.
// TEXT-NEXT: const dim3 rc_block(rc_given_block.x * 16u, rc_given_block.y / 16u, rc_given_block.z);
// TEXT: rc_given_block.y % 16u == 0u
__global__ void colSum(const float *in, float *out, int rows, int cols) {
  __shared__ float part[16][16];
  int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  part[threadIdx.y][threadIdx.x] =
      (row < rows && col < cols) ? in[row * cols + col] : 0.0f;
  __syncthreads();
  for (int d = 8; d > 0; d >>= 1) {
    if (threadIdx.y < d)
      part[threadIdx.y][threadIdx.x] += part[threadIdx.y + d][threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.y == 0 && col < cols)
    out[blockIdx.y * cols + col] = part[0][threadIdx.x];
}

// A tree over the thread's number in the block.
// CHECK-DAG: rewrote 'blockMax' {{.*}}; 'cache' owned by a warp
#define BLOCK_X 16
#define BLOCK_Y 8
__global__ void blockMax(const int *image, int *result, int width, int height) {
  __shared__ int cache[BLOCK_X * BLOCK_Y];
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int tid = threadIdx.y * blockDim.x + threadIdx.x; // threadIdx, in a line
  cache[tid] = (x < width && y < height) ? image[y * width + x] : -1000000;
  __syncthreads();
  for (unsigned int stride = blockDim.x * blockDim.y / 2; stride > 0;
       stride >>= 1) {
    if (tid < stride)
      cache[tid] = max(cache[tid], cache[tid + stride]);
    __syncthreads();
  }
  if (tid == 0)
    result[blockIdx.y * gridDim.x + blockIdx.x] = cache[0];
}

// Rows of a padded tile, each with its tree; three dimensions.
// CHECK-DAG: rewrote 'rowSums' {{.*}}; 'buf' owned by a warp
__global__ void rowSums(const double *src, double *dst, int pitch) {
  __shared__ double buf[4][16 + 1];
  unsigned lx = threadIdx.x, ly = threadIdx.y + 2 * threadIdx.z;
  buf[ly][lx] = src[(blockIdx.x * 4 + ly) * pitch + lx];
  __syncthreads();
  for (int s = blockDim.x / 2; s; s >>= 1) {
    if (lx < s)
      buf[ly][lx] += buf[ly][lx + s];
    __syncthreads();
  }
  if (lx == 0)
    dst[blockIdx.x * 4 + ly] = buf[ly][0];
}

// Steps of Jacobi's method in a tile, clamped at its borders.
// CHECK-DAG: rewrote 'jacobi' {{.*}}; 'a' owned by a warp; 'b' owned by a warp
__global__ void jacobi(const float *in, float *out, int n) {
  __shared__ float a[8][16], b[8][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * 16 + tx, y = blockIdx.y * 8 + ty;
  int N = ty > 0 ? ty - 1 : 0, S = ty < 7 ? ty + 1 : 7;
  int W = max(tx - 1, 0), E = min(tx + 1, 15);
  a[ty][tx] = in[y * n + x];
  __syncthreads();
  for (int it = 0; it < 8; ++it) {
    b[ty][tx] = 0.25f * (a[N][tx] + a[S][tx] + a[ty][W] + a[ty][E]);
    __syncthreads();
    a[ty][tx] = b[ty][tx];
    __syncthreads();
  }
  out[y * n + x] = a[ty][tx];
}

// Life, in place: values in a register between two barriers.
// CHECK-DAG: rewrote 'life' {{.*}}; 'cell' owned by a warp
__global__ void life(const unsigned char *in, unsigned char *out, int steps) {
  __shared__ unsigned char cell[8][32];
  const int c = threadIdx.x, r = threadIdx.y;
  const int g = (blockIdx.x * 8 + r) * 32 + c;
  cell[r][c] = in[g] & 1;
  __syncthreads();
  for (int k = 0; k < steps; k++) {
    int around = 0;
    if (r > 0 && r < 7 && c > 0 && c < 31)
      around = cell[r - 1][c - 1] + cell[r - 1][c] + cell[r - 1][c + 1] +
               cell[r][c - 1] + cell[r][c + 1] + cell[r + 1][c - 1] +
               cell[r + 1][c] + cell[r + 1][c + 1];
    unsigned char next = around == 3 || (around == 2 && cell[r][c]);
    __syncthreads();
    cell[r][c] = next;
    __syncthreads();
  }
  out[g] = cell[r][c];
}

// The tile is transposed each time: no few distances (owned, by gathers, where much is gained).
// CHECK-DAG: rewrote 'turned' {{.*}}; 's' kept shared
__global__ void turned(const int *in, int *out) {
  __shared__ int s[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, g = blockIdx.x * 256 + ty * 16 + tx;
  s[ty][tx] = in[g];
  __syncthreads();
  for (int k = 0; k < 3; ++k) {
    int v = s[tx][ty] + k;
    __syncthreads();
    s[ty][tx] = v;
    __syncthreads();
  }
  out[g] = s[ty][tx];
}

// Blocks of two shapes: the launch asks for the one that was planned.
// CHECK-DAG: rewrote 'shapes' {{.*}}; 's' owned by a warp
__global__ void shapes(const int *in, int *out) {
  __shared__ int s[256];
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}
// The thread's place is read as a whole.
// CHECK-DAG: 'whole' left as it is
__global__ void whole(const int *in, int *out) {
  __shared__ int s[256];
  const uint3 me = threadIdx;
  int t = me.y * 16 + me.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

int main() {
  const int n = 128;
  Buffer<float> F(randoms<float>(n * n)), G(n * n);
  Buffer<int> I(randoms<int>(n * n)), J(n * n);
  Buffer<double> D(randoms<double>(n * n)), E(n * n);
  Buffer<unsigned char> B(randoms<unsigned char>(n * n)), C(n * n);
  colSum<<<dim3(8, 8), dim3(16, 16)>>>(F.Data, G.Data, n - 3, n - 5);
  G.show("colSum");
  blockMax<<<dim3(8, 16), dim3(BLOCK_X, BLOCK_Y)>>>(I.Data, J.Data, n - 3,
                                                    n - 9);
  J.show("blockMax");
  rowSums<<<n / 4, dim3(16, 2, 2)>>>(D.Data, E.Data, n);
  E.show("rowSums");
  jacobi<<<dim3(8, 16), dim3(16, 8)>>>(F.Data, G.Data, n);
  G.show("jacobi");
  life<<<n / 8, dim3(32, 8)>>>(B.Data, C.Data, 5);
  C.show("life");
  turned<<<n / 4, dim3(16, 16)>>>(I.Data, J.Data);
  J.show("turned");
  shapes<<<n / 4, dim3(16, 16)>>>(I.Data, J.Data);
  shapes<<<n / 4, dim3(32, 8)>>>(I.Data, J.Data + n);
  J.show("shapes");
  whole<<<n / 4, dim3(16, 16)>>>(I.Data, J.Data);
  J.show("whole");
}
