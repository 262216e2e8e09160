/* The web page: its document at every URL that a person may open, its files, and a text if the
 * program was built without it. A client that asks for "/" without accepting HTML gets the first
 * steps as text. */
#include "access/sign_in.h"
#include "base/hash.h"
#include "service/page/page_files.h"
#include "service/page/routes.h"

#include <stdio.h>

static const char first_steps[] =
    "Parley stores conversations as sessions of turns and streams them live.\n"
    "\nEverything except this page, /healthz, /readyz, /api/version and /openapi.json needs a "
    "key:\n\n    parley key create --name mine            on the server's machine: prints a key, "
    "once\n    KEY=sk-parley-v1-...\n"
    "\nThen, with the address of this page as URL:\n"
    "\n    curl -H \"Authorization: Bearer $KEY\" $URL/api/me\n"
    "    curl -H \"Authorization: Bearer $KEY\" $URL/api/models\n"
    "    curl -H \"Authorization: Bearer $KEY\" --json '{\"intent\":\"first try\"}' "
    "$URL/api/sessions\n"
    "    curl -H \"Authorization: Bearer $KEY\" --json '{\"message\":\"hello world\"}' \\\n"
    "        $URL/api/sessions/SESSION_ID/chat\n"
    "    curl -H \"Authorization: Bearer $KEY\" -N $URL/api/sessions/SESSION_ID/events\n"
    "    curl -H \"Authorization: Bearer $KEY\" $URL/api/sessions/SESSION_ID/messages\n"
    "\n/openapi.json describes all of it, and /docs explains it.\n";

static const char no_page[] =
    "\nThis program was built without its web page. In the source tree \"make build\" builds both "
    "(it needs npm), and\n"
    "\"parley serve --ui-dir web/dist\" serves the page of a directory.\n";

/* Only what the page needs. Sound and video are blobs of this server; frames are its cards. */
static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src "
    "'self' data: blob:; media-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'none'; worker-src 'self'; frame-src 'self'; form-action "
    "'none'; frame-ancestors 'none'; base-uri 'none'";

static void show_text(struct pl_exchange *x, const char *text)
{
    x->content_type = "text/plain; charset=utf-8";
    pl_buf_adds(&x->reply, text);
}

static void say_no_page(struct pl_exchange *x)
{
    pl_buf_clear(&x->reply);
    x->status = 404;
    show_text(x, no_page + 1);
    pl_exchange_finish(x);
}

/* Adds an ETag computed from x->reply. */
static void tag_reply(struct pl_exchange *x)
{
    char tag[32];
    snprintf(tag, sizeof tag, "\"%016llx\"",
             (unsigned long long)pl_hash_quick(pl_buf_str(&x->reply)));
    pl_exchange_header(x, "Cache-Control", "no-cache");
    if (!pl_exchange_tag(x, tag))
        pl_buf_clear(&x->reply);
}

/* --- the document ---------------------------------------------------------------------------- */

static void send_document(struct pl_exchange *x, struct pl_str html)
{
    PL_CLEANUP_BUF struct pl_buf filled;
    pl_buf_init(&filled, 0);
    pl_page_fill(x, html, &filled);
    pl_buf_clear(&x->reply);
    if (filled.status != PL_OK) {
        pl_exchange_fail(x, filled.status, NULL);
        return;
    }
    pl_buf_add(&x->reply, pl_buf_str(&filled));
    x->content_type = "text/html; charset=utf-8";
    pl_exchange_header(x, "Content-Security-Policy", "%s", policy);
    pl_exchange_header(x, "Vary", "Accept, Accept-Language, Cookie");
    tag_reply(x);
}

static void read_document(struct pl_exchange *x)
{
    struct pl_error err = {0};
    enum pl_status status =
        pl_page_dir_read(x, x->setup->config.ui_dir, PL_STR("index.html"), &err);
    if (status == PL_OK)
        send_document(x, pl_buf_str(&x->reply));
    else
        pl_exchange_problem(
            x, PL_PROBLEM_NOT_FOUND, NULL,
            "The directory of --ui-dir has no readable index.html: %s. Build the page "
            "with \"npm run build\" in web/.",
            err.message);
}

static void show_document(struct pl_exchange *x)
{
    const struct pl_page_entry *entry = pl_page_find(PL_STR("index.html"));
    if (x->setup->config.ui_dir) {
        pl_exchange_work_in(x, PL_WORK_FILE, read_document, NULL);
        return;
    }
    if (!entry) {
        say_no_page(x);
        return;
    }
    send_document(x, pl_page_entry_bytes(entry));
    pl_exchange_finish(x);
}

