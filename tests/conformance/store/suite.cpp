#include "conformance/store/suite.hpp"

#include <charconv>
#include <chrono>

#include "store/claim_table.hpp"

namespace posthorn::conformance {

using namespace std::chrono_literals;

std::string foreign_connection::text(std::string_view sql) {
    const auto found = rows(sql);
    if (found.empty() || found.front().empty()) {
        ADD_FAILURE() << "no row: " << sql;
        return {};
    }
    return found.front().front().value_or("");
}

std::int64_t foreign_connection::number(std::string_view sql) {
    const auto found = text(sql);
    std::int64_t value = -1;
    const auto end = found.data() + found.size();
    if (std::from_chars(found.data(), end, value).ptr != end || found.empty())
        ADD_FAILURE() << "not a number: '" << found << "' from " << sql;
    return value;
}

unit::done_type answers::to(std::size_t index) {
    return [this, index](result<> value) {
        const std::lock_guard guard(mutex_);
        arrived_.push_back({index, std::move(value)});
        changed_.notify_all();
    };
}

void answers::wait_for(std::size_t count) {
    std::unique_lock guard(mutex_);
    const bool all = changed_.wait_for(guard, 60s, [&] { return arrived_.size() >= count; });
    ASSERT_TRUE(all) << arrived_.size() << " answers in place of " << count;
}

std::vector<int> answers::times() {
    const std::lock_guard guard(mutex_);
    std::vector<int> counted;
    for (const auto& each : arrived_) {
        if (counted.size() <= each.index) counted.resize(each.index + 1);
        ++counted[each.index];
    }
    return counted;
}

std::vector<std::size_t> answers::order() {
    const std::lock_guard guard(mutex_);
    std::vector<std::size_t> found;
    for (const auto& each : arrived_) found.push_back(each.index);
    return found;
}

result<> answers::at(std::size_t index) {
    const std::lock_guard guard(mutex_);
    for (const auto& each : arrived_)
        if (each.index == index) return each.value;
    return fail(error_code::timed_out, "no answer came");
}

void listener::committed(std::vector<outbox_row> enqueued) {
    const std::lock_guard guard(mutex_);
    calls_.push_back(std::move(enqueued));
}

void listener::released(std::vector<outbox_row> rows) {
    const std::lock_guard guard(mutex_);
    for (const auto& row : rows) released_.push_back(row.body.id);
}

std::vector<uuid> listener::released_ids() {
    const std::lock_guard guard(mutex_);
    return released_;
}

std::vector<std::vector<outbox_row>> listener::calls() {
    const std::lock_guard guard(mutex_);
    return calls_;
}

std::vector<outbox_row> listener::rows() {
    std::vector<outbox_row> all;
    for (auto& call : calls())
        for (auto& row : call) all.push_back(std::move(row));
    return all;
}

work execute(std::string sql) {
    return [sql = std::move(sql)](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.execute(sql, {}));
        return {};
    };
}

work enqueue(message body) {
    return [body = std::move(body)](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.outbox().insert(body));
        return {};
    };
}

store_fixture::store_fixture() : storage_(GetParam().make(1)) {}

store_fixture::~store_fixture() { close(); }

posthorn::store& store_fixture::db() {
    if (!store_) {
        auto opened = storage_->open(settings());
        if (!opened) throw error(opened.error());
        store_ = *std::move(opened);
    }
    return *store_;
}

void store_fixture::close() {
    if (store_) store_->stop();
    store_.reset();
}

void store_fixture::reopen() {
    close();
    db();
}

error store_fixture::open_error() {
    close();
    auto opened = storage_->open();
    if (!opened) return opened.error();
    (*opened)->stop();
    ADD_FAILURE() << "it opened";
    return {error_code::closed, "it opened"};
}

result<> store_fixture::run(work what) {
    std::vector<work> one;
    one.push_back(std::move(what));
    return run_all(std::move(one)).front();
}

std::vector<result<>> store_fixture::run_all(std::vector<work> what) {
    // Shared with the callbacks, which may come late when the test has given up.
    const auto arrived = std::make_shared<answers>();
    std::vector<unit> units;
    for (std::size_t i = 0; i < what.size(); ++i) {
        units.push_back({.work = std::move(what[i]),
                         .done = [arrived, done = arrived->to(i)](result<> value) mutable {
                             done(std::move(value));
                         }});
    }
    db().submit(std::move(units));
    arrived->wait_for(what.size());
    std::vector<result<>> found;
    for (std::size_t i = 0; i < what.size(); ++i) found.push_back(arrived->at(i));
    return found;
}

