// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays that each thread has for itself, whose elements an index of run time picks:
// histograms, stacks, lists, permutations, tables. By their elements, by references to
// them, through functions, beside shared memory of the kernel's own.
//
//     unsigned char a[24] = {};
//     for (int i = 0; i < 20; ++i)
//       a[x[t + i] % 24u] += i;
//
// Indices lie within the arrays, every element is set before it is read, signed numbers
// stay small, and what is kept in the end is made of all elements.

#include "Grammar.h"

namespace rcache::fuzz {

namespace {

struct Local {
  std::string Name, Type;
  unsigned Extent = 8, Inner = 0; ///< Inner: the second dimension's; 0: there is none
  bool Float = false, Narrow = false, Struct = false;
  bool Table = false;             ///< nobody changes it

  std::string all() const { return num(Inner ? Extent * Inner : Extent); }
};

class PrivateKernel {
public:
  PrivateKernel(Choices &C, const std::string &Name) : C(C), Name(Name) { K.Name = Name; }

  KernelText run() {
    K.Params = {{Param::In, "int", "x", "n + 128", "", true, C.chance("restrict", 40)},
                {Param::Out, "unsigned", "out", "n", "", false, false},
                {Param::Scalar, "int", "n", "", "n"}};
    K.GridX = "(n + bx * by - 1) / (bx * by)";
    Shared = C.weighted("shared", {60, 20, 20}); // none, static, dynamic
    if (Shared == 2)
      K.SharedBytes = "bx * by * 4";
    launches();
    const unsigned Arrays = 1 + C.pick("arrays", 3);
    for (unsigned I = 0; I < Arrays; ++I)
      All.push_back(local(I));
    text();
    return std::move(K);
  }

private:
  Choices &C;
  const std::string Name;
  KernelText K;
  unsigned Shared = 0;
  std::vector<Local> All;
  std::string Helpers; ///< functions, each once
  unsigned Made = 0;   ///< names of variables

  Local local(unsigned I) {
    Choices::Scope S(C, "array" + num(I));
    static const char *const Types[] = {"int",    "unsigned",       "float",       "unsigned char",
                                        "double", "unsigned short", "signed char", "short",
                                        "unsigned long long", "Cell"};
    Local L;
    const unsigned T = C.weighted("type", {20, 15, 15, 15, 8, 6, 5, 4, 6, 6});
    L.Type = T == 9 ? "Cell_" + Name : Types[T];
    L.Float = T == 2 || T == 4;
    L.Narrow = T == 6 || T == 7;
    L.Struct = T == 9;
    static const char *const Names[] = {"a", "bins", "stack_", "v"};
    L.Name = Names[C.pick("name", 4)] + num(I);
    static const unsigned Extents[] = {8, 16, 5, 11, 24, 32, 40, 110};
    L.Extent = Extents[C.weighted("extent", {20, 20, 10, 15, 15, 10, 5, 5})];
    if (C.chance("twoDims", 20)) {
      L.Inner = 2 + C.pick("inner", 3);
      L.Extent = std::min(L.Extent, 16u);
    }
    L.Table = !L.Struct && C.chance("table", 20);
    return L;
  }

  /// A number of thread and round, never below zero.
  std::string datum() {
    static const char *const Ways[] = {"x[t + i]", "x[t + i] * 7", "x[t] + i", "i * 3 + x[t + 1]", "t + i"};
    return std::string("(unsigned)(") + Ways[C.weighted("datum", {40, 15, 20, 15, 10})] + ")";
  }

  /// `a[..]`, `m[..][..]`: an element that is there.
  std::string element(const Local &L, const std::string &Which) {
    Choices::Scope S(C, Which);
    const std::string First = L.Name + "[" + index(L.Extent) + "]";
    return L.Inner ? First + "[" + (C.chance("innerByData", 50) ? index(L.Inner) : "i % " + num(L.Inner)) + "]"
                   : First;
  }
  std::string index(unsigned Extent) {
    const bool Mask = (Extent & (Extent - 1)) == 0 && C.chance("mask", 60);
    if (C.chance("byCounter", 15))
      return "i % " + num(Extent);
    return datum() + (Mask ? " & " + num(Extent - 1) : " % " + num(Extent) + "u");
  }

