/* Hosts that an extension may reach: "api.example", "*.example" (not "example" itself),
 * "api.example:8443", "http://api.example". Without a port, only the scheme's default port; without
 * "http://", only https. */
#ifndef PL_EXTPROTO_HOST_SCOPE_H
#define PL_EXTPROTO_HOST_SCOPE_H

#include "extproto/policy.h"
#include "wire/url.h"

/* A parsed pattern. Its host is in the arena. */
struct pl_ext_host {
    struct pl_str host; /* ASCII, lower case, without a trailing dot */
    int32_t port;       /* as given, or the scheme's default */
    bool is_plain;      /* http:// */
    bool is_suffix;     /* it began with "*." */
};

/* PL_INVALID: not a host pattern; the message has the reason. PL_NOMEM. */
enum pl_status pl_ext_host_read(struct pl_arena *arena, struct pl_str pattern,
                                struct pl_ext_host *ret_host, struct pl_error *err);

/* Whether `outer` allows everything that `inner` allows. */
bool pl_ext_host_covers(const struct pl_ext_host *outer, const struct pl_ext_host *inner);

/* Whether one of the hosts allows this URL. PL_EXT_REASON_COUNT: yes. SCOPE: no. PRIVATE_ADDRESS: a
 * private address or a name of this machine, which no pattern allows. The address of a name is
 * checked again when it is resolved. PL_NOMEM. */
enum pl_status pl_ext_hosts_judge(struct pl_arena *arena, const struct pl_ext_host *hosts,
                                  size_t n_hosts, struct pl_str url,
                                  enum pl_ext_reason *ret_reason);

#endif
