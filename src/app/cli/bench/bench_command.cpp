#include "app/cli/bench/bench_command.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <ostream>
#include <system_error>

#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <posthorn/node.hpp>

#include "app/cli/bench/bench_nodes.hpp"
#include "app/cli/keys/keys_command.hpp"
#include "app/cli/kit/child_process.hpp"
#include "app/cli/kit/command.hpp"
#include "app/cli/kit/files.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/progress.hpp"
#include "base/random.hpp"
#include "measure/pace.hpp"
#include "measure/report.hpp"
#include "measure/sync_watch.hpp"
#include "security/secret.hpp"

namespace posthorn::cli {
namespace {

namespace fs = std::filesystem;
using state = measure::board::receiver_state;

constexpr std::int64_t second_ns = 1'000'000'000;

struct bench_options {
    std::string transport = "unix";
    int senders = 64;
    double seconds = 5;
    double rate = 0;  // As fast as it goes.
    bool serial = false;
    bool callbacks = false;
    bool sql = false;
    bool json = false;
    std::string folder{};
    // Of a process that this command starts: which service it is, and its sender's board.
    std::string role{};
    std::string board{};
};

// Ctrl-C ends the measurement, not the process: what it made is still to be removed.
volatile std::sig_atomic_t interrupted = 0;

class interrupt_watch {
public:
    interrupt_watch()
        : before_(std::signal(SIGINT, note)), before_term_(std::signal(SIGTERM, note)) {}
    ~interrupt_watch() {
        std::signal(SIGINT, before_);
        std::signal(SIGTERM, before_term_);
    }
    interrupt_watch(const interrupt_watch&) = delete;
    interrupt_watch& operator=(const interrupt_watch&) = delete;

private:
    static void note(int /*number*/) { interrupted = 1; }

    void (*before_)(int);
    void (*before_term_)(int);
};

/// A folder that goes when the measurement does.
class scratch_folder {
public:
    explicit scratch_folder(const std::string& chosen) {
        const char* const usual = std::getenv("TMPDIR");
        const fs::path in = !chosen.empty() ? chosen : usual != nullptr ? usual : "/tmp";
        auto name = (in / "posthorn-bench-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw error(error_code::io_failed, fmt::format("cannot make a folder {}: {}", name,
                                                           std::generic_category().message(errno)));
        path_ = name;
    }
    ~scratch_folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;

    [[nodiscard]] const fs::path& path() const { return path_; }

    [[nodiscard]] bool is_memory() const {
        constexpr decltype(std::declval<struct statfs>().f_type) tmpfs = 0x01021994;
        struct statfs of{};
        return ::statfs(path_.c_str(), &of) == 0 && of.f_type == tmpfs;
    }

private:
    fs::path path_;
};

/// One of the two services in a process of its own.
class other_process {
public:
    other_process(std::string_view role, const bench_setting& with, measure::board& shared,
                  const std::string& address)
        : shared_(shared) {
        shared.set_state(state::starting, address);
        auto started =
            child_process::start({"bench", "--role", std::string(role), "--board", shared.path(),
                                  "--transport", with.transport, "--folder", with.folder.string()},
                                 with.folder / fmt::format("{}.log", role));
        if (!started) throw std::move(started).error();
        child_.emplace(*std::move(started));
        if (!shared.wait_ready(measure::now_ns() + 30 * second_ns))
            throw error(error_code::closed,
                        fmt::format("{} did not start: {}", role, shared.text()));
    }

    void stop() {
        shared_.ask_to_stop();
        const auto until = measure::now_ns() + 30 * second_ns;
        while (!child_->has_ended() && measure::now_ns() < until)
            measure::sleep_until(measure::now_ns() + second_ns / 1000);
        if (shared_.state() != state::ended)
            throw error(error_code::closed, "a service failed: " + shared_.text());
    }

private:
    measure::board& shared_;
    std::optional<child_process> child_;
};

measure::load load_of(const bench_options& asked) {
    measure::load made{.senders = asked.senders,
                       .chained = asked.callbacks,
                       .seconds = asked.seconds,
                       .warm_up_seconds = std::min(1.0, asked.seconds / 4)};
    if (asked.serial) made.mode = measure::load_mode::serial;
    if (asked.rate > 0) {
        made.mode = measure::load_mode::rate;
        made.rate = asked.rate;
    }
    return made;
}

class bench_command final : public command {
public:
    void declare(CLI::App& options) override {
        options.add_option("--transport", asked_.transport, "how the two services talk")
            ->capture_default_str()
            ->check(CLI::IsMember({"unix", "http", "inprocess"}));
        options.add_option("--senders", asked_.senders, "senders at a time")
            ->capture_default_str()
            ->check(CLI::Range(1, 4096))
            ->type_name("NUMBER");
        options.add_option("--seconds", asked_.seconds, "how long is measured")
            ->capture_default_str()
            ->check(CLI::Range(0.1, 3600.0))
            ->type_name("NUMBER");
        auto* rate = options
                         .add_option("--rate", asked_.rate,
                                     "messages a second; without it, as many as it can")
                         ->check(CLI::Range(1.0, 1e6))
                         ->type_name("NUMBER");
        options.add_flag("--serial", asked_.serial, "one sender, each effective before the next")
            ->excludes(rate);
        options.add_flag("--callbacks", asked_.callbacks,
                         "senders are called back rather than threads that wait");
        options.add_flag("--sql", asked_.sql, "send with plain SQL from a process beside the node");
        options.add_option("--folder", asked_.folder, "where the databases are made and removed")
            ->type_name("FOLDER");
        add_json_flag(options, asked_.json);
        options.add_option("--role", asked_.role)->group("");
        options.add_option("--board", asked_.board)->group("");
        options.footer(
            "Example: posthorn bench --transport http --rate 2000\n"
            "Two services on loopback: a row and a message in one transaction, and a row for each "
            "message at the receiver, each synced to disk. Removes what it made.");
    }

