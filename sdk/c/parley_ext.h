/* Extensions for Parley in C: one header, C11 and POSIX, no dependencies. Define PARLEY_EXT_IMPLEMENTATION before you
 * include it in one file of your program; greet.c is an example.
 *
 * Name, version and capabilities come from extension.json in the program's directory. Calls are handled one at a time. A
 * handler that calls the host waits in pext_host; a cancel meanwhile sets call->is_cancelled. JSON values are views into
 * received lines, valid until the handler returns. stdout is reserved for the protocol: write to stderr, which is the
 * extension's log. Lines are allocated with malloc; if that fails, the program aborts. */
#ifndef PARLEY_EXT_H
#define PARLEY_EXT_H

#include <stdbool.h>
#include <stddef.h>
struct pext_json { /* a JSON value; len 0: absent */
    const char *ptr;
    size_t len;
};
struct pext_call {
    char name[260];             /* of the tool, the command or the event */
    struct pext_json input;     /* input of a tool; args of a command; data of a hook */
    struct pext_json context;   /* context of a tool; input of a command */
    char id[260], call_id[260]; /* id of the frame; call_id of a tool, else the id again */
    bool is_cancelled, is_replied;
    int kind;
};
typedef void pext_fn(struct pext_call *call);
struct pext_tool { /* a tool, with a schema as JSON; a command; a hook, whose name is an event ("tool_call:bash") */
    const char *name, *description, *schema;
    pext_fn *run;
};
/* Registers and serves until the host closes. Tables end with a zeroed entry; NULL: none. */
int pext_run(int argc, char **argv, const struct pext_tool *tools, const struct pext_tool *commands,
             const struct pext_tool *hooks);
