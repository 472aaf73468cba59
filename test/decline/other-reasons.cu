// What looks like a reason, and is none.
//
// RUN: rcache-rewrite %s --force --self-check=off -o %t.cu -- -std=c++17 2>&1 | FileCheck %s

// A `continue` of a loop inside, without barriers, lets nobody leave the loop around it.
// CHECK-NOT: [divergent-barrier]
__global__ void walks(const int *a, int *b, int n) {
  __shared__ int s[258];
  const int l = threadIdx.x;
  int sum = 0;
  for (int t = blockIdx.x;; t += gridDim.x) {
    if (t * 256 >= n)
      break;
    s[l] = a[t * 256 + l];
    if (l < 2)
      s[l + 256] = a[t * 256 + l + 256];
    __syncthreads();
    const int g = t * 256 + l;
    for (int k = 0; k < 3; ++k) {
      if (s[l + k] < 0)
        continue;
      sum += s[l + k];
    }
    if (g < n)
      b[g] = sum;
    __syncthreads();
  }
}

// A `break` by what a thread has read does: threads leave in different rounds.
// CHECK: 'leaves' left as it is: {{.*}}[divergent-barrier]
__global__ void leaves(const int *a, int *b, int n) {
  __shared__ int s[256];
  const int l = threadIdx.x;
  for (int t = blockIdx.x; t < n; t += gridDim.x) {
    s[l] = a[t * 256 + l];
    __syncthreads();
    switch (n) {
    case 0:
      break;
    default:
      b[t * 256 + l] = s[255 - l];
    }
    if (s[l] == 12345)
      break;
    __syncthreads();
  }
}

// Pairs of what is loaded are no products.
// CHECK-NOT: [private-products]
// CHECK: rewrote 'pairs'
__global__ void pairs(const float *a, float *b, int n) {
  const int g = blockIdx.x * 256 + threadIdx.x;
  float2 q[6];
  for (int i = 0; i < 6; ++i)
    q[i] = make_float2(a[g + i], a[g + i + 2]);
  const int o = ((int)a[g] & 0x7fff) % 6;
  q[o].x = a[g + 7];
  float v = 0;
  for (int i = 0; i < 6; ++i)
    v = v - q[i].x + q[i].y;
  b[g] = v;
}

void launch(const int *a, int *b, const float *x, float *y, int n) {
  walks<<<64, 256>>>(a, b, n);
  leaves<<<64, 256>>>(a, b, n);
  pairs<<<64, 256>>>(x, y, n);
}
