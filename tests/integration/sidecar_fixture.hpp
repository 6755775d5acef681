#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "support/process.hpp"
#include "support/raw_http.hpp"
#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::integration {

inline constexpr test::process_end exit_0{0, 0};
inline constexpr test::process_end exit_2{2, 0};

/// The real program on a configuration file, as a service in another language has it beside itself.
class sidecar {
public:
    /// `text` is what follows service, store and listeners; `places` is how many lines it prints.
    sidecar(const test::temporary_directory& in, std::string id, const std::string& text,
            const test::process_options& options = {}, int places = 2)
        : file_(in.file(id + ".toml")), database_(in.file(id + ".db")), id_(std::move(id)) {
        configure(text);
        child_ = std::make_unique<test::process>(
            std::vector<std::string>{POSTHORN_PROGRAM, "serve", "--config", file_}, options);
        for (int i = 0; i < places; ++i) lines_.push_back(child_->read_line().value_or(""));
        EXPECT_NE(lines_.back(), "") << child_->err();
    }

    void configure(const std::string& text) const {
        std::ofstream(file_) << "[service]\nid = \"" << id_ << "\"\n[store]\nurl = \"sqlite:" << id_
                             << ".db\"\n"
                             << text;
    }

    [[nodiscard]] test::process& child() { return *child_; }
    [[nodiscard]] test::sqlite_file database() const { return test::sqlite_file(database_); }
    [[nodiscard]] const std::string& line(std::size_t place) const { return lines_.at(place); }
    [[nodiscard]] std::string port(std::size_t place = 0) const {
        return std::to_string(test::port_in(lines_.at(place)));
    }

    /// As a service does it: a row in a transaction of its own.
    void send(const std::string& destination, const std::string& endpoint,
              const std::string& payload) const {
        database().run("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('" +
                       destination + "', '" + endpoint + "', '" + payload + "')");
    }
    /// Whether a query comes to give the number.
    [[nodiscard]] bool comes_to(const std::string& sql, std::int64_t wanted) const {
        return test::eventually([&] { return database().integer(sql) == wanted; });
    }
    /// Whether the log comes to say it.
    [[nodiscard]] bool says(const std::string& text) {
        return test::eventually([&] {
            static_cast<void>(child_->read_line(std::chrono::milliseconds(5)));
            return child_->err().find(text) != std::string::npos;
        });
    }
    void stop() {
        child_->send_signal(SIGTERM);
        EXPECT_EQ(child_->wait(), exit_0) << child_->err();
    }

private:
    std::string file_;
    std::string database_;
    std::string id_;
    std::unique_ptr<test::process> child_;
    std::vector<std::string> lines_;
};

inline constexpr auto free_ports = "[listen]\nhttp = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n";
inline constexpr auto key_text = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// `[secrets]` with one for a peer.
[[nodiscard]] inline std::string secret_with(const std::string& peer) {
    return "[secrets]\n" + peer + " = \"" + key_text + "\"\n";
}

}  // namespace posthorn::integration
