#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace posthorn {

/// Every way in which Posthorn reports that something went wrong.
///
/// A code exists only where some caller reacts to it; each has a page under
/// `docs/reference/errors/` that says what happened and what to do.
enum class error_code : std::uint16_t {
    cancelled,
    timed_out,
    closed,
    overloaded,
    invalid_argument,
    invalid_configuration,
    address_unavailable,
    io_failed,
    store_unavailable,
    store_read_only,
    store_corrupt,
    store_full,
    buffer_full,
    store_busy,
    store_too_new,
    store_failed,
    commit_in_doubt,
    statement_failed,
    statement_interrupted,
    statement_forbidden,
    called_in_transaction,
    no_transaction,
    not_committed,
    duplicate_id,
    lease_lost,
    message_too_large,
    message_expired,
    invalid_payload,
    no_handler,
    handler_unreachable,
    id_reused,
    clock_jumped,
    malformed_request,
    bad_signature,
    unreachable,
    secret_unavailable,
    certificate_unusable,
    access_denied,
    not_found,
    state_changed,
    unroutable,
};

/// What is known of an error code without looking at one occurrence of it.
struct error_info {
    error_code code;
    std::string_view name;     // As in the documentation and in JSON.
    std::string_view summary;  // One line, for people.
    bool transient = false;    // The same call may succeed later, unchanged.
    bool in_doubt = false;     // It may have happened; repeat it with the same id to find out.
};

/// Every code with its properties, in the order of the enumeration.
[[nodiscard]] std::span<const error_info> error_catalogue() noexcept;
[[nodiscard]] const error_info& describe(error_code code) noexcept;

/// What the public API throws and what a `result` carries inside.
///
/// `what()` is a sentence for people that says what to do next; `code()` is for programs.
class error : public std::runtime_error {
public:
    error(error_code code, const std::string& message) : std::runtime_error(message), code_(code) {}

    [[nodiscard]] error_code code() const noexcept { return code_; }
    [[nodiscard]] std::string_view name() const noexcept { return describe(code_).name; }
    [[nodiscard]] bool is_transient() const noexcept { return describe(code_).transient; }
    [[nodiscard]] bool is_in_doubt() const noexcept { return describe(code_).in_doubt; }

private:
    error_code code_;
};

/// Thrown by a handler that will never accept the message: `throw posthorn::permanent("no such
/// order");`
///
/// What the handler did is rolled back, and the sender buries the message with this text at once
/// instead of trying again. Any other exception is taken for a passing trouble.
class permanent : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace posthorn