void store_fixture::must(work what) { EXPECT_TRUE(succeeded(run(std::move(what)))); }

void store_fixture::make_tables() {
    must("CREATE TABLE held(id INTEGER PRIMARY KEY)");
    must("INSERT INTO held VALUES (1), (2)");
    must("CREATE TABLE t(n INTEGER)");
}

result<> store_fixture::between_good_ones(work bad, std::chrono::milliseconds limit) {
    const std::int64_t before = number("SELECT count(*) FROM t");
    answers arrived;
    std::vector<unit> group;
    group.push_back({.work = execute("INSERT INTO t VALUES (1)"), .done = arrived.to(0)});
    group.push_back({.work = std::move(bad), .done = arrived.to(1), .limit = limit});
    group.push_back({.work = execute("INSERT INTO t VALUES (1)"), .done = arrived.to(2)});
    db().submit(std::move(group));
    arrived.wait_for(3);
    disk().wait_for_writer();
    EXPECT_TRUE(succeeded(arrived.at(0)));
    EXPECT_TRUE(succeeded(arrived.at(2)));
    EXPECT_THAT(arrived.times(), ::testing::ElementsAre(1, 1, 1));
    EXPECT_EQ(number("SELECT count(*) FROM t"), before + 2);
    return arrived.at(1);
}

std::int64_t store_fixture::number(std::string_view sql) { return disk().connect()->number(sql); }
std::string store_fixture::text(std::string_view sql) { return disk().connect()->text(sql); }

message store_fixture::sample(const std::string& destination) {
    message body;
    body.id = new_id();
    body.source = "orders";
    body.destination = destination;
    body.endpoint = "OrderApproved";
    body.payload = R"({"order":"o1"})";
    body.created_at = noon;
    body.expires_at = noon + 24h;
    return body;
}

std::int64_t store_fixture::put(const message& body) {
    return write<enqueued>([&](store_transaction& tx) { return tx.outbox().insert(body); }).seq;
}

std::int64_t store_fixture::dispatch() {
    const auto taken =
        write<std::optional<lease>>([&](store_transaction& tx) -> result<std::optional<lease>> {
            auto seen = tx.leases().find(dispatcher_lease);
            if (!seen) return seen;
            return tx.leases().take(dispatcher_lease, "this test", *seen);
        });
    EXPECT_TRUE(taken);
    return taken ? taken->epoch : -1;
}

result<std::int64_t> store_fixture::settle(std::vector<settlement> outcomes, std::int64_t epoch) {
    std::int64_t changed = -1;
    const auto outcome = run([&](store_transaction& tx) -> result<> {
        auto count = tx.outbox().settle(outcomes, epoch);
        if (!count) return std::unexpected(count.error());
        changed = *count;
        return {};
    });
    if (!outcome) return std::unexpected(outcome.error());
    return changed;
}

void store_fixture::take_arrivals_in() {
    auto* const sharing = db().sharing();
    if (sharing == nullptr) return;
    bool some = false;
    const auto outcome = db().read([&](store_reader& reader) -> result<> {
        const auto found = sharing->has_arrivals(reader);
        if (!found) return std::unexpected(found.error());
        some = *found;
        return {};
    });
    EXPECT_TRUE(outcome) << outcome.error().what();
    constexpr std::size_t rows_max = 1'000;
    while (some)
        some = write<taken_in>([&](store_transaction& tx) {
                   return sharing->claims_in(tx).take_in({.rows_max = rows_max});
               }).is_more;
}

outbox_page store_fixture::due(const std::string& destination, wall_time now, std::size_t limit) {
    return due({.destination = destination, .now = now, .limit = limit});
}

outbox_page store_fixture::due(const due_question& asked) {
    return look<outbox_page>([&](store_reader& reader) { return reader.outbox().due(asked); });
}

void store_fixture::swallow(std::string_view change) {
    const auto other = disk().connect();
    for (const auto& sql : disk().speaks().swallowing_trigger) {
        const auto made = sql.find("{}") == sql.npos ? sql : fmt::format(fmt::runtime(sql), change);
        EXPECT_EQ(other->run(made), std::nullopt);
    }
}

std::optional<outbox_status> store_fixture::status(const uuid& id) {
    return look<std::optional<outbox_status>>(
        [&](store_reader& reader) { return reader.outbox().status(id); });
}

void store_on_a_failing_disk::recover(disk_faults::unsynced fate) {
    if (faults().powered()) faults().cut_power();
    close();
    faults().restore_power(fate);
}

}  // namespace posthorn::conformance
