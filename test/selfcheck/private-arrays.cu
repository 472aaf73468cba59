// Whether an array is in local memory, ptxas says: where the compiler unrolls up to
// the array's end, all of it is in registers, and the kernel is left alone.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --list --self-check=quick --cuda-path=%cuda -o %t.cu > %t.list 2> %t.remarks
// RUN: FileCheck %s < %t.list
// RUN: rcache-rewrite %s --self-check=quick --cuda-path=%cuda -o %t.cu 2> %t.remarks
// RUN: FileCheck --check-prefix=NOTE %s < %t.remarks
//
// CHECK: not-shared romberg; no-shared (ptxas keeps the private arrays in registers)
// CHECK: rewritten histogram
// NOTE: rewrote 'histogram'
// NOTE: local memory of a thread: 128 bytes in the original, 0 now (ptxas)
// NOTE: executed before it was written: {{.*}}device code is nvcc's
__global__ void romberg(const float *__restrict__ in, float *__restrict__ out, int levels) {
  float row[16];
  const int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < levels; ++i) {
    float before = row[0];
    row[0] = in[i * 1024 + t];
    float four = 4;
    for (int j = 1; j <= i; ++j) {
      const float old = row[j];
      row[j] = row[j - 1] + (row[j - 1] - before) / (four - 1);
      before = old;
      four *= 4;
    }
  }
  out[t] = row[levels - 1];
}

__global__ void histogram(const int *__restrict__ data, int *__restrict__ out, int n) {
  int bins[32] = {};
  const int t = blockIdx.x * 128 + threadIdx.x;
  for (int i = 0; i < 20; ++i)
    ++bins[data[(t + i) % n] & 31];
  out[t] = bins[t & 31];
}

void run(const float *in, const int *data, float *out, int *counts) {
  romberg<<<8, 128>>>(in, out, 12);
  histogram<<<8, 128>>>(data, counts, 1024);
}
