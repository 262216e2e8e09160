#include "format/openai_chat/words.h"

enum pl_finish pl_chat_finish_of(struct pl_str word)
{
    static const struct {
        const char *word;
        enum pl_finish finish;
    } finishes[] = {
        {"stop", PL_FINISH_STOP},
        {"length", PL_FINISH_LENGTH},
        {"tool_calls", PL_FINISH_TOOLS},
        {"function_call", PL_FINISH_TOOLS},
        {"content_filter", PL_FINISH_FILTER},
    };
    for (size_t i = 0; i < sizeof finishes / sizeof *finishes; i++)
        if (pl_str_eq(word, pl_str_of(finishes[i].word)))
            return finishes[i].finish;
    return PL_FINISH_OTHER;
}

const char *pl_chat_finish_word(enum pl_finish finish, bool has_calls)
{
    static const char *const words[] = {
        [PL_FINISH_NONE] = "stop",
        [PL_FINISH_STOP] = "stop",
        [PL_FINISH_LENGTH] = "length",
        [PL_FINISH_TOOLS] = "tool_calls",
        [PL_FINISH_FILTER] = "content_filter",
        [PL_FINISH_OTHER] = "stop",
    };
    bool is_stop = finish == PL_FINISH_STOP || finish == PL_FINISH_NONE;
    return has_calls && is_stop ? "tool_calls" : words[finish];
}

bool pl_chat_is_plain_finish(enum pl_finish finish, struct pl_str word)
{
    static const char *const plain[][8] = {
        [PL_FINISH_STOP] = {"stop", "end_turn", "STOP", "completed", "return", "end", NULL},
        [PL_FINISH_LENGTH] = {"length", "max_tokens", "MAX_TOKENS", "max_output_tokens", NULL},
        [PL_FINISH_TOOLS] = {"tool_calls", "tool_use", "STOP", "completed", "function_call", "call",
                             "end", NULL},
        [PL_FINISH_FILTER] = {"content_filter", "refusal", "SAFETY", NULL},
        [PL_FINISH_OTHER] = {NULL},
    };
    for (int i = 0; plain[finish][i]; i++)
        if (pl_str_eq(word, pl_str_of(plain[finish][i])))
            return true;
    return false;
}

/* Google identifies an error by a status, OpenAI by a type. */
const char *pl_chat_error_type(struct pl_str status)
{
    static const struct {
        const char *status, *type;
    } types[] = {
        {"INVALID_ARGUMENT", "invalid_request_error"},
        {"FAILED_PRECONDITION", "invalid_request_error"},
        {"NOT_FOUND", "invalid_request_error"},
        {"UNAUTHENTICATED", "authentication_error"},
        {"PERMISSION_DENIED", "permission_error"},
        {"RESOURCE_EXHAUSTED", "rate_limit_error"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (pl_str_eq(status, pl_str_of(types[i].status)))
            return types[i].type;
    return "server_error";
}
