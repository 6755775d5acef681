#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/store/suite.hpp"
#include "store/dead_letters.hpp"

namespace posthorn::conformance {

/// The claims about messages that were given up, with short ways to use them.
class store_of_dead_letters : public store_fixture {
protected:
    /// Gives a message up and gives its seq.
    std::int64_t bury(message body, std::string error = "400 from billing",
                      wall_time at = noon + std::chrono::seconds{1}) {
        return close(std::move(body), outbox_status::dead, std::move(error), at);
    }
    std::int64_t close(message body, outbox_status as, std::string error = "too late",
                       wall_time at = noon + std::chrono::seconds{1}) {
        const auto seq = put(body);
        if (epoch_ == 0) epoch_ = dispatch();
        EXPECT_EQ(settle({{.seq = seq,
                           .to = as,
                           .at = at,
                           .charged = as == outbox_status::dead,
                           .error = std::move(error)}},
                         epoch_),
                  1);
        return seq;
    }
    using store_fixture::close;

    dead_page list(const dead_filter& wanted = {}, std::int64_t before = 0,
                   std::size_t limit = 100) {
        return look<dead_page>(
            [&](store_reader& from) { return from.dead_letters().list(wanted, before, limit); });
    }
    std::vector<std::int64_t> seqs(const dead_filter& wanted = {}) {
        std::vector<std::int64_t> found;
        for (const auto& row : list(wanted).rows) found.push_back(row.summary.seq);
        return found;
    }
    dead_groups groups(std::string_view destination = {}, std::size_t limit = 100) {
        return look<dead_groups>(
            [&](store_reader& from) { return from.dead_letters().groups(destination, limit); });
    }
    dead_slice find(const dead_filter& wanted, std::int64_t after = 0, std::size_t limit = 500) {
        return look<dead_slice>(
            [&](store_reader& from) { return from.dead_letters().find(wanted, after, limit); });
    }
    std::optional<dead_letter_row> row(const uuid& id) {
        return look<std::optional<dead_letter_row>>(
            [&](store_reader& from) { return from.dead_letters().row(id); });
    }

    result<dead_changed> change(const uuid& id, const dead_change& how, wall_time now = noon) {
        return in_unit<dead_changed>(
            [&](dead_letter_table& table) { return table.change(id, how, now); });
    }
    result<dead_changed> edit(const uuid& id, const message_edit& how,
                              std::string_view if_state = {}) {
        return in_unit<dead_changed>(
            [&](dead_letter_table& table) { return table.edit(id, how, if_state, noon); });
    }
    result<dead_many> change_many(const std::vector<std::int64_t>& which, const dead_filter& still,
                                  const dead_change& how, wall_time now = noon) {
        return in_unit<dead_many>(
            [&](dead_letter_table& table) { return table.change_many(which, still, how, now); });
    }
    template <class T, class Work>
    result<T> in_unit(Work work) {
        std::optional<T> given;
        const auto outcome = run([&](store_transaction& tx) -> result<> {
            auto value = work(tx.dead_letters());
            if (!value) return std::unexpected(std::move(value).error());
            given = *std::move(value);
            return {};
        });
        if (!outcome) return std::unexpected(outcome.error());
        return *std::move(given);
    }

    /// A row's columns as text, NULL as "null".
    std::string columns(const std::string& names, std::int64_t seq) {
        const auto found = disk().connect()->rows(
            fmt::format("SELECT {} FROM outbox_messages WHERE seq = {}", names, seq));
        if (found.empty()) return "no row";
        std::string all;
        for (const auto& each : found.front())
            all += (all.empty() ? "" : "|") + each.value_or("null");
        return all;
    }

    /// The dispatcher's that gave them up.
    [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }

private:
    std::int64_t epoch_ = 0;
};

}  // namespace posthorn::conformance
