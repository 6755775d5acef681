// How long a receiver needs to tell whether it has seen a message, with many rows in its inbox:
// what a node does for each message that arrives, through its own store, on a file that it opened
// anew.
//
// A repeat is an insert that is refused and a look at the row; a new message is an insert. Ids lie
// in the inbox as 48 hours of traffic left them, and are asked for in random order.
//
//   bench_dedupe [--rows N] [--lookups N] [--keep FILE] [--folder DIR] [--json]
//
// `--keep` uses that file, and fills it only if it is not there: ten million rows take a while.
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/random.hpp"
#include "base/time/clock.hpp"
#include "common/scratch.hpp"
#include "measure/load.hpp"
#include "measure/pace.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"

namespace posthorn::bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::uint64_t batch_rows = 20'000;
constexpr std::uint64_t unit_lookups = 50;
constexpr auto kept_hours = 48h;
constexpr std::string_view source = "orders";

struct dedupe_arguments {
    std::uint64_t rows = 10'000'000;
    std::uint64_t lookups = 20'000;
    fs::path keep{};
    fs::path folder{};
    bool json = false;
};

template <class Value>
Value need(result<Value> given) {
    if (!given) throw std::move(given).error();
    return *std::move(given);
}

/// The store of a node, without threads: a unit has been committed when `commit` returns.
class inbox_file {
public:
    inbox_file(const fs::path& path, sqlite::synchronous sync)
        : database_(need(sqlite::open({.path = path.string(),
                                       .service = "billing",
                                       .sync = sync,
                                       .check = sqlite::check_at_start::none},
                                      {.time = time_, .writer = writer_, .log = log_}))) {}
    ~inbox_file() { database_->stop(); }
    inbox_file(const inbox_file&) = delete;
    inbox_file& operator=(const inbox_file&) = delete;

    result<> commit(std::function<result<>(inbox_table&)> work) {
        result<> answer;
        database_->submit(
            unit{.work = [&work](store_transaction& tx) { return work(tx.inbox()); },
                 .done = [&answer](result<> committed) { answer = std::move(committed); },
                 .limit = 10min});
        return answer;
    }
    std::uint64_t count() {
        std::int64_t rows = 0;
        auto read = database_->read([&rows](store_reader& from) -> result<> {
            auto counted = from.inbox().count();
            if (!counted) return std::unexpected(std::move(counted).error());
            rows = *counted;
            return {};
        });
        if (!read) throw std::move(read).error();
        return static_cast<std::uint64_t>(rows);
    }

private:
    real_clock time_;
    inline_executor writer_;
    logger log_ = logger::null();
    std::unique_ptr<store> database_;
};

std::uint64_t scramble(std::uint64_t value) {
    seeded_random random(value);
    return random.next();
}

