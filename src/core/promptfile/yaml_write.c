/* Writes a JSON value as YAML. A scalar is written plain only if no reader takes it for anything
 * else. */
#include "base/text/utf8.h"
#include "base/ascii.h"
#include "promptfile/yaml.h"
#include "json/text.h"

enum { MAX_DEPTH = 64, STEP = 2 };

/* A container whose children are being written. */
struct frame {
    const struct pl_json_node *next, *end;
    uint32_t indent;
    bool is_object;
    bool is_inline; /* the first child follows the "- " of the parent */
};

struct yaml {
    struct pl_buf *to;
    const struct pl_json_doc *doc;
    struct pl_arena arena;
    struct frame frames[MAX_DEPTH + 1];
    uint32_t depth;
};

/* Code points that may occur unescaped in a document (YAML 1.2, 5.1), except line breaks and the
 * byte-order mark, which some readers interpret. */
static bool is_printable(int32_t c)
{
    if (c < 0x20 || (c >= 0x7f && c < 0xa0))
        return false;
    return c != 0x2028 && c != 0x2029 && c != 0xfeff && c != 0xfffe && c != 0xffff;
}

static bool is_letter(char c)
{
    return pl_ascii_is_letter(c) || c == '_';
}

/* Words that some reader does not take for text. */
static bool is_loaded(struct pl_str s)
{
    static const char *const words[] = {"true", "false", "null", "yes", "no",  "on",
                                        "off",  "y",     "n",    "nan", "inf", NULL};
    for (const char *const *word = words; *word; word++) {
        size_t i = 0;
        while (i < s.len && (*word)[i] && (s.ptr[i] | 0x20) == (*word)[i])
            i++;
        if (i == s.len && !(*word)[i])
            return true;
    }
    return false;
}

static bool is_plain(struct pl_str s)
{
    if (!s.len || (!is_letter(s.ptr[0]) && (unsigned char)s.ptr[0] < 0x80) ||
        s.ptr[s.len - 1] == ' ' || is_loaded(s))
        return false;
    for (size_t at = 0; at < s.len;) {
        char c = s.ptr[at];
        bool is_ascii = (unsigned char)c < 0x80;
        if (is_ascii && !is_letter(c) && !pl_ascii_is_digit(c) && !strchr(" -./()+,;!?'", c))
            return false;
        if (!is_printable(pl_utf8_next(s, &at)))
            return false;
    }
    return true;
}

/* Whether a literal block keeps this text of several lines exactly. A text with a line of only
 * spaces is quoted: editors trim such lines. */
static bool is_block(struct pl_str s)
{
    bool has_break = false, has_words = false, is_blank = true;
    size_t line = 0;
    for (size_t at = 0; at < s.len;) {
        size_t start = at;
        int32_t c = pl_utf8_next(s, &at);
        if (c == '\n') {
            has_break = true;
            if (is_blank && start > line)
                return false;
            is_blank = true;
            line = at;
        } else if (c != '\t' && !is_printable(c)) {
            return false;
        } else if (c != ' ' && c != '\t') {
            is_blank = false;
            has_words = true;
        }
    }
    return has_break && has_words && !(is_blank && s.len > line);
}

static void add_quoted(struct pl_buf *to, struct pl_str s)
{
    pl_buf_addc(to, '"');
    for (size_t at = 0; at < s.len;) {
        size_t start = at;
        int32_t c = pl_utf8_next(s, &at);
        if (c == '"' || c == '\\')
            pl_buf_addc(to, '\\');
        if (c == '\n')
            pl_buf_adds(to, "\\n");
        else if (c == '\t')
            pl_buf_adds(to, "\\t");
        else if (is_printable(c))
            pl_buf_add(to, pl_str_slice(s, start, at));
        else
            pl_buf_addf(to, "\\u%04X", (unsigned)c);
    }
    pl_buf_addc(to, '"');
}

