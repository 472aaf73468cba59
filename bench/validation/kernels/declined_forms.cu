// Kernels that a rewrite should leave alone, each for a reason of its own.
#include "validation.cuh"

#define BINS 256

// Atomics on shared memory.
__global__ void histogram(const unsigned char *data, unsigned *bins, int n) {
  __shared__ unsigned local[BINS];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x)
    atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

// A table that data look up.
__global__ void lookup(const unsigned char *in, unsigned char *out,
                       const unsigned char *table, int n) {
  __shared__ unsigned char lut[BINS];
  lut[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = lut[in[i]];
}

// A radius that is known at run time only.
__global__ void any_radius(const float *in, float *out, int n, int radius) {
  extern __shared__ float s[];
  int base = blockIdx.x * blockDim.x - radius;
  for (int i = threadIdx.x; i < blockDim.x + 2 * radius; i += blockDim.x) {
    int g = base + i;
    s[i] = g < 0 || g >= n ? 0.f : in[g];
  }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int k = 0; k <= 2 * radius; ++k)
    sum += s[threadIdx.x + k];
  out[i] = sum / (2 * radius + 1);
}

// Inline assembly.
__global__ void with_asm(const int *in, int *out) {
  __shared__ int s[128];
  int i = blockIdx.x * 128 + threadIdx.x, lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  s[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = s[threadIdx.x ^ 64] + lane;
}

// Warp shuffles do the exchange; one shared element for each warp.
__global__ void shuffled_sum(const float *in, float *out, int n) {
  __shared__ float warp_sums[8];
  float v = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    v += in[i];
  for (int d = 16; d; d >>= 1)
    v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0)
    warp_sums[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w)
      v += warp_sums[w];
    out[blockIdx.x] = v;
  }
}

// The address of an element is kept.
__global__ void pointer_walk(const int *in, int *out, int rounds) {
  __shared__ int ring[256];
  ring[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  const int *p = &ring[threadIdx.x];
  int sum = 0;
  for (int r = 0; r < rounds; ++r) {
    sum = 3 * sum + *p;
    p = p == &ring[255] ? &ring[0] : p + 1;
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// A queue in shared memory, filled as data decide.
__global__ void compact(const int *in, int *out, int *counts) {
  __shared__ int kept[256];
  __shared__ int count;
  if (threadIdx.x == 0)
    count = 0;
  __syncthreads();
  int v = in[blockIdx.x * 256 + threadIdx.x];
  if (v > 0)
    atomicAdd(&count, 1);
  kept[threadIdx.x] = v > 0 ? v : 0;
  __syncthreads();
  int before = 0;
  for (int k = 0; k < threadIdx.x; ++k)
    before += kept[k] != 0;
  if (v > 0)
    out[blockIdx.x * 256 + before] = v;
  if (threadIdx.x == 0)
    counts[blockIdx.x] = count;
}

// A flag in shared memory stops the loop for the whole block.
__global__ void until_quiet(float *u, int limit) {
  __shared__ float s[258];
  __shared__ int moving;
  int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x + 1;
  s[t] = u[i];
  if (threadIdx.x == 0)
    s[0] = s[257] = 0.f;
  __syncthreads();
  for (int round = 0; round < limit; ++round) {
    float v = 0.5f * s[t] + 0.25f * (s[t - 1] + s[t + 1]);
    if (threadIdx.x == 128)
      moving = fabsf(v - s[t]) > 1e-3f;
    __syncthreads();
    s[t] = v;
    if (!moving)
      break;
    __syncthreads();
  }
  u[i] = s[t];
}

// A barrier inside a bounds guard that whole blocks pass or do not.
__global__ void guarded(const float *in, float *out, int n) {
  __shared__ float s[256];
  int b = blockIdx.x * 256;
  if (b + 255 < n) {
    s[threadIdx.x] = in[b + threadIdx.x];
    __syncthreads();
    out[b + threadIdx.x] = s[255 - threadIdx.x];
  }
}

void count(const unsigned char *d, unsigned *b, int n) {
  histogram<<<264, BINS>>>(d, b, n);
}
void translate(const unsigned char *i, unsigned char *o,
               const unsigned char *t, int n) {
  lookup<<<(n + BINS - 1) / BINS, BINS>>>(i, o, t, n);
}
void average(const float *i, float *o, int n, int r) {
  any_radius<<<(n + 255) / 256, 256, (256 + 2 * r) * sizeof(float)>>>(i, o, n,
                                                                     r);
}
void lanes(const int *i, int *o, int n) { with_asm<<<n / 128, 128>>>(i, o); }
void sum(const float *i, float *o, int n) {
  shuffled_sum<<<264, 256>>>(i, o, n);
}
void walk(const int *i, int *o, int n) {
  pointer_walk<<<n / 256, 256>>>(i, o, 20);
}
void keep(const int *i, int *o, int *c, int n) {
  compact<<<n / 256, 256>>>(i, o, c);
}
void quiet(float *u, int n) { until_quiet<<<n / 256, 256>>>(u, 50); }
void reverse(const float *i, float *o, int n) {
  guarded<<<(n + 255) / 256, 256>>>(i, o, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 24, 1 << 20}, 1024)) {
    unsigned char *bytes = filled<unsigned char>(n, 120, 0, 256),
                  *table = filled<unsigned char>(256, 121, 0, 256),
                  *bo = zeros<unsigned char>(n);
    unsigned *bins = zeros<unsigned>(BINS);
    float *f = filled<float>(n, 122), *fo = zeros<float>(n);
    int *i = filled<int>(n, 123, -50, 50), *io = zeros<int>(n),
        *c = zeros<int>(n / 256);
    measure("histogram", text(n), [&] { count(bytes, bins, n); },
            {result(bins, BINS)});
    measure("lookup", text(n), [&] { translate(bytes, bo, table, n); },
            {result(bo, n)});
    measure("any_radius", text(n), [&] { average(f, fo, n, 5); },
            {result(fo, n)});
    measure("with_asm", text(n), [&] { lanes(i, io, n); }, {result(io, n)});
    measure("shuffled_sum", text(n), [&] { sum(f, fo, n); }, {result(fo, n)});
    measure("pointer_walk", text(n), [&] { walk(i, io, n); }, {result(io, n)});
    measure("compact", text(n), [&] { keep(i, io, c, n); },
            {result(c, n / 256), result(io, n)});
    measure("guarded", text(n), [&] { reverse(f, fo, n); }, {result(fo, n)});
    measure("until_quiet", text(n), [&] { quiet(f, n); }, {result(f, n)});
    release(bytes, table, bo, bins, f, fo, i, io, c);
  }
}
