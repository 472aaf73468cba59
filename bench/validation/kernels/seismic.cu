// Star of radius 4 as in seismic imaging: a plane in shared memory, nine values
// of the column in registers, 16 x 16 threads; a frame of 4 elements all round.
#include "validation.cuh"

#define R 4
#define BX 16
#define BY 16
__constant__ float stencil[R + 1];

__global__ void propagate(const float *input, float *output, int dimx, int dimy,
                          int dimz) {
  __shared__ float tile[BY + 2 * R][BX + 2 * R];
  const int stride_y = dimx + 2 * R;
  const int stride_z = stride_y * (dimy + 2 * R);
  const int gx = blockIdx.x * BX + threadIdx.x, gy = blockIdx.y * BY + threadIdx.y;
  bool valid = gx < dimx && gy < dimy;
  bool validr = gx < dimx + R && gy < dimy + R;
  int in = (gy + R) * stride_y + gx + R;
  float infront[R], behind[R], current;
  const int tx = threadIdx.x + R, ty = threadIdx.y + R;
  for (int i = R - 2; i >= 0; i--) {
    behind[i] = validr ? input[in] : 0.f;
    in += stride_z;
  }
  current = validr ? input[in] : 0.f;
  int out = in;
  in += stride_z;
  for (int i = 0; i < R; i++) {
    infront[i] = validr ? input[in] : 0.f;
    in += stride_z;
  }
  for (int iz = 0; iz < dimz; iz++) {
    for (int i = R - 1; i > 0; i--)
      behind[i] = behind[i - 1];
    behind[0] = current;
    current = infront[0];
    for (int i = 0; i < R - 1; i++)
      infront[i] = infront[i + 1];
    if (validr)
      infront[R - 1] = input[in];
    in += stride_z;
    out += stride_z;
    __syncthreads();
    if (threadIdx.y < R) {
      tile[threadIdx.y][tx] = validr ? input[out - R * stride_y] : 0.f;
      tile[threadIdx.y + BY + R][tx] =
          gx < dimx + R && gy + BY < dimy + R ? input[out + BY * stride_y] : 0.f;
    }
    if (threadIdx.x < R) {
      tile[ty][threadIdx.x] = validr ? input[out - R] : 0.f;
      tile[ty][threadIdx.x + BX + R] =
          gx + BX < dimx + R && gy < dimy + R ? input[out + BX] : 0.f;
    }
    tile[ty][tx] = current;
    __syncthreads();
    float value = stencil[0] * current;
#pragma unroll
    for (int i = 1; i <= R; i++)
      value += stencil[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] +
                             tile[ty + i][tx] + tile[ty][tx - i] +
                             tile[ty][tx + i]);
    if (valid)
      output[out] = value;
  }
}

void advance(const float *in, float *out, int nx, int ny, int nz) {
  dim3 block(BX, BY, 1);
  dim3 grid((nx + BX - 1) / BX, (ny + BY - 1) / BY, 1);
  propagate<<<grid, block>>>(in, out, nx, ny, nz);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  float c[R + 1] = {-2.5f, 1.6f, -0.2f, 0.025f, -0.0018f};
  check(cudaMemcpyToSymbol(stencil, c, sizeof c));
  for (Extent e : extents({{376, 376, 376}, {401, 401, 401}}, {21, 18, 6})) {
    size_t n = (size_t)(e.x + 2 * R) * (e.y + 2 * R) * (e.z + 2 * R);
    float *in = filled<float>(n, 61), *out = zeros<float>(n);
    measure("propagate", text(e), [&] { advance(in, out, e.x, e.y, e.z); },
            {result(out, n)});
    release(in, out);
  }
}
