/* Reads server-sent events (WHATWG HTML, section 9.2) from bytes that may be split anywhere.
 *
 *     feed bytes -> next event, next event, … -> feed more -> … -> end
 *
 * Lines end in CR, LF or CRLF; a byte-order mark at the start is skipped; comments, id and retry
 * are ignored. Data of several lines is joined by LF. Bytes are not decoded: the data of these
 * streams is JSON, and its parser checks the UTF-8. */
#ifndef PL_WIRE_SSE_H
#define PL_WIRE_SSE_H

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

struct pl_sse_event {
    struct pl_str type; /* value of the event field; empty if absent */
    struct pl_str data;
};

struct pl_sse {
    struct pl_buf line; /* the beginning of an incomplete line */
    struct pl_buf data; /* data of the open event, if it is more than one piece of the input */
    struct pl_buf type;
    struct pl_str view;  /* otherwise the data, as a view of the input */
    struct pl_str input; /* unread; borrowed from the last feed */
    bool has_data;       /* the open event has a data field */
    bool is_after_cr;    /* the last byte was a CR: a following LF belongs to it */
    bool is_started;     /* past a possible byte-order mark */
    bool is_given;       /* the event was returned: the next call begins a new one */
};

/* max_bytes caps one line and the data of one event (0: no cap). */
void pl_sse_init(struct pl_sse *sse, size_t max_bytes);
void pl_sse_deinit(struct pl_sse *sse);

/* Sets the bytes to read; they must stay valid until pl_sse_next returns PL_NOT_FOUND. */
void pl_sse_feed(struct pl_sse *sse, struct pl_str bytes);

/* Skips the LF of a CRLF after its CR. False if the LF may still come. */
static inline bool pl_sse_end_line(struct pl_sse *sse)
{
    if (!sse->is_after_cr || !sse->input.len)
        return !sse->is_after_cr;
    if (sse->input.ptr[0] == '\n')
        sse->input = pl_str_slice(sse->input, 1, sse->input.len);
    sse->is_after_cr = false;
    return true;
}

/* Whether `input` begins with a new event, so that a caller that knows its length may take it from
 * there. */
static inline bool pl_sse_is_at_event(struct pl_sse *sse)
{
    bool is_open = !sse->is_given && (sse->has_data || sse->type.len);
    return sse->is_started && !sse->line.len && !is_open && pl_sse_end_line(sse);
}

/* The next whole event, valid until the next call. PL_NOT_FOUND: more bytes are needed. PL_LIMIT:
 * a line or an event is too long. PL_NOMEM. */
enum pl_status pl_sse_next(struct pl_sse *sse, struct pl_sse_event *ret_event);

/* Whether the event is OpenAI's mark of the end. As in the vendor's clients, more may follow it. */
static inline bool pl_sse_is_done(const struct pl_sse_event *event)
{
    return pl_str_starts(event->data, PL_STR("[DONE]"));
}

/* At the end of the input: returns the event that was not closed by an empty line. The standard
 * discards it, but the last event of a vendor often lacks the empty line. PL_NOT_FOUND: no such
 * event. */
enum pl_status pl_sse_finish(struct pl_sse *sse, struct pl_sse_event *ret_event);

#endif
