// Private arrays as values: each element is followed by itself, through initialisers,
// short loops and the rounds of a loop with barriers. And arrays for which that does
// not hold: an index that is no constant, another name for the array, a queue that
// does not move in every round or begins with something else.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=NOT %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'ahead' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'two_queues' {{.*}}'s' reloaded, {{.*}}'t' reloaded
// CHECK-DAG: rewrote 'by_way' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'median' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'sums' {{.*}}'s' kept shared
// CHECK-DAG: rewrote 'offsets' {{.*}}'s' reloaded
// NOT-NOT: {{rewrote 'ring' .*(reloaded|from its source)}}
// NOT-NOT: {{rewrote 'other_name' .*(reloaded|from its source)}}
// NOT-NOT: {{rewrote 'referred' .*(reloaded|from its source)}}
// NOT-NOT: {{rewrote 'some_rounds' .*(reloaded|from its source)}}
// NOT-NOT: {{rewrote 'first_differs' .*(reloaded|from its source)}}
#include "program.h"

// No queue behind the thread, more planes than the stencil has in front of it.
__global__ void ahead(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz) {
  __shared__ float s[8 + 2][32 + 2];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int xx = min(x, nx - 1), yy = min(y, ny - 1), plane = nx * ny;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int at = yy * nx + xx;
  float q[4] = {in[at], in[at + plane]};
  q[2] = in[at + 2 * plane];
  for (int k = 0; k < nz - 4; ++k) {
    q[3] = in[at + (k + 3) * plane];
    s[ty][tx] = q[0];
    if (threadIdx.x == 0) s[ty][0] = in[yy * nx + max(xx - 1, 0) + k * plane];
    if (threadIdx.x == 31) s[ty][33] = in[yy * nx + min(x + 1, nx - 1) + k * plane];
    if (threadIdx.y == 0) s[0][tx] = in[max(yy - 1, 0) * nx + xx + k * plane];
    if (threadIdx.y == 7) s[9][tx] = in[min(y + 1, ny - 1) * nx + xx + k * plane];
    __syncthreads();
    if (x < nx && y < ny)
      out[at + k * plane] = s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] - q[0] * q[3];
    __syncthreads();
    for (int i = 0; i < 3; ++i)
      q[i] = q[i + 1];
  }
}

// Two queues in one array.
__global__ void two_queues(const float *__restrict__ in, const float *__restrict__ w, float *__restrict__ out, int nx, int nz) {
  __shared__ float s[128 + 2], t[128 + 2];
  const int x = blockIdx.x * 128 + threadIdx.x;
  const int l = threadIdx.x + 1;
  float q[2][2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    q[0][i] = x < nx ? in[i * nx + x] : 0.f;
    q[1][i] = x < nx ? w[i * nx + x] : 0.f;
  }
  for (int k = 0; k < nz - 2; ++k) {
    s[l] = q[0][0];
    t[l] = q[1][0];
    if (threadIdx.x == 0) {
      s[0] = x > 0 && x - 1 < nx ? in[k * nx + x - 1] : 0.f;
      t[0] = x > 0 && x - 1 < nx ? w[k * nx + x - 1] : 0.f;
    }
    if (threadIdx.x == 127) {
      s[129] = x + 1 < nx ? in[k * nx + x + 1] : 0.f;
      t[129] = x + 1 < nx ? w[k * nx + x + 1] : 0.f;
    }
    __syncthreads();
    if (x < nx)
      out[k * nx + x] = s[l - 1] * t[l + 1] - s[l + 1] * t[l - 1] + q[0][1] * q[1][1];
    __syncthreads();
    for (int a = 0; a < 2; ++a) {
      q[a][0] = q[a][1];
      q[a][1] = x < nx ? (a ? w : in)[(k + 2) * nx + x] : 0.f;
    }
  }
}

