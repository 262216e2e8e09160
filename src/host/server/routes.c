#include "server/routes.h"

#include "gateway/routes.h"
#include "service/admin/routes.h"
#include "service/blobs/routes.h"
#include "service/convert/routes.h"
#include "service/extensions/routes.h"
#include "service/memories/routes.h"
#include "service/page/routes.h"
#include "service/prompts/routes.h"
#include "service/runs/routes.h"
#include "service/sessions/routes.h"
#include "service/tasks/routes.h"

/* One per line. */
/* clang-format off */
const struct pl_route *const pl_server_routes[] = {
    pl_routes_page,
    pl_routes_docs,
    pl_routes_settings,
    pl_routes_models,
    pl_routes_cards,
    pl_routes_deleted,
    pl_routes_service,
    pl_routes_convert,
    pl_routes_keys,
    pl_routes_login,
    pl_routes_users,
    pl_routes_audit,
    pl_routes_sessions,
    pl_routes_turns,
    pl_routes_outline,
    pl_routes_exports,
    pl_routes_imports,
    pl_routes_forks,
    pl_routes_handoffs,
    pl_routes_shares,
    pl_routes_live,
    pl_routes_prompts,
    pl_routes_prompt_versions,
    pl_routes_prompt_drafts,
    pl_routes_prompt_use,
    pl_routes_prompt_run,
    pl_routes_prompt_files,
    pl_routes_prompt_import,
    pl_routes_runs,
    pl_routes_memories,
    pl_routes_tasks,
    pl_routes_task_times,
    pl_routes_calendar,
    pl_routes_blobs,
    pl_routes_media,
    pl_routes_gateway,
    pl_routes_gateway_models,
    pl_routes_gateway_responses,
    pl_routes_usage,
    pl_routes_backup,
    pl_routes_reload,
    pl_routes_cluster,
    pl_routes_extensions,
    pl_routes_extension_runs,
    NULL,
};
/* clang-format on */
