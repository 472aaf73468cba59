#pragma once

__global__ void inHeader(const int *in, int *out) {
  __shared__ int h[64];
  h[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&h[in[threadIdx.x] & 63], 1);
  __syncthreads();
  out[threadIdx.x] = h[threadIdx.x];
}
