// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks as large as the tile that they stage, of which the threads at the rim compute
// nothing, so that blocks overlap. And near misses: rims that do something else as well,
// values that go from before the barrier to behind it, tiles in rounds.
//
//     const int x = (int)(blockIdx.x * 30 + threadIdx.x) - 1;
//     s[threadIdx.x] = x >= 0 && x < w ? in[x] : 0;
//     __syncthreads();
//     if (threadIdx.x >= 1 && threadIdx.x < 31 && x < w)
//       out[x] = s[threadIdx.x - 1] + s[threadIdx.x + 1];

#include "Grammar.h"

namespace rcache::fuzz {

namespace {

class OverlapKernel {
public:
  OverlapKernel(Choices &C, const std::string &Name) : C(C) { K.Name = Name; }

  KernelText run() {
    static const unsigned Shapes[][2] = {{16, 16}, {32, 1}, {64, 1}, {32, 8}, {8, 8}, {128, 1}, {32, 4}};
    const unsigned *Sh = Shapes[C.weighted("block", {35, 15, 12, 15, 10, 8, 5})];
    Out[0] = B[0] = Sh[0];
    Out[1] = B[1] = Sh[1];
    const ElemType &E = elemType(C.pick("type", 9));
    T = E.Name;
    Acc = E.Acc;
    static const unsigned Rims[][2] = {{1, 1}, {2, 2}, {0, 2}, {3, 1}, {1, 0}, {0, 0}};
    for (unsigned A = 0; A < 2; ++A)
      if (B[A] > 1) {
        Choices::Scope S(C, A ? "y" : "x");
        const unsigned *R = Rims[C.weighted("rim", {45, 20, 12, 8, 5, 10})];
        if (R[0] + R[1] >= B[A])
          continue;
        Low[A] = R[0];
        Out[A] = B[A] - R[0] - R[1];
      }
    Rounds = C.chance("rounds", 25);
    FromOutput = C.chance("fromOutput", 30);
    ByBdim = C.chance("blockDim", 30);
    const bool Restrict = C.chance("restrict", 60);
    const std::string Count = Rounds ? "w * h * 3" : "w * h";
    K.GridX = "(w + " + num(Out[0]) + " - 1) / " + num(Out[0]) + " + extra";
    K.GridY = "(h + " + num(Out[1]) + " - 1) / " + num(Out[1]);
    K.Params = {{Param::In, T, "in", Count, "", true, Restrict},
                {Param::Out, Acc, "out", "w * h", "", false, Restrict},
                {Param::Scalar, "int", "w", "", "w"},
                {Param::Scalar, "int", "h", "", "h"}};
    // A thread of the rim that stores is no thread that only stages.
    Rim = C.weighted("rimStores", {82, 9, 9});
    if (Rim)
      K.Params.push_back({Param::Out, "int", "rim", "((w / " + num(Out[0]) + " + 2) * (h / " + num(Out[1]) + " + 1) * " + num(B[0] * B[1]) + ")", "", false, Restrict});
    std::string Params;
    for (const Param &P : K.Params)
      Params += (Params.empty() ? "" : ", ") + P.decl();
    K.Device = "__global__ void " +
               std::string(C.chance("launchBounds", 20) ? "__launch_bounds__(" + num(B[0] * B[1]) + ") " : "") +
               K.Name + "(" + Params + ") {\n" + body() + "}\n";
    launches();
    return std::move(K);
  }

private:
  Choices &C;
  KernelText K;
  unsigned B[2] = {16, 1}, Low[2] = {0, 0}, Out[2] = {16, 1};
  bool Rounds = false, FromOutput = false, ByBdim = false;
  unsigned Rim = 0;
  std::string T, Acc;

  static std::string thread(unsigned A) { return std::string("threadIdx.") + "xy"[A]; }
  static std::string plus(const std::string &E, int D) {
    return D == 0 ? E : D > 0 ? E + " + " + num(D) : E + " - " + num(-D);
  }
  std::string at(const std::string &Y, const std::string &X) const {
    return B[1] > 1 ? "s[" + Y + "][" + X + "]" : "s[" + X + "]";
  }

  /// The element that a thread stages, and the output that it computes.
  std::string coordinates() {
    std::string Text;
    for (unsigned A = 0; A < 2; ++A) {
      const std::string V = A ? "y" : "x";
      if (B[A] == 1) {
        Text += "const int " + V + "i = blockIdx." + V + ", " + V + " = " + V + "i;\n";
        continue;
      }
      const std::string Width =
          ByBdim ? "(blockDim." + V + " - " + num(B[A] - Out[A]) + ")" : num(Out[A]);
      const std::string Own = "(int)(blockIdx." + V + " * " + Width + " + " + thread(A) + ")";
      if (FromOutput)
        Text += "const int " + V + " = " + Own + ", " + V + "i = " + plus(V, -int(Low[A])) + ";\n";
      else
        Text += "const int " + V + "i = " + plus(Own, -int(Low[A])) + ", " + V + " = " + V + "i;\n";
    }
    return Text;
  }

  std::string staging(const std::string &Plane) {
    const std::string S = at(thread(1), thread(0)),
                      Read = "in[" + Plane + "yi * w + xi]", In = "xi >= 0 && xi < w && yi >= 0 && yi < h";
    switch (C.weighted("staging", {35, 20, 20, 15, 10})) {
    case 1:
      return "if (" + In + ")\n  " + S + " = " + Read + ";\nelse\n  " + S + " = (" + T + ")0;\n";
    case 2:
      return "{\nconst int cx = xi < 0 ? 0 : (xi < w ? xi : w - 1), cy = yi < 0 ? 0 : (yi < h ? yi : h - 1);\n" +
             S + " = in[" + Plane + "cy * w + cx];\n}\n";
    case 3: // kept for later
      Kept = true;
      return T + " own = (" + T + ")0;\nif (" + In + ")\n  own = " + Read + ";\n" + S + " = own;\n";
    case 4:
      Kept = true;
      return "const " + T + " own = " + In + " ? " + Read + " : (" + T + ")0;\n" + S + " = own;\n";
    default:
      return S + " = " + In + " ? " + Read + " : (" + T + ")0;\n";
    }
  }
  bool Kept = false; ///< `own` is what the thread staged

