// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiled products through matrices that are structs with a pointer, as the CUDA
// programming guide writes them: elements and tiles by function, by method, by
// operator, or field by field; tiles of the matrices, of shared memory, and
// helpers that stage what the tile that they get leads to.
//
// Data are small whole numbers: no sum is rounded.

#include "Names.h"
#include "Views.h"

namespace rcache::fuzz {

namespace {

class MatrixKernel {
public:
  MatrixKernel(Choices &C, const std::string &Name)
      : C(C), T(type(C)), Nm(names(C, Name)) {
    K.Name = Name;
    K.PlainData = K.Cxx20 = true;
    M = "Matrix_" + Name;
  }

  KernelText run() {
    S = C.chance("tile", 40) ? 16 : 8;
    Guarded = C.chance("guarded", 40);
    Ordered = C.chance("elementsFirst", 60);
    pass();
    emit();
    launches();
    return std::move(K);
  }

private:
  Choices &C;
  KernelText K;
  std::string T, M, Params, Helpers, Top, Outer;
  Names Nm;
  unsigned S = 8;
  bool Guarded = false, Ordered = true;
  std::set<std::string> Methods;
  std::string A = "A", B = "B",
              Out = "C"; ///< expressions that are the matrices

  static std::string type(Choices &C) {
    static const char *const Types[] = {"float", "int", "double"};
    return Types[C.weighted("type", {65, 20, 15})];
  }
  static Names names(Choices &C, const std::string &Name) {
    static const unsigned Odd[] = {0, 20, 50};
    return Names(C, Name, type(C), {"tx", "ty"},
                 Odd[C.weighted("named", {50, 30, 20})]);
  }

  std::string made(const std::string &Pointer, const std::string &W,
                   const std::string &H, const std::string &Stride) const {
    return M + "{" + (Ordered ? Pointer + ", " : "") + W + ", " + H + ", " +
           Stride + (Ordered ? "" : ", " + Pointer) + "}";
  }

  void pass() {
    Choices::Scope Sc(C, "pass");
    const std::vector<std::string> Names = {"a", "b", "c"},
                                   Ws = {"d", "w", "w"}, Hs = {"h", "d", "h"};
    const bool One = C.chance("oneStruct", 30);
    std::string Values;
    for (size_t I = 0; I < 3; ++I) {
      Param P;
      P.Kind = I == 2 ? Param::InOut : Param::In;
      P.Type = T;
      P.Name = Names[I];
      P.Count = "(" + Ws[I] + " * " + Hs[I] + ")";
      K.Params.push_back(P);
      const std::string V = made("d_" + Names[I], Ws[I], Hs[I], Ws[I]);
      Values += (I ? ", " : "") + V;
      if (One)
        continue;
      const std::string Name = I == 0 ? A : I == 1 ? B : Out;
      K.Pack += "    " + M + " d_" + Name + " = " + V + ";\n";
      K.Passed.push_back(Name);
      Params += (I ? ", " : "") + M + " " + Name;
    }
    if (!One)
      return;
    K.Forms.push_back("nested views");
    Outer = "struct All_" + K.Name + " {\n  " + M + " a, b, c;\n};\n";
    K.Pack = "    All_" + K.Name + " d_p = {" + Values + "};\n";
    K.Passed = {"p"};
    Params = "All_" + K.Name + " p";
    A = "p.a";
    B = "p.b";
    Out = "p.c";
  }

  /// Element of matrix \p Of.
  std::string get(const std::string &Where, const std::string &Of,
                  const std::string &R, const std::string &Col) {
    static const char *const Says[] = {
        "get_$K($M, $R, $C)", "$M.get($R, $C)", "$M($R, $C)",
        "$M.elements[($R) * $M.stride + $C]", "$M.row($R)[$C]"};
    static const char *const Calls[] = {"get_", "get", "()", "", "row"};
    const unsigned F = C.weighted(Where, {35, 20, 20, 15, 10});
    Methods.insert(Calls[F]);
    return sub(Says[F], {{"K", K.Name}, {"M", Of}, {"R", R}, {"C", Col}});
  }
  std::string set(const std::string &Where, const std::string &Of,
                  const std::string &R, const std::string &V) {
    static const char *const Says[] = {
        "set_$K($M, $R, @I, $V);\n", "$M.set($R, @I, $V);\n",
        "$M($R, @I) = $V;\n", "$M.elements[($R) * $M.stride + @I] = $V;\n",
        "$M.row($R)[@I] = $V;\n"};
    static const char *const Calls[] = {"set_", "set", "()", "", "row"};
    const unsigned F = C.weighted(Where, {35, 20, 20, 15, 10});
    Methods.insert(Calls[F]);
    return sub(Says[F], {{"K", K.Name}, {"M", Of}, {"R", R}, {"V", V}});
  }

