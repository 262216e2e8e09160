/* Turns the events of libfyaml into JSON text. YAML that JSON cannot express is refused, with its
 * line and column. */
#include "base/text/utf8.h"
#include "base/ascii.h"
#include "promptfile/yaml.h"
#include "json/write.h"

/* An unused macro of the library uses functions that are banned here. */
#define FY_ALLOCA_COPY_FREE(str, len) (str)
#include <libfyaml.h>
#include <stdio.h>

enum { MAX_DEPTH = 60 };

struct reader {
    struct fy_parser *parser;
    struct pl_json_out out;
    struct pl_error *err;
    struct {
        bool is_mapping, wants_key;
    } open[MAX_DEPTH + 1]; /* open[0] is the document */
    uint32_t depth, n_documents;
    char complaint[256]; /* the message of the parser */
};

/* The parser would print its messages; keep the first one instead. */
static void hear(struct fy_diag *diag, void *user, const char *words, size_t len)
{
    (void)diag;
    struct reader *r = user;
    if (r->complaint[0])
        return;
    while (len && (words[len - 1] == '\n' || words[len - 1] == ' '))
        len--;
    snprintf(r->complaint, sizeof r->complaint, "%.*s", (int)len, words);
}

static enum pl_status refuse(struct reader *r, struct fy_token *token, const char *why)
{
    const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;
    enum pl_status status = pl_fail(r->err, PL_SYNTAX, "%s", why);
    if (mark && r->err) {
        r->err->has_position = true;
        r->err->offset = mark->input_pos;
        r->err->line = (size_t)mark->line + 1;
        r->err->column = (size_t)mark->column + 1;
    }
    return status;
}

static bool is_digit(struct pl_str s, size_t at)
{
    return at < s.len && pl_ascii_is_digit(s.ptr[at]);
}

/* Whether a scalar is a JSON number. */
static bool is_number(struct pl_str s)
{
    size_t i = s.len && s.ptr[0] == '-' ? 1 : 0;
    if (!is_digit(s, i) || (s.ptr[i] == '0' && is_digit(s, i + 1)))
        return false;
    while (is_digit(s, i))
        i++;
    if (i < s.len && s.ptr[i] == '.') {
        if (!is_digit(s, ++i))
            return false;
        while (is_digit(s, i))
            i++;
    }
    if (i < s.len && (s.ptr[i] | 0x20) == 'e') {
        i++;
        if (i < s.len && (s.ptr[i] == '+' || s.ptr[i] == '-'))
            i++;
        if (!is_digit(s, i))
            return false;
        while (is_digit(s, i))
            i++;
    }
    return i == s.len;
}

