/* What an extension may do at most: its manifest (seed 004, capability_manifest), read and compared.
 *
 * Two manifests bind a running extension: the one that a person accepted, and the one it registered with.
 * A call must fit both, so a register narrows and never widens. */
#ifndef PL_EXTPROTO_MANIFEST_H
#define PL_EXTPROTO_MANIFEST_H

#include "extproto/host_scope.h"

struct pl_ext_texts {
    struct pl_str *items; /* arena */
    size_t n;
    bool is_given; /* false: the list is absent, which is not the same as empty */
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

/* Reads `capability_manifest`, or else the flat `capabilities`, of an object that fits its schema (a
 * register, an extension.json). With neither, only log is allowed. PL_INVALID: an unknown capability or a
 * scope that may not be; err has the pointer and the reason. PL_NOMEM. */
enum pl_status pl_ext_manifest_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                                    const struct pl_json_node *object,
                                    struct pl_ext_manifest *ret_manifest, struct pl_error *err);

/* The set of its capabilities. */
uint32_t pl_ext_manifest_capabilities(const struct pl_ext_manifest *manifest);

/* A call as the manifest sees it. */
struct pl_ext_wish {
    enum pl_ext_capability capability;
    struct pl_str method;      /* lower case */
    const struct pl_str *path; /* clean; NULL: none is concerned */
    const struct pl_str *url;  /* NULL: none */
    const struct pl_str *env;  /* a name; NULL: none */
};

/* PL_EXT_REASON_COUNT: it is allowed. Otherwise the reason: NOT_DECLARED, METHOD_NOT_DECLARED, SCOPE or
 * PRIVATE_ADDRESS. PL_NOMEM. */
enum pl_status pl_ext_manifest_judge(struct pl_arena *arena, const struct pl_ext_manifest *manifest,
                                     const struct pl_ext_wish *wish,
                                     enum pl_ext_reason *ret_reason);

/* Whether everything that `inner` allows is allowed by `outer`. Where that is not plain to see, false: a
 * person is asked once more than needed, never once less. */
bool pl_ext_manifest_covers(const struct pl_ext_manifest *outer,
                            const struct pl_ext_manifest *inner);

#endif
