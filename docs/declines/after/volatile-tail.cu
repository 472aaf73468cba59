// before
__global__ void k(const float *__restrict__ in, float *__restrict__ sums, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  if (t < 32) {
    volatile float *v = s;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
  }
  if (t == 0)
    sums[blockIdx.x] = s[0];
}

void run(const float *in, float *sums, int n) { k<<<n / 64, 64>>>(in, sums, n); }
// after: Lanes wait for each other where the kernel says so; what a statement reads, it reads before any lane stores.
__global__ void k(const float *__restrict__ in, float *__restrict__ sums, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  if (t < 32) {
    volatile float *v = s;
    v[t] += v[t + 32];
    __syncwarp();
    v[t] += v[t + 16];
    __syncwarp();
    v[t] += v[t + 8];
    __syncwarp();
    v[t] += v[t + 4];
    __syncwarp();
    v[t] += v[t + 2];
    __syncwarp();
    v[t] += v[t + 1];
  }
  if (t == 0)
    sums[blockIdx.x] = s[0];
}

void run(const float *in, float *sums, int n) { k<<<n / 64, 64>>>(in, sums, n); }
