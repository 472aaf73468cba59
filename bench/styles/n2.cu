// three-dimensional stencils
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

inline void gpuAssert(cudaError_t code, const char *file, int line) {
  if (code != cudaSuccess) {
    fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
    exit(code);
  }
}
#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }

#define RADIUS 4
#define k_blockDimX 32
#define k_blockDimY 16
__constant__ float stencil[RADIUS + 1];

// 25-point star, xy-tile in shared and the z-column in registers
__global__ void FiniteDiff3D(float *output, const float *input, const int dimx, const int dimy, const int dimz) {
  const int gtidx = blockIdx.x * blockDim.x + threadIdx.x;
  const int gtidy = blockIdx.y * blockDim.y + threadIdx.y;
  const int ltidx = threadIdx.x;
  const int ltidy = threadIdx.y;
  __shared__ float tile[k_blockDimY + 2 * RADIUS][k_blockDimX + 2 * RADIUS];

  const int stride_y = dimx + 2 * RADIUS;
  const int stride_z = stride_y * (dimy + 2 * RADIUS);
  int inputIndex = RADIUS * stride_y + RADIUS + gtidy * stride_y + gtidx;
  int outputIndex;
  float infront[RADIUS];
  float behind[RADIUS];
  float current;
  const int tx = ltidx + RADIUS;
  const int ty = ltidy + RADIUS;

  for (int i = RADIUS - 2; i >= 0; i--) {
    behind[i] = input[inputIndex];
    inputIndex += stride_z;
  }
  current = input[inputIndex];
  outputIndex = inputIndex;
  inputIndex += stride_z;
  for (int i = 0; i < RADIUS; i++) {
    infront[i] = input[inputIndex];
    inputIndex += stride_z;
  }
  behind[RADIUS - 1] = 0.f;

#pragma unroll 9
  for (int iz = 0; iz < dimz; iz++) {
    for (int i = RADIUS - 1; i > 0; i--) behind[i] = behind[i - 1];
    behind[0] = current;
    current = infront[0];
#pragma unroll 4
    for (int i = 0; i < RADIUS - 1; i++) infront[i] = infront[i + 1];
    infront[RADIUS - 1] = input[inputIndex];
    inputIndex += stride_z;
    outputIndex += stride_z;
    __syncthreads();
    if (ltidy < RADIUS) {
      tile[ltidy][tx] = input[outputIndex - RADIUS * stride_y];
      tile[ltidy + k_blockDimY + RADIUS][tx] = input[outputIndex + k_blockDimY * stride_y];
    }
    if (ltidx < RADIUS) {
      tile[ty][ltidx] = input[outputIndex - RADIUS];
      tile[ty][ltidx + k_blockDimX + RADIUS] = input[outputIndex + k_blockDimX];
    }
    tile[ty][tx] = current;
    __syncthreads();
    float value = stencil[0] * current;
#pragma unroll 4
    for (int i = 1; i <= RADIUS; i++)
      value += stencil[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
    output[outputIndex] = value;
  }
}

// 27-point blur with a full 10^3 brick
#define B 8
__global__ void box27(const float *in, float *out, int nx, int ny, int nz) {
  __shared__ float brick[B + 2][B + 2][B + 2];
  int t = (threadIdx.z * B + threadIdx.y) * B + threadIdx.x;
  for (; t < (B + 2) * (B + 2) * (B + 2); t += B * B * B) {
    int lx = t % (B + 2), ly = (t / (B + 2)) % (B + 2), lz = t / ((B + 2) * (B + 2));
    int gx = min(max((int)(blockIdx.x * B) + lx - 1, 0), nx - 1);
    int gy = min(max((int)(blockIdx.y * B) + ly - 1, 0), ny - 1);
    int gz = min(max((int)(blockIdx.z * B) + lz - 1, 0), nz - 1);
    brick[lz][ly][lx] = in[(gz * ny + gy) * nx + gx];
  }
  __syncthreads();
  int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y, z = blockIdx.z * B + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  float sum = 0.0f;
  for (int dz = 0; dz < 3; dz++)
    for (int dy = 0; dy < 3; dy++)
      for (int dx = 0; dx < 3; dx++) sum += brick[threadIdx.z + dz][threadIdx.y + dy][threadIdx.x + dx];
  out[(z * ny + y) * nx + x] = sum / 27.0f;
}

// 7-point, z-sweep; own plane in shared without halo, neighbours outside the tile come from global
#define Index3D(_nx, _ny, _i, _j, _k) ((_i) + _nx * ((_j) + _ny * (_k)))
__global__ void block2D_sweep7(float c0, float c1, const float *A0, float *Anext, int nx, int ny, int nz) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  extern __shared__ float sh_A0[];
  const int sh_id = threadIdx.x + threadIdx.y * blockDim.x;
  const bool inb = i < nx && j < ny;
  const bool interior = i > 0 && j > 0 && i < nx - 1 && j < ny - 1;
  float bottom = 0.f, current = 0.f, top = 0.f;
  if (inb) {
    bottom = A0[Index3D(nx, ny, i, j, 0)];
    current = A0[Index3D(nx, ny, i, j, 1)];
  }
  sh_A0[sh_id] = current;
  __syncthreads();
  for (int k = 1; k < nz - 1; k++) {
    if (inb) top = A0[Index3D(nx, ny, i, j, k + 1)];
    if (interior) {
      float a_left = threadIdx.x == 0 ? A0[Index3D(nx, ny, i - 1, j, k)] : sh_A0[sh_id - 1];
      float a_right = threadIdx.x == blockDim.x - 1 ? A0[Index3D(nx, ny, i + 1, j, k)] : sh_A0[sh_id + 1];
      float a_up = threadIdx.y == blockDim.y - 1 ? A0[Index3D(nx, ny, i, j + 1, k)] : sh_A0[sh_id + blockDim.x];
      float a_down = threadIdx.y == 0 ? A0[Index3D(nx, ny, i, j - 1, k)] : sh_A0[sh_id - blockDim.x];
      Anext[Index3D(nx, ny, i, j, k)] = (top + bottom + a_up + a_down + a_left + a_right) * c1 - current * c0;
    }
    __syncthreads();
    bottom = current;
    sh_A0[sh_id] = top;
    current = top;
    __syncthreads();
  }
}

