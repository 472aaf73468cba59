// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The main family: each thread stages an element or two of a line, some threads
// stage the halo, all wait, each reads a window around its own element.
//
//     s[t + L] = in(x);  halo by one of seven idioms;  __syncthreads();
//     out[g] = f(s[t + L - L], ..., s[t + L + R])
//
// The element e of a block stands for the source index x = base + e - L
// (base + e where the allocation is padded instead of bounds-checked).

#include "Grammar.h"
#include <algorithm>

namespace rcache::fuzz {

namespace {

/// Who stages the halo.
enum Idiom {
  Tail,      ///< the first R threads, R elements behind the block (L = 0)
  FirstLast, ///< the first L and the last R threads
  FirstBoth, ///< the first threads, both sides
  Strided,   ///< a cooperative loop over block + L + R
  TwoSteps,  ///< everybody, then those whose second element exists
  OneThread, ///< thread 0 in a loop
  None       ///< one to one, L = R = 0
};
/// What stands between the source and an index out of range.
enum Bound { Zero, If, IfElse, Clamp, Padded, Other, Mirror };

struct Line {
  std::string Array, In, InB;
  ElemType E = elemType(0), Src = elemType(0);
  int L = 0, R = 0;
  Idiom Id = None;
  Bound Bd = Zero;
  unsigned ValueForm = 0;
};

class WindowKernel {
public:
  WindowKernel(Choices &C, const std::string &Name) : C(C) { K.Name = Name; }

  KernelText run() {
    S = sizeForm(C, K.Name, true);
    IsFloat = !C.chance("integers", 45);
    unsigned Ix = C.weighted("indexType", {55, 25, 10, 10});
    static const char *IxTypes[] = {"int", "unsigned", "long long", "size_t"};
    IndexType = IxTypes[Ix];
    Unsigned = Ix == 1 || Ix == 3;
    static const char *TNames[] = {"t", "tid", "lx", "local"};
    T = TNames[C.pick("threadName", 4)];
    ThreadType = C.chance("unsignedThread", 30) ? "unsigned" : "int";
    Restrict = C.weighted("restrict", {55, 15, 30});
    Flow = C.weighted("flow", {62, 14, 12, 12});
    Early = Flow == 0 && C.chance("earlyReturn", 20);
    Interior = Early || C.chance("interiorOnly", 35);
    unsigned Arrays = 1 + C.weighted("arrays", {72, 22, 6});
    for (unsigned I = 0; I < Arrays; ++I)
      Lines.push_back(line(I));
    parameters();
    emit();
    return std::move(K);
  }

private:
  Choices &C;
  KernelText K;
  SizeForm S;
  bool IsFloat = true, Unsigned = false, Early = false, Interior = false;
  unsigned Restrict = 0;
  unsigned Flow = 0; ///< 0 straight, 1 grid-stride, 2 several tiles, 3 twice
  std::string IndexType, T, ThreadType, Acc, OutType;
  std::vector<Line> Lines;
  unsigned MinBlock = 1;
  /// One launch passes an n of the upper half of an unsigned type's range.
  bool MayBig = false;
  /// Elements are counted from an argument, far behind all of them in one launch.
  bool HasFirst = false;

