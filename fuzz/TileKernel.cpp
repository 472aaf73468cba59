// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile loops, planes in a loop along z, filters that are staged themselves,
// vectors as elements, helpers that take the array: texts with holes, the holes
// filled by answers. Every launch is defined for every w, h and d from 1 on.

#include "Grammar.h"

namespace rcache::fuzz {

namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

class TileKernel {
public:
  TileKernel(Choices &C, const std::string &Name) : C(C) { K.Name = Name; }

  KernelText run() {
    const ElemType &E =
        elemType(C.weighted("type", {40, 20, 10, 5, 8, 12, 0, 5}));
    T = E.Name;
    Acc = E.Acc;
    Restrict = C.chance("restrict", 70);
    switch (C.weighted("form", {22, 12, 10, 10, 10, 8, 8, 8, 6, 6})) {
    case 1:
      return twoOutputs();
    case 2:
      return stagedFilter();
    case 3:
      return C.chance("queues", 50) ? planeQueues() : planes();
    case 4:
      return twoFields();
    case 5:
      return helper();
    case 6:
      return bodies();
    case 7:
      return transpose();
    case 8:
      return linearThread();
    case 9:
      return box3();
    default:
      return product();
    }
  }

  /// Loops over planes alone, with a launch that has few blocks for its rounds.
  KernelText runCut() {
    const ElemType &E = elemType(C.weighted("type", {50, 20, 10, 5, 8, 7}));
    T = E.Name;
    Acc = E.Acc;
    Restrict = C.chance("restrict", 70);
    KernelText Out = C.chance("halosOfThreads", 25) ? channels()
                     : C.chance("queues", 65)       ? planeQueues()
                                                    : planes();
    Out.Device += largeLaunch(Out, PlaneX, PlaneY);
    Out.OnNvcc = C.chance("onNvcc", 30);
    return Out;
  }

private:
  Choices &C;
  KernelText K;
  std::string T, Acc;
  bool Restrict = true;
  unsigned PlaneX = 32, PlaneY = 8; ///< the block of a loop over planes

  std::string pick(const std::string &Name, std::vector<std::string> Texts) {
    return Texts[C.pick(Name, static_cast<unsigned>(Texts.size()))];
  }

  void in(const std::string &Name, const std::string &Count,
          const std::string &Type = "") {
    K.Params.push_back(
        {Param::In, Type.empty() ? T : Type, Name, Count, "", true, Restrict});
  }
  void out(const std::string &Name, const std::string &Count,
           const std::string &Type = "") {
    K.Params.push_back({Param::Out, Type.empty() ? Acc : Type, Name, Count, "",
                        false, Restrict});
  }
  void sizes(std::initializer_list<const char *> Which) {
    for (const char *W : Which)
      K.Params.push_back({Param::Scalar, "int", W, "", W});
  }

  /// \p Bx, \p By: the block; w and h around its borders.
  void launches(long long Bx, long long By) {
    auto Add = [&](long long W, long long H, long long D, long long Extra) {
      K.Launches.push_back({{"w", W},
                            {"h", H},
                            {"d", D},
                            {"bx", Bx},
                            {"by", By},
                            {"off", 0},
                            {"extra", Extra}});
    };
    unsigned N = 1 + C.pick("launches", 3);
    for (unsigned I = 0; I < N; ++I) {
      Choices::Scope S(C, "launch" + num(I));
      long long Ws[] = {2 * Bx, 2 * Bx + 3, 1, Bx - 1, 3 * Bx + 1};
      long long Hs[] = {By, By + 1, 1, 2 * By + 1};
      long long Ds[] = {Bx, 1, 2 * Bx + 1, 3, Bx - 1};
      Add(Ws[C.pick("w", 5)], Hs[C.pick("h", 4)], Ds[C.pick("d", 5)],
          I && C.chance("surplusBlock", 15) ? 1 : 0);
    }
    Add(3 * Bx + 1, By + 1, Bx + 2, 0);
    K.GridX = "(w + bx - 1) / bx + extra";
    K.GridY = By == 1 ? "1" : "(h + by - 1) / by";
  }

