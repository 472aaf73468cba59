// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of an image or of a batch: what is staged is an element of a row that
// begins at a multiple of a pitch, which may be of another type and sign than
// the index within the row, and that index is clamped or chosen by borders that
// may be far away, or guarded as a whole.
//
//     s[i] = in[y * pitch + min(max(b + i - L, 0), last)];
//
// Sums of both fit where the source has them, and need not elsewhere.

#include "Grammar.h"

namespace rcache::fuzz {

namespace {

class BatchKernel {
public:
  BatchKernel(Choices &C, const std::string &Name) : C(C) { K.Name = Name; }

  KernelText run() {
    static const unsigned Blocks[] = {128, 64, 32, 256};
    B = Blocks[C.weighted("block", {50, 25, 15, 10})];
    const ElemType &E = elemType(C.weighted("type", {50, 20, 10, 10, 5, 5}));
    T = E.Name;
    Acc = E.Acc;
    L = C.pick("left", 4);
    R = C.pick("right", 4);
    if (C.chance("images", 25))
      return images();
    static const char *const Pitches[] = {"int", "unsigned", "size_t", "long long"};
    Pitch = Pitches[C.pick("pitchType", 4)];
    // (With a sign: it is compared with 0.)
    static const char *const Indices[] = {"int", "long long", "long long", "long long"};
    Index = C.chance("otherIndex", 30) ? Indices[C.pick("indexType", 4)] : "int";
    Row = C.chance("otherRow", 30) ? "unsigned" : "int";
    Far = C.chance("farBorder", 40);
    const bool Restrict = C.chance("restrict", 50);
    // (Elements behind a row belong to the next one, or to the allocation.)
    K.Params = {{Param::In, T, "in", "p * h + 2 * bx + 16", "", true, Restrict},
                {Param::Out, Acc, "out", "p * h", "", false, Restrict},
                {Param::Scalar, "int", "w", "", "w"},
                {Param::Scalar, Pitch, "pitch", "", "p"},
                {Param::Scalar, "int", "last", "", "last"}};
    Told = C.chance("told", 20);
    if (Told)
      K.Params.push_back({Param::In, "int", "which", "h", "", true, Restrict});
    K.GridX = "(w + bx - 1) / bx + extra";
    K.GridY = Axis() == 'y' ? "h" : "1, h";
    launches();
    text();
    return std::move(K);
  }

private:
  Choices &C;
  KernelText K;
  unsigned B = 128, L = 1, R = 1;
  std::string T, Acc, Pitch, Index, Row;
  bool Far = false;       ///< a border behind all rows
  bool Flattened = false; ///< guarded as a whole
  bool Told = false;      ///< memory tells which rows are left out: they are nowhere

  char Axis() { return C.chance("batchAlongZ", 25) ? 'z' : 'y'; }

  /// The element of the row that x stands for, or is not there.
  std::string column() {
    static const char *const Ways[] = {
        "min(max(x, ($X)0), ($X)last)",
        "max(min(x, ($X)last), ($X)0)",
        "x < 0 ? 0 : x > last ? last : x",
        "(x < 0 ? 0 : x) > last ? last : (x < 0 ? 0 : x)",
        "max(x, ($X)0)",
    };
    return Ways[C.weighted("column", {35, 20, 15, 10, 20})];
  }

  /// Where the row begins.
  std::string line() const { return Told ? "(y * pitch + told)" : "y * pitch"; }

  std::string element() {
    // (Of the cast, too: `(size_t)(y * pitch + told)`.)
    const std::string Line = line();
    const std::string Sums[] = {"in[" + Line + " + ($C)]", "in[($C) + " + Line + "]",
                                "in[(size_t)" + Line + " + ($C)]", "(in + " + Line + ")[$C]",
                                "line[$C]"};
    return Sums[C.weighted("sum", {35, 15, 15, 15, 20})];
  }

  /// In front of the staging, where memory tells what is left out.
  std::string leaves() {
    static const char *const Ways[] = {
        "if (told != 0) {\nif (t == 0)\nout[y * pitch + b] = 5;\nreturn;\n}\n",
        "if (told != 0) {\nout[y * pitch + min(b + t, w - 1)] = 5;\nreturn;\n}\n",
        "if (told != 0 || t >= $B)\nreturn;\n",
        "if (told != 0)\nreturn;\n",
    };
    return "const int told = which[y] % 2 * (1 << 27);\n" +
           std::string(Ways[C.weighted("leaves", {50, 15, 15, 20})]);
  }

  std::string value() {
    if (C.chance("flattened", 25)) { // guarded by the whole of it
      Flattened = true;
      return "q >= 0 && q < total ? in[q] : ($T)0";
    }
    const std::string E = sub(element(), {{"C", column()}});
    return C.chance("guarded", 20) ? "x - " + num(R) + " <= last ? " + E + " : ($T)0" : E;
  }

