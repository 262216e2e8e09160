/* Whatever replaces a value, nothing crashes, and the output is a document.
 *
 *     swap-property-test FORMAT GOLDEN_DIRECTORY
 *
 * Each value of every golden document of a format is replaced by values of other types, and each
 * result is converted to every format in every mode:
 *   - a refusal has a reason;
 *   - the output parses, and has the types that the schema of its format requires;
 *   - its carry parses, and converts back to the document with the wrong type.
 * The same for carries: a changed carry is refused, or makes a document. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "carry/carry.h"
#include "format/convert.h"
#include "format/gpt_oss/gpt_oss.h"
#include "format/source.h"
#include "property/swap.h"
#include "schema/builtin.h"
#include "schema/schema.h"

#include <stdio.h>

enum { SHOWN = 12, MAX_FORMATS = 16, MODES = 3 };

struct law {
    const struct pl_format *format;
    const char *directory;
    struct pl_schema *schemas[MAX_FORMATS];
    struct pl_schema_run *runs[MAX_FORMATS]; /* NULL: the format has no schema */
    struct pl_workspace space;
    struct pl_arena arena;
    struct pl_converted there, back;
    size_t n_wrong, n_converted, n_refused, n_validated;
};

/* One conversion. */
struct trip {
    struct law *law;
    const char *path; /* of the case */
    struct pl_str text;
    size_t to; /* index in pl_formats */
    enum pl_mode mode;
    enum pl_format_kind kind;
    bool was_valid; /* the schema accepts the output for the original document */
};

