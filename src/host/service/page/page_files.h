/* The files of the web page: built into the program, or in a directory. */
#ifndef PL_SERVICE_PAGE_FILES_H
#define PL_SERVICE_PAGE_FILES_H

#include "http/exchange.h"

/* A file of web/dist, as tools/embed_page.py wrote it. */
struct pl_page_entry {
    const char *name; /* "assets/index-4f2a.js"; NULL ends the table */
    const char *tag;  /* ETag with its quotes */
    size_t at, n_bytes;
    bool is_packed; /* with gzip */
};
extern const struct pl_page_entry pl_page_entries[];
extern const char pl_page_bytes[];
/* The same for the documentation. */
extern const struct pl_page_entry pl_docs_entries[];
extern const char pl_docs_bytes[];

/* NULL if there is no such file. */
const struct pl_page_entry *pl_page_find(struct pl_str name);
const struct pl_page_entry *pl_docs_find(struct pl_str name);
struct pl_str pl_page_entry_bytes(const struct pl_page_entry *entry);

/* The media type by the file's extension: "text/javascript; charset=utf-8". */
const char *pl_page_type(struct pl_str name);

/* Reads a file of the directory given by --ui-dir into the reply; on a worker. PL_NOT_FOUND: no
 * such file, or its name leads outside of the directory. */
enum pl_status pl_page_dir_read(struct pl_exchange *x, const char *dir, struct pl_str name,
                                struct pl_error *err);

/* "en" or "zh-CN": as chosen in the page, otherwise by Accept-Language. */
const char *pl_page_language(const struct pl_exchange *x);

/* Appends index.html, with the caller's language and theme in its first tag. */
void pl_page_fill(struct pl_exchange *x, struct pl_str html, struct pl_buf *to);

#endif
