// before
__global__ void k(const float *__restrict__ a, const float *__restrict__ b, float *out) {
  extern __shared__ float s[];
  extern __shared__ float q[];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = a[g];
  q[128 + t] = b[g];
  if (t < 8) {
    s[256 + t] = a[g + 128];
    q[264 + t] = b[g + 128];
  }
  __syncthreads();
  out[g] = s[t] + q[128 + t];
}

void run(const float *a, const float *b, float *out, int n) {
  k<<<n / 128, 128, 1088>>>(a, b, out);
}
// after
__global__ void k(const float *__restrict__ a, const float *__restrict__ b,
                  float *__restrict__ out) {
  extern __shared__ float s[];
  float *q = s + 136;
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = a[g];
  q[t] = b[g];
  if (t < 8) {
    s[128 + t] = a[g + 128];
    q[128 + t] = b[g + 128];
  }
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 8; ++i)
    sum += s[t + i] * q[t + i];
  out[g] = sum;
}

void run(const float *a, const float *b, float *out, int n) {
  k<<<n / 128, 128, 1088>>>(a, b, out);
}
