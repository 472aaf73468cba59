#include <cstdio>
// What is staged comes through a texture.
__global__ void k(cudaTextureObject_t a, float *out, int *aux, int n) {
  __shared__ float s[66];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  for (int i = t; i < 66; i += 64) { int e = blockIdx.x * 64 + i - 1; s[i] = e >= 0 && e < n ? tex1Dfetch<float>(a, e) : 0; }
  __syncthreads();
  if (g < n) out[g] = s[t] + s[t + 1] + s[t + 2];
}
int main() {
  const int m = 4096; const int ns[] = {331, 64, 1, 1000};
  float *a, *out; int *aux;
  cudaMallocManaged(&a, m * 4); cudaMallocManaged(&out, m * 4); cudaMallocManaged(&aux, m * 4);
  cudaResourceDesc r = {}; r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = a; r.res.linear.sizeInBytes = m * 4;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  cudaTextureDesc d = {}; d.readMode = cudaReadModeElementType;
  cudaTextureObject_t tex = 0;
  cudaCreateTextureObject(&tex, &r, &d, nullptr);
  for (int n : ns) {
    for (int i = 0; i < m; ++i) { a[i] = i * 7 % 61 - 20; out[i] = -1; aux[i] = -1; }
    k<<<(n + 63) / 64, 64>>>(tex, out, aux, n);
    int e = (int)cudaDeviceSynchronize();
    unsigned long long h = 0;
    for (int i = 0; i < m; ++i) h = h * 31 + (int)out[i] * 1000 + aux[i];
    printf("%d %d %llx\n", n, e, h);
  }
}
