#include "app/rounds/rounds.hpp"

#include <algorithm>
#include <utility>

namespace posthorn {

result<std::unique_ptr<node_runtime>> open_for_rounds(config settings, std::size_t batch) {
    settings.listen = {
        .http = std::nullopt, .admin = std::nullopt, .grpc = {}, .unix_socket = {}, .pipe = {}};
    const auto adjust = [batch](core_options& core) {
        core.outbox.round_rows = batch;
        core.outbox.timer.reset();
    };
    return node_runtime::open(std::move(settings),
                              {.make_folders = true, .may_call = false, .adjust = adjust});
}

task<result<std::size_t>> take_round(node_core& of) {
    std::size_t rows = 0;
    for (auto* const database : of.databases()) {
        POSTHORN_CO_LET(took, co_await database->dispatcher().round());
        rows += took;
    }
    co_return rows;
}

bool is_at_work(const node_core& of) {
    const auto all = of.databases();
    return std::ranges::all_of(
        all, [](const auto* database) { return database->dispatcher().is_at_work(); });
}

error not_at_work(const config& settings) {
    return error(error_code::store_busy,
                 fmt::format("another node works on {}, and sends what is in it; nothing was done",
                             settings.shown_database()));
}

}  // namespace posthorn
