// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain kernels, launched in all the ways that host code has: what names the
// function, what stands in the configuration and among the arguments (with
// effects), where the launch stands, and what the host sees of it (error codes,
// counters, attributes).
//
// Of the expressions of one launch, one in the configuration and one among the
// arguments may count something; C++ does not say in which order the others of
// a list are evaluated.

#include "Grammar.h"
#include <algorithm>

namespace rcache::fuzz {

namespace {

class HostKernel {
public:
  HostKernel(Choices &C, const std::string &Name) : C(C), N(Name) {
    K.Name = Name;
    K.PlainData = K.Cxx20 = true;
  }

  KernelText run() {
    static const unsigned Percent[] = {5, 12, 25};
    Odd = Percent[C.weighted("oddness", {45, 35, 20})];
    static const unsigned Blocks[] = {64, 128, 32, 96};
    Block = Blocks[C.weighted("block", {50, 25, 15, 10})];
    Shape = C.weighted("shape", {35, 25, 20, 20});
    Function = form("function", 20);
    names();
    kernels();
    host();
    K.Device = Before + Device + After;
    K.Host = Host;
    return std::move(K);
  }

private:
  Choices &C;
  std::string N; ///< name of the kernel, prefix of its lines of output
  KernelText K;
  unsigned Odd = 10, Block = 64, Shape = 0, Function = 0, Count = 0;
  std::string Before, Device, After, Host, HostTypes;
  std::string TName, BName; ///< element type and block size in the kernel
  std::string Bounds;
  bool Template = false;
  std::string Extra, ExtraArg; ///< a further parameter and its argument
  bool Struct = false;         ///< one struct holds all the parameters
  std::string A = "a", Out = "out", Num = "n"; ///< the parameters' names

  unsigned form(const std::string &Where, unsigned Forms) {
    if (!C.chance(Where + "Odd", Odd))
      return 0;
    return 1 + C.pick(Where, Forms - 1);
  }
  std::string fresh(const std::string &Stem) { return Stem + num(++Count); }
  std::string text(const std::string &S,
                   std::vector<std::pair<std::string, std::string>> V = {}) {
    V.push_back({"K", N});
    V.push_back({"B", num(Block)});
    return sub(S, V);
  }

  void names() {
    static const char *const As[] = {"a",        "in",     "rc_grid",
                                     "rc_block", "rc_src", "x",
                                     "launch",   "stream", "rc_stream"};
    static const char *const Outs[] = {"out",  "rc_merged", "rc_shared",
                                       "dst",  "grid",      "rc_blocks",
                                       "rc_s", "kernel"};
    static const char *const Ns[] = {"n",    "rc_threads", "rc_tx", "size",
                                     "rc_n", "rc_grid_x",  "block", "count"};
    A = As[form("nameIn", 9)];
    Out = Outs[form("nameOut", 8)];
    Num = Ns[form("nameN", 8)];
  }

  /// The kernel's body; \p W: a weight that tells versions apart.
  std::string body(const std::string &T, unsigned W) {
    std::string S = "  __shared__ $T s[$E];\n";
    const std::string Bn = BName.empty() ? num(Block) : BName;
    std::string E = Shape == 2 ? Bn : Bn + " + 2";
    std::string Text;
    if (Struct)
      Text += "  const $T *$A = p.$A;\n  $T *$O = p.$O;\n  int $N = p.$N;\n";
    if (Shape == 3) {
      S = "  extern __shared__ __align__(16) unsigned char mem_$K[];\n  $T *s "
          "= "
          "($T *)mem_$K;\n";
      Text += S + "  const int t = threadIdx.x, g = blockIdx.x * blockDim.x + "
                  "t;\n  s[t] = g < $N ? $A[g] : $T(0);\n  if (t < 2)\n    s[t "
                  "+ blockDim.x] = g + (int)blockDim.x < $N ? $A[g + "
                  "blockDim.x] : $T(0);\n  __syncthreads();\n  if (g < $N)\n   "
                  " $O[g] = s[t] + $W * s[t + 1] + s[t + 2]$X;\n";
    } else {
      Text += S + "  const int t = threadIdx.x;\n  const int g = blockIdx.x * "
                  "$B + t;\n";
      if (Shape == 0)
        Text += "  s[t] = g < $N ? $A[g] : $T(0);\n  if (t < 2)\n    s[t + $B] "
                "= g + $B < $N ? $A[g + $B] : $T(0);\n  __syncthreads();\n  if "
                "(g < $N)\n    $O[g] = s[t] + $W * s[t + 1] + s[t + 2]$X;\n";
      else if (Shape == 1)
        Text +=
            "  s[t + 1] = g < $N ? $A[g] : $T(0);\n  if (t == 0)\n    s[0] "
            "= g > 0 ? $A[g - 1] : $T(0);\n  if (t == $B - 1)\n    s[$B + "
            "1] = g + 1 < $N ? $A[g + 1] : $T(0);\n  __syncthreads();\n  if "
            "(g >= $N)\n    return;\n  $O[g] = s[t] + $W * s[t + 1] - s[t + "
            "2]$X;\n";
      else
        Text += "  s[t] = g < $N ? $A[g] : $T(0);\n  __syncthreads();\n  if (g "
                "< $N)\n    $O[g] = $W * s[$B - 1 - t] + s[t]$X;\n";
    }
    return sub(Text, {{"T", T},
                      {"E", E},
                      {"B", Bn},
                      {"A", A},
                      {"O", Out},
                      {"N", Num},
                      {"W", num(W)},
                      {"K", N},
                      {"X", Extra.empty() ? "" : " + " + Extra}});
  }

