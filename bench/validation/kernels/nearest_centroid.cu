// k-means: the nearest of many centroids for each point, centroids in tiles of
// 128, coordinates in separate arrays.
#include "validation.cuh"

#define CHUNK 128

__global__ void assign(const float *px, const float *py, const float *pz,
                       const float *cx, const float *cy, const float *cz,
                       int *label, int n, int k) {
  __shared__ float sx[CHUNK], sy[CHUNK], sz[CHUNK];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = 0, y = 0, z = 0;
  if (i < n) {
    x = px[i];
    y = py[i];
    z = pz[i];
  }
  int best = -1;
  float least = 3.4e38f;
  for (int c = 0; c < k; c += CHUNK) {
    sx[threadIdx.x] = cx[c + threadIdx.x];
    sy[threadIdx.x] = cy[c + threadIdx.x];
    sz[threadIdx.x] = cz[c + threadIdx.x];
    __syncthreads();
    for (int t = 0; t < CHUNK; ++t) {
      float dx = x - sx[t], dy = y - sy[t], dz = z - sz[t];
      float d = dx * dx + dy * dy + dz * dz;
      if (d < least) {
        least = d;
        best = c + t;
      }
    }
    __syncthreads();
  }
  if (i < n)
    label[i] = best;
}

void cluster(const float *p[3], const float *c[3], int *label, int n, int k) {
  assign<<<(n + CHUNK - 1) / CHUNK, CHUNK>>>(p[0], p[1], p[2], c[0], c[1], c[2],
                                             label, n, k);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({100000, 4000000}, 1000)) {
    int k = small_only ? 256 : 1024;
    const float *p[3], *c[3];
    for (int d = 0; d < 3; ++d) {
      p[d] = filled<float>(n, 71 + d);
      c[d] = filled<float>(k, 75 + d);
    }
    int *label = zeros<int>(n);
    measure("assign", text(n), [&] { cluster(p, c, label, n, k); },
            {result(label, n)});
    for (int d = 0; d < 3; ++d)
      release((void *)p[d], (void *)c[d]);
    release(label);
  }
}
