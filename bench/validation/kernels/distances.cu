// Squared distances between all pairs of points with 64 features.
#include "validation.cuh"

#define BD 16

__global__ void pair_distances(const float *pts, float *dist, int n, int dims) {
  __shared__ float shared_a[BD][BD], shared_b[BD][BD];
  int bi = blockIdx.y * BD, bj = blockIdx.x * BD;
  int tx = threadIdx.x, ty = threadIdx.y;
  float ssd = 0;
  for (int base = 0; base < dims; base += BD) {
    shared_a[ty][tx] = pts[(bi + ty) * dims + base + tx];
    shared_b[tx][ty] = pts[(bj + ty) * dims + base + tx];
    __syncthreads();
    for (int k = 0; k < BD; k++) {
      float d = shared_a[ty][k] - shared_b[k][tx];
      ssd += d * d;
    }
    __syncthreads();
  }
  dist[(bi + ty) * n + bj + tx] = ssd;
}

void all_pairs(const float *pts, float *dist, int n, int dims) {
  dim3 threads(BD, BD), grid(n / BD, n / BD);
  pair_distances<<<grid, threads>>>(pts, dist, n, dims);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({4096, 16384}, 64)) {
    const int dims = 64;
    float *p = filled<float>((size_t)n * dims, 69),
          *d = zeros<float>((size_t)n * n);
    measure("pair_distances", text(n), [&] { all_pairs(p, d, n, dims); },
            {result(d, (size_t)n * n)});
    release(p, d);
  }
}