  /// Of the array's type, small.
  std::string value(const Local &L) {
    static const char *const Ways[] = {"x[t + i] & 15", "i", "t & 7", "3", "(x[t] >> 2) & 31"};
    const std::string V = Ways[C.pick("value", 5)];
    if (L.Struct)
      return L.Type + "{" + V + ", i}";
    return "(" + L.Type + ")(" + V + ")";
  }

  std::string declared(const Local &L, unsigned I) {
    Choices::Scope S(C, "declared" + num(I));
    const std::string Of = L.Type + " " + L.Name + "[" + num(L.Extent) + "]" +
                           (L.Inner ? "[" + num(L.Inner) + "]" : "");
    if (L.Table) {
      std::string List;
      const unsigned Given = std::min(L.Extent, 3 + C.pick("given", 30));
      for (unsigned E = 0; E < Given; ++E)
        List += (E ? ", " : "") + (L.Inner ? "{" + num(E) + ", " + num(E * 5 % 7) + "}"
                                           : num(E * 37 % 101));
      static const char *const Heads[] = {"const ", "", "constexpr "};
      return Heads[C.weighted("head", {50, 35, 15})] + Of + " = {" + List + "};\n";
    }
    switch (C.weighted("init", {35, 25, 20, 20})) {
    case 1:
      return Of + " = {};\n";
    case 2:
      return L.Struct ? Of + " = {{1, 2}};\n" : L.Inner ? Of + " = {{1, 2}, {3}};\n" : Of + " = {1, 2, 3};\n";
    case 3:
      if (!L.Inner && !L.Struct)
        return Of + " = {(" + L.Type + ")(n & 7), (" + L.Type + ")(x[t] & 15)};\n";
      [[fallthrough]];
    default:
      return Of + ";\nfor (int i = 0; i < " + num(L.Extent) + "; ++i)\n" +
             (L.Inner ? "for (int j = 0; j < " + num(L.Inner) + "; ++j)\n" : "") + L.Name + "[i]" +
             (L.Inner ? "[j]" : "") + " = " +
             (L.Struct ? L.Type + "{i, 1};\n" : "(" + L.Type + ")(" + (C.chance("filled", 50) ? "x[t + i] & 31" : "i") + ");\n");
    }
  }

  void helper(const std::string &Text) {
    if (Helpers.find(Text) == std::string::npos)
      Helpers += Text;
  }
  std::string fresh(const std::string &Base) { return Base + num(Made++); }

  /// What a round does with one array.
  std::string step(const Local &L, unsigned I) {
    Choices::Scope S(C, "step" + num(I));
    const std::string E = element(L, "first"), F = element(L, "second");
    const std::string Read = "acc = acc * 31u + " + hash(L, E) + ";\n";
    if (L.Table)
      return C.chance("handed", 35) && !L.Inner ? handedTable(L) : Read;
    switch (C.weighted("what", {22, 14, 10, 12, 12, 12, 10, 8})) {
    case 1:
      return E + " = " + value(L) + ";\n" + Read;
    case 2:
      return Read + E + " = " + F + ";\n";
    case 3: { // two elements change places
      static const char *const Ways[] = {"", "__forceinline__ ", "inline "};
      const unsigned Way = C.pick("inline", 3);
      const std::string Swap = "swap" + num(Way) + "_" + Name;
      helper("template <class T> __device__ " + std::string(Ways[Way]) + "void " + Swap +
             "(T &a, T &b) {\nconst T t = a;\na = b;\nb = t;\n}\n");
      return Swap + "(" + E + ", " + F + ");\n";
    }
    case 4: { // another name for an element
      const std::string R = fresh("r");
      return L.Type + " &" + R + " = " + E + ";\n" + (L.Struct ? R + ".n += 2;\n" : R + " += " + one(L) + ";\n") +
             (C.chance("again", 50) ? R + " = " + F + ";\n" : "");
    }
    case 5:
      return handed(L);
    case 6: { // the least so far
      if (L.Struct)
        return "if (" + E + ".n > " + F + ".n) " + E + ".k += 1;\n";
      return "if (" + E + " > " + F + ")\n" + E + " = " + F + ";\n";
    }
    case 7:
      if (!L.Narrow && !L.Float && !L.Struct)
        return (C.chance("down", 30) ? "--" : "++") + E + ";\n";
      [[fallthrough]];
    default:
      return L.Struct ? E + ".k += " + num(C.pick("more", 3)) + ";\n"
                      : E + (C.chance("minus", 20) ? " -= " : " += ") + one(L) + ";\n";
    }
  }
  static std::string one(const Local &L) { return "(" + L.Type + ")(i & 3)"; }

