#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"
#include "security/scheme.hpp"
#include "security/secret.hpp"
#include "store/outbox_table.hpp"

namespace posthorn {

/// What requests are signed with; others may join it.
enum class hmac_algorithm : std::uint8_t { hmac_sha256 };

/// `sqlite:PATH`, in which `{service}` stands for the service's id; or `memory:` for tests, whose
/// path is that of a private file once it is made; or `postgresql://…`, whose path is the whole
/// URL.
struct database_url {
    std::string path;
    bool in_memory = false;
    bool on_server = false;
    bool operator==(const database_url&) const = default;
};

/// Whether a text names a database on a PostgreSQL server.
[[nodiscard]] bool is_server_url(std::string_view text) noexcept;

/// Refused, if a path looks like the URL of a database that is none of ours.
[[nodiscard]] result<> require_path(std::string_view text);

/// A named set of defaults; config_profiles.cpp holds their numbers.
enum class defaults_name : std::uint8_t {
    messaging,
    webhooks,
    store_and_forward,
    integration_events,
    workflow,
};

/// How the pauses between attempts grow.
enum class retry_kind : std::uint8_t { exponential, fixed };

struct byte_size {
    std::size_t bytes = 0;
    bool operator==(const byte_size&) const = default;
};

/// One secret shared with a peer, as the configuration names it: still to be fetched if it lies in
/// the environment or in a file.
struct secret_setting {
    enum class kind : std::uint8_t { written, environment, file };
    kind where = kind::written;
    std::string name{};  // Of the variable or of the file.
    secret value{};      // If it is written out.
    std::optional<wall_time> from{};
    std::optional<wall_time> until{};
    bool revoked = false;
    std::string origin{};
};

/// The way to a destination. In a default one `{service}` stands for the destination's name.
struct route_setting {
    std::string url{};
    std::int64_t connections = 4;
    std::optional<std::chrono::milliseconds> timeout{};  // What is left open is as [outbox] has it.
    std::optional<std::int64_t> window{};
    std::optional<std::int64_t> batch{};
    std::optional<double> rate{};
    std::optional<double> burst{};
    std::optional<signature_scheme> signature{};  // As [signatures] has it, or else v2.
    /// What its kind of transport understands besides, such as the exchange of a broker.
    std::map<std::string, std::string, std::less<>> options{};
    std::optional<secret_setting> password{};  // In the environment or in a file.
    std::string origin{};
};

/// How a peer signs, where that is said apart from its route.
struct signature_setting {
    signature_scheme scheme = signature_scheme::v2;
    std::string origin{};
};

/// What takes the messages of an endpoint in a service without C++.
struct handler_setting {
    enum class kind : std::uint8_t { sql, http, feature };
    kind what = kind::feature;
    std::string text{};  // The statements, the URL, or the feature's word, such as `queue`.
    std::chrono::milliseconds limit = std::chrono::seconds{5};
    std::chrono::milliseconds lease = std::chrono::seconds{60};
    std::string origin{};
};

/// SQL that runs when something happens, as `sql:STATEMENTS` is written.
struct sql_setting {
    std::string text{};  // Without the prefix.
    bool operator==(const sql_setting&) const = default;
};

/// Who may use the admin listener. The key itself is not stored.
struct admin_key_setting {
    std::string name{};
    std::string role{};  // viewer, operator or worker.
    std::string hash{};  // `sha256:` and 64 hexadecimal digits.
    bool payloads = false;
    bool secrets = false;
    std::optional<wall_time> made{};
    std::string origin{};
};

/// Another node that the desk of this one shows.
struct desk_node_setting {
    std::string name{};
    std::string url{};                    // Of its admin listener.
    std::optional<secret_setting> key{};  // In the environment or in a file.
    std::string origin{};
};

/// What a person may do whom a proxy before the admin listener names.
struct proxy_user_setting {
    std::string name{};  // `*` for all others.
    std::string role{};
    bool payloads = false;
    bool secrets = false;
};

}  // namespace posthorn
