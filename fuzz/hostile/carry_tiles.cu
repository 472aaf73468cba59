#include <cstdio>
__global__ void k(const float *a, float *out, int *aux, int n) {
  __shared__ float s[65];
  const int t = threadIdx.x;
  float last = 0;
  for (int b = 0; b * 64 < n; ++b) {
    const int g = b * 64 + t;
    s[t + 1] = g < n ? a[g] : 0;
    if (t == 0) s[0] = last;
    __syncthreads();
    if (g < n) out[g] = s[t + 1] - s[t];
    last = s[64];
    __syncthreads();
  }
}
int main() {
  const int m = 4096; const int ns[] = {331, 64, 1, 1000};
  float *a, *out; int *aux;
  cudaMallocManaged(&a, m * 4); cudaMallocManaged(&out, m * 4); cudaMallocManaged(&aux, m * 4);
  for (int n : ns) {
    for (int i = 0; i < m; ++i) { a[i] = i * 7 % 61 - 20; out[i] = -1; aux[i] = -1; }
    k<<<1, 64>>>(a, out, aux, n);
    int e = (int)cudaDeviceSynchronize();
    unsigned long long h = 0;
    for (int i = 0; i < m; ++i) h = h * 31 + (int)out[i] * 1000 + aux[i];
    printf("%d %d %llx\n", n, e, h);
  }
}

