#include <cstdio>
// Weights change between launches, by the address of a symbol.
__constant__ float w[3];
__device__ float scale = 1;
__global__ void k(const float *a, float *out, int *aux, int n) {
  __shared__ float s[66];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  for (int i = t; i < 66; i += 64) { int e = blockIdx.x * 64 + i - 1; s[i] = e >= 0 && e < n ? a[e] * scale : 0; }
  __syncthreads();
  if (g < n) out[g] = s[t] * w[0] + s[t + 1] * w[1] + s[t + 2] * w[2];
}
int main() {
  const int m = 4096; const int ns[] = {331, 64, 1, 1000};
  float *a, *out; int *aux;
  cudaMallocManaged(&a, m * 4); cudaMallocManaged(&out, m * 4); cudaMallocManaged(&aux, m * 4);
  float step = 1;
  for (int n : ns) {
    const float h3[3] = {step, 2 * step, step};
    step += 1;
    cudaMemcpyToSymbol(w, h3, sizeof(h3));
    cudaMemcpyToSymbol(scale, &step, sizeof(step));
    for (int i = 0; i < m; ++i) { a[i] = i * 7 % 61 - 20; out[i] = -1; aux[i] = -1; }
    k<<<(n + 63) / 64, 64>>>(a, out, aux, n);
    int e = (int)cudaDeviceSynchronize();
    unsigned long long h = 0;
    for (int i = 0; i < m; ++i) h = h * 31 + (int)out[i] * 1000 + aux[i];
    printf("%d %d %llx\n", n, e, h);
  }
}
