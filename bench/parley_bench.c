/* parley-bench NAME --file FILE: measures one of our figures in process, on any file, and prints
 * one JSON line.
 *
 * Reading the file, compiling the schema (unless that is the figure) and the first run are not
 * timed. The arena is reset and the output buffer cleared between two runs, as a server does
 * between two requests. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/cpu.h"
#include "base/text/utf8.h"
#include "carry/carry.h"
#include "conv/trim/trim.h"
#include "format/source.h"
#include "format/convert.h"
#include "json/json.h"
#include "json/parse/lenient.h"
#include "json/parse/survey.h"
#include "json/write.h"
#include "schema/builtin.h"
#include "schema/schema.h"
#include "stream/stream.h"
#include "tokens/tokens.h"
#include "measure.h"
#include "readfile.h"

#include <stdio.h>
#include <string.h>

struct bench {
    struct pl_str text;            /* borrowed from the file's buffer; input of a figure */
    struct pl_arena arena;         /* owned; reset before each run */
    struct pl_buf out;             /* owned; cleared before each run */
    struct pl_converted made;      /* owned; emptied before each run */
    struct pl_converted there;     /* owned; for a way home: the target and its carry */
    struct pl_buf edited;          /* owned; for a way home: the edited target */
    bool is_home;                  /* for a way home: the source was restored from it */
    struct pl_workspace workspace; /* owned; for conversions */
    struct pl_json_opts opts;      /* strict; with the instruction set of json.parse.* */
    struct pl_json_doc doc;        /* arena; of the latest parse */
    struct pl_schema *schema;      /* owned */
    struct pl_schema_run *run;     /* owned; borrows schema */
    bool is_valid;                 /* the schema's latest result */
    struct pl_tokens *tokens;      /* owned; o200k_base */
    struct pl_token_ids ids;       /* owned; emptied before each run */
    size_t n_tokens;               /* of the text */
    enum pl_status status;         /* of the latest run */
    struct pl_error err;           /* why it failed */
    size_t n_deltas;               /* events of the latest stream */
    const struct figure *figure;
};

/* The edit of the target before it is converted back. */
enum home_edit { HOME_NOT, HOME_SAME, HOME_EDITED };

struct figure {
    const char *name;
    const char *what;
    enum pl_status (*once)(struct bench *b);
    bool needs_schema; /* --schema or --as */
    bool needs_doc;    /* works on the parsed tree, without timing the parser */
    bool needs_tokens; /* works with a vocabulary, without timing its creation */
    bool has_deltas;   /* works on a stream: counts deltas */
    bool has_cpu;
    enum pl_cpu cpu;
    const char *from, *to; /* formats of a conversion */
    enum pl_mode mode;     /* of a conversion */
    bool has_no_carry;     /* converts as a gateway does */
    enum home_edit edit;   /* of a way home */
};

static enum pl_status parse(struct bench *b)
{
    pl_arena_reset(&b->arena);
    return pl_json_parse(&b->arena, b->text, &b->opts, &b->doc, &b->err);
}

static enum pl_status survey(struct bench *b)
{
    struct pl_json_survey found;
    pl_arena_reset(&b->arena);
    bool is_done = pl_json_survey(&b->arena, b->text, &b->opts, &found);
    bench_use(&found);
    return is_done ? PL_OK : pl_fail(&b->err, PL_SYNTAX, "This cannot be surveyed.");
}

static enum pl_status roundtrip(struct bench *b)
{
    enum pl_status status = parse(b);
    if (status != PL_OK)
        return status;
    pl_buf_clear(&b->out);
    pl_json_write_min(&b->out, &b->doc, b->doc.root);
    return b->out.status;
}

static enum pl_status pretty(struct bench *b)
{
    pl_buf_clear(&b->out);
    pl_json_write_pretty(&b->out, &b->doc, b->doc.root);
    return b->out.status;
}

static enum pl_status canonical(struct bench *b)
{
    pl_buf_clear(&b->out);
    return pl_json_write_canonical(&b->out, &b->doc, b->doc.root);
}

