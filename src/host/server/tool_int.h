/* Tools that are built in. What they do is in tool_*.c, one idea each; the table is in tools.c.
 *
 * A tool gets arguments that its schema accepts, and ends its run by pl_run_finish_tool or
 * pl_run_fail_tool, at once or later. Work that blocks goes to a worker by pl_tool_work. */
#ifndef PL_SERVER_TOOL_INT_H
#define PL_SERVER_TOOL_INT_H

#include "json/json.h"
#include "server/run_int.h"

/* On a worker: appends the result, JSON, to run->text; or fails with a sentence in run->err, which
 * the model reads. */
typedef enum pl_status pl_tool_work_fn(struct pl_run *run, const struct pl_json_doc *arguments);
void pl_tool_work(struct pl_run *run, pl_tool_work_fn *work);

/* The text of a member; {NULL, 0} when it is not there. Memory of the run. */
enum pl_status pl_tool_text(struct pl_run *run, const struct pl_json_doc *arguments,
                            const char *name, struct pl_str *ret_text);

/* --- tool_basic.c: what needs nobody else */
void pl_tool_calc(struct pl_run *run, const struct pl_json_doc *arguments);
void pl_tool_clock(struct pl_run *run, const struct pl_json_doc *arguments);

/* --- tool_memory.c: what is remembered across sessions */
void pl_tool_memory_save(struct pl_run *run, const struct pl_json_doc *arguments);
void pl_tool_memory_search(struct pl_run *run, const struct pl_json_doc *arguments);

/* --- tool_handoff.c: this session as a packet for another agent */
void pl_tool_handoff(struct pl_run *run, const struct pl_json_doc *arguments);

/* --- tool_demo.c: for scripts of the demo models */
void pl_tool_echo(struct pl_run *run, const struct pl_json_doc *arguments);
void pl_tool_wait(struct pl_run *run, const struct pl_json_doc *arguments);
void pl_tool_publish(struct pl_run *run, const struct pl_json_doc *arguments);

#endif
