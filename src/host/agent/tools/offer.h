/* The tools that a session offers its models: "all" built-in ones, "none", or a list of names of
 * built-in tools and of definitions {name, description, input_schema} of the client. */
#ifndef PL_AGENT_TOOLS_OFFER_H
#define PL_AGENT_TOOLS_OFFER_H

#include "base/arena.h"
#include "base/buf.h"
#include "json/json.h"

struct pl_ext_server;

/* Whether a list limits the offered tools. `choice` is JSON; empty: all. */
bool pl_offer_is_limited(struct pl_str choice);

/* Appends the definitions for a model: a JSON array of {name, description, input_schema}.
 * `has_memory`: the session may use memories. `ext`: the extensions, of which the user's are
 * offered; NULL: none. */
enum pl_status pl_offer_write(struct pl_arena *arena, struct pl_str choice, struct pl_str model,
                              bool has_memory, struct pl_ext_server *ext, struct pl_str user_id,
                              struct pl_buf *to);

/* The schema of a client's own tool, as JSON; {NULL, 0}: the client has no tool of this name.
 * Memory of the arena. */
enum pl_status pl_offer_find_own(struct pl_arena *arena, struct pl_str choice, struct pl_str name,
                                 struct pl_str *ret_schema);

/* Whether the array of offered definitions has a tool of this name. */
bool pl_offer_has(struct pl_str definitions, struct pl_str name);

/* PL_INVALID with the place and a sentence: a name that is not a built-in tool, the same name
 * twice, a definition with a name that the server uses, an invalid schema. `node` is already valid
 * for the API's schema. */
enum pl_status pl_offer_check(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const struct pl_json_node *node, const char *pointer,
                              struct pl_ext_server *ext, struct pl_str user_id,
                              struct pl_error *err);

#endif
