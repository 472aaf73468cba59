// Prefix sums of blocks: the naive scan with two buffers, the work-efficient
// one in place.
#include "validation.cuh"

#define SECTION 256

__global__ void scan_naive(const float *x, float *y, int n) {
  __shared__ float temp[2 * SECTION];
  int t = threadIdx.x, i = blockIdx.x * SECTION + t;
  int pout = 0, pin = 1;
  temp[t] = i < n ? x[i] : 0.f;
  __syncthreads();
  for (int offset = 1; offset < SECTION; offset *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (t >= offset)
      temp[pout * SECTION + t] =
          temp[pin * SECTION + t] + temp[pin * SECTION + t - offset];
    else
      temp[pout * SECTION + t] = temp[pin * SECTION + t];
    __syncthreads();
  }
  if (i < n)
    y[i] = temp[pout * SECTION + t];
}

__global__ void scan_in_place(const int *x, int *y) {
  __shared__ int xy[SECTION];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  xy[threadIdx.x] = x[i];
  for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    int v = 0;
    if (threadIdx.x >= stride)
      v = xy[threadIdx.x - stride];
    __syncthreads();
    xy[threadIdx.x] += v;
  }
  y[i] = xy[threadIdx.x];
}

__global__ void scan_efficient(const int *x, int *y) {
  __shared__ int s[2 * SECTION];
  int t = threadIdx.x, b = 2 * SECTION * blockIdx.x;
  s[t] = x[b + t];
  s[t + SECTION] = x[b + t + SECTION];
  int offset = 1;
  for (int d = SECTION; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d)
      s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0)
    s[2 * SECTION - 1] = 0;
  for (int d = 1; d < 2 * SECTION; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1;
      int v = s[ai];
      s[ai] = s[bi];
      s[bi] += v;
    }
  }
  __syncthreads();
  y[b + t] = s[t];
  y[b + t + SECTION] = s[t + SECTION];
}

void naive(const float *x, float *y, int n) {
  scan_naive<<<(n + SECTION - 1) / SECTION, SECTION>>>(x, y, n);
}
void in_place(const int *x, int *y, int n) {
  scan_in_place<<<n / SECTION, SECTION>>>(x, y);
}
void efficient(const int *x, int *y, int n) {
  scan_efficient<<<n / (2 * SECTION), SECTION>>>(x, y);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 24, 1 << 18}, 1024)) {
    float *x = filled<float>(n, 100), *y = zeros<float>(n);
    int *i = filled<int>(n, 101, 0, 50), *o = zeros<int>(n);
    measure("scan_naive", text(n), [&] { naive(x, y, n); }, {result(y, n)});
    measure("scan_in_place", text(n), [&] { in_place(i, o, n); },
            {result(o, n)});
    measure("scan_efficient", text(n), [&] { efficient(i, o, n); },
            {result(o, n)});
    release(x, y, i, o);
  }
}
