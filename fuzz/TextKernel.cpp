// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small stagings and windows, written in all the ways that Forms.h knows: what
// is staged and read is simple, how it is said is not.
//
// Data are small whole numbers: no sum or product is rounded.

#include "Forms.h"
#include <algorithm>

namespace rcache::fuzz {

namespace {

struct Staged {
  std::string Array, In, Type;
  int L = 0, R = 0;
  enum IdiomType { Own, Tail, FirstBoth, Loop, Inside } Idiom = Own;
  enum BoundType { Zero, Padded, Clamp, IfElse } Bound = Zero;
  int shift() const { return Idiom == Inside ? 0 : L; }
};

class TextKernel {
public:
  TextKernel(Choices &C, const std::string &Name) : C(C), F(C, Name, odd(C)) {
    K.Name = Name;
    K.PlainData = true;
    K.Cxx20 = true;
  }

  KernelText run() {
    static const unsigned Blocks[] = {64, 32, 128, 96, 48};
    Block = Blocks[C.weighted("block", {45, 15, 25, 10, 5})];
    static const char *const Types[] = {
        "float", "int", "double", "short", "fz::Byte", "unsigned", "fz::Long"};
    Type = Types[C.weighted("type", {45, 20, 10, 7, 7, 6, 5})];
    unsigned N = 1 + C.weighted("arrays", {62, 25, 9, 4});
    for (unsigned I = 0; I < N; ++I)
      Arrays.push_back(array(I));
    sizes();
    K.Device = kernel();
    parameters();
    launches();
    return std::move(K);
  }

private:
  Choices &C;
  KernelText K;
  Forms F;
  unsigned Block = 64;
  std::string Type, B, Head;
  std::string T = "t", G = "g";
  std::vector<Staged> Arrays;
  bool InPlace = false, Guarded = false;
  bool Updated = false; ///< each thread changes what it stages in memory, in front

  static unsigned odd(Choices &C) {
    static const unsigned Percent[] = {3, 7, 15, 30};
    return Percent[C.weighted("oddness", {40, 35, 18, 7})];
  }

  Staged array(unsigned I) {
    Choices::Scope Sc(C, "array" + num(I));
    Staged S;
    static const char *const Names[] = {"s", "tile", "buf", "sh"};
    S.Array = Names[C.pick("name", 4)] + num(I);
    S.In = "a" + num(I);
    S.Type = Type;
    S.Idiom = static_cast<Staged::IdiomType>(
        C.weighted("idiom", {30, 20, 20, 15, 15}));
    S.R = S.Idiom == Staged::Own ? 0 : 1 + static_cast<int>(C.pick("right", 3));
    S.L = S.Idiom == Staged::Own || S.Idiom == Staged::Tail
              ? 0
              : 1 + static_cast<int>(C.pick("left", 3));
    S.Bound =
        static_cast<Staged::BoundType>(C.weighted("bound", {45, 25, 10, 20}));
    return S;
  }

  void sizes() {
    B = num(Block);
    switch (C.weighted("size", {55, 15, 10, 10, 10})) {
    case 1:
      B = "BLOCK_" + K.Name;
      F.Before += "#define " + B + " " + num(Block) + "\n";
      F.After += "#undef " + B + "\n";
      break;
    case 2:
      B = "block_" + K.Name;
      F.Before += "constexpr int " + B + " = " + num(Block) + ";\n";
      break;
    case 3:
      B = "Size_" + K.Name;
      F.Before += "enum { " + B + " = " + num(Block) + " };\n";
      break;
    case 4:
      B = "B";
      Head = "template <int B>\n";
      K.TemplateArgs = "<" + num(Block) + ">";
      break;
    }
  }

  /// Element \p E of the array as it is in memory: a value of its type.
  std::string source(const Staged &S, const std::string &E, bool Own,
                     const std::string &Where, std::string &Pre, Place P) {
    std::string X = Own ? G
                    : S.shift()
                        ? "blockIdx.x * " + B + " + " + E + " - " + num(S.L)
                        : "blockIdx.x * " + B + " + " + E;
    X = Own ? X : "(int)(" + X + ")";
    auto Memory = [&](const std::string &At) {
      std::string I = F.integer(Where + "source", At, Pre, P);
      return F.value(Where + "load", Type, S.In + "[" + I + "]", Pre, P, S.In,
                     I);
    };
    switch (S.Bound) {
    case Staged::Padded:
      return Memory(Own ? (S.L ? X + " + " + num(S.L) : X)
                        : "(int)(blockIdx.x * " + B + " + " + E + ")");
    case Staged::Clamp:
      return Memory("max(0, min(" + X + ", n - 1))");
    default: {
      // The load stands behind a condition: nothing in front of it may load.
      std::string Low = S.L && !Own ? X + " >= 0 && " : "";
      std::string At = F.integer(Where + "source", X, Pre, P);
      std::string Cond = F.condition(Where + "bound", Low + X + " < n", Pre, P);
      return "(" + Cond + " ? " + S.In + "[" + At + "] : " + Type + "(0))";
    }
    }
  }