  void text() {
    const std::string Value = value();
    std::string Load = "const $X x = b + i - " + num(L) + ";\n";
    if (Flattened)
      Load += "const long long q = (long long)y * (long long)pitch + x, "
              "total = (long long)pitch * (last < 1000000 ? last + 1 : 1);\n";
    Load += "s[i] = " + Value + ";\n";
    std::string Body = "__shared__ $T s[$B + $H];\n"
                       "const int t = threadIdx.x;\nconst $X b = blockIdx.x * $B;\n"
                       "const $Y y = blockIdx." +
                       std::string(1, Axis()) + ";\n";
    if (Told)
      Body += leaves();
    if (Value.find("line[") != std::string::npos)
      Body += "const $T *const line = in + " + line() + ";\n";
    Body += "for (int i = t; i < $B + $H; i += $B) {\n" + Load + "}\n__syncthreads();\n";
    std::string Sum;
    for (unsigned I = 0; I <= L + R; ++I)
      Sum += (I ? I % 2 ? " - " : " + " : "") + std::string("($A)s[t + ") + num(I) + "]";
    Body += "if (b + t < w)\nout[y * pitch + b + t] = " + Sum + ";\n";
    std::string Params;
    for (const Param &P : K.Params)
      Params += (Params.empty() ? "" : ", ") + P.decl();
    K.Device = sub("__global__ void " + K.Name + "(" + Params + ") {\n" + Body + "}\n",
                   {{"T", T},
                    {"A", Acc},
                    {"X", Index},
                    {"Y", Row},
                    {"B", num(B)},
                    {"H", num(L + R)}});
  }

  /// Rows of images, a row a block: three factors in an index. A block has threads for
  /// the halo, which compute nothing, in front of the first row as well.
  KernelText images() {
    const bool Restrict = C.chance("restrict", 50);
    K.Params = {{Param::In, T, "in", "w * h * images", "", true, Restrict},
                {Param::Out, Acc, "out", "w * h * images", "", false, Restrict},
                {Param::Scalar, "int", "w", "", "w"},
                {Param::Scalar, "int", "h", "", "h"}};
    const std::string Own = num(B - L - R);
    K.GridX = "(w + " + Own + " - 1) / " + Own;
    K.GridY = "h, images";
    launches();
    for (Launch &Of : K.Launches)
      Of.push_back({"images", 1 + C.pick("images", 3)});
    static const char *const Ways[] = {"(z * h + y) * w + x", "z * h * w + y * w + x",
                                       "x + w * (y + h * z)", "z * (w * h) + (x + y * w)",
                                       "(x + y * w) + (long long)z * h * w"};
    const std::string At = Ways[C.weighted("sum", {40, 20, 15, 15, 10})];
    std::string Sum;
    for (unsigned I = 0; I <= L + R; ++I)
      Sum += (I ? I % 2 ? " - " : " + " : "") + std::string("($A)s[t + ") + num(int(I)) + " - " +
             num(L) + "]";
    const std::string Else = C.chance("otherOutside", 30) ? "7" : "0";
    std::string Params;
    for (const Param &P : K.Params)
      Params += (Params.empty() ? "" : ", ") + P.decl();
    K.Device = sub("__global__ void " + K.Name + "(" + Params + R"() {
__shared__ $T s[$B];
const int t = threadIdx.x, x = blockIdx.x * $OWN + t - $L, y = blockIdx.y;
const $Z z = blockIdx.z;
const bool there = x >= 0 && x < w;
s[t] = there ? in[$AT] : ($T)$ELSE;
__syncthreads();
if (there && t >= $L && t < $OWN + $L)
  out[$AT] = $SUM;
}
)",
                   {{"SUM", sub(Sum, {{"A", Acc}})},
                    {"T", T},
                    {"Z", C.chance("unsignedImage", 30) ? "unsigned" : "int"},
                    {"B", num(B)},
                    {"OWN", Own},
                    {"L", num(L)},
                    {"AT", At},
                    {"ELSE", Else}});
    return std::move(K);
  }

  void launches() {
    const unsigned N = 2 + C.pick("launches", 2);
    for (unsigned I = 0; I < N; ++I) {
      Choices::Scope Of(C, "launch" + num(I));
      const long long Ws[] = {2ll * B + 3, 3ll * B, 1, 4ll * B + 1, 7};
      const long long W = Ws[C.pick("w", 5)];
      const long long Lasts[] = {W - 1, 0, W / 2, 0x7fffffff, 0x7fffff00};
      K.Launches.push_back({{"w", W},
                            {"h", 1 + C.pick("rows", 5)},
                            {"p", W + C.pick("padding", 3) * 5 + L + R},
                            {"last", Lasts[Far ? C.pick("last", 5) : C.pick("last", 3)]},
                            {"bx", B},
                            {"off", C.weighted("offset", {80, 20})},
                            {"extra", 0}});
    }
  }
};

} // namespace

KernelText batchKernel(Choices &C, const std::string &Name) {
  return BatchKernel(C, Name).run();
}

} // namespace rcache::fuzz
