#include "store/statements/statement_text.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(statement_text, that_reads_alike_names_the_schema_on_the_server_alone) {
    constexpr auto text = both<"DELETE FROM {s}.changes WHERE seq = ?1 AND at < ?12">;
    EXPECT_EQ(text.sqlite, "DELETE FROM changes WHERE seq = ?1 AND at < ?12");
    EXPECT_EQ(text.postgres, "DELETE FROM {s}.changes WHERE seq = $1 AND at < $12");
}

TEST(statement_text, that_reads_alike_is_left_as_it_is_otherwise) {
    constexpr auto text = both<"SELECT 's', '{s}' FROM {s}.changes">;
    EXPECT_EQ(text.sqlite, "SELECT 's', '{s}' FROM changes");
    EXPECT_EQ(text.postgres, "SELECT 's', '{s}' FROM {s}.changes");
}

}  // namespace
}  // namespace posthorn
