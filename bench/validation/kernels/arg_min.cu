// Smallest element of each row and where it stands; a block for a row.
#include "validation.cuh"

template <unsigned BS>
__global__ void row_argmin(const float *m, float *value, int *place, int cols) {
  __shared__ float v[BS];
  __shared__ int p[BS];
  const float *row = m + (size_t)blockIdx.x * cols;
  float best = 3.4e38f;
  int at = 0;
  for (int c = threadIdx.x; c < cols; c += BS)
    if (row[c] < best) {
      best = row[c];
      at = c;
    }
  v[threadIdx.x] = best;
  p[threadIdx.x] = at;
  __syncthreads();
  for (unsigned s = BS / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) {
      float o = v[threadIdx.x + s];
      int q = p[threadIdx.x + s];
      if (o < v[threadIdx.x] || (o == v[threadIdx.x] && q < p[threadIdx.x])) {
        v[threadIdx.x] = o;
        p[threadIdx.x] = q;
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    value[blockIdx.x] = v[0];
    place[blockIdx.x] = p[0];
  }
}

void smallest(const float *m, float *value, int *place, int rows, int cols) {
  row_argmin<128><<<rows, 128>>>(m, value, place, cols);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{1000, 1000, 1}, {8192, 4096, 1}}, {5, 300, 1})) {
    float *m = filled<float>((size_t)e.x * e.y, 93), *v = zeros<float>(e.x);
    int *p = zeros<int>(e.x);
    measure("row_argmin<128>", text(e), [&] { smallest(m, v, p, e.x, e.y); },
            {result(v, e.x), result(p, e.x)});
    release(m, v, p);
  }
}
