#pragma once

#include <string>
#include <string_view>

namespace posthorn {

/// A text that may quote what a person wrote, with what looks like a secret of ours hidden: keys
/// (`base64:…`, `phk_…`, `whsec_…`, `whsk_…`) and passwords in URLs, wherever in it they stand.
[[nodiscard]] std::string hide_secrets(std::string_view text);

}  // namespace posthorn