  /// Stages element \p E.
  std::string write(const Staged &S, const std::string &E, bool Own,
                    const std::string &Where, Place P) {
    Choices::Scope Sc(C, Where);
    std::string Pre;
    if (S.Bound == Staged::IfElse && Own) {
      std::string Cond = F.condition("bound", G + " < n", Pre, P);
      const Place Part{P.Repeats, false};
      std::string In, Else;
      std::string Left = F.element("left", Type, S.Array,
                                   F.integer("index", E, In, Part), In, true);
      std::string At = F.integer("source", G, In, Part);
      std::string V =
          F.value("value", Type, S.In + "[" + At + "]", In, Part, S.In, At);
      std::string Zero =
          F.element("leftZero", Type, S.Array,
                    F.integer("indexZero", E, Else, Part), Else, true) +
          " = 0";
      In += F.around("around", Left + " = " + V, Part);
      Else += F.around("aroundZero", Zero, Part);
      if (C.chance("noBraces", 40) && In.find('\n') == In.size() - 1 &&
          Else.find('\n') == Else.size() - 1 &&
          In.find("if ") == std::string::npos)
        return Pre + "  if (" + Cond + ")\n  " + In + "  else\n  " + Else;
      return Pre + "  if (" + Cond + ") {\n" + In + "  } else {\n" + Else +
             "  }\n";
    }
    std::string Index = F.integer("index", E, Pre, P);
    std::string Left = F.element("left", Type, S.Array, Index, Pre, true);
    std::string V = source(S, E, Own, "from", Pre, P);
    V = F.value("value", Type, V, Pre, P);
    return Pre + F.around("around", Left + " = " + V, P);
  }

  std::string stage(const Staged &S) {
    const std::string Sh = num(S.shift());
    const Place Everyone{false, true}, Some{false, false}, Many{true, false};
    const std::string OwnE = S.shift() ? T + " + " + Sh : T;
    std::string Text;
    switch (S.Idiom) {
    case Staged::Own:
    case Staged::Inside:
      return write(S, OwnE, true, "own", Everyone);
    case Staged::Tail:
      return write(S, OwnE, true, "own", Everyone) + "  if (" + T + " < " +
             num(S.R) + ") {\n" + write(S, T + " + " + B, false, "tail", Some) +
             "  }\n";
    case Staged::FirstBoth:
      Text = "  if (" + T + " < " + num(S.L) + ") {\n" +
             write(S, T, false, "low", Some) + "  }\n";
      Text += "  if (" + T + " < " + num(S.R) + ") {\n" +
              write(S, T + " + " + num(S.L) + " + " + B, false, "high", Some) +
              "  }\n";
      if (C.chance("haloFirst", 50))
        return Text + write(S, OwnE, true, "own", Everyone);
      return write(S, OwnE, true, "own", Everyone) + Text;
    default: {
      std::string I = F.fresh("i");
      std::string Body = write(S, I, false, "each", Many);
      std::string End = B + " + " + num(S.L + S.R);
      switch (C.weighted("loop", {70, 15, 15})) {
      case 1:
        return "  int " + I + " = " + T + ";\n  while (" + I + " < " + End +
               ") {\n" + Body + "  " + I + " += " + B + ";\n  }\n";
      case 2:
        return "  for (int " + I + "_r = 0; " + I + "_r < (" + End + " + " + B +
               " - 1) / " + B + "; " + I + "_r++) {\n  const int " + I + " = " +
               T + " + " + I + "_r * " + B + ";\n  if (" + I + " < " + End +
               ") {\n" + Body + "  }\n  }\n";
      default:
        return "  for (int " + I + " = " + T + "; " + I + " < " + End + "; " +
               I + " += " + B + ") {\n" + Body + "  }\n";
      }
    }
    }
  }

  /// Reads element \p J away from the thread's own.
  std::string read(const Staged &S, const std::string &J,
                   const std::string &Where, std::string &Pre, Place P) {
    Choices::Scope Sc(C, Where);
    const std::string Sh = num(S.shift());
    std::string At = S.shift() ? T + " + " + Sh : T;
    if (J != "0")
      At += " + " + J;
    if (S.Idiom == Staged::Own) {
      switch (C.weighted("which", {55, 15, 15, 15})) {
      case 1:
        At = B + " - 1 - " + T;
        break;
      case 2:
        At = "(" + T + " ^ 1)";
        break;
      case 3:
        At = "(" + T + " + 1) % " + B;
        break;
      }
    }
    std::string I = F.integer("index", At, Pre, P);
    return F.element("element", Type, S.Array, I, Pre, false);
  }