  Line line(unsigned I) {
    Choices::Scope Sc(C, "array" + num(I));
    Line N;
    N.Array = "s" + num(I);
    if (S.Kind == SizeForm::Dynamic)
      N.Array += "_" + K.Name; // one type for each extern array of a file
    N.In = "in" + num(I);
    static const unsigned Floats[] = {0, 2, 9, 12, 0};
    static const unsigned Ints[] = {1, 3, 4, 5, 6, 7, 8, 10, 11};
    N.E = IsFloat
              ? elemType(Floats[C.weighted("type", {55, 15, 15, 5, 10})])
              : elemType(
                    Ints[C.weighted("type", {35, 10, 10, 15, 8, 5, 7, 5, 5})]);
    N.Src = N.E;
    N.Id = static_cast<Idiom>(C.weighted("idiom", {20, 20, 12, 20, 13, 5, 10}));
    if (Early && N.Id != OneThread && N.Id != None)
      N.Id = N.Id == FirstLast || N.Id == FirstBoth ? Tail : N.Id;
    static const int Widths[] = {1, 2, 3, 4, 5, 8, 12, 0};
    N.L = Widths[C.weighted("left", {35, 20, 10, 10, 5, 5, 3, 12})];
    N.R = Widths[C.weighted("right", {35, 20, 10, 10, 5, 5, 3, 12})];
    if (C.chance("symmetric", 50))
      N.R = N.L;
    if (N.Id == Tail)
      N.L = 0;
    if (N.Id == None)
      N.L = N.R = 0;
    if (Early && N.Id != OneThread)
      N.L = 0;
    N.Bd = static_cast<Bound>(C.weighted("bound", {25, 23, 15, 13, 11, 8, 5}));
    if (N.Bd == If && !Interior)
      N.Bd = IfElse;
    if (Early && N.Bd != Padded)
      N.Bd = If;
    // The elements that the idiom covers ask for a least block.
    int Need = N.Id == Tail        ? N.R
               : N.Id == FirstLast ? std::max(N.L, N.R)
               : N.Id == FirstBoth ? std::max(N.L, N.R)
               : N.Id == TwoSteps  ? N.L + N.R
                                   : 1;
    MinBlock = std::max(MinBlock, static_cast<unsigned>(Need));
    N.ValueForm = N.E.Kind == ElemType::Pair
                      ? C.weighted("value", {80, 0, 0, 0, 0, 0, 20})
                      : C.weighted("value", {50, 10, 8, 14, 5, 5, 8});
    if (N.ValueForm == 3) {
      static const unsigned ToFloat[] = {1, 5, 2, 4};
      static const unsigned ToInt[] = {5, 4, 6, 7};
      N.Src = elemType(IsFloat ? ToFloat[C.pick("source", 4)]
                               : ToInt[C.pick("source", 4)]);
    }
    if (N.ValueForm == 1)
      N.InB = "by" + num(I);
    return N;
  }

  bool anyPadded() const {
    for (const Line &N : Lines)
      if (N.Bd == Padded)
        return true;
    return false;
  }

  bool storesReversed() { return C.weighted("store", {60, 14, 10, 16}) == 2; }

  /// \p Count, enough for all blocks where n says nothing about memory.
  std::string big(const std::string &Count) const {
    return MayBig ? "(" + Count + " + (big == 1 ? bx * 4 + 64 : 0))" : Count;
  }

  void parameters() {
    MayBig = Unsigned && Flow != 1 && !storesReversed();
    for (const Line &N : Lines)
      MayBig &= N.Bd != Clamp && N.Bd != Mirror && N.Bd != Padded;
    const std::string BigN =
        IndexType == "unsigned" ? "0x90000000u" : "0x9000000000000000ull";
    Acc = IsFloat ? "float" : "int";
    for (const Line &N : Lines) {
      std::string A = N.E.Acc;
      if (A == "double" || A == "long long" ||
          (A == "unsigned" && Acc == "int"))
        Acc = A;
    }
    OutType = Acc;
    if (Lines[0].E.Kind != ElemType::Pair && C.chance("outIsElement", 40) &&
        (Lines[0].E.Kind == ElemType::Int || Lines.size() == 1))
      OutType = Lines[0].E.Name;
    for (const Line &N : Lines) {
      int Halo = N.L + N.R;
      std::string Count =
          N.Bd == Padded
              ? "(((n + bx - 1) / bx + 2) * bx * 4 + " + num(Halo) + ")"
              : big("n");
      Param P{Param::In, N.Src.Name, N.In, Count, "", true, Restrict != 1};
      P.Const = C.weighted("const" + N.In, {80, 20}) == 0;
      if (Restrict == 1)
        P.Restrict = false;
      if (Restrict == 2)
        P.Restrict = C.chance("restrict" + N.In, 50);
      if (N.ValueForm == 6) {
        Param Sh{Param::Scalar, "int", "shift" + N.In, "", "3"};
        K.Params.push_back(Sh);
        P.Count = "(" + Count + " + 3)";
      }
      K.Params.push_back(P);
      if (!N.InB.empty()) {
        P.Name = N.InB;
        P.Count = Count;
        K.Params.push_back(P);
      }
      if (N.ValueForm == 4)
        K.Params.push_back({Param::Scalar,
                            N.E.Kind == ElemType::Float ? N.E.Name : "int",
                            "scale" + N.In, "", "3"});
    }
    Param O{Param::Out, OutType, "out", big("n")};
    O.Restrict =
        Restrict == 0 || (Restrict == 2 && C.chance("restrictOut", 30));
    K.Params.push_back(O);
    K.Params.push_back({Param::Scalar, IndexType, "n", "",
                        MayBig ? "(big == 1 ? " + BigN + " : n)" : "n"});
    HasFirst = MayBig && C.chance("first", 35);
    if (HasFirst)
      K.Params.push_back({Param::Scalar, IndexType, "first", "",
                          IndexType == "unsigned" ? "(big == 2 ? 0x7fffffc0u : 0u)"
                                                  : "(big == 2 ? 0x7fffffffffffffc0ull : 0ull)"});
    if (!O.Restrict && !K.Params[0].Restrict && Lines[0].Src.Name == OutType &&
        Lines[0].ValueForm != 6 && Lines[0].Bd != Padded &&
        K.Params[0].Kind == Param::In) {
      K.AliasOf = Lines[0].In;
      K.Aliased = "out";
    }
  }