// Four elements a thread by way of an array.
__global__ void by_way(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[4 * 64 + 2];
  const int first = blockIdx.x * 256 + 4 * threadIdx.x;
  float v[4];
  for (int i = 0; i < 4; ++i)
    v[i] = first + i < n ? in[first + i] : 0.f;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    s[4 * threadIdx.x + i + 1] = v[i];
  if (threadIdx.x == 0) s[0] = first > 0 ? in[first - 1] : 0.f;
  if (threadIdx.x == 63) s[257] = first + 4 < n ? in[first + 4] : 0.f;
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 64) {
    int g = blockIdx.x * 256 + i;
    if (g < n) out[g] = s[i] + s[i + 1] + s[i + 2];
  }
}

// One output a thread, window copied into an array and sorted.
__global__ void median(const float *__restrict__ in, float *__restrict__ out, int nx, int ny) {
  __shared__ float s[8 + 2][32 + 2];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int j = threadIdx.y; j < 10; j += 8)
    for (int i = threadIdx.x; i < 34; i += 32) {
      int gx = min(max((int)(blockIdx.x * 32) + i - 1, 0), nx - 1), gy = min(max((int)(blockIdx.y * 8) + j - 1, 0), ny - 1);
      s[j][i] = in[gy * nx + gx];
    }
  __syncthreads();
  float v[9];
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i)
      v[3 * j + i] = s[threadIdx.y + j][threadIdx.x + i];
  for (int i = 0; i < 5; ++i)
    for (int j = i + 1; j < 9; ++j) {
      float a = v[i], b = v[j];
      v[i] = fminf(a, b);
      v[j] = fmaxf(a, b);
    }
  if (x < nx && y < ny) out[y * nx + x] = v[4];
}

// A table of places.
__global__ void offsets(const float *__restrict__ in, float *__restrict__ out, int nx, int ny) {
  __shared__ float s[8 + 2][32 + 2];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int j = threadIdx.y; j < 10; j += 8)
    for (int i = threadIdx.x; i < 34; i += 32) {
      int gx = min(max((int)(blockIdx.x * 32) + i - 1, 0), nx - 1), gy = min(max((int)(blockIdx.y * 8) + j - 1, 0), ny - 1);
      s[j][i] = in[gy * nx + gx];
    }
  __syncthreads();
  const int dx[4] = {-1, 1}, dy[4] = {0, 0, -1, 1};
  const float w[4] = {0.5f, 0.25f, 0.125f, 3.0f};
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k)
    sum += w[k] * s[threadIdx.y + 1 + dy[k]][threadIdx.x + 1 + dx[k]];
  if (x < nx && y < ny)
    out[y * nx + x] = sum;
}

// Many sums in many rounds: not worth following, nor too much to look at.
__global__ void sums(const int *__restrict__ in, int *__restrict__ out, int n) {
  __shared__ int s[128];
  const int g = blockIdx.x * 128 + threadIdx.x;
  int v[8][8] = {};
  for (int k = 0; k < 32; ++k)
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j)
        v[i][j] += in[min(g + i * k, n - 1)] * in[min(g + j, n - 1)];
  int all = 0;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      all += v[i][j];
  s[threadIdx.x] = all;
  __syncthreads();
  if (g < n)
    out[g] = s[threadIdx.x] + s[min(threadIdx.x + 1, 127)];
}

// The place in the queue changes with the round.
__global__ void ring(const float *__restrict__ in, float *__restrict__ out, int n, int nz) {
  __shared__ float s[128];
  const int x = min(blockIdx.x * 128 + threadIdx.x, n - 1);
  float q[2] = {in[x], in[n + x]};
  for (int k = 0; k < nz - 2; ++k) {
    s[threadIdx.x] = q[k % 2];
    __syncthreads();
    out[k * n + x] = s[threadIdx.x] + q[(k + 1) % 2];
    __syncthreads();
    q[k % 2] = in[(k + 2) * n + x];
  }
}