/* The header says how the text ends: "-" no line break, nothing one, "+" all of them. */
static void add_block(struct pl_buf *to, struct pl_str s, uint32_t indent)
{
    size_t n_breaks = 0;
    while (n_breaks < s.len && s.ptr[s.len - 1 - n_breaks] == '\n')
        n_breaks++;
    pl_buf_addc(to, '|');
    if (strchr(" \t\n", s.ptr[0]))
        pl_buf_addf(to, "%d", STEP);
    if (n_breaks != 1)
        pl_buf_addc(to, n_breaks ? '+' : '-');
    pl_buf_addc(to, '\n');
    for (size_t at = 0; at < s.len;) {
        const char *stop = memchr(s.ptr + at, '\n', s.len - at);
        size_t end = stop ? (size_t)(stop - s.ptr) : s.len;
        if (end > at)
            pl_buf_fill(to, ' ', indent);
        pl_buf_add(to, pl_str_slice(s, at, end));
        pl_buf_addc(to, '\n');
        at = end + 1;
    }
}

/* A key, or a value that is not a filled container, and the end of its line. `indent` is that of
 * its parent. */
static void add_scalar(struct yaml *y, const struct pl_json_node *n, uint32_t indent)
{
    struct pl_str text = pl_json_span(y->doc, n);
    bool is_key = n->tag & PL_JSON_KEY;
    if (pl_json_kind(n) == PL_JSON_STRING) {
        if (pl_json_text(&y->arena, y->doc, n, &text) != PL_OK) {
            y->to->status = PL_NOMEM;
            return;
        }
        if (!is_key && is_block(text)) {
            add_block(y->to, text, indent + STEP);
            return;
        }
        if (!is_plain(text)) {
            add_quoted(y->to, text);
            text = PL_STR("");
        }
    } else if (pl_json_is_container(n)) {
        text = pl_json_kind(n) == PL_JSON_ARRAY ? PL_STR("[]") : PL_STR("{}");
    }
    pl_buf_add(y->to, text);
    pl_buf_addc(y->to, is_key ? ':' : '\n');
}

static void open_container(struct yaml *y, const struct pl_json_node *n, uint32_t indent,
                           bool is_inline)
{
    if (y->depth > MAX_DEPTH) {
        y->to->status = PL_LIMIT;
        return;
    }
    y->frames[y->depth++] = (struct frame){
        .next = pl_json_first(n),
        .end = pl_json_end(n),
        .indent = indent,
        .is_object = pl_json_kind(n) == PL_JSON_OBJECT,
        .is_inline = is_inline,
    };
}

static void add_child(struct yaml *y, struct frame *frame)
{
    const struct pl_json_node *value = frame->next + (frame->is_object ? 1 : 0);
    bool is_filled = pl_json_is_container(value) && pl_json_count(value);
    uint32_t indent = frame->indent;
    if (!frame->is_inline)
        pl_buf_fill(y->to, ' ', indent);
    frame->is_inline = false;
    if (frame->is_object)
        add_scalar(y, frame->next, indent);
    else
        pl_buf_addc(y->to, '-');
    frame->next = pl_json_next(value);
    if (!is_filled || !frame->is_object)
        pl_buf_addc(y->to, ' ');
    if (!is_filled) {
        add_scalar(y, value, indent);
        return;
    }
    if (frame->is_object)
        pl_buf_addc(y->to, '\n');
    open_container(y, value, indent + STEP, !frame->is_object);
}

void pl_yaml_write(struct pl_buf *to, const struct pl_json_doc *doc)
{
    struct yaml y = {.to = to, .doc = doc};
    pl_arena_init(&y.arena, 0);
    if (!pl_json_count(doc->root))
        pl_buf_adds(to, "{}\n");
    else
        open_container(&y, doc->root, 0, false);
    while (y.depth && to->status == PL_OK) {
        struct frame *frame = &y.frames[y.depth - 1];
        if (frame->next >= frame->end)
            y.depth--;
        else
            add_child(&y, frame);
    }
    pl_arena_deinit(&y.arena);
}
