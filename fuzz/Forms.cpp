// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Forms.h.

#include "Forms.h"
#include "Names.h"

namespace rcache::fuzz {

unsigned Forms::form(const std::string &Where, unsigned N) {
  if (!C.chance(Where + "Odd", Odd))
    return 0;
  return 1 + C.pick(Where, N - 1);
}

std::string Forms::helper(const std::string &Text) {
  std::string Name = fresh("h") + "_" + Kernel;
  Before += sub(Text, {{"h", Name}});
  return Name;
}

std::string Forms::counter(const std::string &Init, const std::string &Type) {
  static const char *const Stems[] = {"c", "e", "count", "at", "k", "slot"};
  std::string Name = fresh(Stems[C.pick("name" + num(Count), 6)]);
  Top += "  " + Type + " " + Name + " = " + Init + ";\n";
  if (!C.chance("unseen" + Name, 20))
    Observed.push_back(Type == "int" ? Name : "(int)" + Name);
  return Name;
}

std::string Forms::integer(const std::string &Where, const std::string &V,
                           std::string &Pre, Place P) {
  enum : unsigned { N = 58 };
  if (auto It = Same.find(V); It != Same.end() && C.chance(Where + "Reuse", 60))
    return It->second;
  unsigned F = form(Where, N);
  if (F == 0)
    return V;
  Choices::Scope Sc(C, Where);
  // Forms that count do not go where something runs more than once.
  const bool Counts = (F >= 2 && F <= 7) || F == 32 || F == 33;
  if (Counts && P.Repeats)
    F = 1;
  if (F < 44) {
    // Some of the variables are declared here, with a value, where that can be.
    const bool Here = P.Once && !P.Repeats && C.chance("here", 40);
    std::string E;
    auto Var = [&](const std::string &Init) {
      if (!Here) {
        E = counter();
        if (Init != "0")
          Pre += "  " + E + " = " + Init + ";\n";
        return;
      }
      E = fresh("v");
      static const char *const How[] = {
          "int $E = $I;",          "int $E($I);",
          "int $E{(int)($I)};",    "auto $E = (int)($I);",
          "int $E = {(int)($I)};", "int $E = $I, *$E_p = &$E;"};
      Pre += "  " +
             sub(How[C.pick("how", 6)],
                 {{"E_p", E + "_p"}, {"E", E}, {"I", Init}}) +
             "\n";
      if (!C.chance("unseen", 20))
        Observed.push_back(E);
    };
    const bool Sure = P.Once && !P.Repeats;
    auto Text = [&](const std::string &S) {
      return sub(S, {{"E", E}, {"V", V}});
    };
    switch (F) {
    case 1:
      Var("-1");
      if (Sure)
        Same[V] = E;
      return Text("($E = $V)");
    case 2:
      Var(V);
      if (Sure)
        Same[V] = "(" + E + " - 1)";
      return Text("$E++");
    case 3:
      Var("(" + V + ") + 1");
      if (Sure)
        Same[V] = E;
      return Text("--$E");
    case 4:
      Var("0");
      return Text("($E += $V)");
    case 5:
      Var("(" + V + ") - 1");
      return Text("++$E");
    case 6:
      Var(V);
      return Text("$E--");
    case 7:
      Var("2 * (" + V + ")");
      return Text("($E /= 2)");
    case 8:
      Var("0");
      return Text("($E++, $V)");
    case 9: {
      Var("0");
      std::string H = helper("__device__ int $h(int v, int *o) {\n  *o += v;\n"
                             "  return v;\n}\n");
      return Text(H + "($V, &$E)");
    }
    case 10: {
      Var("0");
      std::string H =
          helper("__device__ __forceinline__ int $h(const int v, int &o) {\n"
                 "  o = o * 3 + v;\n  return v;\n}\n");
      return Text(H + "($V, $E)");
    }
    case 11: {
      Var("0");
      std::string H = helper("template <class I>\nstatic __device__ inline I "
                             "$h(I v, I &o) { return ++o, v; }\n");
      return Text(H + "<int>($V, $E)");
    }
    case 12:
      Var("0");
      return Text("([&] { $E += 3; return $V; }())");
    case 13: {
      Var("0");
      std::string L = fresh("fn");
      Pre += Text("  auto " + L + " = [&](int v) { $E ^= v; return v; };\n");
      return Text(L + "($V)");
    }
    case 14: {
      Var("5");
      std::string L = fresh("fn");
      Pre +=
          Text("  auto " + L + " = [$E](int v) mutable { return $E++, v; };\n");
      return Text(L + "($V)");
    }
    case 15: {
      Var("0");
      std::string H = helper("#define $h(e, v) ((e)++, (v))\n");
      return Text(H + "($E, $V)");
    }
    case 16: {
      Var("0");
      std::string H = helper("#define $h(e, v) (e = (v))\n");
      return Text(H + "($E, $V)");
    }
    case 17: {
      Var("0");
      std::string H = helper("#define $h(...) (__VA_ARGS__)\n");
      return Text(H + "($E++, $E++, $V)");
    }
    case 18:
      Var("0");
      return Text("(n > -5 && ++$E ? $V : 0)");
    case 19:
      Var("0");
      return Text("($V + 0 * (int)sizeof($E++))");
    case 20:
      Var("0");
      return Text("(n < 0 ? $E++ : $V)");
    case 21:
      Var("0");
      return Text("(noexcept($E++), $V)");
    case 22:
      Var("0");
      return Text("decltype($E++)($V)");
    case 23: {
      Var("0");
      std::string R = fresh("r");
      Pre += Text("  int &" + R + " = $E;\n");
      return Text("(" + R + " = $V)");
    }
    case 24: {
      Var("0");
      std::string Q = counter();
      return Text("((threadIdx.x & 1 ? $E : " + Q + ") = $V)");
    }
    case 25: {
      Var("0");
      std::string Q = counter();
      return Text("($E = " + Q + " = $V)");
    }
    case 26: {
      Var("0");
      std::string Q = fresh("p");
      Pre += Text("  int *" + Q + " = &$E;\n");
      return Text("(*" + Q + " = $V)");
    }
    case 27: {
      Var("0");
      std::string H = helper("__device__ int &$h(int &x) { return x; }\n");
      return Text("(" + H + "($E) = $V)");
    }
    case 28:
      Var("0");
      return Text("({ int q = $V; $E += q; q; })");
    case 29:
      Var("0");
      return Text("($V + ($E++ & 0))");
    case 30: {
      Var("0");
      std::string H =
          helper("struct $h {\n  int *to;\n  __device__ int operator()(int v) "
                 "const { return ++*to, v; }\n};\n");
      return Text(H + "{&$E}($V)");
    }
    case 31: {
      Var("0");
      std::string H = helper(
          "struct $h {\n  int &to;\n  int v;\n  __device__ $h(int &to, int v) "
          ": to(to), v(v) {}\n  __device__ operator int() const { return to++, "
          "v; }\n};\n");
      return Text("(int)" + H + "($E, $V)");
    }
    case 32: {
      Var("0");
      std::string A = fresh("tab");
      Pre += Text("  int " + A + "[3] = {(int)($V), 7, 9};\n");
      return Text(A + "[$E++]");
    }
    case 33: {
      Var("1");
      std::string A = fresh("tab");
      Pre += Text("  const int " + A + "[] = {(int)($V), 3};\n");
      return Text("*(" + A + " + --$E)");
    }
    case 34: {
      Var("0");
      std::string H =
          helper("struct $h {\n  int v = 0;\n  __device__ int next(int x) {\n"
                 "    v += x;\n    return x;\n  }\n};\n");
      std::string Q = fresh("cur");
      Pre += "  " + H + " " + Q + ";\n";
      std::string R = Text("($E = " + Q + ".next($V), " + Q + ".v)");
      return R;
    }
    case 35: {
      Var("0");
      std::string H = helper(
          "struct $h {\n  int v;\n};\n"
          "__device__ int operator<<($h &l, int r) { return l.v = r; }\n");
      std::string Q = fresh("log");
      Top += "  " + H + " " + Q + " = {4};\n";
      Observed.push_back(Q + ".v");
      return Text("(" + Q + " << $V)");
    }
    case 36: {
      Var("0");
      std::string Q = fresh("bits");
      Top += "  struct {\n    int v : 20;\n    unsigned w : 3;\n  } " + Q +
             " = {1, 2};\n";
      Observed.push_back(Q + ".v");
      return Text("(" + Q + ".v = $V)");
    }
    case 37: {
      Var("0");
      std::string Q = fresh("u");
      Top += "  union {\n    int i;\n    unsigned w;\n  } " + Q + " = {3};\n";
      Observed.push_back(Q + ".i");
      return Text("(" + Q + ".i = $V)");
    }
    case 38: {
      Var("0");
      UsesHits = true;
      return Text("(atomicAdd(hits, 1), $V)");
    }
    case 39: {
      Var("0");
      UsesLog = true;
      return Text("(log[" + Thread + "] = $V)");
    }
    case 40: {
      Var("0");
      UsesLog = true;
      return Text("(log[" + Thread + "]++, $V)");
    }
    case 41: {
      Var("0");
      return Text("($E = $V, $E)");
    }
    case 42: {
      Var("0");
      std::string H =
          helper("template <class... A>\n__device__ int $h(int &e, A... a) {\n"
                 "  ((e += a), ...);\n  return (a, ...);\n}\n");
      return Text(H + "($E, 1, 2, $V)");
    }
    case 43: {
      Var("0");
      return Text("([&](auto &x, auto v) { x = v; return v; }($E, $V))");
    }
    }
  }
  auto Text = [&](const std::string &S) { return sub(S, {{"V", V}}); };
  switch (F) {
  case 44:
    return Text("static_cast<int>($V)");
  case 45:
    return Text("int($V)");
  case 46:
    return Text("int{(int)($V)}");
  case 47:
    return Text("(int)(unsigned)($V)");
  case 48: {
    std::string H = helper("enum class $h : int { none, some };\n");
    return Text("static_cast<int>(" + H + "($V))");
  }
  case 49: {
    std::string H = helper("__host__ __device__ constexpr int $h(int v) {\n"
                           "  int r = 0;\n  for (int i = 0; i < 2; ++i)\n"
                           "    r += v;\n  return r / 2;\n}\n");
    return Text(H + "($V)");
  }
  case 50:
    return Text("($V + 0x1'0 - 16)");
  case 51:
    return Text("($V + 'a' - 97 /* ) ; */)");
  case 52:
    return Text("($V bitor 0)");
  case 53:
    return Text("max($V, -1)");
  case 54: {
    std::string W = fresh("w");
    Pre += Text("  int " + W + "a = $V, " + W + "b = $V;\n");
    return "*(threadIdx.x & 1 ? &" + W + "a : &" + W + "b)";
  }
  case 55: {
    std::string H = helper("template <int N>\nstruct $h {\n  static constexpr "
                           "int zero = N - N;\n  static __device__ int of(int "
                           "v) { return v + zero; }\n};\n");
    return Text(H + "<3>::of($V)");
  }
  case 56: {
    std::string H =
        helper("__device__ int $h(int v, int w = 2) { return v + w - 2; }\n");
    return Text(H + "($V)");
  }
  default: {
    std::string H = helper("struct $h {\n  int v, w;\n};\n");
    std::string A = fresh("q");
    Pre += Text("  auto [" + A + "a, " + A + "b] = " + H + "{(int)($V), 1};\n");
    return A + "a";
  }
  }
}

std::string Forms::value(const std::string &Where, const std::string &Type,
                         const std::string &V, std::string &Pre, Place P,
                         const std::string &Array, const std::string &Index) {
  enum : unsigned { N = 36 };
  unsigned F = form(Where, N);
  if (F == 0)
    return V;
  Choices::Scope Sc(C, Where);
  if (F >= 27 && (Array.empty() || P.Repeats))
    F -= 26;
  std::string E;
  auto Text = [&](const std::string &S) {
    return sub(S,
               {{"E", E}, {"V", V}, {"T", Type}, {"A", Array}, {"I", Index}});
  };
  switch (F) {
  case 1:
    E = counter("0", Type);
    return Text("($E = $V)");
  case 2:
    E = counter();
    return Text("($E++, $V)");
  case 3: {
    E = counter();
    std::string H = helper(Text("__device__ $T $h($T v, int *o) {\n"
                                "  *o = *o + 5;\n  return v;\n}\n"));
    return Text(H + "($V, &$E)");
  }
  case 4: {
    E = counter("0", Type);
    std::string H = helper(Text("__device__ bool $h($T v, $T &o) {\n"
                                "  o = v;\n  return true;\n}\n"));
    return Text("(" + H + "($V, $E) ? $E : $T(1))");
  }
  case 5:
    E = counter();
    return Text("[&] { ++$E; return $T($V); }()");
  case 6:
    E = counter("0", Type);
    return Text("[&]($T v) -> $T { return $E = v; }($V)");
  case 7: {
    E = counter();
    std::string H = helper("#define $h(v) ((at_$h)++, (v))\n");
    Pre += "  int &at_" + H + " = " + E + ";\n";
    return Text(H + "($V)");
  }
  case 8: {
    E = counter("0", Type);
    std::string H = helper("#define $h(x, v) (x) = (v)\n");
    return Text("(" + H + "($E, $V))");
  }
  case 9:
    E = counter();
    return Text("(threadIdx.x & 1 ? $T($E++ ? $V : $V) : $T($V))");
  case 10:
    return Text("$T($V)");
  case 11:
    return Text("$T{$V}");
  case 12:
    return Text("static_cast<$T>($V)");
  case 13: {
    std::string H = helper(Text("struct $h {\n  $T v;\n  int w;\n};\n"));
    return Text(H + "{$T($V), 2}.v");
  }
  case 14: {
    E = counter();
    return Text("$T($V + $T($E++ * 0))");
  }
  case 15: {
    std::string R = fresh("ref");
    Pre += Text("  const $T &" + R + " = $V;\n");
    return R;
  }
  case 16: {
    std::string R = fresh("val");
    Pre += Text("  $T " + R + "($V);\n");
    return R;
  }
  case 17: {
    std::string R = fresh("val");
    Pre += Text("  $T " + R + "[2] = {$T(1), $T($V)};\n");
    return R + "[1]";
  }
  case 18: {
    std::string R = fresh("val");
    Pre += Text("  $T " + R + " = $V, *" + R + "_p = &" + R + ";\n");
    return "*" + R + "_p";
  }
  case 19: {
    E = counter("0", Type);
    return Text("({ $E = $V; $E; })");
  }
  case 20: {
    E = counter();
    UsesHits = true;
    return Text("(atomicAdd(hits, 2), $V)");
  }
  case 21: {
    UsesLog = true;
    return Text("(log[" + Thread + "] += 3, $V)");
  }
  case 22: {
    E = counter("0", Type);
    std::string W = counter("0", Type);
    return Text("(($E = $V), (" + W + " = $E))");
  }
  case 23: {
    std::string H = helper(
        Text("struct $h {\n  $T v;\n  __device__ explicit $h($T x) : v(x) {}\n"
             "  __device__ operator $T() const { return v; }\n};\n"));
    return Text("$T(" + H + "($V))");
  }
  case 24: {
    E = counter("0", Type);
    std::string Q = fresh("q");
    Pre += Text("  $T *" + Q + " = &$E;\n");
    return Text("(*" + Q + " = $V)");
  }
  case 25: {
    E = counter("0", Type);
    return Text("(n > 0 || ($E = 1) ? $V : $V)");
  }
  case 26: {
    E = counter();
    return Text("(($E += 2), ($V))");
  }
  // Memory.
  case 27: {
    E = fresh("p");
    if (P.Once && C.chance("here", 40))
      Pre += Text("  const $T *$E = $A + ($I);\n");
    else {
      Top += Text("  const $T *$E = $A;\n");
      Pre += Text("  $E = $A + ($I);\n");
      Observed.push_back(Text("(int)($E - $A)"));
    }
    return Text("*$E++");
  }
  case 28: {
    E = counter();
    return Text("$A[$E = $I]");
  }
  case 29:
    return Text("($I)[$A]");
  case 30:
    return Text("*($A + ($I))");
  case 31:
    return Text("*&$A[$I]");
  case 32: {
    E = counter();
    Pre += Text("  $E = $I;\n");
    return Text("$A[$E++]");
  }
  case 33: {
    E = fresh("p");
    std::string W = counter();
    Pre += Text("  const $T *$E = $A;\n");
    return Text("*($E += ($I), " + W + " = 1, $E)");
  }
  case 34: {
    E = fresh("p");
    std::string W = counter();
    Pre += Text("  const $T *$E = $A + ($I);\n");
    return Text("(" + W + "++, *(++$E - 1))");
  }
  default:
    return Text("__ldg(&$A[$I])");
  }
}

std::string Forms::declare(const std::string &Where, const std::string &Type,
                           const std::string &Name, const std::string &V,
                           std::string &Text) {
  enum : unsigned { N = 40 };
  unsigned F = form(Where, N);
  Choices::Scope Sc(C, Where);
  auto Put = [&](const std::string &S) {
    Text += "  " +
            sub(S, {{"T", Type},
                    {"N", Name},
                    {"N_p", Name + "_p"},
                    {"N_q", Name + "_q"},
                    {"N_s", Name + "_s"},
                    {"V", V}}) +
            "\n";
  };
  switch (F) {
  case 0:
    Put("$T $N = $V;");
    return Name;
  case 1:
    Put("$T $N($V);");
    return Name;
  case 2:
    Put("$T $N{$T($V)};");
    return Name;
  case 3:
    Put("$T $N = {$T($V)};");
    return Name;
  case 4:
    Put("auto $N = static_cast<$T>($V);");
    return Name;
  case 5:
    Put("$T $N;\n  $N = $V;");
    return Name;
  case 6:
    Put("const $T $N = $V;");
    return Name;
  case 7:
    Put("$T $N = $V, *$N_p = &$N;");
    return "(*" + Name + "_p)";
  case 8:
    Put("$T $N_s[1] = {$T($V)};");
    return Name + "_s[0]";
  case 9:
    Put("const $T &$N = $V;");
    return Name;
  case 10:
    Put("auto &&$N = $T($V);");
    return Name;
  case 11: {
    std::string H = helper("template <class T>\nstruct $h {\n  T a;\n  int b "
                           "= 3;\n};\n");
    Put("auto [$N, $N_q] = " + H + "<$T>{$T($V)};");
    return Name;
  }
  case 12: {
    std::string H =
        helper("template <class T>\nstruct $h {\n  int z;\n  T a;\n};\n");
    Put(H + "<$T> $N_s = {.z = 2, .a = $T($V)};");
    return Name + "_s.a";
  }
  case 13:
    Put("struct {\n    $T v;\n    int w = 4;\n  } $N_s{$T($V)};");
    return Name + "_s.v";
  case 14:
    Put("struct Local_$N {\n    $T v;\n  };\n  Local_$N $N_s;\n  $N_s.v = $V;");
    return Name + "_s.v";
  case 15:
    Put("union {\n    $T v;\n    char w;\n  } $N_s;\n  $N_s.v = $V;");
    return Name + "_s.v";
  case 16:
    Put("decltype($T()) $N($V);");
    return Name;
  case 17:
    Put("$T $N_s = $V;\n  $T &$N = $N_s;");
    return Name;
  case 18: {
    std::string H = helper(
        "template <class T>\nstruct $h {\n  T v;\n  __device__ explicit $h(T "
        "x) : v(x) {}\n  __device__ operator T() const { return v; }\n};\n");
    Put(H + "<$T> $N($V);");
    return Type + "(" + Name + ")";
  }
  case 19:
    Put("$T $N_s[2][2] = {{}, {$T($V)}};");
    return Name + "_s[1][0]";
  case 20:
    Put("$T($N) = $V;");
    return Name;
  case 21:
    Put("$T $N_s = $V, $N_q = $N_s, *$N_p = n > 2 ? &$N_s : &$N_q;");
    return "*" + Name + "_p";
  case 22:
    Put("$T $N = [&] { return $V; }();");
    return Name;
  case 23:
    Put("auto $N = [v = $T($V)] { return v; };");
    return Name + "()";
  case 24:
    Put("$T $N = $V;\n  $N += 1;\n  $N -= 1;");
    return Name;
  case 25:
    Put("volatile $T $N = $V;");
    return Name;
  case 26:
    Put("[[maybe_unused]] $T $N = $V;");
    return Name;
  case 27:
    Put("alignas(16) $T $N = $V;");
    return Name;
  case 28:
    Put("$T $N = $T(), $N_q = ($N = $V);");
    return Name;
  case 29: {
    std::string H = helper("template <class T>\n__device__ void $h(T *to, T v) "
                           "{\n  *to = v;\n}\n");
    Put("$T $N;\n  " + H + "(&$N, $T($V));");
    return Name;
  }
  case 30: {
    std::string H = helper("template <class T>\n__device__ T &$h(T &to) {\n"
                           "  return to;\n}\n");
    Put("$T $N;\n  " + H + "($N) = $V;");
    return Name;
  }
  case 31:
    Put("$T $N_s[3] = {$T(1), $T($V), $T(2)}, *$N_p = $N_s;");
    return Name + "_p[1]";
  case 32:
    Put("$T $N_s = $V;\n  auto $N_p = &$N_s;\n  auto &$N = *$N_p;");
    return Name;
  case 33:
    Put("using Type_$N = $T;\n  Type_$N $N = Type_$N($V);");
    return Name;
  case 34:
    Put("$T $N;\n  if (($N = $V) == $T(77))\n    $N = $V;");
    return Name;
  case 35:
    Put("$T $N = n > 1 ? $T($V) : $T($V);");
    return Name;
  case 36:
    Put("$T $N_s{}, $N = $V;\n  $T *const $N_p[2] = {&$N_s, &$N};");
    return "*" + Name + "_p[1]";
  case 37:
    Put("struct {\n    $T v;\n    __device__ $T get() const { return v; }\n  } "
        "$N_s = {$T($V)};");
    return Name + "_s.get()";
  case 38:
    Put("$T $N;\n  do {\n    $N = $V;\n  } while (false);");
    return Name;
  default:
    Put("$T $N{};\n  for (int once = 0; once < 1; ++once)\n    $N = $V;");
    return Name;
  }
}

void Forms::declareAll(const std::string &Where, const std::string &Type,
                       const std::vector<Declarator> &D, std::string &Text) {
  Choices::Scope Sc(C, Where);
  // "@0" in a value is the first of them.
  auto Resolved = [&](std::string V) {
    for (size_t At = V.find("@0"); At != std::string::npos; At = V.find("@0"))
      V.replace(At, 2, *D[0].Name);
    return V;
  };
  if (!C.chance("oneStatement", 35)) {
    for (const Declarator &X : D)
      *X.Name = declare(*X.Name, Type, *X.Name, Resolved(X.V), Text);
    return;
  }
  static const char *const Inits[] = {" = $V",
                                      "($V)",
                                      "{$T($V)}",
                                      " = {$T($V)}",
                                      "_s[1] = {$T($V)}",
                                      " = $V, *$N_p = &$N"};
  const bool Const = C.chance("const", 40);
  Text += Const ? "  const " : "  ";
  Text += Type + " ";
  for (size_t I = 0; I < D.size(); ++I) {
    unsigned F = form("init" + num(I), 6);
    const std::string N = *D[I].Name;
    Text += (I ? ", " : "") + N +
            sub(Inits[F], {{"V", Resolved(D[I].V)},
                           {"T", Type},
                           {"N_p", N + "_p"},
                           {"N", N}});
    if (F == 4)
      *D[I].Name = N + "_s[0]";
    if (F == 5)
      *D[I].Name = "(*" + N + "_p)";
  }
  Text += ";\n";
}

std::string Forms::around(const std::string &Where, const std::string &S,
                          Place P) {
  enum : unsigned { N = 43 };
  unsigned F = form(Where, N);
  if (F == 0)
    return "  " + S + ";\n";
  Choices::Scope Sc(C, Where);
  std::string E, L;
  auto Text = [&](const std::string &X) {
    return sub(X, {{"S", S}, {"E", E}, {"L", L}}) + "\n";
  };
  switch (F) {
  case 1:
    return Text("  {\n    $S;\n  }");
  case 2:
    return Text("  if (n > -100)\n    $S;");
  case 3:
    E = counter();
    return Text("  for (int q = 0; q < 1; ++q, ++$E)\n    $S;");
  case 4:
    E = counter();
    if (P.Repeats)
      return Text("  for ($E = 0; $E < 1; ++$E)\n    $S;");
    return Text("  for (; $E < 1; ++$E)\n    $S;");
  case 5:
    return Text("  do {\n    $S;\n  } while (0);");
  case 6:
    E = counter();
    if (P.Repeats)
      return Text("  $E = 0;\n  while ($E++ < 1)\n    $S;");
    return Text("  while ($E++ < 1)\n    $S;");
  case 7:
    E = counter();
    return Text("  switch (n & 1) {\n  case 0:\n    $E++;\n    "
                "[[fallthrough]];\n  default:\n    $S;\n  }");
  case 8:
    return Text("  if constexpr (sizeof(int) == 4)\n    $S;");
  case 9:
    return Text("  for (int q : {0}) {\n    (void)q;\n    $S;\n  }");
  case 10:
    return Text("  [&] { $S; }();");
  case 11: {
    std::string H = helper("#define $h(x) do { x; } while (0)\n");
    return Text("  " + H + "(($S));");
  }
  case 12: {
    std::string H = helper("#define $h(...) __VA_ARGS__\n");
    return Text("  " + H + "($S;)");
  }
  case 13:
    E = counter();
    return Text("  if (int q = $E++; q >= 0)\n    $S;");
  case 14:
    E = counter();
    return Text("  if (n < -50)\n    $E = 9;\n  else\n    $S;");
  case 15:
    L = fresh("skip");
    return Text("  if (n < -50)\n    goto $L;\n  $S;\n$L:;");
  case 16:
    L = fresh("label");
    return Text("$L:\n  $S;");
  case 17:
    E = counter();
    return Text("  $S, $E++;");
  case 18:
    E = counter();
    return Text("  $E--, $S;");
  case 19:
    return Text("  if (n > -100) [[likely]]\n    $S;");
  case 20:
    return Text("  asm volatile(\"\");\n  $S;");
  case 21:
    return Text("  (void)($S);");
  case 22:
    E = counter();
    return Text("  if ($E = 1)\n    $S;");
  case 23:
    return Text("  {\n    static constexpr int once[] = {0};\n    for (const "
                "int q : once)\n      if (q == 0)\n        $S;\n  }");
  case 24:
    return Text("  for (int q = 3; q-- > 0;) {\n    if (q != 1)\n      "
                "continue;\n    $S;\n  }");
  case 25:
    return Text("  for (;;) {\n    $S;\n    break;\n  }");
  case 26:
    return Text("#pragma unroll 1\n  for (int q = 0; q < 1; ++q)\n    $S;");
  case 27:
    return Text("  {\n    struct Local {\n      int x = 1;\n    } local;\n    "
                "if (local.x)\n      $S;\n  }");
  case 28:
    E = counter();
    return Text("  {\n    int &up = $E;\n    up += 4;\n    $S;\n  }");
  case 29:
    return Text("  if (bool yes = n > -100)\n    $S;");
  case 30:
    E = counter();
    return Text("  $E = [&] { $S; return 7; }();");
  case 31:
    return Text("  n > -100 ? (void)($S) : (void)0;");
  case 32:
    return Text("  n > -100 && ($S, true);");
  case 33:
    E = counter();
    return Text("  switch ($E = n & 3) {\n  case 0:\n  case 1: {\n    $S;\n    "
                "break;\n  }\n  default:\n    $S;\n  }");
  case 34:
    return Text("  // comment \\\n     goes on\n  $S;");
  case 35:
    return Text("  /* { */ $S /* ; */;");
  case 36:
    return Text("  ;;\n  $S;;\n  {}");
  case 37:
    E = counter("1");
    return Text("  for (int q = $E; q > 0; q -= $E) {\n    $S;\n  }");
  case 39: // another n in here, and one of another value
    L = fresh("up");
    return Text("  {\n    const int $L = n;\n    {\n      const int n = $L;\n      $S;\n    }\n  }");
  case 40:
    L = fresh("up");
    return "  {\n    const int " + L + " = n;\n    {\n      const int n = " + L + " + 3;\n      " +
           replaceWord(S, "n", "(n - 3)") + ";\n    }\n  }\n";
  case 41:
    L = fresh("init");
    return Text("  switch (const int $L = n; $L & 0) {\n  default:\n    $S;\n  }");
  case 38:
    return Text("#if 1\n  $S;\n#else\n  not C++ ' at all;\n#endif");
  default:
    return Text("  if (n < -100) {\n  } else if (n < -90) {\n  } else {\n    "
                "$S;\n  }");
  }
}

std::string Forms::element(const std::string &Where, const std::string &Type,
                           const std::string &Array, const std::string &Index,
                           std::string &Pre, bool Write, bool IsArray) {
  enum : unsigned { N = 22 };
  unsigned F = form(Where, N);
  if (F == 12 && !IsArray)
    F = 11;
  Choices::Scope Sc(C, Where);
  std::string Q;
  const std::string Const = Write ? "" : "const ";
  auto Text = [&](const std::string &X) {
    return sub(
        X, {{"A", Array}, {"I", Index}, {"T", Type}, {"K", Const}, {"Q", Q}});
  };
  switch (F) {
  case 0:
    return Text("$A[$I]");
  case 1:
    return Text("*($A + ($I))");
  case 2:
    return Text("($I)[$A]");
  case 3:
    return Text("(&$A[0])[$I]");
  case 4:
    return Text("*&$A[$I]");
  case 5:
    return Text("(*&$A)[$I]");
  case 6:
    Q = fresh("p");
    Pre += Text("  $K$T *$Q = $A;\n");
    return Text("$Q[$I]");
  case 7:
    Q = fresh("ra");
    Pre += Text("  auto &$Q = $A;\n");
    return Text("$Q[$I]");
  case 8:
    Q = fresh("fn");
    Pre += Text("  auto $Q = [&](int i) -> $K$T & { return $A[i]; };\n");
    return Text("$Q($I)");
  case 9:
    Q = helper("#define $h(a, i) a[i]\n");
    return Text("$Q($A, $I)");
  case 10:
    Q = helper("#define $h(a, i) (*((a) + (i)))\n");
    return Text("$Q($A, $I)");
  case 11:
    Q = helper("template <class T>\n__device__ T &$h(T *a, int i) { return "
               "a[i]; }\n");
    return Text("$Q($A, $I)");
  case 12:
    Q = helper("template <class T, int N>\n__device__ T &$h(T (&a)[N], int i) "
               "{ return a[i]; }\n");
    return Text("$Q($A, $I)");
  case 13:
    Q = helper("template <class T>\nstruct $h {\n  T *p;\n  __device__ T "
               "&operator[](int i) const { return p[i]; }\n};\n");
    return Text("$Q<$K$T>{$A}[$I]");
  case 14:
    Q = helper("template <class T>\nstruct $h {\n  T *p;\n  __device__ T "
               "&operator()(int i) const { return p[i]; }\n};\n") +
        "<" + Const + Type + ">";
    {
      std::string V = fresh("view");
      Pre += "  " + Q + " " + V + "{" + Array + "};\n";
      return Text(V + "($I)");
    }
  case 15:
    Q = fresh("p");
    Pre += Text("  $K$T *$Q = &$A[$I];\n");
    return "*" + Q;
  case 16:
    Q = fresh("ref");
    Pre += Text("  $K$T &$Q = $A[$I];\n");
    return Q;
  // Pointers that are not followed, or only if somebody thought of it.
  case 17:
    Q = fresh("p");
    Pre += Text("  $K$T *$Q = &$A[$I];\n  $K$T **$Q_at = &$Q;\n");
    return Text("**$Q_at");
  case 18:
    Q = fresh("p");
    Pre += Text("  $K$T *$Q = $A;\n  $Q = $Q == &$A[1] ? &$A[0] : &$A[$I];\n");
    return "*" + Q;
  case 19:
    Q = fresh("p");
    Pre += Text("  $K$T *$Q = ($I) < 0 ? nullptr : &$A[$I];\n");
    return "*" + Q;
  case 20:
    Q = fresh("p");
    Pre += Text("  $K$T *$Q = $A + 1;\n  --$Q;\n");
    return Text("$Q[$I]");
  default:
    return Text("*(($A) + ($I) + 1 - 1)");
  }
}

std::string Forms::condition(const std::string &Where, const std::string &V,
                             std::string &Pre, Place P) {
  enum : unsigned { N = 14 };
  unsigned F = form(Where, N);
  if (F == 0)
    return V;
  Choices::Scope Sc(C, Where);
  std::string E;
  auto Text = [&](const std::string &X) {
    return sub(X, {{"V", V}, {"E", E}});
  };
  switch (F) {
  case 1:
    E = counter();
    return Text("($E = $V)");
  case 2:
    E = counter();
    return Text("$E++ >= 0 && $V");
  case 3:
    E = counter();
    return Text("($E++, $V)");
  case 4:
    E = counter();
    return Text("$V && ++$E");
  case 5:
    E = counter();
    return Text("!(!($V) || ($E--, false))");
  case 6:
    return Text("[&] { return $V; }()");
  case 7: {
    std::string H = helper("#define $h(...) (__VA_ARGS__)\n");
    return Text(H + "($V)");
  }
  case 8: {
    E = counter();
    std::string H = helper("__device__ bool $h(bool b, int &o) {\n  o += 2;\n"
                           "  return b;\n}\n");
    return Text(H + "($V, $E)");
  }
  case 9:
    return Text("not not ($V)");
  case 10:
    E = counter();
    return Text("($V ? ++$E : 0) > 0");
  case 11: {
    std::string B = fresh("b");
    Pre += Text("  const bool " + B + " = $V;\n");
    return B;
  }
  case 12:
    UsesHits = true;
    return Text("(atomicAdd(hits, 1), $V)");
  default: {
    E = counter();
    return Text("($V) == (++$E, true)");
  }
  }
}

std::string perhapsUnder(Choices &C, llvm::ArrayRef<std::string> Conditions,
                         const std::string &Use) {
  if (!C.chance("under", 30))
    return Use;
  const std::string If =
      "if (" + Conditions[C.pick("condition", static_cast<unsigned>(Conditions.size()))] + ")";
  switch (C.weighted("underForm", {50, 25, 25})) {
  case 1: // something behind it in there as well
    return If + " {\n" + Use + "acc += 1;\n}\n";
  case 2:
    return If + " {\n" + Use + "} else {\nacc -= 2;\n}\n";
  default:
    return If + " {\n" + Use + "}\n";
  }
}

} // namespace rcache::fuzz
