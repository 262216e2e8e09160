/* Tables of Google's finish reasons and error statuses, and their canonical meaning. */
#include "format/gemini/words.h"

static const struct {
    const char *word;
    enum pl_finish finish;
} finish_reasons[] = {
    {"STOP", PL_FINISH_STOP},
    {"MAX_TOKENS", PL_FINISH_LENGTH},
    {"SAFETY", PL_FINISH_FILTER},
    {"RECITATION", PL_FINISH_FILTER},
    {"LANGUAGE", PL_FINISH_FILTER},
    {"BLOCKLIST", PL_FINISH_FILTER},
    {"PROHIBITED_CONTENT", PL_FINISH_FILTER},
    {"SPII", PL_FINISH_FILTER},
    {"IMAGE_SAFETY", PL_FINISH_FILTER},
    {"IMAGE_PROHIBITED_CONTENT", PL_FINISH_FILTER},
    {"IMAGE_RECITATION", PL_FINISH_FILTER},
    {"MODEL_ARMOR", PL_FINISH_FILTER},
};

enum pl_finish pl_gemini_finish_of(struct pl_str word)
{
    for (size_t i = 0; i < sizeof finish_reasons / sizeof *finish_reasons; i++)
        if (pl_str_eq(word, pl_str_of(finish_reasons[i].word)))
            return finish_reasons[i].finish;
    return PL_FINISH_OTHER;
}

const char *pl_gemini_finish_of_number(int64_t number)
{
    static const char *const words[] = {NULL, "STOP", "MAX_TOKENS", "SAFETY", "RECITATION"};
    if (number < 0)
        return NULL;
    return number < (int64_t)(sizeof words / sizeof *words) ? words[number] : "OTHER";
}

const char *pl_gemini_finish_word(enum pl_finish finish)
{
    static const char *const words[] = {
        [PL_FINISH_NONE] = "OTHER",        [PL_FINISH_STOP] = "STOP",
        [PL_FINISH_LENGTH] = "MAX_TOKENS", [PL_FINISH_TOOLS] = "STOP",
        [PL_FINISH_FILTER] = "SAFETY",     [PL_FINISH_OTHER] = "OTHER",
    };
    return words[finish];
}

/* If several entries have the same status, the first one is written for it. */
static const struct pl_gemini_error errors[] = {
    {"invalid_request_error", 400, "INVALID_ARGUMENT"},
    {"invalid_request", 400, "INVALID_ARGUMENT"},
    {"request_too_large", 413, "INVALID_ARGUMENT"},
    {"context_length_exceeded", 400, "INVALID_ARGUMENT"},
    {"authentication_error", 401, "UNAUTHENTICATED"},
    {"invalid_api_key", 401, "UNAUTHENTICATED"},
    {"permission_error", 403, "PERMISSION_DENIED"},
    {"billing_error", 403, "PERMISSION_DENIED"},
    {"permission_denied", 403, "PERMISSION_DENIED"},
    {"not_found_error", 404, "NOT_FOUND"},
    {"not_found", 404, "NOT_FOUND"},
    {"model_not_found", 404, "NOT_FOUND"},
    {"conflict_error", 409, "ABORTED"},
    {"rate_limit_error", 429, "RESOURCE_EXHAUSTED"},
    {"rate_limit_exceeded", 429, "RESOURCE_EXHAUSTED"},
    {"insufficient_quota", 429, "RESOURCE_EXHAUSTED"},
    {"tokens", 429, "RESOURCE_EXHAUSTED"},
    {"requests", 429, "RESOURCE_EXHAUSTED"},
    {"api_error", 500, "INTERNAL"},
    {"server_error", 500, "INTERNAL"},
    {"overloaded_error", 503, "UNAVAILABLE"},
    {"service_unavailable", 503, "UNAVAILABLE"},
    {"timeout_error", 504, "DEADLINE_EXCEEDED"},
};

enum { N_ERRORS = sizeof errors / sizeof *errors };

const struct pl_gemini_error *pl_gemini_error_of(struct pl_str word)
{
    for (size_t i = 0; i < N_ERRORS; i++)
        if (pl_str_eq(word, pl_str_of(errors[i].word)))
            return &errors[i];
    return NULL;
}

const struct pl_gemini_error *pl_gemini_error_by_status(struct pl_str status, int64_t code)
{
    for (size_t i = 0; i < N_ERRORS; i++)
        if (pl_str_eq(status, pl_str_of(errors[i].status)))
            return &errors[i];
    for (size_t i = 0; i < N_ERRORS; i++)
        if (errors[i].code == code)
            return &errors[i];
    return NULL;
}