  std::string inRange(const std::string &X) const {
    return Unsigned ? X + " < n" : X + " >= 0 && " + X + " < n";
  }

  /// The value staged for source index \p X.
  std::string value(const Line &N, const std::string &X) const {
    std::string A = N.In + "[" + X + "]", T = N.E.Name;
    switch (N.ValueForm) {
    case 1:
      return A + " * " + N.InB + "[" + X + "]";
    case 2:
      return A + " + 3";
    case 3:
      return "(" + T + ")" + A;
    case 4:
      return A + " * scale" + N.In;
    case 5:
      return "(" + A + " < 100 ? " + A + " : (" + T + ")100)";
    case 6:
      return N.In + "[" + X + " + shift" + N.In + "]";
    default:
      return A;
    }
  }

  /// Statement(s) that stage element \p E, the \p Rel -th behind the block's
  /// first source element less L.
  std::string stage(const Line &N, const std::string &E, const std::string &Rel,
                    const std::string &Base) const {
    std::string T = N.E.Name;
    bool Pair = N.E.Kind == ElemType::Pair;
    if (N.Bd == Padded) {
      std::string X = Base + " + " + Rel;
      return "{\n  " + N.Array + "[" + E + "] = " + value(N, X) + ";\n}\n";
    }
    std::string Cast = "(" + IndexType + ")";
    std::string Decl = "  const " + IndexType + " x = " + Base + " + " + Cast +
                       "(" + Rel + ")" + (N.L ? " - " + num(N.L) : "") + ";\n";
    std::string Zero = Pair ? T + "{0, 0}" : "(" + T + ")0";
    if (N.Bd == Other && !Pair)
      Zero = "(" + T + ")" + (N.E.Kind == ElemType::Float ? "1.5f" : "7");
    std::string A = N.Array + "[" + E + "]";
    switch (N.Bd) {
    case If:
      return "{\n" + Decl + "  if (" + inRange("x") + ")\n    " + A + " = " +
             value(N, "x") + ";\n}\n";
    case IfElse:
      return "{\n" + Decl + "  if (" + inRange("x") + ")\n    " + A + " = " +
             value(N, "x") + ";\n  else\n    " + A + " = " + Zero + ";\n}\n";
    case Clamp: {
      std::string Signed = Unsigned ? "(long long)x" : "x";
      if (IndexType == "unsigned")
        Signed = "(int)x";
      std::string Last = "(n - 1)";
      return "{\n" + Decl + "  const " + IndexType + " c = " + Signed +
             " < 0 ? 0 : (x < n ? x : " + Last + ");\n  " + A + " = " +
             value(N, "c") + ";\n}\n";
    }
    case Mirror: {
      std::string Signed = Unsigned ? "(long long)x" : "x";
      if (IndexType == "unsigned")
        Signed = "(int)x";
      return "{\n" + Decl + "  " + IndexType + " c = " + Signed +
             " < 0 ? -1 - x : x;\n  c = c < n ? c : 2 * n - 1 - c;\n" +
             "  c = " + inRange("c") + " ? c : 0;\n  " + A + " = " +
             value(N, "c") + ";\n}\n";
    }
    default:
      return "{\n" + Decl + "  " + A + " = (" + inRange("x") + ") ? (" + T +
             ")(" + value(N, "x") + ") : " + Zero + ";\n}\n";
    }
  }

