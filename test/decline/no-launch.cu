// No launch in the file: the new kernel would never run.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// RUN: %if cuda-toolkit %{ rcache-rewrite %s --self-check=off --cuda-path=%cuda -o %t.cu -- -DEX 2>&1 | FileCheck --check-prefix=EX %s %}
// CHECK: declined k; no-launch{{$}}
// EX: 'k' left as it is: no launch of the kernel is visible in this file (launches by cudaLaunchKernelEx are not rewritten: line {{[0-9]+, [0-9]+}}) [no-launch]
// EX: note: launch it with <<<...>>> or cudaLaunchKernel

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  __syncthreads();
  out[g] = s[127 - threadIdx.x];
}

#ifdef EX
void run(const float *in, float *out, int n, void **args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = (n + 127) / 128;
  config.blockDim = 128;
  cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1);
  cudaLaunchKernelEx(&config, k, in, out, n);
  cudaLaunchKernelExC(&config, (const void *)&k, args);
}
#endif
