// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of rows in one-dimensional blocks: the row and the column of a thread
// are a quotient and a remainder. Indices, bounds and sizes of any integer
// type, tiles of static or dynamic size, whose width may be an argument, and
// several arrays in one allocation.
//
// Data are small whole numbers: no sum is rounded.

#include "Names.h"
#include "Views.h"

namespace rcache::fuzz {

namespace {

class RowsKernel {
public:
  RowsKernel(Choices &C, const std::string &Name)
      : C(C), T(type(C)), V(C, K, T), Nm(names(C, Name)) {
    K.Name = Name;
    K.PlainData = K.Cxx20 = true;
  }

  KernelText run() {
    static const unsigned Widths[] = {16, 8, 32}, Rows[] = {8, 4, 16, 2};
    Width = Widths[C.weighted("width", {50, 25, 25})];
    Height = Rows[C.weighted("height", {40, 25, 25, 10})];
    if (Width * Height < 32)
      Height = 4;
    static const char *const Ints[] = {"int", "unsigned", "size_t",
                                       "long long"};
    I = Ints[C.weighted("index", {35, 30, 20, 15})];
    Loop = Ints[C.weighted("loopIndex", {35, 25, 20, 20})];
    Second = C.weighted("second", {45, 20, 20, 15});
    Storage = C.weighted("storage", {25, 20, 25, 30});
    if (Storage >= 2)
      K.Forms.push_back(Second ? "arrays in one allocation" : "dynamic tile");
    if (I != "int")
      K.Forms.push_back("index of type " + I);
    buffers();
    sizes();
    emit();
    return std::move(K);
  }

private:
  Choices &C;
  KernelText K;
  std::string T;
  Views V;
  Names Nm;
  unsigned Width = 16, Height = 8, Second = 0, Storage = 0;
  std::string I, Loop, W, H, Before, Bytes;
  bool Pad = false, Flat = true;

  static std::string type(Choices &C) {
    static const char *const Types[] = {"float", "int", "double", "short"};
    return Types[C.weighted("type", {50, 25, 15, 10})];
  }
  static Names names(Choices &C, const std::string &Name) {
    static const unsigned Odd[] = {0, 15, 40};
    return Names(C, Name, type(C), {"t", "g", "c"},
                 Odd[C.weighted("named", {50, 30, 20})]);
  }

  void buffers() {
    V.add("a", false, "n");
    if (Second)
      V.add("b", false, Second == 1 ? "n" : num(Second == 2 ? Width : Height));
    V.add("out", true, "n");
    if (C.chance("views", 30))
      V.pass();
    else {
      static const char *const Types[] = {"int", "unsigned", "size_t",
                                          "long long"};
      V.passPlain(Types[C.weighted("n", {45, 20, 20, 15})]);
    }
  }

  void sizes() {
    W = num(Width);
    H = num(Height);
    switch (C.weighted("size", {40, 15, 15, Storage >= 2 ? 60u : 0u})) {
    case 1:
      W = "WIDTH_" + K.Name;
      Before += "#define " + W + " " + num(Width) + "\n";
      break;
    case 2:
      W = "width_" + K.Name;
      Before += "constexpr " + I + " " + W + " = " + num(Width) + ";\n";
      break;
    case 3: { // an argument
      static const char *const Types[] = {"int", "unsigned", "size_t"};
      const std::string Type = Types[C.weighted("widthType", {60, 20, 20})];
      W = "w";
      K.Params.push_back({Param::Scalar, Type, "w", "", num(Width)});
      K.Passed.push_back("w");
      V.Params += ", " + Type + " w";
      K.Forms.push_back("width is an argument");
      break;
    }
    }
    Pad = C.chance("pad", 30);
    Flat = Storage != 0;
  }

  std::string pitch() const { return Pad ? "(" + W + " + 1)" : W; }
  std::string area() const { return num(Height) + " * " + pitch(); }

  /// Element of the tile.
  std::string tile(const std::string &R, const std::string &Col) const {
    return Flat ? "s[" + R + " * " + pitch() + " + " + Col + "]"
                : "s[" + R + "][" + Col + "]";
  }

  /// The second array holds the same tile, a row or a column.
  std::string second(const std::string &R, const std::string &Col) const {
    return Second == 1 ? "q[" + R + " * " + W + " + " + Col + "]"
                       : "q[" + (Second == 2 ? Col : R) + "]";
  }

