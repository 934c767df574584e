#pragma once
#include <string>

namespace posgeom {

/// The shared library that holds the dgemm_ which this process calls: which one will be there is known at run time only.
class BlasLibrary {
 public:
  BlasLibrary();
  BlasLibrary(const BlasLibrary&) = delete;
  BlasLibrary& operator=(const BlasLibrary&) = delete;
  ~BlasLibrary();

  /// "libblis.so.4"; empty where it is not known.
  const std::string& file() const { return file_; }
  /// Its function `name`, or null.
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;

  void* library_ = nullptr;
  std::string file_;
};

}  // namespace posgeom
