// Redis Streams, synced before every answer (appendfsync always), over its Unix socket with
// hiredis.
#include <stdexcept>
#include <vector>

#include <hiredis/hiredis.h>

#include "measure/pace.hpp"
#include "peers/peer.hpp"
#include "peers/server.hpp"

namespace posthorn::bench {
namespace {

using reply_pointer = std::unique_ptr<redisReply, void (*)(void*)>;

/// One connection.
class redis_wire {
public:
    explicit redis_wire(const std::string& path) : raw_(redisConnectUnix(path.c_str())) {
        if (raw_ == nullptr || raw_->err != 0) {
            if (raw_ != nullptr) redisFree(raw_);
            throw std::runtime_error("cannot reach Redis");
        }
    }
    ~redis_wire() { redisFree(raw_); }
    redis_wire(const redis_wire&) = delete;
    redis_wire& operator=(const redis_wire&) = delete;

    void ask(const std::vector<std::string_view>& words) {
        texts_.clear();
        sizes_.clear();
        for (const auto word : words) {
            texts_.push_back(word.data());
            sizes_.push_back(word.size());
        }
        redisAppendCommandArgv(raw_, static_cast<int>(words.size()), texts_.data(), sizes_.data());
    }
    reply_pointer answer() {
        void* raw = nullptr;
        if (redisGetReply(raw_, &raw) != REDIS_OK)
            throw std::runtime_error(std::string("Redis: ") + raw_->errstr);
        reply_pointer got(static_cast<redisReply*>(raw), freeReplyObject);
        if (got->type == REDIS_REPLY_ERROR) throw std::runtime_error(got->str);
        return got;
    }

private:
    redisContext* raw_;
    std::vector<const char*> texts_;
    std::vector<std::size_t> sizes_;
};

class redis_publisher final : public publisher {
public:
    explicit redis_publisher(const std::string& path) : wire_(path) {}

    void publish(std::span<const std::string> bodies) override {
        for (const auto& body : bodies) wire_.ask({"XADD", "charges", "*", "m", body});
        for (std::size_t i = 0; i < bodies.size(); ++i) wire_.answer();
    }

private:
    redis_wire wire_;
};

class redis_consumer final : public consumer {
public:
    explicit redis_consumer(const std::string& path) : wire_(path) {
        wire_.ask({"XGROUP", "CREATE", "charges", "billing", "0", "MKSTREAM"});
        wire_.answer();
    }

    std::span<const std::string_view> receive() override {
        bodies_.clear();
        ids_.clear();
        wire_.ask({"XREADGROUP", "GROUP", "billing", "one", "COUNT", count_, "BLOCK", "100",
                   "STREAMS", "charges", ">"});
        got_ = wire_.answer();
        if (got_->type != REDIS_REPLY_ARRAY) return {};
        // [[stream, [[id, [field, value]], ...]]]
        const auto* entries = got_->element[0]->element[1];
        for (std::size_t i = 0; i < entries->elements; ++i) {
            const auto* entry = entries->element[i];
            ids_.emplace_back(entry->element[0]->str, entry->element[0]->len);
            const auto* value = entry->element[1]->element[1];
            bodies_.emplace_back(value->str, value->len);
        }
        return bodies_;
    }

    // And takes what lies before them out of the stream, which would grow for ever otherwise. All
    // of that is acknowledged: one consumer takes them in order.
    void acknowledge() override {
        std::vector<std::string_view> words{"XACK", "charges", "billing"};
        words.insert(words.end(), ids_.begin(), ids_.end());
        wire_.ask(words);
        wire_.ask({"XTRIM", "charges", "MINID", "~", ids_.back()});
        wire_.answer();
        wire_.answer();
    }

private:
    redis_wire wire_;
    std::string count_ = std::to_string(batch_max);
    reply_pointer got_{nullptr, freeReplyObject};
    std::vector<std::string_view> bodies_;
    std::vector<std::string_view> ids_;
};

class redis_peer final : public peer {
public:
    explicit redis_peer(const std::filesystem::path& folder)
        : path_((folder / "redis.sock").string()),
          server_({.command = {"redis-server", "--port", "0", "--unixsocket", path_, "--dir",
                               (folder / "redis").string(), "--appendonly", "yes", "--appendfsync",
                               "always", "--save", "", "--auto-aof-rewrite-percentage", "0"},
                   .folder = folder / "redis"}) {
        const auto until = measure::now_ns() + 30'000'000'000;
        while (true) {
            try {
                redis_wire wire(path_);
                wire.ask({"PING"});
                wire.answer();
                return;
            } catch (const std::exception&) {
                if (measure::now_ns() > until) throw;
            }
            server_.check_alive();
            measure::sleep_until(measure::now_ns() + 20'000'000);
        }
    }

    std::unique_ptr<publisher> publish() override {
        return std::make_unique<redis_publisher>(path_);
    }
    std::unique_ptr<consumer> consume() override { return std::make_unique<redis_consumer>(path_); }
    void begin(const arguments& /*given*/) override {
        redis_wire wire(path_);
        wire.ask({"DEL", "charges"});
        wire.answer();
    }
    [[nodiscard]] std::int64_t syncs() const override { return server_.syncs(); }

private:
    std::string path_;
    server server_;
};

peer_program make(const arguments& /*given*/) {
    return {.what = {.name = "redis", .transport = "unix", .note = "appendfsync always"},
            .start = [](const std::filesystem::path& folder, const arguments&) {
                return std::make_shared<redis_peer>(folder);
            }};
}

}  // namespace
}  // namespace posthorn::bench

int main(int count, char** words) {
    return posthorn::bench::peer_main(count, words, posthorn::bench::make);
}
