// A kernel for the value that launches give an argument asks for it whatever is
// rewritten: here a private array, and the loop that fills it.
//
// RUN: rcache-rewrite %s -q --list --self-check=quick -o %t.cu | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu %}
//
// REQUIRES: cuda-toolkit
// CHECK: rewritten bins: h; 'h' of each thread in shared memory
// TEXT: bins_rc_launch(
// TEXT: {{if}} ((rc_block.x == 128) && (rc_block.y == 1) && (rc_block.z == 1) &&
// TEXT-NEXT: {{^ *.per == 64.}} &&
#include <cstdio>
__global__ void bins(const unsigned char *data, unsigned *out, int per) {
  unsigned h[32];
  for (int b = 0; b < 32; ++b)
    h[b] = 0;
  int t = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (int i = 0; i < per; ++i)
    h[data[t + i * all] >> 3]++;
  for (int b = 0; b < 32; ++b)
    out[b * all + t] = h[b];
}
struct Options {
  int per = 64;
};
void run(const unsigned char *data, unsigned *out, Options o) {
  bins<<<4, 128>>>(data, out, 64);
  bins<<<4, 128>>>(data, out, o.per);
}
int main() {
  unsigned char *data;
  unsigned *out, sums[32] = {};
  cudaMalloc(&data, 512 * 128);
  cudaMemset(data, 9, 512 * 128);
  cudaMalloc(&out, 512 * 32 * sizeof(unsigned));
  Options o;
  for (o.per = 32; o.per <= 96; o.per += 32) {
    run(data, out, o);
    for (int b = 0; b < 32; ++b)
      cudaMemcpy(&sums[b], out + b * 512, sizeof(unsigned), cudaMemcpyDeviceToHost);
    printf("%u %u\n", sums[0], sums[1]);
  }
}
