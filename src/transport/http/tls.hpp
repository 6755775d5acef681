#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time/clock.hpp"

namespace boost::asio::ssl {
class context;
}

struct x509_st;

namespace posthorn {

using tls_context = boost::asio::ssl::context;

/// Where a service's certificate lies, all in PEM.
struct tls_files {
    std::string certificate{};  // The service's own first, then those that vouch for it.
    std::string key{};          // Of the first; without a pass phrase.
    /// Those that vouch for clients, which must then show a certificate; none need if empty.
    std::string peer_authority{};
};

/// Whom a client trusts, and what it shows of itself.
struct tls_trust {
    std::shared_ptr<tls_context> context{};  // Null where nothing is configured.
    std::string authority{};                 // The file; empty for the system's.
    tls_files own{};
};

/// What a server shows to its clients; TLS 1.3 only.
///
/// Lifetime: outlives the servers that use it; a connection keeps the certificate it began with.
/// Threads:  any.
class tls_server {
public:
    /// Fails with `certificate_unusable`, naming the file and what to do about it. The clock tells
    /// whether the certificate is valid, and outlives the server.
    static result<std::unique_ptr<tls_server>> load(tls_files files, const clock& time);

    /// Reads the files again, for new connections. If that fails, the old certificate stays.
    result<> reload();
    /// For the next connection.
    [[nodiscard]] std::shared_ptr<tls_context> current() const;

private:
    tls_server(tls_files files, const clock& time, std::shared_ptr<tls_context> context)
        : files_(std::move(files)), time_(time), context_(std::move(context)) {}

    tls_files files_;
    const clock& time_;
    mutable std::mutex mutex_;
    std::shared_ptr<tls_context> context_;
};

/// Whom a client trusts: the authorities in a file of PEM, or the system's if none is named.
/// TLS 1.3 only; connections check the host's name too. Shows the certificate `own` to servers that
/// ask for one, if there is any. Fails with `certificate_unusable`.
[[nodiscard]] result<std::shared_ptr<tls_context>> make_tls_client(const std::string& authorities,
                                                                   const tls_files& own = {});

/// Reads the files again into a context of `make_tls_client`: for the next connection of all that
/// share it, on the executor of whom it is called; if it fails, nothing has changed.
[[nodiscard]] result<> renew_tls_client(tls_context& in_use, const std::string& authorities,
                                        const tls_files& own);

/// Whom a certificate is for: its alternative names of hosts or, only where it has none, its common
/// name (RFC 6125: an authority that writes both need not have looked at the latter).
[[nodiscard]] std::vector<std::string> names_in(const x509_st* certificate);

}  // namespace posthorn
