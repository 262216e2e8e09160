/* The three laws of conversion, and edits, on thousands of generated conversations of one format.
 *
 *     convert-property-test FORMAT [DOCUMENTS [FIRST]]
 *
 * A failure prints the number of the document: FORMAT 1 NUMBER runs it alone and prints it. */
#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "carry/carry.h"
#include "format/convert.h"
#include "format/gpt_oss/gpt_oss.h"
#include "json/edit/edit.h"
#include "json/equal.h"
#include "json/text.h"
#include "json/write.h"
#include "property/account.h"
#include "property/generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { DOCUMENTS = 10000, TARGETS = 2, SHOWN = 8 };

/* The subject of a test, and its failures. */
struct law {
    const struct pl_format *format;
    struct pl_grammar *grammar;
    uint64_t first, n_documents;
    bool is_shown;
    size_t n_wrong, n_edits, n_trips;
    size_t n_restated; /* edits that changed more bytes than their own, or were reported */
};

/* One document and its conversion. */
struct trip {
    struct law *law;
    uint64_t number;
    struct pl_str text;
    const struct pl_format *to;
    struct pl_arena arena;
    struct pl_converted there;
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
    print_message("# document %" PRIu64 " %s -> %s: %s\n", t->number, t->law->format->name,
                  t->to->name, message);
}

static enum pl_status convert(struct pl_str text, const struct pl_format *from,
                              const struct pl_format *to, struct pl_str carry,
                              struct pl_converted *ret, struct pl_error *err)
{
    struct pl_convert_opts opts = {
        .from = from, .to = to, .way_home = &pl_carry_way, .carry = carry};
    return pl_convert(text, &opts, ret, err);
}

/* Parses a document of any format; a gpt-oss text is parsed as its equivalent document. */
static bool parse(struct trip *t, const struct pl_format *format, struct pl_str text,
                  struct pl_json_doc *ret_doc)
{
    PL_CLEANUP_BUF struct pl_buf document;
    pl_buf_init(&document, 0);
    if (format == &pl_format_gpt_oss) {
        if (pl_gpt_oss_parse(text, &document, NULL) != PL_OK)
            return false;
        text = pl_arena_dup(&t->arena, pl_buf_str(&document));
    }
    struct pl_json_opts opts = {.allows_lone_surrogates = true};
    return pl_json_parse(&t->arena, text, &opts, ret_doc, NULL) == PL_OK;
}

/* Reports the first difference of two texts. */
static void show_difference(struct trip *t, const char *what, struct pl_str is,
                            struct pl_str wanted)
{
    size_t i = 0;
    while (i < is.len && i < wanted.len && is.ptr[i] == wanted.ptr[i])
        i++;
    struct pl_str a = pl_str_slice(is, i, i + 40), b = pl_str_slice(wanted, i, i + 40);
    wrong(t, "%s: byte %zu is %.*s instead of %.*s", what, i, PL_STR_ARG(a), PL_STR_ARG(b));
}

/* In a changed text, an escape may have moved to another occurrence of the same letter. */
static bool is_respelled(struct trip *t, struct pl_str is, struct pl_str wanted)
{
    struct pl_json_doc a, b;
    bool is_equal = false;
    return is.len == wanted.len && parse(t, NULL, is, &a) && parse(t, NULL, wanted, &b) &&
           pl_json_equal(&a, a.root, &b, b.root, &is_equal) == PL_OK && is_equal;
}

/* Converts the output, or an edited output, back with the carry. */
static void check_home(struct trip *t, const char *what, struct pl_str from, struct pl_str wanted,
                       bool is_edited)
{
    struct pl_converted back;
    struct pl_error err = {0};
    pl_converted_init(&back);
    enum pl_status status =
        convert(from, t->to, t->law->format, pl_buf_str(&t->there.carry), &back, &err);
    if (status != PL_OK)
        wrong(t, "%s: %s", what, err.message);
    else if (!pl_str_eq(pl_buf_str(&back.out), wanted) &&
             !(is_edited && is_respelled(t, pl_buf_str(&back.out), wanted)))
        show_difference(t, what, pl_buf_str(&back.out), wanted);
    pl_converted_deinit(&back);
}

