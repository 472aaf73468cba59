// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "World.h"
#include "Affine/IslTools.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace rcache::verify {

namespace {
const char *const ThreadIds[3] = {"tx", "ty", "tz"};
const char *const SlotIds[3] = {"sx", "sy", "sz"};
const char *const BlockDimIds[3] = {"bdx", "bdy", "bdz"};
const char *const BlockIdIds[3] = {"bx", "by", "bz"};
const char *const GridIds[3] = {"gdx", "gdy", "gdz"};
} // namespace

static void collectProducts(const ValueRef &V, std::set<std::string> &Out) {
  if (!V)
    return;
  auto Add = [&](const std::vector<std::string> &Ids) {
    for (const std::string &Id : Ids)
      if (Id.find('*') != std::string::npos)
        Out.insert(Id);
  };
  if (!V->Aff.is_null())
    Add(involvedIds(V->Aff));
  if (!V->Cond.is_null())
    Add(involvedIds(V->Cond));
  for (const ValueRef &O : V->Operands)
    collectProducts(O, Out);
}

World::World(const KernelModel &M, const Plan &P, unsigned Seed, uint64_t MostRounds)
    : M(M), P(P), Rng(Seed), MostRounds(MostRounds) {
  std::set<std::string> Ids;
  for (const Symbol &S : M.Symbols)
    Ids.insert(S.Id);
  for (unsigned A = 0; A < 3; ++A)
    Ids.insert(
        {ThreadIds[A], SlotIds[A], BlockDimIds[A], BlockIdIds[A], GridIds[A]});
  for (const ArrayPlan &A : P.Arrays)
    Ids.insert(A.Stage.ElemIds.begin(), A.Stage.ElemIds.end());
  // Products that only the staging functions have: their Ids name the factors.
  std::set<std::string> Multiplied;
  for (const ArrayPlan &A : P.Arrays)
    for (const StagePiece &Piece : A.Stage.Pieces) {
      collectProducts(Piece.V, Multiplied);
      for (const std::string &Id : involvedIds(Piece.Domain))
        if (Id.find('*') != std::string::npos)
          Multiplied.insert(Id);
    }
  Ids.insert(Multiplied.begin(), Multiplied.end());
  for (const std::string &Id : Ids) {
    Pos[Id] = Order.size();
    Order.push_back(Id);
  }
  Point.resize(Order.size());
  Known.resize(Order.size());
  orderProducts();
  for (const std::string &Id : Multiplied)
    addProduct(Id);
}

/// The product that \p Id names: its factors joined by '*', `64*` in front
/// where it is computed in 64 bits.
void World::addProduct(const std::string &Id) {
  Product New;
  New.At = position(Id);
  for (size_t Begin = Id.compare(0, 3, "64*") == 0 ? 3 : 0;
       Begin != std::string::npos;) {
    const size_t Star = Id.find('*', Begin);
    const auto It = Pos.find(Id.substr(Begin, Star - Begin));
    if (It == Pos.end())
      return; // never known
    New.Factors.push_back(It->second);
    New.Of.insert(It->second);
    Begin = Star == std::string::npos ? Star : Star + 1;
  }
  for (const Product &Old : Products)
    if (New.Of.count(Old.At))
      New.Of.insert(Old.Of.begin(), Old.Of.end());
  Products.push_back(std::move(New));
}

/// Products of symbols, each behind its factors.
void World::orderProducts() {
  std::set<std::string> Waiting;
  for (const Symbol &S : M.Symbols)
    if (!S.Factors.empty())
      Waiting.insert(S.Id);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (const Symbol &S : M.Symbols) {
      const bool Ready = std::none_of(
          S.Factors.begin(), S.Factors.end(), [&](const std::string &F) {
            return Waiting.count(F) || !Pos.count(F);
          });
      if (!Waiting.count(S.Id) || !Ready)
        continue;
      Product New;
      New.At = position(S.Id);
      for (const std::string &F : S.Factors) {
        New.Factors.push_back(position(F));
        New.Of.insert(position(F));
      }
      for (const Product &Old : Products)
        if (New.Of.count(Old.At))
          New.Of.insert(Old.Of.begin(), Old.Of.end());
      Products.push_back(std::move(New));
      Waiting.erase(S.Id);
      Changed = true;
    }
  }
}

//===-- Values of symbols -------------------------------------------------===//

void World::set(const std::string &Id, int64_t V) {
  const auto It = Pos.find(Id);
  if (It == Pos.end())
    return;
  Point[It->second] = V;
  Known[It->second] = true;
}

void World::forget(const std::string &Id) {
  const auto It = Pos.find(Id);
  if (It != Pos.end())
    Known[It->second] = false;
}

