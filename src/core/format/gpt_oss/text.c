/* gpt-oss: text to document and back. */
#include "format/gpt_oss/gpt_oss_int.h"

#include "base/text/utf8.h"
#include "json/text.h"
#include "json/write.h"

enum token { START, END, MESSAGE, CHANNEL, CONSTRAIN, RETURN, CALL, OTHER, TEXT_END };

static const struct {
    const char *word;
    enum token token;
} tokens[] = {
    {"<|start|>", START},         {"<|end|>", END},
    {"<|message|>", MESSAGE},     {"<|channel|>", CHANNEL},
    {"<|constrain|>", CONSTRAIN}, {"<|return|>", RETURN},
    {"<|call|>", CALL},           {"<|startoftext|>", OTHER},
    {"<|endoftext|>", OTHER},     {"<|endofprompt|>", OTHER},
    {"<|reserved_", OTHER},
};

/* The first token at or after `from`: its offset and length. */
struct found {
    enum token token;
    size_t at, len;
};

static struct found find_token(struct pl_str text, size_t from)
{
    while (from < text.len) {
        const char *lt = memchr(text.ptr + from, '<', text.len - from);
        if (!lt)
            break;
        from = (size_t)(lt - text.ptr);
        struct pl_str rest = pl_str_slice(text, from, text.len);
        for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
            if (pl_str_starts(rest, pl_str_of(tokens[i].word)))
                return (struct found){tokens[i].token, from, strlen(tokens[i].word)};
        from++;
    }
    return (struct found){TEXT_END, text.len, 0};
}

static size_t skip_space(struct pl_str text, size_t at)
{
    while (at < text.len && strchr(" \t\r\n\v\f", text.ptr[at]) && text.ptr[at])
        at++;
    return at;
}

static bool is_end(enum token token)
{
    return token == END || token == RETURN || token == CALL;
}

bool pl_gpt_oss_is_text(struct pl_str text)
{
    struct pl_str rest = pl_str_slice(text, skip_space(text, 0), text.len);
    struct found first = find_token(rest, 0);
    if (first.token != START && first.token != CHANNEL && first.token != MESSAGE)
        return false;
    /* A completion may begin with the rest of its role. */
    return first.at == 0 ||
           (pl_str_starts(rest, PL_STR("to=")) && !memchr(rest.ptr, '\n', first.at));
}

/* ---- text to document ---- */

/* The text after <|channel|> or <|constrain|>. */
struct piece {
    enum token token;
    size_t from, to;
};
enum { MAX_PIECES = 8 };

struct parser {
    struct pl_str text;
    size_t at;
    bool is_assistant; /* the assistant wrote this message or the last one. Models forget tokens;
                          programs do not */
    struct pl_json_out out;
    struct pl_error *err;
};

static const char *const keys[] = {[CHANNEL] = "channel", [CONSTRAIN] = "constrain"};

static enum pl_status refuse(struct parser *p, size_t at, const char *why)
{
    enum pl_status status = pl_fail(p->err, PL_SYNTAX, "%s", why);
    pl_error_locate(p->err, p->text, at);
    return status;
}

static const char other_token[] =
    "this special token of the model is no part of a conversation; remove it";

static void put(struct parser *p, const char *key, size_t from, size_t to)
{
    pl_json_out_key(&p->out, key);
    pl_json_out_text(&p->out, pl_str_slice(p->text, from, to));
}

static void take_end(struct parser *p, struct found end)
{
    static const char *const ends[] = {[END] = "end", [RETURN] = "return", [CALL] = "call"};
    pl_json_out_key(&p->out, "end");
    pl_json_out_text(&p->out, pl_str_of(ends[end.token]));
    p->at = end.at + end.len;
}

static enum pl_status take_content(struct parser *p, struct found open)
{
    size_t from = open.at + open.len;
    struct found next = find_token(p->text, from);
    put(p, "content", from, next.at);
    p->at = next.at;
    if (next.token == START || next.token == TEXT_END || (next.token == CHANNEL && p->is_assistant))
        return PL_OK; /* not ended: cut off, unfinished, or the model forgot it */
    if (next.token == OTHER)
        return refuse(p, next.at, other_token);
    if (!is_end(next.token))
        return refuse(p, next.at,
                      "a message contains a token that only a header may have; end the message "
                      "first, with <|end|>");
    take_end(p, next);
    return PL_OK;
}