  /// All of the array is an argument.
  std::string handed(const Local &L) {
    if (L.Inner)
      return "acc ^= " + hash(L, element(L, "flat")) + ";\n";
    const std::string T = L.Type, F = "use_" + Name + "_" + num(Made++);
    static const char *const Pars[] = {"$T *b", "$T (&b)[$E]", "$T *__restrict__ b"};
    const std::string P = sub(Pars[C.weighted("par", {60, 25, 15})], {{"T", T}, {"E", num(L.Extent)}});
    const std::string Add = L.Struct ? "b[p].k += k;\n" : "b[p] += (" + T + ")(k & 3);\n";
    switch (C.weighted("function", {35, 30, 20, 15})) {
    case 1: // moves a hole through the array
      helper("__device__ void " + F + "(" + P + ", int m, " + T + " v) {\nint p = m - 1;\n" +
             "while (p > 0 && " + (L.Struct ? "b[p - 1].n > v.n" : "b[p - 1] > v") +
             ") {\nb[p] = b[p - 1];\n--p;\n}\nb[p] = v;\n}\n");
      return F + "(" + L.Name + ", " + num(L.Extent) + ", " + value(L) + ");\n";
    case 2: { // a stack: the depth by reference
      helper("__device__ __forceinline__ void " + F + "(" + P + ", int &top, " + T +
             " v) { b[top++] = v; }\n");
      const std::string D = fresh("top");
      return "int " + D + " = 0;\nwhile (" + D + " < " + num(L.Extent) + " && " + D + " < (x[t + i] & 15))\n" + F + "(" +
             L.Name + ", " + D + ", " + value(L) + ");\n";
    }
    case 3: // a value comes back, in the middle of an expression
      helper("__device__ unsigned " + F + "(" + constant(P) + ", int k) { return " +
             hash(L, "b[(unsigned)k % " + num(L.Extent) + "u]") + "; }\n");
      return "acc += " + F + "(" + L.Name + ", x[t + i] & 1023) * 3u;\n";
    default:
      helper("__device__ void " + F + "(" + P + ", unsigned w, int k) {\nfor (int j = 0; j < 3; ++j) {\n" +
             "const unsigned p = (w >> (3 * j)) % " + num(L.Extent) + "u;\n" + Add + "}\n}\n");
      return F + "(" + L.Name + ", x[t + i], i);\n";
    }
  }
  static std::string constant(const std::string &Par) { return "const " + Par; }

  std::string handedTable(const Local &L) {
    const std::string F = "at_" + Name + "_" + num(Made++);
    helper("__device__ " + L.Type + " " + F + "(const " + L.Type + " *b, int k) { return b[(unsigned)k % " +
           num(L.Extent) + "u]; }\n");
    return "acc = acc * 31u + (unsigned)(int)" + F + "(" + L.Name + ", x[t + i]);\n";
  }

  static std::string hash(const Local &L, const std::string &E) {
    return L.Struct ? "(unsigned)(" + E + ".n * 3 + " + E + ".k)"
           : L.Float ? "(unsigned)(int)" + E
                     : "(unsigned)" + E;
  }

