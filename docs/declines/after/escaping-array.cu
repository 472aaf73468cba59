// before
extern __device__ void smooth(float *);

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 4];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 4)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  smooth(s);
  float sum = 0;
  for (int i = 0; i <= 4; ++i)
    sum += s[threadIdx.x + i];
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
// after: A function whose body is there, that reads the array and returns a value, is written out.
__device__ float smoothed(const float *s, int at) {
  float sum = 0;
  for (int i = 0; i <= 4; ++i)
    sum += s[at + i];
  return sum;
}

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128 + 4];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 4)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  const float sum = smoothed(s, threadIdx.x);
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
