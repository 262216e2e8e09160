/* SUMMARISE carried out: the session's own model writes the summary. Where it cannot (a demo model,
 * a call that fails or says nothing), the first words of each turn stand in, so that a summary is
 * always to be had. */
#ifndef PL_SERVER_SUMMARISING_H
#define PL_SERVER_SUMMARISING_H

struct pl_run;

void pl_summarise(struct pl_run *run);
/* There is no more time: the first words stand in, if there was time for those. */
void pl_summarise_give_up(struct pl_run *run, const char *reason);

#endif