  std::string parameters(const std::string &T) {
    if (Struct)
      return "Args_" + N + "<" + T + "> p";
    std::string Restrict = C.chance("restrict", 50) ? "__restrict__ " : "";
    std::string P = "const " + T + " *" + Restrict + A + ", " + T + " *" +
                    Restrict + Out + ", ";
    switch (form("parameterN", 4)) {
    case 1:
      P += "const int " + Num;
      break;
    case 2:
      P += "int " + Num + "/* , elements */";
      break;
    case 3:
      P += "Int_" + N + " " + Num;
      Before += "typedef int Int_" + N + ";\n";
      break;
    default:
      P += "int " + Num;
    }
    if (!Extra.empty())
      P += ", " + T + " " + Extra;
    return P;
  }

  std::string define(const std::string &Head, const std::string &Name,
                     const std::string &T, unsigned W) {
    return Head + "__global__ void " + Bounds + Name + "(" + parameters(T) +
           ") {\n" + body(T, W) + "}\n";
  }

  std::string Callee; ///< in front of <<<
  std::string Types[2] = {"float", "float"};
  std::string AfterHost; ///< text behind the host function
  std::string UsingInHost; ///< in front of a launch, in the same function

  void kernels() {
    switch (form("bounds", 5)) {
    case 1:
      Bounds = "__launch_bounds__(" + num(Block) + ") ";
      break;
    case 2:
      Before +=
          "#define BOUNDS_" + N + " __launch_bounds__(" + num(Block) + ", 2)\n";
      Bounds = "BOUNDS_" + N + " ";
      break;
    case 3:
      Bounds = "__attribute__((launch_bounds(" + num(Block) + "))) ";
      break;
    case 4:
      Bounds = "__launch_bounds__(2 * " + num(Block) + ") ";
      break;
    }
    Struct = form("struct", 3) == 1;
    if (Struct)
      Before += "template <class T> struct Args_" + N + " {\n  const T *" + A +
                ";\n  T *" + Out + ";\n  int " + Num + ";\n};\n";
    else if (form("extra", 3) == 1)
      Extra = "more";
    static const char *const Elements[] = {"float", "int", "double", "short"};
    Types[0] = Types[1] = Elements[C.weighted("type", {60, 20, 12, 8})];
    const std::string &T = Types[0];
    Callee = N;
    const std::string Other = T == "float" ? "int" : "float";
    switch (Function) {
    case 1:
      Device = "static " + define("", N, T, 2);
      break;
    case 2:
      Device = "namespace n_" + N + " {\n" + define("", N, T, 2) + "}\n";
      Callee = "n_" + N + "::" + N;
      break;
    case 3:
      Device = "namespace {\n" + define("", N, T, 2) + "}\n";
      break;
    case 4:
      Device = define("template <class T>\n", N, "T", 2);
      Callee = N + "<" + T + ">";
      break;
    case 5:
      BName = "B";
      Device = define("template <class T, int B>\n", N, "T", 2);
      Callee = N + "<" + T + ", " + num(Block) + ">";
      break;
    case 6: // a specialisation
      Device = define("template <class T>\n", N, "T", 2) +
               define("template <>\n", N + "<" + Other + ">", Other, 5);
      Template = true;
      Types[1] = Other;
      break;
    case 7: // overloads
      Device = define("", N, T, 2) + define("", N, Other, 7);
      Types[1] = Other;
      break;
    case 8: // a template and an overload
      Device =
          define("template <class T>\n", N, "T", 2) + define("", N, Other, 4);
      Types[1] = Other;
      break;
    case 9:
      Device = "extern \"C\" " + define("", N, T, 2);
      break;
    case 10: // declared before, defined behind the launch
      Device = "__global__ void " + N + "(" + parameters(T) + ");\n";
      AfterHost = define("", N, T, 2);
      break;
    case 11: { // a macro makes it
      std::string D = define("", "name", T, 2), M;
      for (char Ch : D)
        M += Ch == '\n' ? std::string(" \\\n") : std::string(1, Ch);
      Device = "#define DEFINE_" + N + "(name) \\\n" + M + "\nDEFINE_" + N +
               "(" + N + ")\n";
      break;
    }
    case 12:
      Device = "namespace n_" + N + " {\n" + define("", N, T, 2) + "}\n";
      UsingInHost = "  using n_" + N + "::" + N + ";\n";
      break;
    case 13:
      Device = "namespace n_" + N +
               " {\ninline namespace v1 {\nnamespace deep "
               "{\n" +
               define("", N, T, 2) + "}\n}\n}\nnamespace short_" + N + " = n_" +
               N + "::deep;\n";
      Callee = "short_" + N + "::" + N;
      break;
    case 14:
      BName = "B";
      Device =
          define("template <class T = " + T + ", int B = " + num(Block) + ">\n",
                 N, "T", 2);
      Callee = N + "<>";
      break;
    case 15:
      Device = "namespace n_" + N +
               " {\nnamespace rcache {\nstruct device {};\n"
               "}\n" +
               define("", N, T, 2) + "}\n";
      Callee = "::n_" + N + "::" + N;
      break;
    case 16:
      Device = "__global__ void " + N +
               "_rc(int *x) { *x = 3; }\nstatic void " + N +
               "_rc_launch(int) {}\nstruct " + N + "_rc_any_block {};\n" +
               define("", N, T, 2);
      break;
    case 17:
      Device = define("template <class T>\n", N, "T", 2) +
               "template __global__ void " + N + "<" + T + ">(" +
               parameters(T) + ");\n";
      Callee = "(" + N + "<" + T + ">)";
      break;
    case 18:
      BName = "int(Size)";
      Device = "enum class Size_" + N + " { one = " + num(Block) + " };\n" +
               define("template <Size_" + N + " Size>\n", N, T, 2);
      Callee = N + "<Size_" + N + "::one>";
      break;
    case 19:
      Device = "using namespace std;\nnamespace n_" + N + " {\n" +
               define("", N, T, 2) + "}\nusing namespace n_" + N + ";\n";
      break;
    default:
      Device = define("", N, T, 2);
    }
  }

