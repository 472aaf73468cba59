// A block has a thread for each element of its tile; those of the halo compute nothing,
// and read nothing that the original does not read: not in rows that come one at a time
// either. (The last blocks of a grid that covers a part of the image tell.)
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --self-check=off --force --arch=sm_90 --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check %t.cu --self --kernel=channels 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: rcache-check %t.cu --self --kernel=interleaved 2>&1 | FileCheck --check-prefix=FUSED %s
//
// CHECK: rewrote 'channels'
// TEXT: const bool rc_s_w_needed =
// TEXT-NEXT: rc_tx < 12
// TEXT: if (!rc_s_w_needed)
// TEXT-NEXT: return;
// SAME: equivalent: channels: {{.*}} by the rewritten form
// Registers of threads that compute nothing hold a number: were they anything, compilers
// would multiply behind the branch that loads, and no sum would take the product.
// CHECK: rewrote 'interleaved'
// TEXT-LABEL: interleaved_rc{{[(]}}
// TEXT: float rc_tile_w[5] = {};
// FUSED: equivalent: interleaved: {{.*}} by the rewritten form
#include <cuda_runtime.h>

__global__ void channels(const float *in, float *out, int h, int w, int ch,
                         const float *__restrict__ mask) {
  __shared__ float s[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int yo = blockIdx.y * 12 + ty, xo = blockIdx.x * 12 + tx;
  int yi = yo - 2, xi = xo - 2;
  for (int k = 0; k < ch; k++) {
    if (yi >= 0 && yi < h && xi >= 0 && xi < w)
      s[ty][tx] = in[(yi * w + xi) * ch + k];
    else
      s[ty][tx] = 0.0f;
    __syncthreads();
    float sum = 0.0f;
    if (ty < 12 && tx < 12) {
      for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
          sum += mask[i * 5 + j] * s[i + ty][j + tx];
      if (yo < h && xo < w)
        out[(yo * w + xo) * ch + k] = sum;
    }
    __syncthreads();
  }
}

__constant__ float taps[5][5];
__global__ void interleaved(float *out, const float *in, int h, int w, int channels) {
  __shared__ float tile[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row_o = blockIdx.y * 12 + ty, col_o = blockIdx.x * 12 + tx;
  int row_i = row_o - 2, col_i = col_o - 2;
  for (int c = 0; c < channels; c++) {
    if ((row_i >= 0) && (row_i < h) && (col_i >= 0) && (col_i < w)) {
      tile[ty][tx] = in[(row_i * w + col_i) * channels + c];
    } else {
      tile[ty][tx] = 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    if (ty < 12 && tx < 12) {
      for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
          sum += taps[i][j] * tile[i + ty][j + tx];
      if (row_o < h && col_o < w)
        out[(row_o * w + col_o) * channels + c] = sum;
    }
    __syncthreads();
  }
}

int main(int argc, char **) {
  const int w = 4000 * argc, h = 3000, ch = 3;
  float *in, *out, *mask;
  cudaMalloc(&in, w * h * ch * sizeof(float));
  cudaMalloc(&out, w * h * ch * sizeof(float));
  cudaMalloc(&mask, 25 * sizeof(float));
  channels<<<dim3((w + 11) / 12, (h + 11) / 12), dim3(16, 16)>>>(in, out, h, w, ch, mask);
  interleaved<<<dim3((w + 11) / 12, (h + 11) / 12), dim3(16, 16)>>>(out, in, h, w, ch);
  return cudaDeviceSynchronize();
}
