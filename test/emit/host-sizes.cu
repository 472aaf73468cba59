// Blocks that are assigned, set by member, returned and passed on; kernels that are
// launched through pointers. Each launch is rewritten, and the loops that fill the
// tile are counted with the sizes that they have.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s --check-prefix=REMARKS < %t.remarks
// RUN: FileCheck %s < %t.cu
// RUN: rcache-check %s --kernel=members --rewritten=%t.cu --block=32,16,1 --trials=30
// RUN: rcache-check %s --kernel=assigned --rewritten=%t.cu --block=16,4,1 --trials=30
// RUN: rcache-check %s --kernel=pointed --rewritten=%t.cu --block=256 --trials=30
// REMARKS-DAG: rewrote 'members' (1 launch){{.*}}original: 1.00 loads
// REMARKS-DAG: rewrote 'assigned' (2 launches)
// REMARKS-DAG: rewrote 'pointed<2>' (1 launch)
#include <cuda_runtime.h>

__global__ void members(const unsigned short *a, unsigned short *o, int pitch) {
  __shared__ unsigned short m[18][34];
  for (int j = threadIdx.y; j < 18; j += 16)
    for (int i = threadIdx.x; i < 34; i += 32)
      m[j][i] = a[(blockIdx.y * 16 + j) * pitch + blockIdx.x * 32 + i];
  __syncthreads();
  o[(blockIdx.y * 16 + threadIdx.y) * pitch + blockIdx.x * 32 + threadIdx.x] =
      m[threadIdx.y][threadIdx.x] + m[threadIdx.y + 2][threadIdx.x + 2];
}
void setByMember(const unsigned short *a, unsigned short *o, int w, int h) {
  dim3 block, grid;
  block.x = 32;
  block.y = 16;
  grid.x = w / 32;
  grid.y = h / 16;
  // CHECK: {{members_rc_launch.*}}grid, block
  members<<<grid, block>>>(a, o, w + 2);
}

__global__ void assigned(const float *__restrict__ in, float *__restrict__ out,
                         int w, int pitch) {
  __shared__ float s[4][64 + 16];
  int x0 = blockIdx.x * 64 - 8, y = blockIdx.y * 4 + threadIdx.y;
  for (int i = threadIdx.x; i < 80; i += blockDim.x)
    s[threadIdx.y][i] = x0 + i >= 0 && x0 + i < w ? in[y * pitch + x0 + i] : 0.f;
  __syncthreads();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) {
    float sum = 0;
    for (int j = -2; j <= 2; j++)
      sum += s[threadIdx.y][i + 8 + j];
    if (x0 + 8 + i < w)
      out[y * pitch + x0 + 8 + i] = sum;
  }
}
__global__ void scale(float *x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}
static int Rows = 4;
dim3 sixteen(int rows) { return dim3(16, rows); }
void reassigned(const float *in, float *out, int w, int h) {
  dim3 block(256), grid(w / 256);
  scale<<<grid, block>>>(out);
  block = sixteen(2);
  block.y *= 2;
  grid = dim3((w + 63) / 64, h / 4);
  // CHECK: {{assigned_rc_launch.*}}grid, block
  assigned<<<grid, block>>>(in, out, w, w);
  if (w > 64)
    block.y = Rows;
  else
    block.y = 4;
}
void another(const float *in, float *out, int w, int h) {
  int rows = 2;
  for (int i = 0; i < 1; ++i)
    rows = Rows;
  dim3 block(16, rows);
  // CHECK: {{assigned_rc_launch.*}}block
  assigned<<<dim3((w + 63) / 64, h / 4), block>>>(in, out, w, w);
}

template <int R>
__global__ void pointed(const float *__restrict__ in, float *__restrict__ out,
                        int n) {
  __shared__ float s[256 + 2 * R];
  int g = blockIdx.x * 256 + threadIdx.x, l = threadIdx.x + R;
  s[l] = g < n ? in[g] : 0.f;
  if (threadIdx.x < R) {
    s[l - R] = g >= R && g - R < n ? in[g - R] : 0.f;
    s[l + 256] = g + 256 < n ? in[g + 256] : 0.f;
  }
  __syncthreads();
  if (g >= n)
    return;
  float a = 0;
  for (int k = -R; k <= R; k++)
    a += s[l + k];
  out[g] = a;
}
void throughPointer(const float *in, float *out, int n) {
  auto kernel = &pointed<2>;
  int threads = 256;
  int blocks = (n + threads - 1) / threads;
  // CHECK: {{pointed_rc_launch<2>.*}}blocks, threads
  kernel<<<blocks, threads>>>(in, out, n);
}

// Which kernel it is hangs on the call: the launch stays as it is.
// REMARKS-DAG: 'either<1>' left as it is: the launch cannot be replaced where it stands (the launch calls what a pointer leads to, which may be different kernels) [launch-not-editable]
template <int R>
__global__ void either(const float *__restrict__ in, float *__restrict__ out,
                       int n) {
  __shared__ float s[256 + 2 * R];
  int g = blockIdx.x * 256 + threadIdx.x, l = threadIdx.x + R;
  s[l] = g < n ? in[g] : 0.f;
  if (threadIdx.x < R) {
    s[l - R] = g >= R && g - R < n ? in[g - R] : 0.f;
    s[l + 256] = g + 256 < n ? in[g + 256] : 0.f;
  }
  __syncthreads();
  if (g < n)
    out[g] = s[l - R] + s[l + R];
}
typedef void (*Kernel)(const float *, float *, int);
// CHECK: k<<<(n + 255) / 256, 256>>>(in, out, n);
void launch(Kernel k, const float *in, float *out, int n) {
  k<<<(n + 255) / 256, 256>>>(in, out, n);
}
void choose(const float *in, float *out, int n, int r) {
  launch(r == 1 ? either<1> : either<3>, in, out, n);
}
