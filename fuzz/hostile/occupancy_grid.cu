#include <cstdio>
// The grid comes from what the runtime says of the kernel.
__global__ void k(const float *a, float *out, int *aux, int n) {
  __shared__ float s[66];
  const int t = threadIdx.x;
  for (int base = blockIdx.x * 64; base < n; base += gridDim.x * 64) {
    for (int i = t; i < 66; i += 64) { int e = base + i - 1; s[i] = e >= 0 && e < n ? a[e] : 0; }
    __syncthreads();
    if (base + t < n) out[base + t] = s[t] + s[t + 1] + s[t + 2];
    __syncthreads();
  }
}
int main() {
  const int m = 4096; const int ns[] = {331, 64, 1, 4000};
  float *a, *out; int *aux;
  cudaMallocManaged(&a, m * 4); cudaMallocManaged(&out, m * 4); cudaMallocManaged(&aux, m * 4);
  int per = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, k, 64, 0);
  const int grid = per > 0 ? 7 : 5;
  for (int n : ns) {
    for (int i = 0; i < m; ++i) { a[i] = i * 7 % 61 - 20; out[i] = -1; aux[i] = -1; }
    k<<<grid, 64>>>(a, out, aux, n);
    int e = (int)cudaDeviceSynchronize();
    unsigned long long h = 0;
    for (int i = 0; i < m; ++i) h = h * 31 + (int)out[i] * 1000 + aux[i];
    printf("%d %d %llx\n", n, e, h);
  }
}