// first order upwind transport with periodic faces, double, 32x4x2 threads
typedef double real;
#define NXB 32
#define NYB 4
#define NZB 2
__global__ void upwind3d(const real *q, real *qn, real cu, real cv, real cw, int nx, int ny, int nz) {
  __shared__ real sq[NZB + 1][NYB + 1][NXB + 1];
  int x = blockIdx.x * NXB + threadIdx.x, y = blockIdx.y * NYB + threadIdx.y, z = blockIdx.z * NZB + threadIdx.z;
  int lx = threadIdx.x + 1, ly = threadIdx.y + 1, lz = threadIdx.z + 1;
  bool active = x < nx && y < ny && z < nz;
  size_t id = ((size_t)z * ny + y) * nx + x;
  if (active) {
    sq[lz][ly][lx] = q[id];
    if (threadIdx.x == 0) sq[lz][ly][0] = q[((size_t)z * ny + y) * nx + (x + nx - 1) % nx];
    if (threadIdx.y == 0) sq[lz][0][lx] = q[((size_t)z * ny + (y + ny - 1) % ny) * nx + x];
    if (threadIdx.z == 0) sq[0][ly][lx] = q[((size_t)((z + nz - 1) % nz) * ny + y) * nx + x];
  }
  __syncthreads();
  if (active) {
    real c = sq[lz][ly][lx];
    qn[id] = c - cu * (c - sq[lz][ly][lx - 1]) - cv * (c - sq[lz][ly - 1][lx]) - cw * (c - sq[lz - 1][ly][lx]);
  }
}

template <class T> T *upload(size_t n) {
  std::vector<T> h(n);
  for (size_t i = 0; i < n; i++) h[i] = (T)(i % 1009) / (T)64 + (T)(i % 7);
  T *d;
  gpuErrchk(cudaMalloc((void **)&d, n * sizeof(T)));
  gpuErrchk(cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  return d;
}

int main(int argc, char **argv) {
  {
    int dimx = 256, dimy = 256, dimz = 256;
    size_t vol = (size_t)(dimx + 2 * RADIUS) * (dimy + 2 * RADIUS) * (dimz + 2 * RADIUS);
    float coeff[RADIUS + 1];
    for (int i = 0; i <= RADIUS; i++) coeff[i] = 0.1f / (i + 1);
    gpuErrchk(cudaMemcpyToSymbol(stencil, coeff, sizeof(coeff)));
    float *in = upload<float>(vol), *out;
    gpuErrchk(cudaMalloc((void **)&out, vol * sizeof(float)));
    FiniteDiff3D<<<dim3(dimx / k_blockDimX, dimy / k_blockDimY), dim3(k_blockDimX, k_blockDimY)>>>(out, in, dimx, dimy, dimz);
    gpuErrchk(cudaPeekAtLastError());
    int nx = 256, ny = 256, nz = 256;
    dim3 block(32, 4), grid((nx + 31) / 32, (ny + 3) / 4);
    block2D_sweep7<<<grid, block, 32 * 4 * sizeof(float)>>>(1.f / 6.f, 1.f / 36.f, in, out, nx, ny, nz);
    gpuErrchk(cudaPeekAtLastError());
    gpuErrchk(cudaDeviceSynchronize());
    nx = 201, ny = 199, nz = 130;
    box27<<<dim3((nx + B - 1) / B, (ny + B - 1) / B, (nz + B - 1) / B), dim3(B, B, B)>>>(in, out, nx, ny, nz);
    gpuErrchk(cudaPeekAtLastError());
    gpuErrchk(cudaDeviceSynchronize());
    cudaFree(in);
    cudaFree(out);
  }
  {
    int nx = 150, ny = 130, nz = 91;
    real *q = upload<real>((size_t)nx * ny * nz), *qn = upload<real>((size_t)nx * ny * nz);
    upwind3d<<<dim3((nx + NXB - 1) / NXB, (ny + NYB - 1) / NYB, (nz + NZB - 1) / NZB), dim3(NXB, NYB, NZB)>>>(q, qn, 0.1, 0.2, 0.3, nx, ny, nz);
    gpuErrchk(cudaPeekAtLastError());
    gpuErrchk(cudaDeviceSynchronize());
  }
  return 0;
}
