// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums and products: what a compiler may round together. Staging and windows
// are simple, the arithmetic on both sides of the barrier is not: products of
// several uses, in one output and in more, quotients by powers of two,
// conversions, common subexpressions, accumulators in loops that are unrolled
// or not, functions, operations that say how they round. In float, double and
// half precision.
//
// Judged on the PTX that nvcc makes.

#include "Grammar.h"
#include "Names.h"
#include "SumsBranches.h"
#include <algorithm>
#include <optional>

namespace rcache::fuzz {

namespace {

class SumsKernel {
public:
  SumsKernel(Choices &C, const std::string &Name) : C(C) {
    K.Name = Name;
    K.OnNvcc = true;
  }

  KernelText run() {
    static const char *const Types[] = {"float", "double", "__half"};
    T = Types[C.weighted("type", {70, 14, 16})];
    Half = T == "__half";
    static const unsigned Blocks[] = {64, 128, 32, 256, 96};
    Block = Blocks[C.weighted("block", {35, 30, 15, 10, 10})];
    Idiom = C.weighted("idiom", {30, 25, 25, 20});
    R = Idiom == 0 ? 0 : 1 + static_cast<int>(C.pick("right", 4));
    L = Idiom < 2 ? 0 : static_cast<int>(C.pick("left", 4));
    Two = C.chance("twoArrays", 25);
    Padded = C.chance("padded", 30);
    static const unsigned Odd[] = {0, 40, 80};
    Nm.emplace(C, K.Name, T, std::vector<std::string>{"t", "g"}, Odd[C.weighted("named", {80, 12, 8})]);
    emit();
    K.Device = Nm->Before + K.Device;
    K.Forms.insert(K.Forms.end(), Nm->Used.begin(), Nm->Used.end());
    return std::move(K);
  }

private:
  Choices &C;
  KernelText K;
  std::string T, Helpers;
  std::optional<Names> Nm; ///< around what is staged
  bool Half = false, Two = false, Padded = false;
  bool UsesM = false; ///< the parameter m is named
  unsigned Block = 64, Idiom = 0, Outs = 1, Loops = 0;
  int L = 0, R = 0;
  /// What an expression may name: values of the stretch, earlier expressions.
  struct Scope {
    bool Staging = false;
    std::string Element; ///< source index of what is staged
    std::string Loop;    ///< variable of the loop around, from 0
    int Rounds = 0;
    std::vector<std::string> Values, Used;
  };

  std::string literal(const std::string &Name) {
    static const char *const Numbers[] = {"0.5",  "2.0", "0.25", "0.3",
                                          "3.0",  "0.1", "1.5",  "4.5",
                                          "-0.5", "8.0", "0.7"};
    std::string N =
        Numbers[C.weighted(Name, {14, 14, 10, 10, 10, 8, 8, 8, 6, 6, 6})];
    return constant(N);
  }
  std::string constant(const std::string &N) const {
    return Half ? "__half(" + N + "f)" : T == "float" ? N + "f" : N;
  }

  /// An element of a parameter, by a function that does nothing but load it or not.
  std::string loaded(const std::string &Array, const std::string &At) {
    static const char *const Bodies[] = {
        "{ return p[i]; }", "{ i = i < 0 ? 0 : i; return p[(size_t)i]; }",
        "{ return *(p + i); }", "{ if (i < 0) return p[0]; return p[i]; }"};
    static const char *const Names[] = {"elementAt", "clampedAt", "pointedAt", "knownAt"};
    if (!C.chance("byHelper", 12))
      return Array + "[" + At + "]";
    const unsigned Of = C.pick("helper", 4);
    return helper(Names[Of], "(const " + T + " *p, int i) " + Bodies[Of]) + "(" + Array + ", " +
           At + ")";
  }

