#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "transport/http/tls.hpp"

struct ssl_st;

namespace posthorn {

/// What came of one try on a descriptor that does not block.
struct link_step {
    enum class kind : std::uint8_t { done, wait_to_read, wait_to_write, ended };

    kind what = kind::ended;
    std::size_t bytes = 0;  // Of what is done: at least one.
};

/// How a link is protected.
struct link_security {
    std::shared_ptr<tls_context> context{};  // Null for plain text.
    std::string peer_name{};                 // Which the other's certificate must be of.

    [[nodiscard]] bool is_plain() const noexcept { return context == nullptr; }
};

/// TLS on a descriptor that does not block, and is closed by others.
///
/// Threads: one at a time.
class link_tls {
public:
    enum class end : std::uint8_t { client, server };

    static result<link_tls> make(const link_security& with, end self, int descriptor);
    ~link_tls();
    link_tls(link_tls&& other) noexcept;
    link_tls& operator=(link_tls&& other) noexcept;
    link_tls(const link_tls&) = delete;
    link_tls& operator=(const link_tls&) = delete;

    /// Agrees with the other end; `done` once it has, and its certificate is of the right name.
    link_step shake();
    /// Why `shake` has ended, in words.
    [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }
    link_step read(std::span<std::byte> into);
    link_step write(std::span<const std::byte> bytes);

private:
    link_tls(ssl_st* session, const link_security& with)
        : session_(session), context_(with.context), peer_name_(with.peer_name) {}
    [[nodiscard]] link_step step_after(int code) const;
    [[nodiscard]] bool has_the_name();

    ssl_st* session_ = nullptr;
    std::shared_ptr<tls_context> context_;
    std::string peer_name_;
    std::string trouble_{};
};

}  // namespace posthorn
