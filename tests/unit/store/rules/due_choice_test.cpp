#include "store/rules/due_choice.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "store/rows/stored_time.hpp"

namespace posthorn {
namespace {

using seqs = std::vector<std::int64_t>;

/// Flows and their rows, as a store would find them.
class a_store final : private flow_source, public due_choice {
public:
    a_store() : due_choice(static_cast<flow_source&>(*this)) {}
    void add(const flow& one, seqs rows) {
        const auto after = std::ranges::find_if(
            rows_, [&](const auto& other) { return is_past(other.first, one); });
        rows_.emplace(after, one, std::move(rows));
    }
    seqs looked_at{};  // How many tenants there were in each look.
    std::size_t at_once = 10'000;

private:
    result<> go_round(std::optional<std::string_view> destination, std::optional<flow>& resume,
                      const flow_visitor& visit) override {
        const auto mark = std::exchange(resume, std::nullopt);
        const auto first = std::ranges::find_if(
            rows_, [&](const auto& one) { return mark && is_past(one.first, *mark); });
        std::vector<flow> round;
        for (auto at = first; at != rows_.end(); ++at) round.push_back(at->first);
        for (auto at = rows_.begin(); at != first; ++at) round.push_back(at->first);
        for (const auto& one : round) {
            if (destination && one.destination != *destination) continue;
            if (visit(one) != flow_step::stop) continue;
            resume = one;
            return {};
        }
        return {};
    }
    [[nodiscard]] std::size_t tenants_at_once() const noexcept override { return at_once; }
    result<> read(std::span<tenant_rows* const> tenants, std::size_t rows_max,
                  const due_question&) override {
        looked_at.push_back(std::ssize(tenants));
        for (auto* const tenant : tenants) {
            tenant->seqs.clear();
            for (const auto& of : tenant->flows)
                for (const auto& [one, rows] : rows_)
                    if (one.tenant == of.tenant && one.priority == of.priority)
                        tenant->seqs.insert(tenant->seqs.end(), rows.begin(), rows.end());
            tenant->drained = tenant->seqs.size() <= rows_max;
            if (!tenant->drained) tenant->seqs.resize(rows_max);
        }
        return {};
    }

    std::vector<std::pair<flow, seqs>> rows_;
};

flow of(std::string tenant, std::int64_t priority = 0, std::int64_t first_ms = 0) {
    return {.destination = "shop",
            .tenant = std::move(tenant),
            .priority = priority,
            .first_ms = first_ms};
}

due_question asking_for(std::size_t limit) {
    due_question asked;
    asked.destination = "shop";
    asked.now = from_ms(100);
    asked.limit = limit;
    return asked;
}

TEST(due_choice, lets_tenants_take_turns_within_a_page) {
    a_store store;
    store.add(of("a"), {1, 2, 3, 4});
    store.add(of("b"), {5, 6});
    const auto chosen = store.choose(asking_for(4));
    EXPECT_EQ(chosen->seqs, (seqs{1, 5, 2, 6}));
    EXPECT_TRUE(chosen->more);
}

TEST(due_choice, sends_the_highest_priority_of_a_tenant_first) {
    a_store store;
    store.add(of("a", 1), {1, 2});
    store.add(of("a", 9), {3});
    const auto chosen = store.choose(asking_for(10));
    EXPECT_EQ(chosen->seqs, (seqs{3, 1, 2}));
    EXPECT_FALSE(chosen->more);
}

TEST(due_choice, leaves_flows_alone_whose_first_message_is_not_due) {
    a_store store;
    store.add(of("a", 0, 101), {1});
    store.add(of("b", 0, 100), {2});
    EXPECT_EQ(store.choose(asking_for(10))->seqs, (seqs{2}));
}

TEST(due_choice, gives_rows_of_one_tenant_alone_if_that_is_asked) {
    a_store store;
    store.add(of(""), {1});
    store.add(of("a"), {2, 3});
    store.add(of("b"), {4});
    auto asked = asking_for(10);
    asked.tenant = "a";
    const auto chosen = store.choose(asked);
    EXPECT_EQ(chosen->seqs, (seqs{2, 3}));
    EXPECT_FALSE(chosen->more);
}

TEST(due_choice, gives_the_odd_row_to_another_tenant_each_time) {
    a_store store;
    store.add(of("a"), {1, 2});
    store.add(of("b"), {3, 4});
    EXPECT_EQ(store.choose(asking_for(1))->seqs, (seqs{1}));
    EXPECT_EQ(store.choose(asking_for(1))->seqs, (seqs{3}));
    EXPECT_EQ(store.choose(asking_for(1))->seqs, (seqs{1}));
}

TEST(due_choice, goes_on_after_the_flows_of_the_look_before) {
    a_store store;
    for (int i = 0; i < 1'500; ++i) store.add(of(std::to_string(10'000 + i)), {i});
    const auto first = store.choose(asking_for(1'000));
    EXPECT_TRUE(first->more);
    EXPECT_EQ(first->seqs.front(), 0);
    EXPECT_EQ(store.choose(asking_for(1'000))->seqs.front(), 1'000);
    EXPECT_EQ(store.looked_at, (seqs{1'000, 1'000}));
}

TEST(due_choice, reads_more_of_some_where_others_have_less_than_their_share) {
    a_store store;
    store.add(of("a"), {1, 2, 3, 4, 5, 6, 7});
    store.add(of("b"), {8});
    EXPECT_EQ(store.choose(asking_for(6))->seqs, (seqs{1, 8, 2, 3, 4, 5}));
    EXPECT_EQ(store.looked_at, (seqs{2, 1})) << "then of the first alone";
}

TEST(due_choice, asks_no_more_tenants_than_a_page_has_rows) {
    for (const std::size_t at_once : {std::size_t{1}, std::size_t{10'000}}) {
        a_store store;
        store.at_once = at_once;
        for (int i = 0; i < 5; ++i) store.add(of(std::to_string(i)), {i, i + 10});
        EXPECT_EQ(store.choose(asking_for(2))->seqs, (seqs{0, 1}));
        EXPECT_EQ(store.looked_at, at_once == 1 ? (seqs{1, 1}) : (seqs{2}));
        EXPECT_EQ(store.choose(asking_for(2))->seqs, (seqs{2, 3}));
    }
}

TEST(due_choice, asks_the_next_tenants_where_one_of_the_first_has_nothing) {
    for (const std::size_t at_once : {std::size_t{1}, std::size_t{10'000}}) {
        a_store store;
        store.at_once = at_once;
        store.add(of("a"), {});
        for (int i = 1; i < 5; ++i) store.add(of(std::to_string(i)), {i, i + 10});
        EXPECT_EQ(store.choose(asking_for(4))->seqs, (seqs{1, 2, 3, 4}));
    }
}

TEST(due_choice, chooses_nothing_for_an_empty_page) {
    a_store store;
    store.add(of("a"), {1});
    EXPECT_TRUE(store.choose(asking_for(0))->seqs.empty());
}

}  // namespace
}  // namespace posthorn
