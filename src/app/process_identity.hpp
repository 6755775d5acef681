#pragma once

#include <string>
#include <string_view>

namespace posthorn {

/// Names this process so that another one can tell whether it is still there: the machine's boot,
/// the process namespace, the process id and when it started.
[[nodiscard]] std::string process_identity();

/// True only if the named process certainly ended: a dead process of the same boot and namespace,
/// or one of an earlier boot of the same machine.
[[nodiscard]] bool process_is_gone(std::string_view identity);

}  // namespace posthorn
