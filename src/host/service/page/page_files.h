/* The files of the web page: those that were built into the program, or those of a directory. */
#ifndef PL_SERVICE_PAGE_FILES_H
#define PL_SERVICE_PAGE_FILES_H

#include "http/exchange.h"

/* A file of web/dist, as tools/embed_page.py has written it. */
struct pl_page_entry {
    const char *name; /* "assets/index-4f2a.js"; NULL ends the table */
    const char *tag;  /* with its quotes */
    size_t at, n_bytes;
    bool is_packed; /* by gzip */
};
extern const struct pl_page_entry pl_page_entries[];
extern const char pl_page_bytes[];
/* The same of the documents. */
extern const struct pl_page_entry pl_docs_entries[];
extern const char pl_docs_bytes[];

/* NULL: there is no such file. */
const struct pl_page_entry *pl_page_find(struct pl_str name);
const struct pl_page_entry *pl_docs_find(struct pl_str name);
struct pl_str pl_page_entry_bytes(const struct pl_page_entry *entry);

/* "text/javascript; charset=utf-8", by the end of the name. */
const char *pl_page_type(struct pl_str name);

/* Reads a file of the directory that --ui-dir names, into the reply; on a worker. PL_NOT_FOUND: there is none, or
 * its name leads elsewhere. */
enum pl_status pl_page_dir_read(struct pl_exchange *x, const char *dir, struct pl_str name,
                                struct pl_error *err);

/* "en" or "zh-CN": what was chosen in the page, otherwise by Accept-Language. */
const char *pl_page_language(const struct pl_exchange *x);

/* index.html, with the language and the theme of the one who asks in its first tag. */
void pl_page_fill(struct pl_exchange *x, struct pl_str html, struct pl_buf *to);

#endif