    result<> run(const console& terminal) override {
        try {
            if (!asked_.role.empty())
                serve();
            else
                measure_all(terminal);
            return {};
        } catch (const error& failure) {
            return std::unexpected(failure);
        } catch (const std::exception& failure) {
            return fail(error_code::io_failed, "{}", failure.what());
        }
    }

private:
    // Both ends take it from the folder, which no other user can read.
    static std::string secret_in(const fs::path& folder) {
        return fmt::format("file:{}", (folder / "shared.keys").string());
    }

    void serve() const {
        measure::board shared(asked_.board);
        const bench_setting with{.transport = asked_.transport,
                                 .folder = asked_.folder,
                                 .secret = secret_in(asked_.folder)};
        tell_effects(shared, true);
        try {
            const auto address = shared.text();
            const auto is_billing = asked_.role == "billing";
            const auto one =
                is_billing ? start_billing(with, shared) : start_orders(with, address, true);
            if (!is_billing) shared.set_state(state::ready);
            while (!shared.must_stop()) measure::sleep_until(measure::now_ns() + second_ns / 100);
            if (is_billing) shared.set_rows(count_charges(*one));
            one->stop();
            shared.set_state(state::ended);
        } catch (const std::exception& failure) {
            shared.set_state(state::failed, failure.what());
        }
    }

    void measure_all(const console& terminal) const {
        const interrupt_watch signals;
        const scratch_folder place(asked_.folder);
        const bench_setting with{.transport = asked_.transport,
                                 .folder = place.path(),
                                 .secret = secret_in(place.path())};
        write_secret(place.path());
        if (place.is_memory() && !asked_.json)
            terminal.err << "warning: " << place.path().parent_path().string()
                         << " is in memory, where a sync costs nothing; choose a disk with "
                            "--folder\n";
        measure::board shared;
        const auto seen = asked_.transport == "inprocess" ? measure_inside(with, shared, terminal)
                                                          : measure_apart(with, shared, terminal);
        if (shared.rows() != seen.all_messages)
            throw error(error_code::duplicate_id,
                        fmt::format("{} messages were sent and {} took effect", seen.all_messages,
                                    shared.rows()));
        const measure::subject what{.name = "posthorn",
                                    .transport = asked_.transport,
                                    .note = asked_.sql ? "plain SQL" : ""};
        terminal.out << (asked_.json ? to_json(what, seen) + '\n' : to_text(what, seen));
    }

    static void write_secret(const fs::path& folder);

    measure::outcome measure_inside(const bench_setting& with, measure::board& shared,
                                    const console& terminal) const {
        if (asked_.sql)
            throw error(error_code::invalid_argument,
                        "--sql wants two processes: take --transport unix or http");
        tell_effects(shared, false);
        const auto billing = start_billing(with, shared);
        auto from = make_node_sender(with, shared);
        const auto seen = drive(*from, shared, terminal);
        from.reset();
        shared.set_rows(count_charges(*billing));
        billing->stop();
        return seen;
    }

    measure::outcome measure_apart(const bench_setting& with, measure::board& shared,
                                   const console& terminal) const {
        measure::board of_orders;
        other_process billing("billing", with, shared, "");
        measure::watch_syncs({});
        std::optional<other_process> orders;
        if (asked_.sql) orders.emplace("orders", with, of_orders, shared.text());
        auto from =
            asked_.sql ? make_sql_sender(with, shared, of_orders) : make_node_sender(with, shared);
        const auto seen = drive(*from, shared, terminal);
        from.reset();
        if (orders) orders->stop();
        billing.stop();
        return seen;
    }

    measure::outcome drive(measure::sender& from, measure::board& shared,
                           const console& terminal) const {
        progress_bar bar(terminal, asked_.json);
        auto seen = run_load(load_of(asked_), from, shared, [&](double part) {
            if (interrupted != 0) throw error(error_code::cancelled, "interrupted");
            bar.show({.done = static_cast<std::int64_t>(part * 1000), .all = 1000},
                     fmt::format("{} effects", shared.effects()));
        });
        bar.finish();
        return seen;
    }

    bench_options asked_;
};

void bench_command::write_secret(const fs::path& folder) {
    system_random random;
    if (auto done =
            write_new_file(folder / "shared.keys", to_base64_text(make_secret(random)) + '\n');
        !done)
        throw std::move(done).error();
}

}  // namespace

std::unique_ptr<command> make_bench_command() { return std::make_unique<bench_command>(); }

}  // namespace posthorn::cli
