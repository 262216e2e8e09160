/* Tables of Anthropic's stop reasons and error types, and their canonical meaning. */
#include "format/anthropic/words.h"

enum pl_finish pl_anthropic_finish_of(struct pl_str word)
{
    static const struct {
        const char *word;
        enum pl_finish finish;
    } finishes[] = {
        {"end_turn", PL_FINISH_STOP},     {"stop_sequence", PL_FINISH_STOP},
        {"max_tokens", PL_FINISH_LENGTH}, {"model_context_window_exceeded", PL_FINISH_LENGTH},
        {"tool_use", PL_FINISH_TOOLS},    {"refusal", PL_FINISH_FILTER},
    };
    for (size_t i = 0; i < sizeof finishes / sizeof *finishes; i++)
        if (pl_str_eq(word, pl_str_of(finishes[i].word)))
            return finishes[i].finish;
    return PL_FINISH_OTHER;
}

const char *pl_anthropic_finish_word(struct pl_anthropic_ending ending)
{
    static const char *const words[] = {
        [PL_FINISH_NONE] = "end_turn",     [PL_FINISH_STOP] = "end_turn",
        [PL_FINISH_LENGTH] = "max_tokens", [PL_FINISH_TOOLS] = "tool_use",
        [PL_FINISH_FILTER] = "refusal",    [PL_FINISH_OTHER] = "end_turn"};
    bool is_stop = ending.finish == PL_FINISH_STOP || ending.finish == PL_FINISH_NONE;
    if (is_stop && ending.has_call)
        return "tool_use";
    if (is_stop && ending.has_refusal)
        return "refusal";
    if (is_stop && ending.has_stop_sequence)
        return "stop_sequence";
    return words[ending.finish];
}

/* Errors by other vendors' names (codes, types, statuses, HTTP status codes). The most specific
 * name comes first: the code says more than the type. */
static const struct {
    const char *theirs, *ours;
} errors[] = {
    {"invalid_api_key", "authentication_error"},
    {"authentication_error", "authentication_error"},
    {"UNAUTHENTICATED", "authentication_error"},
    {"401", "authentication_error"},
    {"insufficient_quota", "billing_error"},
    {"billing_error", "billing_error"},
    {"402", "billing_error"},
    {"permission_error", "permission_error"},
    {"permission_denied", "permission_error"},
    {"PERMISSION_DENIED", "permission_error"},
    {"403", "permission_error"},
    {"model_not_found", "not_found_error"},
    {"not_found_error", "not_found_error"},
    {"NOT_FOUND", "not_found_error"},
    {"404", "not_found_error"},
    {"ABORTED", "conflict_error"},
    {"conflict_error", "conflict_error"},
    {"409", "conflict_error"},
    {"request_too_large", "request_too_large"},
    {"413", "request_too_large"},
    {"rate_limit_exceeded", "rate_limit_error"},
    {"rate_limit_error", "rate_limit_error"},
    {"tokens", "rate_limit_error"},
    {"requests", "rate_limit_error"},
    {"RESOURCE_EXHAUSTED", "rate_limit_error"},
    {"429", "rate_limit_error"},
    {"timeout_error", "timeout_error"},
    {"DEADLINE_EXCEEDED", "timeout_error"},
    {"504", "timeout_error"},
    {"overloaded_error", "overloaded_error"},
    {"server_overloaded", "overloaded_error"},
    {"UNAVAILABLE", "overloaded_error"},
    {"503", "overloaded_error"},
    {"529", "overloaded_error"},
    {"invalid_request_error", "invalid_request_error"},
    {"INVALID_ARGUMENT", "invalid_request_error"},
    {"FAILED_PRECONDITION", "invalid_request_error"},
    {"OUT_OF_RANGE", "invalid_request_error"},
    {"context_length_exceeded", "invalid_request_error"},
    {"400", "invalid_request_error"},
    {"422", "invalid_request_error"},
    {"server_error", "api_error"},
    {"api_error", "api_error"},
    {"INTERNAL", "api_error"},
    {"UNKNOWN", "api_error"},
    {"500", "api_error"},
};

const char *pl_anthropic_error_type(struct pl_str theirs)
{
    for (size_t i = 0; theirs.len && i < sizeof errors / sizeof *errors; i++)
        if (pl_str_eq(theirs, pl_str_of(errors[i].theirs)))
            return errors[i].ours;
    return NULL;
}
