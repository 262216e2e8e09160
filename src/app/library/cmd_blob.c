/* parley blob: images, audio and documents on a server. They are streamed in both directions, so a
 * large file needs no more memory than a small one. */
#include "app/frame/input.h"
#include "app/chat/turn_show.h"
#include "app/frame/verbs.h"

#include "io/file/file.h"
#include "io/system/machine.h"
#include "io/file/outfile.h"

#include <strings.h>

enum { MAX_LIMIT = 100, NAME_WIDTH = 40, SILENCE_MS = 120000, MANY_BYTES = 8 << 20 };

/* --- upload ---------------------------------------------------------------------------------- */

struct upload {
    struct pl_deed *deed;
    const char *name; /* file name, in messages */
    int fd;
    int64_t n_bytes, n_sent; /* n_bytes -1: unknown */
    struct pl_error err;
};

static ptrdiff_t read_piece(void *ctx, char *to, size_t size)
{
    struct upload *upload = ctx;
    struct pl_str bytes;
    if (pl_fd_read(upload->fd, to, size, &bytes, &upload->err) != PL_OK)
        return -1;
    upload->n_sent += (int64_t)bytes.len;
    if (upload->n_bytes > MANY_BYTES)
        pl_console_progress(upload->deed->console, "%s: %lld of %lld MiB ...", upload->name,
                            (long long)(upload->n_sent >> 20), (long long)(upload->n_bytes >> 20));
    return (ptrdiff_t)bytes.len;
}

/* The name sent to the server: --name, or the file name without its directories. */
static const char *name_of(struct pl_deed *deed, const char *path)
{
    const char *given = pl_deed_option(deed, PL_OPT_NAME), *slash = strrchr(path, '/');
    if (given)
        return given;
    if (strcmp(path, "-") == 0)
        return "";
    return slash && slash[1] ? slash + 1 : path;
}

/* The media type by file name, for types that the bytes do not show. */
static const char *type_of(const char *name)
{
    static const char *const types[][2] = {
        {".txt", "text/plain"},        {".md", "text/markdown"},      {".csv", "text/csv"},
        {".html", "text/html"},        {".json", "application/json"}, {".xml", "application/xml"},
        {".yaml", "application/yaml"}, {".yml", "application/yaml"},  {".svg", "image/svg+xml"},
    };
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end && i < sizeof types / sizeof *types; i++)
        if (strcasecmp(end, types[i][0]) == 0)
            return types[i][1];
    return "application/octet-stream";
}

static enum pl_exit send_file(struct upload *upload, const char *path, struct pl_buf *reply)
{
    struct pl_deed *deed = upload->deed;
    const char *type = pl_deed_option(deed, PL_OPT_TYPE), *name = name_of(deed, path);
    struct pl_error err = {0};
    int http_status = 0;
    struct pl_http_call call = {
        .method = "POST",
        .content_type = type ? type : type_of(name),
        .read_body = read_piece,
        .read_ctx = upload,
        .n_body = upload->n_bytes,
        .timeout_ms = SILENCE_MS,
    };
    enum pl_status status =
        pl_api_try(&deed->api, &call,
                   *name ? pl_api_path(&deed->api, "/api/blobs?name=%", name, NULL) : "/api/blobs",
                   &http_status, reply, &err);
    /* A read error of the file is the cause, so it is reported before the errors that follow from
     * it. */
    if (upload->err.status != PL_OK)
        return pl_console_fail(deed->console, upload->name, &upload->err);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    if (http_status < 200 || http_status >= 300)
        return pl_api_refused(&deed->api, http_status, pl_buf_str(reply));
    return PL_EXIT_OK;
}

