// Red-black relaxation in place: each launch changes points of one colour.
#include "validation.cuh"

const int N = 16;

__global__ void relax(float *u, const float *f, int pitch, int n, int colour) {
  __shared__ float s[N + 2][N + 2];
  int i = blockIdx.x * N + threadIdx.x + 1, j = blockIdx.y * N + threadIdx.y + 1;
  int a = threadIdx.x + 1, b = threadIdx.y + 1;
  bool mine = ((i + j) & 1) == colour;
  if (i <= n && j <= n) {
    s[b][a] = u[j * pitch + i];
    if (a == 1 && mine)
      s[b][0] = u[j * pitch + i - 1];
    if ((a == N || i == n) && mine)
      s[b][a + 1] = u[j * pitch + i + 1];
    if (b == 1 && mine)
      s[0][a] = u[(j - 1) * pitch + i];
    if ((b == N || j == n) && mine)
      s[b + 1][a] = u[(j + 1) * pitch + i];
  }
  __syncthreads();
  if (i <= n && j <= n && mine)
    u[j * pitch + i] = 0.25f * (s[b][a - 1] + s[b][a + 1] + s[b - 1][a] +
                                s[b + 1][a] - f[j * pitch + i]);
}

void sweep(float *u, const float *f, int n) {
  dim3 block(N, N), grid((n + N - 1) / N, (n + N - 1) / N);
  relax<<<grid, block>>>(u, f, n + 2, n, 0);
  relax<<<grid, block>>>(u, f, n + 2, n, 1);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({510, 4094}, 50)) {
    size_t e = (size_t)(n + 2) * (n + 2);
    float *u = filled<float>(e, 55), *f = filled<float>(e, 56);
    measure("relax", text(n), [&] { sweep(u, f, n); }, {result(u, e)});
    release(u, f);
  }
}
