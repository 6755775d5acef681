#include "base/build_info.hpp"

namespace posthorn {

build_info this_build() noexcept {
    return {.type = POSTHORN_BUILD_TYPE, .compiler = POSTHORN_COMPILER};
}

}  // namespace posthorn
