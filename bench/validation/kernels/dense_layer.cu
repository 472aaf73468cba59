// One layer of a small neural network: 16 hidden units a block column, the
// inputs broadcast through shared memory, the products summed by a tree along y.
#include "validation.cuh"

#define UNITS 16
#define ROWS 16

__global__ void layer_forward(const float *input, const float *weights,
                              float *partial, int hidden) {
  __shared__ float node[ROWS];
  __shared__ float prod[ROWS][UNITS];
  int by = blockIdx.y;
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = by * ROWS + ty + 1;
  int index = row * (hidden + 1) + tx + 1;
  if (tx == 0)
    node[ty] = input[row];
  __syncthreads();
  prod[ty][tx] = weights[index];
  __syncthreads();
  prod[ty][tx] = prod[ty][tx] * node[ty];
  __syncthreads();
  for (int i = 1; i < ROWS; i *= 2) {
    if (ty % (2 * i) == 0)
      prod[ty][tx] = prod[ty][tx] + prod[ty + i][tx];
    __syncthreads();
  }
  if (ty == 0)
    partial[by * hidden + tx] = prod[0][tx];
}

void forward(const float *input, const float *weights, float *partial, int n) {
  dim3 grid(1, n / ROWS);
  dim3 threads(UNITS, ROWS);
  layer_forward<<<grid, threads>>>(input, weights, partial, UNITS);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({65536, 1 << 19}, 256)) {
    float *in = filled<float>(n + 1, 3),
          *w = filled<float>((size_t)(n + 1) * (UNITS + 1), 4),
          *out = zeros<float>(n / ROWS * UNITS);
    measure("layer_forward", text(n), [&] { forward(in, w, out, n); },
            {result(out, n / ROWS * UNITS)});
    release(in, w, out);
  }
}
