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
struct rcache_check_param {
  int Kind, PointeeConst;
  unsigned long Size, ElementSize;
  int ElementKind;
};
template <class T_> constexpr int kind() {
  using U_ = std::remove_cv_t<T_>;
  return std::is_pointer<U_>::value          ? 0
         : std::is_same<U_, bool>::value     ? 4
         : std::is_floating_point<U_>::value ? 3
         : std::is_enum<U_>::value           ? 1
         : std::is_integral<U_>::value ? (std::is_signed<U_>::value ? 1 : 2)
                                      : 5;
}
template <class T_> constexpr unsigned long sizeOf() {
  if constexpr (std::is_void<T_>::value || std::is_function<T_>::value)
    return 1;
  else
    return sizeof(T_);
}
template <class P_> rcache_check_param describe() {
  using T_ = std::remove_cv_t<std::remove_reference_t<P_>>;
  using E_ = std::remove_pointer_t<T_>;
  return {kind<T_>(), std::is_const<E_>::value, sizeof(T_), sizeOf<E_>(),
          kind<E_>()};
}
template <class... P_> int rcache_check_describe(void (*)(P_...), rcache_check_param *Out) {
  rcache_check_param All[] = {describe<P_>()..., {}};
  for (unsigned I_ = 0; Out && I_ < sizeof...(P_); ++I_)
    Out[I_] = All[I_];
  return sizeof...(P_);
}
template <class T_> T_ &at(void *P_) { return *static_cast<T_ *>(P_); }
template <class... P_, size_t... I_>
void rcache_check_direct(void (*K_)(P_...), dim3 G_, dim3 B_, size_t S_, void **A_,
            std::index_sequence<I_...>) {
  K_<<<G_, B_, S_>>>(at<std::remove_cv_t<std::remove_reference_t<P_>>>(A_[I_])...);
}
template <class... P_>
void rcache_check_direct(void (*K_)(P_...), dim3 G_, dim3 B_, size_t S_, void **A_) {
  rcache_check_direct(K_, G_, B_, S_, A_, std::index_sequence_for<P_...>());
}
template <class R_, class... P_, size_t... I_>
void rcache_check_indirect(R_ (*K_)(dim3, dim3, size_t, cudaStream_t, P_...), dim3 G_, dim3 B_,
              size_t S_, void **A_, std::index_sequence<I_...>) {
  K_(G_, B_, S_, nullptr, at<std::remove_cv_t<std::remove_reference_t<P_>>>(A_[I_])...);
}
template <class R_, class... P_>
void rcache_check_indirect(R_ (*K_)(dim3, dim3, size_t, cudaStream_t, P_...), dim3 G_, dim3 B_,
              size_t S_, void **A_) {
  rcache_check_indirect(K_, G_, B_, S_, A_, std::index_sequence_for<P_...>());
}
using rcache_check_size = size_t;
inline dim3 rcache_check_dim(const unsigned *P_) { return dim3(P_[0], P_[1], P_[2]); }
} // namespace rcache_check_driver
)driver";

} // namespace

std::string spelled(std::string Kernel) {
  const std::string Anonymous = "(anonymous namespace)::";
  for (size_t At; (At = Kernel.find(Anonymous)) != std::string::npos;)
    Kernel.erase(At, Anonymous.size());
  // A function that is an argument is told with its parameters: "q<&f(float)>".
  for (size_t At = 0; (At = Kernel.find('&', At)) != std::string::npos;) {
    const size_t From = Kernel.find_first_of("(<>,", ++At);
    if (From == std::string::npos || Kernel[From] != '(' || From == At)
      continue;
    size_t To = From;
    int Depth = 0;
    do
      Depth += Kernel[To] == '(' ? 1 : Kernel[To] == ')' ? -1 : 0;
    while (++To < Kernel.size() && Depth > 0);
    Kernel.erase(From, To - From);
  }
  return Kernel;
}

std::string launchFunction(const std::string &Kernel,
                           const std::string &Suffix) {
  // Template arguments end the name: find the '<' that the last '>' closes.
  if (!Kernel.empty() && Kernel.back() == '>') {
    int Depth = 0;
    for (size_t I = Kernel.size(); I-- > 0;) {
      Depth += Kernel[I] == '>';
      Depth -= Kernel[I] == '<';
      if (!Depth)
        return Kernel.substr(0, I) + Suffix + Kernel.substr(I);
    }
  }
  return Kernel + Suffix;
}

std::string DriverEntry::symbol(const char *What, size_t Number) {
  return std::string("rcache_check_") + What + "_" + std::to_string(Number);
}

/// A name in an #include: nothing in it is escaped, and the sign that ends it
/// cannot stand in it.
static std::string included(const std::string &Path) {
  return Path.find('"') == std::string::npos ? '"' + Path + '"'
                                             : '<' + Path + '>';
}

std::string driverText(const std::string &Source,
                       const std::vector<DriverEntry> &Entries) {
  // The user's macros must not reach the templates, so those come first, and
  // what follows the user's text uses no short name. -D does reach them: no
  // name in them is a single letter.
  std::string Text = std::string(Prologue) +
                     "#define main rcache_check_user_main\n#include " +
                     included(Source) + "\n#undef main\n";
  for (size_t I = 0; I < Entries.size(); ++I) {
    const DriverEntry &E = Entries[I];
    const std::string &Overload = E.Kernel.Overload;
    // Of functions of one name, the one of this type.
    auto OfType = [&](const std::string &Type, const std::string &Name) {
      return Overload.empty() ? "&" + spelled(Name)
                              : "static_cast<" + spelled(Type) + ">(&" +
                                    spelled(Name) + ")";
    };
    const std::string Name = OfType("void (*)" + Overload, E.Kernel.Name);
    Text += "extern \"C\" int " + DriverEntry::symbol("params", I) +
            "(rcache_check_driver::rcache_check_param *rcache_check_p) {\n"
            "  return rcache_check_driver::rcache_check_describe(" +
            Name + ", rcache_check_p);\n}\n";
    auto Launch = [&](const char *How, const std::string &Callee) {
      Text += "extern \"C\" void " + DriverEntry::symbol(How, I) +
              "(const unsigned *rcache_check_d, rcache_check_driver::rcache_check_size "
              "rcache_check_s, void **rcache_check_a) {\n"
              "  rcache_check_driver::rcache_check_" +
              How + "(" + Callee +
              ", rcache_check_driver::rcache_check_dim(rcache_check_d), "
              "rcache_check_driver::rcache_check_dim(rcache_check_d + 3), rcache_check_s, "
              "rcache_check_a);\n}\n";
    };
    if (E.Direct)
      Launch("direct", Name);
    if (E.Indirect)
      Launch("indirect",
             OfType(E.LaunchResult +
                        " (*)(::dim3, ::dim3, rcache_check_driver::rcache_check_size, "
                        "::cudaStream_t" +
                        (Overload.size() > 2 ? ", " : "") +
                        (Overload.empty() ? "" : Overload.substr(1)),
                    launchFunction(E.Kernel.Name, E.LaunchSuffix)));
  }
  return Text;
}

} // namespace rcache::check
