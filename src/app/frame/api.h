/* The client side of the API: finds a running server, sends requests, reads answers.
 *
 * --server URL or PARLEY_SERVER names a server, which needs a key: PARLEY_KEY or --key-file, so
 * that no process list shows it. Otherwise the control socket in the data directory is used, and
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
    const char *verb;           /* name, for messages; NULL: the command has no verbs */
    struct pl_texts texts;      /* owned; paths and answers, until pl_api_close */
    bool is_local;              /* uses the control socket; `config` is read only then */
    struct pl_server_config config;
    const char *url;       /* arena; without a trailing slash */
    const char *unix_path; /* arena; NULL: connect to the host of the URL */
    const char *key;       /* arena or the environment; NULL: no key */
    bool is_json;          /* --json: also prints a problem document as it came */
};

/* Finds the server and the key, without a request. Prints the error unless it returns PL_EXIT_OK.
 * The caller closes *api in either case. */
enum pl_exit pl_api_open(struct pl_api *api, struct pl_console *console, const struct pl_args *args,
                         const char *command);
/* Same, but always uses the control socket: for commands that only make sense on the server's
 * machine. */
enum pl_exit pl_api_open_local(struct pl_api *api, struct pl_console *console,
                               const struct pl_args *args, const char *command);
void pl_api_close(struct pl_api *api);

/* Whether a server answers on the control socket. PL_IO if that is unknown. */
enum pl_status pl_api_is_running(struct pl_api *api, bool *ret_is_running, struct pl_error *err);

/* Builds a path: each '%' of the shape becomes the next text, escaped: ("/api/sessions/%", id,
 * NULL). NULL if out of memory. */
const char *pl_api_path(struct pl_api *api, const char *shape, ...) __attribute__((sentinel));
/* Appends text with every byte except letters, digits and "-._~" as %XX (RFC 3986, 2.3). */
void pl_api_escape(struct pl_buf *to, struct pl_str text);

/* Rewrites an error of the server in terms of the command's options (refusal.c). */
void pl_api_speak_of_options(const struct pl_api *api, struct pl_error *err);

/* Sends one request; fills in the address and the key. PL_EXIT_OK if the status is 2xx. Otherwise
 * prints the problem and returns 1 (refused) or 4 (the service failed or is unreachable). */
enum pl_exit pl_api_call(struct pl_api *api, struct pl_http_call *call, const char *path,
                         struct pl_buf *reply);
/* Same, but prints nothing; *ret_status may be any status. */
enum pl_status pl_api_try(struct pl_api *api, struct pl_http_call *call, const char *path,
                          int *ret_status, struct pl_buf *reply, struct pl_error *err);
/* Sends a request with a JSON body (ptr NULL: no body) and parses the JSON answer. The root of an
 * empty answer is NULL. */
enum pl_exit pl_api_ask(struct pl_api *api, const char *method, const char *path,
                        struct pl_str body, struct pl_json_doc *ret_doc);

/* Prints why an answer is not 2xx, and what to do. Returns 1 (refused) or 4 (the service
 * failed). */
enum pl_exit pl_api_refused(struct pl_api *api, int http_status, struct pl_str reply);

/* Prints why a call failed, and what to do. */
enum pl_exit pl_api_fail(struct pl_api *api, enum pl_status status, struct pl_error *err);

/* Converts an answer with status 3xx to 5xx (RFC 9457, or anything) to an error: PL_INVALID if the
 * request was refused, PL_IO if the service failed. */
void pl_api_problem_read(struct pl_texts *texts, int http_status, struct pl_str body,
                         struct pl_error *ret_err);

/* The text of a string member; empty if it is absent or not a string. */
struct pl_str pl_api_text(struct pl_texts *texts, const struct pl_json_doc *doc,
                          const struct pl_json_node *object, const char *name);
/* The value of an integer member; `otherwise` if it is not an integer. */
int64_t pl_api_int(const struct pl_json_doc *doc, const struct pl_json_node *object,
                   const char *name, int64_t otherwise);

/* Writes a member {"name": "text"} of a request if the option was given. */
struct pl_json_out;
void pl_api_out_option(struct pl_json_out *out, const struct pl_args *args, enum pl_option_id id,
                       const char *name);

#endif
