#include "store/postgres/commit/reader_pool.hpp"

#include <utility>

#include "store/commit/unit_run.hpp"
#include "store/postgres/driver/sql_text.hpp"

namespace posthorn::postgres {

result<std::unique_ptr<reader>> reader::open(const session_options& options, const clock& time) {
    POSTHORN_LET(database, connect(options, time));
    POSTHORN_TRY(database->begin_pipeline());
    return std::unique_ptr<reader>(new reader(std::move(database), options.rules, time));
}

reader::reader(std::unique_ptr<connection> database, const outbox_rules& rules, const clock& time)
    : database_(std::move(database)),
      time_(time),
      outbox_(*database_, rules),
      inbox_(*database_),
      inspection_(*database_),
      dead_letters_(*database_) {}

result<> reader::query(std::string_view sql, std::span<const sql_param> with,
                       const store_transaction::row_visitor& visit) {
    POSTHORN_TRY(require_allowed(sql));
    values given;
    for (const auto& each : with) given.add(each);
    POSTHORN_LET(answer, database_->run_once(numbered(sql), std::move(given)));
    for (int i = 0; visit && i < answer.size(); ++i) visit(answer[i]);
    return {};
}

result<> reader::read(const std::function<result<>(store_reader&)>& look) {
    database_->defer("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    plans_.look(*database_, time_.steady());
    auto outcome = look_safely(look, *this);
    database_->defer("ROLLBACK");
    const auto ended = database_->flush();
    if (outcome && !ended) return std::unexpected(ended.error());
    return outcome;
}

reader_pool::reader_pool(session_options options, const clock& time, std::size_t count)
    : options_(std::move(options)), time_(time) {
    for (std::size_t i = 0; i < count; ++i) readers_.give_back(nullptr);
}

result<> reader_pool::read(const std::function<result<>(store_reader&)>& look) {
    auto one = readers_.take();
    if (!one || one->is_lost()) {
        auto opened = reader::open(options_, time_);
        if (!opened) {
            readers_.give_back(nullptr);
            return std::unexpected(std::move(opened).error());
        }
        one = *std::move(opened);
    }
    auto outcome = one->read(look);
    readers_.give_back(std::move(one));
    return outcome;
}

}  // namespace posthorn::postgres
