#include <array>

#include <pwd.h>
#include <unistd.h>

#include <posthorn/version.hpp>

#include "admin/admin_api.hpp"
#include "app/cli/kit/admin_source.hpp"
#include "app/config/core_settings.hpp"
#include "app/config/feature_keys.hpp"
#include "app/config/node_watch.hpp"
#include "app/features.hpp"
#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "transport/http/router.hpp"

namespace posthorn::cli {
namespace {

/// Who changes a file, as the audit names them.
std::string user_of_process() {
    const auto id = ::geteuid();
    struct passwd entry{};
    struct passwd* found = nullptr;
    std::array<char, 4096> buffer{};
    ::getpwuid_r(id, &entry, buffer.data(), buffer.size(), &found);
    return found != nullptr ? fmt::format("user {}", entry.pw_name) : fmt::format("user {}", id);
}

/// For the owner of a database, who may do everything with it anyway. Changes are kept under the
/// user's name, as those through the admin listener are under a key's.
class file_gate final : public admin_gate {
public:
    explicit file_gate(std::optional<audit>& kept) : audit_(kept) {}

    [[nodiscard]] http_handler guarded(std::optional<admin_role> needed,
                                       admin_handler handler) override {
        auto open = open_.guarded(needed, std::move(handler));
        if (needed != admin_role::operator_) return open;
        return [this, open = std::move(open)](http_request request) {
            return audited(*audit_, user_of_process(), std::move(request), open);
        };
    }
    [[nodiscard]] http_response refuse(const http_request& request, const admin_caller& who,
                                       std::string_view why) override {
        return open_.refuse(request, who, why);
    }
    [[nodiscard]] bool lets_in(const http_request&, admin_role) const override { return true; }

private:
    std::optional<audit>& audit_;  // There before the first request.
    open_gate open_;
};

/// The admin API over a service's databases, whether a node runs on them or not.
///
/// Lifetime: one command; the databases stay open between its questions.
class file_source final : public admin_source {
public:
    explicit file_source(config settings) : settings_(std::move(settings)) {}
    ~file_source() override { network_.stop(); }
    file_source(const file_source&) = delete;
    file_source& operator=(const file_source&) = delete;

    [[nodiscard]] std::string_view name() const override { return "the database"; }

    result<http_response> exchange(const admin_question& what) override {
        if (!outbox_) POSTHORN_TRY(open());
        auto request = to_request(what);
        const auto mark = what.path.find('?');
        request.path = what.path.substr(0, mark);
        if (mark != std::string::npos) request.query = what.path.substr(mark + 1);
        return start(network_.executor(), routes_.handle(std::move(request))).get();
    }

private:
    result<> open() {
        POSTHORN_LET(outbox, database_session::open(settings_));
        outbox_ = std::move(outbox);
        std::vector<store*> stores{&outbox_->store()};
        if (settings_.store.inbox_url) {
            config second = settings_;
            second.store.url = *settings_.store.inbox_url;
            POSTHORN_LET(inbox, database_session::open(second));
            inbox_ = std::move(inbox);
            stores.push_back(&inbox_->store());
        }
        view_.emplace(node_view_deps{.service = settings_.service.id,
                                     .version = std::string(version),
                                     .stores = stores,
                                     .readers = readers_,
                                     .time = clock_,
                                     .worries = [this] { return worries(); },
                                     .of_file = true});
        audit_.emplace(*stores.front(), clock_, log_);
        admin_surface surface(routes_, gate_);
        add_admin_routes(surface, *view_);
        return add_feature_routes(surface, *stores.front(), *stores.back());
    }

    /// Their services do not run: a file is only looked at and changed.
    result<> add_feature_routes(admin_surface& surface, store& database, store& inbox_database) {
        for (const auto* const each : all_features()) {
            node_builder builder({.env = env_,
                                  .database = database,
                                  .inbox_database = inbox_database,
                                  .handlers = handlers_,
                                  .maker = maker_,
                                  .settings = settings_of(settings_, *each),
                                  .endpoints = endpoints_of(settings_, each->handler_word()),
                                  .watch = node_watch_of(settings_)},
                                 features_);
            POSTHORN_TRY(each->install(builder));
        }
        for (const auto& each : features_.admin_routes) surface.add(each);
        return {};
    }

    [[nodiscard]] std::vector<health_worry> worries() const {
        std::vector<health_worry> all;
        for (const auto& told : features_.health)
            for (auto& each : told()) all.push_back(std::move(each));
        return all;
    }

    config settings_;
    real_clock clock_;
    real_timer timer_;
    system_random random_;
    logger log_{{.level = log_level::error}, [this] { return clock_.wall(); }};
    inline_executor readers_;
    io_threads network_{"posthorn-cli"};
    environment env_{clock_, timer_, random_, log_, network_.executor(), readers_, readers_};
    std::unique_ptr<database_session> outbox_;
    std::unique_ptr<database_session> inbox_;  // If it is in a file of its own.
    uuid_generator ids_{[this] { return clock_.wall(); }, random_};
    message_maker maker_{core_settings(settings_).sending, clock_, ids_};
    handlers handlers_;
    feature_parts features_;
    std::optional<audit> audit_;
    file_gate gate_{audit_};
    std::optional<node_view> view_;
    router routes_;
};

}  // namespace

std::unique_ptr<admin_source> make_file_source(config settings) {
    return std::make_unique<file_source>(std::move(settings));
}

}  // namespace posthorn::cli
