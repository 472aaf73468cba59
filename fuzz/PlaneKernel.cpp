// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two-dimensional tiles: how a block of BX x BY threads stages a tile with a
// frame of RX x RY elements, and which neighbours each thread reads.

#include "Grammar.h"

namespace rcache::fuzz {

namespace {

class PlaneKernel {
public:
  PlaneKernel(Choices &C, const std::string &Name) : C(C) { K.Name = Name; }

  KernelText run() {
    static const unsigned Shapes[][2] = {{16, 16}, {32, 8}, {32, 4}, {16, 4},
                                         {64, 2},  {8, 8},  {32, 1}};
    const unsigned *Sh = Shapes[C.weighted("block", {30, 25, 15, 10, 8, 7, 5})];
    BX = Sh[0];
    BY = Sh[1];
    const ElemType &E = elemType(C.pick("type", 9));
    T = E.Name;
    Acc = E.Acc;
    RX = static_cast<int>(C.weighted("radiusX", {15, 45, 25, 15}));
    RY = static_cast<int>(C.weighted("radiusY", {20, 45, 25, 10}));
    Flat = C.chance("flat", 25);
    Exact = C.chance("constantInIndex", 50);
    Bdx = Exact ? num(BX) : "blockDim.x";
    Bdy = Exact ? num(BY) : "blockDim.y";
    Clamp = C.chance("clamp", 35);
    bool Restrict = C.chance("restrict", 65);
    K.GridX = "(w + bx - 1) / bx + extra";
    // One plane, or one of each image of a batch: three factors in an index.
    Image = C.weighted("images", {60, 14, 8, 9, 9});
    K.GridY = std::string("(h + by - 1) / by") + (Image ? ", images" : "");
    const std::string Count = Image ? "w * h * images" : "w * h";
    K.Params = {{Param::In, T, "in", Count, "", true, Restrict},
                {Param::Out, Acc, "out", Count, "", false, Restrict},
                {Param::Scalar, "int", "w", "", "w"},
                {Param::Scalar, "int", "h", "", "h"}};
    if (!Restrict && Acc == T) {
      K.AliasOf = "in";
      K.Aliased = "out";
    }
    std::string Params;
    for (const Param &P : K.Params)
      Params += (Params.empty() ? "" : ", ") + P.decl();
    std::string Pad = C.chance("bankPadding", 20) ? " + 1" : "";
    Pitch = num(BX + 2 * RX) + Pad;
    std::string Rows = num(BY + 2 * RY);
    std::string Body = "__shared__ " + T + " tile" +
                       (Flat ? "[(" + Pitch + ") * " + Rows + "]"
                             : "[" + Rows + "][" + Pitch + "]") +
                       ";\n";
    Body += "const int tx = threadIdx.x, ty = threadIdx.y;\n"
            "const int x0 = blockIdx.x * " +
            Bdx + ", y0 = blockIdx.y * " + Bdy +
            ";\nconst int x = x0 + tx, y = y0 + ty;\n";
    if (Image)
      Body += std::string(Image == 2 ? "const unsigned" : "const int") + " z = blockIdx.z;\n";
    Body += staging() + "__syncthreads();\n" + use();
    if (Body.find("UNROLLED") != std::string::npos)
      K.Device = "#ifndef UNROLLED\n#define UNROLLED _Pragma(\"unroll\")\n#endif\n";
    K.Device += "__global__ void " + std::string(C.chance("launchBounds", 20)
                    ? "__launch_bounds__(" + num(BX * BY) + ") "
                    : "") +
               K.Name + "(" + Params + ") {\n" + Body + "}\n";
    launches();
    return std::move(K);
  }

private:
  Choices &C;
  KernelText K;
  unsigned BX = 16, BY = 16;
  int RX = 0, RY = 0;
  bool Flat = false, Exact = false, Clamp = false;
  size_t Image = 0; ///< 0: there is one
  std::string T, Acc, Bdx, Bdy, Pitch;