  std::string staging(const Line &N, unsigned Index, const std::string &Base) {
    std::string L = num(N.L), R = num(N.R), B = S.Bd, Out;
    auto At = [&](const std::string &E) { return stage(N, E, E, Base); };
    std::string TL = N.L ? T + " + " + L : T;
    switch (N.Id) {
    case None:
      return At(T);
    case Tail:
      Out = At(T);
      if (N.R)
        Out += "if (" + T + " < " + R + ") " + At(T + " + " + B);
      return Out;
    case FirstLast:
      Out = At(TL);
      if (N.L)
        Out += "if (" + T + " < " + L + ") " + At(T);
      if (N.R)
        Out += "if (" + T + " >= " + B + " - " + R + ") " +
               At(T + " + " + num(N.L + N.R));
      return Out;
    case FirstBoth:
      Out = At(TL);
      if (N.L)
        Out += "if (" + T + " < " + L + ") " + At(T);
      if (N.R)
        Out += "if (" + T + " < " + R + ") " + At(T + " + " + B + " + " + L);
      return Out;
    case Strided: {
      std::string I = "e" + num(Index);
      return "for (" + ThreadType + " " + I + " = " + T + "; " + I + " < " + B +
             " + " + num(N.L + N.R) + "; " + I + " += " + B + ") " + At(I);
    }
    case TwoSteps:
      Out = At(T);
      if (N.L + N.R)
        Out += "if (" + T + " < " + num(N.L + N.R) + ") " + At(T + " + " + B);
      return Out;
    case OneThread:
      Out = At(TL);
      if (N.L + N.R)
        Out += "if (" + T + " == 0) {\n" +
               (N.L ? "for (int h = 0; h < " + L + "; ++h) " + At("h") : "") +
               (N.R ? "for (int h = 0; h < " + R + "; ++h) " +
                          At("h + " + B + " + " + L)
                    : "") +
               "}\n";
      return Out;
    }
    return Out;
  }

  /// A read of the element at distance \p D of the thread's own.
  std::string read(const Line &N, const std::string &D) const {
    std::string A = N.Array + "[" + T + (N.L ? " + " + num(N.L) : "") + D + "]";
    return N.E.Kind == ElemType::Pair ? A + ".x + " + A + ".y" : A;
  }
  static std::string dist(int D) {
    return D == 0 ? "" : D > 0 ? " + " + num(D) : " - " + num(-D);
  }

  /// Adds f(window of N) to `acc`.
  std::string use(const Line &N, unsigned Index) {
    Choices::Scope Sc(C, "use" + num(Index));
    int W = N.L + N.R + 1;
    std::string Cast = "(" + Acc + ")";
    std::string Lo = N.L ? "-" + num(N.L) : "0", Hi = num(N.R);
    auto Rd = [&](int D) { return Cast + "(" + read(N, dist(D)) + ")"; };
    int A = -N.L + static_cast<int>(C.pick("first", unsigned(W)));
    int B = -N.L + static_cast<int>(C.pick("second", unsigned(W)));
    switch (C.weighted("form", {22, 22, 10, 8, 8, 8, 7, 8, 7})) {
    case 1: { // a loop
      static const char *Unroll[] = {"", "#pragma unroll\n",
                                     "#pragma unroll 1\n"};
      return std::string(Unroll[C.weighted("unroll", {40, 50, 10})]) +
             "for (int j = " + Lo + "; j <= " + Hi +
             "; ++j)\n  acc += " + Cast + "(" + read(N, " + j") + ")" +
             (C.chance("weights", 50) ? " * (" + Acc + ")weights_" + K.Name +
                                            "[j + " + num(N.L) + "]"
                                      : "") +
             ";\n";
    }
    case 2: // from the right, every second
      return "#pragma unroll\nfor (int j = " + Hi + "; j >= " + Lo +
             "; j -= 2)\n  acc = " + Cast + "(" + read(N, " + j") +
             ") - acc;\n";
    case 3: // under a condition that differs in the warp
      return "if (g % 3 == 1)\n  acc += " + Rd(A) +
             ";\nelse\n  acc -= " + Rd(B) + ";\n";
    case 4: // a conditional expression
      return "acc += " + Rd(A) + " < " + Rd(B) + " ? " + Rd(A) + " : " + Rd(B) +
             ";\n";
    case 5: { // named values
      std::string P = "p" + num(Index), Q = "q" + num(Index);
      return "const " + Acc + " " + P + " = " + Rd(A) + ";\nconst " + Acc +
             " " + Q + " = " + Rd(B) + ";\nacc += " + Q + " - " + P + ";\n";
    }
    case 6: // flags
      return "acc += (" + Rd(A) + " != " + (A == B ? Cast + "(1)" : Rd(B)) +
             ") ? 1 : 0;\n";
    case 7: // a loop with a condition inside
      return "for (int j = " + Lo + "; j <= " + Hi + "; ++j) {\n  const " +
             Acc + " v = " + Cast + "(" + read(N, " + j") +
             ");\n  if (v > acc)\n    acc = v;\n}\n";
    case 8: // a helper function
      return "acc += mix_" + K.Name + "(" + Rd(A) + ", " + Rd(B) + ");\n";
    default: {
      std::string Sum;
      for (int D = -N.L; D <= N.R; ++D) {
        if (D != N.R && W > 3 && C.chance("skip" + num(D + N.L), 25))
          continue;
        Sum += (Sum.empty() ? "" : " + ") + Rd(D);
        if (C.chance("scale" + num(D + N.L), 20))
          Sum += " * 3";
      }
      return "acc += " + Sum + ";\n";
    }
    }
  }

