// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Harness.h"

namespace rcache::check {

namespace {

const char *const Prologue = R"driver(
#include <cstddef>
#include <type_traits>
#include <utility>
namespace rcache_check_driver {
struct Param {
  int Kind, PointeeConst;
  unsigned long Size, ElementSize;
  int ElementKind;
};
template <class T> constexpr int kind() {
  using U = std::remove_cv_t<T>;
  return std::is_pointer<U>::value          ? 0
         : std::is_same<U, bool>::value     ? 4
         : std::is_floating_point<U>::value ? 3
         : std::is_enum<U>::value           ? 1
         : std::is_integral<U>::value ? (std::is_signed<U>::value ? 1 : 2)
                                      : 5;
}
template <class T> constexpr unsigned long sizeOf() {
  if constexpr (std::is_void<T>::value || std::is_function<T>::value)
    return 1;
  else
    return sizeof(T);
}
template <class P> Param describe() {
  using T = std::remove_cv_t<std::remove_reference_t<P>>;
  using E = std::remove_pointer_t<T>;
  return {kind<T>(), std::is_const<E>::value, sizeof(T), sizeOf<E>(),
          kind<E>()};
}
template <class... P> int describeAll(void (*)(P...), Param *Out) {
  Param All[] = {describe<P>()..., {}};
  for (unsigned I = 0; Out && I < sizeof...(P); ++I)
    Out[I] = All[I];
  return sizeof...(P);
}
template <class T> T &at(void *P) { return *static_cast<T *>(P); }
template <class... P, size_t... I>
void direct(void (*K)(P...), dim3 G, dim3 B, size_t S, void **A,
            std::index_sequence<I...>) {
  K<<<G, B, S>>>(at<std::remove_cv_t<std::remove_reference_t<P>>>(A[I])...);
}
template <class... P>
void direct(void (*K)(P...), dim3 G, dim3 B, size_t S, void **A) {
  direct(K, G, B, S, A, std::index_sequence_for<P...>());
}
template <class R, class... P, size_t... I>
void indirect(R (*K)(dim3, dim3, size_t, cudaStream_t, P...), dim3 G, dim3 B,
              size_t S, void **A, std::index_sequence<I...>) {
  K(G, B, S, nullptr, at<std::remove_cv_t<std::remove_reference_t<P>>>(A[I])...);
}
template <class R, class... P>
void indirect(R (*K)(dim3, dim3, size_t, cudaStream_t, P...), dim3 G, dim3 B,
              size_t S, void **A) {
  indirect(K, G, B, S, A, std::index_sequence_for<P...>());
}
using Size = size_t;
inline dim3 dim(const unsigned *P) { return dim3(P[0], P[1], P[2]); }
} // namespace rcache_check_driver
)driver";

} // namespace

std::string spelled(std::string Kernel) {
  const std::string Anonymous = "(anonymous namespace)::";
  for (size_t At; (At = Kernel.find(Anonymous)) != std::string::npos;)
    Kernel.erase(At, Anonymous.size());
  return Kernel;
}

std::string launchFunction(const std::string &Kernel) {
  // Template arguments end the name: find the '<' that the last '>' closes.
  if (!Kernel.empty() && Kernel.back() == '>') {
    int Depth = 0;
    for (size_t I = Kernel.size(); I-- > 0;) {
      Depth += Kernel[I] == '>';
      Depth -= Kernel[I] == '<';
      if (!Depth)
        return Kernel.substr(0, I) + "_rc_launch" + Kernel.substr(I);
    }
  }
  return Kernel + "_rc_launch";
}

std::string driverText(const std::string &Source, const std::string &Kernel,
                       bool Indirect) {
  std::string Name = "&" + spelled(Kernel);
  std::string Callee = Indirect ? "&" + spelled(launchFunction(Kernel)) : Name;
  // The user's macros must not reach the templates, so those come first, and
  // what follows the user's text uses no short name.
  return std::string(Prologue) +
         "#define main rcache_check_user_main\n#include \"" + Source +
         "\"\n#undef main\n"
         "extern \"C\" int rcache_check_params(rcache_check_driver::Param "
         "*rcache_check_p) {\n"
         "  return rcache_check_driver::describeAll(" +
         Name +
         ", rcache_check_p);\n}\n"
         "extern \"C\" void rcache_check_launch(const unsigned *rcache_check_d, "
         "rcache_check_driver::Size rcache_check_s, void **rcache_check_a) {\n"
         "  rcache_check_driver::" +
         (Indirect ? "indirect" : "direct") + "(" + Callee +
         ", rcache_check_driver::dim(rcache_check_d), "
         "rcache_check_driver::dim(rcache_check_d + 3), rcache_check_s, "
         "rcache_check_a);\n}\n";
}

} // namespace rcache::check
