#include "unit/wire/told.h"

#include "base/mem.h"
#include "wire/http1/http1_answer.h"
#include "wire/websocket.h"

#include <stdio.h>
#include <stdlib.h>

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

/* The next piece, in its own block; *bytes moves past it. */
static struct pl_str take_piece(struct pl_str *bytes, struct cut *cut, char **ret_block)
{
    size_t n = cut->n_piece;
    if (!n) {
        cut->seed = cut->seed * 1664525 + 1013904223;
        n = 1 + (cut->seed >> 16) % 40;
    }
    n = n < bytes->len ? n : bytes->len;
    char *block = pl_mem_alloc(n, 1);
    must(block);
    memcpy(block, bytes->ptr, n);
    *bytes = pl_str_slice(*bytes, n, bytes->len);
    *ret_block = block;
    return (struct pl_str){block, n};
}

enum pl_status told_however_cut(told_fn *tell, struct pl_str bytes, struct pl_buf *told)
{
    enum { N_RANDOM_CUTS = 20 };
    enum pl_status status = tell(bytes, CUT_WHOLE, told);
    for (uint32_t i = 0; i <= N_RANDOM_CUTS; i++) {
        PL_CLEANUP_BUF struct pl_buf again;
        pl_buf_init(&again, 0);
        enum pl_status other = tell(bytes, i ? (struct cut){0, i} : CUT_BYTES, &again);
        if (other == status && pl_str_eq(pl_buf_str(told), pl_buf_str(&again)))
            continue;
        fprintf(stderr, "cut %u tells otherwise:\n%.*s\nwhole:\n%.*s\n", i,
                PL_STR_ARG(pl_buf_str(&again)), PL_STR_ARG(pl_buf_str(told)));
        abort();
    }
    return status;
}

static void tell_text(struct pl_buf *told, const char *what, struct pl_str text)
{
    pl_buf_addf(told, "%s[%zu] ", what, text.len);
    pl_buf_add(told, text);
    pl_buf_addc(told, '\n');
}

static void tell_head(struct pl_buf *told, const struct pl_http_head *head)
{
    pl_buf_addf(told, "%s %s%s%s%s%s", pl_method_text(head->method),
                head->is_http10 ? "1.0" : "1.1", head->is_keep_alive ? " keep" : "",
                head->is_upgrade ? " upgrade" : "", head->expects_continue ? " expects" : "",
                head->is_chunked ? " chunked" : "");
    if (head->has_length)
        pl_buf_addf(told, " %llu", (unsigned long long)head->content_length);
    tell_text(told, " target", head->target);
    for (size_t i = 0; i < head->n_headers; i++) {
        tell_text(told, " name", head->headers[i].name);
        tell_text(told, " value", head->headers[i].value);
    }
}

/* Writes the events of the fed bytes, until more is needed or it fails. */
static enum pl_status tell_http1(struct pl_http1 *http, struct pl_buf *body, struct pl_buf *told)
{
    struct pl_error err;
    for (;;) {
        enum pl_http1_event event;
        enum pl_status status = pl_http1_next(http, &event, &err);
        if (status != PL_OK)
            return status;
        switch (event) {
        case PL_HTTP1_MORE:
            return PL_OK;
        case PL_HTTP1_HEAD:
            tell_head(told, pl_http1_head(http));
            break;
        case PL_HTTP1_BODY:
            must(pl_http1_body(http).len > 0);
            pl_buf_add(body, pl_http1_body(http));
            break;
        case PL_HTTP1_END:
            /* The head is still valid, though the pieces it came in are freed. */
            tell_text(told, "END", pl_http1_head(http)->target);
            tell_text(told, " body", pl_buf_str(body));
            pl_buf_clear(body);
            break;
        }
    }
}

enum pl_status told_http1(struct pl_str bytes, struct cut cut, struct pl_buf *told)
{
    struct pl_http1 *http = pl_http1_create();
    enum pl_status status = PL_OK;
    PL_CLEANUP_BUF struct pl_buf body;
    pl_buf_init(&body, 0);
    must(http);
    while (bytes.len && status == PL_OK) {
        char *block;
        pl_http1_feed(http, take_piece(&bytes, &cut, &block));
        status = tell_http1(http, &body, told);
        pl_mem_free(block);
    }
    tell_text(told, "open body", pl_buf_str(&body));
    pl_buf_addf(told, "%s%s\n", pl_status_info(status)->name,
                pl_http1_is_target_too_long(http) ? " target" : "");
    if (status == PL_OK)
        pl_buf_adds(told, pl_http1_is_idle(http) ? "idle\n" : "within\n");
    pl_http1_destroy(http);
    must(told->status == PL_OK);
    return status;
}

