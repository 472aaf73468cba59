// A heated chip: 16 x 16 blocks, the frame belongs to whoever stands there, a
// hundred launches with the arrays swapped.
#include "validation.cuh"

#define B 16
#define IN(r, c) s_temp[(r) + 1][(c) + 1]

__global__ void hot_step(int rows, int cols, const float *power,
                         const float *temp_src, float *temp_dst, float cap,
                         float rx, float ry, float rz) {
  __shared__ float s_temp[B + 2][B + 2];
  int c = blockIdx.x * B + threadIdx.x;
  int r = blockIdx.y * B + threadIdx.y;
  int tx = threadIdx.x, ty = threadIdx.y;
  bool in = r < rows && c < cols;
  if (in) {
    IN(ty, tx) = temp_src[r * cols + c];
    if (tx == 0)
      IN(ty, -1) = temp_src[r * cols + max(c - 1, 0)];
    if (tx == B - 1 || c == cols - 1)
      IN(ty, tx + 1) = temp_src[r * cols + min(c + 1, cols - 1)];
    if (ty == 0)
      IN(-1, tx) = temp_src[max(r - 1, 0) * cols + c];
    if (ty == B - 1 || r == rows - 1)
      IN(ty + 1, tx) = temp_src[min(r + 1, rows - 1) * cols + c];
  }
  __syncthreads();
  if (in) {
    float t = IN(ty, tx);
    temp_dst[r * cols + c] =
        t + cap * (power[r * cols + c] +
                   (IN(ty + 1, tx) + IN(ty - 1, tx) - 2.0f * t) * ry +
                   (IN(ty, tx + 1) + IN(ty, tx - 1) - 2.0f * t) * rx +
                   (80.0f - t) * rz);
  }
}

void simulate(float *t[2], const float *power, int rows, int cols, int steps) {
  dim3 dimBlock(B, B);
  dim3 dimGrid((cols + B - 1) / B, (rows + B - 1) / B);
  int src = 0, dst = 1;
  for (int i = 0; i < steps; i++) {
    hot_step<<<dimGrid, dimBlock>>>(rows, cols, power, t[src], t[dst], 0.1f,
                                    0.2f, 0.3f, 0.01f);
    int x = src;
    src = dst;
    dst = x;
  }
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{640, 480, 1}, {2048, 2048, 1}}, {40, 30, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *t[2] = {filled<float>(n, 40, 70, 90), zeros<float>(n)};
    float *p = filled<float>(n, 41);
    measure("hot_step", text(e),
            [&] { simulate(t, p, e.y, e.x, small_only ? 4 : 100); },
            {result(t[0], n), result(t[1], n)});
    release(t[0], t[1], p);
  }
}
