// The rows that a thread stages are 8 apart in the tile and 4 apart in memory:
// which row an element comes from does not follow from its place, for any
// multiple of the pitch. It is the address that is no function of the element;
// nothing depends on data.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// No array goes to registers; what is left is a narrower barrier.
// CHECK: rewritten k{{.*}}kept shared; 1 barrier as __syncwarp

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int pitch) {
  __shared__ float s[32][32];
  int x = blockIdx.x * 32 + threadIdx.x;
  for (int k = 0; k < 4; ++k)
    s[threadIdx.y + k * 8][threadIdx.x] = in[(threadIdx.y + k * 4) * pitch + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += s[threadIdx.y + k * 8][31 - threadIdx.x];
  out[threadIdx.y * pitch + x] = sum;
}

void run(const float *in, float *out, int pitch) { k<<<10, dim3(32, 8)>>>(in, out, pitch); }
