// Objects of a pointer, extents and a pitch, that functions and methods load elements
// through: by reference, by value, handed on. An object whose members a body changes is
// another one.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'method' {{.*}}; 't' reloaded
// CHECK-DAG: rewrote 'clampedMethod' {{.*}}; 't' reloaded
// CHECK-DAG: rewrote 'pointerAndPitch' {{.*}}; 't' reloaded
// CHECK-DAG: rewrote 'byReference' {{.*}}; 't' reloaded
// CHECK-DAG: rewrote 'byValue' {{.*}}; 't' reloaded
// CHECK-DAG: rewrote 'handedOn' {{.*}}; 't' reloaded
// CHECK-DAG: rewrote 'changedCopy' {{.*}}; 't' kept shared
// CHECK-DAG: rewrote 'anotherObject' {{.*}}; 't' kept shared
// CHECK-DAG: rewrote 'lentMember' {{.*}}; 't' kept shared
// TEXT-LABEL: byReference_rc(
// TEXT: img.data[
// SAME: equivalent: 18 launches {{.*}}; 18 by a rewritten kernel
#include "program.h"
struct Image {
  const float *data;
  int width, height, pitch;
  __device__ float at(int x, int y) const { return data[(size_t)y * pitch + x]; }
  __device__ float clamped(int x, int y) const {
    x = max(0, min(x, width - 1));
    y = max(0, min(y, height - 1));
    return data[(size_t)y * pitch + x];
  }
};
__device__ float load(const float *p, int pitch, int x, int y) { return p[(size_t)y * pitch + x]; }
__device__ float byRef(const Image &v, int x, int y) { return v.data[(size_t)y * v.pitch + x]; }
__device__ float byVal(Image v, int x, int y) { return v.data[(size_t)y * v.pitch + x]; }
__device__ float inside(const Image &v, int x, int y) {
  if (x < 0 || y < 0 || x >= v.width || y >= v.height)
    return 0.f;
  return byRef(v, x, y);
}
__device__ float changed(Image v, int x, int y) {
  v.data += 1;
  return v.data[y * v.pitch + x - 1];
}
__device__ void next(const float *&p) { ++p; }
__device__ float lent(Image v, int x, int y) {
  next(v.data);
  return v.data[y * v.pitch + x - 1];
}
#define STENCIL(NAME, ELEMENT, OTHER)                                                              \
  __global__ void NAME(Image img, Image other, float *out) {                                       \
    __shared__ float t[10][34];                                                                    \
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;                 \
    OTHER;                                                                                         \
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256) {                              \
      const int r = k / 34, c = k - r * 34, X = blockIdx.x * 32 + c, Y = blockIdx.y * 8 + r;       \
      t[r][c] = ELEMENT;                                                                           \
    }                                                                                              \
    __syncthreads();                                                                               \
    out[y * 128 + x] = t[threadIdx.y][threadIdx.x + 1] - t[threadIdx.y + 2][threadIdx.x + 1] +     \
                       t[threadIdx.y + 1][threadIdx.x];                                            \
  }
STENCIL(method, img.at(X, Y), )
STENCIL(clampedMethod, img.clamped(X - 1, Y - 1), )
STENCIL(pointerAndPitch, load(img.data, img.pitch, X, Y), )
STENCIL(byReference, byRef(img, X, Y), )
STENCIL(byValue, byVal(img, X, Y), )
STENCIL(handedOn, inside(img, X - 1, Y - 1), )
STENCIL(changedCopy, changed(img, X, Y), )
STENCIL(anotherObject, byRef(v, X, Y), Image v = img; if (y > 9) v = other)
STENCIL(lentMember, lent(img, X, Y), )
int main() {
  const int pitch = 151, rows = 60;
  Buffer<float> a(randoms<float>(pitch * rows)), b(randoms<float>(pitch * rows)), out(128 * 48);
  for (int less : {0, 13}) {
    const Image img = {a.Data, 130 - less, 50 - less, pitch}, other = {b.Data, 130, 50, pitch - 3};
#define RUN(K) K<<<dim3(4, 6), dim3(32, 8)>>>(img, other, out.Data), out.show(#K, less)
    RUN(method);
    RUN(clampedMethod);
    RUN(pointerAndPitch);
    RUN(byReference);
    RUN(byValue);
    RUN(handedOn);
    RUN(changedCopy);
    RUN(anotherObject);
    RUN(lentMember);
  }
}