static enum pl_status lenient(struct bench *b)
{
    struct pl_json_notes notes;
    pl_arena_reset(&b->arena);
    return pl_json_parse_lenient(&b->arena, b->text, &b->opts, &b->doc, &notes, &b->err);
}

static enum pl_status utf8(struct bench *b)
{
    size_t n = pl_utf8_valid_prefix(b->text);
    if (n == b->text.len)
        return PL_OK;
    enum pl_status status = pl_fail(&b->err, PL_SYNTAX, "This is not UTF-8.");
    pl_error_locate(&b->err, b->text, n);
    return status;
}

static enum pl_status copy(struct bench *b)
{
    pl_buf_clear(&b->out);
    char *to = pl_buf_reserve(&b->out, b->text.len);
    if (!to)
        return b->out.status;
    memcpy(to, b->text.ptr, b->text.len);
    bench_use(to);
    return PL_OK;
}

static enum pl_status check(struct bench *b)
{
    return pl_schema_check(b->run, &b->doc, b->doc.root, &b->is_valid);
}

static enum pl_status parse_check(struct bench *b)
{
    enum pl_status status = parse(b);
    return status == PL_OK ? check(b) : status;
}

static enum pl_status compile(struct bench *b)
{
    struct pl_schema *schema = NULL;
    enum pl_status status = pl_schema_compile(b->text, NULL, &schema, &b->err);
    if (status == PL_OK)
        pl_schema_destroy(schema);
    return status;
}

static enum pl_status count_tokens(struct bench *b)
{
    return pl_tokens_count(b->tokens, b->text, PL_SPECIAL_AS_TEXT, &b->n_tokens);
}

static enum pl_status encode_tokens(struct bench *b)
{
    b->ids.len = 0;
    enum pl_status status = pl_tokens_encode(b->tokens, b->text, PL_SPECIAL_AS_TEXT, &b->ids);
    b->n_tokens = b->ids.len;
    return status;
}

static enum pl_status create_tokens(struct bench *b)
{
    struct pl_tokens *tokens = NULL;
    enum pl_status status = pl_tokens_create(PL_ENCODING_O200K_BASE, &tokens);
    bench_use(b);
    pl_tokens_destroy(tokens);
    return status;
}

/* Converts bytes to bytes, including parsing, the report and, if wanted, the carry. */
static enum pl_status convert(struct bench *b)
{
    struct pl_convert_opts opts = {.from = pl_format_find(pl_str_of(b->figure->from)),
                                   .to = pl_format_find(pl_str_of(b->figure->to)),
                                   .mode = b->figure->mode,
                                   .way_home = b->figure->has_no_carry ? NULL : &pl_carry_way,
                                   .workspace = &b->workspace};
    enum pl_status status = pl_convert(b->text, &opts, &b->made, &b->err);
    bench_use(b->made.out.ptr);
    return status;
}

/* --- the way home ---------------------------------------------------------------------------- */

/* Returns the middle one of the target's long strings. */
static const struct pl_json_node *middle_text(const struct pl_json_doc *doc)
{
    enum { LONG = 40 };
    size_t n = 0, i = 0;
    for (const struct pl_json_node *at = doc->root; at < doc->root + doc->n_nodes; at++)
        n += pl_json_kind(at) == PL_JSON_STRING && !(at->tag & PL_JSON_KEY) && at->len > LONG;
    for (const struct pl_json_node *at = doc->root; at < doc->root + doc->n_nodes; at++)
        if (pl_json_kind(at) == PL_JSON_STRING && !(at->tag & PL_JSON_KEY) && at->len > LONG &&
            i++ == n / 2)
            return at;
    return NULL;
}

/* Puts three words before one text, like an edit by a person. */
static enum pl_status edit_target(struct bench *b)
{
    struct pl_str text = pl_buf_str(&b->there.out);
    pl_arena_reset(&b->arena);
    enum pl_status status = pl_json_parse(&b->arena, text, &b->opts, &b->doc, &b->err);
    const struct pl_json_node *at = status == PL_OK ? middle_text(&b->doc) : NULL;
    if (status != PL_OK || !at)
        return status != PL_OK ? status : pl_fail(&b->err, PL_USAGE, "No text to edit in it.");
    pl_buf_clear(&b->edited);
    pl_buf_add(&b->edited, pl_str_slice(text, 0, at->off + 1));
    pl_buf_adds(&b->edited, "This was edited: ");
    pl_buf_add(&b->edited, pl_str_slice(text, at->off + 1, text.len));
    return b->edited.status;
}

