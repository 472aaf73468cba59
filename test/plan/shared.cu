// Arrays that stay in shared memory: merged slots, joined blocks, barriers that order less, and
// one array that stays beside one that leaves.
// RUN: %plan %s merged -- --kernel=product --coarsen=8
// RUN: %plan %s joined -- --kernel=product
// RUN: %plan %s barriers -- --kernel=rows
// RUN: %plan %s both -- --kernel=both --exchange=reload --coarsen=4
//
// What is updated in place loads nothing from global memory.
// RUN: %rewrite %s -o %t.cu --force --kernel=rows -- %mock 2>&1 | FileCheck %s
// CHECK: rewrote 'rows' {{.*}}'s' kept shared; {{.*}} 1.00 loads (original: 1.00 loads, 17.00 shared reads)
__global__ void product(const float *__restrict__ a, const float *__restrict__ b,
                        float *__restrict__ c, int n) {
  __shared__ float s[16][16], t[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  int column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    s[y][x] = a[row * n + k + x];
    t[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += s[y][i] * t[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void rows(const float *__restrict__ in, float *__restrict__ out, int by) {
  __shared__ float s[8][32];
  int x = threadIdx.x, y = threadIdx.y, g = (blockIdx.x * 8 + y) * 32 + x;
  s[y][x] = in[g];
  __syncthreads();
  for (int d = 16; d > 0; d /= 2) {
    if (x < d)
      s[y][x] += s[y][x + d];
    __syncthreads();
  }
  out[g] = in[g] / s[y][by & 31];
}

__global__ void both(const float *__restrict__ in, const int *__restrict__ key,
                     float *__restrict__ out) {
  __shared__ float s[258];
  __shared__ int bins[32];
  int l = threadIdx.x, b = blockIdx.x * 256;
  for (int i = l; i < 258; i += 256)
    s[i] = in[b + i];
  if (l < 32)
    bins[l] = 0;
  __syncthreads();
  bins[key[b + l] & 31] = l;
  float sum = 0;
  for (int j = 0; j < 3; ++j)
    sum += s[l + j];
  __syncthreads();
  out[b + l] = sum + bins[l & 31];
}

void run(const float *a, const float *b, const int *key, float *c, int n) {
  product<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, c, n);
  rows<<<n / 256, dim3(32, 8)>>>(a, c, n);
  both<<<n / 256, 256>>>(a, key, c);
}
