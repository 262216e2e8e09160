/* Reads the head with llhttp, then the body by its length, its chunks or the end of the connection.
 * Input may be split anywhere. */
#include "wire/http1/http1_answer.h"

#include "base/mem.h"
#include "base/table.h"
#include "wire/http1/http1_chunks.h"

enum stage {
    STAGE_HEAD,   /* in a head, or before one */
    STAGE_LENGTH, /* n_left bytes of the body are missing */
    STAGE_CHUNKS,
    STAGE_ENDLESS, /* the body ends with the connection */
    STAGE_COMPLETE,
};

struct pl_http1_answer {
    llhttp_t parser;
    struct pl_buf head; /* owned; from the status line to the empty one */
    char *input;        /* borrowed; unread input */
    size_t n_input;
    struct pl_str body; /* a view of the fed bytes */
    struct pl_http1_chunks chunks;
    uint64_t n_left;
    enum stage stage;
    enum pl_status status; /* sticky after a failure */
    bool is_head_open;     /* `head` is not complete yet */
    bool is_head_read;     /* complete, but not reported yet */
    bool is_kept;
};

static int on_head_end(llhttp_t *parser)
{
    PL_CONTAINER_OF(parser, struct pl_http1_answer, parser)->is_head_read = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t callbacks = {.on_headers_complete = on_head_end};

struct pl_http1_answer *pl_http1_answer_create(void)
{
    struct pl_http1_answer *answer = pl_mem_alloc(1, sizeof *answer);
    if (!answer)
        return NULL;
    *answer = (struct pl_http1_answer){.stage = STAGE_HEAD};
    llhttp_init(&answer->parser, HTTP_RESPONSE, &callbacks);
    pl_buf_init(&answer->head, PL_HTTP1_MAX_ANSWER_HEAD);
    return answer;
}

void pl_http1_answer_destroy(struct pl_http1_answer *answer)
{
    if (!answer)
        return;
    pl_buf_deinit(&answer->head);
    pl_mem_free(answer);
}

void pl_http1_answer_feed(struct pl_http1_answer *answer, char *bytes, size_t n)
{
    answer->input = bytes;
    answer->n_input = n;
}

static void skip_input(struct pl_http1_answer *answer, size_t n)
{
    answer->input += n;
    answer->n_input -= n;
}

/* --- the head -------------------------------------------------------------------------------- */

static bool has_no_body(unsigned status)
{
    return status == 204 || status == 304;
}

/* Selects the framing of the body (RFC 9112, 6.3). */
static enum pl_status leave_head(struct pl_http1_answer *answer, struct pl_error *err)
{
    const llhttp_t *parser = &answer->parser;
    if (parser->status_code == 101)
        return pl_fail(err, PL_SYNTAX, "the answer switches to a protocol that was not requested");
    answer->is_kept = llhttp_should_keep_alive(parser);
    answer->chunks = (struct pl_http1_chunks){0};
    answer->n_left = 0;
    if (parser->status_code < 200) {
        answer->is_head_read = false;
        answer->stage = STAGE_HEAD;
    } else if (has_no_body(parser->status_code)) {
        answer->stage = STAGE_COMPLETE;
    } else if (parser->flags & F_CHUNKED) {
        answer->stage = STAGE_CHUNKS;
    } else if (parser->flags & F_CONTENT_LENGTH) {
        answer->n_left = parser->content_length;
        answer->stage = answer->n_left ? STAGE_LENGTH : STAGE_COMPLETE;
    } else {
        answer->stage = STAGE_ENDLESS;
    }
    return PL_OK;
}

static enum pl_status read_head(struct pl_http1_answer *answer, struct pl_error *err)
{
    size_t n = answer->n_input;
    if (!answer->is_head_open) {
        pl_buf_clear(&answer->head);
        llhttp_reset(&answer->parser);
        llhttp_resume(&answer->parser);
    }
    llhttp_errno_t error = llhttp_execute(&answer->parser, answer->input, n);
    if (answer->is_head_read)
        n = (size_t)(llhttp_get_error_pos(&answer->parser) - answer->input);
    else if (error != HPE_OK)
        return pl_fail(err, PL_SYNTAX, "the answer is not HTTP/1.1: %s", llhttp_errno_name(error));
    pl_buf_add(&answer->head, (struct pl_str){answer->input, n});
    skip_input(answer, n);
    if (answer->head.status == PL_LIMIT)
        return pl_fail(err, PL_LIMIT, "the head of the answer is longer than %u KiB",
                       PL_HTTP1_MAX_ANSWER_HEAD >> 10);
    if (answer->head.status != PL_OK)
        return pl_fail(err, PL_NOMEM, "out of memory for an answer");
    answer->is_head_open = !answer->is_head_read;
    return answer->is_head_read ? leave_head(answer, err) : PL_OK;
}

/* --- the body -------------------------------------------------------------------------------- */

static enum pl_status read_length(struct pl_http1_answer *answer)
{
    size_t n = answer->n_left < answer->n_input ? (size_t)answer->n_left : answer->n_input;
    answer->body = (struct pl_str){answer->input, n};
    answer->n_left -= n;
    skip_input(answer, n);
    if (!answer->n_left)
        answer->stage = STAGE_COMPLETE;
    return PL_OK;
}

/* Moves the data of all fed chunks together. */
static enum pl_status read_chunks(struct pl_http1_answer *answer, struct pl_error *err)
{
    char *to = answer->input;
    enum pl_status status = PL_NOT_FOUND;
    answer->body = (struct pl_str){to, 0};
    while (answer->n_input && status == PL_NOT_FOUND) {
        struct pl_str in = {answer->input, answer->n_input}, data;
        size_t n;
        status = pl_http1_chunks_read(&answer->chunks, in, &n, &data);
        if (data.len)
            memmove(to + answer->body.len, data.ptr, data.len);
        answer->body.len += data.len;
        skip_input(answer, n);
    }
    if (status == PL_OK)
        answer->stage = STAGE_COMPLETE;
    else if (status != PL_NOT_FOUND)
        return pl_fail(err, status, "the chunks of the answer are malformed");
    return PL_OK;
}

static enum pl_status read_some(struct pl_http1_answer *answer, struct pl_error *err)
{
    switch (answer->stage) {
    case STAGE_HEAD:
        return read_head(answer, err);
    case STAGE_CHUNKS:
        return read_chunks(answer, err);
    case STAGE_LENGTH:
        return read_length(answer);
    case STAGE_ENDLESS:
        answer->body = (struct pl_str){answer->input, answer->n_input};
        skip_input(answer, answer->n_input);
        break;
    case STAGE_COMPLETE:
        break;
    }
    return PL_OK;
}

/* --- events ---------------------------------------------------------------------------------- */

/* Whether there is an event to report. */
static bool tell(struct pl_http1_answer *answer, enum pl_http1_event *ret_event)
{
    if (answer->is_head_read) {
        answer->is_head_read = false;
        *ret_event = PL_HTTP1_HEAD;
    } else if (answer->body.len) {
        *ret_event = PL_HTTP1_BODY;
    } else if (answer->stage == STAGE_COMPLETE) {
        answer->stage = STAGE_HEAD;
        *ret_event = PL_HTTP1_END;
    } else if (!answer->n_input) {
        *ret_event = PL_HTTP1_MORE;
    } else {
        return false;
    }
    return true;
}

enum pl_status pl_http1_answer_next(struct pl_http1_answer *answer, enum pl_http1_event *ret_event,
                                    struct pl_error *err)
{
    if (answer->status != PL_OK)
        return pl_fail(err, answer->status, "the answer is not HTTP/1.1");
    answer->body = (struct pl_str){0};
    while (!tell(answer, ret_event)) {
        answer->status = read_some(answer, err);
        /* The body before the failure is reported first, as if it had been fed alone. */
        if (answer->status != PL_OK && !answer->body.len)
            return answer->status;
    }
    return PL_OK;
}

enum pl_status pl_http1_answer_finish(struct pl_http1_answer *answer)
{
    bool is_whole = answer->status == PL_OK && answer->stage == STAGE_ENDLESS;
    answer->status = PL_SYNTAX;
    answer->is_kept = false;
    return is_whole ? PL_OK : PL_SYNTAX;
}

int pl_http1_answer_status(const struct pl_http1_answer *answer)
{
    return answer->parser.status_code;
}

struct pl_str pl_http1_answer_fields(const struct pl_http1_answer *answer)
{
    struct pl_str head = pl_buf_str(&answer->head);
    const char *end = head.len ? memchr(head.ptr, '\n', head.len) : NULL;
    size_t n_first = end ? (size_t)(end - head.ptr) + 1 : head.len;
    return pl_str_slice(head, n_first, head.len);
}

struct pl_str pl_http1_answer_body(const struct pl_http1_answer *answer)
{
    return answer->body;
}

bool pl_http1_answer_is_kept(const struct pl_http1_answer *answer)
{
    return answer->is_kept;
}

bool pl_http1_answer_has_rest(const struct pl_http1_answer *answer)
{
    return answer->n_input > 0;
}
