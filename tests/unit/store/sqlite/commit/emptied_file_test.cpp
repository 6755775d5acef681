// A database file that has lost all its bytes is not taken for a new one.
#include <filesystem>
#include <fstream>

#include "store/sqlite/schema/file_owner.hpp"
#include "unit/store/sqlite/a_service.hpp"

namespace posthorn::sqlite {
namespace {

namespace fs = std::filesystem;

class an_emptied_file : public a_service {
protected:
    an_emptied_file() {
        close_store();
        fs::resize_file(database_, 0);
    }
    [[nodiscard]] auto opened() {
        return open({.path = database_, .service = "orders", .shared = true},
                    {.time = time_, .writer = writer_, .log = log_});
    }
    void put_beside(const char* suffix) const { std::ofstream(database_ + suffix) << "something"; }
};

TEST_F(an_emptied_file, is_refused_while_its_log_is_there_which_stays) {
    put_beside("-wal");
    const auto refused = opened();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::store_corrupt);
    EXPECT_NE(std::string(refused.error().what()).find(database_ + "-wal"), std::string::npos);
    EXPECT_TRUE(fs::exists(database_ + "-wal"));
}

TEST_F(an_emptied_file, is_refused_while_its_ballast_is_there) {
    put_beside("-ballast");
    const auto refused = opened();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::store_corrupt);
}

TEST_F(an_emptied_file, is_a_new_one_where_nothing_tells_otherwise) {
    std::ofstream(database_ + "-wal").flush();  // Empty as well.
    const auto made = opened();
    EXPECT_TRUE(made) << made.error().what();
    (*made)->stop();
}

}  // namespace
}  // namespace posthorn::sqlite
