#include <cstdio>

extern __shared__ float smem[];
__global__ void k(const float *a, float *out, int *aux, int n) {
  float *s = smem; int *q = (int *)(smem + blockDim.x + 2);
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;

  for (int i = t; i < 66; i += 64) { int e = blockIdx.x * 64 + i; s[i] = e < n ? a[e] : 0; }
  q[t] = g * 3;
  __syncthreads();
  if (g < n) { out[g] = s[t] + s[t + 2]; aux[g] = q[63 - t]; }
}
int main() {
  const int m = 4096; const int ns[] = {331, 64, 1, 1000};
  float *a, *out; int *aux;
  cudaMallocManaged(&a, m * 4); cudaMallocManaged(&out, m * 4); cudaMallocManaged(&aux, m * 4);
  for (int n : ns) {
    for (int i = 0; i < m; ++i) { a[i] = i * 7 % 61 - 20; out[i] = -1; aux[i] = -1; }
    k<<<(n + 63) / 64, 64, 66 * 4 + 64 * 4>>>(a, out, aux, n);
    int e = (int)cudaDeviceSynchronize();
    unsigned long long h = 0;
    for (int i = 0; i < m; ++i) h = h * 31 + (int)out[i] * 1000 + aux[i];
    printf("%d %d %llx\n", n, e, h);
  }
}

