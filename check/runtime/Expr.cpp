// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Expr.h"

#include "Exec.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <sys/mman.h>

namespace rcache::check {

namespace {

struct Node {
  uint32_t Op;
  uint32_t Bits;
  uint64_t Value; ///< constants: the bits; leaves: the index
  std::vector<uint32_t> Operands;
};

struct Table {
  std::vector<Node> Nodes{Node{}};
  std::map<std::vector<uint64_t>, uint32_t> Known;
  std::map<std::string, uint32_t> Operations;
  std::vector<std::string> Names; ///< of operations from Other on
  std::vector<bool> Commutative;
  std::vector<std::string> LeafNames;
  std::map<std::string, uint32_t> LeafNumbers;
  std::string Problem;
};
Table &table() {
  static Table *T = new Table;
  return *T;
}

constexpr uint32_t op(ExprOp O) { return static_cast<uint32_t>(O); }
uint64_t maskOf(unsigned Bits) {
  return Bits >= 64 ? ~0ull : (1ull << Bits) - 1;
}

void problem(const std::string &Why) {
  if (table().Problem.empty())
    table().Problem = Why;
}

uint32_t intern(uint32_t Op, uint32_t Bits, uint64_t Value,
                std::vector<uint32_t> Operands) {
  Table &T = table();
  std::vector<uint64_t> Key{Op, Bits, Value};
  Key.insert(Key.end(), Operands.begin(), Operands.end());
  auto [It, New] = T.Known.try_emplace(std::move(Key), T.Nodes.size());
  if (New) {
    if (T.Nodes.size() >= (1u << 28)) {
      problem("too many expressions");
      return 1;
    }
    T.Nodes.push_back({Op, Bits, Value, std::move(Operands)});
  }
  return It->second;
}

uint32_t constant(uint64_t Value, unsigned Bits) {
  return intern(op(ExprOp::Constant), Bits, Value & maskOf(Bits), {});
}
bool isConstant(uint32_t N) {
  return table().Nodes[N].Op == op(ExprOp::Constant);
}
uint64_t valueOf(uint32_t N) { return table().Nodes[N].Value; }
unsigned bitsOf(uint32_t N) { return table().Nodes[N].Bits; }

//===--- Bytes ------------------------------------------------------------===//

/// A byte of a node, or a constant byte (Node 0).
struct ByteRef {
  uint32_t Node;
  uint8_t Part; ///< which byte, or the constant's value
  bool operator==(const ByteRef &) const = default;
};

uint32_t make(uint32_t Code, unsigned Bits, std::vector<uint32_t> X);
uint32_t fromBytes(const std::vector<ByteRef> &B);

/// A node of 8 bits.
uint32_t nodeOf(ByteRef B) {
  return B.Node ? fromBytes({B}) : constant(B.Part, 8);
}

std::vector<ByteRef> bytesOf(uint32_t N) {
  static const uint32_t Sext = exprOperation("sext", false);
  const Node X = table().Nodes[N];
  const unsigned Count = X.Bits / 8;
  std::vector<ByteRef> R;
  if (X.Op == op(ExprOp::Select) && Count > 1) {
    const std::vector<ByteRef> A = bytesOf(X.Operands[1]),
                               B = bytesOf(X.Operands[2]);
    for (unsigned I = 0; I < Count; ++I)
      R.push_back(bytesOf(make(op(ExprOp::Select), 8,
                               {X.Operands[0], nodeOf(A[I]), nodeOf(B[I])}))[0]);
    return R;
  }
  if (X.Op == Sext && bitsOf(X.Operands[0]) % 8 == 0)
    R = bytesOf(X.Operands[0]); // and the sign
  for (unsigned I = R.size(); I < Count; ++I)
    if (X.Op == op(ExprOp::Constant))
      R.push_back({0, uint8_t(X.Value >> (8 * I))});
    else if (X.Op == op(ExprOp::Bytes)) {
      uint32_t Packed = X.Operands[I];
      R.push_back({Packed >> 8, uint8_t(Packed)});
    } else
      R.push_back({N, uint8_t(I)});
  return R;
}

uint32_t fromBytes(const std::vector<ByteRef> &B) {
  bool AllConstant = true, Whole = B[0].Node != 0;
  uint64_t Value = 0;
  for (size_t I = 0; I < B.size(); ++I) {
    AllConstant &= B[I].Node == 0;
    Whole &= B[I].Node == B[0].Node && B[I].Part == I;
    Value |= B[I].Node ? 0 : uint64_t(B[I].Part) << (8 * I);
  }
  if (AllConstant)
    return constant(Value, 8 * B.size());
  if (Whole && bitsOf(B[0].Node) == 8 * B.size())
    return B[0].Node;
  // A value with its sign.
  if (const uint32_t Last = B.back().Node;
      Last && bitsOf(Last) == 8 * B.size() && bytesOf(Last) == B)
    return Last;
  // Bytes that one condition selects.
  uint32_t Cond = 0;
  std::vector<ByteRef> Taken, Other;
  for (const ByteRef &X : B) {
    const Node N = table().Nodes[X.Node];
    if (!X.Node || N.Op != op(ExprOp::Select) || N.Bits != 8 ||
        (Cond && N.Operands[0] != Cond))
      break;
    Cond = N.Operands[0];
    Taken.push_back(bytesOf(N.Operands[1])[0]);
    Other.push_back(bytesOf(N.Operands[2])[0]);
  }
  if (Taken.size() == B.size() && B.size() > 1)
    return intern(op(ExprOp::Select), 8 * B.size(), 0,
                  {Cond, fromBytes(Taken), fromBytes(Other)});
  std::vector<uint32_t> Packed;
  for (const ByteRef &X : B) {
    if (X.Node >= (1u << 24)) {
      problem("too many expressions");
      return 1;
    }
    Packed.push_back(X.Node << 8 | X.Part);
  }
  return intern(op(ExprOp::Bytes), 8 * B.size(), 0, std::move(Packed));
}

uint32_t flat(ExprOp O, unsigned Bits, uint32_t A, uint32_t B);

/// Is \p N a choice between two numbers?
bool choosesNumbers(const Node &N) {
  return N.Op == op(ExprOp::Select) && isConstant(N.Operands[1]) &&
         isConstant(N.Operands[2]);
}

/// And, or, exclusive or of one byte.
ByteRef bitwise(ExprOp O, ByteRef A, ByteRef B) {
  const uint32_t X = nodeOf(A), Y = nodeOf(B);
  for (auto [C, K] : {std::make_pair(X, Y), std::make_pair(Y, X)}) {
    const Node N = table().Nodes[C];
    if (isConstant(K) && choosesNumbers(N))
      return bytesOf(make(op(ExprOp::Select), 8,
                          {N.Operands[0], flat(O, 8, N.Operands[1], K),
                           flat(O, 8, N.Operands[2], K)}))[0];
  }
  if (O == ExprOp::Xor && X == Y)
    return {0, 0};
  return bytesOf(flat(O, 8, X, Y))[0];
}

/// Moves and joins of whole bytes, and what works bit by bit; 0 if the
/// operation is none.
uint32_t byteOperation(ExprOp O, unsigned Bits, uint32_t A, uint32_t B) {
  if (Bits % 8 || bitsOf(A) % 8 || Bits > 64 || bitsOf(A) > 64)
    return 0;
  std::vector<ByteRef> X = bytesOf(A);
  unsigned N = Bits / 8;
  switch (O) {
  case ExprOp::Trunc:
    X.resize(N);
    return fromBytes(X);
  case ExprOp::ZExt:
    X.resize(N, {0, 0});
    return fromBytes(X);
  case ExprOp::Shl:
  case ExprOp::LShr: {
    if (!isConstant(B) || valueOf(B) % 8 || valueOf(B) >= Bits)
      return 0;
    unsigned By = valueOf(B) / 8;
    std::vector<ByteRef> R(N, {0, 0});
    for (unsigned I = 0; I < N; ++I) {
      int From = O == ExprOp::Shl ? int(I) - int(By) : int(I + By);
      if (From >= 0 && From < int(N))
        R[I] = X[From];
    }
    return fromBytes(R);
  }
  case ExprOp::Add: { // of what does not meet
    std::vector<ByteRef> Y = bytesOf(B), R;
    for (unsigned I = 0; I < N; ++I)
      if (X[I] == ByteRef{0, 0})
        R.push_back(Y[I]);
      else if (Y[I] == ByteRef{0, 0})
        R.push_back(X[I]);
      else
        return 0;
    return fromBytes(R);
  }
  case ExprOp::And:
  case ExprOp::Or:
  case ExprOp::Xor: {
    std::vector<ByteRef> Y = bytesOf(B), R;
    for (unsigned I = 0; I < N; ++I)
      R.push_back(bitwise(O, X[I], Y[I]));
    return fromBytes(R);
  }
  default:
    return 0;
  }
}

//===--- Normal forms -----------------------------------------------------===//

/// The constant factor of a product, and what is multiplied by it.
std::pair<uint64_t, uint32_t> factorOf(uint32_t N) {
  const Node X = table().Nodes[N];
  if (X.Op == op(ExprOp::Mul))
    for (size_t I = 0; I < X.Operands.size(); ++I)
      if (isConstant(X.Operands[I])) {
        std::vector<uint32_t> Rest = X.Operands;
        Rest.erase(Rest.begin() + long(I));
        return {valueOf(X.Operands[I]),
                Rest.size() == 1
                    ? Rest[0]
                    : intern(op(ExprOp::Mul), X.Bits, 0, std::move(Rest))};
      }
  return {1, N};
}

/// A sum with each term once, times a factor: \p Terms are factors by term.
uint32_t linear(unsigned Bits, const std::map<uint32_t, uint64_t> &Terms,
                uint64_t K) {
  std::vector<uint32_t> All;
  for (auto [Term, Factor] : Terms)
    if (Factor &= maskOf(Bits))
      All.push_back(
          flat(ExprOp::Mul, Bits, Term, constant(Factor, Bits)));
  if (K & maskOf(Bits))
    All.push_back(constant(K, Bits));
  if (All.empty())
    return constant(0, Bits);
  std::sort(All.begin(), All.end());
  return All.size() == 1 ? All[0]
                         : intern(op(ExprOp::Add), Bits, 0, std::move(All));
}

/// Operations that may be reordered freely: one flat, sorted list of operands;
/// in sums, each with one factor.
uint32_t flat(ExprOp O, unsigned Bits, uint32_t A, uint32_t B) {
  std::vector<uint32_t> All;
  uint64_t K = O == ExprOp::Mul ? 1 : O == ExprOp::And ? ~0ull : 0;
  auto Fold = [&](uint64_t V) {
    K = O == ExprOp::Add   ? K + V
        : O == ExprOp::Mul ? K * V
        : O == ExprOp::And ? K & V
        : O == ExprOp::Or  ? K | V
                           : K ^ V;
  };
  for (uint32_t X : {A, B}) {
    const Node N = table().Nodes[X];
    for (uint32_t Y :
         N.Op == op(O) ? N.Operands : std::vector<uint32_t>{X}) {
      if (isConstant(Y))
        Fold(valueOf(Y));
      else
        All.push_back(Y);
    }
  }
  K &= maskOf(Bits);
  uint64_t Zero = O == ExprOp::Mul || O == ExprOp::And ? 0 : ~0ull;
  if ((O == ExprOp::Mul || O == ExprOp::And) && K == Zero)
    return constant(0, Bits);
  if (O == ExprOp::Or && K == maskOf(Bits))
    return constant(K, Bits);
  if (O == ExprOp::Add || (O == ExprOp::Mul && K != 1 && All.size() == 1 &&
                           table().Nodes[All[0]].Op == op(ExprOp::Add))) {
    const bool Scaled = O == ExprOp::Mul;
    std::map<uint32_t, uint64_t> Terms;
    uint64_t Rest = Scaled ? 0 : K;
    const std::vector<uint32_t> Sum =
        Scaled ? table().Nodes[All[0]].Operands : All;
    for (uint32_t X : Sum)
      if (isConstant(X)) {
        Rest += valueOf(X) * (Scaled ? K : 1);
      } else {
        auto [Factor, Term] = factorOf(X);
        Terms[Term] += Factor * (Scaled ? K : 1);
      }
    return linear(Bits, Terms, Rest);
  }
  uint64_t Neutral = O == ExprOp::Mul   ? 1
                     : O == ExprOp::And ? maskOf(Bits)
                                        : 0;
  if (K != Neutral)
    All.push_back(constant(K, Bits));
  if (All.empty())
    return constant(Neutral, Bits);
  std::sort(All.begin(), All.end());
  if (O == ExprOp::And || O == ExprOp::Or)
    All.erase(std::unique(All.begin(), All.end()), All.end());
  if (All.size() == 1)
    return All[0];
  return intern(op(O), Bits, 0, std::move(All));
}

/// The least or greatest of integers: a flat list in which each is once.
uint32_t extreme(uint32_t Code, unsigned Bits, uint32_t A, uint32_t B) {
  std::vector<uint32_t> All;
  for (uint32_t X : {A, B}) {
    const Node N = table().Nodes[X];
    if (N.Op == Code)
      All.insert(All.end(), N.Operands.begin(), N.Operands.end());
    else
      All.push_back(X);
  }
  std::sort(All.begin(), All.end());
  All.erase(std::unique(All.begin(), All.end()), All.end());
  return All.size() == 1 ? All[0] : intern(Code, Bits, 0, std::move(All));
}

/// Is \p N a number whatever the data are?
bool isNumber(uint32_t N) {
  static const uint32_t Signed = exprOperation("sitofp", false);
  static const uint32_t Unsigned = exprOperation("uitofp", false);
  const Node &X = table().Nodes[N];
  if (!isConstant(N))
    return X.Op == Signed || X.Op == Unsigned;
  const uint64_t Infinity = X.Bits == 64   ? 0x7ff0000000000000
                            : X.Bits == 32 ? 0x7f800000
                                           : 0;
  return (X.Value & (maskOf(X.Bits) >> 1)) <= Infinity;
}

/// Is \p N a floating-point value that cannot be minus zero? A sum is minus
/// zero only if both operands are, a difference only if the first one is.
bool notMinusZero(uint32_t N, unsigned Bits) {
  static const uint32_t Fsub = exprOperation("fsub", false);
  const Node &X = table().Nodes[N];
  if (isConstant(N))
    return valueOf(N) != 1ull << (Bits - 1);
  if (X.Op == op(ExprOp::FAdd))
    return notMinusZero(X.Operands[0], Bits) ||
           notMinusZero(X.Operands[1], Bits);
  return X.Op == Fsub && notMinusZero(X.Operands[0], Bits);
}

/// Is \p N of 32 bits and computed, so that there is one value of it that is no number?
bool isComputed(uint32_t N) {
  static const std::vector<uint32_t> Operations{
      op(ExprOp::FAdd),
      op(ExprOp::FMul),
      exprOperation("fsub", false),
      exprOperation("fdiv", false),
      exprOperation("fneg", false),
      exprOperation("llvm.fma", true),
      exprOperation("llvm.sqrt", false),
      exprOperation("llvm.fabs", false)};
  const Node &X = table().Nodes[N];
  if (isNumber(N))
    return true;
  if (X.Op == op(ExprOp::Select))
    return isComputed(X.Operands[1]) && isComputed(X.Operands[2]);
  return X.Bits == 32 && std::find(Operations.begin(), Operations.end(), X.Op) !=
                             Operations.end();
}

/// What -0 is added to in \p N: it is left, but for what is no number; else 0.
uint32_t withoutZero(uint32_t N) {
  const Node &X = table().Nodes[N];
  if (X.Op == op(ExprOp::FAdd))
    for (unsigned I = 0; I < 2; ++I)
      if (isConstant(X.Operands[I]) && !notMinusZero(X.Operands[I], X.Bits))
        return X.Operands[1 - I];
  return 0;
}

/// \p N with the other sign.
uint32_t negated(uint32_t N) {
  static const uint32_t Fneg = exprOperation("fneg", false);
  const Node X = table().Nodes[N];
  return X.Op == Fneg ? X.Operands[0] : make(Fneg, X.Bits, {N});
}

/// Takes the sign off a factor: of minus x, of a number below zero.
bool takeSign(uint32_t &N) {
  static const uint32_t Fneg = exprOperation("fneg", false);
  const Node X = table().Nodes[N];
  if (X.Op == Fneg) {
    N = X.Operands[0];
    return true;
  }
  if (!isConstant(N) || !(X.Value >> (X.Bits - 1) & 1) || !isNumber(N))
    return false;
  N = constant(X.Value & (maskOf(X.Bits) >> 1), X.Bits);
  return true;
}

/// Floating-point operations with negated operands, in one form: 0 if there is
/// nothing to change. Signs of products stand in front of them, sums are
/// differences where one operand is negated.
uint32_t signsOf(uint32_t Code, unsigned Bits, std::vector<uint32_t> X) {
  static const uint32_t Fsub = exprOperation("fsub", false),
                        Fneg = exprOperation("fneg", false),
                        Fdiv = exprOperation("fdiv", false),
                        Fma = exprOperation("llvm.fma", true);
  auto IsMinus = [&](uint32_t N) { return table().Nodes[N].Op == Fneg; };
  if (Code == Fneg && isConstant(X[0]) && isNumber(X[0]))
    return constant(valueOf(X[0]) ^ 1ull << (Bits - 1), Bits);
  if (Code == Fneg && IsMinus(X[0]))
    return table().Nodes[X[0]].Operands[0];
  if (Code == op(ExprOp::FMul) || Code == Fdiv) {
    const bool A = takeSign(X[0]), B = takeSign(X[1]);
    return !A && !B ? 0
           : A == B ? make(Code, Bits, X)
                    : negated(make(Code, Bits, X));
  }
  if (Code == Fma && X.size() == 3) {
    const bool A = takeSign(X[0]), B = takeSign(X[1]);
    if (!A && !B)
      return 0;
    if (X[1] < X[0])
      std::swap(X[0], X[1]);
    if (A != B) { // at the second factor, a number if there is one
      const bool First = isConstant(X[0]);
      X[First ? 0 : 1] = negated(X[First ? 0 : 1]);
    }
    return intern(Code, Bits, 0, std::move(X));
  }
  if (Code == op(ExprOp::FAdd)) {
    if (IsMinus(X[1]))
      return make(Fsub, Bits, {X[0], negated(X[1])});
    if (IsMinus(X[0]))
      return make(Fsub, Bits, {X[1], negated(X[0])});
  }
  if (Code == Fsub &&
      (IsMinus(X[1]) || (isConstant(X[1]) && isNumber(X[1]))))
    return make(op(ExprOp::FAdd), Bits, {X[0], negated(X[1])});
  return 0;
}

/// Of two opposite comparisons one is used, and its opposite is that, negated.
uint32_t opposite(uint32_t Code, const std::vector<uint32_t> &X) {
  struct Other {
    uint32_t Code;
    bool Swapped;
  };
  static const std::map<uint32_t, Other> All = [] {
    auto Op = [](const char *Name, bool Commutative) {
      return exprOperation(Name, Commutative);
    };
    return std::map<uint32_t, Other>{
        {Op("ne", true), {Op("eq", true), false}},
        {Op("sle", false), {Op("slt", false), true}},
        {Op("ule", false), {Op("ult", false), true}},
        {Op("fune", true), {Op("foeq", true), false}},
        {Op("fueq", true), {Op("fone", true), false}},
        {Op("funo", true), {Op("ford", true), false}},
        {Op("fult", false), {Op("fole", false), true}},
        {Op("fule", false), {Op("folt", false), true}}};
  }();
  const auto It = All.find(Code);
  if (It == All.end() || X.size() != 2)
    return 0;
  std::vector<uint32_t> Y = X;
  if (It->second.Swapped)
    std::swap(Y[0], Y[1]);
  return flat(ExprOp::Xor, 1, make(It->second.Code, 1, Y), constant(1, 1));
}

/// Comparisons of integers whose bytes are known in part.
uint32_t comparison(uint32_t Code, const std::vector<uint32_t> &X) {
  static const uint32_t Eq = exprOperation("eq", true),
                        Ult = exprOperation("ult", false),
                        Slt = exprOperation("slt", false);
  if ((Code != Eq && Code != Ult && Code != Slt) || X.size() != 2 ||
      bitsOf(X[0]) % 8 || bitsOf(X[0]) > 64)
    return 0;
  std::vector<ByteRef> A = bytesOf(X[0]), B = bytesOf(X[1]);
  const size_t N = A.size();
  auto Nothing = [](ByteRef R) { return R == ByteRef{0, 0}; };
  if (Code == Eq) {
    std::vector<ByteRef> C, D;
    for (size_t I = 0; I < N; ++I)
      if (A[I] != B[I]) {
        if (!A[I].Node && !B[I].Node)
          return constant(0, 1);
        C.push_back(A[I]);
        D.push_back(B[I]);
      }
    if (C.empty())
      return constant(1, 1);
    const uint32_t L = fromBytes(C), R = fromBytes(D);
    for (auto [S, K] : {std::make_pair(L, R), std::make_pair(R, L)})
      if (const Node Choice = table().Nodes[S];
          isConstant(K) && choosesNumbers(Choice)) {
        const bool First = Choice.Operands[1] == K,
                   Second = Choice.Operands[2] == K;
        return First == Second ? constant(First, 1)
               : First         ? Choice.Operands[0]
                               : flat(ExprOp::Xor, 1, Choice.Operands[0],
                                      constant(1, 1));
      }
    return C.size() < N ? make(Eq, 1, {L, R}) : 0;
  }
  size_t Left = N;
  while (Left > 1 && Nothing(A[Left - 1]) && Nothing(B[Left - 1]))
    --Left;
  if (Left == N)
    return 0;
  A.resize(Left);
  B.resize(Left);
  return make(Ult, 1, {fromBytes(A), fromBytes(B)});
}

/// A choice in its one form.
uint32_t selection(unsigned Bits, std::vector<uint32_t> X) {
  const Node C = table().Nodes[X[0]];
  if (C.Op == op(ExprOp::Constant))
    return C.Value ? X[1] : X[2];
  if (C.Op == op(ExprOp::Xor) && C.Bits == 1 &&
      std::any_of(C.Operands.begin(), C.Operands.end(), isConstant))
    return make(op(ExprOp::Select), Bits,
                {flat(ExprOp::Xor, 1, X[0], constant(1, 1)), X[2], X[1]});
  if (X[1] == X[2])
    return X[1];
  // What is no number is handed on, a number is what it is with -0.
  static const uint32_t Ord = exprOperation("ford", true);
  if (C.Op == Ord && withoutZero(X[1]) == X[2] &&
      std::all_of(C.Operands.begin(), C.Operands.end(), [&](uint32_t N) {
        return N == X[2] || isNumber(N);
      }))
    return X[2];
  if (Bits == 1) {
    const uint32_t Not = flat(ExprOp::Xor, 1, X[0], constant(1, 1));
    if (isConstant(X[1]))
      return valueOf(X[1]) ? flat(ExprOp::Or, 1, X[0], X[2])
                           : flat(ExprOp::And, 1, Not, X[2]);
    if (isConstant(X[2]))
      return valueOf(X[2]) ? flat(ExprOp::Or, 1, Not, X[1])
                           : flat(ExprOp::And, 1, X[0], X[1]);
  }
  if (Bits % 8 == 0 && Bits > 8 && Bits <= 64) {
    // What both have in common is not chosen.
    const std::vector<ByteRef> A = bytesOf(X[1]), B = bytesOf(X[2]);
    std::vector<ByteRef> R;
    bool Common = false;
    for (size_t I = 0; I < A.size(); ++I)
      Common |= A[I] == B[I];
    for (size_t I = 0; Common && I < A.size(); ++I)
      R.push_back(A[I] == B[I]
                      ? A[I]
                      : bytesOf(make(op(ExprOp::Select), 8,
                                     {X[0], nodeOf(A[I]), nodeOf(B[I])}))[0]);
    if (Common)
      return fromBytes(R);
  }
  return intern(op(ExprOp::Select), Bits, 0, std::move(X));
}

/// What has a simpler form by a rule of its own; 0 if there is none.
uint32_t simpler(uint32_t Code, unsigned Bits, const std::vector<uint32_t> &X) {
  static const std::vector<uint32_t> Extremes{
      exprOperation("llvm.smin", true), exprOperation("llvm.smax", true),
      exprOperation("llvm.umin", true), exprOperation("llvm.umax", true)};
  static const uint32_t Sext = exprOperation("sext", false),
                        Ashr = exprOperation("ashr", false),
                        Uno = exprOperation("funo", true),
                        Ord = exprOperation("ford", true),
                        Fsub = exprOperation("fsub", false);
  // A product with one is exact.
  static const uint32_t Fma = exprOperation("llvm.fma", true);
  auto IsOne = [&](uint32_t N) {
    return isConstant(N) && ((Bits == 32 && valueOf(N) == 0x3f800000) ||
                             (Bits == 64 && valueOf(N) == 0x3ff0000000000000));
  };
  if (Code == Fma && X.size() == 3 && (IsOne(X[0]) || IsOne(X[1])))
    return make(op(ExprOp::FAdd), Bits, {IsOne(X[0]) ? X[1] : X[0], X[2]});
  if (Code == op(ExprOp::FMul) && Bits == 32 && (IsOne(X[0]) || IsOne(X[1])))
    return make(op(ExprOp::FAdd), Bits,
                {IsOne(X[0]) ? X[1] : X[0], constant(0x80000000, Bits)});
  if (Code == op(ExprOp::FAdd) && Bits == 32)
    for (unsigned I = 0; I < 2; ++I)
      if (isConstant(X[I]) && !notMinusZero(X[I], Bits) && isComputed(X[1 - I]))
        return X[1 - I];
  if (uint32_t R = signsOf(Code, Bits, X))
    return R;
  if ((Code == Sext || Code == op(ExprOp::ZExt)) && bitsOf(X[0]) == 1)
    return selection(Bits, {X[0], constant(Code == Sext ? ~0ull : 1, Bits),
                            constant(0, Bits)});
  if (Code == Sext && table().Nodes[X[0]].Op == Sext)
    return make(Sext, Bits, {table().Nodes[X[0]].Operands[0]});
  if (X.size() != 2)
    return 0;
  if (std::find(Extremes.begin(), Extremes.end(), Code) != Extremes.end())
    return extreme(Code, Bits, X[0], X[1]);
  if ((Code == Uno || Code == Ord) && isNumber(X[0]) && isNumber(X[1]))
    return constant(Code == Ord, Bits);
  if (uint32_t R = comparison(Code, X))
    return R;
  if (uint32_t R = opposite(Code, X))
    return R;
  // Shifting whole bytes out leaves the others, with their sign.
  if (Code == Ashr && Bits % 8 == 0 && isConstant(X[1]) && valueOf(X[1]) &&
      valueOf(X[1]) % 8 == 0 && valueOf(X[1]) < Bits) {
    std::vector<ByteRef> B = bytesOf(X[0]);
    B.erase(B.begin(), B.begin() + long(valueOf(X[1]) / 8));
    return intern(Sext, Bits, 0, {fromBytes(B)});
  }
  // a - (b - c) is a + (c - b), as optimisers have it, unless both differences
  // are zero and a is minus zero.
  if (Code == Fsub && !isConstant(X[1]) && table().Nodes[X[1]].Op == Fsub &&
      notMinusZero(X[0], Bits)) {
    const std::vector<uint32_t> Inner = table().Nodes[X[1]].Operands;
    return make(op(ExprOp::FAdd), Bits,
                {X[0], make(Fsub, Bits, {Inner[1], Inner[0]})});
  }
  return 0;
}

/// An integer that is converted: leading zero bytes do not matter, and with one
/// the sign is known.
void shortenConversion(uint32_t &Code, uint32_t &Operand) {
  static const uint32_t Signed = exprOperation("sitofp", false);
  static const uint32_t Unsigned = exprOperation("uitofp", false);
  static const uint32_t Sext = exprOperation("sext", false);
  if ((Code != Signed && Code != Unsigned) || bitsOf(Operand) % 8)
    return;
  if (Code == Signed && table().Nodes[Operand].Op == Sext)
    Operand = table().Nodes[Operand].Operands[0];
  std::vector<ByteRef> B = bytesOf(Operand);
  size_t N = B.size();
  while (N > 1 && B[N - 1].Node == 0 && B[N - 1].Part == 0)
    --N;
  if (N == B.size())
    return;
  B.resize(N);
  Operand = fromBytes(B);
  Code = Unsigned;
}

uint32_t make(uint32_t Code, unsigned Bits, std::vector<uint32_t> X) {
  if (X.size() == 1)
    shortenConversion(Code, X[0]);
  if (uint32_t R = simpler(Code, Bits, X))
    return R;
  auto O = static_cast<ExprOp>(Code);
  if (Code < op(ExprOp::Other) && !X.empty())
    if (uint32_t R = byteOperation(O, Bits, X[0], X.size() > 1 ? X[1] : 0))
      return R;
  switch (O) {
  case ExprOp::Add:
  case ExprOp::Mul:
  case ExprOp::And:
  case ExprOp::Or:
  case ExprOp::Xor:
    return flat(O, Bits, X[0], X[1]);
  case ExprOp::Sub:
    return flat(ExprOp::Add, Bits, X[0],
                make(op(ExprOp::Mul), Bits, {X[1], constant(~0ull, Bits)}));
  case ExprOp::Shl:
    if (isConstant(X[1]) && valueOf(X[1]) < Bits)
      return flat(ExprOp::Mul, Bits, X[0],
                  constant(1ull << valueOf(X[1]), Bits));
    break;
  case ExprOp::Select:
    return selection(Bits, std::move(X));
  case ExprOp::FAdd:
  case ExprOp::FMul:
    if (X[1] < X[0])
      std::swap(X[0], X[1]);
    break;
  default:
    if (Code >= op(ExprOp::Other) &&
        table().Commutative[Code - op(ExprOp::Other)] && X.size() >= 2 &&
        X[1] < X[0])
      std::swap(X[0], X[1]);
  }
  return intern(Code, Bits, 0, std::move(X));
}

/// A node that turned out constant is no longer of interest.
uint32_t interesting(uint32_t N) { return isConstant(N) ? 0 : N; }

} // namespace

bool initialiseExpressions() {
  constexpr uint64_t Size = 4 * ArenaSize;
  void *P = mmap(reinterpret_cast<void *>(ExprBase), Size,
                 PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                     MAP_FIXED_NOREPLACE,
                 -1, 0);
  return P == reinterpret_cast<void *>(ExprBase);
}

uint32_t exprOperation(const std::string &Name, bool Commutative) {
  Table &T = table();
  auto [It, New] = T.Operations.try_emplace(
      Name, op(ExprOp::Other) + uint32_t(T.Names.size()));
  if (New) {
    T.Names.push_back(Name);
    T.Commutative.push_back(Commutative);
  }
  return It->second;
}

void exprLeaves(void *P, size_t Size, unsigned Unit, const std::string &Name,
                size_t FirstIndex) {
  Table &T = table();
  auto [It, New] = T.LeafNumbers.try_emplace(Name, T.LeafNames.size());
  if (New)
    T.LeafNames.push_back(Name);
  uint32_t *R = exprReferences(P);
  for (size_t I = 0; I + Unit <= Size; I += Unit) {
    uint32_t N = intern(op(ExprOp::Leaf), 8 * Unit, FirstIndex + I / Unit,
                        {It->second});
    for (unsigned B = 0; B < Unit; ++B)
      R[I + B] = N << 4 | B;
  }
}

void exprForget(void *P, size_t Size) {
  memset(exprReferences(P), 0, Size * 4);
}

uint32_t exprAt(const void *P, unsigned Size) {
  const uint32_t *R = exprReferences(P);
  uint32_t Any = 0;
  for (unsigned I = 0; I < Size; ++I)
    Any |= R[I];
  if (!Any)
    return 0;
  bool Whole = bitsOf(R[0] >> 4) == 8 * Size;
  for (unsigned I = 0; I < Size; ++I)
    Whole &= R[I] == (R[0] | I);
  if (Whole && !(R[0] & 15))
    return interesting(R[0] >> 4);
  std::vector<ByteRef> B;
  for (unsigned I = 0; I < Size; ++I)
    if (R[I])
      // A byte of a composition is a byte of what it is composed of.
      B.push_back(bytesOf(R[I] >> 4)[R[I] & 15]);
    else
      B.push_back({0, static_cast<const uint8_t *>(P)[I]});
  return interesting(fromBytes(B));
}

std::string exprText(uint32_t Start) {
  std::string Out;
  auto Print = [&](auto &Self, uint32_t N, unsigned Depth) -> void {
    const Node &X = table().Nodes[N];
    if (Out.size() > 600 || Depth > 12) {
      Out += "...";
      return;
    }
    switch (static_cast<ExprOp>(X.Op)) {
    case ExprOp::Leaf:
      Out += table().LeafNames[X.Operands[0]] + "[" +
             std::to_string(int64_t(X.Value)) + "]";
      return;
    case ExprOp::Constant: {
      char Buf[32];
      snprintf(Buf, sizeof(Buf), "0x%llx", (unsigned long long)X.Value);
      Out += Buf;
      return;
    }
    case ExprOp::Bytes:
      Out += "bytes(";
      for (size_t I = 0; I < X.Operands.size(); ++I) {
        Out += I ? ", " : "";
        if (X.Operands[I] >> 8) {
          Self(Self, X.Operands[I] >> 8, Depth + 1);
          Out += "." + std::to_string(X.Operands[I] & 255);
        } else
          Out += std::to_string(X.Operands[I] & 255);
      }
      Out += ")";
      return;
    default:
      break;
    }
    static const char *const Fixed[] = {
        "",    "",    "",    "",       "byte",  "add",  "sub", "mul",
        "and", "or",  "xor", "shl",    "lshr",  "trunc", "zext", "select",
        "fadd", "fmul", "eq"};
    Out += X.Op >= op(ExprOp::Other) ? table().Names[X.Op - op(ExprOp::Other)]
                                     : Fixed[X.Op];
    Out += "(";
    for (size_t I = 0; I < X.Operands.size(); ++I) {
      Out += I ? ", " : "";
      Self(Self, X.Operands[I], Depth + 1);
    }
    Out += ")";
  };
  Print(Print, Start, 0);
  return Out;
}

size_t exprCount() { return table().Nodes.size(); }
const std::string &exprProblem() { return table().Problem; }
void exprClearProblem() { table().Problem.clear(); }

//===----------------------------------------------------------------------===//
// Calls of instrumented code
//===----------------------------------------------------------------------===//

extern "C" {

/// Widths: result, then operands, 8 bits each from the lowest on; 0 ends them.
uint32_t rcc_expr(uint32_t Code, uint64_t Widths, uint32_t A, uint64_t VA,
                  uint32_t B, uint64_t VB, uint32_t C, uint64_t VC) {
  if (!(A | B | C))
    return 0;
  unsigned Bits = Widths & 255;
  std::vector<uint32_t> X;
  uint32_t Ids[] = {A, B, C};
  uint64_t Values[] = {VA, VB, VC};
  for (unsigned I = 0; I < 3; ++I)
    if (unsigned W = Widths >> (8 * (I + 1)) & 255)
      X.push_back(Ids[I] ? Ids[I] : constant(Values[I], W));
  return interesting(make(Code, Bits, std::move(X)));
}

/// A scalar argument of the kernel: data like any other. Arguments are told
/// apart by their values, which the caller makes distinct.
uint32_t rcc_expr_argument(uint64_t Value, uint32_t Bits) {
  Table &T = table();
  auto [It, New] = T.LeafNumbers.try_emplace("argument", T.LeafNames.size());
  if (New)
    T.LeafNames.push_back("argument");
  return intern(op(ExprOp::Leaf), Bits, Value, {It->second});
}

uint32_t rcc_expr_select(uint32_t Cond, uint32_t Taken, uint32_t Bits,
                         uint32_t A, uint64_t VA, uint32_t B, uint64_t VB) {
  if (!Cond)
    return Taken ? A : B;
  if (!A && !B && ((VA ^ VB) & maskOf(Bits)) == 0)
    return 0;
  return interesting(make(op(ExprOp::Select), Bits,
                          {Cond, A ? A : constant(VA, Bits),
                           B ? B : constant(VB, Bits)}));
}

uint32_t rcc_expr_load(const void *P, uint32_t Size) {
  return inArena(P) ? exprAt(P, Size) : 0;
}
void rcc_expr_store(void *P, uint32_t Size, uint32_t Id) {
  if (!inArena(P))
    return;
  uint32_t *R = exprReferences(P);
  for (unsigned I = 0; I < Size; ++I)
    R[I] = Id ? Id << 4 | I : 0;
}
void rcc_expr_copy(void *Dst, const void *Src, uint64_t N) {
  if (!inArena(Dst))
    return;
  if (inArena(Src))
    memmove(exprReferences(Dst), exprReferences(Src), N * 4);
  else
    exprForget(Dst, N);
}
void rcc_expr_clear(void *Dst, uint64_t N) {
  if (inArena(Dst))
    exprForget(Dst, N);
}
/// What must not depend on data does.
void rcc_expr_need(uint32_t Id, uint32_t What, uint32_t Site) {
  static const char *const Text[] = {
      "the control flow depends on data", "an address depends on data",
      "a vote, match or reduction depends on data",
      "an atomic operation works on data",
      "an operation that is not followed symbolically works on data"};
  if (Id) {
    std::string At = siteText(Site);
    problem(Text[What] + (At.empty() ? "" : " at " + At));
  }
}

} // extern "C"

#define RCC(NAME)                                                              \
  { #NAME, reinterpret_cast<void *>(&NAME) }
std::vector<std::pair<std::string, void *>> expressionSymbols() {
  return {RCC(rcc_expr),       RCC(rcc_expr_argument), RCC(rcc_expr_select), RCC(rcc_expr_load),
          RCC(rcc_expr_store), RCC(rcc_expr_copy),   RCC(rcc_expr_clear),
          RCC(rcc_expr_need)};
}
#undef RCC

} // namespace rcache::check
