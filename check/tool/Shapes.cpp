// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Harness.h"

#include <algorithm>
#include <cmath>

namespace rcache::check {

namespace {

std::vector<Dim3> blocks(unsigned Dimensions) {
  switch (Dimensions) {
  case 1:
    return {{128, 1, 1}, {256, 1, 1},  {64, 1, 1},  {32, 1, 1}, {512, 1, 1},
            {96, 1, 1},  {100, 1, 1},  {33, 1, 1},  {1, 1, 1},  {16, 1, 1},
            {8, 1, 1},   {1024, 1, 1}, {160, 1, 1}, {31, 1, 1}, {64, 2, 1}};
  case 2:
    return {{16, 16, 1}, {32, 8, 1}, {8, 8, 1},   {32, 32, 1},
            {64, 4, 1},  {32, 4, 1}, {16, 8, 1},  {32, 16, 1},
            {128, 1, 1}, {17, 3, 1}, {4, 4, 1},   {64, 8, 1},
            {1, 1, 1},   {16, 4, 1}, {256, 1, 1}, {20, 12, 1}};
  default:
    return {{8, 8, 8},  {16, 16, 1}, {32, 4, 1},  {16, 8, 4},
            {32, 8, 1}, {8, 8, 4},   {4, 4, 4},   {32, 4, 2},
            {16, 4, 4}, {7, 5, 3},   {32, 32, 1}, {64, 2, 1}};
  }
}

std::vector<Dim3> grids(unsigned Dimensions) {
  switch (Dimensions) {
  case 1:
    return {{3, 1, 1}, {1, 1, 1}, {8, 1, 1}, {5, 1, 1}, {17, 1, 1}, {2, 2, 1}};
  case 2:
    return {{2, 3, 1}, {1, 1, 1}, {3, 1, 1}, {1, 4, 1}, {4, 4, 1}};
  default:
    return {{2, 2, 2}, {1, 1, 1}, {2, 2, 1}, {3, 1, 2}};
  }
}

std::string lower(std::string S) {
  for (char &C : S)
    C = tolower(C);
  return S;
}
bool isOneOf(const std::string &S, std::initializer_list<const char *> L) {
  return std::any_of(L.begin(), L.end(), [&](const char *X) { return S == X; });
}
bool has(const std::string &S, std::initializer_list<const char *> L) {
  return std::any_of(L.begin(), L.end(), [&](const char *X) {
    return S.find(X) != std::string::npos;
  });
}

} // namespace

std::vector<Shape> shapes(unsigned Dimensions, uint32_t MaxThreads,
                          const Dim3 &Block, const Dim3 &Grid,
                          const std::vector<Dim3> &MoreBlocks) {
  std::vector<Dim3> Bs =
      Block.X ? std::vector<Dim3>{Block} : blocks(Dimensions);
  if (!Block.X)
    for (const Dim3 &X : MoreBlocks)
      if (std::find(Bs.begin(), Bs.end(), X) == Bs.end())
        Bs.insert(Bs.begin(), X);
  std::vector<Dim3> Gs = Grid.X ? std::vector<Dim3>{Grid} : grids(Dimensions);
  std::vector<Shape> R;
  // Sizes around the edge of what the launch covers: exactly, one less, one
  // more, a last block nearly empty, nearly full, tiny.
  for (size_t Round = 0; Round < 7; ++Round)
    for (size_t GI = 0; GI < Gs.size(); ++GI)
      for (const Dim3 &B : Bs) {
        if (B.count() > MaxThreads)
          continue;
        const Dim3 &G = Gs[(GI + Round) % Gs.size()];
        Shape S;
        S.Grid = G;
        S.Block = B;
        auto Size = [&](uint32_t Grid, uint32_t Block, size_t Way) -> uint32_t {
          uint32_t Full = Grid * Block;
          switch (Way % 7) {
          case 0:
            return Full;
          case 1:
            return Full - 1;
          case 2:
            return Full - Block / 2;
          case 3:
            return Full - Block + 1;
          case 4:
            return Full + 1;
          case 5:
            return Full > 3 ? Full / 2 + 1 : Full;
          default:
            return 1;
          }
        };
        S.W = std::max(1u, Size(G.X, B.X, Round));
        S.H = std::max(1u, Size(G.Y, B.Y, Round == 0 ? 0 : Round + GI));
        S.D = std::max(1u, Size(G.Z, B.Z, Round));
        R.push_back(S);
      }
  return R;
}

Shape randomShape(const Dim3 &Block, unsigned Dimensions,
                  std::mt19937_64 &Rng) {
  Shape S;
  S.Block = Block;
  auto Size = [&](unsigned Block, bool On, uint32_t &Grid) -> uint32_t {
    Grid = On ? 1 + Rng() % (Dimensions == 1 ? 24 : 5) : 1;
    uint32_t Full = Grid * Block, Back = Rng() % (Block + 2);
    return Rng() % 4 == 0 ? Full : std::max<uint32_t>(1, Full + 1 - Back);
  };
  S.W = Size(Block.X, true, S.Grid.X);
  S.H = Size(Block.Y, Dimensions > 1, S.Grid.Y);
  S.D = Size(Block.Z, Dimensions > 2, S.Grid.Z);
  return S;
}

namespace {
/// Without template arguments and anonymous namespaces: as SourceFacts has it.
std::string plainName(const std::string &Kernel) {
  std::string N = spelled(Kernel);
  // "f<(E)1>": the arguments end the name.
  return N.substr(0, N.find('<'));
}
} // namespace

std::vector<Dim3> ownBlocks(const KernelSignature &K,
                            const SourceSummary &Summary) {
  std::vector<Dim3> Out;
  for (const auto *Known : {&Summary.Facts.Launches, &Summary.Facts.Conditions})
    for (const auto &X : *Known)
      if (X.Kernel == plainName(K.Name) &&
          std::find(Out.begin(), Out.end(), X.Block) == Out.end())
        Out.push_back(X.Block);
  return Out;
}

namespace {

/// Launches by sort: a limit leaves something of each.
class AroundConstants {
public:
  AroundConstants(const KernelSignature &K, const std::vector<Dim3> &Blocks,
                  const std::vector<IntegerParam> &Integers)
      : K(K), Integers(Integers),
        Some(Blocks.begin(), Blocks.begin() + std::min<size_t>(2, Blocks.size())) {
    if (Some.empty())
      Some.push_back(K.Dimensions == 1   ? Dim3{64, 1, 1}
                     : K.Dimensions == 2 ? Dim3{16, 8, 1}
                                         : Dim3{8, 4, 4});
  }