  /// Parameters and a body, `$T`, `$A`, `$K` and \p More replaced.
  KernelText finish(const std::string &Before, const std::string &Body,
                    Names More, unsigned Threads) {
    for (auto &[Name, Text] : More) // a text may itself have holes
      Text = sub(Text, Names(More));
    More.push_back({"T", T});
    More.push_back({"A", Acc});
    More.push_back({"K", K.Name});
    std::string Params;
    for (const Param &P : K.Params)
      Params += (Params.empty() ? "" : ", ") + P.decl();
    std::string Bounds = C.chance("launchBounds", 20)
                             ? "__launch_bounds__(" + num(Threads) + ") "
                             : "";
    K.Device = sub(Before, More) + "__global__ void " + Bounds + K.Name + "(" +
               Params + ") {\n" + sub(Body, More) + "}\n";
    return std::move(K);
  }

  /// Matrix product: tiles of a and b, any edge.
  KernelText product() {
    static const unsigned Sides[] = {16, 8, 32};
    unsigned S = Sides[C.weighted("side", {60, 30, 10})];
    unsigned Form = C.weighted("operands", {55, 15, 15, 15});
    in("a", "h * d");
    in("b", "d * w");
    out("c", "w * h");
    sizes({"w", "h", "d"});
    launches(S, S);
    std::string A = Form == 1 ? "a[(k + tx) * h + row]" : "a[row * d + k + tx]";
    std::string B = Form == 2 ? "b[col * d + k + ty]" : "b[(k + ty) * w + col]";
    std::string Body = R"(__shared__ $T as[$S][$S$P];
__shared__ $T bs[$S][$S$P];
const int tx = threadIdx.x, ty = threadIdx.y;
const int row = blockIdx.y * $S + ty, col = blockIdx.x * $S + tx;
$A acc = 0;
$LOOP {
  as[ty][tx] = row < h && k + tx < d ? $LOADA : ($T)0;
  bs[ty][tx] = k + ty < d && col < w ? $LOADB : ($T)0;
  __syncthreads();
  $UNROLL for (int i = 0; i < $S; ++i)
    acc $OP;
  __syncthreads();
}
if (row < h && col < w)
  c[row * w + col] = acc;
)";
    if (Form == 3) // only one operand is staged
      Body = R"(__shared__ $T as[$S][$S$P];
const int tx = threadIdx.x, ty = threadIdx.y;
const int row = blockIdx.y * $S + ty, col = blockIdx.x * $S + tx;
$A acc = 0;
$LOOP {
  as[ty][tx] = row < h && k + tx < d ? $LOADA : ($T)0;
  __syncthreads();
  if (col < w)
    for (int i = 0; i < $S && k + i < d; ++i)
      acc += as[ty][i] * b[(k + i) * w + col];
  __syncthreads();
}
if (row < h && col < w)
  c[row * w + col] = acc;
)";
    return finish(
        "", Body,
        {{"S", num(S)},
         {"P", C.chance("padding", 30) ? " + 1" : ""},
         {"LOADA", A},
         {"LOADB", B},
         {"LOOP", C.chance("countedTiles", 40)
                      ? "for (int t = 0, k = 0; t < (d + $S - 1) / $S; ++t, k "
                        "+= $S)"
                      : "for (int k = 0; k < d; k += $S)"},
         {"UNROLL", C.chance("unroll", 50) ? "#pragma unroll\n" : ""},
         {"OP", pick("operation", {"+= as[ty][i] * bs[i][tx]",
                                   "= as[ty][i] - bs[i][tx] - acc",
                                   "+= as[ty][i] < bs[i][tx] ? 1 : 0"})}},
        S * S);
  }

  /// A row pass, two outputs a thread in the original.
  KernelText twoOutputs() {
    unsigned R = 1 + C.pick("radius", 8), BX = 32, BY = 1u << C.pick("rows", 4);
    in("in", "w * h");
    in("weights", num(2 * R + 1));
    out("out", "w * h");
    sizes({"w", "h"});
    launches(BX, BY);
    K.GridX = "(w + 2 * bx - 1) / (2 * bx) + extra";
    return finish(
        "", R"(__shared__ $T s[$BY][2 * $BX + 2 * $R];
const int tx = threadIdx.x, ty = threadIdx.y;
const int x0 = blockIdx.x * 2 * $BX, y = blockIdx.y * $BY + ty;
for (int i = tx; i < 2 * $BX + 2 * $R; i += $BX) {
  const int x = x0 + i - $R;
  s[ty][i] = y < h && x >= 0 && x < w ? in[y * w + x] : ($T)0;
}
__syncthreads();
$UNROLL for (int o = 0; o < 2; ++o) {
  const int x = x0 + tx + o * $BX;
  $A acc = 0;
  for (int j = 0; j <= 2 * $R; ++j)
    acc += s[ty][tx + o * $BX + j] * weights[j];
  if (x < w && y < h)
    out[y * w + x] = acc;
}
)",
        {{"R", num(R)},
         {"BX", num(BX)},
         {"BY", num(BY)},
         {"UNROLL", C.chance("unroll", 60) ? "#pragma unroll\n" : ""}},
        BX * BY);
  }

  /// 1-D convolution with the filter staged, too.
  KernelText stagedFilter() {
    unsigned R = 1 + C.pick("radius", 7), B = 64u << C.pick("block", 3);
    in("in", "w");
    in("filter", num(2 * R + 1));
    out("out", "w");
    sizes({"w"});
    launches(B, 1);
    return finish(
        "", R"(__shared__ $T s[$B + 2 * $R];
__shared__ $T f[2 * $R + 1];
const int t = threadIdx.x, g = blockIdx.x * $BD + t;
if (t < 2 * $R + 1)
  f[t] = filter[$FI];
for (int i = t; i < $BD + 2 * $R; i += $BD) {
  const int x = (int)(blockIdx.x * $BD) + i - $R;
  s[i] = x >= 0 && x < w ? in[x] : ($T)0;
}
__syncthreads();
$A acc = 0;
$UNROLL for (int j = 0; j <= 2 * $R; ++j)
  acc += s[t + j] * f[$FJ];
if (g < w)
  out[g] = acc;
)",
        {{"R", num(R)},
         {"B", num(B)},
         {"BD", pick("extent", {"blockDim.x", num(B)})},
         {"FI", pick("flip", {"t", "2 * " + num(R) + " - t"})},
         {"FJ", pick("flipUse", {"j", "2 * " + num(R) + " - j"})},
         {"UNROLL", C.chance("unroll", 60) ? "#pragma unroll\n" : ""}},
        B);
  }

  /// A plane in shared memory, the neighbours along z in registers.
  KernelText planes() {
    unsigned BX = C.chance("wide", 50) ? 32 : 16,
             BY = C.chance("flat", 50) ? 4 : 8;
    PlaneX = BX;
    PlaneY = BY;
    in("in", "w * h * d");
    out("out", "w * h * d");
    sizes({"w", "h", "d"});
    launches(BX, BY);
    // What threads outside make of the plane goes nowhere, but may decide.
    const unsigned Use = C.weighted("use", {40, 15, 15, 15, 15});
    const std::string Uses[] = {
        "", "", "v += (" + Acc + ")table[(int)(p[ty + 1][tx]) & 7];\n",
        "if (p[ty + 1][tx] > p[ty][tx + 1])\n  v += here;\nelse\n  v -= behind;\n",
        "for (int k = (int)(p[ty + 1][tx]) & 3; k > 0; --k)\n  v += here;\n"};
    if (Use == 2)
      in("table", "8", "int");
    return finish("", R"(__shared__ $T p[$BY + 2][$BX + 2];
const int tx = threadIdx.x, ty = threadIdx.y;
const int x = blockIdx.x * $BX + tx, y = blockIdx.y * $BY + ty;
const bool inside = x < w && y < h;
$T behind = 0, here = 0, front = inside ? in[y * w + x] : ($T)0;
for (int z = 0; z < d; ++z) {
  behind = here;
  here = front;
  front = inside && z + 1 < d ? in[((z + 1) * h + y) * w + x] : ($T)0;
  p[ty + 1][tx + 1] = here;
  if (tx == 0)
    p[ty + 1][0] = x > 0 && x <= w && y < h ? in[(z * h + y) * w + x - 1] : ($T)0;
  if (tx == $BX - 1)
    p[ty + 1][$BX + 1] = x + 1 < w && y < h ? in[(z * h + y) * w + x + 1] : ($T)0;
  if (ty == 0)
    p[0][tx + 1] = y > 0 && y <= h && x < w ? in[(z * h + y - 1) * w + x] : ($T)0;
  if (ty == $BY - 1)
    p[$BY + 1][tx + 1] = y + 1 < h && x < w ? in[(z * h + y + 1) * w + x] : ($T)0;
  __syncthreads();
)" + std::string(Use ? "$A v = $SUM;\n$USE\nif (inside)\n  out[(z * h + y) * w + x] = v;\n"
                     : "if (inside)\n  out[(z * h + y) * w + x] = $SUM;\n") +
                          "__syncthreads();\n}\n",
                  {{"BX", num(BX)},
                   {"BY", num(BY)},
                   {"USE", Uses[Use]},
                   {"SUM", "p[ty + 1][tx] + p[ty + 1][tx + 2] + p[ty][tx + 1] - "
                           "p[ty + 2][tx + 1] + behind - front + here * 2"}},
                  BX * BY);
  }

  /// Channels of an image, or planes, one a round or a block each, in blocks with a thread
  /// for each element of the tile: those of the halo compute nothing, whether the tile
  /// begins at the first output or in front of it.
  KernelText channels() {
    const unsigned B = C.chance("wide", 40) ? 32 : 16, By = C.chance("flat", 40) ? 8 : 16,
                   R = 1 + C.pick("radius", 2);
    PlaneX = B;
    PlaneY = By;
    in("in", "w * h * d");
    out("out", "w * h * d");
    sizes({"w", "h", "d"});
    launches(B, By);
    const std::string Halo = " - " + num(2 * R);
    K.GridX = "(w + bx" + Halo + " - 1) / (bx" + Halo + ") + extra";
    K.GridY = "(h + by" + Halo + " - 1) / (by" + Halo + ")";
    const bool Interleaved = C.chance("interleaved", 50), Own = C.chance("own", 40);
    const std::string Back = Own ? " - " + num(R) : "",
                      Tap = "t[ty + i" + Back + "][tx + j" + Back + "]";
    const unsigned Each = C.weighted("blockEach", {60, 25, 15});
    if (Each)
      K.GridY += ", d";
    const std::string Inner =
        Own ? "tx >= $R && tx < $BX - $R && ty >= $R && ty < $BY - $R"
        : C.chance("inner", 50) ? "tx < $OX && ty < $OY" : "ty < $OY && tx < $OX && xo < w";
    return finish("", R"(__shared__ $T t[$BY][$BX];
const int tx = threadIdx.x, ty = threadIdx.y;
const int xo = blockIdx.x * $OX + tx, yo = blockIdx.y * $OY + ty;
const int xi = xo - $R, yi = yo - $R;
$ROUND
  if (yi >= 0 && yi < h && xi >= 0 && xi < w)
    t[ty][tx] = in[$IN];
  else
    t[ty][tx] = 0;
  __syncthreads();
  if ($INNER) {
    $A v = 0;
    for (int i = 0; i <= 2 * $R; ++i)
      for (int j = 0; j <= 2 * $R; ++j)
        $TAKE;
    if ($YO < h && $XO < w)
      out[$OUT] = v;
  }
  __syncthreads();
}
)",
                  {{"BX", num(B)},
                   {"BY", num(By)},
                   {"OX", num(B - 2 * R)},
                   {"OY", num(By - 2 * R)},
                   {"ROUND", Each == 0   ? "for (int z = 0; z < d; ++z) {"
                             : Each == 1 ? "const int z = blockIdx.z;\n{"
                                         : "const unsigned z = blockIdx.z;\n{"},
                   {"IN", Interleaved ? "(yi * w + xi) * d + z" : "(z * h + yi) * w + xi"},
                   {"OUT", Interleaved ? "($YO * w + $XO) * d + z" : "(z * h + $YO) * w + $XO"},
                   {"INNER", Inner},
                   {"TAKE", pick("take", {"v += " + Tap, "v = " + Tap + " > v ? " + Tap + " : v"})},
                   {"YO", Own ? "yi" : "yo"},
                   {"XO", Own ? "xi" : "xo"},
                   {"R", num(R)}},
                  B * By);
  }

  /// The same with queues of several planes in private arrays.
  KernelText planeQueues() {
    unsigned BX = C.chance("wide", 50) ? 32 : 16,
             BY = C.chance("flat", 50) ? 4 : 8, D = 1 + C.pick("depth", 3);
    PlaneX = BX;
    PlaneY = BY;
    in("in", "w * h * d");
    out("out", "w * h * d");
    sizes({"w", "h", "d"});
    launches(BX, BY);
    const bool If = C.chance("if", 50), Late = C.chance("late", 40);
    const std::string Loop = C.chance("unroll", 50) ? "#pragma unroll\n" : "";
    auto Load = [&](const std::string &To, const std::string &Z) {
      const std::string From = "in[((" + Z + ") * h + y) * w + x]";
      return If ? "if (inside && " + Z + " < d)\n  " + To + " = " + From + ";\n"
                : To + " = inside && " + Z + " < d ? " + From + " : ($T)0;\n";
    };
    // Moves the planes on and loads the one that comes in at the end.
    std::string Move = Loop + "for (int i = $D - 1; i > 0; --i)\n  back[i] = "
                              "back[i - 1];\nback[0] = here;\nhere = "
                              "ahead[0];\n" +
                       Loop + "for (int i = 1; i < $D; ++i)\n  ahead[i - 1] = "
                              "ahead[i];\n";
    Move += (If ? "ahead[$D - 1] = 0;\n" : "") +
            Load("ahead[$D - 1]", Late ? "z + 1 + $D" : "z + $D");
    const std::string Start =
        C.chance("list", 40)
            ? "$T ahead[$D] = {}, back[$D] = {};\n"
            : "$T ahead[$D], back[$D];\n" + Loop +
                  "for (int i = 0; i < $D; ++i) {\n  back[i] = 0;\n  ahead[i] "
                  "= 0;\n}\n";
    std::string Fill;
    if (Late)
      Fill = Load("here", "0");
    Fill += Loop + "for (int i = 0; i < $D; ++i) {\n" +
            Load("ahead[i]", Late ? "i + 1" : "i") + "}\n";
    return finish("", R"(__shared__ $T p[$BY + 2][$BX + 2];
const int tx = threadIdx.x, ty = threadIdx.y;
const int x = blockIdx.x * $BX + tx, y = blockIdx.y * $BY + ty;
const bool inside = x < w && y < h;
)" + Start + "$T here = 0;\n" + Fill +
                          "for (int z = 0; z < d; ++z) {\n" +
                          (Late ? "" : Move) + R"(p[ty + 1][tx + 1] = here;
  if (tx == 0)
    p[ty + 1][0] = x > 0 && x <= w && y < h ? in[(z * h + y) * w + x - 1] : ($T)0;
  if (tx == $BX - 1)
    p[ty + 1][$BX + 1] = x + 1 < w && y < h ? in[(z * h + y) * w + x + 1] : ($T)0;
  if (ty == 0)
    p[0][tx + 1] = y > 0 && y <= h && x < w ? in[(z * h + y - 1) * w + x] : ($T)0;
  if (ty == $BY - 1)
    p[$BY + 1][tx + 1] = y + 1 < h && x < w ? in[(z * h + y + 1) * w + x] : ($T)0;
  __syncthreads();
  $A sum = here * 2;
)" + Loop + R"(for (int i = 0; i < $D; ++i)
    sum += back[i] - ahead[i];
  sum += p[ty + 1][tx] + p[ty + 1][tx + 2] + p[ty][tx + 1] - p[ty + 2][tx + 1];
  if (inside)
    out[(z * h + y) * w + x] = sum;
  __syncthreads();
)" + (Late ? Move : "") +
                          "}\n",
                  {{"BX", num(BX)}, {"BY", num(BY)}, {"D", num(D)}}, BX * BY);
  }

  /// A time step of two fields, one of them staged with a frame.
  KernelText twoFields() {
    unsigned BX = C.chance("wide", 50) ? 32 : 16,
             BY = C.chance("flat", 50) ? 4 : 16;
    in("heat", "w * h");
    in("power", "w * h");
    out("out", "w * h");
    sizes({"w", "h"});
    launches(BX, BY);
    static const char *const Border[] = {
        "sx < 0 ? 0 : (sx < w ? sx : w - 1)", "min(max(sx, 0), w - 1)",
        "sx < 0 ? -sx - 1 : (sx < w ? sx : 2 * w - 1 - sx)"};
    unsigned Bo = C.pick("border", 3);
    std::string X = Border[Bo], Y = X;
    for (char &Ch : Y)
      Ch = Ch == 'x' ? 'y' : Ch == 'w' ? 'h' : Ch;
    if (Bo == 1)
      Y = "min(max(sy, 0), h - 1)";
    // A mirrored index of a block that is partly outside is clamped once more.
    std::string Safe = Bo == 2 ? "if (cx < 0 || cx >= w)\ncx = 0;\nif (cy < 0 "
                                 "|| cy >= h)\ncy = 0;\n"
                               : "";
    return finish(
        "", R"(__shared__ $T s[$BY + 2][$BX + 2];
__shared__ $T q[$BY][$BX];
const int tx = threadIdx.x, ty = threadIdx.y;
const int x = blockIdx.x * $BX + tx, y = blockIdx.y * $BY + ty;
for (int r = ty; r < $BY + 2; r += $BY)
  for (int c = tx; c < $BX + 2; c += $BX) {
    const int sx = (int)(blockIdx.x * $BX) + c - 1;
    const int sy = (int)(blockIdx.y * $BY) + r - 1;
    int cx = $X;
    int cy = $Y;
    $SAFE s[r][c] = heat[cy * w + cx];
  }
if (x < w && y < h)
  q[ty][tx] = power[y * w + x];
__syncthreads();
if (x < w && y < h) {
  const $A own = s[ty + 1][tx + 1];
  out[y * w + x] = own + (s[ty][tx + 1] - own) + (s[ty + 2][tx + 1] - own) +
                   (s[ty + 1][tx] - own) - (s[ty + 1][tx + 2] - own) + q[ty][tx];
}
)",
        {{"BX", num(BX)}, {"BY", num(BY)}, {"X", X}, {"Y", Y}, {"SAFE", Safe}},
        BX * BY);
  }

  /// A function that takes the array, or a value that depends on a parameter.
  KernelText helper() {
    unsigned B = 64u << C.pick("block", 3), Form = C.pick("takes", 4);
    in("in", "w");
    in("other", "w");
    out("out", "w");
    sizes({"w", "d"});
    launches(B, 1);
    static const char *const Functions[] = {
        "__device__ $A at_$K(const $T *s, int i) {\n  return s[i] - s[i + 1];\n"
        "}\n",
        "__device__ $A at_$K(const $T (&s)[$B + 1], int i) {\n  return s[i] + "
        "s[i + 1];\n}\n",
        "template <class U>\n__device__ $A at_$K(U *s, int i) {\n  return s[i] "
        "* "
        "2;\n}\n",
        ""};
    std::string Use = Form == 3 ? "s[t] - s[t + 1]" : "at_$K(s, t)";
    std::string Value =
        C.chance("conditional", 40) ? "(d > 2 ? in[$X] : other[$X])" : "in[$X]";
    auto Stage = [&](const std::string &El, const std::string &X) {
      return "s[" + El + "] = " + X + " < w ? " + sub(Value, {{"X", X}}) +
             " : ($T)0;\n";
    };
    return finish(sub(Functions[Form], {{"B", num(B)}}),
                  R"(__shared__ $T s[$B + 1];
const int t = threadIdx.x, g = blockIdx.x * $B + t;
)" + Stage("t", "g") + "if (t == $B - 1)\n  " +
                      Stage("$B", "g + 1") +
                      "__syncthreads();\nif (g < w)\n  out[g] = " +
                      sub(Use, {{"K", K.Name}}) + ";\n",
                  {{"B", num(B)}}, B);
  }

  /// Every thread meets all bodies, tile by tile; elements are vectors.
  KernelText bodies() {
    unsigned B = 64u << C.pick("block", 2);
    T = "float4";
    Acc = "float";
    in("all", "w");
    out("out", "w");
    sizes({"w"});
    launches(B, 1);
    return finish(
        "", R"(__shared__ float4 tile[$B];
const int t = threadIdx.x, g = blockIdx.x * $B + t;
const float4 own = g < w ? all[g] : make_float4(0, 0, 0, 0);
float acc = 0;
for (int base = 0; base < w; base += $B) {
  tile[t] = base + t < w ? all[base + t] : make_float4(0, 0, 0, 0);
  __syncthreads();
  $UNROLL for (int j = 0; j < $B; ++j) {
    const float dx = tile[j].x - own.x, dy = tile[j].y - own.y;
    acc += $SUM;
  }
  __syncthreads();
}
if (g < w)
  out[g] = acc;
)",
        {{"B", num(B)},
         {"SUM",
          pick("sum", {"dx * dx + dy * dy", "tile[j].w * (dx - dy) + tile[j].z",
                       "dx > dy ? tile[j].w : own.z"})},
         {"UNROLL", C.chance("unroll", 30) ? "#pragma unroll 4\n" : ""}},
        B);
  }

  /// Read across what was written along.
  KernelText transpose() {
    static const unsigned Sides[] = {16, 8, 32};
    unsigned S = Sides[C.weighted("side", {50, 25, 25})];
    in("in", "w * h");
    out("out", "w * h", T);
    sizes({"w", "h"});
    launches(S, S);
    return finish("", R"(__shared__ $T s[$S][$S$P];
const int tx = threadIdx.x, ty = threadIdx.y;
const int x = blockIdx.x * $S + tx, y = blockIdx.y * $S + ty;
if (x < w && y < h)
  s[ty][tx] = in[y * w + x];
__syncthreads();
const int ox = blockIdx.y * $S + tx, oy = blockIdx.x * $S + ty;
if (ox < h && oy < w)
  out[oy * h + ox] = s[tx][ty];
)",
                  {{"S", num(S)}, {"P", C.chance("padding", 60) ? " + 1" : ""}},
                  S * S);
  }

  /// A line staged by a block of two dimensions through its linear index.
  KernelText linearThread() {
    unsigned BX = C.chance("wide", 50) ? 32 : 16,
             BY = C.chance("flat", 50) ? 4 : 2;
    in("in", "w");
    out("out", "w");
    sizes({"w"});
    launches(BX, BY);
    K.GridX = "(w + bx * by - 1) / (bx * by) + extra";
    K.GridY = "1";
    return finish("", R"(__shared__ $T s[$BX * $BY + 2];
const int t = threadIdx.y * $BX + threadIdx.x;
const int g = blockIdx.x * ($BX * $BY) + t;
s[t + 1] = g < w ? in[g] : ($T)0;
if (t == 0)
  s[0] = g > 0 && g - 1 < w ? in[g - 1] : ($T)0;
if (t == $BX * $BY - 1)
  s[$BX * $BY + 1] = g + 1 < w ? in[g + 1] : ($T)0;
__syncthreads();
if (g < w)
  out[g] = s[t] - s[t + 2] + s[t + 1];
)",
                  {{"BX", num(BX)}, {"BY", num(BY)}}, BX * BY);
  }

  /// Order statistics of 3 x 3 neighbours, a pitch in elements.
  KernelText box3() {
    unsigned BX = 32, BY = C.chance("flat", 50) ? 4 : 8;
    in("in", "(w + 5) * h");
    out("out", "w * h", T);
    K.Params.push_back({Param::Scalar, "int", "pitch", "", "w + 5"});
    sizes({"w", "h"});
    launches(BX, BY);
    return finish(
        "", R"(__shared__ $T s[($BY + 2) * ($BX + 2)];
const int tx = threadIdx.x, ty = threadIdx.y;
const int x = blockIdx.x * $BX + tx, y = blockIdx.y * $BY + ty;
for (int r = ty; r < $BY + 2; r += $BY)
  for (int c = tx; c < $BX + 2; c += $BX) {
    const int sx = (int)(blockIdx.x * $BX) + c - 1;
    const int sy = (int)(blockIdx.y * $BY) + r - 1;
    s[r * ($BX + 2) + c] =
        sx >= 0 && sx < w && sy >= 0 && sy < h ? in[sy * pitch + sx] : ($T)0;
  }
__syncthreads();
$T best = s[ty * ($BX + 2) + tx];
$UNROLL for (int j = 0; j < 3; ++j)
  for (int i = 0; i < 3; ++i) {
    const $T v = s[(ty + j) * ($BX + 2) + tx + i];
    best = v $CMP best ? v : best;
  }
if (x < w && y < h)
  out[y * w + x] = best;
)",
        {{"BX", num(BX)},
         {"BY", num(BY)},
         {"CMP", pick("order", {"<", ">"})},
         {"UNROLL", C.chance("unroll", 60) ? "#pragma unroll\n" : ""}},
        BX * BY);
  }
};

} // namespace

KernelText cutKernel(Choices &C, const std::string &Name) {
  return TileKernel(C, Name).runCut();
}

KernelText tileKernel(Choices &C, const std::string &Name) {
  return TileKernel(C, Name).run();
}

} // namespace rcache::fuzz