  /// Declares \p Name, the tile of \p Of in row \p R and column \p Col of
  /// tiles.
  std::string tile(const std::string &Name, const std::string &Of,
                   const std::string &R, const std::string &Col) {
    static const char *const Says[] = {
        "$M $N = tile_$K($O, $R, $C);\n", "const $M $N = $O.tile($R, $C);\n",
        "auto $N = tile_$K($O, $R, $C);\n",
        "$M $N;\n$N.width = $O.width - $S * ($C);\n$N.height = $O.height - $S "
        "* ($R);\n$N.stride = "
        "$O.stride;\n$N.elements = &$O.elements[$O.stride * $S * ($R) + $S * "
        "($C)];\n"};
    const unsigned F = C.weighted("tileOf" + Name, {40, 25, 10, 25});
    if (F < 3)
      Methods.insert(F == 1 ? "tile" : "tile_");
    K.Forms.push_back("tiles of a matrix");
    return sub(Says[F], {{"M", M},
                         {"N", Name},
                         {"O", Of},
                         {"R", R},
                         {"C", Col},
                         {"K", K.Name},
                         {"S", num(S)}});
  }

  /// Stages the tile of \p Of that round t needs, a row of tiles or a column.
  std::string stage(const std::string &Array, const std::string &Of, bool Row) {
    Choices::Scope Sc(C, "stage" + Array);
    const std::string Size = num(S);
    std::string Text, Name = Of, R = "ty", Col = "tx";
    if (C.chance("tile", 70)) {
      Name = Array + "_tile";
      Text = tile(Name, Of, Row ? "blockIdx.y" : "t", Row ? "t" : "blockIdx.x");
    } else {
      (Row ? R : Col) = Row ? "row" : "col";
      (Row ? Col : R) = "t * " + Size + (Row ? " + tx" : " + ty");
    }
    if (Name != Of && C.chance("helper", 25)) {
      K.Forms.push_back("view passed to a helper");
      const std::string V = get("inHelper", "m", "r", "c");
      Helpers +=
          "__device__ void load_" + Array + "_" + K.Name + "(" + T +
          " (*tile)[" + Size + "], " + M + " m, int r, int c) {\n" +
          "tile[r][c] = " +
          (Guarded ? "r < m.height && c < m.width ? " + V + " : " + T + "(0)"
                   : V) +
          ";\n}\n";
      return Text + "load_" + Array + "_" + K.Name + "(" + Array + ", " + Name +
             ", ty, tx);\n";
    }
    std::string V = get("load", Name, R, Col);
    if (Guarded)
      V = "(" + R + " < " + Name + ".height && " + Col + " < " + Name +
          ".width ? " + V + " : " + T + "(0))";
    return Text + Nm.assign("write", Array + "[ty][@I] = @V;\n", "tx", V);
  }

  /// The product of a round.
  std::string use() {
    std::string Before, L = "as[ty][i]", R = "bs[i][tx]";
    if (C.chance("sharedViews", 15)) {
      K.Forms.push_back("view of shared memory");
      Before = "const " + M +
               " ta = " + made("&as[0][0]", num(S), num(S), num(S)) + ";\n";
      L = get("left", "ta", "ty", "i");
    }
    static const char *const Says[] = {
        "acc += $L * $R;\n", "acc = acc + $R * $L;\n", "acc -= $L * $R;\n",
        "acc += $L - $R;\n"};
    return Before + (C.chance("unroll", 30) ? "#pragma unroll\n" : "") +
           "for (int i = 0; i < " + num(S) + "; ++i) {\n" +
           Nm.assign("use",
                     sub(Says[C.weighted("use", {60, 15, 10, 15})],
                         {{"L", L}, {"R", "@V"}}),
                     "0", R) +
           "}\n";
  }

