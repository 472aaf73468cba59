// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that lives in a header, as about a third of public kernels do. It is
// launched by header_kernel.cu.

#ifndef RCACHE_EXAMPLES_EDGES_CUH
#define RCACHE_EXAMPLES_EDGES_CUH

namespace edges {

constexpr int Block = 256;

/// out[g] = 1 where in[g] starts a run of equal elements, else 0.
__global__ void runStarts(const int *in, unsigned char *out, int n) {
  __shared__ int s[Block + 1];
  const int g = blockIdx.x * Block + threadIdx.x;
  if (g < n)
    s[threadIdx.x + 1] = in[g];
  if (threadIdx.x == 0 && g > 0)
    s[0] = in[g - 1];
  __syncthreads();
  if (g < n)
    out[g] = g == 0 || s[threadIdx.x] != s[threadIdx.x + 1];
}

} // namespace edges

#endif // RCACHE_EXAMPLES_EDGES_CUH
