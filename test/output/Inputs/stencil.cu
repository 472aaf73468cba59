// Two kernels: one can be rewritten, the other cannot.
template <int K>
__global__ void blur(const float *__restrict__ in, float *__restrict__ out,
                     int n) {
  __shared__ float tile[128 + 2 * K];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= n)
    return;
  tile[threadIdx.x] = in[g];
  if (threadIdx.x < 2 * K)
    tile[threadIdx.x + blockDim.x] = in[g + blockDim.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= 2 * K; ++i)
    sum += tile[threadIdx.x + i];
  out[g] = sum;
}

__global__ void count(const int *__restrict__ in, int *__restrict__ bins, int n) {
  __shared__ int local[64];
  if (threadIdx.x < 64)
    local[threadIdx.x] = 0;
  __syncthreads();
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n)
    atomicAdd(&local[in[g] & 63], 1);
  __syncthreads();
  if (threadIdx.x < 64)
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

void run(const float *in, float *out, const int *values, int *bins, int n) {
  blur<4><<<(n + 127) / 128, 128>>>(in, out, n);
  count<<<(n + 127) / 128, 128>>>(values, bins, n);
}