  void emit() {
    const std::string Size = num(S);
    std::string Store, Last = "@V", Name = Out, R = "row", Col = "col";
    if (C.chance("tileOfResult", 60)) {
      Name = "c_tile";
      Top += tile(Name, Out, "blockIdx.y", "blockIdx.x");
      R = "ty";
      Col = "tx";
    }
    if (C.chance("addsTo", 20))
      Last = "(" + get("again", Name, R, Col) + " + @V)";
    Store = Nm.assign("store", set("result", Name, R, Last), Col, "acc");
    if (Guarded)
      Store = "if (row < " + Out + ".height && col < " + Out + ".width) {\n" +
              Store + "}\n";
    const std::string Stages = stage("as", A, true) + stage("bs", B, false);
    const std::string Body =
        "__shared__ " + T + " as[" + Size + "][" + Size + "], bs[" + Size +
        "][" + Size +
        "];\nconst int tx = threadIdx.x, ty = threadIdx.y;\nconst int row = "
        "blockIdx.y * " +
        Size + " + ty, col = blockIdx.x * " + Size + " + tx;\n" + Top + T +
        " acc = 0;\nfor (int t = 0; t < " +
        (Guarded ? "(" + A + ".width + " + num(S - 1) + ") / "
                 : A + ".width / ") +
        Size + "; ++t) {\n" + Stages + "__syncthreads();\n" + use() +
        "__syncthreads();\n}\n" + Store;
    K.Device = types() + Helpers + Nm.Before + "__global__ void " + K.Name +
               "(" + Params + ") {\n" + Body + "}\n";
    K.Forms.push_back("matrices as structs");
    K.Forms.insert(K.Forms.end(), Nm.Used.begin(), Nm.Used.end());
    K.GridX = "(w + " + num(S - 1) + ") / " + Size + " + extra";
    K.GridY = "(h + " + num(S - 1) + ") / " + Size;
  }

  /// The struct, and functions that take it, as far as somebody asks for them.
  std::string types() const {
    const std::string E = Ordered ? "  " + T + " *elements;\n" : "",
                      After = Ordered ? "" : "  " + T + " *elements;\n";
    std::string Text =
        "struct $M {\n" + E + "  int width, height, stride;\n" + After;
    auto Add = [&](const char *Name, const char *What) {
      if (Methods.count(Name))
        Text += What;
    };
    Add("get", "  __device__ $T get(int r, int c) const { return elements[r * "
               "stride + c]; }\n");
    Add("set", "  __device__ void set(int r, int c, $T v) const { elements[r * "
               "stride + c] = v; }\n");
    Add("()", "  __device__ $T &operator()(int r, int c) const { return "
              "elements[r * stride + c]; }\n");
    Add("row", "  __device__ $T *row(int r) const { return elements + r * "
               "stride; }\n");
    Add("tile", "  __device__ $M tile(int r, int c) const {\n    $M m = "
                "*this;\n    m.width -= $S * c;\n"
                "    m.height -= $S * r;\n    m.elements += stride * $S * r + "
                "$S * c;\n    return m;\n  }\n");
    Text += "};\n";
    const std::string ByRef =
        C.chance("byReference", 40) ? "const $M &m" : "const $M m";
    if (Methods.count("get_"))
      Text += "__device__ $T get_$K(" + ByRef +
              ", int r, int c) {\n  return m.elements[r * m.stride + c];\n}\n";
    if (Methods.count("set_"))
      Text += "__device__ void set_$K($M m, int r, int c, $T v) {\n  "
              "m.elements[r * m.stride + c] = v;\n}\n";
    if (Methods.count("tile_"))
      Text += "__device__ $M tile_$K($M m, int r, int c) {\n  $M t;\n  t.width "
              "= m.width - $S * c;\n"
              "  t.height = m.height - $S * r;\n  t.stride = m.stride;\n"
              "  t.elements = &m.elements[m.stride * $S * r + $S * c];\n  "
              "return t;\n}\n";
    return sub(Text + Outer,
               {{"M", M}, {"T", T}, {"K", K.Name}, {"S", num(S)}});
  }

  void launches() {
    auto Add = [&](long long W, long long H, long long D, long long Extra) {
      if (!Guarded) { // whole tiles
        W = (W + S - 1) / S * S;
        H = (H + S - 1) / S * S;
        D = D / S * S;
        Extra = 0;
      }
      K.Launches.push_back({{"w", W},
                            {"h", H},
                            {"d", D},
                            {"bx", S},
                            {"by", S},
                            {"off", C.weighted("offset", {80, 20})},
                            {"extra", Extra}});
    };
    const long long N = S, Ws[] = {2 * N + 3, 3 * N, 1, 4 * N + 1},
                    Hs[] = {N + 1, 3 * N, 1, 2 * N + 1},
                    Ds[] = {2 * N, 3 * N + 1, 1, N + 3};
    for (unsigned I = 0; I < 2; ++I) {
      Choices::Scope Of(C, "launch" + num(I));
      Add(Ws[C.pick("w", 4)], Hs[C.pick("h", 4)], Ds[C.pick("d", 4)],
          C.chance("surplusBlock", 15) ? 1 : 0);
    }
    Add(4 * N, 4 * N, 2 * N, 0);
  }
};

} // namespace

KernelText matrixKernel(Choices &C, const std::string &Name) {
  return MatrixKernel(C, Name).run();
}

} // namespace rcache::fuzz
