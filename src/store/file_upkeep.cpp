#include "store/file_upkeep.hpp"

#include "store/store.hpp"

namespace posthorn {

disk_report disk_of(store& of) {
    const auto* const file = of.upkeep();
    return file == nullptr ? disk_report{} : file->disk();
}

std::string lost_file_of(store& of) {
    const auto* const file = of.upkeep();
    return file == nullptr ? std::string{} : file->lost_file();
}

}  // namespace posthorn
