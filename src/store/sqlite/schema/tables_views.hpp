#pragma once

#include <string_view>

namespace posthorn::sqlite {

/// The step of the store's tables that shows them under the names of the webhook document.
extern const std::string_view webhook_views;

}  // namespace posthorn::sqlite
