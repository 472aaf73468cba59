// Romberg integration, a triangle row in an array of the thread.
#include "bench.h"

#define MAX_LEVEL 12

__device__ double integrand(double x, double p) { return 1.0 / (1.0 + p * x * x); }

__global__ void romberg(const double *param, double *result, int n, int levels) {
  int t = threadIdx.x + blockDim.x * blockIdx.x;
  if (t >= n)
    return;
  double p = param[t];
  double R[MAX_LEVEL];
  double h = 1.0;
  R[0] = 0.5 * h * (integrand(0.0, p) + integrand(1.0, p));
  int points = 1;
  for (int i = 1; i < levels; i++) {
    double sum = 0;
    for (int k = 0; k < points; k++)
      sum += integrand((k + 0.5) * h, p);
    double last = R[0];
    R[0] = 0.5 * (R[0] + h * sum);
    h *= 0.5;
    points *= 2;
    double pow4 = 1.0;
    for (int j = 1; j <= i; j++) {
      pow4 *= 4.0;
      double keep = j < i ? R[j] : 0.0;
      R[j] = R[j - 1] + (R[j - 1] - last) / (pow4 - 1.0);
      last = keep;
    }
  }
  result[t] = R[levels - 1];
}

int main() {
  const int n = 1 << 18;
  std::vector<double> h(n);
  Rng r(331);
  for (auto &v : h)
    v = 1 + 3 * r.uniform();
  double *param = toDevice(h), *result = deviceAlloc<double>(n);
  printTime("romberg", timeMin([&] { romberg<<<n / 128, 128>>>(param, result, n, 7); }));
  printHash("romberg", result, n);
}