static enum pl_status go_there(struct bench *b)
{
    struct pl_convert_opts opts = {.from = pl_format_find(pl_str_of(b->figure->from)),
                                   .to = pl_format_find(pl_str_of(b->figure->to)),
                                   .way_home = &pl_carry_way,
                                   .workspace = &b->workspace};
    enum pl_status status = pl_convert(b->text, &opts, &b->there, &b->err);
    return status == PL_OK && b->figure->edit == HOME_EDITED ? edit_target(b) : status;
}

static enum pl_status go_home(struct bench *b)
{
    struct pl_convert_opts opts = {.from = pl_format_find(pl_str_of(b->figure->to)),
                                   .to = pl_format_find(pl_str_of(b->figure->from)),
                                   .way_home = &pl_carry_way,
                                   .carry = pl_buf_str(&b->there.carry),
                                   .workspace = &b->workspace};
    struct pl_str target = pl_buf_str(b->figure->edit == HOME_EDITED ? &b->edited : &b->there.out);
    enum pl_status status = pl_convert(target, &opts, &b->made, &b->err);
    if (status == PL_OK && b->figure->edit == HOME_SAME && !b->is_home &&
        !pl_str_eq(pl_buf_str(&b->made.out), b->text))
        return pl_fail(&b->err, PL_INTERNAL, "Another document came home.");
    b->is_home = true;
    return status;
}

/* Feeds a stream in pieces as from a socket; the output is taken after each, as in a server. */
enum { PIECE_BYTES = 16 << 10 };

static enum pl_status stream(struct bench *b)
{
    struct pl_stream *s = NULL;
    enum pl_status status = pl_stream_create(pl_dialect_find(pl_str_of(b->figure->from)),
                                             pl_dialect_find(pl_str_of(b->figure->to)), &s);
    for (size_t at = 0; status == PL_OK && at < b->text.len; at += PIECE_BYTES) {
        size_t end = b->text.len - at > PIECE_BYTES ? at + PIECE_BYTES : b->text.len;
        pl_buf_clear(&s->out);
        status = pl_stream_feed(s, pl_str_slice(b->text, at, end), &b->err);
        bench_use(s->out.ptr);
    }
    if (status == PL_OK)
        status = pl_stream_end(s, &b->err);
    pl_stream_destroy(s);
    return status;
}

/* Counts the events of a stream: lines of data, or of patches, which are JSON lines. The few that
 * begin and end an answer count too. */
static size_t count_events(struct pl_str text)
{
    size_t n_events = 0;
    for (size_t i = 0; i < text.len; i++)
        if ((text.ptr[i] == 'd' || text.ptr[i] == '{') && (i == 0 || text.ptr[i - 1] == '\n'))
            n_events++;
    return n_events;
}

/* Almost all of a long history must be removed. */
enum { TRIMMED_TOKENS = 200 };

static enum pl_status trim(struct bench *b)
{
    struct pl_count_rule rule = {b->tokens, pl_model_counting_find(PL_STR("gpt-5"))};
    struct pl_trim_opts opts = {.rule = &rule, .max_tokens = TRIMMED_TOKENS};
    struct pl_trimmed trimmed = {0};
    PL_CLEANUP_SOURCE struct pl_source source;
    enum pl_status status = pl_source_open(&source, b->text, NULL, 0, &b->err);
    if (status == PL_OK)
        status = pl_conv_trim(&source.conv, &opts, &trimmed, &b->err);
    b->n_tokens = trimmed.n_before;
    return status;
}

#define STREAM(source, target)                                                                     \
    {                                                                                              \
        "stream." source "." target, "a stream of 50,000 deltas into another dialect", stream,     \
            .has_deltas = true, .from = source, .to = target                                       \
    }

