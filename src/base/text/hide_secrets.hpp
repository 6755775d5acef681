#pragma once

#include <string>
#include <string_view>

namespace posthorn {

/// A text that may quote what a person wrote, with what looks like a secret of ours hidden: keys
/// (`base64:…`, `phk_…`, `pht_…`, `whsec_…`, `whsk_…`), private keys in PEM, passwords in URLs and after
/// `password=` or `pwd=`, and what stands after `env:` though it is no name of a variable, wherever
/// in it they stand.
[[nodiscard]] std::string hide_secrets(std::string_view text);

/// The name of an environment variable as it may be shown: hidden if it does not look like one, since
/// people paste a secret where its variable's name belongs. One is letters of one case, digits and
/// underscores, and short, or made of words.
[[nodiscard]] std::string shown_variable(std::string_view name);

}  // namespace posthorn
