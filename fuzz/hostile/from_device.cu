#include <cstdio>
// Launched by the host; a helper function takes its address as well.
typedef void (*Kernel)(const float *, float *, int *, int);
__global__ void k(const float *a, float *out, int *aux, int n) {
  __shared__ float s[66];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  for (int i = t; i < 66; i += 64) { int e = blockIdx.x * 64 + i - 1; s[i] = e >= 0 && e < n ? a[e] : 0; }
  __syncthreads();
  if (g < n) out[g] = s[t] + s[t + 1] + s[t + 2];
}
static void launch(Kernel f, dim3 g, dim3 b, const float *a, float *out, int *aux, int n) { f<<<g, b>>>(a, out, aux, n); }
int main() {
  const int m = 4096; const int ns[] = {331, 64, 1, 1000};
  float *a, *out; int *aux;
  cudaMallocManaged(&a, m * 4); cudaMallocManaged(&out, m * 4); cudaMallocManaged(&aux, m * 4);
  Kernel table[2] = {k, &k};
  for (int n : ns) {
    for (int i = 0; i < m; ++i) { a[i] = i * 7 % 61 - 20; out[i] = -1; aux[i] = -1; }
    launch(table[n % 2], (n + 63) / 64, 64, a, out, aux, n);
    (n > 50 ? k : table[0])<<<(n + 63) / 64, 64>>>(out, a, aux, n);
    (*k)<<<(n + 63) / 64, 64>>>(a, out, aux, n);
    int e = (int)cudaDeviceSynchronize();
    unsigned long long h = 0;
    for (int i = 0; i < m; ++i) h = h * 31 + (int)out[i] * 1000 + (int)a[i];
    printf("%d %d %llx\n", n, e, h);
  }
}
