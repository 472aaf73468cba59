// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiled products whose blocks may be joined, in the words there are for the
// loop over tiles: counters from 0 and from the block's own element, up and
// down, in 32 and 64 bits, pointers that move along, `while`; whole tiles and
// guarded ones. Each kernel is launched with a large grid in a function that is
// never called, so that joining is what is predicted to pay.

#include "Grammar.h"

namespace rcache::fuzz {

namespace {

class JoinedKernel {
public:
  JoinedKernel(Choices &C, const std::string &Name) : C(C) { K.Name = Name; }

  KernelText run() {
    static const unsigned Sides[] = {16, 8, 32};
    S = Sides[C.weighted("side", {60, 20, 20})];
    const ElemType &E = elemType(C.weighted("type", {50, 20, 15, 5, 5, 5}));
    T = E.Name;
    Acc = E.Acc;
    Guarded = C.chance("guarded", 50);
    operands();
    walk();
    const bool Restrict = C.chance("restrict", 60);
    Combined = C.chance("combined", 20);
    K.Params = {{Param::In, T, "a", "h * d", "", true, Restrict},
                {Param::In, T, "b", "d * w", "", true, Restrict},
                {Combined ? Param::InOut : Param::Out, Acc, "c", "w * h", "",
                 false, Restrict},
                {Param::Scalar, Size, "w", "", "w"},
                {Param::Scalar, Size, "h", "", "h"},
                {Param::Scalar, Size, "d", "", "d"}};
    K.GridX = "(w + bx - 1) / bx + extra";
    K.GridY = "(h + by - 1) / by";
    launches();
    text();
    K.OnNvcc = C.chance("onNvcc", 10);
    return std::move(K);
  }

private:
  Choices &C;
  KernelText K;
  unsigned S = 16;
  bool Guarded = false, Combined = false;
  std::string T, Acc, Size = "int";
  bool OfColumns = false, OfRows = false; ///< a and b are stored transposed
  /// In front of the loop, its head, the end of a round; the first index that
  /// is summed over in a round; where a round's tiles begin, if not at an
  /// index.
  std::string Before, Head, End, First, TileA, TileB;

  void operands() {
    OfColumns = C.chance("aTransposed", 15);
    OfRows = C.chance("bTransposed", 15);
    if (C.chance("otherSize", 25))
      Size = C.chance("unsignedSize", 50) ? "unsigned int" : "long long";
  }

  /// The loop over tiles.
  void walk() {
    // Tiles as elements ahead of a pointer or an index have no transposed form.
    const bool Plain = OfColumns || OfRows || Guarded;
    const unsigned Form =
        C.weighted("walk", {20, 16, 12, 10, 10, 6, 16, 10, 10, 10, 10, 8});
    const std::string Tiles = Guarded ? "(d + $S - 1) / $S" : "d / $S";
    First = "t * $S";
    Head = "for ($I t = 0; t < " + Tiles + "; ++t)";
    if (Form >= 6 && Form <= 10 && Plain)
      return;
    const std::string BeginA = "d * $S * blockIdx.y",
                      BeginB = "$S * blockIdx.x";
    switch (Form) {
    case 1:
      First = "k";
      Head = "for ($I k = 0; k < d; k += $S)";
      return;
    case 2:
      Head = Guarded ? "for ($I t = 0; t < (d - 1) / $S + 1; t++)"
                     : "for ($I t = 0; t != d / $S; t++)";
      return;
    case 3:
      Before = "$I t = 0;\n";
      Head = "while (t < " + Tiles + ")";
      End = C.chance("first", 50) ? "t++;\n" : "t += 1;\n";
      return;
    case 4:
      if (Size == "unsigned int")
        return;
      Head = "for ($I t = " + Tiles + " - 1; t >= 0; --t)";
      return;
    case 5:
      Head = "for ($I t = 0; t < ceil(d / (float)$S); ++t)";
      return;
    case 6: // the CUDA samples' words
      Before = "const $I first = " + BeginA + ", end = first + d;\n";
      Head = "for ($I p = first, q = " + BeginB +
             (Size != "unsigned int" && C.chance("inclusive", 60)
                  ? "; p <= end - 1"
                  : "; p < end") +
             "; p += $S, q += $S * w)";
      TileA = "p";
      TileB = "q";
      return;
    case 7:
      Before =
          "$I p = " + BeginA + ", q = " + BeginB + ";\nconst $I end = p + d;\n";
      Head = "while (p < end)";
      End = "p += $S;\nq += $S * w;\n";
      TileA = "p";
      TileB = "q";
      return;
    case 8: // pointers, in the header or at the end of a round
    case 9:
      Before = "a += " + BeginA + ";\nb += " + BeginB + ";\n";
      Head = Form == 8 ? "for ($I k = 0; k < d; k += $S, a += $S, b += $S * w)"
                       : "for ($I k = 0; k < d; k += $S)";
      End = Form == 9 ? "a += $S;\nb += $S * w;\n" : "";
      TileA = TileB = "0";
      return;
    case 10: // rounds beside them
      Before = "$I p = " + BeginA + ", q = " + BeginB + ";\n";
      Head = "for ($I t = 0; t < d / $S; ++t)";
      End = "p += $S;\nq += $S * w;\n";
      TileA = "p";
      TileB = "q";
      return;
    case 11: // blocks that do not run the same rounds
      Head = "for ($I t = 0; t < " + Tiles + " && t <= ($I)blockIdx." +
             (C.chance("ofRow", 50) ? "y" : "x") + "; ++t)";
      return;
    default:
      return;
    }
  }