/* The answer; the first one counts: a text, or a JSON object as the output (for a hook: as its data). */
void pext_reply_text(struct pext_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pext_reply_error(struct pext_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pext_reply_json(struct pext_call *call, const char *output, bool is_error);
/* Calls the host and waits. *ret_output: if true, the output; if false, the error {code, message, details}. */
bool pext_host(struct pext_call *call, const char *capability, const char *method, const char *params,
               struct pext_json *ret_output);
void pext_progress(struct pext_call *call, const char *text);
/* The member of an object; "a.b" for a nested member, a number for an element of an array. */
struct pext_json pext_get(struct pext_json value, const char *path);
bool pext_is(struct pext_json value, const char *text); /* a string with this text, or this literal */
/* Decodes a string, cut at size - 1 bytes (size is at least 1); returns its full length in bytes. */
size_t pext_text(struct pext_json string, char *to, size_t size);
/* Quotes a text as JSON into `to`, cut so that it stays valid; returns `to`. */
char *pext_quote(const char *text, char *to, size_t size);

#endif
#ifdef PARLEY_EXT_IMPLEMENTATION
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { PEXT_TOOL, PEXT_COMMAND, PEXT_HOOK, PEXT_KINDS };
static struct pext_line { /* received lines, oldest first; is_used: a waiting handler has consumed it */
    struct pext_line *next;
    char *text;
    bool is_used;
} *pext_lines;
static const struct pext_tool *pext_tables[PEXT_KINDS];
static unsigned pext_n_sent;
/* JSON: the text is valid, since the host wrote it. */
static const char *pext_skip(const char *at) { return at + strspn(at, " \t\r\n"); }
static struct pext_json pext_value(const char *at) /* the value that begins here */
{
    const char *begin = at = pext_skip(at);
    int depth = 0;
    do {
        if (*at == '"')
            for (at++; *at && *at != '"'; at++)
                at += *at == '\\' && at[1];
        else if (!depth && !strchr("{[", *at))
            return (struct pext_json){begin, strcspn(begin, ",]} \t\r\n")};
        else
            depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at += *at != '\0';
    } while (depth && *at);
    return (struct pext_json){begin, (size_t)(at - begin)};
}
struct pext_json pext_get(struct pext_json value, const char *path)
{
    for (size_t n; *path && value.len; path += n + (path[n] == '.')) {
        bool is_object = *value.ptr == '{', is_found = false;
        size_t index = (size_t)strtoul(path, NULL, 10);
        const char *at = is_object || *value.ptr == '[' ? pext_skip(value.ptr + 1) : "";
        n = strcspn(path, ".");
        while (!is_found && *at && *at != '}' && *at != ']') {
            struct pext_json key = pext_value(at);
            value = is_object ? pext_value(pext_skip(key.ptr + key.len) + 1) : key;
            is_found = is_object ? key.len == n + 2 && memcmp(key.ptr + 1, path, n) == 0 : index-- == 0;
            at = pext_skip(value.ptr + value.len);
            at = *at == ',' ? pext_skip(at + 1) : at;
        }
        value.len = is_found ? value.len : 0;
    }
    return value;
}
static size_t pext_escape(const char *at, size_t *ret_n_read, char *to) /* after the backslash; bytes written */
{
    static const unsigned char heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const char *sign = strchr("b\bf\fn\nr\rt\t", *at);
    unsigned c = 0, low = 0;
    *ret_n_read = 2;
    *to = sign ? sign[1] : *at; /* the host writes no raw control character after a backslash */
    if (*at != 'u' || sscanf(at, "u%4x", &c) != 1)
        return 1;
    bool is_pair = c >= 0xd800 && c < 0xdc00 && sscanf(at + 5, "\\u%4x", &low) == 1;
    c = is_pair ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : c;
    *ret_n_read = is_pair ? 12 : 6;
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(heads[n] | c);
    return n;
}
size_t pext_text(struct pext_json string, char *to, size_t size)
{
    size_t n = 0, n_kept = 0, is_string = string.len >= 2 && *string.ptr == '"';
    for (size_t i = is_string, n_read = 1; i + is_string < string.len; i += n_read) {
        char part[4] = {string.ptr[i]};
        n_read = 1;
        size_t n_part = is_string && *part == '\\' ? pext_escape(string.ptr + i + 1, &n_read, part) : 1;
        if (n_kept == n && n + n_part < size)
            n_kept += n_part, memcpy(to + n, part, n_part);
        n += n_part;
    }
    to[n_kept] = '\0';
    return n;
}
bool pext_is(struct pext_json value, const char *text)
{
    char own[300];
    return value.len && pext_text(value, own, sizeof own) == strlen(text) && strcmp(own, text) == 0;
}
char *pext_quote(const char *text, char *to, size_t size)
{
    size_t n = 1;
    *to = '"';
    for (; *text && n + 8 < size; text++)
        if ((unsigned char)*text < 0x20)
            n += (size_t)snprintf(to + n, size - n, "\\u%04x", (unsigned)*text);
        else
            n += (size_t)snprintf(to + n, size - n, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
    for (; ((unsigned char)*text & 0xc0) == 0x80 && n > 1; text--) /* cut, but not inside a character */
        n--;
    snprintf(to + n, size - n, "\"");
    return to;
}
static void pext_send(const char *type, const char *id, const char *format, ...) /* NULL: the next id */
{
    char own[20], quoted[1600];
    va_list args;
    snprintf(own, sizeof own, "x%u", ++pext_n_sent);
    pext_quote(id ? id : own, quoted, sizeof quoted);
    printf("{\"id\":%s,\"version\":\"1.0\",\"type\":\"%s\",\"payload\":{", quoted, type);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    puts("}}");
    fflush(stdout);
}
void pext_reply_json(struct pext_call *call, const char *output, bool is_error)
{
    char word[1600];
    if (call->is_replied || call->is_cancelled)
        return;
    call->is_replied = true;
    pext_quote(call->kind == PEXT_HOOK ? call->name : call->call_id, word, sizeof word);
    if (call->kind == PEXT_HOOK)
        pext_send("event_hook", call->id, "\"event\":%s,\"data\":%s", word, output);
    else
        pext_send(call->kind == PEXT_TOOL ? "tool_result" : "slash_result", call->id, "%s%s%s\"output\":%s,\"is_error\":%s",
                  call->kind == PEXT_TOOL ? "\"call_id\":" : "", call->kind == PEXT_TOOL ? word : "",
                  call->kind == PEXT_TOOL ? "," : "", output, is_error ? "true" : "false");
}
static void pext_say(struct pext_call *call, bool is_error, const char *format, va_list args)
{
    char text[8000], output[48100] = "{\"text\":";
    vsnprintf(text, sizeof text, format, args);
    pext_quote(text, output + 8, sizeof output - 10);
    memcpy(output + strlen(output), "}", 2);
    pext_reply_json(call, output, is_error);
}
#define PEXT_SAY(is_error) va_list args; va_start(args, format); pext_say(call, is_error, format, args); va_end(args)
void pext_reply_text(struct pext_call *call, const char *format, ...) { PEXT_SAY(false); }
void pext_reply_error(struct pext_call *call, const char *format, ...) { PEXT_SAY(true); }
void pext_progress(struct pext_call *call, const char *text)
{
    char quoted[8000], id[1600];
    pext_send("event_hook", NULL,
              "\"event\":\"tool_execution_update\",\"data\":{\"call_id\":%s,\"content\":[{\"type\":\"text\",\"text\":%s}]}",
              pext_quote(call->call_id, id, sizeof id), pext_quote(text, quoted, sizeof quoted));
}
static struct pext_line *pext_read(void) /* appends the host's next line to pext_lines; NULL: the host has closed */
{
    struct pext_line *line = calloc(1, sizeof *line), **end = &pext_lines;
    size_t size = 0;
    if (!line)
        abort();
    if (getline(&line->text, &size, stdin) <= 0)
        return free(line->text), free(line), NULL;
    for (; *end; end = &(*end)->next) {}
    return *end = line;
}
bool pext_host(struct pext_call *call, const char *capability, const char *method, const char *params,
               struct pext_json *ret_output)
{
    char id[20], parent[1600];
    snprintf(id, sizeof id, "h%u", ++pext_n_sent);
    pext_send("host_call", id, "\"call_id\":\"%s\",\"capability\":\"%s\",\"method\":\"%s\",\"params\":%s,\"context\":{\"parent\":%s}",
              id, capability, method, params, pext_quote(call->call_id, parent, sizeof parent));
    for (struct pext_line *line; !call->is_cancelled && (line = pext_read());) {
        struct pext_json frame = pext_value(line->text);
        bool is_cancel = pext_is(pext_get(frame, "payload.event"), "cancel");
        call->is_cancelled = is_cancel && pext_is(pext_get(frame, "payload.data.call_id"), call->call_id);
        line->is_used = is_cancel || pext_is(pext_get(frame, "type"), "host_result");
        if (line->is_used && pext_is(pext_get(frame, "payload.call_id"), id)) {
            bool is_error = pext_is(pext_get(frame, "payload.is_error"), "true");
            *ret_output = pext_get(frame, is_error ? "payload.error" : "payload.output");
            return !is_error;
        }
    }
    *ret_output = pext_value("{\"code\":\"timeout\",\"message\":\"the call was cancelled\"}");
    return false;
}
static void pext_serve(struct pext_json frame)
{
    static const char *const kinds[] = {"tool_call", "slash_command", "event_hook"};
    static const char *const parts[][3] = {{"payload.name", "payload.input", "payload.context"},
                                           {"payload.name", "payload.args", "payload.input"},
                                           {"payload.event", "payload.data", "payload.data"}};
    struct pext_call call = {.kind = 0};
    for (; !pext_is(pext_get(frame, "type"), kinds[call.kind]); call.kind++)
        if (call.kind + 1 == PEXT_KINDS)
            return; /* a log, an error, a late answer */
    pext_text(pext_get(frame, parts[call.kind][0]), call.name, sizeof call.name);
    pext_text(pext_get(frame, "id"), call.id, sizeof call.id);
    pext_text(pext_get(frame, call.kind == PEXT_TOOL ? "payload.call_id" : "id"), call.call_id, sizeof call.call_id);
    call.input = pext_get(frame, parts[call.kind][1]);
    call.context = pext_get(frame, parts[call.kind][2]);
    const struct pext_tool *tool = pext_tables[call.kind];
    for (; tool && tool->name; tool++) { /* the name of an event has no "!" and no ":GLOB" */
        size_t n = call.kind == PEXT_HOOK && strncmp(tool->name, "bus:", 4) != 0 ? strcspn(tool->name, "!:") : strlen(tool->name);
        if (strlen(call.name) == n && memcmp(tool->name, call.name, n) == 0)
            break;
    }
    if (tool && tool->name)
        tool->run(&call), pext_reply_json(&call, "{}", false); /* if the handler did not reply */
    else if (call.kind != PEXT_HOOK)
        pext_reply_error(&call, "the extension has no \"%s\"", call.name);
}
static void pext_register(struct pext_json manifest)
{
    static const char *const members[] = {"name", "version", "api_version", "capabilities", "capability_manifest"};
    static const char *const lists[] = {"tools", "slash_commands", "event_hooks"};
    char name[1600], about[8000];
    struct pext_json value;
    printf("{\"id\":\"register\",\"version\":\"1.0\",\"type\":\"register\",\"payload\":{");
    for (size_t i = 0; i < 5; i++)
        if ((value = pext_get(manifest, members[i])).len)
            printf("\"%s\":%.*s,", members[i], (int)value.len, value.ptr);
    for (size_t k = 0; k < PEXT_KINDS; k++) {
        printf("%s\"%s\":[", k ? "," : "", lists[k]);
        for (const struct pext_tool *tool = pext_tables[k]; tool && tool->name; tool++) {
            pext_quote(tool->name, name, sizeof name);
            pext_quote(tool->description ? tool->description : "", about, sizeof about);
            printf(k == PEXT_HOOK ? "%s%s" : "%s{\"name\":%s,\"description\":%s", tool == pext_tables[k] ? "" : ",", name, about);
            printf("%s%s%s", k ? "" : ",\"parameters\":", k ? "" : tool->schema, k == PEXT_HOOK ? "" : "}");
        }
        putchar(']');
    }
    puts("}}");
    fflush(stdout);
}
int pext_run(int argc, char **argv, const struct pext_tool *tools, const struct pext_tool *commands,
             const struct pext_tool *hooks)
{
    static char text[256 << 10], path[4096];
    const char *slash = argc ? strrchr(argv[0], '/') : NULL;
    snprintf(path, sizeof path, "%.*sextension.json", slash ? (int)(slash + 1 - argv[0]) : 0, slash ? argv[0] : "");
    FILE *file = fopen(path, "r");
    if (!file || !fread(text, 1, sizeof text - 1, file))
        return fprintf(stderr, "%s: cannot be read\n", path), 1;
    for (char *at = text; (at = strpbrk(at, "\r\n"));)
        *at = ' '; /* a frame is one line */
    memcpy(pext_tables, (const struct pext_tool *[]){tools, commands, hooks}, sizeof pext_tables);
    pext_register(pext_value(text));
    for (struct pext_line *line; pext_lines || pext_read(); free(line->text), free(line)) {
        line = pext_lines;
        if (!line->is_used)
            pext_serve(pext_value(line->text));
        pext_lines = line->next;
    }
    return 0;
}
#endif