  /// The sum of what is read, and the statements in front of it.
  std::string compute(std::string &Pre) {
    const std::string Acc = Type == "double"     ? "double"
                            : Type == "float"    ? "float"
                            : Type == "fz::Long" ? "fz::Long"
                            : Type == "unsigned" ? "unsigned"
                                                 : "int";
    std::string Sum;
    for (size_t A = 0; A < Arrays.size(); ++A) {
      const Staged &S = Arrays[A];
      Choices::Scope Sc(C, "use" + num(A));
      unsigned How = C.weighted("how", {40, 30, 30});
      std::vector<int> Js = {0};
      if (S.Idiom != Staged::Own) {
        if (S.L && C.chance("leftmost", 60))
          Js.push_back(-S.L);
        if (C.chance("rightmost", 60))
          Js.push_back(S.R);
        if (C.chance("next", 40))
          Js.push_back(1);
      }
      if (How == 2 && S.Idiom != Staged::Own) {
        Sum += (Sum.empty() ? "" : " + ") + loop(S, Acc, Pre);
        continue;
      }
      for (size_t I = 0; I < Js.size(); ++I) {
        Choices::Scope Sr(C, "read" + num(I));
        Place P{false, !Guarded};
        std::string V = read(S, num(Js[I]), "element", Pre, P);
        V = F.value("value", Type, V, Pre, P);
        if (How == 1) {
          std::string N = F.fresh("x");
          V = F.declare("x", Acc, N, V, Pre);
        }
        static const char *const Weights[] = {"", "2 * ", "3 * "};
        V = Weights[C.weighted("weight", {60, 25, 15})] + V;
        Sum += (Sum.empty() ? "" : C.chance("minus", 20) ? " - " : " + ") + V;
      }
    }
    if (C.chance("result", 30)) {
      std::string N = F.fresh("r");
      return F.declare("r", Acc, N, Sum, Pre);
    }
    return Sum;
  }

  std::string loop(const Staged &S, const std::string &Acc, std::string &Pre) {
    Choices::Scope Sc(C, "loop");
    const std::string R = F.fresh("sum"), J = F.fresh("j"), L = num(-S.L),
                      E = num(S.R);
    std::string In, At = "(" + J + ")";
    unsigned How = C.weighted("how", {45, 9, 9, 9, 9, 10, 9});
    std::string V = read(S, At, "element", In, {true, false});
    std::string Add;
    std::string Effect;
    switch (C.weighted("add", {60, 15, 15, 10})) {
    case 1:
      Add = In + "  " + R + " = " + R + " + " + V + ";\n";
      break;
    case 2:
      Add = In + "  if (" + J + " != 0)\n    " + R + " += " + V +
            ";\n  else\n    " + R + " -= " + V + ";\n";
      break;
    case 3:
      Add = In + "  " + R + " += 2 * (" + V + ");\n";
      break;
    default:
      Add = In + "  " + R + " += " + V + ";\n";
    }
    std::string Text;
    switch (How) {
    case 1:
      Text = "  int " + J + " = " + L + ";\n  while (" + J + " <= " + E +
             ") {\n" + Add + "  ++" + J + ";\n  }\n";
      break;
    case 2:
      Text = "  int " + J + " = " + L + ";\n  do {\n" + Add + "  } while (" +
             J + "++ < " + E + ");\n";
      break;
    case 3: {
      std::string List;
      for (int I = -S.L; I <= S.R; ++I)
        List += (List.empty() ? "" : ", ") + num(I);
      Text = "  for (int " + J + " : {" + List + "}) {\n" + Add + "  }\n";
      break;
    }
    case 4: {
      std::string List;
      for (int I = -S.L; I <= S.R; ++I)
        List += (List.empty() ? "" : ", ") + num(I);
      std::string O = F.fresh("offsets");
      Text = "  static constexpr int " + O + "[] = {" + List +
             "};\n  for (const int " + J + " : " + O + ") {\n" + Add + "  }\n";
      break;
    }
    case 5:
      Text = "  for (int " + J + " = " + E + "; " + J + " >= " + L + "; --" +
             J + ") {\n" + Add + "  }\n";
      break;
    case 6: {
      std::string Q = F.fresh("p");
      Text = "  const " + Type + " *" + Q + " = " + S.Array + " + " + T +
             " + " + num(S.shift() - S.L) + ";\n  for (int " + J + " = " + L +
             "; " + J + " <= " + E + "; ++" + J + ")\n    " + R + " += *" + Q +
             "++;\n";
      break;
    }
    default:
      Text = "  for (int " + J + " = " + L + "; " + J + " <= " + E + "; ++" +
             J + ") {\n" + Add + "  }\n";
    }
    Pre += "  " + Acc + " " + R + " = 0;\n" + Text;
    return R;
  }

