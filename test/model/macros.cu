// A kernel hidden in macros: the text that later stages edit is expanded where
// it has to be.
// RUN: %rewrite %s --print-after=model -o %t.cu -- %mock 2>&1 | FileCheck %s
#define TID threadIdx.x
#define READ(a, i) a[TID + (i)]
#define SYNC() __syncthreads()
#define DEFINE_DIFF(name, T)                                                   \
  __global__ void name(const T *in, T *out) {                                  \
    __shared__ T s[130];                                                       \
    s[TID] = in[blockIdx.x * 128 + TID];                                       \
    if (TID < 2)                                                               \
      s[TID + 128] = in[blockIdx.x * 128 + TID + 128];                         \
    SYNC();                                                                    \
    out[blockIdx.x * 128 + TID] = READ(s, 2) - READ(s, 0);                     \
  }
DEFINE_DIFF(diffInt, int)
DEFINE_DIFF(diffDouble, double)

void run(int *a, double *b) {
  diffInt<<<9, 128>>>(a, a);
  diffDouble<<<9, 128>>>(b, b);
}

// CHECK-LABEL: kernel diffInt
// CHECK:         shared s: int[130] bytes 4
// CHECK:         decl `__shared__ int s[130];`
// CHECK:         barrier __syncthreads
// CHECK:         shared read `s[threadIdx.x + (2)]` in #[[#]] {{\[\[}}tx] -> { [(2 + tx)] }]
// CHECK-LABEL: kernel diffDouble
// CHECK:         shared s: double[130] bytes 8
