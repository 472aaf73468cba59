// What kept tiles of other people's programs in shared memory, and need not.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -DRCACHE_ANY_LAUNCH
// CHECK-DAG: rewrote 'sizes' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'casts' {{.*}}'s' reloaded

// A bound that names the array, and reads nothing of it.
__global__ void sizes(const int *a, int *b, int n) {
  __shared__ int s[66];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  for (int k = t; k < sizeof(s) / sizeof(*s); k += 64)
    s[k] = (int)(blockIdx.x * 64 + k) < n ? a[blockIdx.x * 64 + k] : 0;
  __syncthreads();
  if (g < n)
    b[g] = s[t] - s[t + 1] + s[t + 2];
}

// A number that is converted behind a choice.
__global__ void casts(const float *a, float *b, int n) {
  __shared__ unsigned s[130];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? (int)a[g] : 0;
  if (t < 2)
    s[128 + t] = g + 128 < n ? (int)a[g + 128] : 0;
  __syncthreads();
  if (g < n)
    b[g] = s[t] / 3u + s[t + 1] - (s[t + 2] >> 2);
}

#include <vector>
int main() {
  const int n = 1000;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i)
    h[i] = float((i * 37) % 401) * 2.5f;
  float *a, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
  for (int m : {1, 63, 64, 65, 1000}) {
    sizes<<<(m + 63) / 64, 64>>>((int *)a, (int *)b, m);
    casts<<<(m + 127) / 128, 128>>>(a, b, m);
  }
  cudaDeviceSynchronize();
}