  unsigned secondElements() const {
    return Second == 1 ? Width * Height : Second == 2 ? Width : Height;
  }

  std::string arrays() {
    const std::string Q = num(secondElements());
    if (Storage == 0)
      return "__shared__ " + T + " s[" + H + "][" + pitch() + "];\n" +
             (Second ? "__shared__ " + T + " q[" + Q + "];\n" : "");
    if (Storage == 1)
      return "__shared__ " + T + " s[" + area() + "];\n" +
             (Second ? "__shared__ " + T + " q[" + Q + "];\n" : "");
    const unsigned Elements =
        Height * (Pad ? Width + 1 : Width) + (Second ? secondElements() : 0);
    K.SharedBytes = num(Elements) + " * sizeof(" + T + ")";
    const std::string Mem = "mem_" + K.Name;
    if (Storage == 2 && !Second)
      return "extern __shared__ " + T + " " + Mem + "[];\n" + T +
             " *s = " + Mem + ";\n";
    return carved(Mem);
  }

  /// Both arrays out of one.
  std::string carved(const std::string &Mem) {
    static const char *const How[] = {
        "extern __shared__ $T $M[];\n$T *s = $M;\n",
        "extern __shared__ $T $M[];\n$T *const s = &$M[0];\n",
        "extern __shared__ __align__(16) unsigned char $M[];\n$T *s = ($T "
        "*)$M;\n",
        "extern __shared__ __align__(16) char $M[];\n$T *s = "
        "reinterpret_cast<$T *>($M);\n"};
    static const char *const Next[] = {"$T *q = s + $A;\n",
                                       "$T *const q = &s[$A];\n",
                                       "auto *q = s + ($A);\n"};
    const unsigned F = C.weighted("carve", {35, 15, 30, 20});
    std::string Q;
    if (Second && F >= 2 && C.chance("bytes", 40))
      Q = "$T *q = ($T *)($M + sizeof($T) * ($A));\n";
    else if (Second)
      Q = Next[C.pick("next", 3)];
    return sub(How[F] + Q, {{"T", T}, {"M", Mem}, {"A", area()}});
  }

  std::string ids() {
    static const char *const Ts[] = {"const $I t = threadIdx.x;\n",
                                     "$I t = threadIdx.x;\n",
                                     "const auto t = ($I)threadIdx.x;\n"};
    static const char *const Gs[] = {
        "const $I g = blockIdx.x * blockDim.x + t;\n",
        "const $I g = ($I)blockIdx.x * $B + t;\n"};
    std::string Text = Ts[C.weighted("t", {60, 25, 15})];
    Text += Gs[C.pick("g", 2)];
    const bool Known = W != "w";
    switch (C.weighted("rc", {55, Known ? 20u : 0u, 15, 10})) {
    case 1: { // powers of two
      const unsigned Bits = Width == 8 ? 3 : Width == 16 ? 4 : 5;
      Text += "const $I r = t >> " + num(Bits) + ", c = t & " + num(Width - 1) +
              ";\n";
      break;
    }
    case 2:
      Text += "const $I r = t / $W, c = t - r * $W;\n";
      break;
    case 3:
      Text += "const int r = (int)t / (int)$W;\nconst unsigned c = t % $W;\n";
      break;
    default:
      Text += "const $I r = t / $W;\nconst $I c = t % $W;\n";
    }
    K.Forms.push_back("rows in a line");
    return sub(Text, {{"I", I}, {"W", W}, {"B", num(Width * Height)}});
  }

