// Rows of every type and extreme in the tables of features on a server, as
// tests/integration/odd_features_test.cpp does it to a file.
#include "support/odd_features.hpp"
#include "support/postgres/postgres_server.hpp"

namespace posthorn::integration {
namespace {

class odd_features_on_a_server : public test::odd_features {
protected:
    std::optional<std::string> outside(const std::string& sql) override { return client_.run(sql); }
    [[nodiscard]] std::int64_t number(const std::string& sql) override {
        return std::stoll(client_.rows(sql).at(0).at(0).value_or("0"));
    }
    std::vector<std::string> describe() override {
        std::vector<std::string> all;
        for (const auto& row :
             client_.rows(test::describe_on_server(place_.schema(), is_of_features("t.relname"))))
            all.push_back(row.at(0).value_or(""));
        return all;
    }
    std::string megabytes(int number) override {
        return fmt::format("repeat('u', {})", number * 1'000'000);
    }
    std::string program() override { return POSTHORN_PROGRAM; }
    std::string store() override {
        return fmt::format("[store]\nurl = \"{}\"\nschema = \"{}\"\n", place_.url(),
                           place_.schema());
    }

    std::string by_hand() override { return "OVERRIDING SYSTEM VALUE"; }

    test::postgres_place place_;
    test::postgres_client client_{place_.url()};
};

TEST_F(odd_features_on_a_server, stop_neither_the_program_nor_what_is_well_beside_them) {
    test::row_fuzz rows(20'261'119, test::row_fuzz::database::postgres);
    expect_all_live(rows);
}

TEST_F(odd_features_on_a_server, subscriptions_of_many_megabytes_are_named_and_not_fetched) {
    expect_large_subscriptions_named();
}

TEST_F(odd_features_on_a_server,
       that_are_left_out_for_their_size_or_shape_are_named_by_the_doctor) {
    expect_left_out_rows_named();
}

}  // namespace
}  // namespace posthorn::integration