static void __attribute__((format(printf, 2, 3))) wrong(struct trip *t, const char *format, ...)
{
    if (t->law->n_wrong++ >= SHOWN)
        return;
    char message[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    print_message("# %s -> %s, mode %d: %s\n#   %.*s\n", t->path, pl_formats[t->to]->name,
                  (int)t->mode, message, (int)(t->text.len < 3000 ? t->text.len : 3000),
                  t->text.ptr);
}

/* Strict: the output must not have duplicate keys. */
static bool parse(struct law *law, struct pl_str text, struct pl_json_doc *ret_doc)
{
    struct pl_json_opts opts = {.allows_lone_surrogates = true};
    return pl_json_parse(&law->arena, text, &opts, ret_doc, NULL) == PL_OK;
}

static bool is_valid(struct law *law, size_t format, const struct pl_json_doc *doc)
{
    bool valid = false;
    return pl_schema_check(law->runs[format], doc, doc->root, &valid) == PL_OK && valid;
}

static bool is_one_of(struct pl_str word, const char *const words[])
{
    for (size_t i = 0; words[i]; i++)
        if (pl_str_eq(word, pl_str_of(words[i])))
            return true;
    return false;
}

/* Whether an error is about something other than a type: a missing member, or words, texts and
 * numbers that the schema does not accept. A conversion does not change these; a swap may cause
 * them. An anyOf or oneOf error follows its reason, which decides. */
static bool is_about_a_value(const struct pl_json_doc *doc, const struct pl_schema_report *report,
                             uint32_t i)
{
    static const char *const always[] = {"required", "minLength", "minimum",
                                         "maximum",  "pattern",   NULL};
    static const char *const of_strings[] = {"enum", "const", NULL};
    static const char *const sums[] = {"anyOf", "oneOf", NULL};
    const struct pl_schema_unit *unit = &report->units[i];
    struct pl_str at = unit->keyword_location;
    size_t last = at.len;
    while (last > 0 && at.ptr[last - 1] != '/')
        last--;
    struct pl_str keyword = pl_str_slice(at, last, at.len);
    if (is_one_of(keyword, of_strings))
        return doc->text.ptr[unit->offset] == '"';
    if (is_one_of(keyword, sums))
        return i > 0 &&
               pl_str_starts(report->units[i - 1].instance_location, unit->instance_location);
    return is_one_of(keyword, always);
}

static void check_types(struct trip *t, const struct pl_json_doc *doc)
{
    struct pl_schema_report report;
    if (!t->was_valid)
        return;
    t->law->n_validated++;
    if (is_valid(t->law, t->to, doc))
        return;
    if (pl_schema_explain(t->law->runs[t->to], &t->law->arena, doc, doc->root, PL_SCHEMA_EN,
                          &report) != PL_OK) {
        wrong(t, "the schema cannot say what is wrong");
        return;
    }
    for (uint32_t i = 0; i < report.n_units; i++)
        if (!is_about_a_value(doc, &report, i)) {
            wrong(t, "at %.*s: %.*s", PL_STR_ARG(report.units[i].instance_location),
                  PL_STR_ARG(report.units[i].message));
            return;
        }
}

static void check_home(struct trip *t)
{
    struct law *law = t->law;
    struct pl_error err = {0};
    struct pl_convert_opts opts = {.from = pl_formats[t->to],
                                   .to = law->format,
                                   .kind = t->kind,
                                   .way_home = &pl_carry_way,
                                   .carry = pl_buf_str(&law->there.carry)};
    if (pl_convert(pl_buf_str(&law->there.out), &opts, &law->back, &err) != PL_OK)
        wrong(t, "home: %s", err.message);
    else if (!pl_str_eq(pl_buf_str(&law->back.out), t->text))
        wrong(t, "home is another text");
}

static void check_document(struct trip *t)
{
    struct law *law = t->law;
    struct pl_json_doc doc;
    struct pl_str out = pl_buf_str(&law->there.out);
    if (pl_formats[t->to] == &pl_format_gpt_oss)
        return; /* text; converting it back checks it */
    if (!parse(law, out, &doc))
        wrong(t, "the output is no JSON: %.*s", (int)(out.len < 300 ? out.len : 300), out.ptr);
    else if (law->runs[t->to] && t->kind == PL_KIND_REQUEST && pl_formats[t->to] != law->format)
        check_types(t, &doc);
}

static void check_trip(struct trip *t)
{
    struct law *law = t->law;
    struct pl_error err = {0};
    struct pl_json_doc doc;
    struct pl_convert_opts opts = {.from = law->format,
                                   .to = pl_formats[t->to],
                                   .kind = t->kind,
                                   .mode = t->mode,
                                   .way_home = t->mode == PL_MODE_CONVERT ? &pl_carry_way : NULL,
                                   .workspace = &law->space};
    pl_arena_reset(&law->arena);
    enum pl_status status = pl_convert(t->text, &opts, &law->there, &err);
    if (status != PL_OK) {
        law->n_refused++;
        if (status != PL_INVALID || !err.message[0])
            wrong(t, "refused with status %d and \"%s\"", (int)status, err.message);
        return;
    }
    law->n_converted++;
    check_document(t);
    if (!parse(law, pl_buf_str(&law->there.report), &doc))
        wrong(t, "the report is no JSON");
    if (t->mode != PL_MODE_CONVERT)
        return;
    if (!parse(law, pl_buf_str(&law->there.carry), &doc))
        wrong(t, "the carry is no JSON");
    if (pl_formats[t->to] != law->format)
        check_home(t);
}

/* The gateway refuses a wrong type, or accepts the document. */
static void check_gateway(struct trip *t)
{
    struct law *law = t->law;
    struct pl_error err = {0};
    struct pl_convert_opts opts = {.from = law->format,
                                   .to = pl_formats[t->to],
                                   .mode = PL_MODE_GATEWAY,
                                   .refuses_wrong_types = true,
                                   .workspace = &law->space};
    enum pl_status status = pl_convert(t->text, &opts, &law->there, &err);
    if (status != PL_OK && (status != PL_INVALID || !err.message[0]))
        wrong(t, "the gateway refuses with status %d and \"%s\"", (int)status, err.message);
}

/* Whether the output for the original document is valid. */
static bool is_good(struct law *law, struct pl_str text, size_t to, enum pl_mode mode,
                    enum pl_format_kind kind)
{
    struct pl_json_doc doc;
    struct pl_convert_opts opts = {
        .from = law->format, .to = pl_formats[to], .kind = kind, .mode = mode};
    pl_arena_reset(&law->arena);
    return law->runs[to] && pl_convert(text, &opts, &law->there, NULL) == PL_OK &&
           parse(law, pl_buf_str(&law->there.out), &doc) && is_valid(law, to, &doc);
}

static void check_swaps(struct law *law, const struct pl_golden *golden, struct pl_str text,
                        const struct pl_json_doc *doc)
{
    struct trip t = {.law = law,
                     .path = golden->path,
                     .kind = golden->is_response ? PL_KIND_RESPONSE : PL_KIND_REQUEST};
    bool was_valid[MAX_FORMATS][MODES];
    PL_CLEANUP_BUF struct pl_buf swapped;
    pl_buf_init(&swapped, 0);
    for (size_t to = 0; pl_formats[to]; to++)
        for (int mode = 0; mode < MODES; mode++)
            was_valid[to][mode] = is_good(law, text, to, (enum pl_mode)mode, t.kind);
    for (const struct pl_json_node *n = doc->root; n < doc->root + doc->n_nodes; n++)
        for (size_t i = 0; pl_swaps[i]; i++) {
            if (n->tag & PL_JSON_KEY)
                continue;
            pl_buf_clear(&swapped);
            pl_swap_write(&swapped, doc, n, pl_swaps[i]);
            t.text = pl_buf_str(&swapped);
            for (t.to = 0; pl_formats[t.to]; t.to++) {
                for (int mode = 0; mode < MODES; mode++) {
                    t.mode = (enum pl_mode)mode;
                    t.was_valid = was_valid[t.to][mode];
                    check_trip(&t);
                }
                if (!golden->is_response)
                    check_gateway(&t);
            }
        }
}

static void swap_values(void *ctx, const struct pl_golden *golden)
{
    struct law *law = ctx;
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    struct pl_str text = pl_buf_str(&golden->text);
    assert_int_equal(pl_json_parse(&arena, text, &pl_json_any, &doc, NULL), PL_OK);
    check_swaps(law, golden, text, &doc);
}

static void a_value_of_the_wrong_type_makes_no_wrong_document(void **state)
{
    struct law *law = *state;
    pl_golden_each(law->directory, swap_values, law);
    assert_true(law->n_converted > 1000);
    /* A schema that is never used proves nothing. */
    assert_true(law->n_validated > law->n_converted / 10);
    if (law->n_wrong)
        fail_msg("%zu of %zu conversions are wrong", law->n_wrong, law->n_converted);
}

static void apply_swapped(struct law *law, struct trip *t, struct pl_str target,
                          struct pl_str carry)
{
    struct pl_error err = {0};
    struct pl_json_doc doc;
    struct pl_convert_opts opts = {.from = pl_formats[t->to],
                                   .to = law->format,
                                   .kind = t->kind,
                                   .way_home = &pl_carry_way,
                                   .carry = carry,
                                   .workspace = &law->space};
    t->text = carry;
    pl_arena_reset(&law->arena);
    enum pl_status status = pl_convert(target, &opts, &law->back, &err);
    if (status != PL_OK && (status != PL_INVALID || !err.message[0]))
        wrong(t, "the carry is refused with status %d and \"%s\"", (int)status, err.message);
    else if (status == PL_OK && law->format != &pl_format_gpt_oss &&
             pl_source_parse(&law->arena, pl_buf_str(&law->back.out), &doc, NULL) != PL_OK)
        wrong(t, "with this carry the output is no document");
    law->n_converted += status == PL_OK;
    law->n_refused += status != PL_OK;
}

static void swap_carries(void *ctx, const struct pl_golden *golden)
{
    struct law *law = ctx;
    struct trip t = {.law = law,
                     .path = golden->path,
                     .kind = golden->is_response ? PL_KIND_RESPONSE : PL_KIND_REQUEST};
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf swapped;
    struct pl_converted made;
    pl_arena_init(&arena, 0);
    pl_buf_init(&swapped, 0);
    pl_converted_init(&made);
    for (t.to = 0; pl_formats[t.to]; t.to++) {
        struct pl_json_doc doc;
        struct pl_convert_opts opts = {
            .from = law->format, .to = pl_formats[t.to], .kind = t.kind, .way_home = &pl_carry_way};
        if (pl_formats[t.to] == law->format ||
            pl_convert(pl_buf_str(&golden->text), &opts, &made, NULL) != PL_OK)
            continue;
        assert_int_equal(pl_json_parse(&arena, pl_buf_str(&made.carry), NULL, &doc, NULL), PL_OK);
        for (const struct pl_json_node *n = doc.root; n < doc.root + doc.n_nodes; n++)
            for (size_t i = 0; pl_swaps[i]; i++) {
                if (n->tag & PL_JSON_KEY)
                    continue;
                pl_buf_clear(&swapped);
                pl_swap_write(&swapped, &doc, n, pl_swaps[i]);
                apply_swapped(law, &t, pl_buf_str(&made.out), pl_buf_str(&swapped));
            }
    }
    pl_converted_deinit(&made);
}

static void a_carry_that_was_changed_makes_a_document_or_is_refused(void **state)
{
    struct law *law = *state;
    law->n_wrong = law->n_converted = law->n_refused = 0;
    pl_golden_each(law->directory, swap_carries, law);
    /* Almost every value of a carry has only one valid form, so few changes pass. */
    assert_true(law->n_refused > 100);
    if (law->n_wrong)
        fail_msg("%zu carries go wrong", law->n_wrong);
}

static void open_schemas(struct law *law)
{
    for (size_t i = 0; pl_formats[i]; i++) {
        const struct pl_schema_builtin *builtin =
            pl_schema_builtin_find(pl_str_of(pl_formats[i]->name));
        assert_true(i < MAX_FORMATS);
        if (!builtin)
            continue;
        assert_int_equal(pl_schema_compile(builtin->text, NULL, &law->schemas[i], NULL), PL_OK);
        assert_int_equal(pl_schema_run_create(law->schemas[i], &law->runs[i]), PL_OK);
    }
}

static void close_law(struct law *law)
{
    for (size_t i = 0; pl_formats[i]; i++) {
        pl_schema_run_destroy(law->runs[i]);
        pl_schema_destroy(law->schemas[i]);
    }
    pl_workspace_deinit(&law->space);
    pl_arena_deinit(&law->arena);
    pl_converted_deinit(&law->there);
    pl_converted_deinit(&law->back);
}

static int begin(void **state)
{
    struct law *law = *state;
    pl_workspace_init(&law->space);
    pl_arena_init(&law->arena, 0);
    pl_converted_init(&law->there);
    pl_converted_init(&law->back);
    open_schemas(law);
    return 0;
}

static int end(void **state)
{
    close_law(*state);
    return 0;
}

int main(int argc, char **argv)
{
    static struct law laws[2];
    const char *name = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < 2; i++) {
        laws[i].format = pl_format_find(pl_str_of(name));
        laws[i].directory = argc > 2 ? argv[2] : NULL;
    }
    if (!laws[0].format || !laws[0].directory) {
        fprintf(stderr, "Usage: swap-property-test FORMAT GOLDEN_DIRECTORY\n");
        return 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate_setup_teardown(a_value_of_the_wrong_type_makes_no_wrong_document,
                                                 begin, end, &laws[0]),
        cmocka_unit_test_prestate_setup_teardown(
            a_carry_that_was_changed_makes_a_document_or_is_refused, begin, end, &laws[1]),
    };
    /* A gpt-oss text has no values to swap, but its carries have. */
    if (laws[0].format == &pl_format_gpt_oss)
        return cmocka_run_group_tests((const struct CMUnitTest[]){tests[1]}, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
