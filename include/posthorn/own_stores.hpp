#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/time.hpp>
#include <posthorn/node_options.hpp>
#include <posthorn/uuid.hpp>

/// An outbox, an inbox and dead letters that an application keeps itself, in a database that
/// Posthorn does not know, and what brings their messages to a publisher.
///
/// A node keeps all of these in its own tables, where they commit with the business tables; that is
/// the better choice wherever SQLite or PostgreSQL is at hand. Stores of your own pass the tests in
/// tests/conformance/own.
namespace posthorn {

/// A message in an outbox of the application's own.
struct own_message {
    uuid id{};
    std::string event_type{};
    std::string payload{};
    wall_time created_at{};
    std::int32_t retry_count = 0;  // Attempts that failed.
    std::string error{};           // Of the last of them.

    bool operator==(const own_message&) const = default;
};

/// Messages that wait to be published. What it throws is told to the relay's log, and the call is
/// made again later.
///
/// Threads: one at a time from a relay, besides those of the application.
class own_outbox {
public:
    virtual ~own_outbox() = default;

    /// Stores it with the transaction that the application has open, if it has one. An id that is
    /// there already changes nothing.
    virtual void add(const own_message& what) = 0;
    /// Those that are to be published at `now`, in the order in which they were added.
    virtual std::vector<own_message> pending(std::size_t limit, wall_time now) = 0;
    virtual void mark_published(const uuid& id, wall_time at) = 0;
    /// One more attempt has failed. It is pending again from `next` on; without, it never is.
    virtual void mark_failed(const uuid& id, std::string_view error,
                             std::optional<wall_time> next) = 0;
};

/// What was processed already. Its key is the source and the id, since two services may give the
/// same id.
///
/// Threads: the application's.
class own_inbox {
public:
    virtual ~own_inbox() = default;

    [[nodiscard]] virtual bool exists(std::string_view source, const uuid& id) = 0;
    /// With the transaction that the application has open, if it has one.
    virtual void mark_processed(std::string_view source, const uuid& id, wall_time at) = 0;
    /// Forgets what was processed before; the number of them.
    virtual std::size_t forget(wall_time before) = 0;
};

/// Messages that were given up, until a person has seen to them.
///
/// Threads: one at a time from a relay, besides those of the application.
class own_dead_letters {
public:
    virtual ~own_dead_letters() = default;

    /// An id that is there already changes nothing.
    virtual void add(const own_message& what, wall_time at) = 0;
    /// The oldest first.
    [[nodiscard]] virtual std::vector<own_message> list(std::size_t limit = 100) = 0;
    // Each says whether it did it: false where there is no such dead letter.
    /// It is pending in the outbox again, with all its retries.
    virtual bool requeue(const uuid& id) = 0;
    virtual bool resolve(const uuid& id, std::string_view resolution) = 0;
    virtual bool remove(const uuid& id) = 0;
};

/// Brings a message to where it is to go. It returns once the message is safe there, and throws if
/// it is not. The same message may come again, after a crash say: the receiver knows it by its id.
using own_publisher = std::function<void(const own_message&)>;

struct relay_options {
    std::chrono::milliseconds polling_interval = std::chrono::seconds{5};
    std::size_t batch_size = 100;
    retry_options retry{};
    /// How many messages are published at a time; the publisher is called on as many threads.
    std::size_t parallel = 1;
    std::function<wall_time()> wall_clock{};           // The machine's, unless given.
    std::function<void(std::string_view)> log_sink{};  // What fails; nowhere, unless given.
};

/// Publishes what waits in an outbox of the application's own, each message at least once, and
/// gives up what fails too often.
///
/// Lifetime: what it is given outlives it.
/// Threads:  any.
class own_relay {
public:
    struct parts {
        own_outbox& outbox;
        own_publisher publish;
        own_dead_letters* dead_letters = nullptr;  // Without, what is given up is only marked so.
    };
    explicit own_relay(parts with, relay_options options = {});
    ~own_relay();
    own_relay(const own_relay&) = delete;
    own_relay& operator=(const own_relay&) = delete;

    /// Looks through the outbox from now on, in a thread of its own.
    void start();
    /// Returns when the messages under way are done with.
    void stop();
    /// Looks at once, say after a commit; the thread of `start()` does.
    void wake();
    /// Looks once, on this thread; how many messages it tried.
    std::size_t look();

private:
    class state;
    std::unique_ptr<state> state_;
};

/// Runs `work` unless the message was processed before, and notes that it was. False if it was. The
/// two happen together if `work` and the inbox share a transaction of the application's.
bool process_once(own_inbox& inbox, std::string_view source, const uuid& id,
                  const std::function<void()>& work);

// Stores in memory, for tests and for a first try: they end with the process.

[[nodiscard]] std::unique_ptr<own_outbox> make_memory_outbox();
[[nodiscard]] std::unique_ptr<own_inbox> make_memory_inbox();
/// Of messages in an outbox that was made as above.
[[nodiscard]] std::unique_ptr<own_dead_letters> make_memory_dead_letters(own_outbox& outbox);

}  // namespace posthorn