  std::string kernel() {
    static const char *const Ts[] = {"t", "tid", "tx", "lane"};
    static const char *const Gs[] = {"g", "gid", "i", "idx"};
    T = Ts[C.weighted("t", {70, 10, 10, 10})];
    G = Gs[C.weighted("g", {70, 10, 10, 10})];
    std::string Decls;
    F.declareAll("ids", "int",
                 {{&T, "threadIdx.x"}, {&G, "blockIdx.x * " + B + " + @0"}},
                 Decls);
    F.Thread = "blockIdx.x * " + B + " + threadIdx.x";
    // Shared arrays, in one statement or several.
    std::string Shared;
    const bool One = Arrays.size() > 1 && C.chance("oneShared", 40);
    for (size_t I = 0; I < Arrays.size(); ++I) {
      const Staged &S = Arrays[I];
      std::string Extent = B + (S.Idiom == Staged::Inside || S.L + S.R == 0
                                    ? ""
                                    : " + " + num(S.L + S.R));
      if (!One)
        Shared +=
            "  __shared__ " + Type + " " + S.Array + "[" + Extent + "];\n";
      else
        Shared += (I ? ", " : "  __shared__ " + Type + " ") + S.Array + "[" +
                  Extent + "]";
    }
    if (One)
      Shared += ";\n";
    std::string Staging;
    for (const Staged &S : Arrays) {
      Choices::Scope Sc(C, "staging" + S.Array);
      Staging += stage(S);
    }
    static const char *const Barriers[] = {"__syncthreads()", "__syncthreads()",
                                           "__syncthreads_count(1)"};
    unsigned Bar = C.weighted("barrier", {90, 8, 2});
    std::string Barrier = std::string("  ") + Barriers[Bar] + ";\n";
    if (Bar == 1) {
      std::string H = F.fresh("sync") + "_" + K.Name;
      F.Before += "#define " + H + " __syncthreads()\n";
      Barrier = "  " + H + ";\n";
    }
    // Behind the barrier.
    bool AnyInside = false, AllOwn = true;
    int L = 0, R = 0;
    for (const Staged &S : Arrays) {
      AllOwn &= S.Idiom == Staged::Own;
      if (S.Idiom == Staged::Inside) {
        AnyInside = true;
        L = std::max(L, S.L);
        R = std::max(R, S.R);
      }
    }
    std::string Pre, Tail, GuardPre;
    std::string Guard = G + " < n";
    if (AnyInside)
      Guard += " && " + T + " >= " + num(L) + " && " + T + " + " + num(R) +
               " < " + B;
    unsigned GuardForm = C.weighted("guard", {45, 25, 15, 15});
    Guarded = GuardForm == 0;
    std::string Cond = F.condition("guard", Guard, GuardPre, {false, true});
    std::string Sum, Body;
    if (GuardForm == 3 && !AnyInside) { // only the store is guarded
      Sum = compute(Body);
      if (Sum.find(' ') != std::string::npos) {
        Body += "  const auto total = " + Sum + ";\n";
        Sum = "total";
      }
    } else
      Sum = compute(Body);
    std::string StorePre;
    std::string Out = F.element("store", Type, "out",
                                F.integer("storeIndex", G, StorePre, {}),
                                StorePre, true, false);
    std::string Store = StorePre + F.around("storing", Out + " = " + Sum, {});
    const std::string Trace = "@TRACE@";
    if (GuardForm == 3 && !AnyInside)
      Tail =
          Body + GuardPre + "  if (" + Cond + ") {\n" + Store + Trace + "  }\n";
    else if (GuardForm == 1)
      Tail = GuardPre + "  if (!(" + Cond + "))\n    return;\n" + Body + Store +
             Trace;
    else if (GuardForm == 2)
      Tail = GuardPre + "  if (" + Cond + ") {\n" + Body + Store + Trace +
             "  } else {\n    return;\n  }\n";
    else
      Tail =
          GuardPre + "  if (" + Cond + ") {\n" + Body + Store + Trace + "  }\n";
    std::string Sums;
    if (!F.Observed.empty()) {
      Sums = "  unsigned trace = 0;\n";
      for (const std::string &E : F.Observed)
        Sums += "  trace = trace * 31 + (unsigned)(" + E + ");\n";
      Sums += "  aux[" + G + "] = trace;\n";
    }
    const std::string Mark = "@TRACE@";
    for (size_t At = Tail.find(Mark); At != std::string::npos;
         At = Tail.find(Mark))
      Tail.replace(At, Mark.size(), Sums);
    InPlace =
        AllOwn && Arrays.size() == 1 && C.chance("inPlace", 50) &&
        (Arrays[0].Bound == Staged::Zero || Arrays[0].Bound == Staged::IfElse);
    Updated = !InPlace && AllOwn && Arrays.size() == 1 &&
              (Arrays[0].Bound == Staged::Zero || Arrays[0].Bound == Staged::IfElse) &&
              C.chance("updatedFirst", 25);
    if (Updated)
      Staging = update(Arrays[0]) + Staging;
    std::string Bounds =
        C.chance("launchBounds", 12) ? "__launch_bounds__(" + B + ") " : "";
    const bool SharedLater = C.chance("sharedLater", 25);
    std::string Params;
    parameters();
    for (const Param &P : K.Params)
      Params += (Params.empty() ? "" : ", ") + P.decl();
    return F.Before + Head + "__global__ void " + Bounds + K.Name + "(" +
           Params + ") {\n" + (SharedLater ? "" : Shared) + Decls + F.Top +
           (SharedLater ? Shared : "") + Staging + Barrier + Tail + "}\n" +
           F.After;
  }

