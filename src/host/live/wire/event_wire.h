/* Events of a session on their way to another server: those that a command brings. All others come
 * from the driver itself and never leave the server that owns the session. */
#ifndef PL_LIVE_WIRE_EVENT_WIRE_H
#define PL_LIVE_WIRE_EVENT_WIRE_H

#include "live/wire/wire_fields.h"
#include "session/session.h"

/* What of an event travels; NULL: the kind does not. */
const struct pl_wire_field *pl_event_wire_fields(enum pl_session_event_kind kind);

/* Appends two fields. PL_INVALID: this kind does not travel. */
enum pl_status pl_event_wire_put(struct pl_buf *to, const struct pl_session_event *event,
                                 struct pl_error *err);
/* Strings are views of what `fields` reads; the seed is NULL. */
enum pl_status pl_event_wire_take(struct pl_node_fields *fields, struct pl_session_event *ret_event,
                                  struct pl_error *err);

#endif
