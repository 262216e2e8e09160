#include "store/sql/statements.h"

#include <stddef.h>
#include <string.h>

const struct pl_sql_text pl_sql_texts[PL_SQL_COUNT] = {
#define X(name, types, text)                {types, text, NULL},
#define EACH(name, types, sqlite, postgres) {types, sqlite, postgres},
    PL_SQL_TABLE(X, EACH)
#undef EACH
#undef X
};

static const struct {
    const char *constraint, *sentence;
} refusals[] = {
    {"prompt_is_current", "the prompt has changed in the meantime: read it again and repeat the "
                          "change"},
    {"prompt_is_there", "the prompt no longer exists"},
    {"draft_is_current", "the draft has changed in the meantime: read it again and repeat the "
                         "change"},
    {"settings_are_current", "the settings have changed in the meantime: read them again and "
                             "repeat the change"},
    {"memory_is_current", "the memory has changed in the meantime: read it again and repeat the "
                          "change"},
    {"memory_is_succeeded", "the memory was superseded by another in the meantime: read it again"},
    {"memory_is_there", "the memory no longer exists"},
    {"memory_chain_ends", "a memory cannot be superseded by one that it supersedes"},
    {"task_is_current", "the task has changed in the meantime: read it again and repeat the "
                        "change"},
    {"task_is_there", "the task no longer exists"},
    {"extension_is_current",
     "the extension has changed in the meantime: read it again and repeat the "
     "change"},
    {"admin_is_left", "the last administrator cannot be disabled, removed or made a member: make "
                      "another user an administrator first"},
    {"session_is_free", "the session belongs to another node"},
    {"session_has_room", "this user has as many sessions as allowed: delete some first"},
    {"blob_has_room", "the blobs of this user have as many bytes as allowed: delete some first"},
    {"key_has_room", "this user has as many keys as allowed: revoke some first"},
    {"task_has_room", "this user has as many scheduled tasks as allowed: delete some first"},
    {"memory_has_room", "there are as many memories as one user may have: delete some first"},
};

const char *pl_sql_refusal(const char *why)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (strstr(why, refusals[i].constraint))
            return refusals[i].sentence;
    return "it has changed in the meantime: read it again";
}
