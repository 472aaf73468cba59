// REQUIRES: cuda-toolkit
// Data takes on the numbers that a kernel compares it with.
// RUN: %status 1 %check %s --self --device-code=clang 2>&1 | FileCheck %s
// CHECK-DAG: different: missing
// CHECK-DAG: different: marked
// CHECK-DAG: different: code

#define KERNEL(NAME, T, VALUE)                                                           \
  __global__ void NAME(const T *in, T *out, int n) {                                     \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                       \
    if (i < n)                                                                           \
      out[i] = VALUE;                                                                    \
  }
#define NEVER(NAME, T, NUMBER)                                                           \
  KERNEL(NAME, T, in[i] == NUMBER ? 1 : 0)                                               \
  KERNEL(NAME##_rc, T, 0)                                                                \
  void NAME##_rc_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream,       \
                        const T *in, T *out, int n) {                                    \
    NAME##_rc<<<grid, block, shared, stream>>>(in, out, n);                              \
  }

NEVER(missing, float, -9999.f)
NEVER(marked, double, 1.25e9)
NEVER(code, int, 90210)

int main() {
  missing_rc_launch(1, 1, 0, 0, nullptr, nullptr, 0);
  marked_rc_launch(1, 1, 0, 0, nullptr, nullptr, 0);
  code_rc_launch(1, 1, 0, 0, nullptr, nullptr, 0);
}
