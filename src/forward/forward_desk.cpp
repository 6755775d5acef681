#include "forward/forward_desk.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <utility>

#include "forward/forward_terms.hpp"

namespace posthorn {

void first_attempt::tell(forwarded what) {
    {
        const std::scoped_lock lock(mutex_);
        what_ = std::move(what);
    }
    told_.notify_all();
}

std::optional<forwarded> first_attempt::wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    told_.wait_for(lock, limit, [this] { return what_.has_value(); });
    return what_;
}

forward_desk::forward_desk(deps with, forward_defaults defaults)
    : with_(with),
      defaults_(std::move(defaults)),
      ids_([this] { return with_.clock.wall(); }, with_.random) {}

result<> forward_desk::add(std::string category, forward_handler handler) {
    if (!is_forward_category(category))
        return fail(error_code::invalid_argument,
                    "'{}' is not a category; use at most 64 letters, digits, '.', '-' and '_'",
                    category);
    if (handler.how.max_retries && *handler.how.max_retries < 0)
        return fail(error_code::invalid_argument,
                    "max_retries of category {} is negative; 0 is for ever", category);
    const auto& how = handler.how;
    POSTHORN_TRY(check_cap({how.max_messages, how.max_bytes, how.max_age}, "category " + category));
    if (!std::isfinite(how.deadband) || how.deadband < 0)
        return fail(error_code::invalid_argument,
                    "the deadband of category {} is {}; give a number that is not negative",
                    category, how.deadband);
    const auto [place, added] = handlers_.try_emplace(std::move(category), std::move(handler));
    if (!added)
        return fail(error_code::invalid_argument, "category {} has a handler already",
                    place->first);
    return {};
}

forward_desk::written forward_desk::to_write(const std::string& name,
                                             const forward_handler& handler) const {
    return {.name = name,
            .tracked = handler.how.tracked ? 1 : 0,
            .max_retries = handler.how.max_retries.value_or(defaults_.max_retries),
            .interval_ms = handler.how.retry_interval.value_or(defaults_.retry_interval).count()};
}

// A node that brings nothing new writes nothing, so that many may start at once.
result<> forward_desk::prepare() {
    POSTHORN_TRY(prepare_caps());
    // What triggers have to know.
    const std::map<std::string, std::string> wanted{{"forward_centre", defaults_.centre},
                                                    {"forward_site", defaults_.site}};
    std::map<std::string, std::string> known{{"forward_centre", ""},
                                             {"forward_site", std::string(unknown_site)}};
    std::vector<written> missing;
    for (const auto& [name, handler] : handlers_) missing.push_back(to_write(name, handler));
    POSTHORN_TRY(with_.where.read([&](store_reader& from) -> result<> {
        POSTHORN_TRY(from.query(
            "SELECT name, value FROM posthorn_meta WHERE name IN ('forward_centre',"
            " 'forward_site')",
            {}, [&](const sql_row& row) { known[std::string(row.text(0))] = row.text(1); }));
        return from.query(
            "SELECT name, tracked, max_retries, retry_interval_ms FROM forward_categories", {},
            [&](const sql_row& row) {
                const written there{std::string(row.text(0)), row.integer(1), row.integer(2),
                                    row.integer(3)};
                std::erase(missing, there);
            });
    }));
    if (known == wanted && missing.empty()) return {};
    std::promise<result<>> done;
    auto answer = done.get_future();
    with_.where.submit_and_wait(
        {.work = [&](store_transaction& tx) { return write(tx, missing); },
         .done = [&done](result<> outcome) { done.set_value(std::move(outcome)); }});
    return answer.get();
}

// The numbers of the document's three are fixed; others are counted on from there.
result<> forward_desk::write(store_transaction& tx, std::span<const written> some) const {
    POSTHORN_TRY(tx.take_turn("forward_categories", "all"));
    POSTHORN_TRY(tx.execute(
        "DELETE FROM posthorn_meta WHERE name IN ('forward_centre', 'forward_site')", {}));
    const auto note = [&](std::string_view name, std::string_view value) -> result<> {
        if (value.empty()) return {};
        const std::array<sql_param, 2> row{name, value};
        POSTHORN_TRY(tx.execute("INSERT INTO posthorn_meta (name, value) VALUES (?, ?)", row));
        return {};
    };
    POSTHORN_TRY(note("forward_centre", defaults_.centre));
    POSTHORN_TRY(note("forward_site", defaults_.site));
    for (const auto& each : some) {
        const std::array<sql_param, 2> named{std::string_view(each.name),
                                             std::string_view(each.name)};
        POSTHORN_TRY(
            tx.execute("INSERT INTO forward_categories (number, name)"
                       " SELECT max(number) + 1, ? FROM forward_categories WHERE NOT EXISTS"
                       " (SELECT 1 FROM forward_categories WHERE name = ?) HAVING count(*) > 0",
                       named));
        const std::array<sql_param, 4> how{each.tracked, each.max_retries, each.interval_ms,
                                           std::string_view(each.name)};
        POSTHORN_TRY(
            tx.execute("UPDATE forward_categories SET tracked = ?, max_retries = ?,"
                       " retry_interval_ms = ? WHERE name = ?",
                       how));
    }
    return {};
}

