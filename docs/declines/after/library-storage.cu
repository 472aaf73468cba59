// before
namespace cub { // stands for #include <cub/cub.cuh>
template <class T, int Threads> struct BlockReduce {
  struct TempStorage { T words[Threads]; };
  __device__ BlockReduce(TempStorage &);
  __device__ T Sum(T);
};
}
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ Reduce::TempStorage storage;
  float sum = Reduce(storage).Sum(in[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}

void run(const float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
// no after: The library knows the exchange that its storage is for, and chooses shuffles by itself where they pay.