// It moves under another name.
__global__ void other_name(const float *__restrict__ in, float *__restrict__ out, int n, int nz) {
  __shared__ float s[128];
  const int x = min(blockIdx.x * 128 + threadIdx.x, n - 1);
  float q[2] = {in[x], in[n + x]};
  float *p = q;
  for (int k = 0; k < nz - 2; ++k) {
    s[threadIdx.x] = q[0];
    __syncthreads();
    out[k * n + x] = s[threadIdx.x] + q[1];
    __syncthreads();
    p[1] = in[(k + 2) * n + x];
    *p = p[1] - 1.0f;
  }
}
__global__ void referred(const float *__restrict__ in, float *__restrict__ out, int n, int nz) {
  __shared__ float s[128];
  const int x = min(blockIdx.x * 128 + threadIdx.x, n - 1);
  float q[2] = {in[x], in[n + x]};
  for (int k = 0; k < nz - 2; ++k) {
    s[threadIdx.x] = q[0];
    __syncthreads();
    out[k * n + x] = s[threadIdx.x] + q[1];
    __syncthreads();
    q[0] = q[1];
    q[1] = in[(k + 2) * n + x];
    for (float &v : q)
      v += 1.0f;
  }
}

__global__ void some_rounds(const float *__restrict__ in, float *__restrict__ out, int n, int nz) {
  __shared__ float s[128];
  const int x = min(blockIdx.x * 128 + threadIdx.x, n - 1);
  float q[2] = {in[x], in[n + x]};
  for (int k = 0; k < nz - 2; ++k) {
    s[threadIdx.x] = q[0];
    __syncthreads();
    out[k * n + x] = s[threadIdx.x] + q[1];
    __syncthreads();
    if (k % 3)
      q[0] = q[1];
    q[1] = in[(k + 2) * n + x];
  }
}

__global__ void first_differs(const float *__restrict__ in, float *__restrict__ out, int n, int nz) {
  __shared__ float s[128];
  const int x = min(blockIdx.x * 128 + threadIdx.x, n - 1);
  float q[2] = {in[n + x], in[n + x]};
  for (int k = 0; k < nz - 2; ++k) {
    s[threadIdx.x] = q[0];
    __syncthreads();
    out[k * n + x] = s[threadIdx.x] + q[1];
    __syncthreads();
    q[0] = q[1];
    q[1] = in[(k + 2) * n + x];
  }
}

int main() {
  const int Sizes[][3] = {{70, 21, 9}, {64, 32, 12}, {33, 17, 6}};
  for (auto &S : Sizes) {
    const int nx = S[0], ny = S[1], nz = S[2], n = nx * ny;
    Buffer<float> In(randoms<float>(n * nz)), W(randoms<float>(n * nz)), Out(n * nz);
    const dim3 g(blocks(nx, 32), blocks(ny, 8)), b(32, 8);
    const int rows = blocks(n, 128);
    ahead<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("ahead", nx, ny);
    two_queues<<<rows, 128>>>(In.Data, W.Data, Out.Data, n, nz);
    Out.show("two queues", nx, ny);
    by_way<<<blocks(n * nz, 256), 64>>>(In.Data, Out.Data, n * nz);
    Out.show("by way", nx, ny);
    median<<<g, b>>>(In.Data, Out.Data, nx, ny);
    Out.show("median", nx, ny);
    offsets<<<g, b>>>(In.Data, Out.Data, nx, ny);
    Out.show("offsets", nx, ny);
    sums<<<rows, 128>>>((const int *)In.Data, (int *)Out.Data, n);
    Out.show("sums", nx, ny);
    ring<<<rows, 128>>>(In.Data, Out.Data, n, nz);
    Out.show("ring", nx, ny);
    other_name<<<rows, 128>>>(In.Data, Out.Data, n, nz);
    Out.show("other name", nx, ny);
    referred<<<rows, 128>>>(In.Data, Out.Data, n, nz);
    Out.show("referred", nx, ny);
    some_rounds<<<rows, 128>>>(In.Data, Out.Data, n, nz);
    Out.show("some rounds", nx, ny);
    first_differs<<<rows, 128>>>(In.Data, Out.Data, n, nz);
    Out.show("first differs", nx, ny);
  }
}
