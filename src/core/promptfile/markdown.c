/* A prompt as Markdown: settings as YAML front matter between --- lines, then each message under a
 * heading that names its role. A comment after the role holds the other members of a message.
 *
 *     ---
 *     model: demo
 *     ---
 *
 *     ## user <!-- {"id":"m1"} -->
 *
 *     Hello.
 *
 * A line of a message that looks like such a heading gets a backslash, which Markdown does not
 * show. So every text is restored exactly. */
#include "promptfile/export.h"
#include "promptfile/github_int.h"
#include "promptfile/yaml.h"
#include "json/text.h"
#include "json/write.h"

static const char *const roles[] = {"system", "developer", "user", "assistant", "tool", NULL};

/* The role that a heading names, and the rest of the line; NULL if it is not such a heading. */
static const char *heading_role(struct pl_str line, struct pl_str *ret_rest)
{
    if (!pl_str_starts(line, PL_STR("## ")))
        return NULL;
    struct pl_str words = pl_str_slice(line, 3, line.len);
    for (size_t i = 0; roles[i]; i++) {
        struct pl_str role = pl_str_of(roles[i]);
        struct pl_str rest = pl_str_slice(words, role.len, words.len);
        while (rest.len && (rest.ptr[rest.len - 1] == ' ' || rest.ptr[rest.len - 1] == '\r'))
            rest.len--;
        if (!pl_str_starts(words, role) || (rest.len && !pl_str_starts(rest, PL_STR(" <!--"))))
            continue;
        *ret_rest = rest;
        return roles[i];
    }
    return NULL;
}

/* Whether a line is a heading after any number of backslashes. */
static bool is_like_heading(struct pl_str line)
{
    struct pl_str rest;
    while (line.len && line.ptr[0] == '\\')
        line = pl_str_slice(line, 1, line.len);
    return heading_role(line, &rest) != NULL;
}

/* The line at *at without its line feed; moves *at past it. */
static struct pl_str next_line(struct pl_str text, size_t *at)
{
    const char *stop = memchr(text.ptr + *at, '\n', text.len - *at);
    size_t end = stop ? (size_t)(stop - text.ptr) : text.len;
    struct pl_str line = pl_str_slice(text, *at, end);
    *at = stop ? end + 1 : end;
    return line;
}

struct page {
    struct pl_buf *to;
    struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_error *err;
};

static void put_body(struct page *p, struct pl_str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t start = at;
        struct pl_str line = next_line(text, &at);
        if (is_like_heading(line))
            pl_buf_addc(p->to, '\\');
        pl_buf_add(p->to, pl_str_slice(text, start, at));
    }
}

/* The other members of a message, as JSON that is safe in a comment. */
static void put_comment(struct page *p, const struct pl_json_node *message, bool has_words)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    struct pl_json_out out = pl_json_out(&json);
    pl_json_out_open(&out, '{');
    for (const struct pl_json_node *key = pl_json_first_member(message); key < pl_json_end(message);
         key = pl_json_next_member(key)) {
        struct pl_str name;
        if (pl_json_text_is(&p->doc, key, PL_STR("role")) ||
            (has_words && pl_json_text_is(&p->doc, key, PL_STR("content"))))
            continue;
        if (pl_json_text(&p->arena, &p->doc, key, &name) != PL_OK) {
            p->to->status = PL_NOMEM;
            return;
        }
        pl_json_out_key_str(&out, name);
        pl_json_out_raw(&out, PL_STR(""));
        pl_json_write_min(&json, &p->doc, key + 1);
    }
    pl_json_out_close(&out, '}');
    if (json.status != PL_OK)
        p->to->status = json.status;
    if (json.len <= 2)
        return;
    pl_buf_adds(p->to, " <!-- ");
    for (size_t i = 0; i < json.len; i++)
        if (json.ptr[i] == '>')
            pl_buf_adds(p->to, "\\u003e"); /* it occurs only in strings, where the escape means
                                              the same */
        else
            pl_buf_addc(p->to, json.ptr[i]);
    pl_buf_adds(p->to, " -->");
}

