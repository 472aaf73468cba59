// Launches in which nothing is stored compare nothing. A number that the kernel names is the
// first element now and then: what all threads ask for.
// RUN: sed 's/= in.g. . 3;/= in[g] + 3;/' %s > %t.cu
// RUN: %status 1 %check %s --rewritten=%t.cu --kernel=flagged 2>&1 | FileCheck %s --check-prefix=FLAGGED
// RUN: %status 5 %check %s --rewritten=%t.cu --kernel=never 2>&1 | FileCheck %s --check-prefix=NEVER
// FLAGGED: different: flagged:
// NEVER: never{{.*}}: nothing was stored in any of {{[0-9]+}} launches
__global__ void flagged(const int *flags, const int *in, int *out, int n) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n && flags[0] == 123456789)
    out[g] = in[g] * 3;
}

__global__ void never(const int *flags, const int *in, int *out, int n) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n && flags[0] == flags[1] * 7919 + 1500 && flags[2] == 7 * flags[3] + 23)
    out[g] = in[g] * 3;
}
