#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "posgeom/geometry/encodings.hpp"
#include "posgeom/geometry/smacof.hpp"
#include "posgeom/geometry/stress.hpp"
#include "posgeom/io/store.hpp"

/// The cells of a stress file's tables: which there are, and which are missing.
namespace posgeom {

/// A file for the union of the names and dimensions of `there` and of this run; every cell NaN but those of `there`, whose groups it has
/// too.
StressFile widened(const StressFile& there, const std::vector<std::int32_t>& dims, const std::vector<std::string>& names);

/// The group, with every cell NaN, where it is not there yet.
void add_shuffled(StressFile& file);
void add_denoised(StressFile& file);
void add_weighted(StressFile& file, SmacofWeights weights);

/// The dimensions that the table has no number for. A cell that is undefined has none and costs nothing to find undefined again.
std::vector<std::int32_t> missing_dimensions(const StressTable& table, const std::string& name);
/// The dimensions at which the table has a number and `cells`, of a group beside it, has none.
std::vector<std::int32_t> missing_beside(const StressTable& table, const std::vector<double>& cells, const std::string& name);

std::vector<StressRequest> missing_cells(const StressTable& table, const std::vector<NamedEncoding>& encodings);

/// The cell of `name` at dimension d, both of which the table has.
std::size_t cell_of(const StressTable& table, const std::string& name, std::int32_t d);
/// The column of dimension d, which the table has.
std::size_t column_of(const StressTable& table, std::int32_t d);

/// Puts a request's numbers into the table.
void insert(StressTable& table, const StressRequest& request, const StressColumns& columns);

}  // namespace posgeom
