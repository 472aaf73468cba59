// Loops over planes whose rounds several blocks share: each fills its queue of
// loads anew.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -q --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// TEXT-LABEL: void queue7{{_rc}}(
// TEXT: Several blocks share the rounds
// TEXT: for (int k = rc_from; (k < nz - 1) && k != rc_to; ++k)
// TEXT-LABEL: void queue7{{_rc_launch}}(
// TEXT: rc_grid.z == 1
// TEXT: rcache::device::rounds_of_block(
// TEXT-LABEL: void zeros_first{{_rc}}(
// TEXT: Several blocks share the rounds
// TEXT: if (blockIdx.z != 0)
// TEXT-LABEL: void star2{{_rc}}(
// TEXT: Several blocks share the rounds
// TEXT-LABEL: void every_other{{_rc}}(
// TEXT: Several blocks share the rounds
// TEXT-LABEL: void own{{_rc}}(
// TEXT: Several blocks share the rounds
// TEXT-LABEL: void moving{{_rc}}(
// TEXT: Several blocks share the rounds
// TEXT-LABEL: void leaving{{_rc}}(
// TEXT: Several blocks share the rounds
// TEXT-LABEL: void no_queue{{_rc}}(
// TEXT: Several blocks share the rounds
#include "program.h"

#define TILE                                                                   \
  __shared__ float s[8 + 2][32 + 2];                                           \
  const int i = blockIdx.x * 32 + threadIdx.x;                                 \
  const int j = blockIdx.y * 8 + threadIdx.y;                                  \
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;                        \
  const bool inside = i > 0 && i < nx - 1 && j > 0 && j < ny - 1;              \
  const bool there = i < nx && j < ny;                                         \
  const int plane = nx * ny;
#define STAGE(AT, CUR)                                                         \
  __syncthreads();                                                             \
  s[ty][tx] = CUR;                                                             \
  if (threadIdx.x == 0 && inside) s[ty][0] = in[AT - 1];                       \
  if (threadIdx.x == 31 && inside) s[ty][33] = in[AT + 1];                     \
  if (threadIdx.y == 0 && inside) s[0][tx] = in[AT - nx];                      \
  if (threadIdx.y == 7 && inside) s[9][tx] = in[AT + nx];                      \
  __syncthreads();
#define AROUND (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx])

__global__ void queue7(const float *__restrict__ in, float *__restrict__ out,
                       int nx, int ny, int nz) {
  TILE
  int at = j * nx + i;
  float below = 0, cur = 0, above = 0;
  if (there) {
    cur = in[at];
    above = in[at + plane];
  }
  for (int k = 1; k < nz - 1; ++k) {
    at += plane;
    below = cur;
    cur = above;
    above = there ? in[at + plane] : 0.0f;
    STAGE(at, cur)
    if (inside)
      out[at] = 0.4f * cur + 0.1f * (below + above + AROUND);
  }
}

// In the first two rounds the queue holds what no plane does.
__global__ void zeros_first(const float *__restrict__ in,
                            float *__restrict__ out, int nx, int ny, int nz) {
  TILE
  int at = j * nx + i;
  float two = 0, one = 0, cur = there ? in[at] : 0.0f;
  for (int k = 0; k < nz - 1; ++k) {
    STAGE(at, cur)
    if (inside)
      out[at] = cur + 2 * one - 3 * two + AROUND;
    at += plane;
    two = one;
    one = cur;
    cur = there ? in[at] : 0.0f;
  }
}

#define R 2
__global__ void star2(const float *__restrict__ in, float *__restrict__ out,
                      int nx, int ny, int nz) {
  __shared__ float tile[8 + 2 * R][32 + 2 * R];
  const int gx = blockIdx.x * 32 + threadIdx.x, gy = blockIdx.y * 8 + threadIdx.y;
  const int lx = threadIdx.x, ly = threadIdx.y, tx = lx + R, ty = ly + R;
  const int pitch = nx + 2 * R, plane = pitch * (ny + 2 * R);
  const bool valid = gx < nx && gy < ny, near = gx < nx + R && gy < ny + R;
  int from = (gy + R) * pitch + gx + R, to = 0;
  float infront[R], behind[R], current = 0;
#pragma unroll
  for (int i = R - 2; i >= 0; --i) {
    behind[i] = near ? in[from] : 0.0f;
    from += plane;
  }
  current = near ? in[from] : 0.0f;
  to = from;
  from += plane;
#pragma unroll
  for (int i = 0; i < R; ++i) {
    infront[i] = near ? in[from] : 0.0f;
    from += plane;
  }
  behind[R - 1] = 0;
  for (int z = 0; z < nz; ++z) {
#pragma unroll
    for (int i = R - 1; i > 0; --i)
      behind[i] = behind[i - 1];
    behind[0] = current;
    current = infront[0];
#pragma unroll
    for (int i = 0; i < R - 1; ++i)
      infront[i] = infront[i + 1];
    infront[R - 1] = near ? in[from] : 0.0f;
    from += plane;
    to += plane;
    __syncthreads();
    if (ly < R) {
      tile[ly][tx] = near ? in[to - R * pitch] : 0.0f;
      tile[ly + 8 + R][tx] =
          gx < nx + R && gy + 8 < ny + R ? in[to + 8 * pitch] : 0.0f;
    }
    if (lx < R) {
      tile[ty][lx] = near ? in[to - R] : 0.0f;
      tile[ty][lx + 32 + R] =
          gx + 32 < nx + R && gy < ny + R ? in[to + 32] : 0.0f;
    }
    tile[ty][tx] = current;
    __syncthreads();
    float value = 0.5f * current;
#pragma unroll
    for (int i = 1; i <= R; ++i)
      value += 0.1f * i *
               (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] +
                tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
    if (valid)
      out[to] = value;
  }
}

