/* json-c: one tokener is kept and reset, the tree is freed after each run, the output is plain. */
#include "../measure.h"
#include "../readfile.h"

#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct bench {
    struct json_tokener *tokener; /* owned */
    struct pl_buf text;           /* owned */
};

static struct json_object *parse_text(struct bench *b)
{
    json_tokener_reset(b->tokener);
    return json_tokener_parse_ex(b->tokener, b->text.ptr, (int)b->text.len);
}

static bool parse(void *ctx)
{
    struct json_object *root = parse_text(ctx);
    bool is_parsed = root;
    json_object_put(root);
    return is_parsed;
}

static bool roundtrip(void *ctx)
{
    struct json_object *root = parse_text(ctx);
    int flags = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;
    const char *out = root ? json_object_to_json_string_ext(root, flags) : NULL;
    bench_use(out);
    json_object_put(root);
    return out;
}

static const struct {
    const char *name;
    bool (*once)(void *ctx);
} figures[] = {{"json.parse", parse}, {"json.roundtrip", roundtrip}};

static int run_figure(const struct bench_request *request, bool (*once)(void *ctx))
{
    struct bench b = {.tokener = json_tokener_new()};
    struct bench_result result = {0};
    pl_buf_init(&b.text, 0);
    bool is_done = b.tokener && bench_read_file(request->file, &b.text, NULL) == PL_OK &&
                   b.text.len <= INT_MAX && bench_measure(request->seconds, once, &b, &result);
    if (is_done)
        bench_print_peer(request->name, "json-c", bench_basename(request->file), b.text.len,
                         &result);
    else
        fprintf(stderr, "jsonc-peer: %s cannot be read as JSON.\n", request->file);
    pl_buf_deinit(&b.text);
    json_tokener_free(b.tokener);
    return is_done ? 0 : 3;
}

int main(int argc, char **argv)
{
    struct bench_request request;
    const char *problem = NULL;
    if (!bench_request_read(argc, argv, &request, &problem) || !request.name || !request.file) {
        fprintf(stderr, "Usage: jsonc-peer NAME --file FILE [--seconds S]\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        if (!strcmp(figures[i].name, request.name))
            return run_figure(&request, figures[i].once);
    fprintf(stderr, "jsonc-peer: there is no figure named %s.\n", request.name);
    return 2;
}
