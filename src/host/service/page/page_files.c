/* Finds the files of the web page by name: in the program, or in a directory. */
#include "service/page/page_files.h"

#include "io/file/file.h"

static const struct pl_page_entry *find(const struct pl_page_entry *entry, struct pl_str name)
{
    for (; entry->name; entry++)
        if (pl_str_eq(name, pl_str_of(entry->name)))
            return entry;
    return NULL;
}

const struct pl_page_entry *pl_page_find(struct pl_str name)
{
    return find(pl_page_entries, name);
}

const struct pl_page_entry *pl_docs_find(struct pl_str name)
{
    return find(pl_docs_entries, name);
}

struct pl_str pl_page_entry_bytes(const struct pl_page_entry *entry)
{
    return (struct pl_str){pl_page_bytes + entry->at, entry->n_bytes};
}

const char *pl_page_type(struct pl_str name)
{
    static const struct {
        const char *end, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".webp", "image/webp"},
        {".ico", "image/x-icon"},
        {".wasm", "application/wasm"},
        {".txt", "text/plain; charset=utf-8"},
        {".c", "text/plain; charset=utf-8"},
        {".py", "text/plain; charset=utf-8"},
        {".webmanifest", "application/manifest+json"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct pl_str end = pl_str_of(types[i].end);
        if (name.len > end.len && pl_str_eq(pl_str_slice(name, name.len - end.len, name.len), end))
            return types[i].type;
    }
    return "application/octet-stream";
}

/* Letters, digits, and dots that do not begin a segment: such a name cannot leave its directory. */
static bool is_plain(struct pl_str name)
{
    bool is_first = true;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!is_letter && (is_first || (c != '.' && c != '/')))
            return false;
        is_first = c == '/';
    }
    return name.len && !is_first;
}

enum pl_status pl_page_dir_read(struct pl_exchange *x, const char *dir, struct pl_str name,
                                struct pl_error *err)
{
    enum { PIECE = 64 << 10 };
    int fd = -1;
    if (!is_plain(name))
        return pl_fail(err, PL_NOT_FOUND, "the name of a file of the page has no such letters");
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_buf_addf(&path, "%s/%.*s", dir, PL_STR_ARG(name));
    char *piece = pl_arena_alloc(&x->arena, PIECE, 1);
    pl_buf_addc(&path, 0);
    if (path.status != PL_OK || !piece)
        return PL_NOMEM;
    enum pl_status status = pl_fd_open(path.ptr, &fd, err);
    if (status != PL_OK)
        return status == PL_UNREADABLE ? PL_NOT_FOUND : status;
    struct pl_str got = {0};
    do {
        status = pl_fd_read(fd, piece, PIECE, &got, err);
        if (status == PL_OK)
            pl_buf_add(&x->reply, got);
    } while (status == PL_OK && got.len && x->reply.status == PL_OK);
    pl_fd_close(fd);
    return status == PL_OK ? x->reply.status : status;
}
