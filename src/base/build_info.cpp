#include "base/build_info.hpp"

#include <posthorn/version.hpp>

namespace posthorn {

static_assert(version == POSTHORN_PROJECT_VERSION,
              "raise the version in include/posthorn/version.hpp and CMakeLists.txt together");

build_info this_build() noexcept {
    return {.type = POSTHORN_BUILD_TYPE, .compiler = POSTHORN_COMPILER};
}

}  // namespace posthorn
