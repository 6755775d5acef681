#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "feature/command.hpp"

namespace posthorn::cli {

/// The answer to a feature's command as people read it. Pure.
[[nodiscard]] std::string feature_text(const feature_command& asked,
                                       const boost::json::object& answer);

}  // namespace posthorn::cli
