// Arrays that stay in shared memory and that only one warp shares: __syncwarp in
// place of __syncthreads, and nothing where a thread meets only itself. Where two
// warps meet in an element, or in global memory, the block waits as it did.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --exchange=shared -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --check-prefix=REMARK %s < %t.remarks
// RUN: FileCheck %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// In any order, but for the kernel that counts on lanes in step.
// RUN: %if slow %{ rcache-check diff --schedule=random:7 %s %t.cu -- -I%S/Inputs -DANY_ORDER %}
// Some of these arrays a warp would own.
// RUN: %if slow %{ rcache-rewrite %s --force -o %t.owned.cu --cuda-path=%cuda -- -I%S/Inputs 2> /dev/null %}
// RUN: %if slow %{ rcache-check diff %s %t.owned.cu -- -I%S/Inputs %}
//
// The plan says which; the table does, too.
// RUN: rcache-rewrite %s --force --kernel=two_levels --print-after=plan --explain-choice -o %t.one.cu --cuda-path=%cuda -- -I%S/Inputs > %t.plan 2> %t.table
// RUN: FileCheck --check-prefix=PLAN %s < %t.plan
// RUN: FileCheck --check-prefix=TABLE %s < %t.table
// PLAN: plan two_levels
// PLAN: merge no
// PLAN-NEXT: barriers kept: 's' stays in shared memory
// PLAN-NEXT: barrier of line [[#S:]] in the warp
// PLAN-NEXT: barrier of line [[#S+3]] in the warp
// PLAN-NOT: barrier of line
// PLAN: array s shared
// TABLE: candidates of 'two_levels'
// TABLE: s: shared; sums: shared; some barriers in the warp
//
// A barrier that is narrowed too far: the verifier of plans walks through a block.
// RUN: rcache-rewrite %s --force --kernel=two_levels --mutate=narrowed-barrier -o %t.bad.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=BAD %s
// BAD: the plan verifier found: no barrier orders sums[w] at line {{[0-9]+}} of thread 32 and sums[k] at line {{[0-9]+}} of thread 0
// RUN: not rcache-check diff %s %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=RACE %s
// RACE: shared-race
#include "buffers.h"

// Each row is a warp's: sums within it. Behind the last barrier nothing is shared.
// REMARK: rewrote 'row_sums' {{.*}} 's' kept shared; 3 barriers as __syncwarp
// CHECK-LABEL: void row_sums_{{rc}}(const float *in, float *out, int n,
// CHECK: s[threadIdx.y][t] = v;
// CHECK-NEXT: __syncwarp();
// CHECK-NEXT: for (int d = 16; d > 0; d >>= 1) {
// CHECK: __syncwarp();
// CHECK-NOT: __sync{{threads}}
// CHECK: rcache::device::separate(in, out)
__global__ void row_sums(const float *in, float *out, int n, int rows) {
  __shared__ float s[8][32];
  int row = blockIdx.x * 8 + threadIdx.y, t = threadIdx.x;
  float v = 0;
  for (int i = t; i < n; i += 32)
    if (row < rows) v += in[row * n + i];
  s[threadIdx.y][t] = v;
  __syncthreads();
  for (int d = 16; d > 0; d >>= 1) {
    if (t < d) s[threadIdx.y][t] += s[threadIdx.y][t + d];
    __syncthreads();
  }
  v = s[threadIdx.y][0];
  __syncthreads();
  for (int i = t; i < n; i += 32)
    if (row < rows) out[row * n + i] = in[row * n + i] / v;
}

// Two rows a warp, a padded line, a barrier as a macro writes it.
// REMARK: rewrote 'half_rows'
// CHECK-LABEL: void half_rows_{{rc}}(
// CHECK: s[threadIdx.y][t] = v;
// CHECK-NEXT: __syncwarp();
// CHECK-NEXT: v += s[threadIdx.y][(t + d) & 15];
// CHECK-NEXT: __syncwarp();
#define SYNC() __syncthreads()
__global__ void half_rows(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[8][17];
  int t = threadIdx.x, g = (blockIdx.x * 8 + threadIdx.y) * 16 + t;
  float v = g < n ? in[g] : 0;
  for (int d = 8; d > 0; d /= 2) {
    s[threadIdx.y][t] = v;
    SYNC();
    v += s[threadIdx.y][(t + d) & 15];
    SYNC();
  }
  if (g < n) out[g] = v;
}

