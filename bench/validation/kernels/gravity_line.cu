// The pull of bodies on points of a line: tiles of bodies in shared memory, a
// reciprocal square root each.
#include "validation.cuh"

struct Body {
  float x, m;
};

__global__ void pull(const Body *bodies, int count, float *force, int points,
                     float step) {
  __shared__ Body tile[128];
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  const float at = p * step;
  float f = 0;
  for (int first = 0; first < count; first += 128) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int b = 0; b < 128; ++b) {
      const float d = tile[b].x - at;
      const float r = rsqrtf(d * d + 0.01f);
      f += tile[b].m * d * r * r * r;
    }
    __syncthreads();
  }
  if (p < points)
    force[p] = f;
}

void pullAll(const Body *b, float *f, int n) {
  const int threads = 128;
  pull<<<(n + threads - 1) / threads, threads>>>(b, 1024, f, n, 0.5f);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({100000, 1 << 21}, 300)) {
    float *raw = filled<float>(2048, 8), *out = zeros<float>(n);
    measure("pull", text(n),
            [&] { pullAll(reinterpret_cast<Body *>(raw), out, n); },
            {result(out, n)});
    release(raw, out);
  }
}
