// Blocks as large as the tile that they stage: the threads at its rim do nothing else, and
// what is planned has a thread for each output alone.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'five_point' {{.*}}'s' reloaded
// CHECK-DAG: of 256 threads of a block 196 do more than stage, and are planned alone
// CHECK-DAG: rewrote 'line<3>' {{.*}}'tile' in chunks of 4, shuffled
// CHECK-DAG: rewrote 'blurred' {{.*}}'N_s'
// CHECK-DAG: of 256 threads of a block 144 do more than stage, and are planned alone
// CHECK-DAG: rewrote 'seven_point' {{.*}}'t'
// CHECK-DAG: of 512 threads of a block 216 do more than stage, and are planned alone
// CHECK-DAG: rewrote 'channels' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'sharpened' {{.*}}'s'
// CHECK-DAG: rewrote 'rows_alone' {{.*}}'s'
// CHECK-DAG: of 256 threads of a block 192 do more than stage, and are planned alone
// CHECK-DAG: rewrote 'macros' {{.*}}'s'
// CHECK-DAG: rewrote 'counted' {{.*}}'s'
// TEXT: Without the threads that only stage.
// TEXT-NEXT: const dim3 rc_block(rc_given_block.x - 2u, rc_given_block.y - 2u,
// SAME: equivalent: 14 launches
#include "program.h"

// The textbook's names, a border of zeros, weights in constant memory.
__constant__ float cc[5] = {0.5f, 0.125f, -0.25f, 0.75f, 1.5f};
#define IN_TILE 16
#define OUT_TILE (IN_TILE - 2)
__global__ void five_point(const float *in, float *out, unsigned N) {
  int row = blockIdx.y * OUT_TILE + threadIdx.y - 1;
  int col = blockIdx.x * OUT_TILE + threadIdx.x - 1;
  __shared__ float s[IN_TILE][IN_TILE];
  if (row >= 0 && row < N && col >= 0 && col < N)
    s[threadIdx.y][threadIdx.x] = in[row * N + col];
  else
    s[threadIdx.y][threadIdx.x] = 0.0f;
  __syncthreads();
  if (row >= 1 && row < N - 1 && col >= 1 && col < N - 1) {
    if (threadIdx.x >= 1 && threadIdx.x < IN_TILE - 1 && threadIdx.y >= 1 && threadIdx.y < IN_TILE - 1)
      out[row * N + col] = cc[0] * s[threadIdx.y][threadIdx.x] + cc[1] * s[threadIdx.y][threadIdx.x - 1] +
                           cc[2] * s[threadIdx.y][threadIdx.x + 1] + cc[3] * s[threadIdx.y - 1][threadIdx.x] +
                           cc[4] * s[threadIdx.y + 1][threadIdx.x];
  }
}

// One dimension; what is staged is kept for later, and an accumulator is declared early.
template <int R> __global__ void line(const short *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float tile[128];
  const int outputs = 128 - 2 * R;
  const int g = (int)(blockIdx.x * outputs + threadIdx.x) - R;
  float sum = 0.5f, center = (g >= 0 && g < n) ? in[g] : 0;
  tile[threadIdx.x] = center;
  __syncthreads();
  const int i = threadIdx.x - R;
  if (i < 0 || i >= outputs || g >= n)
    return;
  for (int k = -R; k <= R; ++k)
    sum += tile[threadIdx.x + k] * (k + 2);
  out[g] = sum - center;
}