  /// Memory, a parameter, a value that has a name, a number.
  std::string leaf(const Scope &S) {
    const std::string X = S.Staging ? S.Element : "g";
    switch (C.weighted("leaf", {46, 16, 10, 6, 16, 6})) {
    case 1:
      if (!S.Values.empty())
        return S.Values[S.Values.size() - 1 -
                        C.pick("value",
                               std::min<unsigned>(
                                   4, static_cast<unsigned>(S.Values.size())))];
      return loaded("c", X);
    case 2:
      return C.chance("which", 40) ? "v" : "w";
    case 3:
      return loaded("c", X);
    case 4:
      return literal("literal");
    case 5:
      if (Half)
        return loaded("c", X);
      return "(" + T + ")" + (S.Loop.empty() ? X : S.Loop);
    default:
      if (S.Staging)
        return loaded(C.chance("other", 30) ? "c" : "a", X);
      return read(S);
    }
  }

  /// A staged element.
  std::string read(const Scope &S) {
    const std::string A = Two && C.chance("array", 40) ? "q" : "s";
    if (Idiom == 0) {
      static const char *const At[] = {"t", "$B - 1 - t", "(t + 1) % $B",
                                       "(t ^ 1)"};
      return A + "[" + sub(At[C.weighted("at", {60, 15, 15, 10})], names()) +
             "]";
    }
    if (!S.Loop.empty() && C.chance("byLoop", 70)) {
      const int First =
          -L +
          static_cast<int>(C.pick("first", unsigned(L + R + 2 - S.Rounds)));
      const int D = L + First;
      return A + "[t + " + S.Loop + (D ? " + " + num(D) : "") + "]";
    }
    const int D = static_cast<int>(C.pick("distance", unsigned(L + R + 1)));
    return A + "[t" + (D ? " + " + num(D) : "") + "]";
  }

  std::vector<std::pair<std::string, std::string>> names() const {
    return {{"B", num(Block)}};
  }

  std::string helper(const std::string &Name, const std::string &Text) {
    if (Helpers.find(Name + "_") == std::string::npos)
      Helpers += "__device__ " + T + " " + Name + "_" + K.Name + Text + "\n";
    return Name + "_" + K.Name;
  }

  /// \p X times a number, or negated, or both.
  std::string scaled(const std::string &Where, const std::string &X) {
    Choices::Scope Sc(C, "scaled" + Where);
    static const char *const By[] = {"", " * $2", " * -$2", " * $3", " * -$3",
                                     " * -$1", " / $h", " / $4"};
    const std::string Text =
        X + sub(By[C.weighted("by", {20, 22, 8, 22, 8, 6, 4, 10})],
                {{"1", constant("1.0")}, {"2", constant("2.0")}, {"3", constant("3.0")},
                 {"4", constant("4.0")}, {"h", constant("0.5")}});
    return C.chance("negated", 15) ? "-(" + Text + ")" : Text;
  }