/* One pair of formats: with report and carry; without a carry; as the gateway does it; and back. */
#define CONVERT(source, target)                                                                    \
    {"convert." source "." target, "a request into another format", convert, .from = source,       \
     .to = target},                                                                                \
        {"bare." source "." target,                                                                \
         "the same without a carry",                                                               \
         convert,                                                                                  \
         .from = source,                                                                           \
         .to = target,                                                                             \
         .has_no_carry = true},                                                                    \
        {"gateway." source "." target,                                                             \
         "the same, made legal for the target",                                                    \
         convert,                                                                                  \
         .from = source,                                                                           \
         .to = target,                                                                             \
         .mode = PL_MODE_GATEWAY,                                                                  \
         .has_no_carry = true},                                                                    \
        {"home." source "." target,                                                                \
         "its way home, untouched",                                                                \
         go_home,                                                                                  \
         .from = source,                                                                           \
         .to = target,                                                                             \
         .edit = HOME_SAME},                                                                       \
    {                                                                                              \
        "home_edited." source "." target, "its way home with one text changed", go_home,           \
            .from = source, .to = target, .edit = HOME_EDITED                                      \
    }

static const struct figure figures[] = {
    {"json.parse", "strict parse into a tree", parse},
    {"json.parse.scalar", "the same without vector instructions", parse, .has_cpu = true,
     .cpu = PL_CPU_SCALAR},
    {"json.parse.avx2", "the same with AVX2", parse, .has_cpu = true, .cpu = PL_CPU_AVX2},
    {"json.parse.avx512", "the same with AVX-512", parse, .has_cpu = true, .cpu = PL_CPU_AVX512},
    {"json.survey", "the first level of an object, for who passes it on", survey},
    {"json.roundtrip", "parse and write back without white space", roundtrip},
    {"json.pretty", "write a parsed tree indented", pretty, .needs_doc = true},
    {"json.canonical", "write a parsed tree in canonical form", canonical, .needs_doc = true},
    {"json.lenient", "parse with comments and trailing commas allowed", lenient},
    {"utf8.validate", "check that the bytes are UTF-8", utf8},
    {"schema.check", "validate a parsed tree", check, .needs_schema = true, .needs_doc = true},
    {"schema.parse_check", "parse and validate", parse_check, .needs_schema = true},
    {"schema.compile", "compile a schema: --file is the schema", compile},
    {"tokens.count", "count tokens of o200k_base", count_tokens, .needs_tokens = true},
    {"tokens.encode", "their ids", encode_tokens, .needs_tokens = true},
    {"tokens.create", "make the vocabulary of o200k_base ready, and its release", create_tokens},
    CONVERT("openai-chat", "anthropic"),
    CONVERT("anthropic", "gemini"),
    CONVERT("openai-chat", "openai-responses"),
    {"conv.trim", "read a conversation and make it fit into 200 tokens", trim,
     .needs_tokens = true},
    STREAM("openai-chat", "openai-chat"),
    STREAM("openai-chat", "openai-responses"),
    STREAM("openai-chat", "anthropic"),
    STREAM("openai-chat", "gemini"),
    STREAM("openai-chat", "patches"),
    STREAM("openai-responses", "openai-responses"),
    STREAM("openai-responses", "openai-chat"),
    STREAM("openai-responses", "anthropic"),
    STREAM("openai-responses", "gemini"),
    STREAM("openai-responses", "patches"),
    STREAM("anthropic", "anthropic"),
    STREAM("anthropic", "openai-chat"),
    STREAM("anthropic", "openai-responses"),
    STREAM("anthropic", "gemini"),
    STREAM("anthropic", "patches"),
    STREAM("gemini", "gemini"),
    STREAM("gemini", "openai-chat"),
    STREAM("gemini", "openai-responses"),
    STREAM("gemini", "anthropic"),
    STREAM("gemini", "patches"),
    STREAM("patches", "patches"),
    STREAM("patches", "openai-chat"),
    STREAM("patches", "openai-responses"),
    STREAM("patches", "anthropic"),
    STREAM("patches", "gemini"),
    {"memcpy", "copy the bytes: what memory allows", copy},
};

