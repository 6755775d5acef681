// Whether a webhook is genuine, in C++ with OpenSSL.
// usage: verify ID TIMESTAMP SIGNATURE SECRET NOW < BODY; exit code 0 if it is.
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

// [verify]
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

struct webhook {
    std::string id, timestamp, signature;  // From the headers.
    std::string body;                      // The bytes as they came.
};

std::string from_base64(std::string_view text) {
    std::string bytes(text.size() / 4 * 3 + 3, '\0');
    const auto size =
        EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                        reinterpret_cast<const unsigned char*>(text.data()), int(text.size()));
    if (size < 0) return {};
    const auto padding = text.size() - text.find_last_not_of('=') - 1;
    bytes.resize(std::size_t(size) - padding);
    return bytes;
}

bool is_genuine(const webhook& came, std::string_view secret, long long now) {
    if (came.timestamp.empty() ||
        came.timestamp.find_first_not_of("0123456789") != std::string::npos ||
        came.timestamp.size() > 15 || std::abs(now - std::stoll(came.timestamp)) > 300)
        return false;
    if (secret.starts_with("whsec_")) secret.remove_prefix(6);
    const auto key = from_base64(secret);
    const auto data = came.id + "." + came.timestamp + "." + came.body;
    std::string wanted(32, '\0');
    HMAC(EVP_sha256(), key.data(), int(key.size()),
         reinterpret_cast<const unsigned char*>(data.data()), data.size(),
         reinterpret_cast<unsigned char*>(wanted.data()), nullptr);
    bool genuine = false;
    std::string_view rest = came.signature;
    while (!rest.empty()) {
        const auto each = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(rest.size(), each.size() + 1));
        if (!each.starts_with("v1,")) continue;
        const auto given = from_base64(each.substr(3));
        genuine |= given.size() == wanted.size() &&
                   CRYPTO_memcmp(given.data(), wanted.data(), wanted.size()) == 0;
    }
    return genuine;
}
// [/verify]

int main(int count, char** words) {
    if (count != 6) return EXIT_FAILURE;
    const std::string body{std::istreambuf_iterator<char>(std::cin), {}};
    const webhook came{.id = words[1], .timestamp = words[2], .signature = words[3], .body = body};
    return is_genuine(came, words[4], std::stoll(words[5])) ? EXIT_SUCCESS : EXIT_FAILURE;
}
