#include "posgeom/types.hpp"