enum { N_FIGURES = sizeof figures / sizeof figures[0] };

static void list_figures(FILE *to)
{
    for (size_t i = 0; i < N_FIGURES; i++)
        fprintf(to, "%-38s%s%s\n", figures[i].name, figures[i].what,
                figures[i].needs_schema ? " (--schema or --as)" : "");
}

static const struct figure *find_figure(const char *name)
{
    for (size_t i = 0; i < N_FIGURES; i++)
        if (!strcmp(figures[i].name, name))
            return &figures[i];
    return NULL;
}

/* Called by bench_measure. The outputs count as used, so that nothing is optimised away. */
static bool once(void *ctx)
{
    struct bench *b = ctx;
    b->status = b->figure->once(b);
    bench_use(b);
    return b->status == PL_OK;
}

static enum pl_status load_schema(struct bench *b, const struct bench_request *request)
{
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    struct pl_str text = {0};
    if (request->as) {
        const struct pl_schema_builtin *builtin = pl_schema_builtin_find(pl_str_of(request->as));
        if (!builtin)
            return pl_fail(&b->err, PL_USAGE, "There is no built-in schema named %s.", request->as);
        text = builtin->text;
    } else {
        enum pl_status status = bench_read_file(request->schema, &buf, &b->err);
        if (status != PL_OK)
            return status;
        text = pl_buf_str(&buf);
    }
    enum pl_status status = pl_schema_compile(text, NULL, &b->schema, &b->err);
    return status == PL_OK ? pl_schema_run_create(b->schema, &b->run) : status;
}

/* Does everything that is not timed, and one run to check that the figure works on this file. */
static enum pl_status prepare(struct bench *b, const struct bench_request *request)
{
    b->opts.has_cpu = b->figure->has_cpu;
    b->opts.cpu = b->figure->cpu;
    enum pl_status status = PL_OK;
    if (b->figure->needs_schema)
        status = load_schema(b, request);
    if (b->figure->needs_tokens)
        status = pl_tokens_create(PL_ENCODING_O200K_BASE, &b->tokens);
    if (status == PL_OK && b->figure->needs_doc)
        status = parse(b);
    if (b->figure->has_deltas)
        b->n_deltas = count_events(b->text);
    if (status == PL_OK && b->figure->edit != HOME_NOT)
        status = go_there(b);
    return status == PL_OK ? b->figure->once(b) : status;
}

static void print_line(const struct bench *b, const struct bench_request *request,
                       const struct bench_result *result)
{
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    struct pl_json_out out = pl_json_out(&line);
    char number[64];
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "name");
    pl_json_out_text(&out, pl_str_of(b->figure->name));
    pl_json_out_key(&out, "impl");
    pl_json_out_text(&out, PL_STR("parley"));
    pl_json_out_key(&out, "file");
    pl_json_out_text(&out, pl_str_of(bench_basename(request->file)));
    pl_json_out_key(&out, "bytes");
    pl_json_out_int(&out, (int64_t)b->text.len);
    pl_json_out_key(&out, "ns_per_op");
    snprintf(number, sizeof number, "%.1f", result->ns_per_op);
    pl_json_out_raw(&out, pl_str_of(number));
    pl_json_out_key(&out, "gb_per_s");
    snprintf(number, sizeof number, "%.3f", (double)b->text.len / result->ns_per_op);
    pl_json_out_raw(&out, pl_str_of(number));
    pl_json_out_key(&out, "ops");
    pl_json_out_int(&out, (int64_t)result->n_ops);
    pl_json_out_key(&out, "cpu");
    enum pl_cpu cpu = b->figure->has_cpu ? b->figure->cpu : pl_cpu_best();
    pl_json_out_text(&out, pl_str_of(pl_cpu_name(cpu)));
    if (b->figure->needs_schema) {
        pl_json_out_key(&out, "valid");
        pl_json_out_bool(&out, b->is_valid);
    }
    if (b->figure->needs_tokens) {
        pl_json_out_key(&out, "tokens");
        pl_json_out_int(&out, (int64_t)b->n_tokens);
    }
    if (b->figure->has_deltas) {
        pl_json_out_key(&out, "deltas");
        pl_json_out_int(&out, (int64_t)b->n_deltas);
        pl_json_out_key(&out, "ns_per_delta");
        snprintf(number, sizeof number, "%.1f", result->ns_per_op / (double)b->n_deltas);
        pl_json_out_raw(&out, pl_str_of(number));
        pl_json_out_key(&out, "deltas_per_s");
        snprintf(number, sizeof number, "%.0f", 1e9 * (double)b->n_deltas / result->ns_per_op);
        pl_json_out_raw(&out, pl_str_of(number));
    }
    pl_json_out_close(&out, '}');
    printf("%.*s\n", PL_STR_ARG(pl_buf_str(&line)));
}

