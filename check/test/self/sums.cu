// REQUIRES: cuda-toolkit
// What launches do not show: a sum that only one form fuses with a product, where an
// element is almost never. The forms of the sums in nvcc's code are compared as well.
// RUN: %status 1 %check %s --self --device-code=nvcc 2>&1 | FileCheck %s
// RUN: %check %s --self --kernel=same --report=json | FileCheck %s --check-prefix=JSON
// CHECK: equivalent: same: {{[0-9]+}} launches compared
// CHECK: other-sums: rare: {{[0-9]+}} launches compared, {{[1-9][0-9]*}} of them by the rewritten form
// CHECK-NEXT: only the original has {{[0-9]+}} f32 add(x, x), only the rewritten kernel has {{[0-9]+}} f32 fma(x, x, x)
// CHECK: equivalent: exact: {{[0-9]+}} launches compared
// CHECK: other-sums: scaled: {{[0-9]+}} launches compared
// CHECK-NEXT: only the original has {{[0-9]+}} f32 fma(p2, x, x), only the rewritten kernel has {{[0-9]+}} f32 fma(x, x, x)
// JSON: "verdict": "equivalent"

#define LAUNCH(name, ...)                                                                \
  void name##_rc_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream,       \
                        const float *x, float *y, float w, int n) {                      \
    name##_rc<<<grid, block, shared, stream>>>(x, y, w, n);                              \
  }
#define KERNEL(name)                                                                     \
  __global__ void name(const float *x, float *y, float w, int n)
#define AT                                                                               \
  const int i = blockIdx.x * blockDim.x + threadIdx.x;                                   \
  if (i >= n)                                                                            \
  return

KERNEL(same) { AT; y[i] = x[i] * w + x[i]; }
KERNEL(same_rc) { AT; y[i] = x[i] + w * x[i]; }
LAUNCH(same)

// Another last bit, but only for what is as good as never passed: data take on numbers
// that kernels name, not what they compute of them.
__device__ float rarely(float v, float a, float b) { return v * 0.5f == 6172.839f ? a : b; }
KERNEL(rare) { AT; y[i] = rarely(x[i], __fadd_rn(__fmul_rn(x[i], x[i] + w), 3.f), w); }
KERNEL(rare_rc) { AT; y[i] = rarely(x[i], x[i] * (x[i] + w) + 3.f, w); }
LAUNCH(rare)

// A product by a power of two is exact: fused or not is all the same.
KERNEL(exact) { AT; y[i] = __fadd_rn(__fmul_rn(x[i], 0.25f), w * w); }
KERNEL(exact_rc) { AT; y[i] = __fmaf_rn(x[i], 0.25f, __fmul_rn(w, w)); }
LAUNCH(exact)

// Another factor, which happens to be the same.
KERNEL(scaled) { AT; y[i] = x[i] * w + x[i]; }
KERNEL(scaled_rc) { AT; y[i] = x[i] * rarely(x[i], x[0], w) + x[i]; }
LAUNCH(scaled)
