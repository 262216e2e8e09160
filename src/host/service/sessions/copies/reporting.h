/* Loss reports of exports and imports: in the header Parley-Loss, and complete on request
 * (report=body). strict=true refuses a loss. */
#ifndef PL_SERVICE_SESSIONS_REPORTING_H
#define PL_SERVICE_SESSIONS_REPORTING_H

#include "http/exchange.h"

/* The parameters of both routes. */
#define PL_PARAMS_OF_REPORT                                                                        \
    {"report", "{\"enum\":[\"header\",\"body\"]}",                                                 \
     "body: the answer also has the whole loss report; by default only the header Parley-Loss "    \
     "tells of losses"},                                                                           \
    {                                                                                              \
        "strict", "{\"type\":\"boolean\"}", "true: refuse if something would be lost"              \
    }

struct pl_reporting {
    bool is_in_body, is_strict;
};

/* False after making a problem. */
bool pl_reporting_read(struct pl_exchange *x, struct pl_reporting *ret);
/* Adds the header, if something is lost. */
void pl_report_header(struct pl_exchange *x, struct pl_str report);
/* Makes a problem with the report as a member; the report may be empty. */
void pl_report_fail(struct pl_exchange *x, enum pl_status status, const struct pl_error *err,
                    struct pl_str report);
/* Reads a parameter that is one of a few words; n if absent. False after making a problem. */
bool pl_param_word(struct pl_exchange *x, const char *name, const char *const *words,
                   size_t *ret_word);

#endif