/* Acts like a program that parses the target and writes it again: no white space, the fewest
 * escapes. Numbers keep their spelling. */
static void write_again(struct trip *t, const struct pl_json_doc *doc, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    const struct pl_json_node *ends[64];
    size_t depth = 0;
    for (const struct pl_json_node *n = doc->root; n < doc->root + doc->n_nodes; n++) {
        struct pl_str text;
        while (depth && n == pl_json_end(ends[depth - 1]))
            pl_json_out_close(&out, pl_json_kind(ends[--depth]) == PL_JSON_OBJECT ? '}' : ']');
        if (pl_json_is_container(n)) {
            pl_json_out_open(&out, pl_json_kind(n) == PL_JSON_OBJECT ? '{' : '[');
            ends[depth++] = n;
        } else if (pl_json_kind(n) != PL_JSON_STRING) {
            pl_json_out_raw(&out, pl_json_span(doc, n));
        } else if (pl_json_text(&t->arena, doc, n, &text) == PL_OK) {
            if (n->tag & PL_JSON_KEY)
                pl_json_out_key_str(&out, text);
            else
                pl_json_out_text(&out, text);
        }
    }
    while (depth)
        pl_json_out_close(&out, pl_json_kind(ends[--depth]) == PL_JSON_OBJECT ? '}' : ']');
}

static void check_respelled(struct trip *t)
{
    PL_CLEANUP_BUF struct pl_buf again;
    pl_buf_init(&again, 0);
    struct pl_json_doc doc;
    if (t->to == &pl_format_gpt_oss || !parse(t, t->to, pl_buf_str(&t->there.out), &doc))
        return;
    write_again(t, &doc, &again);
    check_home(t, "home from respelled", pl_buf_str(&again), t->text, false);
}

static void check_account(struct trip *t)
{
    PL_CLEANUP_BUF struct pl_buf why;
    pl_buf_init(&why, 0);
    struct pl_json_doc source, out, report, carry;
    if (!parse(t, t->law->format, t->text, &source) ||
        !parse(t, t->to, pl_buf_str(&t->there.out), &out) ||
        !parse(t, NULL, pl_buf_str(&t->there.report), &report) ||
        !parse(t, NULL, pl_buf_str(&t->there.carry), &carry)) {
        wrong(t, "the output, the report or the carry does not parse");
        return;
    }
    struct pl_account account = {&t->arena,  &source, &out, &report, &carry, t->law->format->name,
                                 t->to->name};
    pl_account_report(&account, &why);
    pl_account_texts(&account, &why);
    if (why.len)
        wrong(t, "%.*s", PL_STR_ARG(pl_buf_str(&why)));
}

static void replace(struct pl_buf *to, struct pl_str text, size_t at, size_t n, struct pl_str by)
{
    pl_buf_add(to, pl_str_slice(text, 0, at));
    pl_buf_add(to, by);
    pl_buf_add(to, pl_str_slice(text, at + n, text.len));
}

/* Offset of the mark if it occurs once, or -1. */
static ptrdiff_t find_mark(struct pl_str text)
{
    struct pl_str mark = PL_STR(PL_GENERATE_MARK);
    const char *first = text.len ? memmem(text.ptr, text.len, mark.ptr, mark.len) : NULL;
    if (!first)
        return -1;
    size_t behind = (size_t)(first + 1 - text.ptr);
    return memmem(first + 1, text.len - behind, mark.ptr, mark.len) ? -1 : first - text.ptr;
}

/* A change of words in the target changes these words in the source, and nothing else. */
static void check_changed_words(struct trip *t)
{
    struct pl_str by = PL_STR("altered"), mark = PL_STR(PL_GENERATE_MARK);
    ptrdiff_t here = find_mark(t->text), there = find_mark(pl_buf_str(&t->there.out));
    if (here < 0 || there < 0)
        return;
    PL_CLEANUP_BUF struct pl_buf edited, wanted;
    pl_buf_init(&edited, 0);
    pl_buf_init(&wanted, 0);
    replace(&edited, pl_buf_str(&t->there.out), (size_t)there, mark.len, by);
    replace(&wanted, t->text, (size_t)here, mark.len, by);
    check_home(t, "changed words", pl_buf_str(&edited), pl_buf_str(&wanted), true);
    t->law->n_edits++;
}

