#pragma once

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/executor.hpp"
#include "base/log.hpp"
#include "conformance/store/suite.hpp"
#include "store/postgres/postgres_store.hpp"
#include "support/postgres/postgres_server.hpp"

namespace posthorn::conformance {

/// One node's store, on a schema that others may share.
class a_store {
public:
    explicit a_store(const test::postgres_place& place, const std::string& service = "orders") {
        auto opened =
            postgres::open({.url = place.url(), .schema = place.schema(), .service = service},
                           {time_, writer_, log_});
        if (!opened) throw error(opened.error());
        store_ = *std::move(opened);
    }
    ~a_store() { store_->stop(); }
    a_store(const a_store&) = delete;
    a_store& operator=(const a_store&) = delete;

    result<> run(unit::work_type work) {
        std::promise<result<>> answer;
        store_->submit({.work = std::move(work),
                        .done = [&](result<> value) { answer.set_value(std::move(value)); }});
        return answer.get_future().get();
    }
    result<> put(const message& body) { return run(enqueue(body)); }
    posthorn::store& get() { return *store_; }

private:
    real_clock time_;
    logger log_ = logger::null();
    worker_threads writer_{"writer"};
    std::unique_ptr<posthorn::store> store_;
};

}  // namespace posthorn::conformance