  // ---- the launch

  std::string Pre, Post; ///< around the launch
  bool CountsArgs = false, CountsConfig = false;

  std::string counter() {
    std::string E = fresh("count");
    Pre += "    int " + E + " = 0;\n";
    Post += "    fz::note(\"" + N + "\", " + E + ");\n";
    return E;
  }
  /// May this list hold something that counts (one each)?
  static bool take(bool &Taken) {
    if (Taken)
      return false;
    return Taken = true;
  }

  std::string argument(const std::string &Where, const std::string &V,
                       const std::string &Type, bool Pointer) {
    unsigned F = form(Where, 16);
    Choices::Scope Sc(C, Where);
    if (F >= 7 && !take(CountsArgs))
      F -= 6;
    F = F > 14 ? 14 : F;
    auto Text = [&](const std::string &S, const std::string &E = "") {
      return sub(S, {{"V", V}, {"T", Type}, {"E", E}, {"K", N}});
    };
    switch (F) {
    case 1:
      return Text("($T)$V");
    case 2: {
      std::string X = fresh("x");
      Pre += Text("    $T $E = $V;\n", X);
      return X;
    }
    case 3:
      return Pointer ? Text("&$V[0]") : Text("decltype($V)($V)");
    case 4: {
      std::string X = fresh("x");
      Pre += Text("    struct {\n      $T v;\n    } $E = {$V};\n", X);
      return X + ".v";
    }
    case 5:
      return Pointer ? Text("$V + 0") : Text("(long long)$V");
    case 6: {
      std::string M = fresh("ARG") + "_" + N;
      HostTypes += "#define " + M + "(x) (x)\n";
      return M + "(" + V + ")";
    }
    case 7:
      return Text("($E++, $V)", counter());
    case 8: {
      std::string X = fresh("x");
      Pre += Text("    $T $E[2] = {$V, $V};\n", X);
      return X + "[" + counter() + "++]";
    }
    case 9: {
      std::string X = fresh("x");
      if (Pointer) {
        Pre += Text("    $T $E = $V;\n", X);
        Post += Text("    fz::note(\"$K\", (int)($E - $V));\n", X);
      } else {
        Pre += Text("    $T $E = $V;\n", X);
        Post += Text("    fz::note(\"$K\", (int)$E);\n", X);
      }
      return X + "++";
    }
    case 10: {
      std::string E = counter();
      return Text("[&] { $E += 2; return $V; }()", E);
    }
    case 11: {
      std::string H = fresh("Conv") + "_" + N;
      HostTypes += Text("struct $E {\n  $T v;\n  int *n;\n  operator $T() "
                        "const {\n    ++*n;\n    return v;\n  }\n};\n",
                        H);
      return H + "{" + V + ", &" + counter() + "}";
    }
    case 12: {
      std::string H = fresh("pass") + "_" + N;
      HostTypes += Text("template <class T> static T $E(T v, int &n) {\n  "
                        "n += 3;\n  return v;\n}\n",
                        H);
      return H + "<" + Type + ">(" + V + ", " + counter() + ")";
    }
    case 13: {
      std::string X = fresh("x");
      Pre += Text("    $T $E;\n", X);
      return Text("($E = $V)", X);
    }
    case 14: {
      std::string E = counter();
      return Text("(n > 0 ? ($E = 5, $V) : $V)", E);
    }
    default:
      return V;
    }
  }

