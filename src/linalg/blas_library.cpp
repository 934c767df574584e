#include "linalg/blas_library.hpp"

#include <dlfcn.h>

#include <string_view>

namespace posgeom {

BlasLibrary::BlasLibrary() {
  void* dgemm = dlsym(RTLD_DEFAULT, "dgemm_");
  Dl_info where{};
  if (dgemm == nullptr || dladdr(dgemm, &where) == 0 || where.dli_fname == nullptr) return;
  const std::string_view path = where.dli_fname;
  file_ = path.substr(path.rfind('/') + 1);
  library_ = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);  // null where it is linked into the program itself
}

BlasLibrary::~BlasLibrary() {
  if (library_ != nullptr) dlclose(library_);
}

void* BlasLibrary::symbol(const char* name) const { return library_ == nullptr ? nullptr : dlsym(library_, name); }

}  // namespace posgeom
