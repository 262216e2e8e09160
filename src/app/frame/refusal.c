/* Rewrites a refusal of the server in terms of the command line. The server names body members and
 * query parameters, but the user typed options. */
#include "app/frame/api.h"
#include "app/frame/commands.h"

#include <stdio.h>

/* Phrases of the server, and their replacement on the command line. */
static const struct {
    const char *server, *here;
} phrases[] = {
    {"in \"variables\"", "with --var NAME=VALUE"},
    {"GET /api/models lists the models", "\"parley models\" lists the models"},
};

/* The option of this command that sets a member or a parameter; NULL if there is none. */
static const char *option_of(const struct pl_api *api, const char *member, size_t n)
{
    static const char *const others[][2] = {{"variables", "var"}, {"timezone", "zone"}};
    const struct pl_command *command = pl_command_find(api->command);
    char name[64];
    if (!command || n >= sizeof name)
        return NULL;
    for (size_t i = 0; i <= n; i++)
        name[i] = (char)(i == n ? '\0' : member[i] == '_' ? '-' : member[i]);
    const char *wanted = name;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i][0]) == 0)
            wanted = others[i][1];
    for (const struct pl_option *option = command->options; option->name; option++)
        if (strcmp(option->name, wanted) == 0 &&
            (!api->verb || pl_option_has_verb(option, api->verb)))
            return option->name;
    return NULL;
}

/* The option of the innermost member in the pointer that has one. */
static const char *option_at(const struct pl_api *api, const char *pointer)
{
    const char *found = NULL;
    while (*pointer) {
        size_t n = strcspn(++pointer, "/");
        const char *option = option_of(api, pointer, n);
        found = option ? option : found;
        pointer += n;
    }
    return found;
}

/* Keeps a pointer into a document that the user supplied. */
static bool keep_document(char *pointer)
{
    static const char *const members[] = {"/document", "/content"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        size_t n = strlen(members[i]);
        if (strncmp(pointer, members[i], n) == 0 && pointer[n] == '/') {
            memmove(pointer, pointer + n, strlen(pointer + n) + 1);
            return true;
        }
    }
    return false;
}

static bool replace_phrase(struct pl_error *err)
{
    char said[sizeof err->message];
    memcpy(said, err->message, sizeof said);
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        const char *at = strstr(said, phrases[i].server);
        if (at) {
            snprintf(err->message, sizeof err->message, "%.*s%s%.300s", (int)(at - said), said,
                     phrases[i].here, at + strlen(phrases[i].server));
            /* Drops the position in the chat request that the server made from a prompt: the user
             * did not type it. */
            char *place = strstr(err->message, " (at /");
            if (place)
                *place = '\0';
            return true;
        }
    }
    return false;
}

/* Finds the name a message begins with: "The parameter NAME must …", or "\"NAME\" must …". Returns
 * the offset of the rest; 0 if it begins with no name. */
static size_t skip_name(const char *said, struct pl_str *ret_name)
{
    static const char parameter[] = "The parameter ";
    size_t n = strncmp(said, parameter, sizeof parameter - 1) == 0 ? sizeof parameter - 1
               : said[0] == '"'                                    ? 1
                                                                   : 0;
    size_t n_name = n ? strcspn(said + n, n == 1 ? "\"" : " ") : 0;
    *ret_name = (struct pl_str){said + n, n_name};
    return said[n + n_name] && n ? n + n_name + (n == 1) : 0;
}

void pl_api_speak_of_options(const struct pl_api *api, struct pl_error *err)
{
    static const char body[] = "The body is invalid: ";
    char said[sizeof err->message];
    struct pl_str name;
    if (keep_document(err->pointer))
        return;
    const char *option = option_at(api, err->pointer);
    err->pointer[0] = '\0';
    if (replace_phrase(err))
        return;
    size_t n_body = strncmp(err->message, body, sizeof body - 1) == 0 ? sizeof body - 1 : 0;
    snprintf(said, sizeof said, "%s", err->message + n_body);
    size_t n = skip_name(said, &name);
    const char *named = n ? option_of(api, name.ptr, name.len) : NULL;
    if (named)
        snprintf(err->message, sizeof err->message, "--%.60s%.440s", named, said + n);
    else if (option)
        snprintf(err->message, sizeof err->message, "--%.60s: %.440s", option, said);
    else if (n_body)
        snprintf(err->message, sizeof err->message, "%s", said);
}
