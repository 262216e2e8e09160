/* A message is read in stages. llhttp reads heads. http1_lines.c checks their lines before llhttp
 * sees them, so two readers must agree on where a head ends. llhttp never gets a byte over a limit,
 * so the result does not depend on how the bytes were split.
 *
 *     IDLE -> HEAD -> GIVEN -> LENGTH -> COMPLETE -> IDLE or LAST
 *                         \--> CHUNKS --/
 *                          \-----------/   (no body)
 *
 * A head is copied once, into `room`, and everything reported about it is a view of that copy. */
#include "wire/http1/http1_chunks.h"

#include "base/mem.h"
#include "base/table.h"

static struct pl_http1 *http_of(llhttp_t *parser)
{
    return PL_CONTAINER_OF(parser, struct pl_http1, parser);
}

/* Callbacks. If the head came in pieces, so do names and values; the pieces of one are adjacent. */

static int on_url(llhttp_t *parser, const char *at, size_t n)
{
    struct pl_http1_room *room = http_of(parser)->room;
    if (!room->n_target)
        room->target_at = (uint16_t)(at - room->bytes.ptr);
    room->n_target = (uint16_t)(at + n - room->bytes.ptr - room->target_at);
    return 0;
}

static int on_field_name(llhttp_t *parser, const char *at, size_t n)
{
    struct pl_http1 *http = http_of(parser);
    if (http->stage != PL_STAGE_HEAD)
        return 0;
    struct pl_http1_room *room = http->room;
    if (!room->is_in_name) {
        if (room->n_fields == PL_HTTP1_MAX_HEADERS)
            return -1;
        room->fields[room->n_fields++] =
            (struct pl_http1_field){.name_at = (uint16_t)(at - room->bytes.ptr)};
        room->is_in_name = true;
    }
    struct pl_http1_field *field = &room->fields[room->n_fields - 1];
    field->n_name = (uint16_t)(at + n - room->bytes.ptr - field->name_at);
    return 0;
}

static int on_field_value(llhttp_t *parser, const char *at, size_t n)
{
    struct pl_http1 *http = http_of(parser);
    if (http->stage != PL_STAGE_HEAD || !http->room->n_fields)
        return 0;
    struct pl_http1_room *room = http->room;
    struct pl_http1_field *field = &room->fields[room->n_fields - 1];
    if (!field->n_value)
        field->value_at = (uint16_t)(at - room->bytes.ptr);
    field->n_value = (uint16_t)(at + n - room->bytes.ptr - field->value_at);
    return 0;
}

static int on_field_name_end(llhttp_t *parser)
{
    struct pl_http1 *http = http_of(parser);
    if (http->stage == PL_STAGE_HEAD)
        http->room->is_in_name = false;
    return 0;
}

