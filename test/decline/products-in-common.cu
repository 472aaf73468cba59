// A sum of two products, one of which several outputs of a thread have in common:
// it has more uses then than in the original, and the other one is fused.
//
// RUN: rcache-rewrite %s -q --list --self-check=off -o %t.cu | FileCheck %s
//
// REQUIRES: cuda-toolkit
//
// CHECK: declined energy; fusion-unsettled ('dx * dx + dy * dy' in line 19, with several outputs a thread)
__global__ void energy(const float4 *__restrict__ atoms, int n, float *__restrict__ grid, float spacing, int w) {
  __shared__ float4 at[256];
  int t = threadIdx.y * 16 + threadIdx.x;
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float cx = x * spacing, cy = y * spacing, v = 0;
  for (int first = 0; first < n; first += 256) {
    at[t] = atoms[first + t];
    __syncthreads();
    for (int a = 0; a < 256; ++a) {
      float dx = cx - at[a].x, dy = cy - at[a].y;
      v += at[a].w * rsqrtf(dx * dx + dy * dy);
    }
    __syncthreads();
  }
  grid[y * w + x] = v;
}
void run(const float4 *a, float *g, int n, int w) {
  energy<<<dim3(w / 16, w / 16), dim3(16, 16)>>>(a, n, g, 0.1f, w);
}