  void endsOfTypes();
  void number(int64_t N);
  /// So many blocks, if they have at most \p MaxThreads threads.
  void grids(int64_t N, uint64_t MaxThreads);
  /// Threads of that number, and elements: of each dimension, and of all together.
  void elements(int64_t N, uint64_t MaxThreads);
  /// So wide and so high.
  void sides(int64_t N, int64_t M, uint64_t MaxThreads);
  std::vector<Shape> take(size_t Limit) const;

private:
  enum Sort { Grids, Elements, Beyond, BlockSizes, Ends, Choices, SortCount };
  static Shape launch(const Dim3 &Block, const Dim3 &Grid);
  void covering(uint64_t X, uint64_t Y, uint64_t Z, uint64_t MaxThreads);
  void with(const Dim3 &Block, const IntegerParam &P, int64_t V, Sort To);

  const KernelSignature &K;
  const std::vector<IntegerParam> &Integers;
  std::vector<Dim3> Some;
  std::vector<Shape> Sorts[SortCount];
};

Shape AroundConstants::launch(const Dim3 &Block, const Dim3 &Grid) {
  Shape S;
  S.Block = Block;
  S.Grid = Grid;
  S.W = Grid.X * Block.X;
  S.H = Grid.Y * Block.Y;
  S.D = Grid.Z * Block.Z;
  S.Rare = true;
  return S;
}

/// A launch with one argument of this value, if its type has it.
void AroundConstants::with(const Dim3 &Block, const IntegerParam &P, int64_t V,
                           Sort To) {
  const int64_t Low = P.Size >= 8 ? INT64_MIN
                      : P.Signed  ? -(int64_t(1) << (8 * P.Size - 1))
                                  : 0;
  const int64_t High =
      P.Size >= 8 ? INT64_MAX
                  : (int64_t(1) << (8 * P.Size - (P.Signed ? 1 : 0))) - 1;
  if (V < Low || V > High)
    return;
  Shape S = launch(Block, {3, K.Dimensions > 1 ? 2u : 1u, 1});
  for (const std::string &Name : K.ParamNames)
    S.Scalars.push_back(scalarValue(Name, S, K.Dimensions, 0));
  if (P.Place >= S.Scalars.size())
    return;
  S.Scalars[P.Place] = uint64_t(V);
  S.Exact = true;
  Sorts[To].push_back(S);
}

/// Sums that wrap around, differences that do.
void AroundConstants::endsOfTypes() {
  for (int64_t V :
       {int64_t(INT32_MAX) - 6, int64_t(INT32_MIN) + 7, int64_t(INT32_MAX),
        int64_t(INT32_MIN), int64_t(UINT32_MAX) - 6, int64_t(UINT32_MAX),
        int64_t(INT32_MAX) - 200, int64_t(INT32_MIN) + 200,
        int64_t(INT32_MAX) + 1, int64_t(UINT32_MAX) + 8})
    for (const IntegerParam &P : Integers)
      with(Some.front(), P, V, Ends);
}

void AroundConstants::grids(int64_t N, uint64_t MaxThreads) {
  for (const Dim3 &Block : Some) {
    if (N < 2 || N >= (1 << 20) || uint64_t(N) * Block.count() > MaxThreads)
      continue;
    Sorts[Grids].push_back(launch(Block, {uint32_t(N), 1, 1}));
    if (K.Dimensions > 1 && N <= 65535)
      Sorts[Grids].push_back(launch(Block, {1, uint32_t(N), 1}));
  }
}

void AroundConstants::covering(uint64_t X, uint64_t Y, uint64_t Z, uint64_t MaxThreads) {
  const Dim3 &Block = Some.front();
  const auto Blocks = [](uint64_t Of, uint32_t Size) { return Of ? Of / Size + 2 : 1; };
  const uint64_t GX = Blocks(X, Block.X), GY = Blocks(Y, Block.Y), GZ = Blocks(Z, Block.Z);
  if (GY > 65535 || GZ > 65535 || GX * GY * GZ * Block.count() > MaxThreads)
    return;
  Shape S = launch(Block, {uint32_t(GX), uint32_t(GY), uint32_t(GZ)});
  Sorts[Elements].push_back(S);
  S.W = X ? uint32_t(X) : S.W;
  S.H = Y ? uint32_t(Y) : S.H;
  S.D = Z ? uint32_t(Z) : S.D;
  Sorts[Elements].push_back(S);
}

void AroundConstants::elements(int64_t N, uint64_t MaxThreads) {
  if (N < 64 || uint64_t(N) > MaxThreads)
    return;
  covering(N, 0, 0, MaxThreads);
  if (K.Dimensions > 1) {
    covering(0, N, 0, MaxThreads);
    const auto Side = uint64_t(std::sqrt(double(N)));
    covering(Side, Side, 0, MaxThreads);
  }
  if (K.Dimensions > 2)
    covering(0, 0, N, MaxThreads);
}

void AroundConstants::sides(int64_t N, int64_t M, uint64_t MaxThreads) {
  if (K.Dimensions > 1 && N >= 64 && M >= 64)
    covering(N, M, 0, MaxThreads);
}

void AroundConstants::number(int64_t N) {
  for (const Dim3 &Block : Some) {
    // An argument that chooses what is done, `mode == 7`, `case 1:`.
    if (N >= 0 && N < 64)
      for (const IntegerParam &P : Integers)
        with(Block, P, N, Choices);
    // Arguments beyond it: what the data's size does not tell.
    if (N < 64)
      continue;
    for (const IntegerParam &P : Integers)
      for (int64_t V : {N + 1, N, N - 1, -N - 1})
        with(Block, P, V, Beyond);
  }
  // Blocks around it.
  for (int64_t V : {N, N + 1})
    if (V >= 2 && V <= 1024 && K.Dimensions == 1)
      Sorts[BlockSizes].push_back(launch({uint32_t(V), 1, 1}, {3, 1, 1}));
}

std::vector<Shape> AroundConstants::take(size_t Limit) const {
  std::vector<Shape> Out;
  for (size_t I = 0; Out.size() < Limit; ++I) {
    bool Any = false;
    for (const auto &Sort : Sorts)
      if (I < Sort.size() && Out.size() < Limit) {
        Out.push_back(Sort[I]);
        Any = true;
      }
    if (!Any)
      break;
  }
  return Out;
}

} // namespace

std::vector<Shape> constantShapes(const KernelSignature &K, const SourceFacts &Facts,
                                  const std::vector<Dim3> &Blocks,
                                  const std::vector<IntegerParam> &Integers,
                                  size_t Limit, uint64_t MaxThreads) {
  AroundConstants All(K, Blocks, Integers);
  All.endsOfTypes();
  // What the number of blocks is compared with may need more of them.
  for (auto It = Facts.GridLimits.rbegin(); It != Facts.GridLimits.rend(); ++It)
    for (int64_t N : {*It + 1, *It, *It - 1})
      All.grids(N, 4 * MaxThreads);
  for (auto It = Facts.Constants.rbegin(); It != Facts.Constants.rend(); ++It) {
    if (*It >= 8 && !Facts.GridLimits.count(*It))
      for (int64_t N : {*It + 1, *It})
        All.grids(N, MaxThreads);
    All.elements(*It, MaxThreads);
    for (const int64_t M : Facts.Constants)
      if (M != *It)
        All.sides(*It, M, 4 * MaxThreads);
    All.number(*It);
  }
  return All.take(Limit);
}

const std::vector<int64_t> &askedOf(const SourceFacts &Facts,
                                    const std::string &Kernel,
                                    const std::string &Param) {
  static const std::vector<int64_t> Nothing;
  const auto Of = Facts.Arguments.find(plainName(Kernel));
  if (Of == Facts.Arguments.end())
    return Nothing;
  const auto It = Of->second.find(Param);
  return It == Of->second.end() ? Nothing : It->second;
}

std::optional<int64_t> mostAskedOf(const SourceFacts &Facts, const std::string &Kernel,
                                   const std::string &Param) {
  const auto Of = Facts.AtMost.find(plainName(Kernel));
  if (Of == Facts.AtMost.end())
    return std::nullopt;
  const auto It = Of->second.find(Param);
  return It == Of->second.end() || It->second < 1 ? std::nullopt : std::optional(It->second);
}

bool hasLaunchFunction(const SourceFacts &Facts, const KernelSignature &K) {
  if (auto O = Facts.Overloads.find(K.Mangled); O != Facts.Overloads.end())
    return !O->second.LaunchSuffix.empty();
  return Facts.LaunchFunctions.count(plainName(K.Name) + "_rc_launch") != 0;
}

DriverEntry driverEntry(const SourceFacts &Facts, const KernelSignature &K,
                        bool Direct, bool Indirect) {
  DriverEntry E{K, Direct, Indirect};
  auto O = Facts.Overloads.find(K.Mangled);
  if (O != Facts.Overloads.end() && !O->second.LaunchSuffix.empty()) {
    E.LaunchSuffix = O->second.LaunchSuffix;
    E.LaunchResult = O->second.LaunchResult;
  }
  return E;
}

bool isRewritten(const SourceFacts &Facts, const std::string &Kernel) {
  const std::string Name = plainName(Kernel);
  for (size_t At = Name.find("_rc"); At != std::string::npos;
       At = Name.find("_rc", At + 1))
    if ((At + 3 == Name.size() || Name[At + 3] == '_') &&
        Facts.LaunchFunctions.count(Name.substr(0, At) + "_rc_launch"))
      return true;
  return false;
}

std::set<std::string> formsOf(const KernelSignature &K, const SourceSummary &Summary) {
  const std::string Own = plainName(K.Name), Arguments = spelled(K.Name).substr(Own.size());
  std::set<std::string> Out;
  for (const KernelSignature &X : Summary.Kernels) {
    const std::string Name = plainName(X.Name);
    if (Name.compare(0, Own.size() + 3, Own + "_rc") == 0 &&
        isRewritten(Summary.Facts, X.Name) &&
        spelled(X.Name).substr(Name.size()) == Arguments)
      Out.insert(X.Mangled);
  }
  return Out;
}

std::string declaredName(const std::string &Kernel) {
  const std::string Name = plainName(Kernel);
  const size_t At = Name.rfind("::");
  return At == std::string::npos ? Name : Name.substr(At + 2);
}

uint64_t scalarValue(const std::string &Param, const Shape &S,
                     unsigned Dimensions, unsigned Way) {
  std::string Name = lower(Param);
  uint64_t All = uint64_t(S.W) * S.H * S.D;
  uint64_t N = Dimensions == 1 ? S.W : S.W;
  const uint64_t Plane = uint64_t(S.W) * S.H;
  if (has(Name, {"plane", "area"}) && Way < 6)
    return Plane;
  bool X = has(Name, {"width", "col", "pitch", "stride", "xsize", "sizex",
                      "dimx", "xdim", "nx"}) ||
           isOneOf(Name, {"w", "ld", "lda", "ldb", "ldc", "iw", "ow", "imgw"});
  bool Y =
      has(Name, {"height", "row", "ysize", "sizey", "dimy", "ydim", "ny"}) ||
      isOneOf(Name, {"h", "ih", "oh", "imgh"});
  bool Z =
      has(Name, {"depth", "slice", "zsize", "sizez", "dimz", "zdim", "nz"}) ||
      isOneOf(Name, {"d"});
  bool Small = has(Name, {"rad", "iter", "step", "offset", "halo", "order",
                          "log", "shift", "begin", "start", "first", "tap"}) ||
               isOneOf(Name, {"k", "r", "i", "j", "t"});
  switch (Way) {
  case 0: // by name
    if (X)
      return S.W;
    if (Y)
      return Dimensions == 1 ? 4 : S.H;
    if (Z)
      return Dimensions < 3 ? 4 : S.D;
    return Small ? 2 : N;
  case 1: // by name, counts are of everything
    return X ? S.W : Y ? S.H : Z ? S.D : Small ? 1 : All;
  case 2:
    return N;
  case 3: // one number less than the data: halos
    return X || !Small ? std::max<uint64_t>(1, N > 8 ? N - 8 : 1) : 1;
  case 4:
    return X ? S.W : Y ? S.H : Z ? S.D : 3;
  case 5:
    return X ? S.W : Y ? S.H : Z ? S.D : 0;
  case 6: // a step from one plane to the next
    return X ? S.W : Y ? S.H : Z ? (Dimensions < 3 ? 4 : S.D) : Plane;
  default:
    return 1;
  }
}

} // namespace rcache::check
