/* The maximum rights of an extension: its manifest (seed 004, capability_manifest), parsed and
 * compared.
 *
 * Two manifests limit a running extension: the one that a person accepted, and the one it
 * registered with. A call must be allowed by both, so a register can only narrow the rights. */
#ifndef PL_EXTPROTO_MANIFEST_H
#define PL_EXTPROTO_MANIFEST_H

#include "extproto/host_scope.h"

struct pl_ext_texts {
    struct pl_str *items; /* arena */
    size_t n;
    bool is_given; /* false: the list is absent, which differs from empty */
};

struct pl_ext_requirement {
    enum pl_ext_capability capability;
    struct pl_ext_texts methods; /* absent: every method of the capability */
    struct pl_ext_texts paths;   /* globs; absent: the whole workspace */
    struct pl_ext_host *hosts;   /* arena; none: no host */
    size_t n_hosts;
    struct pl_ext_texts env; /* names; absent: none */
};

struct pl_ext_manifest {
    struct pl_ext_requirement *requirements; /* arena */
    size_t n;
};

/* Reads `capability_manifest`, or else the flat `capabilities`, of an object that matches its
 * schema (a register, an extension.json). Without both, only log is allowed. PL_INVALID: an unknown
 * capability or a forbidden scope; err has the pointer and the reason. PL_NOMEM. */
enum pl_status pl_ext_manifest_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                                    const struct pl_json_node *object,
                                    struct pl_ext_manifest *ret_manifest, struct pl_error *err);

/* The set of the manifest's capabilities. */
uint32_t pl_ext_manifest_capabilities(const struct pl_ext_manifest *manifest);

/* A call, as checked against a manifest. */
struct pl_ext_wish {
    enum pl_ext_capability capability;
    struct pl_str method;      /* lower case */
    const struct pl_str *path; /* clean; NULL: no path */
    const struct pl_str *url;  /* NULL: none */
    const struct pl_str *env;  /* a name; NULL: none */
};

/* PL_EXT_REASON_COUNT: allowed. Otherwise the reason: NOT_DECLARED, METHOD_NOT_DECLARED, SCOPE or
 * PRIVATE_ADDRESS. PL_NOMEM. */
enum pl_status pl_ext_manifest_judge(struct pl_arena *arena, const struct pl_ext_manifest *manifest,
                                     const struct pl_ext_wish *wish,
                                     enum pl_ext_reason *ret_reason);

/* Whether `outer` allows everything that `inner` allows. False if this is hard to decide: a person
 * is then asked once too often, never too rarely. */
bool pl_ext_manifest_covers(const struct pl_ext_manifest *outer,
                            const struct pl_ext_manifest *inner);

#endif
