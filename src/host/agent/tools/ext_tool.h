/* Tools of extensions in a session (ext/run/ext.h). */
#ifndef PL_AGENT_TOOLS_EXT_TOOL_H
#define PL_AGENT_TOOLS_EXT_TOOL_H

#include "ext/run/ext.h"

struct pl_activity;

/* Runs the call of the activity, if its tool is an extension's; false: it is not. */
bool pl_ext_tool_run(struct pl_activity *activity);
/* --- tool_search.c: tools that are offered later */
#define PL_TOOL_SEARCH "tool_search"
/* Removes deferred tools from the definitions (JSON array), if these take more than a tenth of the
 * window, except tools that the conversation mentions. */
enum pl_status pl_tools_defer(struct pl_arena *arena, struct pl_ext_server *ext,
                              struct pl_str user_id, int64_t window, struct pl_str turns,
                              struct pl_str *tools);
bool pl_tool_search_run(struct pl_activity *activity);
/* {name, description, input_schema} */
void pl_ext_tool_define(struct pl_json_out *out, const struct pl_ext_offered *tool);
/* The label for people, or the name. Memory of the activity. */
struct pl_str pl_ext_tool_label(struct pl_activity *activity, struct pl_str name);

#endif
