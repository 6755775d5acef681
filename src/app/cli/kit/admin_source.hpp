#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include <posthorn/uuid.hpp>

#include "app/cli/kit/database.hpp"
#include "base/result.hpp"
#include "transport/http/types.hpp"

namespace posthorn::cli {

/// Which rows to list; empty fields ask for nothing.
struct list_choice {
    std::string status{};
    std::string destination{};
    std::string endpoint{};
    std::string correlation_id{};
    std::string causation_id{};
    std::string error{};
    std::string tenant{};
    std::string order_key{};
    std::string source{};
    std::string message_id{};
    std::string state{};
    std::string since{};
    std::string until{};
    std::size_t limit = 50;
    std::int64_t before = 0;
};

/// Whether to let messages go to a destination.
struct pause_choice {
    std::string destination{};
    bool paused = true;
    std::string reason{};
};

/// Which delivered messages to send again.
struct replay_choice {
    std::string since{};  // An ISO 8601 time, as `until` is.
    std::string until{};
    std::string destination{};
    std::string after{};      // The `next` of the slice before.
    bool count_only = false;  // Change nothing.
};

/// Which of the messages that were given up; empty fields ask for nothing.
struct dead_choice {
    std::string status{};
    std::string destination{};
    std::string endpoint{};
    std::string correlation_id{};
    std::string causation_id{};
    std::string tenant{};
    std::string order_key{};
    std::string error{};
    std::int64_t cause = 0;
    std::string since{};
    std::string until{};
    std::size_t limit = 50;
    std::int64_t before = 0;
    std::int64_t after = 0;

    /// Whether it leaves any out.
    [[nodiscard]] bool narrows() const {
        return !(status + destination + endpoint + correlation_id + causation_id + tenant +
                 order_key + error + since + until)
                    .empty() ||
               cause > 0;
    }
};

/// A change of one or of many of them, as the endpoints take it.
struct dead_order {
    std::string verb;  // requeue, resolve, delete, edit.
    boost::json::object body{};
    std::string if_state{};  // Of one.
};

/// One request to the admin API.
struct admin_question {
    std::string method = "GET";
    std::string path{};  // With the query.
    boost::json::object body{};
    std::string if_state{};  // As `If-Match`.
};

/// The admin API of a node that runs, over HTTP, or of its database, in this process: the same routes
/// answer both.
///
/// Threads: one; everything blocks.
class admin_source {
public:
    virtual ~admin_source() = default;

    /// What it answered, whatever that is.
    virtual result<http_response> exchange(const admin_question& what) = 0;
    /// What to call it in an error.
    [[nodiscard]] virtual std::string_view name() const = 0;

    /// The object that it answered; its refusals as the error that they name.
    result<boost::json::object> ask(const admin_question& what);
    /// The numbers, as Prometheus reads them.
    result<std::string> metrics();

    result<boost::json::object> health();
    result<boost::json::object> outbox_stats();
    result<boost::json::object> messages(const list_choice& wanted);
    result<boost::json::object> message(const uuid& id, bool with_payload);
    result<boost::json::object> lanes();
    result<boost::json::object> pause(const pause_choice& wanted);
    result<boost::json::object> try_now(const std::string& destination);

    /// One slice; the answer says where the next one begins.
    result<boost::json::object> replay(const replay_choice& wanted);

    result<boost::json::object> dead(const dead_choice& wanted);
    result<boost::json::object> dead_groups(const dead_choice& wanted);
    result<boost::json::object> dead_message(const uuid& id, bool with_payload);
    result<boost::json::object> change_dead(const uuid& id, const dead_order& how);
    /// One slice; the answer says where the next one begins.
    result<boost::json::object> change_many_dead(const dead_choice& wanted, const dead_order& how);

    result<boost::json::object> inbox_stats();
    result<boost::json::object> inbox_messages(const list_choice& wanted);
    /// Of one sender, or of every one if `source` is empty.
    result<boost::json::object> inbox_message(const uuid& id, const std::string& source,
                                              bool with_payload);
    result<boost::json::object> inbox_failed(const list_choice& wanted);
    result<boost::json::object> inbox_refused();
};

/// The request as the routes take it, but for its address and key.
[[nodiscard]] http_request to_request(const admin_question& what);
/// What the admin API answered; its refusals as the error that they name.
[[nodiscard]] result<boost::json::object> read_answer(const http_response& reply,
                                                      std::string_view who);

[[nodiscard]] std::unique_ptr<admin_source> make_file_source(config settings);

struct node_address {
    std::string url;  // Of the admin listener.
    std::string key;  // None if empty.
    std::chrono::milliseconds patience = std::chrono::seconds(30);
};
/// That of `POSTHORN_ADMIN_KEY` where none was given: a key on the command line is seen by every user
/// of the machine.
void take_kept_key(node_address& address);
[[nodiscard]] std::unique_ptr<admin_source> make_node_source(node_address address);

/// The options that say whom to ask: `--config`, `--database`, `--url` and `--key`.
struct source_choice {
    database_choice file{};
    node_address node{};

    void declare(CLI::App& options);
    [[nodiscard]] result<std::unique_ptr<admin_source>> open() const;
};

}  // namespace posthorn::cli