std::vector<unsigned>
World::positions(const std::vector<std::string> &Ids) const {
  std::vector<unsigned> Result;
  for (const std::string &Id : Ids) {
    const auto It = Pos.find(Id);
    if (It == Pos.end())
      throw Undecided{"the value of '" + Id + "' is not known"};
    Result.push_back(It->second);
  }
  return Result;
}

void World::requireKnown(const std::vector<unsigned> &Positions) const {
  for (const unsigned I : Positions)
    if (!Known[I])
      throw Undecided{"the value of '" + Order[I] + "' is not known"};
}

void World::setThread(const std::array<int64_t, 3> &T) {
  Thread = T;
  for (unsigned A = 0; A < 3; ++A)
    set(ThreadIds[A], T[A]);
  if (!Products.empty())
    refreshProducts({position("tx"), position("ty"), position("tz")});
}

void World::setBlockIndex(const std::array<int64_t, 3> &B) {
  BlockIndex = B;
  for (unsigned A = 0; A < 3; ++A)
    set(BlockIdIds[A], B[A]);
  Ranges.clear();
  if (!Products.empty())
    refreshProducts({position("bx"), position("by"), position("bz")});
}

void World::setSlot(const std::array<int64_t, 3> &S) {
  for (unsigned A = 0; A < 3; ++A)
    set(SlotIds[A], S[A]);
}

void World::setElement(const std::vector<std::string> &Ids, const Element &E) {
  for (unsigned D = 0; D < Ids.size(); ++D)
    setIterator(Ids[D], E[D]);
}

int64_t World::pick(const std::vector<int64_t> &From) {
  return From[std::uniform_int_distribution<size_t>(0, From.size() - 1)(Rng)];
}

int64_t World::pick(std::initializer_list<int64_t> From) {
  return pick(std::vector<int64_t>(From));
}

void World::forgetThread() {
  for (unsigned A = 0; A < 3; ++A)
    forget(ThreadIds[A]);
  if (!Products.empty())
    refreshProducts({position("tx"), position("ty"), position("tz")});
}

//===-- Launches ----------------------------------------------------------===//

void World::drawGeometry() {
  if (P.Map.Block) {
    Block = *P.Map.Block;
  } else {
    const int64_t Multiple = std::max(1u, P.Map.BlockMultiple);
    std::vector<int64_t> Sizes;
    for (int64_t K : {1, 2, 3, 4})
      if (K * Multiple <= 1024)
        Sizes.push_back(K * Multiple);
    for (const auto &S : M.Geo.SeenBlocks)
      if (S[0] % Multiple == 0)
        Sizes.push_back(S[0]);
    Block = {Sizes.empty() ? Multiple : pick(Sizes), 1, 1};
  }
  for (unsigned A = 0; A < 3; ++A) {
    Grid[A] = A == 0 ? pick({1, 2, 3}) : Block[A] > 1 ? pick({1, 2}) : 1;
    set(BlockDimIds[A], Block[A]);
    set(GridIds[A], Grid[A]);
    BlockIndex[A] = pick({0, Grid[A] - 1, Grid[A] / 2});
    set(BlockIdIds[A], BlockIndex[A]);
  }
  setThread({0, 0, 0});
  setSlot({0, 0, 0});
}

/// Sizes around the number of threads along an axis, and small ones.
void World::drawParameters() {
  for (const Symbol &S : M.Symbols) {
    if (S.K != Symbol::Param && S.K != Symbol::Opaque &&
        S.K != Symbol::Iterator)
      continue;
    forget(S.Id);
    if (S.K == Symbol::Iterator || (S.Depends & (DepThread | DepShared)))
      continue;
    const unsigned Axis = S.K == Symbol::Param ? 0 : S.Axis;
    const int64_t All = Grid[Axis] * Block[Axis];
    if (S.Factors.empty())
      set(S.Id, pick({All, All, All - 1, All - Block[0] / 2, All + 37,
                      2 * All + 5, Block[0], 1, 2, 3, 5, 0, All * Block[1]}));
  }
}

/// `bx * bdx` where one of its factors is at a position in \p Changed.
void World::refreshProducts(std::initializer_list<unsigned> Changed) {
  for (const Product &New : Products) {
    if (std::none_of(Changed.begin(), Changed.end(),
                     [&](unsigned C) { return New.Of.count(C) != 0; }))
      continue;
    int64_t Value = 1;
    bool All = true;
    for (const unsigned F : New.Factors) {
      All &= Known[F];
      Value *= Point[F];
    }
    Known[New.At] = All;
    Point[New.At] = Value;
  }
}

/// An iterator or coordinate has got the value \p V: products with it follow.
void World::setIterator(const std::string &Id, int64_t V) {
  set(Id, V);
  refreshProducts({position(Id)});
}