static int report_failure(const struct bench *b, enum pl_status status)
{
    const struct pl_status_info *info = pl_status_info(status);
    fprintf(stderr, "parley-bench: %s", b->err.message[0] ? b->err.message : info->text);
    if (b->err.has_position)
        fprintf(stderr, " (line %zu, column %zu)", b->err.line, b->err.column);
    fputc('\n', stderr);
    return info->exit_code;
}

static int run_figure(struct bench *b, const struct bench_request *request)
{
    PL_CLEANUP_BUF struct pl_buf file;
    pl_buf_init(&file, 0);
    struct bench_result result = {0};
    enum pl_status status = bench_read_file(request->file, &file, &b->err);
    if (status == PL_OK) {
        b->text = pl_buf_str(&file);
        status = prepare(b, request);
    }
    if (status == PL_OK && !bench_measure(request->seconds, once, b, &result))
        status = b->status;
    if (status != PL_OK)
        return report_failure(b, status);
    print_line(b, request, &result);
    return 0;
}

static int usage(const char *problem)
{
    fprintf(stderr,
            "parley-bench: %s\n"
            "Usage: parley-bench NAME --file FILE [--schema FILE | --as NAME] [--seconds S]\n"
            "       parley-bench --list\n"
            "Example: parley-bench json.parse --file request.json\n",
            problem);
    return 2;
}

int main(int argc, char **argv)
{
    struct bench_request request;
    const char *problem = NULL;
    char message[256];
    if (!bench_request_read(argc, argv, &request, &problem)) {
        snprintf(message, sizeof message, "%s: unknown option, or its value is missing or wrong.",
                 problem);
        return usage(message);
    }
    if (request.is_list) {
        list_figures(stdout);
        return 0;
    }
    if (!request.name || !request.file)
        return usage("say which figure, and on which --file.");
    const struct figure *figure = find_figure(request.name);
    if (!figure)
        return usage("there is no such figure; --list names them.");
    if (figure->needs_schema && !request.schema == !request.as)
        return usage("this figure needs either --schema FILE or --as NAME.");
    if (figure->has_cpu && !pl_cpu_has(figure->cpu)) {
        printf("{\"name\":\"%s\",\"impl\":\"parley\",\"skipped\":\"this processor has no %s\"}\n",
               figure->name, pl_cpu_name(figure->cpu));
        return 0;
    }
    struct bench b = {.figure = figure};
    pl_arena_init(&b.arena, 0);
    pl_buf_init(&b.out, 0);
    pl_buf_init(&b.edited, 0);
    pl_converted_init(&b.made);
    pl_converted_init(&b.there);
    pl_workspace_init(&b.workspace);
    int exit_code = run_figure(&b, &request);
    pl_schema_run_destroy(b.run);
    pl_schema_destroy(b.schema);
    pl_token_ids_deinit(&b.ids);
    pl_tokens_destroy(b.tokens);
    pl_workspace_deinit(&b.workspace);
    pl_converted_deinit(&b.made);
    pl_converted_deinit(&b.there);
    pl_buf_deinit(&b.edited);
    pl_buf_deinit(&b.out);
    pl_arena_deinit(&b.arena);
    return exit_code;
}