// Rows of one warp and a half: the same lines in two warps.
// CHECK-LABEL: void rows_of_48_{{rc}}(
// CHECK: Barriers stay: 's' stays in shared memory.
// CHECK-NEXT: const unsigned int rc_block_x
__global__ void rows_of_48(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[2][48];
  int t = threadIdx.x, g = (blockIdx.x * 2 + threadIdx.y) * 48 + t;
  float v = g < n ? in[g] : 0;
  for (int d = 0; d < 3; ++d) {
    s[threadIdx.y][t] = v;
    __syncthreads();
    v += s[threadIdx.y][47 - t];
    __syncthreads();
  }
  if (g < n) out[g] = v;
}

// A neighbour's row.
// CHECK-LABEL: void across_{{rc}}(
// CHECK: Barriers stay: 's' stays in shared memory.
// CHECK-NEXT: const unsigned int rc_block_x
__global__ void across(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[3][32];
  int t = threadIdx.x, g = (blockIdx.x * 3 + threadIdx.y) * 32 + t;
  float v = g < n ? in[g] : 0;
  for (int d = 0; d < 3; ++d) {
    s[threadIdx.y][t] = v;
    __syncthreads();
    v += s[threadIdx.y][31 - t] + s[(threadIdx.y + 1) % 3][t];
    __syncthreads();
  }
  if (g < n) out[g] = v;
}

// The lines are a warp's own, but one index runs through all of them.
// CHECK-LABEL: void over_the_end_{{rc}}(
// CHECK: Barriers stay: 's' stays in shared memory.
// CHECK-NEXT: const unsigned int rc_block_x
__global__ void over_the_end(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[3][32];
  int t = threadIdx.y * 32 + threadIdx.x, g = blockIdx.x * 96 + t;
  float v = g < n ? in[g] : 0;
  for (int d = 0; d < 3; ++d) {
    s[0][t] = v;
    __syncthreads();
    v += s[(threadIdx.y + 1) % 3][threadIdx.x];
    __syncthreads();
  }
  if (g < n) out[g] = v;
}

// Sums of warps, then of the block: its barrier stays.
// REMARK: rewrote 'two_levels'
// CHECK-LABEL: void two_levels_{{rc}}(
// CHECK: __syncwarp();
// CHECK-NEXT: for (int d = 16; d > 0; d >>= 1) {
// CHECK: __syncwarp();
// CHECK: sums[w] = s[w][0];
// CHECK-NEXT: __syncthreads();
__global__ void two_levels(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[8][32];
  __shared__ float sums[8];
  int l = threadIdx.x % 32, w = threadIdx.x / 32, g = blockIdx.x * 256 + threadIdx.x;
  s[w][l] = g < n ? in[g] : 0;
  __syncthreads();
  for (int d = 16; d > 0; d >>= 1) {
    if (l < d) s[w][l] += s[w][l + d];
    __syncthreads();
  }
  if (l == 0) sums[w] = s[w][0];
  __syncthreads();
  if (threadIdx.x == 0) {
    float r = 0;
    for (int k = 0; k < 8; ++k) r += sums[k];
    out[blockIdx.x] = r;
  }
}

// Threads that leave: nobody waits for them, so they stay.
// REMARK: rewrote 'leaves'
// CHECK-LABEL: void leaves_{{rc}}(
// CHECK-NOT: return;
// CHECK: if (g >= n)
// CHECK-NEXT: continue;
// CHECK: __syncwarp();
__global__ void leaves(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[8][32];
  int t = threadIdx.x, g = (blockIdx.x * 8 + threadIdx.y) * 32 + t;
  if (g >= n) return;
  float v = in[g];
  s[threadIdx.y][t] = v;
  __syncthreads();
  for (int d = 1; d < 32; d *= 2) {
    float u = t >= d ? s[threadIdx.y][t - d] : 0;
    __syncthreads();
    v += u;
    s[threadIdx.y][t] = v;
    __syncthreads();
  }
  out[g] = v;
}