static struct found take_role(struct parser *p, struct found start)
{
    size_t from = start.at + start.len;
    struct found next = find_token(p->text, from);
    struct pl_str role = pl_str_slice(p->text, skip_space(p->text, from), next.at);
    p->is_assistant =
        !role.len || pl_str_starts(role, PL_STR("assistant")) || pl_str_starts(role, PL_STR("to="));
    put(p, "role", from, next.at);
    return next;
}

/* Writes a channel and a data type as members; unusual forms that some models write become a
 * list. */
static void put_pieces(struct parser *p, const struct piece pieces[], size_t n)
{
    bool is_plain = n < 2 || (n == 2 && pieces[0].token == CHANNEL && pieces[1].token == CONSTRAIN);
    if (!is_plain) {
        pl_json_out_key(&p->out, "header");
        pl_json_out_open(&p->out, '[');
    }
    for (size_t i = 0; i < n; i++) {
        if (!is_plain)
            pl_json_out_open(&p->out, '{');
        put(p, keys[pieces[i].token], pieces[i].from, pieces[i].to);
        if (!is_plain)
            pl_json_out_close(&p->out, '}');
    }
    if (!is_plain)
        pl_json_out_close(&p->out, ']');
}

static enum pl_status take_header(struct parser *p, struct found next)
{
    struct piece pieces[MAX_PIECES];
    size_t n = 0;
    while (next.token == CHANNEL || next.token == CONSTRAIN) {
        if (n == MAX_PIECES)
            return refuse(p, next.at, "the header of this message has too many parts");
        size_t from = next.at + next.len;
        pieces[n].token = next.token;
        next = find_token(p->text, from);
        pieces[n].from = from;
        pieces[n++].to = next.at;
    }
    put_pieces(p, pieces, n);
    if (next.token == MESSAGE)
        return take_content(p, next);
    p->at = next.at;
    if (next.token == TEXT_END || (next.token == START && p->is_assistant))
        return PL_OK;
    if (next.token == OTHER)
        return refuse(p, next.at, other_token);
    if (!is_end(next.token) || !p->is_assistant)
        return refuse(p, next.at,
                      "the header of a message is its role, optionally <|channel|> and "
                      "<|constrain|>, then <|message|>");
    take_end(p, next);
    return PL_OK;
}

/* A message without <|start|>: the first of a completion, or the model forgot it. */
static enum pl_status take_bare(struct parser *p, struct found next)
{
    bool has_words = next.at > p->at;
    bool is_other_text = next.token == TEXT_END && find_token(p->text, 0).token == TEXT_END;
    if (next.token == OTHER && !has_words)
        return refuse(p, next.at, other_token);
    if (!p->is_assistant || next.token == OTHER || is_other_text)
        return refuse(p, p->at, "a message must begin with <|start|>");
    if (has_words)
        put(p, "words", p->at, next.at);
    p->at = next.at;
    if (is_end(next.token))
        take_end(p, next);
    else if (next.token != START && next.token != TEXT_END)
        return take_header(p, next);
    return PL_OK;
}

static enum pl_status take_message(struct parser *p)
{
    struct found next = find_token(p->text, p->at);
    if (next.at == p->at && next.token == START)
        return take_header(p, take_role(p, next));
    return take_bare(p, next);
}

enum pl_status pl_gpt_oss_parse(struct pl_str text, struct pl_buf *to, struct pl_error *err)
{
    struct parser p = {.text = text, .is_assistant = true, .out = pl_json_out(to), .err = err};
    if (!pl_utf8_is_valid(text))
        return pl_fail(err, PL_SYNTAX, "the text is not UTF-8");
    enum pl_status status = PL_OK;
    pl_json_out_open(&p.out, '{');
    pl_json_out_key(&p.out, "messages");
    pl_json_out_open(&p.out, '[');
    size_t begin = 0;
    while (status == PL_OK) {
        begin = p.at;
        p.at = skip_space(text, p.at);
        if (p.at == text.len)
            break;
        pl_json_out_open(&p.out, '{');
        if (p.at > begin)
            put(&p, "before", begin, p.at);
        status = take_message(&p);
        pl_json_out_close(&p.out, '}');
    }
    pl_json_out_close(&p.out, ']');
    if (status == PL_OK && begin < text.len)
        put(&p, "after", begin, text.len);
    pl_json_out_close(&p.out, '}');
    return status != PL_OK ? status : to->status;
}

/* ---- document to text ---- */

struct renderer {
    const struct pl_json_doc *doc;
    struct pl_arena *arena;
    struct pl_buf *to;
    struct pl_error *err;
};