  /// What a thread stages.
  std::string staged(bool OfA) {
    std::string Index;
    if (!TileA.empty())
      Index = OfA ? TileA + " + d * ty + tx" : TileB + " + w * ty + tx";
    else if (OfA)
      Index = OfColumns ? "($F + tx) * h + row" : "row * d + $F + tx";
    else
      Index = OfRows ? "col * d + $F + ty" : "($F + ty) * w + col";
    const std::string Load = (OfA ? "a[" : "b[") + Index + "]";
    if (!Guarded)
      return Load;
    return (OfA ? "row < h && $F + tx < d ? " : "$F + ty < d && col < w ? ") +
           Load + " : ($T)0";
  }

  std::string use() {
    static const char *const Uses[] = {
        "acc += as[ty][i] * bs[i][tx];", "acc += bs[i][tx] * as[ty][i];",
        "acc = acc + as[ty][i] - bs[i][tx];",
        "acc += as[ty][i] < bs[i][tx] ? 1 : 0;",
        "acc = as[ty][i] < acc ? acc : bs[i][tx];"};
    return Uses[C.weighted("use", {55, 10, 15, 10, 10})];
  }

  void text() {
    const std::string Barrier = "__syncthreads();\n";
    const bool Early = C.chance("barrierFirst", 15);
    const std::string Declared =
        "__shared__ $T as[$S][$S$PA];\n__shared__ $T bs[$S][$S$PB];\n";
    const bool Inside = C.chance("declaredInside", 25);
    std::string Body =
        (Inside ? "" : Declared) +
        "const $I tx = threadIdx.x, ty = threadIdx.y;\n"
        "const $I row = blockIdx.y * $BY + ty, col = blockIdx.x * $BX + tx;\n"
        "$A acc = 0;\n" +
        Before + Head + " {\n" + (Inside ? Declared : "") +
        (Early ? Barrier : "") + "as[ty][tx] = " + staged(true) +
        ";\nbs[ty][tx] = " + staged(false) + ";\n" + Barrier +
        (C.chance("unroll", 40) ? "#pragma unroll\n" : "") +
        "for (int i = 0; i < $S; ++i)\n" + use() + "\n" +
        (Early ? "" : Barrier) + End + "}\n";
    const std::string Result = Combined ? "acc + c[row * w + col]" : "acc";
    Body += (Guarded ? "if (row < h && col < w)\n" : "") +
            std::string("c[row * w + col] = ") + Result + ";\n";
    std::string Params;
    for (const Param &P : K.Params)
      Params += (Params.empty() ? "" : ", ") + P.decl();
    const bool ByName = C.chance("blockDim", 25);
    const std::vector<std::pair<std::string, std::string>> Names = {
        {"T", T},
        {"A", Acc},
        {"I", Size},
        {"S", num(S)},
        {"BX", ByName ? "blockDim.x" : num(S)},
        {"BY", ByName ? "blockDim.y" : num(S)},
        {"PA", C.chance("padA", 20) ? " + 1" : ""},
        {"PB", C.chance("padB", 20) ? " + 1" : ""},
        {"F", First}};
    // The first index is made of other holes.
    K.Device = sub(sub("__global__ void " + K.Name + "(" + Params + ") {\n" +
                           Body + "}\n",
                       {{"F", First}}),
                   Names) +
               largeLaunch(K, S, S);
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
    const unsigned N = 1 + C.pick("launches", 2);
    const long long B = S;
    for (unsigned I = 0; I < N; ++I) {
      Choices::Scope Of(C, "launch" + num(I));
      const long long Ws[] = {2 * B + 3, 3 * B, 1, 4 * B + 1, 5 * B},
                      Hs[] = {B + 1, 3 * B, 1, 2 * B + 1},
                      Ds[] = {2 * B, 3 * B + 1, 1, B + 3,
                              Size == "unsigned int" ? B : 0};
      Add(Ws[C.pick("w", 5)], Hs[C.pick("h", 4)], Ds[C.pick("d", 5)],
          C.chance("surplusBlock", 15) ? 1 : 0);
    }
    Add(4 * B, 4 * B, 2 * B, 0);
  }
};

} // namespace

KernelText joinedKernel(Choices &C, const std::string &Name) {
  return JoinedKernel(C, Name).run();
}

} // namespace rcache::fuzz
