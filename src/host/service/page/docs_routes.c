/* The documentation of this version under /docs: static pages that tools/docs makes from docs/,
 * built into the program. They are public, because people read them before they have a key. */
#include "service/page/page_files.h"
#include "service/page/routes.h"

static const char no_docs[] =
    "This program was built without its documents. In the source tree \"make build\" builds both "
    "(it needs npm); docs/index.md is their beginning.";

/* The pages run their own script for search and theme, and reach nothing else. */
static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'none'; "
    "frame-ancestors 'none'; base-uri 'none'";

/* Links in the pages are relative, so each language's first page has its own address. */
static void show_first(struct pl_exchange *x)
{
    if (!pl_docs_find(PL_STR("index.html"))) {
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "%s", no_docs);
    } else {
        bool is_chinese =
            !strcmp(pl_page_language(x), "zh-CN") && pl_docs_find(PL_STR("zh-CN/index.html"));
        x->status = 303;
        pl_exchange_header(x, "Location", "/docs/%sindex.html", is_chinese ? "zh-CN/" : "");
        pl_exchange_header(x, "Vary", "Accept-Language, Cookie");
    }
    pl_exchange_finish(x);
}

static void show_page(struct pl_exchange *x)
{
    struct pl_str name = pl_str_slice(x->target.path, strlen("/docs/"), x->target.path.len);
    const struct pl_page_entry *entry = pl_docs_find(name);
    if (!entry) {
        bool has_docs = pl_docs_find(PL_STR("index.html"));
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "%s",
                            has_docs ? "The documents have no such page; /docs is the first one."
                                     : no_docs);
        pl_exchange_finish(x);
        return;
    }
    x->content_type = pl_page_type(name);
    pl_exchange_header(x, "Content-Security-Policy", "%s", policy);
    pl_exchange_header(x, "Content-Encoding", "gzip");
    pl_exchange_static(x, (struct pl_str){pl_docs_bytes + entry->at, entry->n_bytes}, entry->tag);
    pl_exchange_finish(x);
}

#define PAGE(path, id)                                                                             \
    {                                                                                              \
        PL_METHOD_GET, path, PL_ROUTE_PUBLIC | PL_ROUTE_ANY_REPLY, PL_FOR_ANYBODY, show_page, id,  \
            "Get a page of the documents", "page", NULL, NULL, 200, NULL                           \
    }

const struct pl_route pl_routes_docs[] = {
    {PL_METHOD_GET, "/docs", PL_ROUTE_PUBLIC | PL_ROUTE_ANY_REPLY, PL_FOR_ANYBODY, show_first,
     "docs_get", "Open the documents", "page", NULL, NULL, 303, NULL},
    PAGE("/docs/{file}", "docs_page"),
    PAGE("/docs/{folder}/{file}", "docs_page_below"),
    PAGE("/docs/{folder}/{part}/{file}", "docs_file"),
    {0},
};