  std::string expression(const std::string &Where, Scope &S, unsigned Depth) {
    Choices::Scope Sc(C, Where);
    if (!Depth)
      return leaf(S);
    if (!S.Used.empty() && C.chance("again", 14))
      return S.Used[S.Used.size() - 1 -
                    C.pick("used", std::min<unsigned>(5, static_cast<unsigned>(
                                                             S.Used.size())))];
    auto E = [&](const char *Name) {
      return expression(Name, S,
                        Depth - 1 - C.pick(std::string("less") + Name, Depth));
    };
    std::string X;
    switch (C.weighted("node", {8, 20, 13, 28, 10, 6, 5, 4, 4, 2, 8})) {
    case 10: // numbers and signs on both sides
      X = "(" + scaled("l", E("l")) + (C.chance("minus", 65) ? " - " : " + ") +
          scaled("r", E("r")) + ")";
      break;
    case 1:
      X = "(" + E("l") + " + " + E("r") + ")";
      break;
    case 2:
      X = "(" + E("l") + " - " + E("r") + ")";
      break;
    case 3:
      X = "(" + E("l") + " * " + E("r") + ")";
      break;
    case 4: // sums of products
      X = "(" + E("l") + " * " + E("m") +
          (C.chance("minus", 35) ? " - " : " + ") + E("n") + " * " + E("r") +
          ")";
      break;
    case 5: { // products that are not written as such
      static const char *const By[] = {"2.0", "4.0", "8.0", "3.0"};
      X = "(" + E("l") + " / " +
          constant(By[C.weighted("by", {35, 30, 15, 20})]) + ")";
      break;
    }
    case 6: // another precision in between
      if (Half)
        X = "__float2half(__half2float(" + E("l") + ") * 0.5f + __half2float(" +
            E("r") + "))";
      else if (T == "double")
        X = "((double)(float)(" + E("l") + ") * " + E("r") + ")";
      else
        switch (C.weighted("through", {40, 30, 30})) {
        case 1:
          X = "(float)((double)" + E("l") + " * " + E("r") + ")";
          break;
        case 2:
          X = "(float)((double)" + E("l") + " * 0.25 + " + E("r") + ")";
          break;
        default:
          X = "(float)(" + E("l") + " * 0.5)";
        }
      break;
    case 7: // functions
      switch (C.weighted("function",
                         {26, 26, 26, Half ? 0u : 12u, Half ? 0u : 10u})) {
      case 3: // a slow path, which ends a block of machine code
        X = "(" + E("l") + " / " + E("r") + ")";
        break;
      case 4:
        X = (T == "float" ? "sqrtf(fabsf(" : "sqrt(fabs(") + E("l") + "))";
        break;
      case 1:
        X = helper("mix", "(" + T + " x, " + T + " y, " + T +
                              " z) { return x * y + z; }") +
            "(" + E("l") + ", " + E("m") + ", " + E("r") + ")";
        break;
      case 2:
        X = (Half           ? "__hmul_rn("
             : T == "float" ? "__fmul_rn("
                            : "__dmul_rn(") +
            E("l") + ", " + E("r") + ")";
        break;
      default:
        X = helper("sq", "(" + T + " x) { return x * x; }") + "(" + E("l") +
            ")";
      }
      break;
    case 8: // what stands between a product and its sum
      switch (C.weighted("between", {35, 25, 25, 15})) {
      case 1:
        X = (Half           ? "__habs("
             : T == "float" ? "fabsf("
                            : "fabs(") +
            E("l") + ")";
        break;
      case 2:
        X = (Half           ? "__hmax("
             : T == "float" ? "fmaxf("
                            : "fmax(") +
            E("l") + ", " + E("r") + ")";
        break;
      case 3:
        X = "(" + std::string(S.Staging ? "w" : "c[g]") + " > " +
            constant("0.0") + " ? " + E("l") + " : " + E("r") + ")";
        break;
      default:
        X = E("l");
        X = X[0] == '-' ? "(-(" + X + "))" : "(-" + X + ")";
      }
      break;
    case 9:
      X = (Half           ? "__hfma("
           : T == "float" ? "fmaf("
                          : "fma(") +
          E("l") + ", " + E("m") + ", " + E("r") + ")";
      break;
    default:
      return leaf(S);
    }
    if (X.size() < 70)
      S.Used.push_back(X);
    return X;
  }

  /// `X Change;` in a round of the loop of \p S, under a condition or not.
  std::string underCondition(unsigned How, const std::string &X,
                             const std::string &Change, bool Set, const Scope &S) {
    if (!How)
      return X + Change + ";\n";
    static const char *const Conds[] = {"$e > $v", "$x > $v", "t > $k + 3", "m > $k"};
    const unsigned Which = C.weighted("condition", {40, 25, 20, 15});
    UsesM |= Which == 3;
    const std::string Cond =
        sub(Conds[Which],
            {{"e", read(S)}, {"v", literal("limit")}, {"x", X}, {"k", S.Loop}});
    const std::string Other = X + (C.chance("take", 40) ? " -= " : " += ") + leaf(S) + ";\n";
    switch (How) {
    case 2:
      return "if (" + Cond + ")\n" + X + Change + ";\nelse\n" + Other;
    case 3:
      return Other + "if (!(" + Cond + "))\ncontinue;\n" + X + Change + ";\n";
    case 4:
      if (!Set)
        return X + " = " + Cond + " ? " + X + Change.substr(0, 2) + Change.substr(3) + " : " +
               X + " + " + leaf(S) + ";\n";
      [[fallthrough]];
    default:
      return "if (" + Cond + ")\n" + X + Change + ";\n" + Other;
    }
  }

