/* Events of a session that are sent to another server: those that a command has. All others come
 * from the driver itself and never leave the server that owns the session. */
#ifndef PL_LIVE_WIRE_EVENT_WIRE_H
#define PL_LIVE_WIRE_EVENT_WIRE_H

#include "live/wire/wire_fields.h"
#include "session/session.h"

/* The members of an event that are sent; NULL: events of this kind are not sent. */
const struct pl_wire_field *pl_event_wire_fields(enum pl_session_event_kind kind);

/* Appends two fields. PL_INVALID: events of this kind are not sent. */
enum pl_status pl_event_wire_put(struct pl_buf *to, const struct pl_session_event *event,
                                 struct pl_error *err);
/* Strings are views of the bytes of `fields`; the seed is NULL. */
enum pl_status pl_event_wire_take(struct pl_node_fields *fields, struct pl_session_event *ret_event,
                                  struct pl_error *err);

#endif
