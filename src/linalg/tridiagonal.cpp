#include "linalg/tridiagonal.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>

#include "linalg/eigen_backends.hpp"
#include "linalg/scalapack.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

int workspace_of(const DistributedMatrix& a) {
  return narrow_to_int(reduction_workspace(a.rows(), a.block(), a.grid().rows(), a.grid().columns()),
                       "the workspace of the reduction to a tridiagonal matrix");
}

/// **Collective.** An array that lies over the process columns, the same in each process row, as a whole on every rank.
std::vector<double> whole(const DistributedMatrix& a, const std::vector<double>& mine, std::string_view doing) {
  const Communicator& comm = a.grid().communicator();
  auto all = collective(comm, doing, [&] {
    std::vector<double> values(static_cast<std::size_t>(a.rows()));
    if (a.grid().row() != 0) return values;
    for (const BlockCyclic::Run& run : a.column_axis().blocks())
      std::copy_n(mine.begin() + run.local, run.count, values.begin() + run.global);
    return values;
  });
  // Each element is one rank's value plus zeros: exact.
  all_reduce(comm, std::span(all));
  return all;
}

}  // namespace

Index reduction_workspace(Index n, Index block, int grid_rows, int grid_columns) {
  const Index nb = effective_block(n, block);
  const Index np = BlockCyclic{n, nb, grid_rows, 0}.local_extent();
  const Index nq = BlockCyclic{n, nb, grid_columns, 0}.local_extent();
  // pdormtr: the library's own query leaves the last nb^2 out where it is needed.
  return std::max({Index{1}, nb * (np + 1), 3 * nb, std::max(nb * (nb - 1) / 2, (np + nq) * nb) + nb * nb});
}

Tridiagonal reduce_to_tridiagonal(DistributedMatrix& a, std::string_view doing) {
  const Communicator& comm = a.grid().communicator();
  const int lwork = workspace_of(a);
  const auto room = static_cast<std::size_t>(a.local_columns() + 1);
  std::vector<double> d;
  std::vector<double> e;
  Tridiagonal t;
  std::unique_ptr<double[]> work;
  collective(comm, doing, [&] {
    d.resize(room);
    e.resize(room);
    t.tau.resize(room);
    work = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(lwork));
  });
  const std::array<int, 9> descriptor = effective_descriptor(a);
  const int n = descriptor[2];
  const int first = 1;
  int info = 0;
  scalapack::pdsytrd_("L", &n, a.data().data(), &first, &first, descriptor.data(), d.data(), e.data(), t.tau.data(), work.get(), &lwork,
                      &info, 1);
  require_success(comm, doing, "pdsytrd", info);
  t.diagonal = whole(a, d, doing);
  t.off_diagonal = whole(a, e, doing);
  return t;
}

void transform_back(const DistributedMatrix& reduced, const Tridiagonal& t, DistributedMatrix& vectors, std::string_view doing) {
  const Communicator& comm = reduced.grid().communicator();
  const int lwork = workspace_of(reduced);
  const auto work = collective(comm, doing, [&] { return std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(lwork)); });
  const std::array<int, 9> descriptor = effective_descriptor(reduced);
  const std::array<int, 9> vector_descriptor = effective_descriptor(vectors);
  const int first = 1;
  int info = 0;
  scalapack::pdormtr_("L", "L", "N", &vector_descriptor[2], &vector_descriptor[3], reduced.data().data(), &first, &first, descriptor.data(),
                      t.tau.data(), vectors.data().data(), &first, &first, vector_descriptor.data(), work.get(), &lwork, &info, 1, 1, 1);
  require_success(comm, doing, "pdormtr", info);
}

std::vector<double> tridiagonal_values(const Tridiagonal& t, std::string_view doing) {
  std::vector<double> values = t.diagonal;
  std::vector<double> e = t.off_diagonal;
  const int n = narrow_to_int(std::ssize(values), "the order of a matrix");
  int info = 0;
  scalapack::dsterf_(&n, values.data(), e.data(), &info);
  if (info != 0) throw Error(fmt::format("{}: dsterf failed with info = {}; try another --solver", doing, info));
  return values;
}

std::vector<double> tridiagonal_vectors(const Tridiagonal& t, Index count, std::string_view doing) {
  const Index order = std::ssize(t.diagonal);
  const int n = narrow_to_int(order, "the order of a matrix");
  const int k = narrow_to_int(count, "the number of eigenvectors");
  const int lwork = narrow_to_int(18 * order, "the workspace 18 n of LAPACK's dstemr");
  const int liwork = narrow_to_int(10 * order, "the integer workspace of LAPACK's dstemr");
  std::vector<double> d = t.diagonal;
  std::vector<double> e = t.off_diagonal;
  int info = 0;
  if (order <= 2) {
    // dstemr takes the eigenvalue of the larger magnitude for the larger one where n = 2.
    std::vector<double> all(static_cast<std::size_t>(order * order));
    std::vector<double> room(2);
    scalapack::dsteqr_("I", &n, d.data(), e.data(), all.data(), &n, room.data(), &info, 1);
    if (info != 0) throw Error(fmt::format("{}: dsteqr failed with info = {}; try another --solver", doing, info));
    all.resize(static_cast<std::size_t>(order * count));
    return all;
  }
  std::vector<double> values(static_cast<std::size_t>(n));
  std::vector<double> vectors(static_cast<std::size_t>(order * count));
  std::vector<int> support(static_cast<std::size_t>(2 * count));
  std::vector<double> work(static_cast<std::size_t>(lwork));
  std::vector<int> iwork(static_cast<std::size_t>(liwork));
  const double unused = 0;
  const int first = 1;
  int found = 0;
  int try_relative = 1;
  scalapack::dstemr_("V", "I", &n, d.data(), e.data(), &unused, &unused, &first, &k, &found, values.data(), vectors.data(), &n, &k,
                     support.data(), &try_relative, work.data(), &lwork, iwork.data(), &liwork, &info, 1, 1);
  if (info != 0 || found != k) {
    throw Error(fmt::format("{}: dstemr failed with info = {} and {} of {} vectors; try another --solver", doing, info, found, k));
  }
  return vectors;
}

}  // namespace posgeom
