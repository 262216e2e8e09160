/* Executes SUMMARISE: the session's own model writes the summary. If it cannot (a demo model, a
 * failed or empty call), the first words of each turn are used, so there is always a summary. */
#ifndef PL_AGENT_CONTEXT_SUMMARY_RUN_H
#define PL_AGENT_CONTEXT_SUMMARY_RUN_H

struct pl_activity;

void pl_summarise(struct pl_activity *activity);
/* The time is up: the first words are used, if they are ready. */
void pl_summarise_give_up(struct pl_activity *activity, const char *reason);

#endif
