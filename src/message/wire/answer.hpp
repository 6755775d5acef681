#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/uuid.hpp>

#include "base/result.hpp"

namespace posthorn {

/// What a receiver says of one message, as docs/reference/wire.md has it.
struct wire_answer {
    std::uint16_t status = 200;  // In a batch; alone, that of the whole answer.
    std::optional<uuid> id{};    // In a batch.
    bool acknowledged = false;
    bool duplicate = false;
    std::string payload{};  // JSON text as it stood on the wire; empty for null.
    std::string error{};
    std::string code{};
    std::optional<std::chrono::milliseconds> retry_after{};

    bool operator==(const wire_answer&) const = default;
};

/// A payload that is not JSON is written as a JSON string.
void append_answer(std::string& out, const wire_answer& what);
/// Appends `{"results":[…]}`, each with its id and status.
void append_answers(std::string& out, const std::vector<wire_answer>& results);

/// `error_code::malformed_request` if it is none. Status and id are left as they are.
[[nodiscard]] result<wire_answer> read_answer(std::string_view json);
[[nodiscard]] result<std::vector<wire_answer>> read_answers(std::string_view json);

}  // namespace posthorn