static enum pl_status put_message(struct page *p, const struct pl_json_node *message)
{
    const struct pl_json_node *role = pl_json_get(&p->doc, message, PL_STR("role"));
    const struct pl_json_node *content = pl_json_get(&p->doc, message, PL_STR("content"));
    size_t i = 0;
    while (role && pl_json_kind(role) == PL_JSON_STRING && roles[i] &&
           !pl_json_text_is(&p->doc, role, pl_str_of(roles[i])))
        i++;
    if (!role || pl_json_kind(role) != PL_JSON_STRING || !roles[i])
        return pl_fail(p->err, PL_INVALID,
                       "a heading cannot name the role of this message; it must be system, "
                       "developer, user, assistant or tool");
    bool has_words = content && pl_json_kind(content) == PL_JSON_STRING;
    struct pl_str text = {0};
    if (has_words && pl_json_text(&p->arena, &p->doc, content, &text) != PL_OK)
        return PL_NOMEM;
    pl_buf_addf(p->to, "%s## %s", p->to->len ? "\n" : "", roles[i]);
    put_comment(p, message, has_words);
    pl_buf_adds(p->to, "\n\n");
    put_body(p, text);
    pl_buf_addc(p->to, '\n');
    return p->to->status;
}

static enum pl_status put_head(struct page *p)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    struct pl_json_doc head = {0};
    enum pl_status status = pl_prompt_to_file(&json, &p->doc, true, p->err);
    if (status == PL_OK)
        status = pl_prompt_parse(&p->arena, pl_buf_str(&json), &head, p->err);
    if (status != PL_OK || !pl_json_count(head.root))
        return status;
    pl_buf_adds(p->to, "---\n");
    pl_yaml_write(p->to, &head);
    pl_buf_adds(p->to, "---\n");
    return p->to->status;
}

static enum pl_status put_page(struct page *p, struct pl_str chat)
{
    enum pl_status status = pl_prompt_parse(&p->arena, chat, &p->doc, p->err);
    if (status == PL_OK)
        status = put_head(p);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *system = pl_json_get(&p->doc, p->doc.root, PL_STR("system_prompt"));
    const struct pl_json_node *list = pl_json_get(&p->doc, p->doc.root, PL_STR("messages"));
    if (system && pl_json_kind(system) == PL_JSON_STRING) {
        struct pl_str text;
        if (pl_json_text(&p->arena, &p->doc, system, &text) != PL_OK)
            return PL_NOMEM;
        pl_buf_adds(p->to, p->to->len ? "\n## system\n\n" : "## system\n\n");
        put_body(p, text);
        pl_buf_addc(p->to, '\n');
    }
    if (!list || pl_json_kind(list) != PL_JSON_ARRAY)
        return p->to->status;
    for (const struct pl_json_node *n = pl_json_first(list);
         n < pl_json_end(list) && status == PL_OK; n = pl_json_next(n))
        status = put_message(p, n);
    return status;
}

static enum pl_status write_markdown(struct pl_buf *to, struct pl_str chat,
                                     const struct pl_export_how *how, struct pl_error *err)
{
    (void)how;
    struct page p = {.to = to, .err = err};
    pl_arena_init(&p.arena, 0);
    enum pl_status status = put_page(&p, chat);
    pl_arena_deinit(&p.arena);
    return status;
}

/* Reading. */

struct book {
    struct pl_str text;
    struct pl_json_out out;
    struct pl_buf body; /* of the current message, without the added backslashes */
    struct pl_error *err;
    bool is_open;     /* inside a message */
    bool has_content; /* in its comment */
};

static void close_message(struct book *b, bool is_last)
{
    if (!b->is_open)
        return;
    struct pl_str text = pl_buf_str(&b->body);
    for (int i = is_last ? 1 : 2; i > 0 && text.len && text.ptr[text.len - 1] == '\n'; i--)
        text.len--;
    if (!b->has_content) {
        pl_json_out_key(&b->out, "content");
        pl_json_out_text(&b->out, text);
    }
    pl_json_out_close(&b->out, '}');
    if (b->body.status != PL_OK)
        b->out.buf->status = b->body.status;
    b->is_open = false;
}

