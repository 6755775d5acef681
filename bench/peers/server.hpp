#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace posthorn::bench {

struct server_options {
    std::vector<std::string> command;
    std::filesystem::path folder;  // Its log lies here, and it starts here.
    std::map<std::string, std::string> environment{};
    /// Who it runs as where we are root, for one that refuses to be; nobody else if empty.
    std::string user{};
    int stop_signal = 15;
    /// Its syncs are counted; not where it makes its system calls without the C library.
    bool count_syncs = true;
};

/// A server of somebody else's, private to one measurement.
///
/// Lifetime: started by the constructor, stopped by the destructor; it dies with us too.
/// Threads:  one.
class server {
public:
    explicit server(server_options options);
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    /// -1 where they are not counted.
    [[nodiscard]] std::int64_t syncs() const;
    /// Throws, with the end of its log, if it has ended.
    void check_alive();

private:
    [[noreturn]] void become_server(pid_t parent) const;
    [[nodiscard]] std::string log_end() const;

    server_options options_;
    std::uint64_t* syncs_ = nullptr;  // In memory that it shares with us.
    pid_t id_ = -1;
};

/// Runs to its end; throws with what it printed unless that was 0.
void run_to_end(const server_options& what);
[[nodiscard]] int free_port();
/// Whether somebody listens on that port of the loopback.
[[nodiscard]] bool accepts(int port);

}  // namespace posthorn::bench
