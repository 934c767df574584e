// Three positions that share no token: S = I, so B = J has the eigenvalues 1, 1, 0, and every distance is sqrt 2.
#include <cmath>
#include <cstdio>
#include <string>

#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/geometry/mds.hpp"
#include "posgeom/geometry/stress.hpp"
#include "posgeom/mpi/session.hpp"
#include "posgeom/pipeline/option_table.hpp"
#include "posgeom/version.hpp"

namespace {

posgeom::PositionCounts three_disjoint_positions() {
  posgeom::PositionCounts counts;
  counts.length = counts.vocab_size = counts.longest_document = 3;
  counts.document_count = 5;
  counts.token_count = 15;
  counts.position_total = {5, 5, 5};
  counts.indptr = {0, 1, 2, 3};
  counts.token = {0, 1, 2};
  counts.count = {5, 5, 5};
  return counts;
}

bool near(double a, double b) { return std::abs(a - b) < 1e-12; }

}  // namespace

int main(int argc, char** argv) {
  using namespace posgeom;
  const Session session(argc, argv);
  const Communicator world = Communicator::world();
  const ProcessGrid grid = ProcessGrid::nearest_square(world);

  const SquareRootDistributions s = square_root_distributions(three_disjoint_positions(), 3, HellingerOptions{});
  const Mds mds = classical_mds(grid, s, MdsOptions{});
  const HellingerSummary h = summarize_hellinger(world, s);

  if (world.is_root()) {
    std::printf("posgeom %s: rank %d, eigenvalues %.3f %.3f %.3f, mean H %.6f, %zu options\n", std::string(version()).c_str(),
                static_cast<int>(mds.spectrum.rank), mds.spectrum.eigenvalues[0], mds.spectrum.eigenvalues[1], mds.spectrum.eigenvalues[2],
                h.mean, option_table().size());
  }
  const bool good = mds.spectrum.rank == 2 && near(mds.spectrum.eigenvalues[0], 1) && near(mds.spectrum.eigenvalues[1], 1) &&
                    near(mds.spectrum.eigenvalues[2], 0) && near(h.mean, std::sqrt(2.0)) && !option_table().empty();
  return good ? 0 : 1;
}
