// Seven points of a volume: a plane in shared memory, the column in registers.
#include "validation.cuh"

#define TX 32
#define TY 8

__global__ void laplace7(const float *__restrict__ in, float *__restrict__ out,
                         int nx, int ny, int nz, float c0, float c1) {
  __shared__ float s[TY + 2][TX + 2];
  int i = blockIdx.x * TX + threadIdx.x + 1;
  int j = blockIdx.y * TY + threadIdx.y + 1;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  bool active = i < nx - 1 && j < ny - 1;
  bool load = i < nx && j < ny;
  int plane = nx * ny;
  int at = j * nx + i;
  float below = 0, current = 0, above = 0;
  if (load) {
    below = in[at];
    current = in[at + plane];
  }
  for (int k = 1; k < nz - 1; k++) {
    int c = at + k * plane;
    if (load)
      above = in[c + plane];
    __syncthreads();
    if (load) {
      s[ty][tx] = current;
      if (threadIdx.x == 0)
        s[ty][0] = in[c - 1];
      if (threadIdx.x == TX - 1 && i + 1 < nx)
        s[ty][TX + 1] = in[c + 1];
      if (threadIdx.y == 0)
        s[0][tx] = in[c - nx];
      if (threadIdx.y == TY - 1 && j + 1 < ny)
        s[TY + 1][tx] = in[c + nx];
    }
    __syncthreads();
    if (active)
      out[c] = c1 * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] +
                     s[ty + 1][tx] + below + above) -
               c0 * current;
    below = current;
    current = above;
  }
}

void apply(const float *in, float *out, int nx, int ny, int nz) {
  dim3 threads(TX, TY);
  dim3 blocks((nx - 2 + TX - 1) / TX, (ny - 2 + TY - 1) / TY);
  laplace7<<<blocks, threads>>>(in, out, nx, ny, nz, 6.f, 1.f);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{100, 100, 100}, {376, 376, 376}, {401, 401, 401}},
                          {35, 19, 5})) {
    size_t n = (size_t)e.x * e.y * e.z;
    float *in = filled<float>(n, 60), *out = zeros<float>(n);
    measure("laplace7", text(e), [&] { apply(in, out, e.x, e.y, e.z); },
            {result(out, n)});
    release(in, out);
  }
}
