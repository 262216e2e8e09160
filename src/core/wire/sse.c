/* Splits the input into lines and fields. Data of one line stays a view of the input if
 * possible. */
#include "wire/sse.h"

void pl_sse_init(struct pl_sse *sse, size_t max_bytes)
{
    *sse = (struct pl_sse){0};
    pl_buf_init(&sse->line, max_bytes);
    pl_buf_init(&sse->data, max_bytes);
    pl_buf_init(&sse->type, max_bytes);
}

void pl_sse_deinit(struct pl_sse *sse)
{
    pl_buf_deinit(&sse->line);
    pl_buf_deinit(&sse->data);
    pl_buf_deinit(&sse->type);
}

void pl_sse_feed(struct pl_sse *sse, struct pl_str bytes)
{
    sse->input = bytes;
}

static enum pl_status trouble(const struct pl_sse *sse)
{
    return sse->line.status != PL_OK   ? sse->line.status
           : sse->data.status != PL_OK ? sse->data.status
                                       : sse->type.status;
}

/* Copies the view before the input becomes invalid. */
static void keep_view(struct pl_sse *sse)
{
    if (!sse->view.ptr)
        return;
    pl_buf_add(&sse->data, sse->view);
    sse->view = (struct pl_str){0};
}

static void add_data(struct pl_sse *sse, struct pl_str value, bool is_in_input)
{
    if (sse->has_data) {
        keep_view(sse);
        pl_buf_addc(&sse->data, '\n');
    }
    if (!sse->has_data && is_in_input && value.len <= sse->data.max)
        sse->view = value;
    else
        pl_buf_add(&sse->data, value);
    sse->has_data = true;
}

/* "field: value"; one space after the colon is skipped. */
static void take_field(struct pl_sse *sse, struct pl_str line, bool is_in_input)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    struct pl_str name = pl_str_slice(line, 0, colon ? (size_t)(colon - line.ptr) : line.len);
    struct pl_str value = pl_str_slice(line, name.len + 1, line.len);
    if (value.len && value.ptr[0] == ' ')
        value = pl_str_slice(value, 1, value.len);
    if (pl_str_eq(name, PL_STR("data"))) {
        add_data(sse, value, is_in_input);
    } else if (pl_str_eq(name, PL_STR("event"))) {
        sse->type.len = 0;
        pl_buf_add(&sse->type, value);
    }
}

static void begin_event(struct pl_sse *sse)
{
    sse->data.len = sse->type.len = 0;
    sse->view = (struct pl_str){0};
    sse->has_data = sse->is_given = false;
}

static void hand_out(struct pl_sse *sse, struct pl_sse_event *ret_event)
{
    ret_event->type = pl_buf_str(&sse->type);
    ret_event->data = sse->view.ptr ? sse->view : pl_buf_str(&sse->data);
    sse->is_given = true;
}

/* Offset of the first CR or LF, or the length. */
static size_t line_end(struct pl_str s)
{
    const char *lf = memchr(s.ptr, '\n', s.len);
    size_t n = lf ? (size_t)(lf - s.ptr) : s.len;
    const char *cr = memchr(s.ptr, '\r', n);
    return cr ? (size_t)(cr - s.ptr) : n;
}

static void skip(struct pl_sse *sse, size_t n)
{
    sse->input = pl_str_slice(sse->input, n, sse->input.len);
}

/* The next whole line: a view of the input, or of sse->line if it came in pieces. */
static bool take_line(struct pl_sse *sse, struct pl_str *ret_line, bool *ret_is_in_input)
{
    if (!pl_sse_end_line(sse) || !sse->input.len)
        return false;
    size_t n = line_end(sse->input);
    struct pl_str piece = pl_str_slice(sse->input, 0, n);
    if (n == sse->input.len) {
        pl_buf_add(&sse->line, piece);
        skip(sse, n);
        return false;
    }
    sse->is_after_cr = sse->input.ptr[n] == '\r';
    skip(sse, n + 1);
    *ret_is_in_input = sse->line.len == 0;
    if (!*ret_is_in_input)
        pl_buf_add(&sse->line, piece);
    *ret_line = *ret_is_in_input ? piece : pl_buf_str(&sse->line);
    return true;
}

static struct pl_str without_mark(struct pl_sse *sse, struct pl_str line)
{
    struct pl_str mark = PL_STR("\xEF\xBB\xBF");
    bool has_mark = !sse->is_started && pl_str_starts(line, mark);
    sse->is_started = true;
    return has_mark ? pl_str_slice(line, mark.len, line.len) : line;
}

enum pl_status pl_sse_next(struct pl_sse *sse, struct pl_sse_event *ret_event)
{
    if (sse->is_given)
        begin_event(sse);
    struct pl_str line;
    bool is_in_input;
    while (take_line(sse, &line, &is_in_input)) {
        line = without_mark(sse, line);
        if (line.len == 0 && sse->has_data) {
            sse->line.len = 0;
            hand_out(sse, ret_event);
            return trouble(sse);
        }
        if (line.len == 0)
            begin_event(sse);
        else if (line.ptr[0] != ':')
            take_field(sse, line, is_in_input);
        sse->line.len = 0;
        if (trouble(sse) != PL_OK)
            return trouble(sse);
    }
    keep_view(sse);
    return trouble(sse) != PL_OK ? trouble(sse) : PL_NOT_FOUND;
}

enum pl_status pl_sse_finish(struct pl_sse *sse, struct pl_sse_event *ret_event)
{
    if (sse->is_given)
        begin_event(sse);
    if (sse->line.len) {
        struct pl_str line = without_mark(sse, pl_buf_str(&sse->line));
        if (line.len && line.ptr[0] != ':')
            take_field(sse, line, false);
        sse->line.len = 0;
    }
    if (trouble(sse) != PL_OK)
        return trouble(sse);
    if (!sse->has_data)
        return PL_NOT_FOUND;
    hand_out(sse, ret_event);
    return PL_OK;
}
