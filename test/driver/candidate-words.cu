// Candidates are counted in the table that --explain-choice prints, which is about other
// words of the kernel here: the array without its padding, which a warp can own.
//
// RUN: rcache-rewrite %s --explain-choice -o %t.cu -q --cuda-path=%cuda 2> %t.table
// RUN: FileCheck --check-prefix=TABLE %s < %t.table
// RUN: awk '/temp: owned, neighbours/ {print $1}' %t.table | xargs -I@ rcache-rewrite %s --candidate=@ -o %t.cu --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: rcache-rewrite %s --candidate=40 -o %t.cu --cuda-path=%cuda 2>&1 | FileCheck --check-prefix=NONE %s
// TABLE: temp: owned, 32 apart
// TABLE: temp: owned, neighbours
// CHECK: rewrote 'scan' {{.*}}; 'temp' owned by a warp; per output 1.25 shuffles
// NONE: the kernel has no candidate with this number (--candidate=40 of {{[0-9]+}})
//
// REQUIRES: cuda-toolkit
#define CF(n) ((n) >> 5)
__global__ void scan(const int *in, int *out, int n) {
  __shared__ int temp[1024 + 32];
  const int t = threadIdx.x, base = blockIdx.x * 1024;
  int offset = 1;
  temp[t + CF(t)] = base + t < n ? in[base + t] : 0;
  temp[t + 512 + CF(t + 512)] = base + t + 512 < n ? in[base + t + 512] : 0;
  for (int d = 512; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
      a += CF(a);
      b += CF(b);
      temp[b] += temp[a];
    }
    offset *= 2;
  }
  if (t == 0)
    temp[1023 + CF(1023)] = 0;
  for (int d = 1; d < 1024; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
      a += CF(a);
      b += CF(b);
      const int was = temp[a];
      temp[a] = temp[b];
      temp[b] += was;
    }
  }
  __syncthreads();
  if (base + t < n)
    out[base + t] = temp[t + CF(t)];
  if (base + t + 512 < n)
    out[base + t + 512] = temp[t + 512 + CF(t + 512)];
}

void launch(const int *in, int *out, int n) { scan<<<(n + 1023) / 1024, 512>>>(in, out, n); }
