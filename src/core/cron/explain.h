/* Describes a cron expression in words. Equivalent expressions get the same description. */
#ifndef PL_CRON_EXPLAIN_H
#define PL_CRON_EXPLAIN_H

#include "base/buf.h"
#include "cron/cron.h"

enum pl_cron_lang { PL_CRON_EN, PL_CRON_ZH, PL_CRON_N_LANGS };

/* Appends one sentence without a full stop: "At 09:00, on Monday to Friday". Errors stick to the
 * buffer. */
void pl_cron_explain(struct pl_buf *to, const struct pl_cron *cron, enum pl_cron_lang lang);

#endif