  /// Is the thread in the middle?
  std::string middle() {
    std::string Text;
    for (unsigned A = 0; A < 2; ++A) {
      const unsigned First = FromOutput ? 0 : Low[A];
      if (First)
        Text += (Text.empty() ? "" : " && ") + thread(A) + " >= " + num(First);
      if (First + Out[A] < B[A])
        Text += (Text.empty() ? "" : " && ") + thread(A) + " < " + num(First + Out[A]);
    }
    return Text.empty() ? "true" : Text;
  }

  std::string use() {
    const auto Of = [&](unsigned A, int D) {
      return plus(thread(A), FromOutput ? D + int(Low[A]) : D);
    };
    const int X0 = -int(Low[0]), X1 = int(B[0] - Out[0]) + X0, Y0 = -int(Low[1]),
              Y1 = int(B[1] - Out[1]) + Y0;
    switch (C.weighted("form", {40, 30, 30})) {
    case 1:
      return "for (int j = " + num(Y0) + "; j <= " + num(Y1) + "; ++j)\nfor (int i = " + num(X0) + "; i <= " +
             num(X1) + "; ++i)\n  acc += " +
             at(Of(1, 0) + " + j", Of(0, 0) + " + i") + (C.chance("weights", 40) ? " * (i - j)" : "") + ";\n";
    case 2:
      return "for (int i = " + num(X0) + "; i <= " + num(X1) + "; ++i)\n  acc = " +
             at(Of(1, Y1), Of(0, 0) + " + i") + " - acc;\n";
    default:
      return "acc += " + at(Of(1, Y0), Of(0, 0)) + " - " + at(Of(1, 0), Of(0, X0)) + " + " +
             at(Of(1, 0), Of(0, X1)) + ";\nacc -= " + at(Of(1, Y1), Of(0, 0)) + ";\n";
    }
  }

  std::string body() {
    const std::string Tile = "__shared__ " + T + " s" + (B[1] > 1 ? "[" + num(B[1]) + "]" : "") + "[" +
                             num(B[0]) + (B[1] > 1 && C.chance("padded", 20) ? " + 1" : "") + "];\n";
    const bool Late = C.chance("tileLate", 50);
    std::string Text = (Late ? "" : Tile) + coordinates() + (Late ? Tile : "");
    const std::string In = middle(), Store = "out[y * w + x] = acc;\n",
                      There = "x >= 0 && x < w && y >= 0 && y < h";
    const std::string Number = "((blockIdx.y * gridDim.x + blockIdx.x) * " +
                                            num(B[0] * B[1]) + " + threadIdx.y * " + num(B[0]) +
                                            " + threadIdx.x)";
    if (Rim == 1)
      Text += "rim[" + Number + "] = xi - yi;\n";
    if (Rounds) {
      Text += Acc + " acc = 1;\nfor (int c = 0; c < 3; ++c) {\n" + staging("c * w * h + ") +
              "__syncthreads();\nif (" + In + ") {\n" + use() + (Kept ? "acc += own;\n" : "") +
              "}\n__syncthreads();\n}\n";
      Text += "if (" + In + " && " + There + ")\n  " + Store;
    } else {
      const bool Early = C.chance("sumEarly", 40);
      if (Early)
        Text += Acc + " acc = 2;\n";
      Text += staging("") + "__syncthreads();\n";
      if (Rim == 2)
        Text += "rim[" + Number + "] = (int)threadIdx.x + 3;\n";
      const std::string Made = (Early ? "" : Acc + " acc = 2;\n") + use() + (Kept ? "acc += own;\n" : "") + Store;
      switch (C.weighted("guard", {40, 30, 30})) {
      case 1:
        Text += "if (!(" + In + "))\n  return;\nif (" + There + ") {\n" + Made + "}\n";
        break;
      case 2:
        Text += "const bool inner = " + In + ";\nif (inner && " + There + ") {\n" + Made + "}\n";
        break;
      default:
        Text += "if (" + There + ") {\nif (" + In + ") {\n" + Made + "}\n}\n";
        break;
      }
    }
    return Text;
  }

  void launches() {
    const unsigned N = 1 + C.pick("launches", 3);
    for (unsigned I = 0; I < N; ++I) {
      Choices::Scope S(C, "launch" + num(I));
      const long long Ws[] = {2 * Out[0] + 3, 3 * Out[0], 1, Out[0] - 1, B[0] + 1};
      const long long Hs[] = {Out[1] + 1, 2 * Out[1], 1, 2 * Out[1] + 3, Out[1]};
      K.Launches.push_back({{"w", Ws[C.pick("w", 5)]},
                            {"h", Hs[C.pick("h", 5)]},
                            {"bx", B[0]},
                            {"by", B[1]},
                            {"off", C.weighted("offset", {70, 20, 10})},
                            {"extra", C.chance("surplusBlock", 10) ? 1 : 0}});
    }
  }
};

} // namespace

KernelText overlapKernel(Choices &C, const std::string &Name) {
  return OverlapKernel(C, Name).run();
}

} // namespace rcache::fuzz
