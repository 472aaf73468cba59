// reductions in the style of samples and blog posts
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define CUDA_CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); exit(1); } } while (0)

// 1. reduce with grid stride loop in front, template block size
template <typename T, unsigned int blockSize>
__global__ void reduceGridStride(const T *__restrict__ g_idata, T *__restrict__ g_odata, unsigned int n) {
  __shared__ T sdata[blockSize];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockSize * 2 + threadIdx.x;
  unsigned int gridSize = blockSize * 2 * gridDim.x;
  T mySum = 0;
  while (i < n) {
    mySum += g_idata[i];
    if (i + blockSize < n) mySum += g_idata[i + blockSize];
    i += gridSize;
  }
  sdata[tid] = mySum;
  __syncthreads();
  if (blockSize >= 512) { if (tid < 256) sdata[tid] += sdata[tid + 256]; __syncthreads(); }
  if (blockSize >= 256) { if (tid < 128) sdata[tid] += sdata[tid + 128]; __syncthreads(); }
  if (blockSize >= 128) { if (tid < 64) sdata[tid] += sdata[tid + 64]; __syncthreads(); }
  if (tid < 32) {
    if (blockSize >= 64) { sdata[tid] += sdata[tid + 32]; __syncwarp(); }
    if (tid < 16) { sdata[tid] += sdata[tid + 16]; } __syncwarp();
    if (tid < 8) { sdata[tid] += sdata[tid + 8]; } __syncwarp();
    if (tid < 4) { sdata[tid] += sdata[tid + 4]; } __syncwarp();
    if (tid < 2) { sdata[tid] += sdata[tid + 2]; } __syncwarp();
    if (tid < 1) { sdata[tid] += sdata[tid + 1]; } __syncwarp();
  }
  if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

// 2. reduce, dynamic memory, blockDim loop
extern __shared__ float dynf[];
__global__ void reduceDyn(const float *in, float *out, int n) {
  unsigned t = threadIdx.x;
  unsigned g = blockIdx.x * blockDim.x + threadIdx.x;
  dynf[t] = g < n ? in[g] : 0.f;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) dynf[t] += dynf[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = dynf[0];
}

// 3. cooperative groups block + tile reduce tail
__global__ void reduceCG(const float *in, float *out, unsigned n) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ float sdata[256];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  float mySum = (i < n) ? in[i] : 0;
  if (i + blockDim.x < n) mySum += in[i + blockDim.x];
  sdata[tid] = mySum;
  cg::sync(cta);
  for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
    if (tid < s) sdata[tid] = mySum = mySum + sdata[tid + s];
    cg::sync(cta);
  }
  cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);
  if (cta.thread_rank() < 32) {
    mySum += sdata[tid + 32];
    for (int offset = tile32.size() / 2; offset > 0; offset /= 2)
      mySum += tile32.shfl_down(mySum, offset);
  }
  if (cta.thread_rank() == 0) out[blockIdx.x] = mySum;
}

// 4. arg-min over block, two shared arrays
#define ARG_BLOCK 256
__global__ void argmin_kernel(const float *vals, float *outVal, int *outIdx, int n) {
  __shared__ float sv[ARG_BLOCK];
  __shared__ int si[ARG_BLOCK];
  int tid = threadIdx.x;
  int gid = blockIdx.x * ARG_BLOCK + tid;
  sv[tid] = gid < n ? vals[gid] : 3.402823466e+38f;
  si[tid] = gid < n ? gid : -1;
  __syncthreads();
  for (int s = ARG_BLOCK >> 1; s > 0; s >>= 1) {
    if (tid < s) {
      if (sv[tid + s] < sv[tid]) {
        sv[tid] = sv[tid + s];
        si[tid] = si[tid + s];
      }
    }
    __syncthreads();
  }
  if (tid == 0) { outVal[blockIdx.x] = sv[0]; outIdx[blockIdx.x] = si[0]; }
}

