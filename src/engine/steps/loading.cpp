#include "engine/steps/loading.hpp"

#include <utility>

namespace posthorn {

result<> load_instance(store_reader& from, loaded_instance& one) {
    const auto note = [&](const error& why) -> result<> {
        if (why.code() != error_code::store_corrupt) return std::unexpected(why);
        one.damage = why;
        return {};
    };
    auto next = next_mail(from, one.instance);
    if (!next) POSTHORN_TRY(note(next.error()));
    if (next) one.next = *std::move(next);
    if (!one.cached || !one.next) {
        auto end = find_termination(from, one.instance);
        if (!end) return std::unexpected(end.error());
        if (*end) one.next = **std::move(end);
    }
    if (one.cached) return {};
    auto row = find_instance(from, one.instance);
    if (!row) return note(row.error());
    if (!*row || !is_active((*row)->status)) return {};
    one.row = **std::move(row);
    POSTHORN_TRY(ask(
        from, "SELECT command FROM workflow_runs WHERE instance = ? ORDER BY command",
        [&](const sql_row& found) { one.works.push_back(found.get<std::uint32_t>(0)); },
        one.instance));
    const bool is_new = one.row->status == instance_status::starting;
    if (is_new || (!one.next && one.works.empty())) return {};
    auto history = read_history(from, *one.row);
    if (!history) return note(history.error());
    one.history = *std::move(history);
    return {};
}

std::expected<std::unique_ptr<frame>, std::string> build_frame_of(
    const detail::workflow_entry& code, const instance_row& of,
    std::span<const recorded_step> history) {
    auto made = std::make_unique<frame>();
    made->of = of;
    made->of.version = code.version();
    made->code = &code;
    made->steps = std::ssize(history);
    detail::flow_step scratch;
    const auto keep_works = [&](const detail::flow_event& event, detail::flow_step& step) {
        made->works.erase(event.command);
        for (auto& command : step.commands) {
            made->made.add(command.kind);
            if (command.kind == detail::command_kind::run)
                made->works[command.number] =
                    std::make_shared<frame::work::element_type>(std::move(command.run));
        }
    };
    auto built = rebuild(code, run_name(of), history, scratch, keep_works, quoting::nothing);
    if (!built) return std::unexpected(std::move(built.error()));
    made->flow = *std::move(built);
    if (made->steps > 0) {  // They are needed once.
        made->of.arguments.clear();
        made->of.carried.clear();
    }
    return made;
}

}  // namespace posthorn
