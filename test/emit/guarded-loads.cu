// Loads that slots guard where a warp owns arrays: one branch for the warp, and no conditions
// where all its slots pass them; with values of the guard's other side, of another type, two
// guards at once; and what stays: branches with another side, conditions on data.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --exchange=owned -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: grep -v "// [CT]" %t.cu | FileCheck --check-prefix=TEXT %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// SAME: equivalent: 21 launches {{.*}}; 21 by a rewritten kernel
#include "program.h"

#define SCAN(s)                                                                             \
  __syncthreads();                                                                          \
  for (int d = 1; d < 256; d *= 2) {                                                        \
    int v = t >= d ? s[t - d] : 0;                                                          \
    __syncthreads();                                                                        \
    s[t] += v;                                                                              \
    __syncthreads();                                                                        \
  }

// CHECK-DAG: rewrote 'selected' {{.*}}; 's' owned by a warp
// TEXT-LABEL: {{^    |void }}selected_rc(
// TEXT: if (256 * (int)rc_block_x < n - 255) {
// TEXT: rc_s_own[rc_s] = in[g];
// TEXT: } else {
// TEXT: rc_s_own[rc_s] = g < n ? in[g] : 0;
__global__ void selected(const int *in, int *out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0;
  SCAN(s)
  if (g < n)
    out[g] = s[t];
}

// CHECK-DAG: rewrote 'branched' {{.*}}; 's' owned by a warp
// TEXT-LABEL: {{^    |void }}branched_rc(
// TEXT: if (256 * (int)rc_block_x < n - 255) {
// TEXT-NOT: if (g < n)
// TEXT: rc_s_own[rc_s] = in[g];
// TEXT: } else {
// TEXT: if (g < n)
__global__ void branched(const int *in, int *out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = -1;
  if (g < n)
    s[t] = in[g];
  SCAN(s)
  if (g < n)
    out[g] = s[t];
}

// A byte that the selection makes an int, which has room for it.
// CHECK-DAG: rewrote 'bytes' {{.*}}; 's' owned by a warp
// TEXT-LABEL: {{^    |void }}bytes_rc(
// TEXT: auto v = (int)(((const unsigned char *)in)[g]);
// TEXT: ((int)(((const unsigned char *)in)[g])) * 70000 + v * 70001;
__global__ void bytes(const int *in, int *out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  auto v = g < n ? ((const unsigned char *)in)[g] : 3;
  s[t] = (g < n ? ((const unsigned char *)in)[g] : 3) * 70000 + v * 70001;
  SCAN(s)
  if (g < n)
    out[g] = s[t];
}

// Two of them, neither of which is for all.
// CHECK-DAG: rewrote 'between' {{.*}}; 's' owned by a warp
// TEXT-LABEL: {{^    |void }}between_rc(
// TEXT: if (256 * (int)rc_block_x < n - 255 && m <= 256 * (int)rc_block_x) {
__global__ void between(const int *in, int *out, int n, int m) {
  __shared__ int s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = (g >= m ? in[g - m] : 1) + (g < n ? in[g] : 2);
  SCAN(s)
  if (g < n)
    out[g] = s[t];
}

// CHECK-DAG: rewrote 'otherSide' {{.*}}; 's' owned by a warp
__global__ void otherSide(const int *in, int *out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  if (g < n)
    s[t] = in[g];
  else
    s[t] = -t;
  SCAN(s)
  if (g < n)
    out[g] = s[t];
}

// CHECK-DAG: rewrote 'ofData' {{.*}}; 's' owned by a warp
// TEXT-LABEL: {{^    |void }}ofData_rc(
// TEXT-NOT: } else {
// TEXT-LABEL: void ofData_rc_launch(
__global__ void ofData(const int *in, int *out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  int at = min(g, n - 1);
  s[t] = in[at] > 40 ? in[(at + 1) % n] : 0;
  SCAN(s)
  if (g < n)
    out[g] = s[t];
}

// Who passes not is counted: both sides of the selection stay.
// CHECK-DAG: rewrote 'counts' {{.*}}; 's' owned by a warp
// TEXT-LABEL: {{^    |void }}counts_rc(
// TEXT: g < n ? in[g] : ++left
// TEXT-LABEL: void counts_rc_launch(
__global__ void counts(const int *in, int *out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  int left = t;
  s[t] = g < n ? in[g] : ++left;
  SCAN(s)
  if (g < n)
    out[g] = s[t] + left;
}

int main() {
  for (int n : {256, 1000, 1024}) {
    Buffer<int> in(randoms<int>(n)), out(n);
    selected<<<blocks(n, 256), 256>>>(in.Data, out.Data, n);
    out.show("selected");
    branched<<<blocks(n, 256), 256>>>(in.Data, out.Data, n);
    out.show("branched");
    bytes<<<blocks(n, 256), 256>>>(in.Data, out.Data, n);
    out.show("bytes");
    between<<<blocks(n, 256), 256>>>(in.Data, out.Data, n, n / 4);
    out.show("between");
    otherSide<<<blocks(n, 256), 256>>>(in.Data, out.Data, n);
    out.show("otherSide");
    ofData<<<blocks(n, 256), 256>>>(in.Data, out.Data, n);
    out.show("ofData");
    counts<<<blocks(n, 256), 256>>>(in.Data, out.Data, n);
    out.show("counts");
  }
}
