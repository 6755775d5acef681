#pragma once

#include <chrono>
#include <string>

#include "support/temporary_directory.hpp"

namespace posthorn::test {

/// What a certificate for tests says.
struct certificate_wish {
    std::string host = "127.0.0.1";
    std::string common_name = "posthorn test";
    std::chrono::seconds valid_from = -std::chrono::hours(1);  // From now on.
    std::chrono::seconds valid_until = std::chrono::hours(1);
    std::string pass_phrase{};  // Of the key; none if empty.
};

/// A certificate that vouches for itself, and its key, in files of PEM.
struct certificate_files {
    std::string certificate;
    std::string key;
};

/// Makes a new one as `name.crt` and `name.key`, over what was there.
certificate_files make_certificate(const temporary_directory& in, const std::string& name,
                                   const certificate_wish& wish = {});

}  // namespace posthorn::test
