// REQUIRES: cuda-toolkit
// A product that was staged in shared memory and now meets its sum in a register
// is fused with it on a device: one rounding instead of two. That is a
// difference, unless the product keeps its own rounding.
// RUN: sed -e 's/STAGED/s[threadIdx.x] = in[i] * w; __syncthreads(); float v = s[threadIdx.x];/' %s > %t.original.cu
// RUN: sed -e 's/STAGED/float v = in[i] * w;/' %s > %t.fused.cu
// RUN: sed -e 's/STAGED/float v = __fmul_rn(in[i], w);/' %s > %t.rounded.cu
// RUN: %status 1 %check diff %t.original.cu %t.fused.cu 2>&1 | FileCheck %s
// RUN: %status 0 %check diff %t.original.cu %t.rounded.cu
// RUN: %status 0 %check diff %t.original.cu %t.fused.cu --fp-contract=off
// RUN: %status 0 %check diff %t.original.cu %t.fused.cu -- -fmad=false
// RUN: %status 2 %check diff %t.original.cu %t.fused.cu --fp-contract=on
// CHECK: different
__global__ void scale(const float *in, float *out, float w) {
  __shared__ float s[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  s[threadIdx.x] = 0;
  STAGED
  out[i] = v + out[i];
}
int main() {
  float h[256], *in, *out;
  for (int i = 0; i < 256; ++i)
    h[i] = 1.0f / (i + 3);
  cudaMalloc(&in, sizeof(h));
  cudaMalloc(&out, sizeof(h));
  cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
  cudaMemcpy(out, h, sizeof(h), cudaMemcpyHostToDevice);
  scale<<<4, 64>>>(in, out, 1.1f);
}
