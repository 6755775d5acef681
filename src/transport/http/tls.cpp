#include "transport/http/tls.hpp"

#include <cerrno>
#include <ctime>
#include <fstream>
#include <system_error>

#include <boost/asio/ssl/context.hpp>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace posthorn {

namespace ssl = boost::asio::ssl;

namespace {

template <class... Args>
std::unexpected<error> unusable(fmt::format_string<Args...> text, Args&&... args) {
    return fail(error_code::certificate_unusable, text, std::forward<Args>(args)...);
}

// OpenSSL tells why in its own words; the system's are better for what most often goes wrong.
result<> check_readable(const std::string& file) {
    errno = 0;
    std::ifstream stream(file);
    if (stream && stream.peek() != std::ifstream::traits_type::eof()) return {};
    const int reason = errno;
    return unusable("cannot read {}: {}; correct the path under [tls], or the file's rights", file,
                    reason == 0 ? "it is empty" : std::generic_category().message(reason));
}

result<> check_valid_now(SSL_CTX* context, const std::string& file, const clock& time) {
    const X509* certificate = SSL_CTX_get0_certificate(context);
    std::time_t now = std::chrono::system_clock::to_time_t(
        std::chrono::time_point_cast<std::chrono::system_clock::duration>(time.wall()));
    if (X509_cmp_time(X509_get0_notAfter(certificate), &now) < 0)
        return unusable("the certificate in {} has expired; renew it", file);
    if (X509_cmp_time(X509_get0_notBefore(certificate), &now) > 0)
        return unusable(
            "the certificate in {} is not valid yet; check the machine's clock, or use one that is",
            file);
    return {};
}

result<std::shared_ptr<tls_context>> load_context(const tls_files& files, const clock& time) {
    POSTHORN_TRY(check_readable(files.certificate));
    POSTHORN_TRY(check_readable(files.key));
    auto context = std::make_shared<tls_context>(ssl::context::tlsv13_server);
    // Without this, OpenSSL would ask whoever sits at the terminal.
    context->set_password_callback([](std::size_t, ssl::context::password_purpose) { return ""; });
    boost::system::error_code failure;
    context->use_certificate_chain_file(files.certificate, failure);
    if (failure)
        return unusable(
            "{} holds no usable certificate: {}; it must be PEM, the service's own first",
            files.certificate, failure.message());
    context->use_private_key_file(files.key, ssl::context::pem, failure);
    if (failure || SSL_CTX_check_private_key(context->native_handle()) != 1)
        return unusable(
            "the key in {} is not that of the certificate in {}{}{}; give both from one "
            "request, the key without a pass phrase",
            files.key, files.certificate, failure ? ": " : "", failure ? failure.message() : "");
    POSTHORN_TRY(check_valid_now(context->native_handle(), files.certificate, time));
    // Our clients resume nothing, and a ticket is written to peers that may be gone already.
    SSL_CTX_set_num_tickets(context->native_handle(), 0);
    return context;
}

}  // namespace

result<std::unique_ptr<tls_server>> tls_server::load(tls_files files, const clock& time) {
    auto context = load_context(files, time);
    if (!context) return std::unexpected(std::move(context).error());
    return std::unique_ptr<tls_server>(new tls_server(std::move(files), time, *std::move(context)));
}

result<> tls_server::reload() {
    auto context = load_context(files_, time_);
    if (!context) return std::unexpected(std::move(context).error());
    const std::lock_guard lock(mutex_);
    context_ = *std::move(context);
    return {};
}

std::shared_ptr<tls_context> tls_server::current() const {
    const std::lock_guard lock(mutex_);
    return context_;
}

result<std::shared_ptr<tls_context>> make_tls_client(const std::string& authorities) {
    auto context = std::make_shared<tls_context>(ssl::context::tlsv13_client);
    context->set_verify_mode(ssl::verify_peer);
    boost::system::error_code failure;
    if (authorities.empty()) {
        context->set_default_verify_paths(failure);
        if (failure)
            return unusable("the system's authorities cannot be read: {}; name a file of your own",
                            failure.message());
        return context;
    }
    POSTHORN_TRY(check_readable(authorities));
    context->load_verify_file(authorities, failure);
    if (failure)
        return unusable("{} holds no authority: {}; it must be PEM", authorities,
                        failure.message());
    return context;
}

}  // namespace posthorn
