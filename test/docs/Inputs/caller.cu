#include <cstdio>
#include <vector>

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n);

int main() {
  const int n = 100000;
  std::vector<float> a(n + 4), b(n);
  for (int i = 0; i < n + 4; ++i)
    a[i] = float(i * 7 % 31);
  float *in, *out;
  cudaMalloc(&in, (n + 4) * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, a.data(), (n + 4) * sizeof(float), cudaMemcpyHostToDevice);
  int grid = (n + 127) / 128, block = 128, shared = 0;
  cudaStream_t stream = 0;
  k<<<grid, block, shared, stream>>>(in, out, n);
  cudaMemcpy(b.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i)
    if (b[i] != a[i] + a[i + 1] + a[i + 2] + a[i + 3] + a[i + 4])
      return 1;
  std::puts("ok");
}