bool World::drawOnce() {
  drawGeometry();
  drawParameters();
  for (unsigned I = 0; I < Order.size(); ++I)
    refreshProducts({I});
  Ranges.clear();
  for (const isl::set *S : {static_cast<const isl::set *>(&M.Context),
                            static_cast<const isl::set *>(&P.Context)})
    if (!S->is_null()) {
      for (const std::string &Id : involvedIds(*S)) {
        const auto It = Pos.find(Id);
        if (It == Pos.end() || !Known[It->second])
          return false;
      }
      if (!holds(*S))
        return false;
    }
  return true;
}

bool World::draw() {
  for (unsigned Try = 0; Try < 200; ++Try)
    if (drawOnce())
      return true;
  return false;
}

std::string World::describe() const {
  std::set<std::string> Hidden;
  for (unsigned A = 0; A < 3; ++A) {
    Hidden.insert({ThreadIds[A], SlotIds[A]});
    if (Block[A] == 1)
      Hidden.insert(BlockDimIds[A]);
    if (Grid[A] == 1)
      Hidden.insert({GridIds[A], BlockIdIds[A]});
  }
  for (const ArrayPlan &A : P.Arrays)
    Hidden.insert(A.Stage.ElemIds.begin(), A.Stage.ElemIds.end());
  std::string Text;
  for (unsigned I = 0; I < Order.size(); ++I)
    if (Known[I] && !Hidden.count(Order[I]))
      Text += (Text.empty() ? "" : ", ") + Order[I] + " = " +
              std::to_string(Point[I]);
  return Text;
}

//===-- Evaluation --------------------------------------------------------===//

std::optional<int64_t> World::value(const isl::pw_aff &V) {
  auto [It, New] = Values.try_emplace(V.get());
  if (New) {
    It->second.Needs = positions(involvedIds(V));
    It->second.V = CompiledValue::make(V, Order);
    It->second.Of = V;
  }
  requireKnown(It->second.Needs);
  return It->second.V.at(Point);
}

bool World::holds(const isl::set &S) {
  auto [It, New] = Sets.try_emplace(S.get());
  if (New) {
    It->second.Needs = positions(involvedIds(S));
    It->second.C = CompiledCondition::make(S, Order);
    It->second.Of = S;
  }
  requireKnown(It->second.Needs);
  return It->second.C.holds(Point);
}

Element World::element(const std::vector<isl::pw_aff> &Index) {
  Element E;
  for (const isl::pw_aff &I : Index) {
    const std::optional<int64_t> V = value(I);
    if (!V)
      throw Undecided{"an index that is not defined everywhere"};
    E.push_back(*V);
  }
  return E;
}

/// The number that a sum, difference or product of signed integers is, where
/// its operands are numbers.
std::optional<int64_t> World::signedInteger(const Value &V) {
  if (V.K == Value::Affine)
    return value(V.Aff);
  if (V.K == Value::Select)
    return signedInteger(*V.Operands[holds(V.Cond) ? 0 : 1]);
  if (V.K == Value::Op && V.Operands.size() == 1) {
    const auto Of = V.Opcode == Value::Cast ? signedInteger(*V.Operands[0]) : std::nullopt;
    if (!Of)
      return std::nullopt;
    const bool Holds =
        V.Type == "int" || V.Type == "unsigned int" ? *Of >= 0 && *Of <= INT32_MAX
        : V.Type == "unsigned long" || V.Type == "unsigned long long"
            ? *Of >= 0
            : V.Type == "long" || V.Type == "long long";
    return Holds ? Of : std::nullopt;
  }
  if (V.K != Value::Op || V.Operands.size() != 2)
    return std::nullopt;
  // Of numbers that are not below 0 the same whatever the type's sign.
  if (V.Opcode == Value::Xor || V.Opcode == Value::And) {
    const std::optional<int64_t> A = signedInteger(*V.Operands[0]),
                                 B = signedInteger(*V.Operands[1]);
    if (!A || !B || *A < 0 || *B < 0)
      return std::nullopt;
    return V.Opcode == Value::Xor ? *A ^ *B : *A & *B;
  }
  const bool Unsigned = V.Type == "unsigned int";
  if (!Unsigned && V.Type != "int" && V.Type != "long" && V.Type != "long long")
    return std::nullopt;
  const std::optional<int64_t> A = signedInteger(*V.Operands[0]),
                               B = signedInteger(*V.Operands[1]);
  if (!A || !B)
    return std::nullopt;
  if (V.Opcode == Value::Rem && *A >= 0 && *B > 0)
    return *A % *B;
  if (V.Opcode == Value::Div && *A >= 0 && *B > 0)
    return *A / *B;
  if (V.Opcode == Value::Shr && *A >= 0 && *B >= 0 && *B < 32)
    return *A >> *B;
  auto Is = [&](int64_t N) { // without a sign: modulo 2^32
    return Unsigned ? static_cast<int64_t>(static_cast<uint32_t>(N)) : N;
  };
  if (V.Opcode == Value::Add)
    return Is(*A + *B);
  if (V.Opcode == Value::Sub)
    return Is(*A - *B);
  if (V.Opcode == Value::Mul)
    return Is(*A * *B);
  return std::nullopt;
}

