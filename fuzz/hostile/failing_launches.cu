#include <cstdio>
// Launches that fail: what the runtime says, and what is said of the next one.
__global__ void __launch_bounds__(64) k(const float *a, float *out, int *aux, int n) {
  __shared__ float s[66];
  extern __shared__ float more[];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  for (int i = t; i < 66; i += 64) { int e = blockIdx.x * 64 + i - 1; s[i] = e >= 0 && e < n ? a[e] : 0; }
  __syncthreads();
  if (g < n) out[g] = s[t] + s[t + 1] + s[t + 2];
}
int main() {
  const int m = 4096; const int ns[] = {331, 64, 1, 1000};
  float *a, *out; int *aux;
  cudaMallocManaged(&a, m * 4); cudaMallocManaged(&out, m * 4); cudaMallocManaged(&aux, m * 4);
  for (int n : ns) {
    for (int i = 0; i < m; ++i) { a[i] = i * 7 % 61 - 20; out[i] = -1; aux[i] = -1; }
    k<<<(n + 63) / 64, 128>>>(a, out, aux, n); int e1 = cudaPeekAtLastError(), e2 = cudaGetLastError(), e3 = cudaGetLastError();
    k<<<0, 64>>>(a, out, aux, n); int e4 = cudaGetLastError();
    k<<<1, 64, 1 << 20>>>(a, out, aux, n); int e5 = cudaGetLastError();
    k<<<(n + 63) / 64, 0>>>(a, out, aux, n); int e6 = cudaGetLastError();
    k<<<(n + 63) / 64, 64>>>(a, out, aux, n);
    int e = (int)cudaDeviceSynchronize();
    unsigned long long h = 0;
    for (int i = 0; i < m; ++i) h = h * 31 + (int)out[i] * 1000 + aux[i];
    printf("%d %d %d %d %d %d %d %d %llx\n", n, e1, e2, e3, e4, e5, e6, e, h);
  }
}
