// Accelerations of all bodies, tile by tile (after GPU Gems 3).
#include "bench.h"

#define P 256
#define EPS2 1e-4f

__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai) {
  float3 r;
  r.x = bj.x - bi.x;
  r.y = bj.y - bi.y;
  r.z = bj.z - bi.z;
  float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + EPS2;
  float distSixth = distSqr * distSqr * distSqr;
  float invDistCube = rsqrtf(distSixth);
  float s = bj.w * invDistCube;
  ai.x += r.x * s;
  ai.y += r.y * s;
  ai.z += r.z * s;
  return ai;
}

__global__ void calculateForces(const float4 *X, float4 *A, int n) {
  __shared__ float4 shPosition[P];
  float3 acc = {0.0f, 0.0f, 0.0f};
  int gtid = blockIdx.x * blockDim.x + threadIdx.x;
  float4 myPosition = X[gtid];
  for (int i = 0, tile = 0; i < n; i += P, tile++) {
    int idx = tile * blockDim.x + threadIdx.x;
    shPosition[threadIdx.x] = X[idx];
    __syncthreads();
    for (int j = 0; j < P; j++)
      acc = bodyBodyInteraction(myPosition, shPosition[j], acc);
    __syncthreads();
  }
  A[gtid] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}

int main() {
  const int n = 64 * 1024;
  std::vector<float4> h(n);
  Rng r(241);
  for (auto &b : h)
    b = make_float4(r.uniform(), r.uniform(), r.uniform(), r.uniform() * 0.001f);
  float4 *X = toDevice(h), *A = deviceAlloc<float4>(n);
  printTime("calculateForces", timeMin([&] { calculateForces<<<n / P, P>>>(X, A, n); }));
  printHash("calculateForces", A, n);
}
