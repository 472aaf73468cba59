extern __device__ int table[4];
extern __device__ int fromSecond(int);
__device__ inline int both(int x) { return x * 2 + fromSecond(x); }
