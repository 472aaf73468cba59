// before
__global__ void k(const int *__restrict__ in, int *__restrict__ out, int n) {
  __shared__ int bins[128];
  bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * 128 + threadIdx.x] & 127], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

void run(const int *in, int *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// no after: Any thread may add to any bin, so the bins are where all of them can reach them.