// 5. dot product with book-style cacheIndex (CUDA by Example)
const int threadsPerBlock = 256;
__global__ void dot(float *a, float *b, float *c, int N) {
  __shared__ float cache[threadsPerBlock];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int cacheIndex = threadIdx.x;
  float temp = 0;
  while (tid < N) {
    temp += a[tid] * b[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[cacheIndex] = temp;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
    __syncthreads();
    i /= 2;
  }
  if (cacheIndex == 0) c[blockIdx.x] = cache[0];
}

// 6. mean and variance, double, 2 arrays, one block per row
__global__ void rowStats(const double *x, double *mean, double *var, int cols) {
  __shared__ double s1[128], s2[128];
  const double *row = x + (size_t)blockIdx.x * cols;
  double a = 0, b = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    double v = row[c];
    a += v;
    b += v * v;
  }
  s1[threadIdx.x] = a;
  s2[threadIdx.x] = b;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    if (threadIdx.x < stride) {
      s1[threadIdx.x] += s1[threadIdx.x + stride];
      s2[threadIdx.x] += s2[threadIdx.x + stride];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    double m = s1[0] / cols;
    mean[blockIdx.x] = m;
    var[blockIdx.x] = s2[0] / cols - m * m;
  }
}

// 7. max of abs in a 2-D block with linear id
__global__ void maxAbs2D(const float *img, float *out, int w, int h, int pitch) {
  __shared__ float smax[16 * 16];
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int lid = threadIdx.y * blockDim.x + threadIdx.x;
  float v = 0.f;
  if (x < w && y < h) v = fabsf(img[y * pitch + x]);
  smax[lid] = v;
  __syncthreads();
  for (int s = (blockDim.x * blockDim.y) / 2; s > 0; s >>= 1) {
    if (lid < s) smax[lid] = fmaxf(smax[lid], smax[lid + s]);
    __syncthreads();
  }
  if (lid == 0) out[blockIdx.y * gridDim.x + blockIdx.x] = smax[0];
}

// 8. last-block style: result by atomicAdd
__global__ void sumAtomic(const int *data, int *result, int n) {
  __shared__ int partial[512];
  int tid = threadIdx.x;
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) sum += data[i];
  partial[tid] = sum;
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    if (tid % (2 * step) == 0) partial[tid] += partial[tid + step];
    __syncthreads();
  }
  if (tid == 0) atomicAdd(result, partial[0]);
}

template <class T> T *mk(size_t n) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; ++i) h[i] = (T)((i * 7919u) % 1013) - (T)100;
  CUDA_CHECK(cudaMalloc(&d, n * sizeof(T)));
  CUDA_CHECK(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 24;
  float *a = mk<float>(n), *b = mk<float>(n), *o = mk<float>(n);
  int *ia = mk<int>(n), *io = mk<int>(n);
  double *da = mk<double>(n), *dm = mk<double>(n / 4), *dv = mk<double>(n / 4);
  reduceGridStride<float, 256><<<64, 256>>>(a, o, n);
  reduceGridStride<int, 512><<<64, 512>>>(ia, io, n);
  int threads = 256;
  int blocks = (n + threads - 1) / threads;
  reduceDyn<<<blocks, threads, threads * sizeof(float)>>>(a, o, n);
  reduceCG<<<(n + 511) / 512, 256>>>(a, o, n);
  argmin_kernel<<<(n + ARG_BLOCK - 1) / ARG_BLOCK, ARG_BLOCK>>>(a, o, io, n);
  int bpg = 32 < (n + threadsPerBlock - 1) / threadsPerBlock ? 32 : (n + threadsPerBlock - 1) / threadsPerBlock;
  dot<<<bpg, threadsPerBlock>>>(a, b, o, n);
  rowStats<<<n / 1024, 128>>>(da, dm, dv, 1024);
  int w = 512, h = n / w;
  dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
  maxAbs2D<<<grid, block>>>(a, o, w, h, w);
  sumAtomic<<<128, 512>>>(ia, io, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