/// The same for an index, in 64 bits whatever their sign: addresses are numbers
/// modulo 2^64.
std::optional<int64_t> World::address(const Value &V) {
  const bool Unsigned =
      V.Type == "unsigned long" || V.Type == "unsigned long long";
  if (V.K != Value::Op ||
      !(Unsigned || V.Type == "long" || V.Type == "long long"))
    return signedInteger(V);
  if (V.Operands.size() == 1 && V.Opcode == Value::Cast && Unsigned)
    return address(*V.Operands[0]);
  if (V.Operands.size() != 2)
    return std::nullopt;
  const std::optional<int64_t> A = address(*V.Operands[0]),
                               B = address(*V.Operands[1]);
  if (!A || !B)
    return std::nullopt;
  const uint64_t X = static_cast<uint64_t>(*A), Y = static_cast<uint64_t>(*B);
  if (V.Opcode == Value::Add)
    return static_cast<int64_t>(X + Y);
  if (V.Opcode == Value::Sub)
    return static_cast<int64_t>(X - Y);
  if (V.Opcode == Value::Mul)
    return static_cast<int64_t>(X * Y);
  return std::nullopt;
}

/// What is loaded from byte \p At on behind the pointer that \p Load is made from: an
/// element by its index where elements of that type are what the pointer leads to.
std::string World::loaded(const Value &Load, const std::string &Type,
                          int64_t At, unsigned Bytes) const {
  const KernelParam &P = M.Params[static_cast<size_t>(Load.Root)];
  if (P.PointeeType == Type && Bytes && At % Bytes == 0)
    return Type + " " + P.Name + "[" + std::to_string(At / Bytes) + "]";
  return Type + " " + P.Name + " at byte " + std::to_string(At);
}

std::string World::term(const ValueRef &V) {
  if (!V)
    throw Undecided{"a stored value that is not known"};
  switch (V->K) {
  case Value::Affine: {
    const std::optional<int64_t> I = value(V->Aff);
    return I ? std::to_string(*I) : "undefined";
  }
  case Value::Load:
    if (const std::optional<int64_t> I = address(*V->Operands[0]);
        I && V->Root >= 0 && V->Bytes)
      return loaded(*V, V->Type, *I * int64_t(V->Bytes), V->Bytes);
    else if (I)
      return V->Type + " " + V->Text + "[" + std::to_string(*I) + "]";
    if (const std::string Index = term(V->Operands[0]); Index != Undefined)
      return V->Type + " " + V->Text + "[" + Index + "]";
    return Undefined;
  case Value::Select:
    return term(V->Operands[holds(V->Cond) ? 0 : 1]);
  case Value::Op: {
    if (const std::optional<int64_t> I = signedInteger(*V))
      return std::to_string(*I);
    // A number of a vector in memory.
    if (const Value &Of = V->Operands.empty() ? *V : *V->Operands[0];
        V->Member >= 0 && V->Lanes && Of.K == Value::Load && Of.Root >= 0 &&
        Of.Bytes)
      if (const std::optional<int64_t> I = address(*Of.Operands[0]))
        return loaded(Of, V->Type,
                      *I * int64_t(Of.Bytes) +
                          int64_t(Of.Bytes / V->Lanes) * V->Member,
                      Of.Bytes / V->Lanes);
    std::string Text = V->Type + " {" + V->Text + "}(";
    bool Choice = V->Text.find('?') != std::string::npos ||
                  V->Text.find("&&") != std::string::npos ||
                  V->Text.find("||") != std::string::npos;
    for (const ValueRef &O : V->Operands) {
      const std::string T = term(O);
      if (T == Undefined && !Choice)
        return Undefined;
      Text += T + "; ";
    }
    return Text + ")";
  }
  case Value::Uniform:
    return V->Text;
  case Value::Undefined:
    return Undefined;
  case Value::Unknown:
    break;
  }
  throw Undecided{"a stored value that is not known: " + V->Text};
}

bool World::loads(const ValueRef &V) {
  if (!V)
    return true;
  switch (V->K) {
  case Value::Affine:
  case Value::Uniform:
  case Value::Undefined:
    return false;
  case Value::Select:
    return loads(V->Operands[holds(V->Cond) ? 0 : 1]);
  case Value::Op:
    return std::any_of(V->Operands.begin(), V->Operands.end(),
                       [&](const ValueRef &O) { return loads(O); });
  case Value::Load:
  case Value::Unknown:
    return true;
  }
  return true;
}

} // namespace rcache::verify