static enum pl_exit add_one(struct pl_deed *deed, const char *path)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    struct pl_path_info info = {0};
    if (strcmp(path, "-") != 0)
        info = pl_path_look(path);
    struct upload upload = {
        .deed = deed,
        .name = pl_input_name(path),
        .n_bytes = info.n_bytes ? info.n_bytes : -1, /* the size of a pipe is unknown */
    };
    enum pl_status status = pl_fd_open(path, &upload.fd, &upload.err);
    if (status != PL_OK)
        return pl_console_fail(deed->console, upload.name, &upload.err);
    enum pl_exit code = send_file(&upload, path, &reply);
    pl_fd_close(upload.fd);
    if (code == PL_EXIT_OK)
        code = pl_deed_take(deed, pl_buf_str(&reply));
    return code == PL_EXIT_OK ? pl_deed_print_made(deed, "id") : code;
}

/* Adds the files in order, a line for each; a failure does not stop the rest. */
static enum pl_exit run_add(struct pl_deed *deed)
{
    enum pl_exit worst = PL_EXIT_OK;
    if (deed->n_words > 1 && pl_args_has(deed->args, PL_OPT_NAME))
        return pl_deed_usage(deed, "--name works with one file only");
    for (size_t i = 0; i < deed->n_words; i++) {
        enum pl_exit code = add_one(deed, deed->words[i]);
        worst = code > worst ? code : worst;
    }
    return worst;
}

static enum pl_exit run_fetch(struct pl_deed *deed)
{
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "url");
    pl_json_out_text(&deed->out, pl_str_of(deed->words[0]));
    pl_api_out_option(&deed->out, deed->args, PL_OPT_NAME, "name");
    pl_json_out_close(&deed->out, '}');
    enum pl_exit code = pl_deed_ask(deed, "POST", "/api/blobs/fetch");
    return code == PL_EXIT_OK ? pl_deed_print_made(deed, "id") : code;
}

/* --- download -------------------------------------------------------------------------------- */

struct download {
    struct pl_outfile file; /* owned */
    struct pl_error err;
};

static bool on_piece(void *ctx, struct pl_str piece)
{
    struct download *download = ctx;
    return pl_outfile_write(&download->file, piece, &download->err) == PL_OK;
}

static enum pl_exit receive(struct pl_deed *deed, struct download *download)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    struct pl_http_call call = {
        .method = "GET",
        .range = pl_deed_option(deed, PL_OPT_RANGE),
        .timeout_ms = SILENCE_MS,
        .on_piece = on_piece,
        .ctx = download,
    };
    return pl_api_call(&deed->api, &call, pl_deed_path(deed, "/api/blobs/%"), &reply);
}

/* The file appears under its name only after it is complete. */
static enum pl_exit receive_to(struct pl_deed *deed, const char *path)
{
    struct download download = {0};
    enum pl_exit code = PL_EXIT_OK;
    if (pl_outfile_open(&download.file, path, NULL, &download.err) == PL_OK)
        code = receive(deed, &download);
    if (code == PL_EXIT_OK && download.err.status == PL_OK)
        (void)pl_outfile_commit(&download.file, &download.err);
    pl_outfile_drop(&download.file);
    if (code == PL_EXIT_OK && download.err.status != PL_OK)
        code = pl_console_fail(deed->console, strcmp(path, "-") == 0 ? "standard output" : path,
                               &download.err);
    return code;
}

/* Whether the text is a byte range: "0-99", "100-" or "-50" (the last bytes). */
static bool is_range(const char *text)
{
    size_t n = strspn(text, "0123456789");
    size_t m = text[n] == '-' ? strspn(text + n + 1, "0123456789") : 0;
    return text[n] == '-' && n + m > 0 && text[n + 1 + m] == '\0';
}