// In place: each line of global memory is a warp's as well.
// REMARK: rewrote 'in_place'
// CHECK-LABEL: void in_place_{{rc}}(
// CHECK: __syncwarp();
// CHECK-NOT: __sync{{threads}}
// CHECK: in_place_{{rc}}_launch
__global__ void in_place(float *data, int n, int rows) {
  __shared__ float s[4][32];
  int t = threadIdx.x, row = blockIdx.x * 4 + threadIdx.y;
  for (int first = 0; first < n; first += 32) {
    int i = first + t;
    s[threadIdx.y][t] = row < rows && i < n ? data[row * n + i] : 0;
    __syncthreads();
    float v = s[threadIdx.y][31 - t];
    __syncthreads();
    s[threadIdx.y][t] = v * 2;
    __syncthreads();
    if (row < rows && i < n) data[row * n + i] = s[threadIdx.y][(t + 1) % 32];
  }
}

// One warp hands another its results through global memory.
// CHECK-LABEL: void through_global_{{rc}}(
// CHECK: s[w][l] = in[g];
// CHECK-NEXT: __syncwarp();
// CHECK: out[g] = v;
// CHECK-NEXT: __syncthreads();
// CHECK-NEXT: v = out[
// CHECK-NEXT: __syncthreads();
__global__ void through_global(const float *__restrict__ in, float *out) {
  __shared__ float s[8][32];
  int l = threadIdx.x % 32, w = threadIdx.x / 32, g = blockIdx.x * 256 + threadIdx.x;
  s[w][l] = in[g];
  __syncthreads();
  float v = s[w][31 - l];
  __syncthreads();
  s[w][l] = v + 1;
  out[g] = v;
  __syncthreads();
  v = out[blockIdx.x * 256 + (255 - threadIdx.x)] + s[w][l ^ 3];
  __syncthreads();
  out[g] = v;
}

// Dynamic memory, lines by threadIdx.y.
// REMARK: rewrote 'dynamic_rows'
// CHECK-LABEL: void dynamic_rows_{{rc}}(
// CHECK: __syncwarp();
__global__ void dynamic_rows(const float *__restrict__ in, float *__restrict__ out, int n) {
  extern __shared__ float sm[];
  float *row = sm + threadIdx.y * 32;
  int t = threadIdx.x, g = (blockIdx.x * 4 + threadIdx.y) * 32 + t;
  float v = g < n ? in[g] : 0;
  for (int d = 16; d; d >>= 1) {
    row[t] = v;
    __syncthreads();
    v = fmaxf(v, row[(t + d) % 32]);
    __syncthreads();
  }
  if (g < n) out[g] = v;
}

// The block is not known: the launch sees to whole warps.
// REMARK: rewrote 'any_block'
// CHECK-LABEL: void any_block_{{rc}}(
// CHECK: __syncwarp();
// CHECK: rc_block.x % 32 == 0
__global__ void any_block(const int *__restrict__ in, int *__restrict__ out, int n) {
  __shared__ int s[1024];
  int g = blockIdx.x * blockDim.x + threadIdx.x, w = threadIdx.x / 32, l = threadIdx.x % 32;
  int v = g < n ? in[g] : 0;
  for (int d = 0; d < 3; ++d) {
    s[threadIdx.x] = v;
    __syncthreads();
    int other = w * 32 + 31 - l; // there is none in part of the last warp of 100
    v += (other < (int)blockDim.x ? s[other] : 0) * (d + 1);
    __syncthreads();
  }
  if (g < n) out[g] = v;
}

