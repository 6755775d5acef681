#include "transport/pipe/pipe_path.hpp"

#include <algorithm>
#include <cstdlib>

namespace posthorn {
namespace {

bool is_name(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](char each) {
        return each > ' ' && each <= '~' && each != '/' && each != '\\';
    });
}

}  // namespace

result<std::string> pipe_path(std::string_view name) {
    const char* const folder = std::getenv("TMPDIR");
    return pipe_path(name, folder != nullptr && *folder != '\0' ? folder : "/tmp");
}

result<std::string> pipe_path(std::string_view name, std::string_view folder) {
    if (!is_name(name))
        return fail(
            error_code::invalid_argument,
            "'{}' is not a name for a pipe; write visible ASCII characters without a slash, "
            "such as rf-orders",
            name);
    while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
    return fmt::format("{}/CoreFxPipe_{}", folder == "/" ? "" : folder, name);
}

}  // namespace posthorn
