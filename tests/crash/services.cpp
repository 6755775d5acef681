#include "crash/services.hpp"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "crash/canary.hpp"
#include "crash/promise_file.hpp"
#include "support/eventually.hpp"
#include "support/planted_program.hpp"

namespace posthorn::crash {

using test::eventually;

namespace {

// What stopped faults leave to do is done in far less; machines are slow at times.
constexpr std::chrono::seconds drain_time_max{30};

}  // namespace

services::services(proof_folder::replay with)
    : folder_(with), dice_(with.seed), by_http_(dice_() % 2 == 0) {}

// Every process of tests has a loopback address to itself, and so any port of it.
std::string services::url_of(const std::string& service) const {
    if (!by_http_) return "unix://" + folder_.file(service + ".sock");
    const auto id = static_cast<unsigned>(::getpid());
    return fmt::format("http://127.{}.{}.{}:{}", 64 + (id >> 16U), (id >> 8U) & 255U, id & 255U,
                       service == "source" ? 7400 : 7401);
}

void services::start(const std::string& name, const words& with) {
    const bool is_target = name == "target";
    words command{test::planted_or(POSTHORN_SERVICE), folder_.path(),
                  is_target ? "target" : "source", name,
                  "peer=" + url_of(is_target ? "source" : "target")};
    // Of several on one database, one is reached.
    if (is_target || name == "source") command.push_back("listen=" + url_of(name));
    command.insert(command.end(), with.begin(), with.end());
    processes_[name] = std::make_unique<process>(command);
}

void services::start_writer(const std::string& name, const std::string& service, int pause_ms) {
    processes_[name] = std::make_unique<process>(
        words{POSTHORN_WRITER, folder_.file(service + ".db"), folder_.file(name + ".promise"),
              service == "source" ? "send" : "keep", std::to_string(pause_ms)});
}

bool services::await_line(const std::string& name, const std::string& line) {
    const auto has_said = [&] { return ("\n" + at(name).out()).contains("\n" + line + "\n"); };
    while (!has_said() && at(name).read_line()) {
    }
    if (has_said()) return true;
    ADD_FAILURE() << name << " does not say '" << line << "' but:\n"
                  << at(name).out() << at(name).err();
    return false;
}

void services::end(const std::string& name) {
    const auto said = at(name).out() + at(name).err();
    EXPECT_FALSE(tells_a_canary(said)) << said;
    processes_.erase(name);
}

void services::kill(const std::vector<std::string>& names) {
    for (const auto& name : names) at(name).send_signal(SIGKILL);
    for (const auto& name : names) {
        // Nothing ended it but us.
        EXPECT_EQ(at(name).wait(), (test::process_end{-1, SIGKILL}))
            << name << ": " << at(name).out() << at(name).err();
        end(name);
    }
}

void services::stop(const std::string& name) {
    at(name).send_signal(SIGTERM);
    EXPECT_EQ(at(name).wait(), (test::process_end{0, 0}))
        << name << ": " << at(name).out() << at(name).err();
    end(name);
}

std::int64_t services::promised(const std::vector<std::string>& names) const {
    std::int64_t highest = 0;
    for (const auto& name : names)
        highest = std::max(highest, promise_file::read(folder_.file(name + ".promise")));
    return highest;
}

bool services::await_effects(std::int64_t more) {
    auto there = open("target");
    constexpr auto sql = "SELECT max(place) FROM effects";
    const auto wanted = there.integer(sql) + more;
    const bool came = eventually([&] { return there.integer(sql) >= wanted; });
    EXPECT_TRUE(came) << "no more effects came";
    return came;
}

bool services::await_drained() {
    auto here = open("source");
    auto there = open("target");
    const auto pending = [](database& of) {
        return of.integer("SELECT count(*) FROM outbox_messages WHERE status = 'Pending'");
    };
    const bool drained =
        eventually([&] { return pending(here) == 0 && pending(there) == 0; }, drain_time_max);
    EXPECT_TRUE(drained) << "pending: " << pending(here) << " and " << pending(there);
    return drained;
}

}  // namespace posthorn::crash