  std::string store() {
    if (storesReversed())
      return "out[n - 1 - g] = acc;\n";
    switch (C.weighted("store", {60, 14, 10, 16})) {
    case 1:
      return "out[g] += acc;\n";
    case 3:
      return "const " + OutType + " result = acc;\nout[g] = result;\n";
    default:
      return "out[g] = acc;\n";
    }
  }

  /// A statement that is undefined unless \p Guard, which asks for it from now on, holds.
  std::string undefinedElsewhere(std::string &Guard) {
    const std::string By = "(n % 5 - 2)";
    Guard = By + " != 0 && " + Guard;
    switch (C.pick("undefinedForm", 3)) {
    case 0:
      return "__builtin_assume(" + By + " != 0);\n";
    case 1:
      return "acc += (" + Acc + ")(100 / " + By + ");\n";
    default:
      return "acc += known_" + K.Name + "(acc, " + By + " == 0 ? 0 : 1);\n";
    }
  }

  /// Where \p Store puts a thread's output.
  static std::string place(const std::string &Store) {
    return Store.find("n - 1 - g") == std::string::npos ? "g" : "n - 1 - g";
  }

  /// Use and store, with the guard around one or both.
  std::string result() {
    int L = 0, R = 0;
    for (const Line &N : Lines) {
      L = std::max(L, N.L);
      R = std::max(R, N.R);
    }
    std::string Guard = "g < n";
    if (Interior)
      Guard = (L ? "g >= " + num(L) + " && " : "") + std::string("g + ") +
              num(R) + " < n";
    std::string Uses = Acc + " acc = 0;\n";
    for (size_t I = 0; I < Lines.size(); ++I) {
      const std::string One = use(Lines[I], static_cast<unsigned>(I));
      Choices::Scope Sc(C, "use" + num(static_cast<long long>(I)));
      Uses += perhapsUnder(C, {T + " > 7", T + " % 3 == 1", "n > 70", "acc > 0", "g + 9 < n"},
                           One);
    }
    std::string Store = store();
    if (C.chance("undefinedElsewhere", 10))
      Store = undefinedElsewhere(Guard) + Store;
    bool Unwritten = false;
    for (const Line &N : Lines)
      Unwritten |= N.Bd == If;
    unsigned Form = C.weighted("guard", {45, 25, 15, 15});
    if (Unwritten && Form == 1)
      Form = 0;
    if (Flow != 0 && Form == 2)
      Form = 0;
    switch (Form) {
    case 1: // compute first, store under the guard
      return Uses + "if (" + Guard + ") {\n" + Store + "}\n";
    case 2: {
      // What those that return have stored counts.
      const bool Behind = C.chance("returnsBehindStore", 40);
      return (Behind ? "if (g < n)\n  out[" + place(Store) + "] = (" + OutType + ")3;\n"
                     : std::string()) +
             "if (!(" + Guard + "))\n  return;\n" + Uses + Store;
    }
    case 3: // the border gets something else, each output one value
      if (Interior && !Early) {
        return "if (" + Guard + ") {\n" + Uses + Store +
               "} else if (g < n) {\nout[" + place(Store) + "] = (" + OutType +
               ")2;\n}\n";
      }
      [[fallthrough]];
    default:
      return "if (" + Guard + ") {\n" + Uses + Store + "}\n";
    }
  }

