/* No edit is silent. Tested with every golden request of one format, every target and every kind of
 * edit, one at a time and two at a time; or with recorded requests, lines of
 * {"id","format","kind","text"}.
 *
 *     edit-property-test FORMAT GOLDEN_DIRECTORY | FILE.ndjson
 *
 * For each golden target, a quarter of the edits and some pairs are tried. PARLEY_EDIT_ROUNDS is
 * the number of rounds, each with other edits; the default is 1. In a recorded request, one target
 * gets one edit, and then two; its id decides which. With PARLEY_EDIT_ALL every kind of edit is
 * made in all of its targets, and pairs. A failure prints the edits and the edited target. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/hash.h"
#include "carry/carry.h"
#include "json/text.h"
#include "property/edit_law.h"
#include "property/edits.h"
#include "property/generate.h"
#include "property/swap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN = 6, PAIRS = 3, GENERATED = 3, ONE_IN = 4, MOST_SHOWN = 4000 };

struct run {
    const struct pl_format *format;
    const char *path; /* a directory of golden cases, or a file of recorded requests */
    bool is_whole;    /* recorded requests: every kind of edit, every target */
    bool has_few;     /* only a few requests were recorded */
    uint64_t rounds, random;
    size_t n_fates[PL_EDIT_WRONG + 1];
    size_t n_made[64]; /* of each kind */
};

/* A converted document and its edited target. */
struct subject {
    struct run *run;
    const char *name;
    struct pl_str source;
    const struct pl_format *to;
    struct pl_converted there; /* owned */
};

static void show(struct subject *s, const struct pl_edit_kind *a, const struct pl_edit_kind *b,
                 struct pl_str edited, struct pl_str why)
{
    if (s->run->n_fates[PL_EDIT_WRONG] > SHOWN)
        return;
    struct pl_str source = pl_str_slice(s->source, 0, MOST_SHOWN);
    edited = pl_str_slice(edited, 0, MOST_SHOWN);
    print_message("# %s %s -> %s, %s%s%s: %.*s\n#   source: %.*s\n#   edited: %.*s\n", s->name,
                  s->run->format->name, s->to->name, a->name, b ? ", " : "", b ? b->name : "",
                  PL_STR_ARG(why), PL_STR_ARG(source), PL_STR_ARG(edited));
}

/* Makes one edit or two; b may be NULL. False: the target has no place for it. */
static bool check_edits(struct subject *s, const struct pl_edit_kind *a,
                        const struct pl_edit_kind *b)
{
    PL_CLEANUP_BUF struct pl_buf once, twice, why;
    pl_buf_init(&once, 0);
    pl_buf_init(&twice, 0);
    pl_buf_init(&why, 0);
    uint64_t first = pl_edit_random(&s->run->random), second = pl_edit_random(&s->run->random);
    if (!pl_edit_apply(a, first, s->to, pl_buf_str(&s->there.out), &once) ||
        (b && !pl_edit_apply(b, second, s->to, pl_buf_str(&once), &twice)))
        return false;
    struct pl_edit_trip trip = {.from = s->run->format,
                                .to = s->to,
                                .carry = pl_buf_str(&s->there.carry),
                                .edited = pl_buf_str(b ? &twice : &once)};
    enum pl_edit_fate fate = pl_edit_law_check(&trip, &why);
    s->run->n_fates[fate]++;
    s->run->n_made[a - pl_edit_kinds]++;
    if (fate == PL_EDIT_WRONG)
        show(s, a, b, trip.edited, pl_buf_str(&why));
    return true;
}

static void check_target(struct subject *s)
{
    struct run *run = s->run;
    for (uint64_t round = 0; round < run->rounds; round++) {
        for (size_t i = 0; i < pl_edit_n_kinds; i++)
            if (run->is_whole || pl_edit_random(&run->random) % ONE_IN == 0)
                (void)check_edits(s, &pl_edit_kinds[i], NULL);
        for (size_t i = 0; i < PAIRS; i++)
            (void)check_edits(s, &pl_edit_kinds[pl_edit_random(&run->random) % pl_edit_n_kinds],
                              &pl_edit_kinds[pl_edit_random(&run->random) % pl_edit_n_kinds]);
    }
}

static void check_source(struct run *run, const char *name, struct pl_str text)
{
    struct subject s = {.run = run, .name = name, .source = text};
    for (size_t i = 0; pl_formats[i]; i++) {
        struct pl_convert_opts opts = {
            .from = run->format, .to = pl_formats[i], .way_home = &pl_carry_way};
        s.to = pl_formats[i];
        pl_converted_init(&s.there);
        if (s.to != run->format && pl_convert(text, &opts, &s.there, NULL) == PL_OK)
            check_target(&s);
        pl_converted_deinit(&s.there);
    }
}

static void check_golden(void *ctx, const struct pl_golden *golden)
{
    if (!golden->is_response)
        check_source(ctx, golden->path, pl_buf_str(&golden->text));
}

static void check_generated(struct run *run)
{
    struct pl_grammar *grammar = pl_grammar_create(pl_grammar_of(run->format->name));
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    for (uint64_t i = 0; i < GENERATED * run->rounds; i++) {
        char name[40];
        pl_buf_clear(&text);
        pl_generate(grammar, i, &text);
        snprintf(name, sizeof name, "made-up %" PRIu64, i);
        check_source(run, name, pl_buf_str(&text));
    }
    pl_grammar_destroy(grammar);
}

/* ---- recorded requests ---- */

/* Tries the first kind from `at` on that the target has a place for, then that kind with the next
 * one. */