  /// A value that conditions have a say in.
  std::string branched(const std::string &X, Scope &S) {
    auto Of = [&](const char *Kind, auto Make) {
      return [this, Kind, Make](const std::string &Where) {
        Choices::Scope Sc(C, Where + Kind);
        return Make();
      };
    };
    std::string Form;
    const std::string Text = branchedSum({C, K.Name, T, Half, Of("Read", [&] { return read(S); }),
                                          Of("Leaf", [&] { return leaf(S); }),
                                          Of("Number", [&] { return literal("literal"); }), Helpers},
                                         X, Form);
    K.Forms.push_back(Form);
    return Text;
  }

  /// Statements behind the barrier that end with stores.
  std::string compute(Scope S) {
    std::string Text;
    const unsigned N = 1 + C.weighted("statements", {30, 30, 25, 15});
    for (unsigned I = 0; I < N; ++I) {
      Choices::Scope Sc(C, "statement" + num(I));
      const std::string X = "x" + num(I);
      switch (C.weighted("form", {34, 16, 16, 14, 12, 8, 34})) {
      case 6:
        Text += branched(X, S);
        S.Values.push_back(X);
        break;
      case 1: { // a product of several uses
        Text += T + " " + X + " = " + expression("l", S, C.pick("depth", 2)) +
                " * " + expression("r", S, 0) + ";\n";
        S.Values.push_back(X);
        S.Values.push_back(X);
        break;
      }
      case 2: { // an accumulator
        static const char *const Unroll[] = {"", "#pragma unroll\n",
                                             "#pragma unroll 1\n"};
        const int Rounds =
            Idiom == 0
                ? 3
                : 2 + static_cast<int>(C.pick("rounds", unsigned(L + R)));
        Scope In = S;
        In.Loop = "k" + num(Loops++);
        In.Rounds = std::min(Rounds, L + R + 1);
        if (Idiom == 0)
          In.Rounds = Rounds;
        // A number that rounds change, or one of a table's: known to who unrolls.
        std::string Round;
        if (C.chance("number", 22)) {
          const std::string N = "n" + num(Loops);
          static const char *const Next[] = {"-$n", "$n * $c + $d", "$n + $d", "$n * $c"};
          Text += T + " " + N + " = " + literal("numberFrom") + ";\n";
          Round = N + " = " +
                  sub(Next[C.pick("numberNext", 4)],
                      {{"n", N}, {"c", literal("numberBy")}, {"d", literal("numberAnd")}}) +
                  ";\n";
          In.Values.push_back(N);
          In.Values.push_back(N);
          S.Values.push_back(N);
        } else if (!Half && C.chance("table", 12)) {
          const std::string N = "w" + num(Loops);
          std::string All;
          for (int J = 0; J < In.Rounds; ++J)
            All += (J ? ", " : "") + literal("entry" + num(J));
          Text += "const " + T + " " + N + "[] = {" + All + "};\n";
          In.Values.push_back(N + "[" + In.Loop + "]");
          In.Values.push_back(N + "[" + In.Loop + "]");
        }
        // Under a condition, and then perhaps the same in all rounds.
        const unsigned Under = C.weighted("under", {60, 16, 10, 7, 7});
        Scope Of = In;
        if (Under && C.chance("same", 50))
          Of.Loop = "";
        std::string Body = expression("body", Of, 1 + C.pick("depth", 3)), First;
        if (C.chance("branched", 15)) { // conditions in every round
          First = branched(X + "of", Of);
          Body = C.chance("more", 40) ? X + "of + " + leaf(Of) : X + "of";
        }
        static const char *const Ops[] = {" += ", " -= ", " = "};
        const unsigned Op = C.weighted("op", {65, 20, 15});
        Text += T + " " + X + " = " +
                (C.chance("from", 50) ? expression("start", S, 0)
                                      : constant("0.0")) +
                ";\n" + Unroll[C.weighted("unroll", {45, 40, 15})] +
                "for (int " + In.Loop + " = 0; " + In.Loop + " < " +
                num(In.Rounds) + "; ++" + In.Loop + ") {\n" + First + underCondition(Under, X,
                               Ops[Op] + (Op == 2 ? X + " * " + leaf(In) + " + " : "") +
                                   Body,
                               Op == 2, In) +
                Round + "}\n";
        S.Values.push_back(X);
        break;
      }
      case 3: // one branch more than the other
        if (!S.Values.empty() && S.Values.back()[0] == 'x') {
          static const char *const Conds[] = {"c[g] > $0", "t > 3",
                                              "g % 3 == 1", "w > $0"};
          static const char *const Ops[] = {" += ", " -= ", " *= ", " = "};
          Text += "if (" +
                  sub(Conds[C.pick("cond", 4)], {{"0", constant("0.0")}}) +
                  ")\n  " + S.Values.back() +
                  Ops[C.weighted("op", {40, 20, 20, 20})] +
                  expression("value", S, 1 + C.pick("depth", 2)) + ";\n";
          break;
        }
        [[fallthrough]];
      case 4: // an output more
        if (Outs < 3) {
          Text += "b[g + " + num(Outs++) +
                  " * m] = " + expression("output", S, 1 + C.pick("depth", 3)) +
                  ";\n";
          break;
        }
        [[fallthrough]];
      case 5:
        if (!S.Values.empty() && S.Values.back()[0] == 'x') {
          Text += S.Values.back() + " = " + S.Values.back() + " * " +
                  expression("factor", S, 1) + " + " +
                  expression("term", S, 1) + ";\n";
          break;
        }
        [[fallthrough]];
      default:
        Text += T + " " + X + " = " +
                expression("value", S, 1 + C.pick("depth", 3)) + ";\n";
        S.Values.push_back(X);
      }
    }
    std::string Last = expression("result", S, 1 + C.pick("depth", 3));
    if (!S.Values.empty() && C.chance("plusValue", 60))
      Last += " + " + S.Values.back();
    static const char *const Stores[] = {" = ", " += "};
    Text += "b[g]" + std::string(Stores[C.weighted("store", {85, 15})]) + Last +
            ";\n";
    return Text;
  }

