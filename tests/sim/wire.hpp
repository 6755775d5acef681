#pragma once

#include <string>

#include "app/config/core_options.hpp"
#include "transport/wire/wire_server.hpp"
#include "transport/wire/wire_transport.hpp"

namespace posthorn::sim {

class process;
class network;

/// Where a node's messages leave it: the product's own transport, which writes them out, signs and
/// verifies, with the world's network below and a look at everything above.
///
/// Lifetime: the process and the network outlive it.
/// Threads:  one.
class post final : public transport {
public:
    post(process& from, network& net, const std::string& to);

    task<std::vector<delivery>> deliver(message_batch batch) override;

private:
    process& from_;
    network& net_;
    wire_transport wire_;
    std::string to_;
};

/// The ways out of a simulated process: everything is signed.
class sim_outside final : public connector {
public:
    sim_outside(process& from, network& net) : from_(from), net_(net) {}

    result<std::unique_ptr<transport>> connect(const std::string& destination,
                                               const core_route&) override {
        return std::make_unique<post>(from_, net_, destination);
    }
    [[nodiscard]] bool signs(const core_route&) const override { return true; }
    [[nodiscard]] bool has_secret(std::string_view) const override { return true; }

private:
    process& from_;
    network& net_;
};

/// Where what the product's own server has verified and read goes in, with a look at each answer.
class door final : public receiver {
public:
    door(process& at, network& net) : at_(at), net_(net) {}

    task<std::vector<delivery>> receive(message_batch batch) override;

private:
    process& at_;
    network& net_;
};

}  // namespace posthorn::sim
