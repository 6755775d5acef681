// NATS JetStream with file storage, with cnats. The server of Debian 12 syncs its files every two
// minutes, not before it confirms; `sync_interval: always` came with 2.10.
#include <fstream>
#include <stdexcept>
#include <vector>

#include <nats/nats.h>

#include "measure/pace.hpp"
#include "peers/peer.hpp"
#include "peers/server.hpp"

namespace posthorn::bench {
namespace {

void check(natsStatus code, const char* what) {
    if (code != NATS_OK)
        throw std::runtime_error(std::string(what) + ": " + natsStatus_GetText(code));
}

/// One connection with its JetStream.
class nats_wire {
public:
    nats_wire(const std::string& address, bool at_once) {
        natsOptions* options = nullptr;
        check(natsOptions_Create(&options), "options");
        natsOptions_SetURL(options, address.c_str());
        // Each message by itself, or those together that come together.
        natsOptions_SetSendAsap(options, at_once);
        const auto code = natsConnection_Connect(&connection_, options);
        natsOptions_Destroy(options);
        check(code, "NATS");
        check(natsConnection_JetStream(&stream_, connection_, nullptr), "JetStream");
    }
    ~nats_wire() {
        jsCtx_Destroy(stream_);
        natsConnection_Destroy(connection_);
    }
    nats_wire(const nats_wire&) = delete;
    nats_wire& operator=(const nats_wire&) = delete;

    [[nodiscard]] jsCtx* stream() const { return stream_; }

private:
    natsConnection* connection_ = nullptr;
    jsCtx* stream_ = nullptr;
};

class nats_publisher final : public publisher {
public:
    nats_publisher(const std::string& address, bool at_once) : wire_(address, at_once) {}

    void publish(std::span<const std::string> bodies) override {
        for (const auto& body : bodies)
            check(js_PublishAsync(wire_.stream(), "charges", body.data(),
                                  static_cast<int>(body.size()), nullptr),
                  "publish");
        jsPubOptions wait;
        jsPubOptions_Init(&wait);
        wait.MaxWait = 30'000;
        check(js_PublishAsyncComplete(wire_.stream(), &wait), "confirm");
        natsMsgList failed{};
        if (js_PublishAsyncGetPendingList(&failed, wire_.stream()) == NATS_OK) {
            natsMsgList_Destroy(&failed);
            throw std::runtime_error("NATS did not confirm a message");
        }
    }

private:
    nats_wire wire_;
};

class nats_consumer final : public consumer {
public:
    explicit nats_consumer(const std::string& address) : wire_(address, true) {
        make_stream();
        jsSubOptions how;
        jsSubOptions_Init(&how);
        how.Stream = "charges";
        how.ManualAck = true;
        how.Config.Durable = "billing";
        how.Config.AckPolicy = js_AckAll;  // One for all up to it.
        how.Config.MaxAckPending = 4 * static_cast<std::int64_t>(batch_max);
        jsErrCode why{};
        check(js_SubscribeSync(&from_, wire_.stream(), "charges", nullptr, &how, &why),
              "subscribe");
    }
    ~nats_consumer() override {
        release();
        natsSubscription_Destroy(from_);
    }

    std::span<const std::string_view> receive() override {
        release();
        natsMsg* one = nullptr;
        while (got_.size() < batch_max) {
            const auto code = natsSubscription_NextMsg(&one, from_, got_.empty() ? 100 : 0);
            if (code == NATS_TIMEOUT) break;
            check(code, "a delivery");
            got_.push_back(one);
        }
        for (auto* message : got_)
            bodies_.emplace_back(natsMsg_GetData(message),
                                 static_cast<std::size_t>(natsMsg_GetDataLength(message)));
        return bodies_;
    }
    void acknowledge() override { check(natsMsg_Ack(got_.back(), nullptr), "acknowledge"); }

private:
    void make_stream() {
        jsStreamConfig with;
        jsStreamConfig_Init(&with);
        const char* subject = "charges";
        with.Name = "charges";
        with.Subjects = &subject;
        with.SubjectsLen = 1;
        with.Storage = js_FileStorage;
        jsErrCode why{};
        check(js_AddStream(nullptr, wire_.stream(), &with, nullptr, &why), "the stream");
    }

    void release() {
        for (auto* message : got_) natsMsg_Destroy(message);
        got_.clear();
        bodies_.clear();
    }

    nats_wire wire_;
    natsSubscription* from_ = nullptr;
    std::vector<natsMsg*> got_;
    std::vector<std::string_view> bodies_;
};

class nats_peer final : public peer {
public:
    nats_peer(const std::filesystem::path& folder, const arguments& given)
        : port_(free_port()),
          address_("nats://127.0.0.1:" + std::to_string(port_)),
          at_once_(given.load.mode != measure::load_mode::concurrent),
          server_({.command = {"nats-server", "-a", "127.0.0.1", "-p", std::to_string(port_), "-js",
                               "-sd", (folder / "nats").string()},
                   .folder = folder / "nats",
                   .count_syncs = false}) {  // Go makes its system calls itself.
        // Without the client, whose threads would not survive the fork that follows.
        const auto until = measure::now_ns() + 30'000'000'000;
        while (!accepts(port_)) {
            server_.check_alive();
            if (measure::now_ns() > until) throw std::runtime_error("NATS does not start");
            measure::sleep_until(measure::now_ns() + 50'000'000);
        }
    }

    std::unique_ptr<publisher> publish() override {
        return std::make_unique<nats_publisher>(address_, at_once_);
    }
    std::unique_ptr<consumer> consume() override {
        return std::make_unique<nats_consumer>(address_);
    }
    void begin(const arguments& /*given*/) override {}  // Each load has its server.
    [[nodiscard]] std::int64_t syncs() const override { return server_.syncs(); }

private:
    int port_;
    std::string address_;
    bool at_once_;
    server server_;
};

peer_program make(const arguments& /*given*/) {
    return {
        .what = {.name = "nats",
                 .transport = "tcp",
                 .syncs_before_ack = false,
                 .note = "does not sync before it confirms"},
        .start = [](const std::filesystem::path& folder,
                    const arguments& given) { return std::make_shared<nats_peer>(folder, given); },
        .leaves_threads = true};
}

}  // namespace
}  // namespace posthorn::bench

int main(int count, char** words) {
    return posthorn::bench::peer_main(count, words, posthorn::bench::make);
}
