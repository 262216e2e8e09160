/* URLs according to the WHATWG URL Standard: one parser for every untrusted URL, so that no two
 * parts of the program see different hosts in one text. */
#ifndef PL_WIRE_URL_H
#define PL_WIRE_URL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "wire/address.h"

enum pl_url_host_kind {
    PL_URL_HOST_NONE,    /* null */
    PL_URL_HOST_EMPTY,   /* "file:///x" */
    PL_URL_HOST_DOMAIN,  /* ASCII, lower case, after IDNA */
    PL_URL_HOST_ADDRESS, /* IPv4 or IPv6 in any spelling */
    PL_URL_HOST_OPAQUE,  /* host of an unknown scheme */
};

struct pl_url {
    struct pl_str scheme; /* without ':' */
    struct pl_str username, password;
    enum pl_url_host_kind host_kind;
    struct pl_str host; /* as serialized: "[::1]", "127.0.0.1", "xn--…"; empty if there is none */
    struct pl_address address; /* for PL_URL_HOST_ADDRESS */
    int32_t port;              /* -1: null (the scheme's default) */
    struct pl_str path;        /* as serialized; also an opaque path */
    bool has_opaque_path;
    struct pl_str query, fragment; /* without '?' and '#'; ptr NULL: null */
};

/* base may be NULL. PL_SYNTAX with a message; PL_NOMEM. Strings are in the arena. Text that is not
 * UTF-8 is refused. */
enum pl_status pl_url_parse(struct pl_arena *arena, struct pl_str text, const struct pl_url *base,
                            struct pl_url *ret_url, struct pl_error *err);
/* Appends the whole URL. */
void pl_url_write(const struct pl_url *url, struct pl_buf *to);
/* Appends the percent-decoded bytes; a percent sign without two digits stays. */
void pl_url_decode(struct pl_str text, struct pl_buf *to);
/* 80 for "http", 443 for "https" …; -1 if the scheme has no default. */
int32_t pl_url_default_port(struct pl_str scheme);

#endif
