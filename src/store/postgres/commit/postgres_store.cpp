#include "store/postgres/commit/postgres_store.hpp"

#include <algorithm>
#include <utility>

#include "store/commit/lent_readers.hpp"
#include "store/inside_unit.hpp"
#include "store/postgres/commit/own_transactions.hpp"
#include "store/postgres/commit/reader.hpp"
#include "store/postgres/commit/writer.hpp"
#include "store/postgres/schema/mend_schema.hpp"
#include "store/postgres/schema/migrate.hpp"
#include "store/postgres/schema/rights.hpp"
#include "store/postgres/schema/set_defaults.hpp"
#include "store/postgres/schema/tables.hpp"

namespace posthorn::postgres {
namespace {

/// The store on one schema of a PostgreSQL database.
class postgres_store final : public store, private shared_dispatch {
public:
    static result<std::unique_ptr<store>> open(const postgres_options& options,
                                               const postgres_seams& seams);
    ~postgres_store() override {
        if (own_) stop();
    }
    postgres_store(const postgres_store&) = delete;
    postgres_store& operator=(const postgres_store&) = delete;

    void submit(unit work) override {
        if (work.alone) return own_->submit(std::move(work));
        std::vector<unit> one;
        one.push_back(std::move(work));
        writer_->submit(std::move(one));
    }
    // It would wait for the server as long on any thread.
    void submit_and_wait(unit work) override { submit(std::move(work)); }
    void submit(std::vector<unit> work) override {
        std::vector<unit> shared;
        for (auto& each : work)
            if (each.alone)
                own_->submit(std::move(each));
            else
                shared.push_back(std::move(each));
        writer_->submit(std::move(shared));
    }
    result<> read(const std::function<result<>(store_reader&)>& look) override {
        return readers_->read(look);
    }
    void hand_to(commit_taker* taker) override { services_.news.hand_to(taker); }
    void listen(commit_listener& listener) override { services_.news.listen(listener); }
    void forget(commit_listener& listener) override { services_.news.forget(listener); }
    // There is no cheap way to tell, so always true.
    result<bool> changed_by_others() override {
        POSTHORN_TRY(require_outside_unit());
        return true;
    }
    void barrier(unit::done_type done) override {
        submit({.work = [](store_transaction& tx) -> result<> {
                    return static_cast<unit_transaction&>(tx).touch();
                },
                .done = std::move(done)});
    }
    [[nodiscard]] shared_dispatch* sharing() override { return this; }
    [[nodiscard]] file_upkeep* upkeep() override { return nullptr; }
    // A commit in doubt is cleared up; the server answers for its disk.
    [[nodiscard]] bool has_failed() const override { return false; }
    [[nodiscard]] std::optional<error> write_trouble() const override {
        return services_.trouble.now();
    }
    [[nodiscard]] std::chrono::nanoseconds longest_wait() const override {
        return writer_->longest_wait();
    }
    [[nodiscard]] std::chrono::nanoseconds unit_age() const override {
        return std::max(writer_->unit_age(), own_->unit_age());
    }
    [[nodiscard]] std::uint64_t units_done() const override { return services_.units_done; }
    result<> check_integrity() override;
    void stop() override {
        own_->stop();
        writer_->stop();
    }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    claim_table& claims_in(store_transaction& open) override {
        return static_cast<unit_transaction&>(open).claims();
    }
    result<bool> has_arrivals(store_reader& seen_by) override {
        return static_cast<reader&>(seen_by).outbox().has_arrivals();
    }

    explicit postgres_store(const postgres_seams& seams)
        : services_{.time = seams.time, .log = seams.log} {}