  /// A dimension: an expression for `dim3` of \p V in x.
  std::string dimension(const std::string &Where, const std::string &V) {
    unsigned F = form(Where, 24);
    Choices::Scope Sc(C, Where);
    if (F >= 17 && !take(CountsConfig))
      F -= 8;
    std::string X = fresh("extent"); // not "dim": the third would be dim3
    auto Text = [&](const std::string &S, const std::string &E = "") {
      return sub(S, {{"V", V},
                     {"X_v", X + "_v"},
                     {"X_of", X + "_"},
                     {"X", X},
                     {"E", E},
                     {"K", N}});
    };
    switch (F) {
    case 1:
      Pre += Text("    dim3 $X($V);\n");
      return X;
    case 2:
      Pre += Text("    dim3 $X;\n    $X.x = $V;\n");
      return X;
    case 3:
      return Text("dim3{(unsigned)($V), 1u, 1u}");
    case 4:
      Pre += Text("    dim3 $X = {unsigned($V), 1, 1};\n");
      return X;
    case 5:
      Pre += Text("    const int $X = $V;\n");
      return X;
    case 6:
      HostTypes += Text("#define CFG_$X_of$K(v) ((v))\n");
      return Text("CFG_$X_of$K($V)");
    case 7:
      return Text("[&] { return dim3($V); }()");
    case 8:
      Pre += Text("    uint3 $X = make_uint3($V, 1, 1);\n");
      return X;
    case 9:
      Pre += Text("    size_t $X = $V;\n");
      return X;
    case 10:
      Pre += Text("    dim3 $X_v($V), &$X = $X_v;\n");
      return X;
    case 11:
      Pre += Text("    dim3 $X(1);\n    $X.x *= $V;\n");
      return X;
    case 12:
      Pre += Text("    dim3 $X_v[2] = {dim3(1), dim3($V)}, *$X = $X_v;\n");
      return Text("$X[1]");
    case 13:
      Pre += Text("    struct {\n      dim3 d;\n      int z = 0;\n    } "
                  "$X{dim3($V)};\n");
      return Text("$X.d");
    case 14:
      return Text("n > -9 ? dim3($V) : dim3(1)");
    case 15:
      return Text("dim3($V, 1)");
    case 16:
      return Text("static_cast<unsigned>($V)");
    case 17:
      return Text("($E++, $V)", counter());
    case 18: {
      Pre += Text("    int $X = $V;\n");
      Post += Text("    fz::note(\"$K\", $X);\n");
      return Text("$X++");
    }
    case 19: {
      Pre += Text("    int $X[2] = {$V, 9};\n");
      return X + "[" + counter() + "++]";
    }
    case 20: {
      std::string E = counter();
      return Text("[&] { ++$E; return $V; }()", E);
    }
    case 21: {
      Pre += Text("    dim3 $X;\n");
      return Text("($X.x = $V, $X)");
    }
    case 22: {
      HostTypes +=
          Text("static dim3 $X_of$K(unsigned v, int *c) {\n  *c += 7;\n"
               "  return dim3(v);\n}\n");
      return Text("$X_of$K($V, &$E)", counter());
    }
    case 23: {
      Pre += Text("    int $X = ($V) - 1;\n");
      Post += Text("    fz::note(\"$K\", $X);\n");
      return Text("++$X");
    }
    default:
      return V;
    }
  }

