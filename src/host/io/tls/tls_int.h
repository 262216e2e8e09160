#ifndef PL_IO_TLS_INT_H
#define PL_IO_TLS_INT_H

#include "io/net/conn.h"

#include <openssl/ssl.h>

/* Shared by all loops; OpenSSL locks the parts that it changes. */
struct pl_tls {
    _Atomic(size_t) n_refs;
    SSL_CTX *context;       /* owned */
    BIO_METHOD *descriptor; /* owned: how a connection reads from and writes to its descriptor */
};

/* conn.c: creates the method above; NULL when out of memory. */
BIO_METHOD *pl_tls_descriptor_create(void);

#endif
