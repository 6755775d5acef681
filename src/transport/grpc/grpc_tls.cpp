#include "transport/grpc/grpc_tls.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace posthorn {

namespace tls = grpc::experimental;

namespace {

constexpr unsigned look_again_seconds = 10;

result<std::string> read_pem(const std::string& file) {
    if (file.empty()) return std::string{};
    errno = 0;
    std::ifstream stream(file);
    std::string text(std::istreambuf_iterator<char>(stream), {});
    if (!text.empty()) return text;
    return fail(error_code::certificate_unusable,
                "cannot read {}: {}; correct the path under [tls], or the file's rights", file,
                errno == 0 ? "it is empty" : std::generic_category().message(errno));
}

struct free_x509 {
    void operator()(X509* one) const { X509_free(one); }
};
using x509_ptr = std::unique_ptr<X509, free_x509>;

x509_ptr parse_pem(std::string_view pem) {
    BIO* const bytes = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
    x509_ptr read(PEM_read_bio_X509(bytes, nullptr, nullptr, nullptr));
    BIO_free(bytes);
    return read;
}

/// Asks of a server's certificate what our HTTP does: that it is for the host and, where peers must
/// show who they are, for the service too. Its own check takes a `*` for a service.
class name_check final : public tls::ExternalCertificateVerifier {
public:
    name_check(std::string host, std::string service)
        : host_(std::move(host)), service_(std::move(service)) {}

    bool Verify(tls::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)>,
                grpc::Status* said) override {
        const auto shown = request->peer_cert();
        const auto certificate = parse_pem({shown.data(), shown.size()});
        if (certificate == nullptr) {
            *said = refuse("it has shown no certificate");
        } else if (X509_check_host(certificate.get(), host_.data(), host_.size(), 0, nullptr) !=
                       1 &&
                   X509_check_ip_asc(certificate.get(), host_.c_str(), 0) != 1) {
            *said = refuse(fmt::format("its certificate is not for {}", host_));
        } else if (const auto names = names_in(certificate.get());
                   !service_.empty() && std::ranges::find(names, service_) == names.end()) {
            *said = refuse(fmt::format("its certificate is not that of the service {}", service_));
        }
        return true;  // At once.
    }
    void Cancel(tls::TlsCustomVerificationCheckRequest*) override {}

private:
    static grpc::Status refuse(const std::string& why) {
        return {grpc::StatusCode::UNAUTHENTICATED, why};
    }

    std::string host_;
    std::string service_;
};

}  // namespace

std::vector<std::string> names_in_pem(std::string_view pem) {
    const auto certificate = parse_pem(pem);
    return certificate == nullptr ? std::vector<std::string>{} : names_in(certificate.get());
}

result<std::shared_ptr<grpc::ServerCredentials>> grpc_server_credentials(const tls_files& files) {
    if (files.certificate.empty()) return grpc::InsecureServerCredentials();
    for (const auto& file : {files.certificate, files.key, files.peer_authority})
        POSTHORN_TRY(read_pem(file));
    const bool mutual = !files.peer_authority.empty();
    tls::TlsServerCredentialsOptions options(std::make_shared<tls::FileWatcherCertificateProvider>(
        files.key, files.certificate, files.peer_authority, look_again_seconds));
    options.watch_identity_key_cert_pairs();
    if (mutual) options.watch_root_certs();
    options.set_cert_request_type(mutual
                                      ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                      : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
    return tls::TlsServerCredentials(options);
}

result<std::shared_ptr<grpc::ChannelCredentials>> grpc_channel_credentials(
    const grpc_trust& trust) {
    const auto roots = read_pem(trust.authority);
    const auto chain = read_pem(trust.own.certificate);
    const auto key = read_pem(trust.own.key);
    for (const auto* const each : {&roots, &chain, &key}) POSTHORN_TRY(*each);
    tls::TlsChannelCredentialsOptions options;
    if (!chain->empty()) {
        options.set_certificate_provider(std::make_shared<tls::StaticDataCertificateProvider>(
            *roots, std::vector{tls::IdentityKeyCertPair{*key, *chain}}));
        options.watch_identity_key_cert_pairs();
    } else if (!roots->empty()) {
        options.set_certificate_provider(
            std::make_shared<tls::StaticDataCertificateProvider>(*roots));
    }
    if (!roots->empty()) options.watch_root_certs();
    options.set_certificate_verifier(
        tls::ExternalCertificateVerifier::Create<name_check>(trust.host, trust.peer_name));
    options.set_check_call_host(false);
    return tls::TlsCredentials(options);
}

}  // namespace posthorn