  /// The launch of what is in scope as d_a, d_out, n: a statement without its
  /// semicolon, an expression unless \p Expression becomes false.
  std::string launch(const std::string &Where, const std::string &T,
                     bool &Expression) {
    Choices::Scope Sc(C, Where);
    CountsArgs = CountsConfig = false;
    std::string F = Callee;
    if (Template)
      F = N + "<" + T + ">";
    std::string Args;
    std::vector<std::string> Each;
    const std::string CT = "const " + T + " *";
    if (Struct) {
      Each = {"Args_" + N + "<" + T + ">{d_a, d_out, n}"};
      if (C.chance("variable", 60)) {
        std::string X = fresh("args");
        Pre += "    Args_" + N + "<" + T + "> " + X + "{d_a, d_out, n};\n";
        Each = {X};
      }
    } else {
      Each = {argument("in", "d_a", CT, true),
              argument("out", "d_out", T + " *", true),
              argument("n", "n", "int", false)};
      if (!Extra.empty())
        Each.push_back(argument("extra", "(" + T + ")3", T, false));
    }
    for (const std::string &X : Each)
      Args += (Args.empty() ? "" : ", ") + X;
    const std::string B = num(Block);
    std::string Grid = dimension("grid", "(n + " + B + " - 1) / " + B);
    std::string Bl = dimension("block", B);
    std::string Bytes = "0";
    if (Shape == 3) {
      std::string E = "(" + B + " + 2) * sizeof(" + T + ")";
      static const char *const Forms[] = {"$E", "(int)($E)", "bytes",
                                          "$E + 512", "size_t{$E}"};
      unsigned SF = form("bytes", 5);
      Bytes = sub(Forms[SF], {{"E", E}});
      if (SF == 2) {
        Pre += "    const size_t bytes_" + num(++Count) + " = " + E + ";\n";
        Bytes = "bytes_" + num(Count);
      }
      if (C.chance("muchShared", 8)) { // more than what any kernel may have
        std::string Fn = "(const void *)" + F;
        if (Function == 7 || Function == 8)
          Fn = "";
        if (!Fn.empty() && C.chance("allowed", 70))
          Pre += "    fz::note(\"" + N + "\", (int)cudaFuncSetAttribute(" + Fn +
                 ", cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));\n";
        Bytes = "60000";
      }
    }
    std::string Stream = "0";
    switch (form("stream", 8)) {
    case 1:
      Pre += "    cudaStream_t stream;\n    cudaStreamCreate(&stream);\n";
      Post += "    cudaStreamSynchronize(stream);\n    "
              "cudaStreamDestroy(stream);\n";
      Stream = "stream";
      break;
    case 2:
      Stream = "nullptr";
      break;
    case 3:
      Stream = "cudaStream_t{}";
      break;
    case 4:
      Stream = "cudaStreamPerThread";
      Post += "    cudaStreamSynchronize(cudaStreamPerThread);\n";
      break;
    case 5:
      Stream = "cudaStreamLegacy";
      break;
    case 6:
      Pre += "    cudaEvent_t from, to;\n    cudaEventCreate(&from);\n    "
             "cudaEventCreate(&to);\n    cudaEventRecord(from);\n";
      Post += "    cudaEventRecord(to);\n    fz::note(\"" + N +
              "\", (int)cudaEventSynchronize(to));\n    cudaEventDestroy(from);"
              "\n    cudaEventDestroy(to);\n";
      break;
    case 7:
      if (take(CountsConfig))
        Stream = "(" + counter() + "++, (cudaStream_t)0)";
      break;
    }
    std::string Config = Grid + ", " + Bl;
    if (Stream != "0")
      Config += ", " + Bytes + ", " + Stream;
    else if (Bytes != "0")
      Config += ", " + Bytes;
    Expression = true;
    const bool Pointable = Function != 7 && Function != 8;
    unsigned How = form("how", 16);
    if (!Pointable && How >= 3 && How != 9 && How != 10)
      How = 0;
    const std::string X = fresh("v");
    switch (How) {
    case 1:
      HostTypes += "#define LAUNCH_" + N + "_" + X +
                   "(f, g, b, s, t, ...) f<<<g, b, s, t>>>(__VA_ARGS__)\n";
      if (F.find(',') != std::string::npos)
        F = "(" + F + ")";
      return "LAUNCH_" + N + "_" + X + "(" + F + ", (" + Grid + "), (" + Bl +
             "), " + Bytes + ", " + Stream + ", " + Args + ")";
    case 2:
      HostTypes += "#define CFG_" + N + "_" + X + " " + Config + "\n";
      return F + "<<<CFG_" + N + "_" + X + ">>>(" + Args + ")";
    case 3:
      Pre += "    auto " + X + " = " + F + ";\n";
      return X + "<<<" + Config + ">>>(" + Args + ")";
    case 4:
      Pre += "    auto *" + X + " = &" + F + ";\n";
      return "(*" + X + ")<<<" + Config + ">>>(" + Args + ")";
    case 5:
    case 6:
    case 7:
    case 8: { // runtime functions, arguments by address
      std::string P;
      for (size_t I = 0; I < Each.size(); ++I) {
        const std::string Type = Struct   ? "Args_" + N + "<" + T + ">"
                                 : I == 0 ? CT
                                 : I == 1 ? T + " *"
                                 : I == 2 ? "int"
                                          : T;
        Pre += "    " + Type + " " + X + "_" + num(static_cast<long long>(I)) +
               " = " + Each[I] + ";\n";
        P += (I ? ", (void *)&" : "(void *)&") + X + "_" +
             num(static_cast<long long>(I));
      }
      Pre += "    void *" + X + "[] = {" + P + "};\n";
      if (How == 5)
        return "cudaLaunchKernel((const void *)" + F + ", " + Grid + ", " + Bl +
               ", " + X + ", " + Bytes + ", " + Stream + ")";
      if (How == 6)
        return "cudaLaunchKernel(" + F + ", " + Grid + ", " + Bl + ", " + X +
               ", " + Bytes + ", " + Stream + ")";
      if (How == 7)
        return "cudaLaunchKernel(reinterpret_cast<void *>(&" + F + "), dim3(" +
               Grid + "), dim3(" + Bl + "), &" + X + "[0], " + Bytes + ", " +
               Stream + ")";
      Pre += "    cudaLaunchConfig_t " + X + "_c = {};\n    " + X +
             "_c.gridDim = " + Grid + ";\n    " + X + "_c.blockDim = " + Bl +
             ";\n    " + X + "_c.dynamicSmemBytes = " + Bytes + ";\n    " + X +
             "_c.stream = " + Stream + ";\n";
      return "cudaLaunchKernelExC(&" + X + "_c, (const void *)" + F + ", " + X +
             ")";
    }
    case 9:
      HostTypes += "#define ARGS_" + N + "_" + X + " " + Args + "\n";
      return F + "<<<" + Config + ">>>(ARGS_" + N + "_" + X + ")";
    case 10:
      return F + " <<< " + Config + " /* >>> */ >>> (" + Args + ")";
    case 11:
      if (Struct)
        return F + "<<<" + Config + ">>>(" + Args + ")";
      Pre += "    cudaLaunchConfig_t " + X + " = {};\n    " + X +
             ".gridDim = " + Grid + ";\n    " + X + ".blockDim = " + Bl +
             ";\n    " + X + ".dynamicSmemBytes = " + Bytes + ";\n    " + X +
             ".stream = " + Stream + ";\n";
      return "cudaLaunchKernelEx(&" + X + ", " + F + ", (" + CT + ")" +
             Each[0] + ", " + Each[1] + ", (int)" + Each[2] +
             (Each.size() > 3 ? ", " + Each[3] : "") + ")";
    case 12:
      Pre += "    decltype(&" + F + ") " + X + "[] = {" + F + "};\n";
      return X + "[0]<<<" + Config + ">>>(" + Args + ")";
    case 13:
      Pre += "    fz::note(\"" + N +
             "\", (int)cudaFuncSetCacheConfig((const "
             "void *)" +
             F + ", cudaFuncCachePreferL1));\n";
      return F + "<<<" + Config + ">>>(" + Args + ")";
    case 14:
      Pre += "    cudaFuncAttributes " + X + ";\n    cudaFuncGetAttributes(&" +
             X + ", (const void *)" + F + ");\n    fz::note(\"" + N +
             "\", (int)" + X + ".sharedSizeBytes);\n";
      return F + "<<<" + Config + ">>>(" + Args + ")";
    case 15:
      return "(" + F + ")<<<" + Config + ">>>(" + Args + ")";
    default:
      return F + "<<<" + Config + ">>>(" + Args + ")";
    }
  }