  /// Where the element of row \p Y and column \p X is in memory.
  std::string index(const std::string &Y, const std::string &X) const {
    switch (Image) {
    case 0:
      return Y + " * w + " + X;
    case 3:
      return "z * h * w + " + Y + " * w + " + X;
    case 4:
      return X + " + w * " + Y + " + (int)blockIdx.z * (w * h)";
    default:
      return "(z * h + " + Y + ") * w + " + X;
    }
  }

  std::string at(const std::string &Row, const std::string &Col) const {
    return Flat ? "tile[(" + Row + ") * (" + Pitch + ") + " + Col + "]"
                : "tile[" + Row + "][" + Col + "]";
  }
  static std::string plus(const std::string &E, int D) {
    return D == 0 ? E : D > 0 ? E + " + " + num(D) : E + " - " + num(-D);
  }

  /// Stages tile element (Row, Col).
  std::string stage(const std::string &Row, const std::string &Col) const {
    std::string Sx = "x0 + " + Col + (RX ? " - " + num(RX) : "");
    std::string Sy = "y0 + " + Row + (RY ? " - " + num(RY) : "");
    std::string Out = "{\nconst int sx = " + Sx + ", sy = " + Sy + ";\n";
    if (Clamp)
      return Out +
             "const int cx = sx < 0 ? 0 : (sx < w ? sx : w - 1);\n"
             "const int cy = sy < 0 ? 0 : (sy < h ? sy : h - 1);\n" +
             at(Row, Col) + " = in[" + index("cy", "cx") + "];\n}\n";
    return Out + at(Row, Col) +
           " = sx >= 0 && sx < w && sy >= 0 && sy < h ? in[" + index("sy", "sx") + "] : (" +
           T + ")0;\n}\n";
  }

  std::string staging() {
    std::string NX = Bdx + (RX ? " + " + num(2 * RX) : ""),
                NY = Bdy + (RY ? " + " + num(2 * RY) : "");
    switch (C.weighted("staging", {45, 25, 30})) {
    case 1: // through a linear thread index
      return "for (int e = ty * " + Bdx + " + tx; e < (" + NX + ") * (" + NY +
             "); e += " + Bdx + " * " + Bdy + ") {\nconst int row = e / (" +
             NX + "), col = e % (" + NX + ");\n" + stage("row", "col") + "}\n";
    case 2: { // own element, then the frame; corners too
      std::string Out = stage(plus("ty", RY), plus("tx", RX));
      if (RX > static_cast<int>(BX) || RY > static_cast<int>(BY))
        break;
      if (RX)
        Out += "if (tx < " + num(RX) + ") {\n" + stage(plus("ty", RY), "tx") +
               stage(plus("ty", RY), "tx + " + Bdx + " + " + num(RX)) + "}\n";
      if (RY)
        Out += "if (ty < " + num(RY) + ") {\n" + stage("ty", plus("tx", RX)) +
               stage("ty + " + Bdy + " + " + num(RY), plus("tx", RX)) + "}\n";
      if (RX && RY)
        Out += "if (tx < " + num(RX) + " && ty < " + num(RY) + ") {\n" +
               stage("ty", "tx") +
               stage("ty", "tx + " + Bdx + " + " + num(RX)) +
               stage("ty + " + Bdy + " + " + num(RY), "tx") +
               stage("ty + " + Bdy + " + " + num(RY),
                     "tx + " + Bdx + " + " + num(RX)) +
               "}\n";
      return Out;
    }
    default:
      break;
    }
    return "for (int row = ty; row < " + NY + "; row += " + Bdy +
           ")\nfor (int col = tx; col < " + NX + "; col += " + Bdx + ")\n" +
           stage("row", "col");
  }

