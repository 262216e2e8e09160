/* Inside the way home. */
#ifndef PL_CARRY_HOME_INT_H
#define PL_CARRY_HOME_INT_H

#include "carry/carry.h"
#include "carry/difference.h"
#include "carry/match.h"
#include "carry/home/home.h"

/* One conversion of a whole document, with all its data. */
struct pl_leg {
    struct pl_str text;      /* borrowed; the input */
    struct pl_json_doc doc;  /* arena; … parsed */
    struct pl_conv conv;     /* owned */
    struct pl_writer writer; /* owned; with all links */
    struct pl_buf out;       /* owned; the output */
    struct pl_json_doc made; /* arena; … parsed; no root before pl_leg_parse() */
    struct pl_labels labels; /* arena; of `made` */
    bool has_labels;         /* … there is one */
    bool is_open;
};

/* The source, the best candidate and another one, and two legs back. */
enum { PL_HOME_LEGS = 5, PL_HOME_TEXTS = 4 };
struct pl_home_memory {
    struct pl_leg legs[PL_HOME_LEGS];   /* owned */
    struct pl_buf texts[PL_HOME_TEXTS]; /* owned; those that nobody has */
};

/* The memory of this way home; NULL: out of memory. */
struct pl_home_memory *pl_home_remember(const struct pl_home *home);
/* A leg that is not open. Its lists and its output have the memory of the last one. */
struct pl_leg *pl_leg_open(struct pl_home_memory *memory);
void pl_leg_close(struct pl_leg *leg); /* NULL is nothing */
/* An empty buffer, and its return. */
struct pl_buf pl_home_take_text(struct pl_home_memory *memory);
void pl_home_give_text(struct pl_home_memory *memory, struct pl_buf *text);

/* Converts `text` in an open leg. PL_INVALID: it cannot be converted. */
enum pl_status pl_leg_run(struct pl_leg *leg, const struct pl_home *home,
                          const struct pl_conversion *conversion, struct pl_str text,
                          struct pl_error *err);
/* pl_leg_run() in two steps: everything but `made`, then `made`. */
enum pl_status pl_leg_write(struct pl_leg *leg, const struct pl_home *home,
                            const struct pl_conversion *conversion, struct pl_str text,
                            struct pl_error *err);
enum pl_status pl_leg_parse(struct pl_leg *leg, const struct pl_home *home, struct pl_error *err);
/* The first half: parses and reads. */
enum pl_status pl_leg_read(struct pl_leg *leg, const struct pl_home *home,
                           const struct pl_conversion *conversion, struct pl_str text,
                           struct pl_error *err);
/* The index of the first link of the writer that is at `off` of the output or later. */
size_t pl_leg_link_at(const struct pl_leg *leg, uint32_t off);

/* Whether a gpt-oss document can be written as text and read again. */
enum pl_status pl_home_check_text(const struct pl_json_doc *doc, struct pl_error *err);
/* A gpt-oss document may say what its text cannot: white space before a message without a header
 * is not content. Replaces *text by the document (arena) that its text gives. */
enum pl_status pl_home_read_as_text(const struct pl_home *home, struct pl_str *text,
                                    struct pl_error *err);

/* Applies values that changed in the target to their places in the source: appends the changed
 * source. `found` are the differences of `there` and the target. *ret_n is the number of changes.
 * All other bytes stay. */
enum pl_status pl_home_set_values(struct pl_buf *to, struct pl_arena *arena,
                                  const struct pl_leg *there, const struct pl_json_doc *target,
                                  const struct pl_differences *found, size_t *ret_n);

/* pl_home_is_said(): whether a link of the leg comes from the bytes [off, off + len) of its source.
 * A pl_merge_is_said_fn: ctx is a pl_home_said. */
struct pl_home_said {
    const uint32_t *offsets; /* arena; of the links, in order */
    size_t n;
};
enum pl_status pl_home_find_said(struct pl_home_said *said, struct pl_arena *arena,
                                 const struct pl_leg *leg);
bool pl_home_is_said(const void *ctx, uint32_t off, uint32_t len);

/* Reports to `conv`, which is of the target, how `there` (the result in the target's format)
 * differs from the target. is_said_anew: only in form. */
enum pl_status pl_home_report(struct pl_conv *conv, const struct pl_leg *there,
                              const struct pl_differences *found,
                              const struct pl_conversion *conversion, bool is_said_anew);

/* Reports members of the target that a later member of the same name replaces, except those that
 * `there` also has. */
enum pl_status pl_home_report_twice(struct pl_conv *conv, struct pl_arena *arena,
                                    const struct pl_json_doc *there);

#endif