// Outputs are the first threads of each row.
#define RADIUS 2
__global__ void blurred(const unsigned char *N, unsigned char *P, int width, int height) {
  __shared__ unsigned char N_s[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row_o = blockIdx.y * (16 - 2 * RADIUS) + ty, col_o = blockIdx.x * (16 - 2 * RADIUS) + tx;
  int row_i = row_o - RADIUS, col_i = col_o - RADIUS;
  if ((row_i >= 0) && (row_i < height) && (col_i >= 0) && (col_i < width)) {
    N_s[ty][tx] = N[row_i * width + col_i];
  } else {
    N_s[ty][tx] = 0;
  }
  __syncthreads();
  int sum = 0;
  if (ty < 16 - 2 * RADIUS && tx < 16 - 2 * RADIUS) {
    for (int i = 0; i < 5; i++)
      for (int j = 0; j < 5; j++)
        sum += N_s[i + ty][j + tx];
    if (row_o < height && col_o < width)
      P[row_o * width + col_o] = sum / 25;
  }
}

// A cube.
__global__ void seven_point(const float *__restrict__ a, float *__restrict__ b, int n) {
  const int i = blockIdx.z * 6 + threadIdx.z - 1, j = blockIdx.y * 6 + threadIdx.y - 1,
            k = blockIdx.x * 6 + threadIdx.x - 1;
  __shared__ float t[8][8][8];
  if (i >= 0 && i < n && j >= 0 && j < n && k >= 0 && k < n)
    t[threadIdx.z][threadIdx.y][threadIdx.x] = a[(i * n + j) * n + k];
  __syncthreads();
  if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1 && k >= 1 && k < n - 1)
    if (threadIdx.z >= 1 && threadIdx.z < 7 && threadIdx.y >= 1 && threadIdx.y < 7 && threadIdx.x >= 1 &&
        threadIdx.x < 7)
      b[(i * n + j) * n + k] = fmaxf(t[threadIdx.z][threadIdx.y][threadIdx.x],
                                     fmaxf(t[threadIdx.z - 1][threadIdx.y][threadIdx.x],
                                           t[threadIdx.z + 1][threadIdx.y][threadIdx.x])) -
                               fminf(fminf(t[threadIdx.z][threadIdx.y - 1][threadIdx.x],
                                           t[threadIdx.z][threadIdx.y + 1][threadIdx.x]),
                                     fminf(t[threadIdx.z][threadIdx.y][threadIdx.x - 1],
                                           t[threadIdx.z][threadIdx.y][threadIdx.x + 1]));
}

// A tile for each round.
__global__ void channels(const int *__restrict__ in, int *__restrict__ out, int w, int h, int nc) {
  __shared__ int s[16][16];
  const int x = blockIdx.x * 14 + threadIdx.x - 1, y = blockIdx.y * 14 + threadIdx.y - 1;
  const bool inside = threadIdx.x > 0 && threadIdx.x < 15 && threadIdx.y > 0 && threadIdx.y < 15;
  int sum = 0;
  for (int c = 0; c < nc; ++c) {
    const int *plane = in + c * w * h;
    s[threadIdx.y][threadIdx.x] = (x < 0 || y < 0 || x >= w || y >= h) ? -c : plane[y * w + x];
    __syncthreads();
    if (inside)
      for (int d = -1; d <= 1; ++d)
        sum = sum * 3 + s[threadIdx.y + d][threadIdx.x] - s[threadIdx.y][threadIdx.x - d];
    __syncthreads();
  }
  if (inside && x < w && y < h)
    out[y * w + x] = sum;
}

// Coordinates clamped to the image, and a staged value that is computed.
__global__ void sharpened(const uchar4 *__restrict__ in, float *__restrict__ out, int w, int h) {
  __shared__ float s[16][17];
  int x = blockIdx.x * (blockDim.x - 2) + threadIdx.x - 1, y = blockIdx.y * (blockDim.y - 2) + threadIdx.y - 1;
  const int cx = min(max(x, 0), w - 1), cy = min(max(y, 0), h - 1);
  const uchar4 p = in[cy * w + cx];
  s[threadIdx.y][threadIdx.x] = fmaf(0.25f, p.x, 0.5f * p.y);
  __syncthreads();
  if (threadIdx.x == 0 || threadIdx.x == blockDim.x - 1 || threadIdx.y == 0 || threadIdx.y == blockDim.y - 1)
    return;
  if (x < w && y < h)
    out[y * w + x] = fmaxf(s[threadIdx.y - 1][threadIdx.x], s[threadIdx.y + 1][threadIdx.x]) -
                     fminf(s[threadIdx.y][threadIdx.x - 1], s[threadIdx.y][threadIdx.x + 1]);
}

