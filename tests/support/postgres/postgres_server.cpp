#include "support/postgres/postgres_server.hpp"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <libpq-fe.h>
#include <unistd.h>

#include "support/process.hpp"

namespace posthorn::test {
namespace {

constexpr std::chrono::minutes patience{10};

void script(const std::string& what, const std::string& file,
            const std::vector<std::string>& more = {}) {
    std::vector<std::string> command{POSTHORN_POSTGRES_SCRIPT, what, file};
    command.insert(command.end(), more.begin(), more.end());
    process run(command);
    const auto end = run.wait(patience);
    if (!end || end->exit_code != 0)
        throw std::runtime_error("server.sh " + what + " failed: " + run.err());
}

std::string first_line(const std::string& file) {
    std::ifstream from(file);
    std::string line;
    std::getline(from, line);
    return line;
}

/// One that this process starts itself.
class own_server {
public:
    own_server() { script("start", file()); }
    ~own_server() {
        try {
            script("stop", file());
        } catch (const std::exception&) {  // Its directory is left behind, and says so.
        }
    }
    own_server(const own_server&) = delete;
    own_server& operator=(const own_server&) = delete;
    [[nodiscard]] std::string file() const { return place_.file("url"); }

private:
    temporary_directory place_;
};

const std::string& url_file() {
    static const std::string file = [] {
        const char* const given = std::getenv("POSTHORN_TEST_POSTGRES");
        if (given != nullptr && !first_line(given).empty()) return std::string(given);
        static const own_server server;
        return server.file();
    }();
    return file;
}

}  // namespace

const std::string& postgres_url() {
    static const std::string url = first_line(url_file());
    return url;
}

void crash_postgres() { script("crash", url_file()); }
void halt_postgres() { script("halt", url_file()); }
void start_postgres_again() { script("again", url_file()); }

int number_from(const char* variable, int usual) {
    const char* const given = std::getenv(variable);
    return given == nullptr ? usual : std::stoi(given);
}

postgres_beside::postgres_beside(const std::vector<std::string>& what) {
    std::vector<std::string> more{url_file()};
    more.insert(more.end(), what.begin() + 1, what.end());
    script(what.front(), place_.file("url"), more);
}

postgres_beside::~postgres_beside() {
    try {
        script("stop", place_.file("url"));
    } catch (const std::exception&) {  // Its directory is left behind, and says so.
    }
}

std::string postgres_beside::url() const { return first_line(place_.file("url")); }

void postgres_client::closer::operator()(pg_conn* handle) const noexcept { PQfinish(handle); }

postgres_client::postgres_client(const std::string& url) : handle_(PQconnectdb(url.c_str())) {
    if (PQstatus(handle_.get()) != CONNECTION_OK)
        throw std::runtime_error(PQerrorMessage(handle_.get()));
    PQsetNoticeProcessor(handle_.get(), [](void*, const char*) {}, nullptr);
}

std::optional<std::string> postgres_client::run(std::string_view sql) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> answer(
        PQexec(handle_.get(), std::string(sql).c_str()), &PQclear);
    const auto status = PQresultStatus(answer.get());
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return std::nullopt;
    return PQerrorMessage(handle_.get());
}

std::vector<postgres_client::row> postgres_client::rows(std::string_view sql) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> answer(
        PQexec(handle_.get(), std::string(sql).c_str()), &PQclear);
    if (PQresultStatus(answer.get()) != PGRES_TUPLES_OK)
        throw std::runtime_error(std::string(sql) + ": " + PQerrorMessage(handle_.get()));
    std::vector<row> found;
    for (int i = 0; i < PQntuples(answer.get()); ++i) {
        auto& one = found.emplace_back();
        for (int column = 0; column < PQnfields(answer.get()); ++column) {
            if (PQgetisnull(answer.get(), i, column) != 0)
                one.emplace_back(std::nullopt);
            else
                one.emplace_back(PQgetvalue(answer.get(), i, column));
        }
    }
    return found;
}

postgres_place::postgres_place() {
    static std::atomic<int> places = 0;
    const auto name = std::to_string(::getpid()) + "_" + std::to_string(++places);
    schema_ = "outbox_" + name;
    business_ = "business_" + name;
    postgres_client admin;
    if (const auto refused = admin.run("CREATE SCHEMA " + business_))
        throw std::runtime_error(*refused);
}

postgres_place::~postgres_place() {
    try {
        postgres_client admin;
        admin.run("DROP SCHEMA IF EXISTS " + business_ + ", " + schema_ + " CASCADE");
    } catch (const std::exception&) {  // The server goes with everything in it.
    }
}

std::string postgres_place::url() const {
    return postgres_url() + "?options=-csearch_path%3D" + business_ + "," + schema_;
}

}  // namespace posthorn::test
