// Array of structs to struct of arrays through shared memory, and a bit reversal within pieces.
#include "bench.h"

struct Particle {
  float x, y, z;
};

__global__ void aosToSoa(const float *aos, float *x, float *y, float *z, int n) {
  __shared__ float buf[3 * 256];
  const int base = blockIdx.x * 256;
  // coalesced: thread t loads words t, t + 256, t + 512 of the block's structs
  for (int w = threadIdx.x; w < 3 * 256; w += 256)
    if (3 * base + w < 3 * n)
      buf[w] = aos[3 * base + w];
  __syncthreads();
  const int p = base + threadIdx.x;
  if (p < n) {
    x[p] = buf[3 * threadIdx.x];
    y[p] = buf[3 * threadIdx.x + 1];
    z[p] = buf[3 * threadIdx.x + 2];
  }
}

__global__ void bitReverse(const float2 *in, float2 *out) {
  __shared__ float2 s[256];
  s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = s[__brev(threadIdx.x) >> 24];
}

int main() {
  const int n = 12000001;
  std::vector<Particle> h(n);
  Rng r(281);
  for (auto &p : h)
    p = {r.uniform(), r.uniform(), r.uniform()};
  Particle *aos = toDevice(h);
  float *soa = deviceAlloc<float>((size_t)3 * n);
  printTime("aosToSoa", timeMin([&] {
              aosToSoa<<<(n + 255) / 256, 256>>>((const float *)aos, soa, soa + n, soa + 2 * (size_t)n, n);
            }));
  printHash("aosToSoa", soa, (size_t)3 * n);
  const size_t m = 1 << 24;
  float2 *in = (float2 *)toDevice(randomFloats(2 * m, 282)), *out = deviceAlloc<float2>(m);
  printTime("bitReverse", timeMin([&] { bitReverse<<<m / 256, 256>>>(in, out); }));
  printHash("bitReverse", out, m);
}
