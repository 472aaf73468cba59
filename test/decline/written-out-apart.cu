// Calls are written out for each kernel by itself: one whose text does not compile then
// keeps its calls, and the others are rewritten.
//
// RUN: %rewrite %s --force -o %t.cu -- %mock 2>&1 | FileCheck %s
// CHECK-DAG: rewrote 'direct'
// CHECK-DAG: 'handed' left as it is: {{.*}} [lambda]
// CHECK-DAG: rewrote 'alsoDirect'

__device__ float get(const float *s, int i) { return s[i]; }
template <class F> __device__ float sumOf(F f, int n) {
  float r = 0;
  for (int i = 0; i < n; ++i)
    r += f(i);
  return r;
}

__global__ void direct(const float *a, float *o, int n) {
  __shared__ float s[256];
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;
  s[l] = g < n ? a[g] : 0;
  __syncthreads();
  if (g < n)
    o[g] = get(s, l) + get(s, 255 - l);
}
__global__ void handed(const float *a, float *o, int n) {
  __shared__ float s[258];
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;
  s[l + 1] = g < n ? a[g] : 0;
  if (l < 2)
    s[257 * l] = 0;
  __syncthreads();
  const float r = sumOf([&](int i) { return s[l + i] * .5f; }, 3);
  if (g < n)
    o[g] = r;
}
__global__ void alsoDirect(const float *a, float *o, int n) {
  __shared__ float s[256];
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;
  s[l] = g < n ? a[g] : 0;
  __syncthreads();
  if (g < n)
    o[g] = get(s, l) - get(s, (l + 1) % 256);
}
void launch(const float *a, float *o, int n) {
  direct<<<(n + 255) / 256, 256>>>(a, o, n);
  handed<<<(n + 255) / 256, 256>>>(a, o, n);
  alsoDirect<<<(n + 255) / 256, 256>>>(a, o, n);
}