static enum pl_status render_string(struct renderer *r, const struct pl_json_node *object,
                                    const char *key, const char *token)
{
    const struct pl_json_node *n = pl_json_get(r->doc, object, pl_str_of(key));
    if (!n || pl_json_kind(n) != PL_JSON_STRING)
        return PL_OK;
    struct pl_str text;
    enum pl_status status = pl_json_text(r->arena, r->doc, n, &text);
    if (status != PL_OK)
        return status;
    if (find_token(text, 0).token != TEXT_END) {
        status = pl_fail(r->err, PL_INVALID,
                         "%s contains a special token of gpt-oss, which a model would obey", key);
        pl_error_locate(r->err, r->doc->text, n->off);
        return status;
    }
    pl_buf_adds(r->to, token);
    pl_buf_add(r->to, text);
    return PL_OK;
}

static enum pl_status render_end(struct renderer *r, const struct pl_json_node *message)
{
    static const char *const ends[] = {"end", "return", "call"};
    const struct pl_json_node *end = pl_json_get(r->doc, message, PL_STR("end"));
    if (!end)
        return PL_OK;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (pl_json_kind(end) == PL_JSON_STRING &&
            pl_json_text_is(r->doc, end, pl_str_of(ends[i]))) {
            pl_buf_addf(r->to, "<|%s|>", ends[i]);
            return PL_OK;
        }
    return pl_fail(r->err, PL_INVALID, "a message ends by end, return or call");
}

struct spelling {
    const char *key, *token;
};

static enum pl_status render_strings(struct renderer *r, const struct pl_json_node *object,
                                     const struct spelling spellings[], size_t n)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < n && status == PL_OK; i++)
        status = render_string(r, object, spellings[i].key, spellings[i].token);
    return status;
}

static enum pl_status render_message(struct renderer *r, const struct pl_json_node *message)
{
    static const struct spelling begin[] = {{"before", ""}, {"words", ""}, {"role", "<|start|>"}};
    static const struct spelling header[] = {{"channel", "<|channel|>"},
                                             {"constrain", "<|constrain|>"}};
    const struct pl_json_node *list = pl_json_get(r->doc, message, PL_STR("header"));
    enum pl_status status = render_strings(r, message, begin, sizeof begin / sizeof *begin);
    if (list && pl_json_kind(list) == PL_JSON_ARRAY)
        for (const struct pl_json_node *n = pl_json_first(list);
             n < pl_json_end(list) && status == PL_OK; n = pl_json_next(n))
            status = render_strings(r, n, header, sizeof header / sizeof *header);
    if (status == PL_OK)
        status = render_strings(r, message, header, sizeof header / sizeof *header);
    if (status == PL_OK)
        status = render_string(r, message, "content", "<|message|>");
    return status == PL_OK ? render_end(r, message) : status;
}

enum pl_status pl_gpt_oss_render(const struct pl_json_doc *doc, struct pl_buf *to,
                                 struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct renderer r = {doc, &arena, to, err};
    const struct pl_json_node *list = pl_json_get(doc, doc->root, PL_STR("messages"));
    if (!list || pl_json_kind(list) != PL_JSON_ARRAY)
        return pl_fail(err, PL_INVALID, "there are no messages to write as gpt-oss text");
    for (const struct pl_json_node *m = pl_json_first(list); m < pl_json_end(list);
         m = pl_json_next(m)) {
        enum pl_status status = render_message(&r, m);
        if (status != PL_OK)
            return status;
        pl_arena_reset(&arena);
    }
    enum pl_status status = render_string(&r, doc->root, "after", "");
    return status != PL_OK ? status : to->status;
}

/* ---- words that look like tokens ---- */

struct pl_str pl_gpt_oss_defuse(struct pl_conv *conv, struct pl_str text)
{
    struct found next = find_token(text, 0);
    if (next.token == TEXT_END)
        return text;
    PL_CLEANUP_BUF struct pl_buf safe;
    pl_buf_init(&safe, 0);
    size_t from = 0;
    for (; next.token != TEXT_END; next = find_token(text, next.at + 1)) {
        pl_buf_add(&safe, pl_str_slice(text, from, next.at + 1));
        pl_buf_addc(&safe, ' ');
        from = next.at + 1;
    }
    pl_buf_add(&safe, pl_str_slice(text, from, text.len));
    struct pl_str kept = pl_arena_dup(conv->arena, pl_buf_str(&safe));
    if (safe.status != PL_OK || !kept.ptr)
        conv->status = PL_NOMEM;
    return kept;
}
