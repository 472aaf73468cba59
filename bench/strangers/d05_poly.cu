// Horner's rule with coefficients picked by an index of run time, from a table the thread fills.
#include "bench.h"

template <class T, int DEGREE>
__global__ void evalPiecewise(const T *__restrict__ coef, const T *__restrict__ xs, T *__restrict__ ys, int n, int pieces, int per) {
  // a thread evaluates `per` arguments of its own polynomial; the derivative order changes with the argument
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n)
    return;
  T c[DEGREE + 1];
  for (int i = 0; i <= DEGREE; ++i)
    c[i] = coef[(size_t)i * pieces + t % pieces];
  for (int k = 0; k < per; ++k) {
    T x = xs[(size_t)k * n + t];
    int deg = (int)(x * DEGREE) % (DEGREE + 1);
    T y = c[deg];
    for (int i = deg - 1; i >= 0; --i)
      y = fma(y, x, c[i]);
    ys[(size_t)k * n + t] = y;
  }
}

int main() {
  const int n = 1 << 20, per = 16, pieces = 5000;
  float *coef = toDevice(randomFloats((size_t)12 * pieces, 341, -1, 1));
  float *xs = toDevice(randomFloats((size_t)n * per, 342)), *ys = deviceAlloc<float>((size_t)n * per);
  printTime("evalPiecewise",
            timeMin([&] { evalPiecewise<float, 11><<<n / 256, 256>>>(coef, xs, ys, n, pieces, per); }));
  printHash("evalPiecewise", ys, (size_t)n * per);
}
