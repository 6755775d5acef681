// Rows of every type and extreme in the tables of features, with the program at work: it lives, what
// is well beside them takes effect, and all that can be asked for is answered.
#include "support/odd_features.hpp"

#include "support/sqlite_file.hpp"

namespace posthorn::integration {
namespace {

class odd_features_in_a_file : public test::odd_features {
protected:
    std::optional<std::string> outside(const std::string& sql) override {
        try {
            file().run(sql);
            return std::nullopt;
        } catch (const std::runtime_error& why) {
            return why.what();
        }
    }
    [[nodiscard]] std::int64_t number(const std::string& sql) override {
        return file().integer(sql);
    }
    std::vector<std::string> describe() override {
        return test::split_at(file().lines(test::describe_in_file(is_of_features("t.name"))), '\n');
    }
    std::string megabytes(int number) override {
        return fmt::format("replace(hex(zeroblob({})), '00', 'uu')", number * 500'000);
    }
    std::string program() override { return POSTHORN_PROGRAM; }
    std::string store() override {
        return fmt::format("[store]\nurl = \"sqlite:{}\"\n", folder_.file("shop.db"));
    }

private:
    test::sqlite_file& file() {
        if (!file_) {
            file_.emplace(folder_.file("shop.db"));
            file_->run("PRAGMA synchronous = OFF");
            file_->run("PRAGMA busy_timeout = 10000");
        }
        return *file_;
    }

    std::optional<test::sqlite_file> file_;
};

TEST_F(odd_features_in_a_file, stop_neither_the_program_nor_what_is_well_beside_them) {
    test::row_fuzz rows(20'261'119, test::row_fuzz::database::sqlite);
    expect_all_live(rows);
}

TEST_F(odd_features_in_a_file, subscriptions_of_many_megabytes_are_named_and_not_fetched) {
    expect_large_subscriptions_named();
}

TEST_F(odd_features_in_a_file, that_are_left_out_for_their_size_or_shape_are_named_by_the_doctor) {
    expect_left_out_rows_named();
}

}  // namespace
}  // namespace posthorn::integration