  /// Stages element \p E of \p Array, whose source is \p X.
  std::string write(const std::string &Array, const std::string &E,
                    const std::string &X) {
    Choices::Scope Sc(C, "staged" + Array);
    Scope S;
    S.Staging = true;
    S.Element = "x";
    std::string V;
    {
      // The same value wherever the array is written.
      static const unsigned Depths[] = {0, 1, 2, 3};
      const unsigned D = Depths[C.weighted("depth", {35, 30, 20, 15})];
      V = D ? expression("value", S, D)
            : std::string(Array == "s" ? "a" : "c") + "[x]";
    }
    if (Padded)
      return "{ const int x = " + X + (L ? " + " + num(L) : "") + "; " +
             Nm->assign("write", Array + "[@I] = @V;", E, V) + " }\n";
    return "{ const int x = " + X + "; " +
           Nm->assign("write", Array + "[@I] = @V;", E,
                      (L ? "x >= 0 && " : "") + std::string("x < n ? ") +
                          (Half ? "(__half)(" + V + ")" : V) + " : " + constant("0.0")) +
           " }\n";
  }

  std::string stage(const std::string &Array) {
    const std::string B = num(Block), Base = "blockIdx.x * " + B;
    auto At = [&](const std::string &E) {
      return write(Array, E,
                   "(int)(" + Base + " + " + E + ")" +
                       (L ? " - " + num(L) : ""));
    };
    switch (Idiom) {
    case 0:
      return At("t");
    case 1:
      return At("t") + "if (t < " + num(R) + ") " + At("t + " + B);
    case 2:
      return At("t + " + num(L)) + "if (t < " + num(L) + ") " + At("t") +
             "if (t < " + num(R) + ") " + At("t + " + num(L) + " + " + B);
    default:
      return "for (int e = t; e < " + B + " + " + num(L + R) + "; e += " + B +
             ") " + At("e");
    }
  }

