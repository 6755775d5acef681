#include "base/text/referenced_text.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/text/hide_secrets.hpp"

namespace posthorn {

result<std::string> referenced_text(std::string_view reference) {
    if (reference.starts_with("env:")) {
        const std::string name(reference.substr(4));
        const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
        if (value == nullptr)
            return fail(error_code::secret_unavailable,
                        "it names the variable {}, which is not set", shown_variable(name));
        return std::string(value);
    }
    if (reference.starts_with("file:")) {
        const std::string path(reference.substr(5));
        std::ifstream from(path, std::ios::binary);
        if (!from)
            return fail(error_code::secret_unavailable,
                        "it names the file {}, which cannot be read", hide_secrets(path));
        return std::string(std::istreambuf_iterator<char>(from), {});
    }
    return fail(error_code::invalid_configuration,
                "it is not a reference; write env:NAME, file:PATH or none");
}

}  // namespace posthorn