static void check_turn(struct subject *s, uint64_t at)
{
    for (size_t i = 0; i < pl_edit_n_kinds; i++) {
        const struct pl_edit_kind *kind = &pl_edit_kinds[(at + i) % pl_edit_n_kinds];
        if (!check_edits(s, kind, NULL))
            continue;
        (void)check_edits(s, kind, &pl_edit_kinds[(at + i + 1) % pl_edit_n_kinds]);
        return;
    }
}

static void check_to(struct run *run, const char *name, struct pl_str text,
                     const struct pl_format *to, uint64_t at)
{
    struct subject s = {.run = run, .name = name, .source = text, .to = to};
    struct pl_convert_opts opts = {.from = run->format, .to = to, .way_home = &pl_carry_way};
    run->random = at | 1;
    pl_converted_init(&s.there);
    if (pl_convert(text, &opts, &s.there, NULL) == PL_OK)
        check_turn(&s, at >> 32);
    pl_converted_deinit(&s.there);
}

/* Checks one target, chosen by the name; all targets if few requests were recorded. */
static void check_once(struct run *run, const char *name, struct pl_str text)
{
    size_t n_formats = 0;
    uint64_t at = pl_hash_quick(pl_str_of(name)); /* the same in every run */
    while (pl_formats[n_formats])
        n_formats++;
    for (size_t i = 0; i < (run->has_few ? n_formats : 1); i++) {
        const struct pl_format *to = pl_formats[(at + i) % n_formats];
        if (to == run->format && !run->has_few)
            to = pl_formats[(at + 1) % n_formats];
        if (to != run->format)
            check_to(run, name, text, to, at + (i << 32));
    }
}

static struct pl_str text_of(struct pl_arena *arena, const struct pl_json_doc *doc, const char *key)
{
    struct pl_str text = {0};
    const struct pl_json_node *n = pl_json_member(doc, doc->root, key, PL_JSON_STRING);
    if (n)
        assert_int_equal(pl_json_text(arena, doc, n, &text), PL_OK);
    return text;
}

static void check_line(struct run *run, struct pl_str line)
{
    char name[64];
    struct pl_json_doc doc;
    struct pl_arena arena;
    pl_arena_init(&arena, 0);
    assert_int_equal(pl_json_parse(&arena, line, &pl_json_any, &doc, NULL), PL_OK);
    struct pl_str kind = text_of(&arena, &doc, "kind"), text = text_of(&arena, &doc, "text");
    bool is_request = pl_str_eq(kind, PL_STR("request")) ||
                      (pl_str_eq(kind, PL_STR("text")) && pl_str_starts(text, PL_STR("<|start|>")));
    snprintf(name, sizeof name, "%.*s", PL_STR_ARG(text_of(&arena, &doc, "id")));
    if (is_request && pl_str_eq(text_of(&arena, &doc, "format"), pl_str_of(run->format->name)))
        (run->is_whole ? check_source : check_once)(run, name, text);
    pl_arena_deinit(&arena);
}

static void check_recorded(struct run *run)
{
    PL_CLEANUP_BUF struct pl_buf lines;
    pl_buf_init(&lines, 0);
    pl_read_whole(run->path, &lines);
    for (struct pl_str rest = pl_buf_str(&lines); rest.len;) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t n = end ? (size_t)(end - rest.ptr) : rest.len;
        if (n)
            check_line(run, pl_str_slice(rest, 0, n));
        rest = pl_str_slice(rest, end ? n + 1 : n, rest.len);
    }
}

static void an_edit_arrives_or_is_reported(void **state)
{
    struct run *run = *state;
    const char *end = strrchr(run->path, '.');
    if (end && strcmp(end, ".ndjson") == 0) {
        check_recorded(run);
    } else {
        pl_golden_each(run->path, check_golden, run);
        check_generated(run);
    }
    size_t n_kinds = 0, n_edits = 0;
    for (size_t i = 0; i < pl_edit_n_kinds; i++)
        n_kinds += run->n_made[i] > 0;
    for (size_t i = 0; i <= PL_EDIT_WRONG; i++)
        n_edits += run->n_fates[i];
    print_message("# %zu edits of %zu kinds: %zu arrived, %zu reported, %zu refused\n", n_edits,
                  n_kinds, run->n_fates[PL_EDIT_ARRIVED], run->n_fates[PL_EDIT_REPORTED],
                  run->n_fates[PL_EDIT_REFUSED]);
    if (run->n_fates[PL_EDIT_WRONG])
        fail_msg("%zu of %zu edits break the law", run->n_fates[PL_EDIT_WRONG], n_edits);
    /* A law that is never checked proves nothing, and neither does one where every edit is only
     * reported. */
    assert_true(n_kinds >= 20);
    assert_true(run->n_fates[PL_EDIT_ARRIVED] > n_edits / 4);
}

int main(int argc, char **argv)
{
    const char *rounds = getenv("PARLEY_EDIT_ROUNDS");
    struct run run = {.format = pl_format_find(pl_str_of(argc > 1 ? argv[1] : "")),
                      .path = argc > 2 ? argv[2] : NULL,
                      .is_whole = getenv("PARLEY_EDIT_ALL") != NULL,
                      .rounds = rounds ? strtoull(rounds, NULL, 10) : 1,
                      .random = 20261117};
    run.has_few = run.format && strcmp(run.format->name, "gpt-oss") == 0;
    if (!run.format || !run.path) {
        fprintf(stderr, "Usage: edit-property-test FORMAT GOLDEN_DIRECTORY | FILE.ndjson\n");
        return 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(an_edit_arrives_or_is_reported, &run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
