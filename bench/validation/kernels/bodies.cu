// All pairs of bodies, tiles of 256 positions with masses.
#include "validation.cuh"

__device__ float3 interaction(float4 bi, float4 bj, float3 ai) {
  float3 r;
  r.x = bj.x - bi.x;
  r.y = bj.y - bi.y;
  r.z = bj.z - bi.z;
  float d = r.x * r.x + r.y * r.y + r.z * r.z + 1e-3f;
  float inv = rsqrtf(d);
  float s = bj.w * inv * inv * inv;
  ai.x += r.x * s;
  ai.y += r.y * s;
  ai.z += r.z * s;
  return ai;
}

__global__ void forces(const float4 *pos, float4 *acc, int n) {
  extern __shared__ float4 shPos[];
  int gtid = blockIdx.x * blockDim.x + threadIdx.x;
  float4 mine = pos[gtid];
  float3 a = {0.0f, 0.0f, 0.0f};
  for (int i = 0, tile = 0; i < n; i += blockDim.x, tile++) {
    shPos[threadIdx.x] = pos[tile * blockDim.x + threadIdx.x];
    __syncthreads();
#pragma unroll 32
    for (int j = 0; j < blockDim.x; j++)
      a = interaction(mine, shPos[j], a);
    __syncthreads();
  }
  acc[gtid] = make_float4(a.x, a.y, a.z, 0.0f);
}

void gravity(const float4 *pos, float4 *acc, int n) {
  int p = 256;
  forces<<<n / p, p, p * sizeof(float4)>>>(pos, acc, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({16384, 65536}, 512)) {
    float4 *p = (float4 *)filled<float>(4 * n, 68), *a = zeros<float4>(n);
    measure("forces", text(n), [&] { gravity(p, a, n); }, {result(a, n)});
    release(p, a);
  }
}