  /// \p L, an expression, as a statement.
  std::string statement(const std::string &Where, const std::string &L) {
    unsigned F = form(Where, 20);
    auto Text = [&](const std::string &S, const std::string &E = "") {
      return sub(S, {{"L", L}, {"E", E}, {"K", N}}) + "\n";
    };
    switch (F) {
    case 1:
      return Text("    {\n      $L;\n    }");
    case 2:
      return Text("    if (n > -3)\n      $L;\n    else\n      puts(\"no\");");
    case 3:
      return Text("    for (int i = 0; i < 2; ++i)\n      $L;");
    case 4:
      return Text("    do\n      $L;\n    while (false);");
    case 5:
      return Text("    (void)($L);");
    case 6:
      return Text("    n > -3 ? (void)($L) : (void)0;");
    case 7:
      return Text("    [&] { $L; }();");
    case 8:
      return Text("    [&] { return (void)($L); }();");
    case 9:
      return Text(
          "    switch (n > -3) {\n    case 1:\n      $L;\n    default:\n"
          "      break;\n    }");
    case 10:
      return Text("    for (int i = 0; i < 1; ($L), ++i) {\n    }");
    case 11: {
      std::string M = fresh("RUN") + "_" + N;
      HostTypes += "#define " + M + "(...) do { __VA_ARGS__; } while (0)\n";
      return "    " + M + "(" + L + ");\n";
    }
    case 12: {
      std::string M = fresh("CHECKED") + "_" + N;
      HostTypes += "#define " + M + "(x) (x); fz::note(\"" + N +
                   "\", (int)cudaPeekAtLastError())\n";
      // Commas that no parentheses hide would be several arguments.
      HostTypes.replace(HostTypes.rfind("(x) (x)"), 7, "(...) (__VA_ARGS__)");
      return "    " + M + "(" + L + ");\n";
    }
    case 13:
      return Text("    $L, $E++;", counter());
    case 14:
      return Text(
          "    try {\n      $L;\n      throw 1;\n    } catch (int e) {\n"
          "      fz::note(\"$K\", e);\n    }");
    case 15:
      return Text("    std::function<void()> call = [&] { $L; };\n    call();");
    case 16:
      return Text(
          "    auto go = [&](auto unused) {\n      (void)unused;\n      "
          "$L;\n    };\n    go(1);\n    go(2.0);");
    case 17:
      return Text("    if ($L; n > -3)\n      fz::note(\"$K\", 1);");
    case 18:
      return Text("again:\n    $L;\n    if (n < -3)\n      goto again;");
    case 19:
      return Text("    // launch \\\n       it\n    $L /* ; */ ;");
    default:
      return Text("    $L;");
    }
  }

