/* Exports and imports tell what they lose: in the header Parley-Loss, and whole, where it is asked for
 * (report=body). strict=true refuses a loss. */
#ifndef PL_SERVICE_SESSIONS_REPORTING_H
#define PL_SERVICE_SESSIONS_REPORTING_H

#include "http/exchange.h"

/* What both routes can be asked. */
#define PL_PARAMS_OF_REPORT                                                                        \
    {"report", "{\"enum\":[\"header\",\"body\"]}",                                                 \
     "body: the answer also has the whole loss report; by default only the header Parley-Loss "    \
     "tells of losses"},                                                                           \
    {                                                                                              \
        "strict", "{\"type\":\"boolean\"}", "true: refuse what would lose something"               \
    }

struct pl_reporting {
    bool is_in_body, is_strict;
};

/* False after a problem. */
bool pl_reporting_read(struct pl_exchange *x, struct pl_reporting *ret);
/* The header, if something is lost. */
void pl_report_header(struct pl_exchange *x, struct pl_str report);
/* A problem that has the report as a member; the report may be empty. */
void pl_report_fail(struct pl_exchange *x, enum pl_status status, const struct pl_error *err,
                    struct pl_str report);
/* One of a few words as a parameter; n where it is absent. False after a problem. */
bool pl_param_word(struct pl_exchange *x, const char *name, const char *const *words,
                   size_t *ret_word);

#endif