// Along one axis alone.
__global__ void rows_alone(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
  __shared__ float s[8][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 6 + threadIdx.y - 1;
  s[threadIdx.y][threadIdx.x] = in[min(max(y, 0), h - 1) * w + min(x, w - 1)];
  __syncthreads();
  if (threadIdx.y >= 1 && threadIdx.y <= 6 && x < w && y < h)
    out[y * w + x] = s[threadIdx.y - 1][threadIdx.x] + s[threadIdx.y][threadIdx.x] + s[threadIdx.y + 1][threadIdx.x];
}

// Threads by macros; a name that the loop would have.
#define TX threadIdx.x
#define STAGE(v) s[TX] = (v)
__global__ void macros(const int *__restrict__ in, int *__restrict__ out, int n) {
  __shared__ int s[64];
  const int stage_x = TX + blockIdx.x * 60;
  if (stage_x < n)
    STAGE(in[stage_x]);
  else
    STAGE(7);
  __syncthreads();
  if (TX < 60 && stage_x < n)
    out[stage_x] = s[TX] + 2 * s[TX + 1] + 3 * s[TX + 4];
}

// What is counted is counted once.
__global__ void counted(const int *__restrict__ in, int *__restrict__ bins, int n) {
  __shared__ int s[64];
  const int g = (int)(blockIdx.x * 62 + threadIdx.x) - 1;
  s[threadIdx.x] = g >= 0 && g < n ? in[g] : 0;
  __syncthreads();
  if (threadIdx.x > 0 && threadIdx.x < 63 && g < n)
    atomicAdd(&bins[(s[threadIdx.x - 1] ^ s[threadIdx.x + 1]) & 15], s[threadIdx.x] + 1);
}

// What leaves the kernel's own loop would leave one of those that stage.
__global__ void left_early(const int *__restrict__ in, int *__restrict__ out, int n, int rounds) {
  __shared__ int s[64];
  const int g = (int)(blockIdx.x * 62 + threadIdx.x) - 1;
  int sum = 0;
  for (int c = 0;; ++c) {
    if (c == rounds)
      break;
    s[threadIdx.x] = g >= 0 && g < n ? in[g] + c : c;
    __syncthreads();
    if (threadIdx.x > 0 && threadIdx.x < 63)
      sum = sum * 3 + s[threadIdx.x - 1] - s[threadIdx.x + 1];
    __syncthreads();
  }
  if (threadIdx.x > 0 && threadIdx.x < 63 && g < n)
    out[g] = sum;
}
__global__ void left_out(const int *__restrict__ in, int *__restrict__ out, int n, int rounds) {
  __shared__ int s[64];
  const int g = (int)(blockIdx.x * 62 + threadIdx.x) - 1;
  int sum = 0;
  for (int c = 0; c < rounds; ++c) {
    if (c == 1)
      continue;
    s[threadIdx.x] = g >= 0 && g < n ? in[g] + c : c;
    __syncthreads();
    if (threadIdx.x > 0 && threadIdx.x < 63)
      sum = sum * 3 + s[threadIdx.x - 1] - s[threadIdx.x + 1];
    __syncthreads();
  }
  if (threadIdx.x > 0 && threadIdx.x < 63 && g < n)
    out[g] = sum;
}

// What a declaration was made of has changed since.
__global__ void changed_since(const int *__restrict__ in, int *__restrict__ out, int n) {
  __shared__ int s[64];
  int off = 1;
  const int g = (int)(blockIdx.x * 62 + threadIdx.x) - off;
  off = 3;
  __syncthreads();
  s[threadIdx.x] = g >= 0 && g < n ? in[g] + off : off;
  __syncthreads();
  if (threadIdx.x > 0 && threadIdx.x < 63 && g < n)
    out[g] = s[threadIdx.x - 1] - 2 * s[threadIdx.x + 1];
}
// And memory that it was read from.
__global__ void overwritten(int *data, int *out, int n) {
  __shared__ int s[64];
  const int g = (int)(blockIdx.x * 62 + threadIdx.x) - 1;
  const bool inner = threadIdx.x > 0 && threadIdx.x < 63 && g < n;
  const int was = g >= 0 && g < n ? data[g + blockIdx.x * 2] : 0;
  __syncthreads();
  if (inner)
    data[g + blockIdx.x * 2] = 7;
  __syncthreads();
  s[threadIdx.x] = was;
  __syncthreads();
  if (inner)
    out[g] = s[threadIdx.x - 1] - 2 * s[threadIdx.x + 1];
}

// The rim has returned by the time that the second tile is filled.
__global__ void returned(const int *__restrict__ in, int *__restrict__ out, int n) {
  __shared__ int s[64], t[64];
  const int g = (int)(blockIdx.x * 62 + threadIdx.x) - 1;
  s[threadIdx.x] = g >= 0 && g < n ? in[g] : 0;
  t[threadIdx.x] = -5;
  __syncthreads();
  if (threadIdx.x == 0 || threadIdx.x == 63)
    return;
  const int sum = s[threadIdx.x - 1] - 2 * s[threadIdx.x + 1];
  __syncthreads();
  t[threadIdx.x] = g < n ? in[g] * 3 : 1;
  __syncthreads();
  if (g < n)
    out[g] = sum + t[threadIdx.x - 1] + t[threadIdx.x + 1];
}

int main(int argc, char **) {
  const int n = 37 * argc, w = 45 * argc, h = 30 * argc; // no constants
  {
    Buffer<float> in(randoms<float>(n * n)), out(size_t(n * n));
    five_point<<<dim3(blocks(n, OUT_TILE), blocks(n, OUT_TILE)), dim3(16, 16)>>>(in.Data, out.Data, n);
    out.show("five_point", n, n);
  }
  {
    Buffer<short> in(randoms<short>(n * n));
    Buffer<float> out(size_t(n * n));
    line<3><<<blocks(n * n, 122), 128>>>(in.Data, out.Data, n * n);
    out.show("line", n * n);
  }
  {
    Buffer<unsigned char> in(randoms<unsigned char>(w * h)), out(size_t(w * h));
    blurred<<<dim3(blocks(w, 12), blocks(h, 12)), dim3(16, 16)>>>(in.Data, out.Data, w, h);
    out.show("blurred", w, h);
  }
  {
    const int m = 15 * argc;
    Buffer<float> in(randoms<float>(m * m * m)), out(size_t(m * m * m));
    seven_point<<<dim3(blocks(m, 6), blocks(m, 6), blocks(m, 6)), dim3(8, 8, 8)>>>(in.Data, out.Data, m);
    out.show("seven_point", m, m);
  }
  {
    Buffer<int> in(randoms<int>(3 * w * h)), out(size_t(w * h));
    channels<<<dim3(blocks(w, 14), blocks(h, 14)), dim3(16, 16)>>>(in.Data, out.Data, w, h, 3);
    out.show("channels", w, h);
  }
  {
    Buffer<unsigned char> in(randoms<unsigned char>(4 * w * h));
    Buffer<float> out(size_t(w * h));
    sharpened<<<dim3(blocks(w, 14), blocks(h, 14)), dim3(16, 16)>>>((const uchar4 *)in.Data, out.Data, w, h);
    out.show("sharpened", w, h);
    Buffer<float> a(randoms<float>(w * h)), b(size_t(w * h));
    rows_alone<<<dim3(blocks(w, 32), blocks(h, 6)), dim3(32, 8)>>>(a.Data, b.Data, w, h);
    b.show("rows_alone", w, h);
  }
  {
    Buffer<int> in(randoms<int>(n * n)), out(size_t(n * n)), bins(size_t(16));
    macros<<<blocks(n * n, 60), 64>>>(in.Data, out.Data, n * n);
    out.show("macros", n * n);
    counted<<<blocks(n * n, 62), 64>>>(in.Data, bins.Data, n * n);
    bins.show("counted", 16);
    returned<<<blocks(n * n, 62), 64>>>(in.Data, out.Data, n * n);
    out.show("returned", n * n);
    changed_since<<<blocks(n * n, 62), 64>>>(in.Data, out.Data, n * n);
    out.show("changed_since", n * n);
    Buffer<int> data(randoms<int>(n * n + 2 * blocks(n * n, 62)));
    overwritten<<<blocks(n * n, 62), 64>>>(data.Data, out.Data, n * n);
    out.show("overwritten", n * n);
    left_early<<<blocks(n * n, 62), 64>>>(in.Data, out.Data, n * n, 2 + argc);
    out.show("left_early", n * n);
    left_out<<<blocks(n * n, 62), 64>>>(in.Data, out.Data, n * n, 2 + argc);
    out.show("left_out", n * n);
  }
}