  /// Launches that fail, and errors that pend.
  std::string trouble(const std::string &T) {
    const std::string B = num(Block);
    std::string F = Template ? N + "<" + T + ">" : Callee;
    std::string Args =
        Struct ? "Args_" + N + "<" + T + ">{d_a, d_out, n}" : "d_a, d_out, n";
    if (!Extra.empty())
      Args += ", (" + T + ")3";
    const std::string Bytes =
        Shape == 3 ? ", (" + B + " + 2) * sizeof(" + T + ")" : "";
    std::string S;
    switch (form("trouble", 9)) {
    case 1: // an error that is not asked for
      return "    cudaMemcpyAsync(0, d_a, 4, (cudaMemcpyKind)77);\n";
    case 2:
      return "    cudaStreamDestroy(0) ? (void)0 : (void)0;\n    "
             "cudaEventQuery(0);\n    fz::note(\"" +
             N + "\", (int)cudaPeekAtLastError());\n";
    case 3:
      S = "4, 2048" + Bytes;
      break;
    case 4:
      S = "0, " + B + Bytes;
      break;
    case 5:
      S = "4, 0" + Bytes;
      break;
    case 6:
      S = "4, " + B + ", 1 << 20";
      break;
    case 7:
      S = "dim3(4, 70000), " + B + Bytes;
      break;
    case 8:
      if (Bounds.empty() || Bounds.find("2 *") != std::string::npos)
        return "";
      S = "4, 2 * " + B + (Bytes.empty() ? ", 2048" : Bytes + " + 4096");
      break;
    default:
      return "";
    }
    return "    " + F + "<<<" + S + ">>>(" + Args + ");\n" +
           (C.chance("asked", 60)
                ? "    fz::note(\"" + N + "\", (int)cudaGetLastError());\n"
                : "");
  }

