#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "app/watchdog.hpp"
#include "base/clock.hpp"
#include "base/executor.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/timer.hpp"
#include "inbox/inbox.hpp"
#include "outbox/outbox_options.hpp"
#include "outbox/retention.hpp"
#include "outbox/retry_policy.hpp"
#include "store/message_maker.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "transport/inprocess/hub.hpp"

namespace posthorn {

/// What a node is built from; real in a service, virtual in the simulator. All of it outlives it.
struct node_seams {
    class clock& clock;
    class timer& timer;
    random_source& random;
    boost::asio::any_io_executor network;  // One thread, or a strand.
    executor& writer;
    executor& readers;
    executor& workers;
    logger& log;
    inprocess_hub& hub;
    executor* inbox_writer = nullptr;  // Where the inbox has a database of its own.
};

struct core_options {
    sqlite::sqlite_options database;
    std::optional<sqlite::sqlite_options> inbox_database{};  // If not the same.
    message_defaults sending;
    outbox_options outbox{};
    retry_policy retries{};
    retention_options retention{};
    inbox_options inbox{};
    watchdog_options watchdog{};
    std::map<std::string, std::string, std::less<>> routes{};
    std::string default_route{};
    bool watch_commits = true;
    std::function<bool(const std::string& owner)> owner_is_gone{};
    std::function<void(const std::string& why)> fail_stop{};
};

}  // namespace posthorn