  void emit() {
    const std::string B = num(Block);
    Scope S;
    std::string Before, Body;
    std::string Extent = B + (L + R ? " + " + num(L + R) : "");
    Body += "__shared__ " + T + " s[" + Extent + "];\n";
    if (Two)
      Body += "__shared__ " + T + " q[" + Extent + "];\n";
    Body += "const int t = threadIdx.x, g = blockIdx.x * " + B + " + t;\n";
    Body += stage("s");
    if (Two)
      Body += stage("q");
    // A product that is made in front of the barrier and used behind it.
    if (C.chance("early", 25)) {
      static const char *const Early[] = {"c[g] * w", "(c[g] - v) * w", "w * v",
                                          "c[g] * c[g] + w * v"};
      Body += "const " + T + " p = " +
              (std::string("g < n ? ") + (Half ? "(__half)(" : "(") +
               Early[C.pick("earlyValue", 4)] + ") : " + constant("0.0")) +
              ";\n";
      S.Values.push_back("p");
    }
    Body += "__syncthreads();\n";
    // Values that are read in front of the guard, of use behind it.
    if (C.chance("ahead", 25)) {
      const unsigned Reads = 2 + C.pick("reads", 3);
      for (unsigned I = 0; I < Reads; ++I) {
        Choices::Scope Sc(C, "ahead" + num(I));
        Body += "const " + T + " y" + num(I) + " = " + read(S) +
                (C.chance("less", 20) ? " - " + read(S) : "") + ";\n";
        S.Values.push_back("y" + num(I));
      }
    }
    std::string Use = compute(S);
    switch (C.weighted("guard", {60, 40})) {
    case 1:
      Body += "if (g >= n)\n  return;\n" + Use;
      break;
    default:
      Body += "if (g < n) {\n" + Use + "}\n";
    }
    const std::string Count =
        Padded ? "(((n + bx - 1) / bx + 2) * bx + " + num(L + R) + ")" : "n";
    const unsigned Restrict = C.weighted("restrict", {55, 30, 15});
    auto Pointer = [&](Param::KindType Kind, const char *Name,
                       const std::string &Count, bool Const) {
      Param P{Kind, T, Name, Count, "", Const, Restrict == 0};
      if (Restrict == 2)
        P.Restrict = C.chance(std::string("restrict") + Name, 50);
      K.Params.push_back(P);
    };
    Pointer(Param::In, "a", Count, true);
    Pointer(Param::In, "c", Count, true);
    Pointer(Param::Out, "b", Outs == 1 ? "n" : "(" + num(Outs) + " * n)",
            false);
    K.Params.push_back({Param::Scalar, T, "w", "", "0.7123"});
    K.Params.push_back({Param::Scalar, T, "v", "", "-1.37"});
    K.Params.push_back({Param::Scalar, "int", "n", "", "n"});
    if (Outs > 1 || UsesM)
      K.Params.push_back({Param::Scalar, "int", "m", "", "n"});
    std::string Params;
    for (const Param &P : K.Params)
      Params += (Params.empty() ? "" : ", ") + P.decl();
    K.Device = Helpers + "__global__ void " + K.Name + "(" + Params + ") {\n" +
               Body + "}\n";
    SizeForm Size;
    Size.Kind = SizeForm::Literal;
    Size.Block = Block;
    Size.Exact = true;
    K.Launches = lineLaunches(C, Size, 1, false);
  }
};

} // namespace

KernelText sumsKernel(Choices &C, const std::string &Name) {
  return SumsKernel(C, Name).run();
}

} // namespace rcache::fuzz