  /// No barrier is needed in between: a thread sees its own stores.
  std::string update(const Staged &S) {
    const std::string Own = S.In + "[" + G + "]", If = "  if (" + G + " < n";
    switch (C.pick("update", 4)) {
    case 0:
      return If + ")\n    " + Own + " = " + Own + " + 1;\n";
    case 1:
      return If + " && " + Own + " == 3)\n    " + Own + " = 0;\n";
    case 2: {
      const std::string P = F.fresh("p");
      return If + ") {\n    " + Type + " *" + P + " = " + S.In + " + " + G + ";\n    *" +
             P + " += 1;\n  }\n";
    }
    default:
      return If + ")\n    " + Own + " *= 2;\n";
    }
  }

  void parameters() {
    K.Params.clear();
    unsigned Restrict = C.weighted("restrict", {45, 55});
    for (const Staged &S : Arrays) {
      Param P;
      P.Kind = Param::In;
      P.Type = Type;
      P.Name = S.In;
      P.Count = "(((n + bx - 1) / bx + 1) * bx + " + num(S.L + S.R) + ")";
      P.Const = !Updated;
      if (Updated)
        P.Kind = Param::InOut;
      P.Restrict = Restrict && !InPlace;
      K.Params.push_back(P);
    }
    Param Out;
    Out.Kind = Param::Out;
    Out.Type = Type;
    Out.Name = "out";
    Out.Count = "n";
    Out.Restrict = Restrict && !InPlace;
    K.Params.push_back(Out);
    if (InPlace) {
      K.AliasOf = "a0";
      K.Aliased = "out";
    }
    auto Ints = [&](const char *Name, const char *Count) {
      Param P;
      P.Kind = Param::InOut;
      P.Type = "int";
      P.Name = Name;
      P.Count = Count;
      P.Restrict = Restrict == 1;
      K.Params.push_back(P);
    };
    if (!F.Observed.empty())
      Ints("aux", "n");
    if (F.UsesHits)
      Ints("hits", "1");
    if (F.UsesLog)
      Ints("log", "(((n + bx - 1) / bx + 1) * bx)");
    Param N;
    N.Kind = Param::Scalar;
    N.Type = "int";
    N.Name = "n";
    N.Value = "n";
    K.Params.push_back(N);
  }

  void launches() {
    long long Bx = Block;
    auto Add = [&](long long N, long long Extra, long long Alias,
                   long long Off) {
      K.Launches.push_back({{"n", N},
                            {"bx", Bx},
                            {"off", Off},
                            {"alias", Alias},
                            {"extra", Extra}});
    };
    static const long long More[] = {1, 33, 64, 65, 127, 200, 300};
    Add(5 * Bx + 7, 0, 0, 0);
    Add(More[C.pick("n", 7)], C.pick("extra", 2), 0, C.pick("off", 3));
    if (InPlace)
      Add(3 * Bx, 0, 1, 0);
  }
};

} // namespace

KernelText textKernel(Choices &C, const std::string &Name) {
  return TextKernel(C, Name).run();
}

} // namespace rcache::fuzz