static int on_head_end(llhttp_t *parser)
{
    http_of(parser)->is_head_read = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t callbacks = {
    .on_url = on_url,
    .on_header_field = on_field_name,
    .on_header_field_complete = on_field_name_end,
    .on_header_value = on_field_value,
    .on_headers_complete = on_head_end,
};

enum pl_status pl_http1_fail(struct pl_http1 *http, enum pl_status status)
{
    http->stage = PL_STAGE_FAILED;
    http->status = (uint8_t)status;
    return status;
}

/* Lets llhttp read `bytes`. *ret_n is how many bytes it read: fewer than all if a callback stopped
 * it. */
static enum pl_status execute(struct pl_http1 *http, struct pl_str bytes, size_t *ret_n,
                              struct pl_error *err)
{
    llhttp_resume(&http->parser);
    llhttp_errno_t error = llhttp_execute(&http->parser, bytes.len ? bytes.ptr : "", bytes.len);
    *ret_n = bytes.len;
    if (error == HPE_OK)
        return PL_OK;
    if (error != HPE_PAUSED) {
        const char *reason = llhttp_get_error_reason(&http->parser);
        return pl_http1_fail(http, pl_fail(err, PL_SYNTAX, "the request is not HTTP/1.1: %s",
                                           reason ? reason : llhttp_errno_name(error)));
    }
    const char *stopped_at = llhttp_get_error_pos(&http->parser);
    if (bytes.len && stopped_at)
        *ret_n = (size_t)(stopped_at - bytes.ptr);
    return PL_OK;
}

static void skip_input(struct pl_http1 *http, size_t n)
{
    http->input = pl_str_slice(http->input, n, http->input.len);
}

static enum pl_status fail_lines(struct pl_http1 *http, enum pl_http1_verdict verdict,
                                 struct pl_error *err)
{
    static const struct {
        enum pl_status status;
        const char *text;
    } verdicts[] = {
#define X(name, status, text) {PL_##status, text},
        PL_HTTP1_VERDICT_TABLE(X)
#undef X
    };
    http->is_target_too_long =
        verdict == PL_LINES_LONG && http->stage == PL_STAGE_HEAD && http->lines.n_lines == 0;
    return pl_http1_fail(http,
                         pl_fail(err, verdicts[verdict].status, "%s", verdicts[verdict].text));
}

static enum pl_status begin_head(struct pl_http1 *http, struct pl_error *err)
{
    if (!http->room) {
        http->room = pl_mem_alloc(1, sizeof *http->room);
        if (!http->room)
            return pl_http1_fail(http, pl_fail(err, PL_NOMEM, "out of memory for a request"));
        pl_buf_init(&http->room->bytes, PL_HTTP1_MAX_HEAD);
    }
    struct pl_http1_room *room = http->room;
    pl_buf_clear(&room->bytes);
    room->n_target = 0;
    room->n_fields = 0;
    room->is_in_name = false;
    llhttp_reset(&http->parser);
    http->lines = (struct pl_http1_lines){0};
    http->is_head_read = false;
    http->stage = PL_STAGE_HEAD;
    return PL_OK;
}

/* PL_NOT_FOUND: the head continues in bytes not yet received. */
static enum pl_status read_head(struct pl_http1 *http, struct pl_error *err)
{
    struct pl_buf *bytes = &http->room->bytes;
    size_t n, n_read, n_before = bytes->len;
    enum pl_http1_verdict verdict =
        pl_http1_lines_read(&http->lines, http->input, 1 + PL_HTTP1_MAX_HEADERS, &n);
    pl_buf_add(bytes, pl_str_slice(http->input, 0, n));
    if (bytes->status != PL_OK)
        return pl_http1_fail(http, pl_fail(err, PL_NOMEM, "out of memory for a request"));
    skip_input(http, n);
    enum pl_status status =
        execute(http, pl_str_slice(pl_buf_str(bytes), n_before, bytes->len), &n_read, err);
    if (status != PL_OK)
        return status;
    if (verdict > PL_LINES_END)
        return fail_lines(http, verdict, err);
    if (http->is_head_read != (verdict == PL_LINES_END) || n_read != n)
        return pl_http1_fail(http, pl_fail(err, PL_SYNTAX, "the end of the headers is ambiguous"));
    if (verdict == PL_LINES_OPEN)
        return PL_NOT_FOUND;
    http->stage = PL_STAGE_GIVEN;
    return pl_http1_head_finish(http, err);
}

/* The body */

/* After HEAD was reported: selects the next stage. */
static void leave_head(struct pl_http1 *http)
{
    const struct pl_http_head *head = &http->room->head;
    http->chunks = (struct pl_http1_chunks){0};
    http->n_left = head->content_length;
    http->stage = head->is_chunked ? PL_STAGE_CHUNKS
                  : http->n_left   ? PL_STAGE_LENGTH
                                   : PL_STAGE_COMPLETE;
}

static enum pl_status read_length(struct pl_http1 *http)
{
    size_t n = http->n_left < http->input.len ? (size_t)http->n_left : http->input.len;
    http->body = pl_str_slice(http->input, 0, n);
    skip_input(http, n);
    http->n_left -= n;
    if (!http->n_left)
        http->stage = PL_STAGE_COMPLETE;
    return PL_OK;
}

static enum pl_status read_chunks(struct pl_http1 *http, struct pl_error *err)
{
    size_t n;
    enum pl_status status = pl_http1_chunks_read(&http->chunks, http->input, &n, &http->body);
    skip_input(http, n);
    if (status == PL_OK)
        http->stage = PL_STAGE_COMPLETE;
    else if (status == PL_LIMIT)
        return pl_http1_fail(
            http,
            pl_fail(err, status, "a line between two chunks, or after the last one, is too long"));
    else if (status != PL_NOT_FOUND)
        return pl_http1_fail(http, pl_fail(err, status, "the chunks of the body are malformed"));
    return http->body.len ? PL_OK : PL_NOT_FOUND;
}

/* The whole */

/* Skips empty lines before a request (RFC 9112, 2.2); false if nothing else is left. */
static bool skip_empty_lines(struct pl_http1 *http)
{
    while (http->input.len && (http->input.ptr[0] == (http->lines.is_after_cr ? '\n' : '\r'))) {
        http->lines.is_after_cr = !http->lines.is_after_cr;
        skip_input(http, 1);
    }
    return http->input.len > 0;
}

/* One step; PL_NOT_FOUND: no event yet, continue. */
static enum pl_status step(struct pl_http1 *http, enum pl_http1_event *ret_event,
                           struct pl_error *err)
{
    enum pl_status status;
    switch ((enum pl_http1_stage)http->stage) {
    case PL_STAGE_IDLE:
    case PL_STAGE_LAST:
        if (http->lines.is_after_cr && http->input.ptr[0] != '\n')
            return fail_lines(http, PL_LINES_BREAK, err);
        if (!skip_empty_lines(http) || http->lines.is_after_cr)
            return PL_NOT_FOUND;
        if (http->stage == PL_STAGE_LAST)
            return pl_http1_fail(http, pl_fail(err, PL_SYNTAX,
                                               "there are bytes after a request that was declared "
                                               "the last"));
        status = begin_head(http, err);
        return status == PL_OK ? PL_NOT_FOUND : status;
    case PL_STAGE_HEAD:
        *ret_event = PL_HTTP1_HEAD;
        return read_head(http, err);
    case PL_STAGE_GIVEN:
        leave_head(http);
        return PL_NOT_FOUND;
    case PL_STAGE_LENGTH:
        *ret_event = PL_HTTP1_BODY;
        return read_length(http);
    case PL_STAGE_CHUNKS:
        *ret_event = PL_HTTP1_BODY;
        return read_chunks(http, err);
    case PL_STAGE_COMPLETE:
        http->stage = http->room->head.is_keep_alive ? PL_STAGE_IDLE : PL_STAGE_LAST;
        http->lines = (struct pl_http1_lines){0};
        *ret_event = PL_HTTP1_END;
        return PL_OK;
    case PL_STAGE_FAILED:
        break;
    }
    return pl_fail(err, (enum pl_status)http->status, "the connection has already failed");
}

enum pl_status pl_http1_next(struct pl_http1 *http, enum pl_http1_event *ret_event,
                             struct pl_error *err)
{
    enum pl_http1_event event = PL_HTTP1_MORE;
    enum pl_status status = PL_NOT_FOUND;
    http->body = (struct pl_str){0};
    /* These three stages need no input. */
    while (status == PL_NOT_FOUND &&
           (http->input.len || http->stage == PL_STAGE_GIVEN || http->stage == PL_STAGE_COMPLETE ||
            http->stage == PL_STAGE_FAILED))
        status = step(http, &event, err);
    if (status == PL_NOT_FOUND)
        event = PL_HTTP1_MORE;
    else if (status != PL_OK)
        return status;
    *ret_event = event;
    return PL_OK;
}

struct pl_http1 *pl_http1_create(void)
{
    struct pl_http1 *http = pl_mem_alloc(1, sizeof *http);
    if (!http)
        return NULL;
    *http = (struct pl_http1){.stage = PL_STAGE_IDLE};
    llhttp_init(&http->parser, HTTP_REQUEST, &callbacks);
    return http;
}

static void free_room(struct pl_http1 *http)
{
    if (http->room)
        pl_buf_deinit(&http->room->bytes);
    pl_mem_free(http->room);
    http->room = NULL;
}

void pl_http1_destroy(struct pl_http1 *http)
{
    if (!http)
        return;
    free_room(http);
    pl_mem_free(http);
}

void pl_http1_trim(struct pl_http1 *http)
{
    if (http->stage == PL_STAGE_IDLE || http->stage == PL_STAGE_LAST ||
        http->stage == PL_STAGE_FAILED)
        free_room(http);
}

void pl_http1_feed(struct pl_http1 *http, struct pl_str bytes)
{
    http->input = bytes;
}

const struct pl_http_head *pl_http1_head(const struct pl_http1 *http)
{
    return &http->room->head;
}

struct pl_str pl_http1_body(const struct pl_http1 *http)
{
    return http->body;
}

bool pl_http1_is_target_too_long(const struct pl_http1 *http)
{
    return http->is_target_too_long;
}

bool pl_http1_is_idle(const struct pl_http1 *http)
{
    return (http->stage == PL_STAGE_IDLE || http->stage == PL_STAGE_LAST) && !http->input.len;
}

struct pl_str pl_http1_rest(const struct pl_http1 *http)
{
    return http->input;
}
