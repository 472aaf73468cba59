// What kept tiles of other people's programs in shared memory, and need not; what was not
// compiled: `c ? x :s[t]` has no blank in front of what became `::rcache::..`.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -DRCACHE_ANY_LAUNCH
// CHECK-DAG: rewrote 'sizes' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'casts' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'close' {{.*}}'s' kept shared

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

// A choice without blanks, of elements that each output has to read by itself.
__global__ void close(const float *__restrict__ a, float *__restrict__ b, int n, int m) {
  __shared__ float s[162];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int k = t; k < 162; k += 128)
    s[k] = a[min(max((int)blockIdx.x * 128 + k - 17, 0), n - 1)];
  __syncthreads();
  if (t < 50)
    s[t] = s[t] * 2 + 1;
  __syncthreads();
  if (g < n)
    b[g] = (s[t + 31] - s[t + 18]) + fmax(0.25f * (float)m + s[t + 14], m>3?(float)m:s[t + 5]);
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
    close<<<(m + 127) / 128, 128>>>(a, b, m, m % 7);
  }
  cudaDeviceSynchronize();
}