  std::string declarations() {
    std::string Out;
    for (size_t I = 0; I < Lines.size(); ++I) {
      const Line &N = Lines[I];
      if (S.Kind == SizeForm::Dynamic && I == 0)
        Out += "extern __shared__ " + std::string(N.E.Name) + " " + N.Array +
               "[];\n";
      else
        Out += "__shared__ " + std::string(N.E.Name) + " " + N.Array + "[" +
               S.Const + (N.L + N.R ? " + " + num(N.L + N.R) : "") + "];\n";
    }
    if (S.Kind == SizeForm::Dynamic)
      K.SharedBytes = "(bx + " + num(Lines[0].L + Lines[0].R) + ") * sizeof(" +
                      Lines[0].E.Name + ")";
    return Out;
  }

  void emit() {
    std::string Body = declarations();
    Body += "const " + ThreadType + " " + T +
            (C.chance("braces", 8) ? "{(" + ThreadType + ")threadIdx.x};\n" : " = threadIdx.x;\n");
    std::string Use = result();
    auto Stages = [&](const std::string &Base) {
      std::string Out;
      for (size_t I = 0; I < Lines.size(); ++I)
        Out += staging(Lines[I], static_cast<unsigned>(I), Base);
      return Out;
    };
    std::string Sync = "__syncthreads();\n";
    std::string First =
        "const " + IndexType + " base = " + (HasFirst ? "first + " : "");
    std::string Own = "const " + IndexType + " g = base + " + T + ";\n";
    std::string Mul = "(" + IndexType + ")blockIdx.x * " + S.Bd;
    if (C.chance("plainProduct", 60))
      Mul = "blockIdx.x * " + S.Bd;
    switch (Flow) {
    case 1:
      K.GridX = "2";
      Body += "for (" + IndexType + " base = " + Mul +
              "; base < n; base += " + "gridDim.x * " + S.Bd + ") {\n" + Own +
              Stages("base") + Sync + Use + Sync + "}\n";
      break;
    case 2: {
      std::string Tiles = num(2 + C.pick("tiles", 3));
      K.GridX =
          "((n + bx - 1) / bx + " + Tiles + " - 1) / " + Tiles + " + extra";
      Body += "for (int tile = 0; tile < " + Tiles + "; ++tile) {\n" + First +
              "(blockIdx.x * " + Tiles + " + tile) * " + S.Bd + ";\n" + Own +
              Stages("base") + Sync + Use + Sync + "}\n";
      break;
    }
    case 3:
      Body += First + Mul + ";\n" + Own + Stages("base") + Sync + "{\n" + Use +
              "}\n" + Sync + Stages("base") + Sync + "{\n" + Use + "}\n";
      break;
    default:
      Body += First + Mul + ";\n" + Own;
      if (Early)
        Body += "if (g >= n)\n  return;\n";
      Body += Stages("base") + Sync + Use;
      break;
    }
    finish(Body);
  }

  void finish(const std::string &Body) {
    std::string Params, Device = S.Before;
    for (const Param &P : K.Params)
      Params += (Params.empty() ? "" : ", ") + P.decl();
    if (Body.find("weights_" + K.Name) != std::string::npos) {
      std::string W;
      for (int I = 0; I < 32; ++I)
        W += (I ? ", " : "") + num(I % 5 - 1);
      Device += "__constant__ " + std::string(IsFloat ? "float" : "int") +
                " weights_" + K.Name + "[32] = {" + W + "};\n";
    }
    if (Body.find("mix_" + K.Name) != std::string::npos)
      Device += "__device__ " + Acc + " mix_" + K.Name + "(" + Acc + " a, " +
                Acc + " b) {\n  return a < b ? b - a : a;\n}\n";
    if (Body.find("known_" + K.Name) != std::string::npos)
      Device += "__device__ " + Acc + " known_" + K.Name + "(" + Acc +
                " a, int which) {\n  switch (which) {\n  case 1:\n    return a;\n  }\n"
                "  __builtin_unreachable();\n}\n";
    Device += S.Head + "__global__ void " + S.Bounds + K.Name + "(" + Params +
              ") {\n" + Body + "}\n";
    K.Device = Device;
    K.TemplateArgs = S.Args;
    K.Launches = lineLaunches(C, S, MinBlock, !K.Aliased.empty(), MayBig);
    if (HasFirst && Flow != 1) {
      K.Launches.push_back(K.Launches.back());
      for (auto &[Name, Value] : K.Launches.back())
        if (Name == "big")
          Value = 2;
    }
  }
};

} // namespace

KernelText windowKernel(Choices &C, const std::string &Name) {
  return WindowKernel(C, Name).run();
}

} // namespace rcache::fuzz
