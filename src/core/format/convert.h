/* One document into another format: parse, read, repair, write, report, carry. */
#ifndef PL_FORMAT_CONVERT_H
#define PL_FORMAT_CONVERT_H

#include "format/way_home.h"

/* What a conversion works with. Who converts again and again keeps one, and the second conversion
 * of the same size takes no heap. */
struct pl_workspace {
    struct pl_arena arena;
    struct pl_conv conv;
    struct pl_writer writer;
};

void pl_workspace_init(struct pl_workspace *space);
void pl_workspace_deinit(struct pl_workspace *space);

struct pl_convert_opts {
    const struct pl_format *from; /* NULL: by content */
    const struct pl_format *to;
    enum pl_format_kind kind;
    enum pl_mode mode;
    const struct pl_profile *profile; /* of the target; NULL: its default */
    bool is_strict;                   /* refuse what would lose something, and a source that is no
                                         JSON of RFC 8259 or has a key twice (PL_SYNTAX) */
    bool refuses_wrong_types;         /* a value of another type than belongs in its place makes it
                                         PL_INVALID, with its pointer, before anything is written */
    bool is_own;                      /* this program wrote the source: what a client may nest
                                         stands in it a few levels down (limits of pl_json_own) */
    bool keeps_provider;              /* in front of a model's name: a server of ours reads it */
    bool is_addressed;   /* where it is sent to says the model, and whether it streams */
    struct pl_str model; /* what the target calls it; empty: as the source does */
    const struct pl_way_home *way_home; /* pl_carry_way (carry/carry.h); NULL: nobody will want to
                                           come home, and no carry is written */
    struct pl_str carry;            /* of the conversion this one undoes; empty: none. Needs a way
                                       home */
    const struct pl_json_doc *doc;  /* the text, parsed already as vendors read it
                                       (pl_json_any), not with is_strict; NULL: not yet */
    struct pl_workspace *workspace; /* borrowed; NULL: one of its own */
    size_t max_items; /* messages, parts and tools of the source; 0: PL_CONV_MAX_ITEMS */
    size_t max_bytes; /* of result, report and carry each; 0: by the source (pl_convert_most) */
};

/* Whether a value of the wrong type is refused in a mode: what a client sends through a gateway
 * either arrives whole or does not leave. Answers of vendors are taken as they are. */
static inline bool pl_mode_refuses_wrong_types(enum pl_mode mode, enum pl_format_kind kind)
{
    return mode == PL_MODE_GATEWAY && kind == PL_KIND_REQUEST;
}

/* How long what is made of a source of n_bytes may be: many times as long, since what is short may
 * have much to report, but not without end. At most 1 GiB. */
size_t pl_convert_most(size_t n_bytes);

/* Results; the buffers are owned by the caller, who may hand them in again: then their memory is
 * used again. All three are complete or empty, but for the report, which is there also when the
 * answer is PL_INVALID for a loss. */
struct pl_converted {
    struct pl_buf out, report, carry;
    const struct pl_format *from; /* the format that was read */
};

void pl_converted_init(struct pl_converted *c);
void pl_converted_deinit(struct pl_converted *c);

/* PL_SYNTAX or PL_LIMIT: not JSON; PL_LIMIT also when more would be made of it than may be.
 * PL_INVALID: not this format, or lossy where that was refused. */
enum pl_status pl_convert(struct pl_str text, const struct pl_convert_opts *opts,
                          struct pl_converted *ret, struct pl_error *err);

#endif
