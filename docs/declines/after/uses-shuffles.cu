// before
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = in[g];
  if (t < 8)
    s[t + 128] = in[g + 128];
  __syncthreads();
  float next = __shfl_down_sync(0xffffffffu, s[t], 1);
  if (t % 32 == 31)
    next = s[t + 1];
  out[g] = s[t] + next + s[t + 8];
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after: What the shuffle brought is read from the array.
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = in[g];
  if (t < 8)
    s[t + 128] = in[g + 128];
  __syncthreads();
  float next = s[t + 1];
  out[g] = s[t] + next + s[t + 8];
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