// Two planes a round.
__global__ void every_other(const float *__restrict__ in,
                            float *__restrict__ out, int nx, int ny, int nz) {
  TILE
  const int at = j * nx + i;
  float cur = there ? in[at] : 0.0f, next = there ? in[at + 2 * plane] : 0.0f;
  for (int k = 0; k < nz - 4; k += 2) {
    STAGE(at + k * plane, cur)
    if (inside)
      out[at + k * plane] = AROUND - cur * next;
    cur = next;
    next = there ? in[at + (k + 4) * plane] : 0.0f;
  }
}

// What is stored is made of what stood there.
__global__ void own(const float *__restrict__ in, float *__restrict__ out,
                    int nx, int ny, int nz) {
  TILE
  int at = j * nx + i;
  float cur = there ? in[at] : 0.0f;
  for (int k = 0; k < nz - 1; ++k) {
    STAGE(at, cur)
    if (inside)
      out[at] = 2 * cur - out[at] + AROUND;
    at += plane;
    cur = there ? in[at] : 0.0f;
  }
}

// Pointers that walk through the planes.
__global__ void moving(const float *__restrict__ in, float *__restrict__ out,
                       int nx, int ny, int nz) {
  TILE
  const float *p = in + j * nx + i;
  int at = j * nx + i;
  float cur = there ? *p : 0.0f;
  for (int k = 0; k < nz - 1; ++k) {
    STAGE(at, cur)
    if (inside)
      out[at] = cur + AROUND;
    p += plane;
    at += plane;
    cur = there ? *p : 0.0f;
  }
}

// Threads that are gone fill nothing.
__global__ void leaving(const float *__restrict__ in, float *__restrict__ out,
                        int nx, int ny, int nz) {
  __shared__ float s[8][32];
  const int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  const int plane = nx * ny, tx = threadIdx.x, ty = threadIdx.y;
  if (i >= nx || j >= ny)
    return;
  int at = j * nx + i;
  float cur = in[at];
  for (int k = 0; k < nz - 1; ++k) {
    __syncthreads();
    s[ty][tx] = cur;
    __syncthreads();
    if (tx > 0 && tx < 31 && i < nx - 1)
      out[at] = s[ty][tx - 1] + s[ty][tx + 1];
    at += plane;
    cur = in[at];
  }
}

// Nothing is taken over at all.
__global__ void no_queue(const float *__restrict__ in, float *__restrict__ out,
                         int nx, int ny, int nz) {
  TILE
  for (int k = 0; k < nz; ++k) {
    const int at = k * plane + j * nx + i;
    const float cur = there ? in[at] : 0.0f;
    STAGE(at, cur)
    if (inside)
      out[at] = cur + AROUND;
  }
}

int main() {
  const int Sizes[][3] = {{70, 21, 11}, {33, 17, 2}};
  for (auto &S : Sizes) {
    const int nx = S[0], ny = S[1], nz = S[2];
    const int all = (nx + 4) * (ny + 4) * (nz + 4);
    Buffer<float> In(randoms<float>(all)), Out(randoms<float>(all));
    const dim3 b(32, 8), g(blocks(nx, 32), blocks(ny, 8));
    queue7<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("queue7", nx, ny);
    zeros_first<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("zeros_first", nx, ny);
    star2<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("star2", nx, ny);
    every_other<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("every_other", nx, ny);
    own<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("own", nx, ny);
    moving<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("moving", nx, ny);
    leaving<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("leaving", nx, ny);
    no_queue<<<g, b>>>(In.Data, Out.Data, nx, ny, nz);
    Out.show("no_queue", nx, ny);
  }
}
