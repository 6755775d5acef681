#include "app/config/private_text.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/text/hide_secrets.hpp"

namespace posthorn {
namespace {

result<private_text> in_environment(const std::string& name, std::string_view wanted) {
    const auto place = fmt::format("the environment variable {}", shown_variable(name));
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr)
        return fail(error_code::secret_unavailable,
                    "{} is not set; set it to {} where the node is started", place, wanted);
    return private_text{value, place};
}

result<private_text> in_file(const std::string& path) {
    struct stat about{};
    std::ifstream stream(path, std::ios::binary);
    if (!stream || ::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode))
        return fail(error_code::secret_unavailable,
                    "{} cannot be read; check the path and who may read it", path);
    if ((about.st_mode & 077U) != 0)
        return fail(error_code::secret_unavailable,
                    "{} can be read or written by others than its owner; run chmod 600 {}", path,
                    path);
    std::ostringstream text;
    text << stream.rdbuf();
    return private_text{std::move(text).str(), path};
}

}  // namespace

result<private_text> read_private(const config& settings, const secret_setting& from,
                                  std::string_view wanted) {
    if (from.where == secret_setting::kind::environment) return in_environment(from.name, wanted);
    return in_file(settings.path_of(std::filesystem::path(from.name)));
}

result<std::string> private_text_at(std::string_view place, std::string_view wanted) {
    constexpr std::string_view environment = "env:";
    constexpr std::string_view file = "file:";
    const bool is_variable = place.starts_with(environment);
    const std::string name(place.substr(is_variable ? environment.size() : file.size()));
    auto found = is_variable ? in_environment(name, wanted) : in_file(name);
    if (!found) return std::unexpected(std::move(found).error());
    found->text.erase(found->text.find_last_not_of(" \r\n\t") + 1);
    return std::move(found->text);
}

}  // namespace posthorn
