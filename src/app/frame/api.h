/* A running server, as the commands see it: found, asked, and understood.
 *
 * It is found by --server URL or PARLEY_SERVER, where a key is needed (PARLEY_KEY or --key-file, so
 * that no list of processes shows it); otherwise by the control socket in the data directory, where
 * the user who runs the server acts as its administrator. */
#ifndef PL_APP_API_H
#define PL_APP_API_H

#include "app/frame/commands.h"
#include "app/frame/texts.h"
#include "io/upstream/http_call.h"
#include "json/json.h"
#include "shard/config.h"

struct pl_api {
    struct pl_console *console; /* borrowed */
    const char *command;        /* name, for messages */
    const char *verb;           /* the same; NULL: the command has none */
    struct pl_texts texts;      /* owned; paths and answers, until the end */
    bool is_local;              /* the control socket; config is read then, and only then */
    struct pl_server_config config;
    const char *url;       /* arena; without a slash at the end */
    const char *unix_path; /* arena; NULL: the host of the URL is asked */
    const char *key;       /* arena or the environment; NULL: none */
    bool is_json;          /* --json: a problem is printed as it came, too */
};

/* Finds the server and the key, without a request. Anything but PL_EXIT_OK has been explained. *api
 * is to be closed either way. */
enum pl_exit pl_api_open(struct pl_api *api, struct pl_console *console, const struct pl_args *args,
                         const char *command);
/* The same for what only makes sense on the server's machine: always the control socket. */
enum pl_exit pl_api_open_local(struct pl_api *api, struct pl_console *console,
                               const struct pl_args *args, const char *command);
void pl_api_close(struct pl_api *api);

/* Whether the control socket answers. PL_IO when that is not known. */
enum pl_status pl_api_is_running(struct pl_api *api, bool *ret_is_running, struct pl_error *err);

/* A path in which each '%' of the shape is the next text, escaped: ("/api/sessions/%", id, NULL).
 * NULL when out of memory. */
const char *pl_api_path(struct pl_api *api, const char *shape, ...) __attribute__((sentinel));
/* Appends text with everything but letters, digits and "-._~" as %XX (RFC 3986, 2.3). */
void pl_api_escape(struct pl_buf *to, struct pl_str text);

/* Turns a problem of the server into words about the options of the command (refusal.c). */
void pl_api_speak_of_options(const struct pl_api *api, struct pl_error *err);

/* One call: where and as whom is filled in here. *ret_status is 2xx, or the problem has been
 * explained and the exit code says what it was: 1 refused, 4 the service failed or is not there. */
enum pl_exit pl_api_call(struct pl_api *api, struct pl_http_call *call, const char *path,
                         struct pl_buf *reply);
/* The same without words: *ret_status may be any. */
enum pl_status pl_api_try(struct pl_api *api, struct pl_http_call *call, const char *path,
                          int *ret_status, struct pl_buf *reply, struct pl_error *err);
/* A call whose body (ptr NULL: none) and answer are JSON. An empty answer has a root of NULL. */
enum pl_exit pl_api_ask(struct pl_api *api, const char *method, const char *path,
                        struct pl_str body, struct pl_json_doc *ret_doc);

/* Says why an answer is not 2xx, and what to do: 1 refused, 4 the service failed. */
enum pl_exit pl_api_refused(struct pl_api *api, int http_status, struct pl_str reply);

/* Says why a call failed, and what to do. */
enum pl_exit pl_api_fail(struct pl_api *api, enum pl_status status, struct pl_error *err);

/* What an answer of status 3xx to 5xx says (RFC 9457, or anything), as an error: PL_INVALID when
 * the request was refused, PL_IO when the service failed. */
void pl_api_problem_read(struct pl_texts *texts, int http_status, struct pl_str body,
                         struct pl_error *ret_err);

/* Members of an answer: the text of a string; empty if it is not a string or absent. */
struct pl_str pl_api_text(struct pl_texts *texts, const struct pl_json_doc *doc,
                          const struct pl_json_node *object, const char *name);
/* The whole number; `otherwise` if it is not one. */
int64_t pl_api_int(const struct pl_json_doc *doc, const struct pl_json_node *object,
                   const char *name, int64_t otherwise);

/* A member {"name": "text"} of a request, where the option was given. */
struct pl_json_out;
void pl_api_out_option(struct pl_json_out *out, const struct pl_args *args, enum pl_option_id id,
                       const char *name);

#endif