  std::string use() {
    std::string Sum = Acc + " acc = 0;\n";
    static const char *const Ways[] = {"#pragma unroll\n", "_Pragma(\"unroll\") ", "UNROLLED ",
                                       "#pragma unroll 2\n"};
    const std::string Unroll =
        C.chance("unroll", 50) ? Ways[C.weighted("unrollWay", {55, 15, 20, 10})] : "";
    switch (C.weighted("form", {40, 25, 15, 20})) {
    case 1: { // a cross
      Sum += "acc = " + at(plus("ty", RY), plus("tx", RX));
      if (RX)
        Sum += " + " + at(plus("ty", RY), "tx") + " - " +
               at(plus("ty", RY), plus("tx", 2 * RX));
      if (RY)
        Sum += " + " + at("ty", plus("tx", RX)) + " - " +
               at(plus("ty", 2 * RY), plus("tx", RX));
      Sum += ";\n";
      break;
    }
    case 2: // a column
      Sum += Unroll + "for (int j = 0; j <= " + num(2 * RY) +
             "; ++j)\n  acc = " + at("ty + j", plus("tx", RX)) + " - acc;\n";
      break;
    case 3: // a row
      Sum += Unroll + "for (int i = 0; i <= " + num(2 * RX) +
             "; ++i)\n  acc += " + at(plus("ty", RY), "tx + i") + ";\n";
      break;
    default:
      Sum += Unroll + "for (int j = 0; j <= " + num(2 * RY) + "; ++j)\n" +
             Unroll + "for (int i = 0; i <= " + num(2 * RX) +
             "; ++i)\n  acc += " + at("ty + j", "tx + i") +
             (C.chance("weights", 40) ? " * (i + j)" : "") + ";\n";
      break;
    }
    const std::string Declared = Acc + " acc = 0;\n";
    Sum = Declared + perhapsUnder(C, {"tx > 5", "(tx + ty) % 3 == 1", "w > 40", "x + 3 < w", "ty > 1"},
                                  Sum.substr(Declared.size()));
    if (C.chance("storeGuardOnly", 30))
      return Sum + "if (x < w && y < h)\n  out[" + index("y", "x") + "] = acc;\n";
    return "if (x < w && y < h) {\n" + Sum + "out[" + index("y", "x") + "] = acc;\n}\n";
  }

  void launches() {
    auto Add = [&](long long W, long long H, long long Bx, long long Off,
                   long long Alias, long long Extra) {
      K.Launches.push_back({{"w", W},
                            {"h", H},
                            {"bx", Bx},
                            {"by", BY},
                            {"off", Off},
                            {"alias", Alias},
                            {"extra", Extra}});
      if (Image)
        K.Launches.back().push_back({"images", 1 + C.pick("images", 3)});
    };
    unsigned N = 1 + C.pick("launches", 3);
    for (unsigned I = 0; I < N; ++I) {
      Choices::Scope S(C, "launch" + num(I));
      long long Bx = BX, By = BY;
      if (!Exact && I && C.chance("smaller", 30))
        Bx = BX / 2;
      long long Ws[] = {2 * Bx + 3, 2 * Bx, 1, Bx - 1, 3 * Bx + 1};
      long long Hs[] = {By + 1, 2 * By, 1, 2 * By + 3, By};
      long long W = Ws[C.pick("w", 5)];
      Add(W, Hs[C.pick("h", 5)], Bx, C.weighted("offset", {70, 20, 10}), 0,
          W > Bx && C.chance("shortGrid", 15) ? -1
          : C.chance("surplusBlock", 10)      ? 1
                                              : 0);
    }
    Add(3 * BX + 1, BY + 1, BX, 0, 0, 0);
    if (!K.Aliased.empty()) // one block, in place: its barrier orders all
      Add(BX, BY, BX, 0, 1, 0);
  }
};

} // namespace

KernelText planeKernel(Choices &C, const std::string &Name) {
  return PlaneKernel(C, Name).run();
}

} // namespace rcache::fuzz
