// Anisotropic diffusion (Perona and Malik): four differences and a coefficient
// of each; neighbours in arrays of their own.
#include "validation.cuh"

#define BLOCK_SIZE 16

__device__ float conduct(float d, float k2) { return 1.f / (1.f + d * d * k2); }

__global__ void diffuse(float *result, const float *image, int cols, int rows,
                        float lambda, float k2) {
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int index = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * ty + tx;
  int index_n = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + tx - cols;
  int index_s =
      cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * BLOCK_SIZE + tx;
  int index_w = cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * ty - 1;
  int index_e =
      cols * BLOCK_SIZE * by + BLOCK_SIZE * bx + cols * ty + BLOCK_SIZE;
  __shared__ float temp[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float north[BLOCK_SIZE], south[BLOCK_SIZE];
  __shared__ float east[BLOCK_SIZE], west[BLOCK_SIZE];
  if (ty == 0)
    north[tx] = image[by == 0 ? index_n + cols : index_n];
  if (ty == BLOCK_SIZE - 1)
    south[tx] = image[by == gridDim.y - 1 ? index_s - cols : index_s];
  if (tx == 0)
    west[ty] = image[bx == 0 ? index_w + 1 : index_w];
  if (tx == BLOCK_SIZE - 1)
    east[ty] = image[bx == gridDim.x - 1 ? index_e - 1 : index_e];
  temp[ty][tx] = image[index];
  __syncthreads();
  float c = temp[ty][tx];
  float n = ty == 0 ? north[tx] - c : temp[ty - 1][tx] - c;
  float s = ty == BLOCK_SIZE - 1 ? south[tx] - c : temp[ty + 1][tx] - c;
  float w = tx == 0 ? west[ty] - c : temp[ty][tx - 1] - c;
  float e = tx == BLOCK_SIZE - 1 ? east[ty] - c : temp[ty][tx + 1] - c;
  result[index] = c + lambda * (conduct(n, k2) * n + conduct(s, k2) * s +
                                conduct(e, k2) * e + conduct(w, k2) * w);
}

void step(float *result, const float *image, int cols, int rows) {
  dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
  dim3 dimGrid(cols / BLOCK_SIZE, rows / BLOCK_SIZE);
  diffuse<<<dimGrid, dimBlock>>>(result, image, cols, rows, 0.2f, 4.f);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{640, 480, 1}, {4096, 4096, 1}}, {48, 32, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *in = filled<float>(n, 52), *out = zeros<float>(n);
    measure("diffuse", text(e), [&] { step(out, in, e.x, e.y); },
            {result(out, n)});
    release(in, out);
  }
}
