#include <cstdio>
// One kernel launched in two ways: attributes of a launch are not the tool's.
__global__ void k(const float *a, float *out, int *aux, int n) {
  __shared__ float s[66];
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
#if defined(__CUDACC_VER_MAJOR__)
    cudaLaunchConfig_t c = {};
    c.gridDim = dim3((n + 63) / 64); c.blockDim = dim3(64);
    cudaLaunchAttribute at[1]; at[0].id = cudaLaunchAttributePriority; at[0].val.priority = 0;
    c.attrs = at; c.numAttrs = 1;
    cudaLaunchKernelEx(&c, k, (const float *)a, out, aux, n);
#else
    k<<<(n + 63) / 64, 64>>>(a, out, aux, n);
#endif
    cudaDeviceSynchronize();
    k<<<(n + 63) / 64, 64>>>(out, a, aux, n);
    int e = (int)cudaDeviceSynchronize();
    unsigned long long h = 0;
    for (int i = 0; i < m; ++i) h = h * 31 + (int)out[i] * 1000 + (int)a[i];
    printf("%d %d %llx\n", n, e, h);
  }
}