/// The record of the nth message, made up again wherever it is needed. Even ones are stored.
inbox_record record_of(std::uint64_t number, std::uint64_t numbers) {
    constexpr std::uint64_t first_ms = 1'767'225'600'000;
    const auto span_ms = std::chrono::duration_cast<std::chrono::milliseconds>(kept_hours).count();
    const auto ms = first_ms + number * static_cast<std::uint64_t>(span_ms) / numbers;
    uuid::bytes_type bytes{};
    for (std::size_t i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(ms >> (40 - 8 * i));
    const auto rest = scramble(number);
    for (std::size_t i = 6; i < 14; ++i)
        bytes[i] = static_cast<std::uint8_t>(rest >> (8 * (i - 6)));
    bytes[6] = static_cast<std::uint8_t>(0x70U | (bytes[6] & 0x0fU));
    bytes[8] = static_cast<std::uint8_t>(0x80U | (bytes[8] & 0x3fU));
    inbox_record made{.key = {.source = source, .id = uuid(bytes)}, .endpoint = "Charge"};
    for (auto& byte : made.hash) byte = static_cast<std::byte>(rest >> 8U);
    made.processed_at = wall_time(std::chrono::milliseconds(ms));
    made.expires_at = made.processed_at + kept_hours;
    return made;
}

void show(double part) {
    if (::isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\033[Kfilling: {:.0f} %", 100 * part);
    if (part >= 1 && ::isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
}

/// Under another name until it is whole.
void fill(const fs::path& path, std::uint64_t rows) {
    const fs::path half = path.string() + ".part";
    for (const auto* end : {"", "-wal", "-shm"}) fs::remove(half.string() + end);
    {
        inbox_file file(half, sqlite::synchronous::off);
        for (std::uint64_t at = 0; at < rows; at += batch_rows) {
            auto done = file.commit([&](inbox_table& into) -> result<> {
                for (auto i = at; i < std::min(rows, at + batch_rows); ++i)
                    if (auto added = into.insert(record_of(2 * i, 2 * rows)); !added)
                        return std::unexpected(std::move(added).error());
                return {};
            });
            if (!done) throw std::move(done).error();
            show(static_cast<double>(at) / static_cast<double>(rows));
        }
    }
    show(1);
    fs::rename(half, path);
}

/// Takes the file out of the machine's memory, as after a restart.
void forget(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ::fdatasync(file);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
}

struct seen_times {
    std::vector<std::int64_t> repeat;
    std::vector<std::int64_t> fresh;
    std::vector<std::int64_t> worked;  // Of a repeat, the processor's time.
};

/// Whether the inbox knows that message, as a node asks it.
result<> ask(inbox_table& inbox, const inbox_record& record, bool is_repeat, seen_times& times) {
    const auto begun = measure::now_ns();
    const auto idle = measure::worked_ns();
    const auto added = inbox.insert(record);
    if (!added) return std::unexpected(added.error());
    if (*added == is_repeat) return fail(error_code::store_corrupt, "not as it was filled");
    if (is_repeat) {
        const auto found = inbox.find(record.key);
        if (!found) return std::unexpected(found.error());
        if (!*found || (*found)->hash != record.hash)
            return fail(error_code::store_corrupt, "not what was filled in");
    }
    const auto worked = measure::worked_ns() - idle;
    (is_repeat ? times.repeat : times.fresh).push_back(measure::now_ns() - begun);
    if (is_repeat) times.worked.push_back(worked);
    return {};
}

/// A few to a unit, which is rolled back, so that the inbox stays as it is and nothing is synced.
void look_up(inbox_file& in, const dedupe_arguments& given, std::uint64_t seed, seen_times& times) {
    seeded_random random(seed);
    for (std::uint64_t i = 0; i < given.lookups; i += unit_lookups) {
        auto done = in.commit([&](inbox_table& inbox) -> result<> {
            std::set<std::uint64_t> asked;  // What is new is new once.
            while (asked.size() < unit_lookups) {
                const auto is_repeat = asked.size() % 2 == 0;
                const auto number = 2 * (random.next() % given.rows) + (is_repeat ? 0 : 1);
                if (!asked.insert(number).second) continue;
                POSTHORN_TRY(ask(inbox, record_of(number, 2 * given.rows), is_repeat, times));
            }
            return fail(error_code::cancelled, "rolled back");
        });
        if (done) throw std::logic_error("a unit that fails was committed");
        if (done.error().code() != error_code::cancelled) throw std::move(done).error();
    }
}

seen_times measure_on(const fs::path& path, const dedupe_arguments& given, std::uint64_t seed,
                      bool warms_up) {
    inbox_file in(path, sqlite::synchronous::full);
    seen_times times;
    if (warms_up) {
        look_up(in, given, seed + 1, times);
        times = {};
    }
    look_up(in, given, seed, times);
    return times;
}

std::string to_json(std::string_view prefix, const measure::percentiles& of) {
    return fmt::format(R"("{0}p50_us":{1:.1f},"{0}p99_us":{2:.1f},"{0}p999_us":{3:.1f})", prefix,
                       of.p50_us, of.p99_us, of.p999_us);
}

void run(const dedupe_arguments& given) {
    std::optional<scratch> place;
    if (given.keep.empty()) place.emplace(given.folder);
    const auto path = given.keep.empty() ? place->path() / "billing.db" : given.keep;
    const auto begun = measure::now_ns();
    if (!fs::exists(path)) fill(path, given.rows);
    const auto filled = measure::now_ns();
    if (inbox_file(path, sqlite::synchronous::full).count() != given.rows)
        throw std::runtime_error(path.string() + " holds another number of rows; remove it");
    forget(path);
    auto cold = measure_on(path, given, 1, false);
    auto warm = measure_on(path, given, 2, true);
    const auto repeat = measure::percentiles_of(warm.repeat);
    const auto fresh = measure::percentiles_of(warm.fresh);
    const auto worked = measure::percentiles_of(warm.worked);
    const auto first = measure::percentiles_of(cold.repeat);
    if (given.json) {
        fmt::print(R"({{"name":"dedupe","rows":{},"lookups":{},{},{},{},{},"file_bytes":{},)"
                   R"("fill_seconds":{:.1f}}})"
                   "\n",
                   given.rows, given.lookups, to_json("", repeat), to_json("cpu_", worked),
                   to_json("new_", fresh), to_json("cold_", first), fs::file_size(path),
                   static_cast<double>(filled - begun) / 1e9);
        return;
    }
    fmt::print("an inbox of {} rows, {} MiB\n  {:<28}{:>10}{:>10}{:>10}\n", given.rows,
               fs::file_size(path) >> 20U, "", "p50", "p99", "p99.9");
    const auto line = [](std::string_view name, const measure::percentiles& of) {
        fmt::print("  {:<28}{:>7.0f} us{:>7.0f} us{:>7.0f} us\n", name, of.p50_us, of.p99_us,
                   of.p999_us);
    };
    line("a repeat", repeat);
    line("a repeat, processor time", worked);
    line("a new message", fresh);
    line("a repeat, file not in memory", first);
}

dedupe_arguments parse(int count, char** words) {
    dedupe_arguments given;
    const std::map<std::string, std::function<void(const std::string&)>, std::less<>> options{
        {"--rows", [&](const std::string& value) { given.rows = std::stoull(value); }},
        {"--lookups", [&](const std::string& value) { given.lookups = std::stoull(value); }},
        {"--keep", [&](const std::string& value) { given.keep = value; }},
        {"--folder", [&](const std::string& value) { given.folder = value; }}};
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (word == "--json")
            given.json = true;
        else if (const auto found = options.find(word); found != options.end() && i + 1 < count)
            found->second(words[++i]);
        else
            throw std::invalid_argument("unknown, or without its value: " + word);
    }
    if (given.rows < unit_lookups || given.lookups == 0)
        throw std::invalid_argument("too few rows");
    return given;
}

}  // namespace
}  // namespace posthorn::bench

int main(int count, char** words) {
    try {
        posthorn::bench::run(posthorn::bench::parse(count, words));
        return 0;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "error: %s\n", failure.what());
        return 1;
    }
}
