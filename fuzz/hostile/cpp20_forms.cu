#include <compare>
#include <concepts>
#include <cstdio>
#include <type_traits>
struct Cfg { int width = 64, halo = 1; float weight = 0.5f; auto operator<=>(const Cfg &) const = default; };
enum class Side { left, right };
template <class T> concept Number = std::is_arithmetic_v<T>;
template <Number T, Cfg C> __global__ void k(const T *a, T *out, int *aux, int n) {
  using enum Side;
  __shared__ T s[C.width + 2 * C.halo];
  const int t = threadIdx.x, g = blockIdx.x * C.width + t;
  for (int i = t; i < C.width + 2 * C.halo; i += C.width) {
    const int e = blockIdx.x * C.width + i - C.halo;
    if (e >= 0 and e < n) [[likely]] s[i] = a[e]; else [[unlikely]] s[i] = T{};
  }
  __syncthreads();
  constexpr auto at = [](Side x) consteval { return x == left ? 0 : 2; };
  if (g < n) {
    if constexpr (requires(T v) { v + v; }) out[g] = s[t + at(left)] + s[t + at(right)];
    if (const auto o = 0 <=> g; o < 0) aux[g] = int(s[t + 1]);
  }
}
int main() {
  const int m = 4096; const int ns[] = {331, 64, 1, 1000};
  float *a, *out; int *aux;
  cudaMallocManaged(&a, m * 4); cudaMallocManaged(&out, m * 4); cudaMallocManaged(&aux, m * 4);
  for (int n : ns) {
    for (int i = 0; i < m; ++i) { a[i] = i * 7 % 61 - 20; out[i] = -1; aux[i] = -1; }
    k<float, Cfg{.width = 64, .halo = 1}><<<(n + 63) / 64, 64>>>(a, out, aux, n);
    int e = (int)cudaDeviceSynchronize();
    unsigned long long h = 0;
    for (int i = 0; i < m; ++i) h = h * 31 + (int)out[i] * 1000 + aux[i];
    printf("%d %d %llx\n", n, e, h);
  }
}
