/* Converts a document into another format: parse, read, repair, write, report, carry. */
#ifndef PL_FORMAT_CONVERT_H
#define PL_FORMAT_CONVERT_H

#include "format/way_home.h"

/* The memory of a conversion. A caller that converts repeatedly keeps one: the second conversion of
 * the same size then allocates nothing. */
struct pl_workspace {
    struct pl_arena arena;
    struct pl_conv conv;
    struct pl_writer writer;
    const struct pl_way_home *way_home; /* that has kept `home`; NULL: none */
    struct pl_home_memory *home;        /* owned */
};

void pl_workspace_init(struct pl_workspace *space);
void pl_workspace_deinit(struct pl_workspace *space);

struct pl_convert_opts {
    const struct pl_format *from; /* NULL: by content */
    const struct pl_format *to;
    enum pl_format_kind kind;
    enum pl_mode mode;
    const struct pl_profile *profile; /* of the target; NULL: its default */
    bool is_strict;                   /* refuse losses, and a source that is not strict JSON or
                                         has a duplicate key (PL_SYNTAX) */
    bool refuses_wrong_types;         /* a value of the wrong type is PL_INVALID, with its pointer,
                                       * before anything is written */
    bool is_own;         /* this program wrote the source: it nests a client's document a few
                            levels deeper (limits of pl_json_own) */
    bool keeps_provider; /* as a prefix of the model name: a Parley server reads it */
    bool is_addressed;   /* the URL names the model and whether it streams */
    struct pl_str model; /* its name at the target; empty: that of the source */
    const struct pl_way_home *way_home; /* pl_carry_way (carry/carry.h); NULL: no carry is
                                           written or used */
    struct pl_str carry;           /* of the conversion this one undoes; empty: none. Needs a way
                                      home */
    const struct pl_json_doc *doc; /* the text, already parsed with pl_json_any, not with
                                      is_strict; NULL: not parsed */
    bool skips_report; /* no report is written, and data only for the report is not computed */
    struct pl_workspace *workspace; /* borrowed; NULL: one of its own */
    uint32_t n_called_before;       /* calls of the vendor's tools before this answer: continues
                                       the numbering of ids made for them */
    int64_t made_s;                 /* unix time for an answer without one; 0: unknown */
    size_t max_items; /* messages, parts and tools of the source; 0: PL_CONV_MAX_ITEMS */
    size_t max_bytes; /* of result, report and carry each; 0: by the source (pl_convert_most) */
};

/* Whether a mode refuses a value of the wrong type: a gateway forwards a client's request whole or
 * not at all. Vendors' answers are always accepted. */
static inline bool pl_mode_refuses_wrong_types(enum pl_mode mode, enum pl_format_kind kind)
{
    return mode == PL_MODE_GATEWAY && kind == PL_KIND_REQUEST;
}

/* The longest output for a source of n_bytes: many times as long, since a short source may cause a
 * long report, but at most 1 GiB. */
size_t pl_convert_most(size_t n_bytes);

/* Results. The caller owns the buffers and may pass them in again to reuse their memory. All three
 * are complete or empty. The report is also written if a loss makes the result PL_INVALID. */
struct pl_converted {
    struct pl_buf out, report, carry;
    const struct pl_format *from; /* the format that was read */
    uint32_t n_called;            /* calls of the vendor's tools that have a number */
};

void pl_converted_init(struct pl_converted *c);
void pl_converted_deinit(struct pl_converted *c);

/* PL_SYNTAX or PL_LIMIT: not JSON. PL_LIMIT also if an output would be too long. PL_INVALID: not
 * this format, or losses where these are refused. */
enum pl_status pl_convert(struct pl_str text, const struct pl_convert_opts *opts,
                          struct pl_converted *ret, struct pl_error *err);

#endif
