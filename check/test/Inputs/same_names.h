// What both files of run/same-names.cu define, with numbers of their own.
#include <cstdio>
#ifndef STATIC
#define STATIC
#endif
static __global__ void one(int *p) { p[0] = 10 + FILE_NUMBER; }
static __device__ __noinline__ int two() { return 20 + FILE_NUMBER; }
STATIC __device__ int three() { return 30 + FILE_NUMBER; }
STATIC __device__ int four = 40 + FILE_NUMBER;
static __constant__ int seven = 70 + FILE_NUMBER;
namespace {
struct Local {
  int Add;
};
__global__ void five(int *p) { p[4] = 50 + FILE_NUMBER; }
} // namespace
template <typename T> __global__ void six(int *p, T t) {
  p[1] = two();
  p[2] = three();
  p[3] = four;
  p[5] = t.Add + seven - 10;
}
int secondsSeven();
void SHOW() {
  int *p, h[6];
  cudaMalloc(&p, sizeof(h));
  one<<<1, 1>>>(p);
  five<<<1, 1>>>(p);
  six<<<1, 1>>>(p, Local{0});
  cudaMemcpy(h, p, sizeof(h), cudaMemcpyDeviceToHost);
  printf(FILE_NUMBER == 1 ? "first:" : "second:");
  for (int x : h)
    printf(" %d", x);
  printf("\n");
  cudaFree(p);
}
