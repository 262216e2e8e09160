/* Built-in tools. They are implemented in tool_*.c, one topic each; the table is in tools.c.
 *
 * A tool gets arguments that are valid for its schema, and ends its activity by
 * pl_activity_finish_tool or pl_activity_fail_tool, immediately or later. Blocking work goes to a
 * worker by pl_tool_work. */
#ifndef PL_AGENT_TOOLS_TOOL_INT_H
#define PL_AGENT_TOOLS_TOOL_INT_H

#include "agent/activity_int.h"
#include "json/json.h"

/* On a worker: appends the result, JSON, to activity->text; or fails with a sentence in
 * activity->err, which the model reads. */
typedef enum pl_status pl_tool_work_fn(struct pl_activity *activity,
                                       const struct pl_json_doc *arguments);
void pl_tool_work(struct pl_activity *activity, pl_tool_work_fn *work);
/* Ends the activity of a tool that failed, with the sentence in activity->err. */
void pl_tool_fail(struct pl_activity *activity, enum pl_status status);

/* Lists all errors of the arguments by this schema, as far as there is room, so that the model can
 * correct them; ret_says stays empty if there are none. */
enum pl_status pl_tool_check(struct pl_activity *activity, struct pl_str schema_text,
                             const struct pl_json_doc *doc, char *ret_says, size_t size);

/* --- client_tool.c: tools that a client has defined and runs. False: it is not such a tool. */
bool pl_client_tool_run(struct pl_activity *activity);

/* The text of a member; {NULL, 0} if it is absent. Memory of the activity. */
enum pl_status pl_tool_text(struct pl_activity *activity, const struct pl_json_doc *arguments,
                            const char *name, struct pl_str *ret_text);

/* --- tool_basic.c: the calculator and the clock */
void pl_tool_calc(struct pl_activity *activity, const struct pl_json_doc *arguments);
void pl_tool_clock(struct pl_activity *activity, const struct pl_json_doc *arguments);

/* --- tool_memory.c: memories across sessions */
void pl_tool_memory_save(struct pl_activity *activity, const struct pl_json_doc *arguments);
void pl_tool_memory_search(struct pl_activity *activity, const struct pl_json_doc *arguments);

/* --- tool_handoff.c: this session as a packet for another agent */
void pl_tool_handoff(struct pl_activity *activity, const struct pl_json_doc *arguments);

/* --- tool_planning.c: entering and leaving planning mode, and the plan itself */
void pl_tool_planning_enter(struct pl_activity *activity, const struct pl_json_doc *arguments);
void pl_tool_planning_exit(struct pl_activity *activity, const struct pl_json_doc *arguments);
void pl_tool_plan_status(struct pl_activity *activity, const struct pl_json_doc *arguments);

/* --- tool_demo.c: for scripts of the demo models */
void pl_tool_echo(struct pl_activity *activity, const struct pl_json_doc *arguments);
void pl_tool_wait(struct pl_activity *activity, const struct pl_json_doc *arguments);
void pl_tool_publish(struct pl_activity *activity, const struct pl_json_doc *arguments);

#endif