static void tell_answer_end(struct pl_http1_answer *answer, struct pl_buf *body,
                            struct pl_buf *told)
{
    tell_text(told, pl_http1_answer_is_kept(answer) ? "END kept" : "END", pl_buf_str(body));
    pl_buf_clear(body);
}

static enum pl_status tell_answer(struct pl_http1_answer *answer, struct pl_buf *body,
                                  struct pl_buf *told)
{
    struct pl_error err;
    for (;;) {
        enum pl_http1_event event;
        enum pl_status status = pl_http1_answer_next(answer, &event, &err);
        if (status != PL_OK || event == PL_HTTP1_MORE)
            return status;
        switch (event) {
        case PL_HTTP1_MORE:
            break;
        case PL_HTTP1_HEAD:
            pl_buf_addf(told, "HEAD %d", pl_http1_answer_status(answer));
            tell_text(told, "", pl_http1_answer_fields(answer));
            break;
        case PL_HTTP1_BODY:
            must(pl_http1_answer_body(answer).len > 0);
            pl_buf_add(body, pl_http1_answer_body(answer));
            break;
        case PL_HTTP1_END:
            tell_answer_end(answer, body, told);
            break;
        }
    }
}

enum pl_status told_answers(struct pl_str bytes, struct cut cut, struct pl_buf *told)
{
    struct pl_http1_answer *answer = pl_http1_answer_create();
    enum pl_status status = PL_OK;
    PL_CLEANUP_BUF struct pl_buf body;
    pl_buf_init(&body, 0);
    must(answer);
    while (bytes.len && status == PL_OK) {
        char *block;
        struct pl_str piece = take_piece(&bytes, &cut, &block);
        pl_http1_answer_feed(answer, block, piece.len);
        status = tell_answer(answer, &body, told);
        pl_mem_free(block);
    }
    if (status == PL_OK && pl_http1_answer_finish(answer) == PL_OK)
        tell_answer_end(answer, &body, told);
    tell_text(told, "open", pl_buf_str(&body));
    pl_buf_addf(told, "%s\n", pl_status_info(status)->name);
    pl_http1_answer_destroy(answer);
    must(told->status == PL_OK);
    return status;
}

enum pl_status told_ws(struct pl_str bytes, struct cut cut, struct pl_buf *told)
{
    struct pl_ws ws;
    struct pl_error err;
    struct pl_ws_message message;
    enum pl_status status = PL_NOT_FOUND;
    pl_ws_init(&ws);
    while (bytes.len && status == PL_NOT_FOUND) {
        char *block;
        struct pl_str piece = take_piece(&bytes, &cut, &block);
        pl_ws_feed(&ws, block, piece.len);
        while ((status = pl_ws_next(&ws, &message, &err)) == PL_OK) {
            pl_buf_addf(told, "%d", (int)message.opcode);
            if (message.opcode == PL_WS_CLOSE)
                pl_buf_addf(told, " %d", message.close_code);
            tell_text(told, " payload", message.payload);
        }
        pl_mem_free(block);
    }
    if (status != PL_NOT_FOUND)
        pl_buf_addf(told, "%s %d\n", pl_status_info(status)->name, ws.close_code);
    pl_ws_deinit(&ws);
    must(told->status == PL_OK);
    return status == PL_NOT_FOUND ? PL_OK : status;
}

void told_frame(struct pl_buf *to, uint8_t first, struct pl_str payload, const char mask[4])
{
    uint8_t head[PL_WS_MAX_HEAD];
    size_t n_head = pl_ws_head_write(head, PL_WS_TEXT, payload.len);
    head[0] = first;
    head[1] |= 0x80;
    pl_buf_add(to, (struct pl_str){(const char *)head, n_head});
    pl_buf_add(to, (struct pl_str){mask, 4});
    for (size_t i = 0; i < payload.len; i++)
        pl_buf_addc(to, (char)(payload.ptr[i] ^ mask[i % 4]));
}