buffer_rules forward_desk::rules() const {
    auto all = defaults_.caps;
    for (const auto& [name, handler] : handlers_) {
        const buffer_cap own{handler.how.max_messages, handler.how.max_bytes, handler.how.max_age};
        if (own != buffer_cap{}) all.categories[name] = own;
    }
    return all;
}

std::map<std::string, buffer_cap> forward_desk::caps_to_write() const {
    std::map<std::string, buffer_cap> wanted;
    const auto all = rules();
    if (all.then != when_full::reject) return wanted;
    if (all.whole.limits_size()) wanted.emplace("", all.whole);
    for (const auto& [name, cap] : all.categories)
        if (cap.limits_size()) wanted.emplace(name, cap);
    for (auto& [name, cap] : wanted) cap.age = {};  // Nothing is refused for its age.
    return wanted;
}

result<> forward_desk::prepare_caps() const {
    const auto wanted = caps_to_write();
    std::map<std::string, buffer_cap> there;
    POSTHORN_TRY(with_.where.read([&](store_reader& from) {
        return from.query("SELECT category, max_messages, max_bytes FROM forward_caps", {},
                          [&](const sql_row& row) {
                              there[std::string(row.text(0))] = {row.integer(1), row.integer(2)};
                          });
    }));
    if (there == wanted) return {};
    std::promise<result<>> done;
    auto answer = done.get_future();
    with_.where.submit_and_wait(
        {.work = [&](store_transaction& tx) -> result<> {
             POSTHORN_TRY(tx.take_turn("forward_caps", "all"));
             POSTHORN_TRY(tx.execute("DELETE FROM forward_caps", {}));
             for (const auto& [name, cap] : wanted) {
                 const std::array<sql_param, 3> row{std::string_view(name), cap.messages,
                                                    cap.bytes};
                 POSTHORN_TRY(
                     tx.execute("INSERT INTO forward_caps (category, max_messages, max_bytes)"
                                " VALUES (?, ?, ?)",
                                row));
             }
             return {};
         },
         .done = [&done](result<> outcome) { done.set_value(std::move(outcome)); }});
    return answer.get();
}

void forward_desk::tell(const forward_activity& what) const noexcept {
    constexpr std::array<std::string_view, 4> course{"Queued", "Delivered", "Retried", "Thinned"};
    const auto level =
        std::ranges::find(course, what.what) != course.end() ? log_level::debug : log_level::info;
    try {
        if (with_.log.enabled(level)) {
            const auto id = what.id.to_string();
            const std::array<log_field, 5> said{{{"Activity", what.what},
                                                 {"MessageId", id},
                                                 {"Category", what.category},
                                                 {"Target", what.target},
                                                 {"Error", what.error}}};
            with_.log.log(level, "Forward: {Activity} {Category} {Target} {MessageId} {Error}",
                          said);
        }
        if (listener_) listener_(what);
    } catch (...) {  // It has no say in what became of the work.
    }
}

const forward_handler* forward_desk::find(std::string_view category) const {
    const auto found = handlers_.find(category);
    return found == handlers_.end() ? nullptr : &found->second;
}

std::shared_ptr<first_attempt> forward_desk::expect(const uuid& id) {
    auto made = std::make_shared<first_attempt>();
    const std::scoped_lock lock(mutex_);
    awaited_[id] = made;
    return made;
}

bool forward_desk::forget(const uuid& id) {
    const std::scoped_lock lock(mutex_);
    return awaited_.erase(id) > 0;
}

std::shared_ptr<first_attempt> forward_desk::take(const uuid& id) {
    const std::scoped_lock lock(mutex_);
    auto found = awaited_.extract(id);
    return found.empty() ? nullptr : std::move(found.mapped());
}

bool forward_desk::answers(std::string_view category, std::string_view target) const {
    if (find(category) == nullptr) return false;
    const auto destination = forward_destination({category, target});
    const std::scoped_lock lock(mutex_);
    return !out_.contains(destination) && !shut_.contains(destination);
}

void forward_desk::note(const std::string& destination, bool answers) {
    const std::scoped_lock lock(mutex_);
    if (answers)
        out_.erase(destination);
    else
        out_.insert(destination);
}

void forward_desk::note_shut(std::set<std::string, std::less<>> destinations) {
    const std::scoped_lock lock(mutex_);
    shut_ = std::move(destinations);
}

}  // namespace posthorn
