// before
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    float v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  out[g] = s[t];
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// after: Sums of 32 elements are what was wanted here: a row of the array belongs to a warp, and the barriers of the block become those of the warp.
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[4][32];
  int t = threadIdx.x, w = threadIdx.y, g = (blockIdx.x * 4 + w) * 32 + t;
  s[w][t] = in[g];
  __syncthreads();
  for (int d = 1; d < 32; d *= 2) {
    float v = t >= d ? s[w][t - d] : 0;
    __syncthreads();
    s[w][t] += v;
    __syncthreads();
  }
  out[g] = s[w][t];
}

void run(const float *in, float *out, int n) { k<<<n / 128, dim3(32, 4)>>>(in, out, n); }
