// Where blocks may wait for one another, no hint is taken that leaves fewer of them
// on an SM; without that, more registers than the compiler took are a candidate.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --only=registers --explain-choice --self-check=quick --cuda-path=%cuda --arch=sm_90 -o %t.cu 2>&1 | FileCheck %s
// RUN: sed '/atomicAdd/,+1d' %s > %t.alone.cu
// RUN: rcache-rewrite %t.alone.cu --only=registers --explain-choice --self-check=quick --cuda-path=%cuda --arch=sm_90 -o %t.cu 2>&1 | FileCheck --check-prefix=ALONE --implicit-check-not='fewer blocks' %s
//
// CHECK: launch bounds of 128 threads, 1 block an SM [an SM holds fewer blocks, and blocks may wait for one another]
// ALONE: launch bounds of 128 threads, 1 block an SM{{$}}
__global__ void fir(const float2 *__restrict__ in, const float2 *__restrict__ taps, float2 *__restrict__ out, int length,
                    int count, unsigned *done) {
  const int first = (blockIdx.x * 128 + threadIdx.x) * 16;
  if (first + 16 + count > length)
    return;
  const float2 *row = in + size_t(blockIdx.y) * length;
  float2 sum[16], window[16];
#pragma unroll
  for (int o = 0; o < 16; ++o) {
    sum[o] = make_float2(0.0f, 0.0f);
    window[o] = row[first + o];
  }
  for (int k = 0; k < count; ++k) {
    const float2 c = taps[k];
    const float2 fresh = row[first + 16 + k];
#pragma unroll
    for (int o = 0; o < 16; ++o) {
      sum[o].x += c.x * window[o].x - c.y * window[o].y;
      sum[o].y += c.x * window[o].y + c.y * window[o].x;
    }
#pragma unroll
    for (int o = 0; o < 16 - 1; ++o)
      window[o] = window[o + 1];
    window[16 - 1] = fresh;
  }
#pragma unroll
  for (int o = 0; o < 16; ++o)
    out[size_t(blockIdx.y) * length + first + o] = sum[o];
  // The last block of all, as sums over a grid have it.
  if (threadIdx.x == 0 && atomicAdd(done, 1u) == gridDim.x * gridDim.y - 1)
    *done = 0;
}

void run(const float2 *in, const float2 *taps, float2 *out, int length, unsigned *done) {
  fir<<<dim3(64, 64), 128>>>(in, taps, out, length, 64, done);
}