#define NEW_WORDS "a message that was added"

static const char *new_message(const struct pl_format *format)
{
    static const struct {
        const char *format, *message;
    } messages[] = {
        {"gemini", "{\"role\":\"user\",\"parts\":[{\"text\":\"" NEW_WORDS "\"}]}"},
        {"harmony",
         "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"" NEW_WORDS "\"}]}"},
        {"envelope", "{\"id\":\"new\",\"role\":\"user\",\"segments\":[{\"kind\":\"text\","
                     "\"content\":\"" NEW_WORDS "\"}],\"timestamp\":1}"},
        {"structured-chat", "{\"id\":\"new\",\"role\":\"user\",\"content\":\"" NEW_WORDS "\"}"},
        {"turns", "{\"id\":\"new\",\"sequence\":99,\"turn_id\":\"new\",\"loop_id\":\"root\","
                  "\"kind\":\"message\",\"role\":\"user\",\"status\":\"completed\",\"blocks\":["
                  "{\"type\":\"text\",\"content\":\"" NEW_WORDS "\"}],\"tool_calls\":[]}"},
    };
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        if (strcmp(messages[i].format, format->name) == 0)
            return messages[i].message;
    return "{\"role\":\"user\",\"content\":\"" NEW_WORDS "\"}";
}

/* Appends the output with one more message, or nothing if it has no list of messages. */
static void append_message(struct trip *t, struct pl_buf *to)
{
    struct pl_str out = pl_buf_str(&t->there.out);
    struct pl_json_doc doc;
    struct pl_json_edit edit;
    if (t->to == &pl_format_gpt_oss) {
        /* Before the unfinished turn of the model. */
        struct pl_str next = PL_STR("<|start|>assistant");
        bool has_next =
            out.len >= next.len && pl_str_eq(pl_str_slice(out, out.len - next.len, out.len), next);
        size_t end = out.len - (has_next ? next.len : 0);
        pl_buf_add(to, pl_str_slice(out, 0, end));
        pl_buf_adds(to, "<|start|>user<|message|>" NEW_WORDS "<|end|>");
        pl_buf_add(to, pl_str_slice(out, end, out.len));
        return;
    }
    const struct pl_json_node *list =
        parse(t, t->to, out, &doc) ? pl_format_list(t->to, &doc) : NULL;
    if (!list)
        return;
    pl_json_edit_init(&edit, &t->arena, &doc);
    if (pl_json_edit_insert_before(&edit, list, NULL, PL_STR(""), pl_str_of(new_message(t->to)),
                                   NULL) != PL_OK ||
        pl_json_edit_write(&edit, to) != PL_OK)
        wrong(t, "the message cannot be added");
    pl_json_edit_deinit(&edit);
}

/* Whether the text is `old` with an insertion that contains the new words. The insertion may
 * surround a piece of `old` (a single text that became a message). */
static bool is_insertion(struct pl_str text, struct pl_str old)
{
    size_t front = 0, back = 0;
    while (front < old.len && front < text.len && text.ptr[front] == old.ptr[front])
        front++;
    while (back < old.len - front && back < text.len - front &&
           text.ptr[text.len - 1 - back] == old.ptr[old.len - 1 - back])
        back++;
    struct pl_str left = pl_str_slice(old, front, old.len - back);
    struct pl_str put = pl_str_slice(text, front, text.len - back);
    return (!left.len || memmem(put.ptr, put.len, left.ptr, left.len)) &&
           memmem(text.ptr, text.len, NEW_WORDS, sizeof NEW_WORDS - 1);
}

/* A message appended to the target is appended to the source, and the rest of the source keeps its
 * bytes. */
