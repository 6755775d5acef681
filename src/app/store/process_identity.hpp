#pragma once

#include <string>
#include <string_view>

namespace posthorn {

/// Names one run of a node so that another process can tell whether it is still there: the
/// machine's boot, the process namespace, the process id and when it started, and what makes `part`
/// of the process this node and not another one.
[[nodiscard]] std::string process_identity(std::string_view part);

/// The same for people: the machine's name and the process id.
[[nodiscard]] std::string process_name();

/// True only if the named process certainly ended: a dead process of the same boot and namespace,
/// or one of an earlier boot of the same machine.
[[nodiscard]] bool process_is_gone(std::string_view identity);

}  // namespace posthorn
