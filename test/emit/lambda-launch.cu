// With -rdc, clang takes a launch in a lambda for one that the device may do,
// with a configuration of its own; it is the host's all the same. Launches in
// device code keep the original.
// RUN: %rewrite %s -o %t.cu -- %mock -rdc=true 2>&1 | FileCheck %s --check-prefix=NOTE
// RUN: FileCheck %s < %t.cu
// RUN: %rewrite %s -q --list -- %mock -rdc=true -DONLY_DEVICE 2>&1 | FileCheck %s --check-prefix=ONLY

extern "C" __device__ cudaError_t cudaLaunchDevice(void *, void *, dim3, dim3, unsigned, cudaStream_t);
extern "C" __device__ void *cudaGetParameterBuffer(size_t, size_t);

// NOTE: remark: rewrote 'smooth' (2 launches, 1 left as written)
// ONLY: declined smooth{{.*}}; launch-not-editable
// CHECK: void smooth(
__global__ void smooth(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[130];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 2)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  if (g < n)
    out[g] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}

// CHECK-LABEL: void again(
// CHECK: smooth<<<(n + 127) / 128, 128>>>(in, out, n);
__global__ void again(const float *in, float *out, int n) { smooth<<<(n + 127) / 128, 128>>>(in, out, n); }

#ifndef ONLY_DEVICE
// CHECK-LABEL: void run(
// CHECK: smooth_{{rc_launch}}((n + 127) / 128, 128, 0, 0, in, out, n);
// CHECK: smooth_{{rc_launch}}(blocks, dim3(128), 0, st, in, out, n);
void run(const float *in, float *out, int n, cudaStream_t st) {
  auto first = [&] { smooth<<<(n + 127) / 128, 128>>>(in, out, n); };
  auto second = [&](int blocks) { smooth<<<blocks, dim3(128), 0, st>>>(in, out, n); };
  first();
  second(n / 128);
}
#endif