    write_services services_;
    std::unique_ptr<lent_readers<reader>> readers_;
    std::unique_ptr<writer> writer_;
    std::unique_ptr<own_transactions> own_;
    std::string schema_;
    std::string name_;
};

// The pages are the server's. What triggers keep beside the messages must fit them.
result<> postgres_store::check_integrity() {
    std::int64_t wrong = 0;
    POSTHORN_TRY(readers_->read([&](store_reader& from) {
        return from.query(
            fmt::format("SELECT count(*) FROM {0}.outbox_messages AS m"
                        " LEFT JOIN {0}.outbox_due AS d USING (seq)"
                        " LEFT JOIN {0}.outbox_closed AS c USING (seq)"
                        " WHERE ((m.status = 'Pending' AND d.seq IS NULL)"
                        " OR (m.status IN ('Dead', 'Expired', 'Resolved')) <> (c.seq IS NOT NULL))"
                        " AND m.seq NOT IN (SELECT seq FROM {0}.arrivals())",
                        schema_),
            {}, [&](const sql_row& row) { wrong = row.integer(0); });
    }));
    if (wrong == 0) return {};
    return fail(error_code::store_corrupt,
                "{} messages do not fit what is kept beside them: triggers of the schema were "
                "switched off, or rows were changed without them",
                wrong);
}

/// Makes the tables, and a name for this store among those that are open.
result<std::string> prepare_schema(const session_options& session_with,
                                   const postgres_options& options, const postgres_seams& seams) {
    POSTHORN_LET(database, connect(session_with, seams.time));
    POSTHORN_TRY(require_kept_session(*database, session_with, seams.time));
    POSTHORN_LET(missing, missing_rights(*database));
    if (!missing.empty()) seams.log.warn("Store: {Missing}", {{"Missing", missing}});
    std::vector<migration_set> sets{store_tables()};
    for (const auto& each : options.above) sets.push_back(each.postgres);
    POSTHORN_TRY(migrate(*database, sets, seams.time));
    POSTHORN_LET(mended, mend_schema(*database, sets));
    tell(mended, seams.log);
    POSTHORN_TRY(claim_for(*database, options.service));
    if (options.defaults)
        if (const auto set = set_row_defaults(*database, *options.defaults); !set)
            seams.log.warn(
                "Store: messages inserted with SQL keep the retries and the time to live that "
                "they had by default, whatever outbox.max_retries and outbox.message_ttl say: "
                "{Error}",
                {{"Error", set.error().what()}});
    POSTHORN_TRY(database->begin_pipeline());
    POSTHORN_LET(name, database->run_once("SELECT gen_random_uuid()::text", {}));
    return std::string(name.front().text(0));
}

result<std::unique_ptr<store>> postgres_store::open(const postgres_options& options,
                                                    const postgres_seams& seams) {
    session_options with{.connect = {.url = options.url,
                                     .schema = options.schema,
                                     .application = "posthorn " + options.service},
                         .rules = {.source = options.service, .limits = options.limits},
                         .writer = {}};
    POSTHORN_LET(name, prepare_schema(with, options, seams));
    with.writer = std::move(name);
    POSTHORN_LET(first, session::open(with, seams.time));
    std::unique_ptr<postgres_store> made(new postgres_store(seams));
    made->schema_ = first->database().schema();
    made->name_ = with.writer;
    made->readers_ = std::make_unique<lent_readers<reader>>(
        [with, &time = seams.time] { return reader::open(with, time); }, options.readers);
    made->writer_ = std::make_unique<writer>(with, std::move(first), made->services_, seams.writer);
    made->own_ = std::make_unique<own_transactions>(std::move(with), options.transactions,
                                                    made->services_, *made->writer_);
    return made;
}

}  // namespace

result<std::unique_ptr<store>> open(const postgres_options& options, const postgres_seams& seams) {
    return postgres_store::open(options, seams);
}

const std::string& name_of(const store& opened) {
    return dynamic_cast<const postgres_store&>(opened).name();
}

std::string schema_definitions(const std::string& schema, const std::vector<table_set>& above) {
    std::vector<migration_set> sets{store_tables()};
    for (const auto& each : above) sets.push_back(each.postgres);
    return definitions(schema, sets);
}

}  // namespace posthorn::postgres
