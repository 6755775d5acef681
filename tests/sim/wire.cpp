#include "sim/wire.hpp"

#include <utility>

#include "sim/network.hpp"

namespace posthorn::sim {
namespace {

class line final : public wire_channel {
public:
    line(process& from, network& net, std::string to)
        : from_(from), net_(net), to_(std::move(to)) {}

    task<result<wire_reply>> exchange(wire_request request) override {
        return net_.carry(from_, to_, std::move(request));
    }

private:
    process& from_;
    network& net_;
    std::string to_;
};

}  // namespace

post::post(process& from, network& net, const std::string& to)
    : from_(from),
      net_(net),
      wire_(std::make_unique<line>(from, net, to), from.keys(), from.clock(),
            {.source = from.service(), .destination = to}),
      to_(to) {}

task<std::vector<delivery>> post::deliver(message_batch batch) {
    net_.check_leaving(from_, to_, batch);
    auto believed = co_await wire_.deliver(batch);
    net_.check_believed(from_, batch, believed);
    co_return believed;
}

task<std::vector<delivery>> door::receive(message_batch batch) {
    auto given = co_await at_.hub().deliver(at_.service(), batch);
    net_.check_answers(at_, batch, given);
    co_return given;
}

}  // namespace posthorn::sim
