#include "store/commit/lent_readers.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

/// A reader that can be lost. Nobody asks it anything.
struct a_reader {
    int number = 0;
    bool lost = false;
    std::vector<int>* used = nullptr;

    result<> read(const std::function<result<>(store_reader&)>& look) {
        used->push_back(number);
        if (!look) lost = true;
        return look ? result<>{} : fail(error_code::store_unavailable, "lost");
    }
    [[nodiscard]] bool is_lost() const { return lost; }
};

class some_readers : public ::testing::Test {
protected:
    lent_readers<a_reader> make(std::size_t count) {
        return {[this]() -> result<std::unique_ptr<a_reader>> {
                    if (refused) return fail(error_code::store_unavailable, "no");
                    return std::make_unique<a_reader>(a_reader{.number = ++made, .used = &used});
                },
                count};
    }

    static result<> look(store_reader&) { return {}; }

    int made = 0;
    bool refused = false;
    std::vector<int> used;
};

TEST_F(some_readers, are_made_when_they_are_wanted_and_used_again) {
    auto readers = make(2);
    EXPECT_EQ(made, 0);
    EXPECT_TRUE(readers.read(look));
    EXPECT_TRUE(readers.read(look));
    EXPECT_EQ(used, (std::vector{1, 1}));
}

TEST_F(some_readers, are_made_at_once_where_that_is_asked_for) {
    auto readers = make(2);
    EXPECT_TRUE(readers.make_all());
    EXPECT_EQ(made, 2);
    auto others = make(1);
    refused = true;
    EXPECT_FALSE(others.make_all());
}

TEST_F(some_readers, are_made_anew_once_they_are_lost) {
    auto readers = make(1);
    EXPECT_FALSE(readers.read(nullptr));
    EXPECT_TRUE(readers.read(look));
    EXPECT_EQ(used, (std::vector{1, 2}));
}

TEST_F(some_readers, are_given_back_though_they_could_not_be_made) {
    auto readers = make(1);
    refused = true;
    EXPECT_FALSE(readers.read(look));
    refused = false;
    EXPECT_TRUE(readers.read(look)) << "it would wait for ever if the place were gone";
}

}  // namespace
}  // namespace posthorn
