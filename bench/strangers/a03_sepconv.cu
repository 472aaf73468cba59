// Separable Gaussian blur, weights in constant memory.
#include "bench.h"
#include <cmath>

#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)

__constant__ float c_Kernel[KERNEL_LENGTH];

#define ROWS_BX 128
#define COLS_BX 16
#define COLS_BY 16

__global__ void convolutionRows(float *d_Dst, const float *d_Src, int imageW, int imageH) {
  __shared__ float s_Data[ROWS_BX + 2 * KERNEL_RADIUS];
  const int row = blockIdx.y;
  const int base = blockIdx.x * ROWS_BX - KERNEL_RADIUS;
  for (int i = threadIdx.x; i < ROWS_BX + 2 * KERNEL_RADIUS; i += ROWS_BX) {
    const int x = base + i;
    s_Data[i] = (x >= 0 && x < imageW) ? d_Src[row * imageW + x] : 0.0f;
  }
  __syncthreads();
  const int x = blockIdx.x * ROWS_BX + threadIdx.x;
  if (x < imageW) {
    float sum = 0;
#pragma unroll
    for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
      sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.x + KERNEL_RADIUS + j];
    d_Dst[row * imageW + x] = sum;
  }
}

__global__ void convolutionColumns(float *d_Dst, const float *d_Src, int imageW, int imageH) {
  __shared__ float s_Data[COLS_BY + 2 * KERNEL_RADIUS][COLS_BX];
  const int x = blockIdx.x * COLS_BX + threadIdx.x;
  const int y = blockIdx.y * COLS_BY + threadIdx.y;
  const int ty = threadIdx.y, tx = threadIdx.x;
  // upper halo, main part, lower halo
  if (x < imageW) {
    if (ty < KERNEL_RADIUS) {
      s_Data[ty][tx] = (y - KERNEL_RADIUS >= 0) ? d_Src[(y - KERNEL_RADIUS) * imageW + x] : 0.0f;
      s_Data[ty + COLS_BY + KERNEL_RADIUS][tx] = (y + COLS_BY < imageH) ? d_Src[(y + COLS_BY) * imageW + x] : 0.0f;
    }
    s_Data[ty + KERNEL_RADIUS][tx] = (y < imageH) ? d_Src[y * imageW + x] : 0.0f;
  }
  __syncthreads();
  if (x >= imageW || y >= imageH)
    return;
  float sum = 0;
#pragma unroll
  for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
    sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[ty + KERNEL_RADIUS + j][tx];
  d_Dst[y * imageW + x] = sum;
}

int main(int argc, char **argv) {
  const int imageW = 4000, imageH = 3000;
  const size_t n = (size_t)imageW * imageH;
  float h_Kernel[KERNEL_LENGTH];
  float s = 0;
  for (int i = 0; i < KERNEL_LENGTH; i++)
    s += h_Kernel[i] = expf(-0.05f * (i - KERNEL_RADIUS) * (i - KERNEL_RADIUS));
  for (int i = 0; i < KERNEL_LENGTH; i++)
    h_Kernel[i] /= s;
  CUDA_CHECK(cudaMemcpyToSymbol(c_Kernel, h_Kernel, sizeof(h_Kernel)));
  float *d_Input = toDevice(randomFloats(n, 3, 0, 255));
  float *d_Buffer = deviceAlloc<float>(n), *d_Output = deviceAlloc<float>(n);

  dim3 gridR((imageW + ROWS_BX - 1) / ROWS_BX, imageH);
  dim3 gridC((imageW + COLS_BX - 1) / COLS_BX, (imageH + COLS_BY - 1) / COLS_BY);
  dim3 blockC(COLS_BX, COLS_BY);

  GpuTimer timer;
  float bestR = 1e30f, bestC = 1e30f;
  for (int it = -1; it < 20; it++) {
    timer.start();
    convolutionRows<<<gridR, ROWS_BX>>>(d_Buffer, d_Input, imageW, imageH);
    float r = timer.stop();
    timer.start();
    convolutionColumns<<<gridC, blockC>>>(d_Output, d_Buffer, imageW, imageH);
    float c = timer.stop();
    if (it >= 0) {
      bestR = r < bestR ? r : bestR;
      bestC = c < bestC ? c : bestC;
    }
  }
  CUDA_CHECK(cudaGetLastError());
  printTime("convolutionRows", bestR);
  printHash("convolutionRows", d_Buffer, n);
  printTime("convolutionColumns", bestC);
  printHash("convolutionColumns", d_Output, n);
  return 0;
}