static bool wants_html(const struct pl_exchange *x)
{
    struct pl_str accept = pl_http_header_get(x->head, "accept");
    return accept.len && memmem(accept.ptr, accept.len, "text/html", strlen("text/html"));
}

static void show_first(struct pl_exchange *x)
{
    bool has_page = x->setup->config.ui_dir || pl_page_find(PL_STR("index.html"));
    if (has_page && wants_html(x)) {
        show_document(x);
        return;
    }
    show_text(x, first_steps);
    if (!has_page)
        pl_buf_adds(&x->reply, no_page);
    pl_exchange_header(x, "Vary", "Accept");
    tag_reply(x);
    pl_exchange_finish(x);
}

/* --- its files ------------------------------------------------------------------------------- */

/* The name of a file is the path without its first slash. */
static struct pl_str name_of(const struct pl_exchange *x)
{
    return pl_str_slice(x->target.path, 1, x->target.path.len);
}

static void be_part(struct pl_exchange *x)
{
    x->content_type = pl_page_type(name_of(x));
    pl_exchange_header(x, "Content-Security-Policy", "%s", policy);
}

static void read_part(struct pl_exchange *x)
{
    struct pl_error err = {0};
    if (pl_page_dir_read(x, x->setup->config.ui_dir, name_of(x), &err) != PL_OK) {
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "The page has no such file.");
        return;
    }
    be_part(x);
    tag_reply(x);
}

static void show_part(struct pl_exchange *x)
{
    const struct pl_page_entry *entry = pl_page_find(name_of(x));
    if (x->setup->config.ui_dir) {
        pl_exchange_work_in(x, PL_WORK_FILE, read_part, NULL);
        return;
    }
    if (!entry) {
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "The page has no such file.");
        pl_exchange_finish(x);
        return;
    }
    be_part(x);
    if (entry->is_packed)
        pl_exchange_header(x, "Content-Encoding", "gzip");
    /* Vite puts a content hash into the name of every file below assets. */
    if (pl_str_starts(name_of(x), PL_STR("assets/")))
        pl_exchange_header(x, "Cache-Control", "public, max-age=31536000, immutable");
    pl_exchange_static(x, pl_page_entry_bytes(entry), entry->tag);
    pl_exchange_finish(x);
}

#define DOCUMENT(path, id)                                                                         \
    {                                                                                              \
        PL_METHOD_GET, path, PL_ROUTE_PUBLIC | PL_ROUTE_ANY_REPLY, PL_FOR_ANYBODY, show_document,  \
            id, "Open the web page", "page", NULL, NULL, 200, NULL                                 \
    }
#define PART(path, id)                                                                             \
    {                                                                                              \
        PL_METHOD_GET, path, PL_ROUTE_PUBLIC | PL_ROUTE_ANY_REPLY, PL_FOR_ANYBODY, show_part, id,  \
            "Get a file of the web page", "page", NULL, NULL, 200, NULL                            \
    }

const struct pl_route pl_routes_page[] = {
    {PL_METHOD_GET, "/", PL_ROUTE_PUBLIC | PL_ROUTE_ANY_REPLY, PL_FOR_ANYBODY, show_first,
     "page_get", "Open the web page; for a program, show the first steps", "page", NULL, NULL, 200,
     NULL},
    DOCUMENT("/p", "page_prompts"),
    DOCUMENT("/p/{id}", "page_prompt"),
    DOCUMENT("/s", "page_sessions"),
    DOCUMENT("/s/{id}", "page_session"),
    DOCUMENT("/v", "page_viewer"),
    DOCUMENT("/r", "page_runs"),
    DOCUMENT("/m", "page_memories"),
    DOCUMENT("/t", "page_tasks"),
    DOCUMENT("/x", "page_extensions"),
    DOCUMENT("/x/{id}", "page_extension"),
    DOCUMENT("/settings", "page_settings"),
    DOCUMENT("/settings/{part}", "page_settings_part"),
    DOCUMENT("/audit", "page_audit"),
    DOCUMENT("/share/{token}", "page_share"),
    PART("/assets/{file}", "page_asset"),
    PART("/embed/{file}", "page_embed"),
    PART("/{file}", "page_file"),
    {0},
};