// One array goes to registers, and its barrier with it; what the other one holds is
// not known, it stays.
// REMARK: rewrote 'mixed' {{.*}} 's' reloaded, {{.*}} 'hist' kept shared
// CHECK-LABEL: void mixed_{{rc}}(
// CHECK: Barriers that ordered nothing that is left are gone.
// CHECK-NOT: __sync{{.*}}();
// CHECK: hist[t] = v
// CHECK: __sync{{.*}}();
// CHECK-NOT: __sync{{.*}}();
// CHECK: mixed_{{rc}}_launch
__global__ void mixed(const int *__restrict__ in, int *__restrict__ out, int n) {
  __shared__ int s[258];
  __shared__ int hist[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  for (int q = t; q < 258; q += 256) {
    int at = (int)blockIdx.x * 256 + q - 1;
    s[q] = at >= 0 && at < n ? in[at] : 0;
  }
  __syncthreads();
  int v = s[t] + s[t + 1] + s[t + 2];
  hist[t] = v;
  __syncthreads();
  if (g < n) out[g] = v + hist[255 - t];
}

// Lanes in step, as old code has it: slots are not, so a thread has one.
// REMARK: rewrote 'in_step' {{.*}}: 1 output a thread; 's' reloaded, 3 registers; 'r' kept shared
__global__ void in_step(const int *__restrict__ in, int *__restrict__ out, int n) {
  __shared__ int s[258];
  __shared__ volatile int r[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  for (int q = t; q < 258; q += 256) {
    int at = (int)blockIdx.x * 256 + q - 1;
    s[q] = at >= 0 && at < n ? in[at] : 0;
  }
  __syncthreads();
  int v = s[t] + s[t + 1] + s[t + 2];
  r[t] = v;
  __syncthreads();
  if ((t & 31) < 16) {
    r[t] += r[t + 16]; r[t] += r[t + 8]; r[t] += r[t + 4]; r[t] += r[t + 2]; r[t] += r[t + 1];
  }
  __syncthreads();
  if (g < n) out[g] = v + r[t & ~31];
}

int main() {
  for (int n : {31, 129, 1000}) {
    Buf<float> a(n), b(n), c(n), d(n), e(n), f(n), h(n), k(n), p(n), full(2304), q(2304); a.nums(3); full.nums(5);
    Buf<int> i(n), j(n), m(n); i.nums(8);
    CHECK((row_sums<<<(n / 7 + 7) / 8, dim3(32, 8)>>>(a.d, b.d, 7, n / 7)));
    CHECK((half_rows<<<(n + 127) / 128, dim3(16, 8)>>>(a.d, c.d, n)));
    CHECK((rows_of_48<<<(n + 95) / 96, dim3(48, 2)>>>(a.d, d.d, n)));
    CHECK((across<<<(n + 95) / 96, dim3(32, 3)>>>(a.d, e.d, n)));
    CHECK((over_the_end<<<(n + 95) / 96, dim3(32, 3)>>>(a.d, k.d, n)));
    CHECK((two_levels<<<(n + 255) / 256, 256>>>(a.d, f.d, n)));
    CHECK((leaves<<<(n + 255) / 256, dim3(32, 8)>>>(a.d, h.d, n)));
    CHECK((in_place<<<(n / 31 + 3) / 4, dim3(32, 4)>>>(a.d, 31, n / 31)));
    CHECK((through_global<<<n / 256 + 1, 256>>>(full.d, q.d)));
    CHECK((dynamic_rows<<<(n + 127) / 128, dim3(32, 4), 512>>>(a.d, p.d, n)));
    for (int block : {32, 96, 100, 256}) {
      CHECK((any_block<<<(n + block - 1) / block, block>>>(i.d, j.d, n)));
      show("any_block", j);
    }
    CHECK((mixed<<<(n + 255) / 256, 256>>>(i.d, m.d, n)));
#ifndef ANY_ORDER
    CHECK((in_step<<<(n + 255) / 256, 256>>>(i.d, j.d, n)));
    show("in_step", j);
#endif
    show("row_sums", b); show("half_rows", c); show("rows_of_48", d); show("across", e); show("over_the_end", k);
    show("two_levels", f); show("leaves", h); show("in_place", a); show("through_global", q);
    show("dynamic_rows", p); show("mixed", m);
  }
}