  void host() {
    std::string T =
        "static void run_" + N + "() {\n  fz::plain = true;\n";
    std::string Functions;
    unsigned Steps = 1 + C.weighted("launches", {40, 45, 15});
    unsigned Context = form("context", 14);
    for (unsigned I = 0; I < Steps; ++I) {
      Choices::Scope Sc(C, "launch" + num(I));
      static const long long Ns[] = {331, 1000, 64, 65, 1, 777, 128, 33, 2049};
      const std::string Ty = Types[I % 2], L = num(I);
      const std::string Num =
          num(Ns[C.weighted("n", {30, 20, 8, 8, 4, 10, 8, 4, 8})]);
      Pre = Post = "";
      bool Expression;
      std::string Trouble = trouble(Ty);
      std::string Stmt = statement("statement", launch("it", Ty, Expression));
      std::string Body = UsingInHost + Trouble + Pre + Stmt + "    fz::note(\"" + N +
                         "\", (int)cudaPeekAtLastError());\n" + Post;
      static const char *const Const[] = {"const int n", "int n",
                                          "constexpr int n", "const long n"};
      unsigned NType = C.weighted("nType", {55, 25, 15, 5});
      const std::string Head = "    " + std::string(Const[NType]) + " = " +
                               Num + ";\n    const int launch = " + L + ";\n";
      const std::string Allocate =
          "    " + Ty + " *d_a = fz::input<" + Ty + ">(n, " +
          num(C.weighted("offset", {70, 15, 15})) + ", 13 + launch);\n    " +
          Ty + " *d_out = fz::output<" + Ty + ">(n, 0, 0);\n";
      const std::string Parameters =
          "(" + Ty + " *d_a, " + Ty + " *d_out, int n)";
      const std::string Call = "(d_a, d_out, n)";
      std::string Use, Id = N + "_" + L;
      switch (Context) {
      case 1: // a template; the element type is deduced
        if (Function == 6 || Function == 7 || Function == 8 || Function == 4 ||
            Function == 5) {
          // Types of the text become the parameter.
          std::string Generic = Body;
          for (size_t At = 0;
               (At = Generic.find(Ty, At)) != std::string::npos;) {
            auto Word = [&](size_t P) {
              return P < Generic.size() &&
                     (isalnum(static_cast<unsigned char>(Generic[P])) ||
                      Generic[P] == '_');
            };
            if (!Word(At - 1) && !Word(At + Ty.size()) && Ty != "int") {
              Generic.replace(At, Ty.size(), "R");
              At += 1;
            } else
              At += Ty.size();
          }
          if (Ty == "int")
            for (size_t At = 0;
                 (At = Generic.find(N + "<int", At)) != std::string::npos;
                 At += 1)
              Generic.replace(At, N.size() + 4, N + "<R");
          Functions += "template <class R>\nstatic void go_" + Id +
                       "(R *d_a, R *d_out, int n) {\n" + Generic + "}\n";
        } else
          Functions += "template <class R>\nstatic void go_" + Id +
                       "(R *d_a, R *d_out, int n) {\n" + Body + "}\n";
        Use = "    go_" + Id + Call + ";\n";
        break;
      case 2:
        Use = "    [&] {\n" + Body + "    }();\n";
        break;
      case 3:
        Use = "    auto act = [&](auto *d_a, auto *d_out, int n) {\n" + Body +
              "    };\n    act" + Call + ";\n";
        break;
      case 4:
        Functions += "struct Run_" + Id + " {\n  " + Ty + " *d_a, *d_out;\n  " +
                     "int n;\n  void operator()() const {\n" + Body +
                     "  }\n};\n";
        Use = "    Run_" + Id + "{d_a, d_out, n}();\n";
        break;
      case 5:
        Functions += "template <class R> struct Run_" + Id +
                     " {\n  static void act" + Parameters + " {\n" + Body +
                     "  }\n};\n";
        Use = "    Run_" + Id + "<char>::act" + Call + ";\n";
        break;
      case 6:
        Functions += "struct Run_" + Id + " {\n  Run_" + Id + Parameters +
                     " {\n" + Body + "  }\n};\n";
        Use = "    Run_" + Id + " now" + Call + ";\n";
        break;
      case 7:
        Functions += "struct Run_" + Id + " {\n  " + Ty +
                     " *d_a, *d_out;\n  int n;\n  ~Run_" + Id + "() {\n" +
                     Body + "  }\n};\n";
        Use = "    {\n      Run_" + Id + " at_end{d_a, d_out, n};\n    }\n";
        break;
      case 8:
        Functions += "struct Base_" + Id + " {\n  virtual ~Base_" + Id +
                     "() = default;\n  virtual void act" + Parameters +
                     " = 0;\n};\nstruct Run_" + Id + " : Base_" + Id +
                     " {\n  void act" + Parameters + " override {\n" + Body +
                     "  }\n};\n";
        Use = "    Run_" + Id + " object;\n    Base_" + Id +
              " &base = object;\n    base.act" + Call + ";\n";
        break;
      case 9:
        Functions += "namespace host_" + Id + " {\nstatic inline auto act" +
                     Parameters + " noexcept -> void {\n" + Body + "}\n}\n";
        Use = "    host_" + Id + "::act" + Call + ";\n";
        break;
      case 10:
        Functions += "static void act_" + Id + "(" + Ty + " *d_a, " + Ty +
                     " *d_out, int n = " + Num +
                     ", int depth = 2) {\n  if "
                     "(depth > 0) {\n    act_" +
                     Id + "(d_a, d_out, n, depth - 1);\n    return;\n  }\n" +
                     Body + "}\n";
        Use = "    act_" + Id + "(d_a, d_out);\n";
        break;
      case 11: // ping-pong
        Use = "    for (int step = 0; step < 3; ++step) {\n" + Body +
              "    std::swap(d_a, d_out);\n    }\n";
        break;
      case 12:
        Functions += "static void act_" + Id + Parameters + " try {\n" + Body +
                     "} catch (...) {\n  puts(\"caught\");\n}\n";
        Use = "    act_" + Id + Call + ";\n";
        break;
      case 13:
        Use = "    struct Local {\n      static void act" + Parameters +
              " {\n" + Body + "      }\n    };\n    Local::act" + Call + ";\n";
        break;
      default:
        Use = Body;
      }
      T += "  {\n" + Head + Allocate + Use + "    fz::finish(\"" + N +
           "\", launch);\n  }\n";
    }
    T += "}\n\n";
    Host = HostTypes + Functions + T + AfterHost;
  }
};

} // namespace

KernelText hostKernel(Choices &C, const std::string &Name) {
  return HostKernel(C, Name).run();
}

} // namespace rcache::fuzz
