// Prints webhooks as they are sent, a line of JSON each, for verifiers that Posthorn did not write.
// Usage: contract_webhooks SECONDS, the time to sign for.
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "security/webhook_signature.hpp"

namespace json = boost::json;
using namespace posthorn;

namespace {

struct sample {
    std::string name;
    std::string body;
    std::vector<secret> live;
    const ed25519_pair* pair = nullptr;
};

json::object shown(const sample& one, std::int64_t now) {
    const webhook_head head{"0190a5b2-7c3e-7d10-8000-00000000002a", now};
    json::array secrets;
    for (const auto& each : one.live) secrets.emplace_back(reveal_webhook_secret(each));
    const std::string shared = "a secret text that subscribers know";
    return {{"name", one.name},
            {"body", one.body},
            {"secrets", std::move(secrets)},
            {"publicKey", one.pair != nullptr ? one.pair->public_text() : ""},
            {"outboxSecret", shared},
            {"headers",
             json::object{{"webhook-id", head.id},
                          {"webhook-timestamp", std::to_string(now)},
                          {"webhook-signature", sign_webhook(head, one.body, one.live, one.pair)},
                          {"x-outbox-signature",
                           sign_outbox(one.body, parse_outbox_secret(shared).value())}}}};
}

}  // namespace

int main(int count, char** words) {
    if (count != 2) return EXIT_FAILURE;
    const auto now = std::stoll(words[1]);
    system_random random;
    const auto made = [&] { return make_webhook_secret(random); };
    const auto pair = ed25519_pair::make(random);
    const auto least = parse_webhook_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").value();
    for (const auto& each : {
             sample{"one secret", R"({"type":"order.placed","data":{"id":42}})", {made()}},
             sample{"a secret of 24 bytes", R"({"a":1})", {least}},
             sample{"during a rotation", R"({"type":"x","data":null})", {made(), made()}},
             sample{"an empty object", "{}", {made()}},
             sample{"other scripts", R"({"name":"Zoë – 注文 – 🦊"})", {made()}},
             sample{"a dot and spaces", " {\"a.b\" : 1 }\n", {made()}},
             sample{"a key pair too", R"({"a":[1,2,3]})", {made()}, &pair},
             sample{"a key pair alone", R"({"a":[1,2,3]})", {}, &pair},
         })
        std::cout << json::serialize(shown(each, now)) << '\n';
    return std::cout.flush() ? EXIT_SUCCESS : EXIT_FAILURE;
}