static void check_new_message(struct trip *t)
{
    PL_CLEANUP_BUF struct pl_buf edited;
    pl_buf_init(&edited, 0);
    append_message(t, &edited);
    if (!edited.len)
        return;
    struct pl_converted back;
    struct pl_error err = {0};
    pl_converted_init(&back);
    if (convert(pl_buf_str(&edited), t->to, t->law->format, pl_buf_str(&t->there.carry), &back,
                &err) != PL_OK)
        wrong(t, "new message: %s", err.message);
    else if (!is_insertion(pl_buf_str(&back.out), t->text)) {
        /* Beside the new message, a format may have to move another one. */
        if (pl_str_find(pl_buf_str(&back.out), PL_STR(NEW_WORDS)) != SIZE_MAX ||
            pl_str_find(pl_buf_str(&back.report), PL_STR("\"lossless\":false")) != SIZE_MAX)
            t->law->n_restated++;
        else
            show_difference(t, "new message", pl_buf_str(&back.out), t->text);
    }
    pl_converted_deinit(&back);
    t->law->n_edits++;
}

/* Converts a document and back, in every way. */
static void check_trip(struct trip *t)
{
    struct pl_error err = {0};
    pl_arena_reset(&t->arena);
    pl_converted_init(&t->there);
    enum pl_status status =
        convert(t->text, t->law->format, t->to, (struct pl_str){0}, &t->there, &err);
    if (t->law->is_shown)
        print_message(
            "%.*s\n%.*s\n%.*s\n%.*s\n", PL_STR_ARG(t->text), PL_STR_ARG(pl_buf_str(&t->there.out)),
            PL_STR_ARG(pl_buf_str(&t->there.report)), PL_STR_ARG(pl_buf_str(&t->there.carry)));
    if (status != PL_OK) {
        /* A document that cannot be expressed is refused with a reason. */
        if (status != PL_INVALID || !t->there.report.len)
            wrong(t, "refused without a report: %s", err.message);
    } else if (t->to == t->law->format) {
        if (!pl_str_eq(pl_buf_str(&t->there.out), t->text))
            show_difference(t, "into itself", pl_buf_str(&t->there.out), t->text);
    } else {
        check_home(t, "home", pl_buf_str(&t->there.out), t->text, false);
        if (t->number % 4 == 1)
            check_respelled(t);
        if (t->number % 2 == 0)
            check_account(t);
        check_changed_words(t);
        if (t->number % 4 == 0)
            check_new_message(t);
        t->law->n_trips++;
    }
    pl_converted_deinit(&t->there);
}

static size_t count_formats(void)
{
    size_t n = 0;
    while (pl_formats[n])
        n++;
    return n;
}

static void every_document_comes_home(void **state)
{
    struct law *law = *state;
    struct trip t = {.law = law};
    struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_arena_init(&t.arena, 0);
    size_t n_formats = count_formats();
    for (uint64_t i = law->first; i < law->first + law->n_documents; i++) {
        pl_buf_clear(&text);
        pl_generate(law->grammar, i, &text);
        t.number = i;
        t.text = pl_buf_str(&text);
        t.to = law->format;
        check_trip(&t);
        for (size_t k = 0; k < (law->is_shown ? n_formats : TARGETS); k++) {
            t.to = pl_formats[(i * TARGETS + k) % n_formats];
            if (t.to != law->format)
                check_trip(&t);
        }
    }
    pl_arena_deinit(&t.arena);
    pl_buf_deinit(&text);
    if (law->n_wrong)
        fail_msg("%zu properties do not hold", law->n_wrong);
    /* A property that is never checked proves nothing. */
    if (!law->is_shown) {
        assert_true(law->n_trips > law->n_documents);
        assert_true(law->n_edits > law->n_documents / 4);
        print_message("%zu of %zu edits changed more than their own bytes\n", law->n_restated,
                      law->n_edits);
        assert_true(law->n_restated <= law->n_edits / 20);
    }
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    struct law law = {.format = pl_format_find(pl_str_of(name)), .n_documents = DOCUMENTS};
    if (!law.format || !pl_grammar_of(name)) {
        fprintf(stderr, "Usage: convert-property-test FORMAT [DOCUMENTS [FIRST]]\n");
        return 2;
    }
    if (argc > 2)
        law.n_documents = strtoull(argv[2], NULL, 10);
    if (argc > 3)
        law.first = strtoull(argv[3], NULL, 10);
    law.is_shown = law.n_documents == 1;
    law.grammar = pl_grammar_create(pl_grammar_of(name));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(every_document_comes_home, &law),
    };
    int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    pl_grammar_destroy(law.grammar);
    return n_failed;
}
