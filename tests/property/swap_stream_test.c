/* Whatever replaces a value in a vendor's event, nothing crashes, and the client gets JSON.
 *
 *     swap-stream-test CORPUS_DIRECTORY
 *
 * The streams are from the fuzz corpus: a byte for the dialects, a byte that is not used here, and
 * a vendor's output. Each value of every event is replaced by values of other types, and the stream
 * is written in every dialect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "property/swap.h"
#include "stream/stream.h"

#include <dirent.h>
#include <stdio.h>

enum { SHOWN = 12, N_DIALECTS = 5 };

struct law {
    const char *directory;
    struct pl_arena arena;
    size_t n_wrong, n_said, n_refused;
};

struct trip {
    struct law *law;
    const char *path;
    const struct pl_dialect *from, *to;
    struct pl_str text, event;
};

static void __attribute__((format(printf, 2, 3))) wrong(struct trip *t, const char *format, ...)
{
    if (t->law->n_wrong++ >= SHOWN)
        return;
    char message[600];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    print_message("# %s: %s -> %s: %s\n#   %.*s\n", t->path, t->from->name, t->to->name, message,
                  (int)(t->event.len < 1000 ? t->event.len : 1000), t->event.ptr);
}

/* The JSON of a stream's line, in any framing; empty if there is none. */
static struct pl_str json_of(struct pl_str line)
{
    size_t from = 0, to = line.len;
    while (from < line.len && line.ptr[from] != '{')
        from++;
    while (to > from && line.ptr[to - 1] != '}')
        to--;
    return pl_str_slice(line, from, to);
}

/* Removes the first line and returns it. */
static struct pl_str next_line(struct pl_str *rest)
{
    const char *end = memchr(rest->ptr, '\n', rest->len);
    size_t n = end ? (size_t)(end - rest->ptr) + 1 : rest->len;
    struct pl_str line = pl_str_slice(*rest, 0, n);
    *rest = pl_str_slice(*rest, n, rest->len);
    return line;
}

static void check_out(struct trip *t, struct pl_str out)
{
    struct pl_json_opts opts = {.allows_lone_surrogates = true};
    struct pl_json_doc doc;
    while (out.len) {
        struct pl_str line = next_line(&out), json = line;
        if (pl_str_starts(line, PL_STR("data: ")))
            json = pl_str_slice(line, 6, line.len);
        if (!json.len || (json.ptr[0] != '{' && json.ptr[0] != '[') ||
            pl_str_starts(json, PL_STR("[DONE]")))
            continue;
        pl_arena_reset(&t->law->arena);
        if (pl_json_parse(&t->law->arena, json, &opts, &doc, NULL) != PL_OK) {
            wrong(t, "this is no JSON: %.*s", (int)(json.len < 400 ? json.len : 400), json.ptr);
            return;
        }
    }
}

static void say(struct trip *t)
{
    struct pl_stream *stream = NULL;
    struct pl_error err = {0};
    assert_int_equal(pl_stream_create(t->from, t->to, &stream), PL_OK);
    enum pl_status status = pl_stream_feed(stream, t->text, &err);
    if (status == PL_OK)
        status = pl_stream_end(stream, &err);
    if (status == PL_NOMEM || status == PL_INTERNAL || (status != PL_OK && !err.message[0]))
        wrong(t, "refused with status %d and \"%s\"", (int)status, err.message);
    t->law->n_said += status == PL_OK;
    t->law->n_refused += status != PL_OK;
    /* The same dialect gets the bytes unchanged. */
    if (t->from != t->to)
        check_out(t, pl_buf_str(&stream->out));
    pl_stream_destroy(stream);
}

/* Replaces each value of one event, in its stream. */
static void swap_event(struct trip *t, struct pl_str whole, struct pl_str json,
                       const struct pl_json_doc *doc)
{
    size_t at = (size_t)(json.ptr - whole.ptr);
    PL_CLEANUP_BUF struct pl_buf event, stream;
    pl_buf_init(&event, 0);
    pl_buf_init(&stream, 0);
    for (const struct pl_json_node *n = doc->root; n < doc->root + doc->n_nodes; n++)
        for (size_t i = 0; pl_swaps[i]; i++) {
            if (n->tag & PL_JSON_KEY)
                continue;
            pl_buf_clear(&event);
            pl_buf_clear(&stream);
            pl_swap_write(&event, doc, n, pl_swaps[i]);
            pl_buf_add(&stream, pl_str_slice(whole, 0, at));
            pl_buf_add(&stream, pl_buf_str(&event));
            pl_buf_add(&stream, pl_str_slice(whole, at + json.len, whole.len));
            t->text = pl_buf_str(&stream);
            t->event = pl_buf_str(&event);
            for (size_t to = 0; pl_dialects[to]; to++) {
                t->to = pl_dialects[to];
                say(t);
            }
        }
}

static void swap_stream(struct law *law, const char *path)
{
    PL_CLEANUP_BUF struct pl_buf file;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_buf_init(&file, 0);
    pl_arena_init(&arena, 0);
    pl_read_whole(path, &file);
    if (file.len < 3)
        return;
    struct trip t = {
        .law = law, .path = path, .from = pl_dialects[(unsigned char)file.ptr[0] % N_DIALECTS]};
    struct pl_str whole = pl_str_slice(pl_buf_str(&file), 2, file.len), rest = whole;
    while (rest.len) {
        struct pl_json_doc doc;
        struct pl_str json = json_of(next_line(&rest));
        if (json.len && pl_json_parse(&arena, json, &pl_json_any, &doc, NULL) == PL_OK)
            swap_event(&t, whole, json, &doc);
    }
}

static void a_value_of_the_wrong_type_makes_no_wrong_event(void **state)
{
    struct law *law = *state;
    DIR *dir = opendir(law->directory);
    assert_non_null(dir);
    pl_arena_init(&law->arena, 0);
    for (const struct dirent *entry; (entry = readdir(dir));) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", law->directory, entry->d_name);
        if (entry->d_name[0] != '.')
            swap_stream(law, path);
    }
    closedir(dir);
    pl_arena_deinit(&law->arena);
    assert_true(law->n_said > 10000);
    if (law->n_wrong)
        fail_msg("%zu of %zu streams are wrong", law->n_wrong, law->n_said + law->n_refused);
}

int main(int argc, char **argv)
{
    static struct law law;
    law.directory = argc > 1 ? argv[1] : NULL;
    if (!law.directory) {
        fprintf(stderr, "Usage: swap-stream-test CORPUS_DIRECTORY\n");
        return 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(a_value_of_the_wrong_type_makes_no_wrong_event, &law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