  void text() {
    std::string Body = "const int t = " + thread() + ";\n";
    if (Shared == 1)
      Body += "__shared__ int tile[" + num(Threads) + "];\n";
    if (Shared == 2)
      Body += "extern __shared__ int tile[];\n";
    const std::string Own = "(threadIdx.y * blockDim.x + threadIdx.x)";
    if (Shared)
      Body += "tile[" + Own + "] = x[t < n ? t : 0];\n__syncthreads();\n";
    Body += C.chance("early", 60) ? "if (t >= n)\nreturn;\n" : "if (t < n) {\n";
    const bool Braces = Body.ends_with("{\n");
    Body += "unsigned acc = " + std::string(Shared ? "tile[" + Own + "]" : "7u") + ";\n";
    const bool Within = C.chance("declaredInLoop", 20);
    std::string Declared, Ends;
    for (unsigned I = 0; I < All.size(); ++I) {
      Declared += declared(All[I], I);
      Ends += collected(All[I]);
    }
    std::string Steps;
    const unsigned N = 2 + C.pick("steps", 4);
    for (unsigned I = 0; I < N; ++I) {
      const std::string One = step(All[(I + C.pick("which" + num(I), 3)) % All.size()], I);
      Choices::Scope S(C, "under" + num(I));
      Steps += C.chance("under", 25) ? "if (x[t + i] & 4) {\n" + One + "}\n" : "{\n" + One + "}\n";
    }
    static const char *const Heads[] = {"for (int i = 0; i < 20; ++i)", "for (int i = 0; i < (x[t] & 31); ++i)",
                                        "for (int i = 24; i-- > 0;)"};
    const std::string Loop = std::string(Heads[C.weighted("loop", {55, 25, 20})]) + " {\n";
    if (Within)
      Body += "for (int round = 0; round < 2; ++round) {\n" + Declared + Loop + Steps + "}\n" + Ends + "}\n";
    else
      Body += Declared + Loop + Steps + "}\n" + Ends;
    Body += "out[t] = acc;\n" + std::string(Braces ? "}\n" : "");
    std::string Params;
    for (const Param &P : K.Params)
      Params += (Params.empty() ? "" : ", ") + P.decl();
    std::string Before;
    for (const Local &L : All)
      if (L.Struct && Before.empty())
        Before = "struct " + L.Type + " {\nint n, k;\n};\n";
    K.Device = Before + Helpers + "__global__ void " + Name + "(" + Params + ") {\n" + Body + "}\n";
  }

  /// Every element counts.
  static std::string collected(const Local &L) {
    if (L.Table)
      return "";
    const std::string E = L.Name + "[i]" + (L.Inner ? "[j]" : "");
    return "for (int i = 0; i < " + num(L.Extent) + "; ++i)\n" +
           (L.Inner ? "for (int j = 0; j < " + num(L.Inner) + "; ++j)\n" : "") + "acc = acc * 33u + " + hash(L, E) + ";\n";
  }

  unsigned Threads = 64; ///< of the largest block
  bool Plane = false;
  std::string thread() const {
    return Plane ? "(blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x"
                 : "blockIdx.x * blockDim.x + threadIdx.x";
  }

  void launches() {
    static const unsigned Blocks[] = {64, 128, 32, 96, 50};
    Plane = C.chance("plane", 20);
    const unsigned B = Blocks[C.weighted("block", {40, 25, 15, 10, 10})], By = Plane ? 2 : 1;
    Threads = B * By;
    const bool Several = C.chance("severalBlocks", 30);
    for (unsigned I = 0; I < 2; ++I)
      K.Launches.push_back({{"n", I ? B + 13 : 2 * Threads + 5},
                            {"bx", I && Several ? B / 2 + 3 : B},
                            {"by", By},
                            {"off", I ? C.pick("offset", 2) : 0}});
  }
};

} // namespace

KernelText privateKernel(Choices &C, const std::string &Name) {
  return PrivateKernel(C, Name).run();
}

} // namespace rcache::fuzz
