/* The library of prompts: one table per file of routes (http/routes/route.h). */
#ifndef PL_SERVICE_PROMPTS_ROUTES_H
#define PL_SERVICE_PROMPTS_ROUTES_H

#include "http/routes/route.h"

extern const struct pl_route pl_routes_prompts[];
extern const struct pl_route pl_routes_prompt_versions[];
extern const struct pl_route pl_routes_prompt_drafts[];
extern const struct pl_route pl_routes_prompt_use[];
extern const struct pl_route pl_routes_prompt_run[];
extern const struct pl_route pl_routes_prompt_files[];
extern const struct pl_route pl_routes_prompt_import[];

#endif
