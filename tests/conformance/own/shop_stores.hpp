#pragma once

#include <memory>
#include <string>

#include <sqlite3.h>

#include <posthorn/own_stores.hpp>

/// What an application writes that keeps its messages itself: three tables of its own, in its own
/// database, through the public headers alone.
namespace shop {

/// The application's database.
class database {
public:
    explicit database(const std::string& path);
    ~database();
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    void run(const std::string& sql);
    [[nodiscard]] sqlite3* handle() const { return handle_; }

private:
    sqlite3* handle_ = nullptr;
};

[[nodiscard]] std::unique_ptr<posthorn::own_outbox> make_outbox(database& in);
[[nodiscard]] std::unique_ptr<posthorn::own_inbox> make_inbox(database& in);
[[nodiscard]] std::unique_ptr<posthorn::own_dead_letters> make_dead_letters(database& in);

}  // namespace shop
