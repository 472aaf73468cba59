// REQUIRES: cuda-toolkit
// A parameter that is a struct is made of its members: pointers lead to buffers, and
// integers are chosen by their names.
// RUN: %status 0 %check %s --self --device-code=clang 2>&1 | FileCheck %s
// RUN: %status 1 %check %s --self --device-code=clang -- -DWRONG 2>&1 | FileCheck %s --check-prefix=WRONG
// CHECK: equivalent: scale: {{[0-9]+}} launches compared, {{[1-9][0-9]*}} of them by the rewritten form
// WRONG: different: scale: to.rows.data[
#ifdef WRONG
constexpr int Wrong = 1;
#else
constexpr int Wrong = 0;
#endif

struct Rows {
  const char *unused;
  float *data;
};
struct Image {
  int width, height;
  Rows rows;
  double by[2];
};

template <int Add> __device__ void scaleIn(Image from, Image to, short more) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < from.width)
    to.rows.data[i] = from.rows.data[i] * float(from.by[1]) + (i > 40 ? Add : 0) + more;
}
__global__ void scale(Image from, Image to, short more) { scaleIn<0>(from, to, more); }
__global__ void scale_rc(Image from, Image to, short more) { scaleIn<Wrong>(from, to, more); }
void scale_rc_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, Image from, Image to, short more) {
  scale_rc<<<grid, block, shared, stream>>>(from, to, more);
}
