#pragma once
#include <string>
#include <vector>

#include "io/store_file.hpp"
#include "posgeom/io/sentences.hpp"

/// The parts that `posgeom inspect` puts together. On the root only.
namespace posgeom::io {

std::string number(double value);
/// "not known" for NaN and negative ranks.
std::string known(double value);
std::string known(Index value);
/// The first and the last columns where there are too many.
std::vector<Index> columns_to_show(Index count);
/// A line each, the first with the key.
void add_sentences(std::string key, const std::vector<std::string>& sentences, InspectLines& lines);
/// What sentences need of a geometry, without its large parts. `noise`: its analysis, which must outlive the facts, or null.
GeometryFacts read_facts(const StoreReader& reader, const NoiseAnalysis* noise);

/// What a stress file, or a sweep, holds beside its provenance.
void inspect_stress(const StoreReader& reader, InspectLines& lines);
void inspect_sweep(const StoreReader& reader, InspectLines& lines);

}  // namespace posgeom::io