static enum pl_exit run_get(struct pl_deed *deed)
{
    const char *path = pl_deed_option(deed, PL_OPT_OUT),
               *range = pl_deed_option(deed, PL_OPT_RANGE);
    bool is_standard = !path || strcmp(path, "-") == 0;
    if (range && !is_range(range))
        return pl_deed_usage(deed,
                             "--range must be 0-99, 100- or -50 (the last 50 bytes), not "
                             "\"%s\"",
                             range);
    if (is_standard && deed->console->out_is_terminal)
        return pl_deed_usage(deed,
                             "a blob is binary data, not for a terminal; give -o FILE, or use a "
                             "pipe");
    return receive_to(deed, is_standard ? "-" : path);
}

/* --- looking --------------------------------------------------------------------------------- */

static enum pl_exit run_show(struct pl_deed *deed)
{
    enum pl_exit code = pl_deed_ask(deed, "GET", pl_deed_path(deed, "/api/blobs/%/info"));
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    const struct pl_json_node *blob = deed->answer.root;
    pl_console_put_safe(deed->console, pl_deed_text(deed, blob, "id"));
    pl_console_puts(deed->console, "\n");
    pl_show_member(deed->console, "name", pl_deed_text(deed, blob, "name"));
    pl_show_member(deed->console, "type", pl_deed_text(deed, blob, "content_type"));
    pl_show_member(deed->console, "bytes", pl_deed_number(deed, blob, "size"));
    pl_show_member(deed->console, "sha256", pl_deed_text(deed, blob, "sha256"));
    pl_show_member(deed->console, "made",
                   pl_time_of(&deed->api.texts, pl_deed_text(deed, blob, "created_at")));
    pl_show_member(deed->console, "url", pl_deed_text(deed, blob, "url"));
    return PL_EXIT_OK;
}

static enum pl_exit run_list(struct pl_deed *deed)
{
    static const struct pl_deed_param params[] = {{PL_OPT_LIMIT, "limit"}, {0}};
    struct pl_texts *texts = &deed->api.texts;
    struct pl_columns columns;
    enum pl_exit code = pl_deed_check_count(deed, PL_OPT_LIMIT, MAX_LIMIT);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "GET", pl_deed_query(deed, "/api/blobs", params));
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    if (!pl_deed_item(deed, NULL)) {
        pl_console_say(deed->console, "there are no blobs; \"parley blob add FILE\" adds one");
        return PL_EXIT_OK;
    }
    pl_deed_begin_table(deed, &columns);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        struct pl_str name = pl_deed_text(deed, one, "name");
        pl_columns_add(&columns, pl_deed_text(deed, one, "id"));
        pl_columns_add(&columns, pl_deed_text(deed, one, "content_type"));
        pl_columns_add(&columns, pl_deed_number(deed, one, "size"));
        pl_columns_add(&columns, pl_time_of(texts, pl_deed_text(deed, one, "created_at")));
        pl_columns_add(&columns, name.len ? pl_line_of(texts, name, NAME_WIDTH) : PL_STR("-"));
    }
    return pl_deed_print_table(deed, &columns, "--limit shows more.");
}

static enum pl_exit run_delete(struct pl_deed *deed)
{
    enum pl_exit code = pl_deed_confirm(deed, "Delete the blob %s?", deed->words[0]);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "DELETE", pl_deed_path(deed, "/api/blobs/%"));
    return code == PL_EXIT_OK ? pl_deed_done(deed, "deleted %s", deed->words[0]) : code;
}

const struct pl_verb pl_blob_verbs[] = {
    {"add", "FILE...", 1, SIZE_MAX, "Store files, and print the id of each", run_add},
    {"get", "ID", 1, 1, "Write the bytes to standard output, or to -o FILE", run_get,
     .offers = "blobs"},
    {"show", "ID", 1, 1, "Show name, type, size and hash", run_show, .offers = "blobs"},
    {"list", "", 0, 0, "List blobs, newest first", run_list, .columns = "id,type,bytes,made,name"},
    {"fetch", "URL", 1, 1, "Make the server download and store a URL, and print the id", run_fetch},
    {"delete", "ID", 1, 1, "Delete a blob", run_delete, .offers = "blobs"},
    {0},
};