/* The JSON value of a plain scalar. */
static struct pl_str resolve(struct pl_str s)
{
    static const struct {
        const char *word, *json;
    } words[] = {
        {"null", "null"},   {"Null", "null"},   {"NULL", "null"},   {"~", "null"},
        {"", "null"},       {"true", "true"},   {"True", "true"},   {"TRUE", "true"},
        {"false", "false"}, {"False", "false"}, {"FALSE", "false"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (pl_str_eq(s, pl_str_of(words[i].word)))
            return pl_str_of(words[i].json);
    return is_number(s) ? s : (struct pl_str){0};
}

/* Begins a value in its parent; a key must be a scalar (`is_scalar`). */
static enum pl_status take_place(struct reader *r, struct fy_token *token, bool is_scalar,
                                 bool *ret_is_key)
{
    *ret_is_key = r->open[r->depth].is_mapping && r->open[r->depth].wants_key;
    if (*ret_is_key && !is_scalar)
        return refuse(r, token, "a YAML key must be a string; JSON has no others");
    r->open[r->depth].wants_key = !*ret_is_key;
    return PL_OK;
}

static bool is_text_tag(struct fy_token *tag)
{
    size_t len;
    const char *text = fy_token_get_text(tag, &len);
    struct pl_str s = {text, text ? len : 0};
    return pl_str_eq(s, PL_STR("!!str")) || pl_str_eq(s, PL_STR("!")) ||
           pl_str_eq(s, PL_STR("tag:yaml.org,2002:str"));
}

static enum pl_status read_scalar(struct reader *r, const struct fy_event_scalar_data *scalar)
{
    bool is_key;
    enum pl_status status = take_place(r, scalar->value, true, &is_key);
    if (status != PL_OK)
        return status;
    if (scalar->tag && !is_text_tag(scalar->tag))
        return refuse(r, scalar->value, "only the tag !!str is supported; remove others");
    size_t len = 0;
    const char *ptr = scalar->value ? fy_token_get_text(scalar->value, &len) : "";
    if (!ptr)
        return PL_NOMEM;
    struct pl_str text = {ptr, len}, json = {0};
    if (!pl_utf8_is_valid(text))
        return refuse(r, scalar->value, "this escape is not a character");
    bool is_plain = !scalar->value || fy_token_scalar_style(scalar->value) == FYSS_PLAIN;
    if (is_key)
        pl_json_out_key_str(&r->out, text);
    else if (is_plain && !scalar->tag && (json = resolve(text)).ptr)
        pl_json_out_raw(&r->out, json);
    else
        pl_json_out_text(&r->out, text);
    return PL_OK;
}

static enum pl_status open_container(struct reader *r, struct fy_token *token, bool is_mapping)
{
    bool is_key;
    enum pl_status status = take_place(r, token, false, &is_key);
    if (status != PL_OK)
        return status;
    if (r->depth >= MAX_DEPTH)
        return pl_fail(r->err, PL_LIMIT, "more than %d levels of nesting", MAX_DEPTH);
    r->depth++;
    r->open[r->depth].is_mapping = r->open[r->depth].wants_key = is_mapping;
    pl_json_out_open(&r->out, is_mapping ? '{' : '[');
    return PL_OK;
}

static enum pl_status close_container(struct reader *r, bool is_mapping)
{
    pl_json_out_close(&r->out, is_mapping ? '}' : ']');
    r->depth--;
    return PL_OK;
}

static enum pl_status read_event(struct reader *r, struct fy_event *event)
{
    switch (event->type) {
    case FYET_DOCUMENT_START:
        return r->n_documents++ ? refuse(r, event->document_start.document_start,
                                         "a second document begins here; there must be only one")
                                : PL_OK;
    case FYET_ALIAS:
        return refuse(r, event->alias.anchor, "aliases are not supported; write the value out");
    case FYET_SCALAR:
        return read_scalar(r, &event->scalar);
    case FYET_MAPPING_START:
        return open_container(r, event->mapping_start.mapping_start, true);
    case FYET_SEQUENCE_START:
        return open_container(r, event->sequence_start.sequence_start, false);
    case FYET_MAPPING_END:
        return close_container(r, true);
    case FYET_SEQUENCE_END:
        return close_container(r, false);
    default:
        return PL_OK;
    }
}

/* Reads digits and the colon after them. */
static const char *read_place(const char *text, size_t *ret_number)
{
    size_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && number < SIZE_MAX / 16; at++)
        number = number * 10 + (size_t)(*at - '0');
    if (at == text || *at != ':')
        return NULL;
    *ret_number = number;
    return at + 1;
}

/* Parses the parser's message: "<where in memory>:LINE:COLUMN: error: what". */
static enum pl_status refuse_syntax(struct reader *r)
{
    size_t line = 0, column = 0;
    const char *at = strstr(r->complaint, ">:");
    at = at ? read_place(at + 2, &line) : NULL;
    at = at ? read_place(at, &column) : NULL;
    const char *what = at ? strstr(at, "error: ") : NULL;
    what = what ? what + sizeof "error: " - 1 : r->complaint;
    enum pl_status status = pl_fail(r->err, PL_SYNTAX, "this is not YAML: %s",
                                    *what ? what : "the parser gives no reason");
    if (at && r->err) {
        r->err->has_position = true;
        r->err->line = line;
        r->err->column = column;
    }
    return status;
}

static enum pl_status read_events(struct reader *r)
{
    enum pl_status status = PL_OK;
    struct fy_event *event;
    while (status == PL_OK && (event = fy_parser_parse(r->parser))) {
        status = read_event(r, event);
        fy_parser_event_free(r->parser, event);
    }
    if (status == PL_OK && fy_parser_get_stream_error(r->parser))
        status = refuse_syntax(r);
    if (status == PL_OK && !r->n_documents)
        status = pl_fail(r->err, PL_SYNTAX, "it is empty");
    return status;
}

enum pl_status pl_yaml_read(struct pl_buf *to, struct pl_str text, struct pl_error *err)
{
    if (!pl_utf8_is_valid(text))
        return pl_fail(err, PL_SYNTAX, "the text is not UTF-8");
    struct reader r = {.out = pl_json_out(to), .err = err};
    struct fy_diag_cfg diag_cfg = {
        .output_fn = hear,
        .user = &r,
        .level = FYET_ERROR,
        .module_mask = (1u << FYEM_MAX) - 1,
        .show_position = true,
    };
    struct fy_diag *diag = fy_diag_create(&diag_cfg);
    struct fy_parse_cfg cfg = {.flags = FYPCF_DEFAULT_VERSION_1_2, .diag = diag};
    r.parser = diag ? fy_parser_create(&cfg) : NULL;
    enum pl_status status = PL_NOMEM;
    if (r.parser && fy_parser_set_string(r.parser, text.len ? text.ptr : "", text.len) == 0)
        status = read_events(&r);
    if (r.parser)
        fy_parser_destroy(r.parser);
    if (diag)
        fy_diag_destroy(diag);
    return status == PL_OK ? to->status : status;
}
