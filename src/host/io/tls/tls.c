/* The certificate, the key and the settings of TLS. OpenSSL is initialised on first use and keeps
 * its own allocator: other libraries of this process share it and do not know our hook. */
#include "io/tls/tls_int.h"

#include "base/mem.h"

#include <openssl/err.h>

static const unsigned char alpn[] = "\x08http/1.1";

/* If the client offers protocols without ours, it gets a fatal alert (RFC 7301, 3.2). */
static int choose_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_len,
                           const unsigned char *offered, unsigned offered_len, void *ctx)
{
    (void)ssl;
    (void)ctx;
    int result = SSL_select_next_proto((unsigned char **)ret, ret_len, alpn, sizeof alpn - 1,
                                       offered, offered_len);
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* Otherwise OpenSSL would ask on the terminal. */
static int refuse_password(char *to, int size, int is_writing, void *ctx)
{
    (void)to;
    (void)size;
    (void)is_writing;
    (void)ctx;
    return -1;
}

static const char *reason(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    return text ? text : "unknown reason";
}

static enum pl_status load(SSL_CTX *context, const char *cert_path, const char *key_path,
                           struct pl_error *err)
{
    if (SSL_CTX_use_certificate_chain_file(context, cert_path) != 1)
        return pl_fail(err, PL_UNREADABLE,
                       "the certificate %s cannot be read (%s); it must be a chain in PEM",
                       cert_path, reason());
    if (SSL_CTX_use_PrivateKey_file(context, key_path, SSL_FILETYPE_PEM) == 1)
        return PL_OK;
    if (ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH)
        return pl_fail(err, PL_INVALID, "the key %s does not belong to the certificate %s",
                       key_path, cert_path);
    return pl_fail(err, PL_UNREADABLE,
                   "the private key %s cannot be read (%s); it must be PEM without a password",
                   key_path, reason());
}

static void set_rules(SSL_CTX *context)
{
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF); /* tickets need no memory here */
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    SSL_CTX_set_default_passwd_cb(context, refuse_password);
}

enum pl_status pl_tls_create(const char *cert_path, const char *key_path, struct pl_tls **ret_tls,
                             struct pl_error *err)
{
    struct pl_tls *tls = pl_mem_alloc(1, sizeof *tls);
    if (!tls)
        return pl_fail(err, PL_NOMEM, "out of memory for TLS");
    atomic_init(&tls->n_refs, 1);
    ERR_clear_error();
    tls->context = SSL_CTX_new(TLS_server_method());
    tls->descriptor = pl_tls_descriptor_create();
    enum pl_status status = PL_OK;
    if (!tls->context || !tls->descriptor) {
        status = pl_fail(err, PL_IO, "OpenSSL cannot be set up: %s", reason());
    } else {
        set_rules(tls->context);
        status = load(tls->context, cert_path, key_path, err);
    }
    ERR_clear_error();
    if (status != PL_OK) {
        pl_tls_unref(tls);
        return status;
    }
    *ret_tls = tls;
    return PL_OK;
}

struct pl_tls *pl_tls_ref(struct pl_tls *tls)
{
    if (tls)
        atomic_fetch_add_explicit(&tls->n_refs, 1, memory_order_relaxed);
    return tls;
}

void pl_tls_unref(struct pl_tls *tls)
{
    if (!tls || atomic_fetch_sub_explicit(&tls->n_refs, 1, memory_order_acq_rel) > 1)
        return;
    SSL_CTX_free(tls->context);
    BIO_meth_free(tls->descriptor);
    pl_mem_free(tls);
}

/* Equal certificates imply equal keys: pl_tls_create checked that they match. */
bool pl_tls_is_same(const struct pl_tls *a, const struct pl_tls *b)
{
    STACK_OF(X509) *chain_a = NULL, *chain_b = NULL;
    if (!a || !b)
        return a == b;
    if (X509_cmp(SSL_CTX_get0_certificate(a->context), SSL_CTX_get0_certificate(b->context)) != 0)
        return false;
    SSL_CTX_get0_chain_certs(a->context, &chain_a);
    SSL_CTX_get0_chain_certs(b->context, &chain_b);
    int n = chain_a ? sk_X509_num(chain_a) : 0;
    bool is_same = n == (chain_b ? sk_X509_num(chain_b) : 0);
    for (int i = 0; is_same && i < n; i++)
        is_same = X509_cmp(sk_X509_value(chain_a, i), sk_X509_value(chain_b, i)) == 0;
    return is_same;
}
