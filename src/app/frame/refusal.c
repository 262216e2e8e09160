/* A refusal of the server, in the words of the command line. The server names members of a body and
 * parameters of a query; the person has typed options. */
#include "app/frame/api.h"
#include "app/frame/commands.h"

#include <stdio.h>

/* The option that fills a member or a parameter; NULL: none does. */
static const char *option_of(const struct pl_command *command, const char *member, size_t n)
{
    static const char *const others[][2] = {{"variables", "var"}, {"timezone", "zone"}};
    char name[64];
    if (n >= sizeof name)
        return NULL;
    for (size_t i = 0; i <= n; i++)
        name[i] = (char)(i == n ? '\0' : member[i] == '_' ? '-' : member[i]);
    const char *wanted = name;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i][0]) == 0)
            wanted = others[i][1];
    for (const struct pl_option *option = command->options; option->name; option++)
        if (strcmp(option->name, wanted) == 0)
            return option->name;
    return NULL;
}

/* The innermost member of the pointer that an option fills. */
static const char *option_at(const struct pl_command *command, const char *pointer)
{
    const char *found = NULL;
    while (*pointer) {
        size_t n = strcspn(++pointer, "/");
        const char *option = option_of(command, pointer, n);
        found = option ? option : found;
        pointer += n;
    }
    return found;
}

/* A pointer into a document that the person gave is of use. */
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

void pl_api_speak_of_options(const struct pl_api *api, struct pl_error *err)
{
    static const char parameter[] = "The parameter ", vars[] = "in \"variables\"",
                      body[] = "The body is invalid: ";
    const struct pl_command *command = pl_command_find(api->command);
    char said[sizeof err->message];
    if (!command || keep_document(err->pointer))
        return;
    const char *option = option_at(command, err->pointer);
    err->pointer[0] = '\0';
    size_t n_body = strncmp(err->message, body, sizeof body - 1) == 0 ? sizeof body - 1 : 0;
    snprintf(said, sizeof said, "%s", err->message + n_body);
    const char *variables = strstr(said, vars);
    size_t n = strncmp(said, parameter, sizeof parameter - 1) == 0 ? sizeof parameter - 1 : 0;
    size_t n_name = n ? strcspn(said + n, " ") : 0;
    const char *named = n ? option_of(command, said + n, n_name) : NULL;
    if (!n && option && said[0] == '"') { /* "intent" must have … */
        n = 1;
        n_name = strcspn(said + n, "\"") + 1;
        named = said[n + n_name - 1] ? option : NULL;
    }
    if (named)
        snprintf(err->message, sizeof err->message, "--%.60s%.440s", named, said + n + n_name);
    else if (variables)
        snprintf(err->message, sizeof err->message, "%.*swith --var NAME=VALUE%.300s",
                 (int)(variables - said), said, variables + sizeof vars - 1);
    else if (option)
        snprintf(err->message, sizeof err->message, "--%.60s: %.440s", option, said);
}