  std::string stage() {
    Choices::Scope Sc(C, "stage");
    const std::string Base = "blockIdx.x * " + num(Width * Height), N = V.N;
    std::string Text;
    auto Value = [&](const std::string &G, const std::string &E) {
      return "(" + G + " < " + N + " ? " + V.load("a" + E, "a", "", G) + " : " +
             T + "(0))";
    };
    switch (C.weighted("form", {60, 20, 20})) {
    case 1: // in a loop over the elements
      Text = "for (" + Loop + " e = t; e < " + num(Width * Height) +
             "; e += blockDim.x)\n" + tile("(e / " + W + ")", "e % " + W) +
             " = " + "(" + Base + " + e < " + N + " ? " +
             V.load("each", "a", Base, "e") + " : " + T + "(0));\n";
      break;
    case 2: // an array that has no row for somebody
      Text = "if (g < " + N + ")\n" + tile("r", "c") + " = " +
             V.load("own", "a", "", "g") + ";\nelse\n" + tile("r", "c") +
             " = 0;\n";
      break;
    default: {
      std::string At = Flat ? "s[@I] = @V;\n" : "s[r][@I] = @V;\n";
      Text = Nm.assign("write", At, Flat ? "(r * " + pitch() + " + c)" : "c",
                       Value("g", "own"));
    }
    }
    if (Second == 1)
      Text += "q[t] = g < " + N + " ? " + V.load("second", "b", "", "g") +
              " : " + T + "(0);\n";
    else if (Second)
      Text += std::string("if (") + (Second == 2 ? "r" : "c") + " == 0)\n" +
              second("r", "c") + " = " +
              V.load("second", "b", "", Second == 2 ? "c" : "r") + ";\n";
    return Text;
  }

  std::string loop(const std::string &K0, const std::string &Bound,
                   const std::string &Body) {
    static const char *const Heads[] = {
        "for ($L $k = 0; $k < $E; ++$k)", "for ($L $k = $E; $k-- > 0;)",
        "for ($L $k = 0; $k != $E; $k++)",
        "#pragma unroll\nfor ($L $k = 0; $k < $E; ++$k)"};
    return sub(Heads[C.weighted("loopForm", {50, 20, 15, 15})],
               {{"L", Loop}, {"k", K0}, {"E", Bound}}) +
           " {\n" + Body + "}\n";
  }

  /// Something of the array that is added up.
  std::string one(unsigned Number) {
    Choices::Scope Sc(C, "use" + num(Number));
    const std::string K0 = "k" + num(Number);
    switch (C.weighted("what", {22, 14, 14, 14, 12, 12, 12})) {
    case 1:
      return "acc += " + tile("r", "(" + W + " - 1 - c)") + ";\n";
    case 2:
      return "acc += " + tile("r", "((c + 1) % " + W + ")") + ";\n";
    case 3:
      return "acc -= " + tile("((r + 1) % " + H + ")", "c") + ";\n";
    case 4: // neighbours, where there are some
      return "if (c > 0)\nacc += " + tile("r", "(c - 1)") + ";\nif (c + 1 < " +
             W + ")\nacc -= 2 * " + tile("r", "(c + 1)") + ";\n";
    case 5: // a column
      return loop(K0, H, "acc += " + tile(K0, "c") + ";\n");
    case 6:
      return "acc += " + tile("r", "0") +
             (Second ? " * " + second("r", "c") : "") + ";\n";
    default: // a row
      return loop(
          K0, W,
          "acc += " + tile("r", K0) +
              (Second && C.chance("times", 60) ? " * " + second("r", K0) : "") +
              ";\n");
    }
  }

  void emit() {
    const std::string Acc = T == "short" ? "int" : T;
    std::string Use = Acc + " acc = 0;\n";
    const unsigned N = 1 + C.weighted("uses", {40, 40, 20});
    for (unsigned J = 0; J < N; ++J)
      Use += one(J);
    if (Second && Use.find("q[") == std::string::npos)
      Use += "acc += " + second("r", "c") + ";\n";
    const std::string Arrays = arrays(), Ids = ids(), Stage = stage();
    const std::string Store =
        Nm.assign("store", V.storePattern("out", "out"), "g", T + "(acc)");
    std::string Tail = "if (g < " + V.N + ") {\n" + Use + Store + "}\n";
    if (C.chance("return", 35))
      Tail = "if (g >= " + V.N + ")\nreturn;\n" + Use + Store;
    K.Device = Before + V.before() + Nm.Before + "__global__ void " + K.Name +
               "(" + V.Params + ") {\n" + Arrays + Ids + V.Top + Stage +
               "__syncthreads();\n" + Tail + "}\n";
    for (const std::vector<std::string> *Of : {&V.Used, &Nm.Used})
      K.Forms.insert(K.Forms.end(), Of->begin(), Of->end());
    SizeForm Size;
    Size.Kind = SizeForm::Literal;
    Size.Block = Width * Height;
    Size.Exact = true;
    K.Launches = lineLaunches(C, Size, 1, false);
  }
};

} // namespace

KernelText rowsKernel(Choices &C, const std::string &Name) {
  return RowsKernel(C, Name).run();
}

} // namespace rcache::fuzz
