/* The tools that models are offered, from the table in tools.c. */
#ifndef PL_AGENT_TOOLS_TOOLS_H
#define PL_AGENT_TOOLS_TOOLS_H

#include "base/buf.h"
#include "session/session.h"

/* Appends the definitions for a call of this model: a JSON array of {name, description,
 * input_schema}. `has_memory`: the session may use memories. */
void pl_tools_define(struct pl_str model, bool has_memory, struct pl_buf *to);
/* The same for one tool, unless it needs memory and has_memory is false. */
struct pl_json_out;
void pl_tools_define_one(struct pl_json_out *out, struct pl_str name, bool has_memory);
bool pl_tools_has(struct pl_str name);
/* Whether the session itself runs it. Nothing else may have this name. */
bool pl_tools_is_sessions(struct pl_str name);
/* The names, as elements of an array. */
void pl_tools_write_names(struct pl_json_out *out);
/* "AskUserQuestion, Agent, calc …" */
void pl_tools_names(struct pl_buf *to);
/* Appends the answer of GET /api/tools. */
void pl_tools_list(enum pl_chat_language language, struct pl_buf *to);
/* The name for people; for a tool that is not built in, its name. */
struct pl_str pl_tool_display_name(struct pl_str tool, enum pl_chat_language language);

#endif
