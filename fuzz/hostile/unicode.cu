#include <cstdio>
__global__ void k(const float *a, float *out, int *aux, int n) {
  __shared__ float größe[64];
  const int ünf = threadIdx.x, g$1 = blockIdx.x * 64 + ünf;
  größe[ünf] = g$1 < n ? a[g$1] : 0; // ✓ „komment“
  __syncthreads();
  if (g$1 < n) out[g$1] = größe[63 - ünf];
}
int main() {
  const int m = 4096; const int ns[] = {331, 64, 1, 1000};
  float *a, *out; int *aux;
  cudaMallocManaged(&a, m * 4); cudaMallocManaged(&out, m * 4); cudaMallocManaged(&aux, m * 4);
  for (int n : ns) {
    for (int i = 0; i < m; ++i) { a[i] = i * 7 % 61 - 20; out[i] = -1; aux[i] = -1; }
    k<<<(n + 63) / 64, 64>>>(a, out, aux, n);
    int e = (int)cudaDeviceSynchronize();
    unsigned long long h = 0;
    for (int i = 0; i < m; ++i) h = h * 31 + (int)out[i] * 1000 + aux[i];
    printf("%d %d %llx\n", n, e, h);
  }
}