static enum pl_status open_message(struct book *b, const char *role, struct pl_str comment)
{
    b->is_open = true;
    b->has_content = false;
    pl_buf_clear(&b->body);
    pl_json_out_open(&b->out, '{');
    pl_json_out_key(&b->out, "role");
    pl_json_out_text(&b->out, pl_str_of(role));
    struct pl_str head = PL_STR(" <!--"), tail = PL_STR("-->");
    if (!comment.len)
        return PL_OK;
    if (comment.len < head.len + tail.len ||
        !pl_str_eq(pl_str_slice(comment, comment.len - tail.len, comment.len), tail))
        return pl_fail(b->err, PL_SYNTAX, "the comment after a heading must end with -->");
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(
        &arena, pl_str_slice(comment, head.len, comment.len - tail.len), NULL, &doc, NULL);
    if (status == PL_NOMEM)
        return status;
    if (status != PL_OK || pl_json_kind(doc.root) != PL_JSON_OBJECT)
        return pl_fail(b->err, PL_SYNTAX,
                       "the comment after a heading must be a JSON object: ## user <!-- "
                       "{\"id\":\"m1\"} -->");
    for (const struct pl_json_node *key = pl_json_first_member(doc.root);
         key < pl_json_end(doc.root); key = pl_json_next_member(key)) {
        struct pl_str name;
        if (pl_json_text(&arena, &doc, key, &name) != PL_OK)
            return PL_NOMEM;
        b->has_content |= pl_str_eq(name, PL_STR("content"));
        pl_json_out_key_str(&b->out, name);
        pl_json_out_raw(&b->out, pl_json_span(&doc, key + 1));
    }
    return PL_OK;
}

static enum pl_status read_sections(struct book *b, size_t at)
{
    bool is_first = false; /* the next line is the first below a heading */
    while (at < b->text.len) {
        size_t start = at;
        struct pl_str line = next_line(b->text, &at), rest;
        const char *role = heading_role(line, &rest);
        if (role) {
            close_message(b, false);
            enum pl_status status = open_message(b, role, rest);
            if (status != PL_OK)
                return status;
        } else if (b->is_open && !(is_first && (!line.len || pl_str_eq(line, PL_STR("\r"))))) {
            bool is_escaped = line.len && line.ptr[0] == '\\' && is_like_heading(line);
            pl_buf_add(&b->body, pl_str_slice(b->text, start + is_escaped, at));
        }
        is_first = role != NULL;
    }
    close_message(b, true);
    return b->out.buf->status;
}

struct pl_str pl_markdown_front_matter(struct pl_str text, size_t *ret_end)
{
    size_t at = 0;
    *ret_end = 0;
    if (!text.len || !pl_str_starts(next_line(text, &at), PL_STR("---")))
        return (struct pl_str){0};
    size_t start = at;
    while (at < text.len) {
        size_t line_start = at;
        struct pl_str line = next_line(text, &at);
        if (pl_str_eq(line, PL_STR("---")) || pl_str_eq(line, PL_STR("---\r"))) {
            *ret_end = at;
            return pl_str_slice(text, start, line_start);
        }
    }
    return (struct pl_str){0};
}

size_t pl_markdown_first_heading(struct pl_str text, size_t at)
{
    while (at < text.len) {
        size_t start = at;
        struct pl_str rest;
        if (heading_role(next_line(text, &at), &rest))
            return start;
    }
    return text.len;
}

static enum pl_status read_markdown(struct pl_buf *to, struct pl_str text, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    struct book b = {.text = text, .err = err};
    pl_buf_init(&b.body, 0);
    size_t at;
    struct pl_str head = pl_markdown_front_matter(text, &at);
    enum pl_status status = head.len ? pl_yaml_read(&json, head, err) : PL_OK;
    if (status == PL_OK && json.len && json.ptr[0] != '{')
        status = pl_fail(err, PL_SYNTAX, "the text between the --- lines must be a mapping");
    if (status == PL_OK) {
        /* Appends the list to the mapping that was read. */
        if (json.len)
            json.len--;
        pl_buf_adds(&json, json.len > 1 ? ",\"messages\":"
                           : json.len   ? "\"messages\":"
                                        : "{\"messages\":");
        b.out = pl_json_out(&json);
        pl_json_out_open(&b.out, '[');
        status = read_sections(&b, at);
        pl_json_out_close(&b.out, ']');
        pl_buf_addc(&json, '}');
    }
    if (status == PL_OK)
        status = json.status;
    if (status == PL_OK)
        status = pl_prompt_from_file(to, pl_buf_str(&json), err);
    pl_buf_deinit(&b.body);
    return status;
}

const struct pl_export pl_export_markdown = {
    .name = "markdown",
    .title = "a prompt as Markdown, with a heading for each message",
    .write = write_markdown,
    .read = read_markdown,
};
