/* Packages are written in transactions of about a megabyte: one of 64 would delay every other
 * change of this node, and a writer that is silent for long is taken for stuck. */
#include "store/node/packages.h"

#include "base/mem.h"
#include "store/store_int.h"

enum { PART_BYTES = 1 << 20, BATCH_FILES = 500 };
static const int64_t KEEP_MS = 3600 * 1000;

/* --- putting ---------------------------------------------------------------------------------- */

struct putting {
    struct pl_store *store;
    struct pl_str artifact;
    struct pl_batch *batch; /* owned; NULL: none begun */
    struct pl_error *err;
};

static enum pl_status flush(struct putting *p)
{
    struct pl_batch *batch = PL_TAKE(p->batch);
    return batch ? pl_store_commit(p->store, batch, p->err) : PL_OK;
}

static enum pl_status begin(struct putting *p)
{
    if (!p->batch)
        p->batch = pl_batch_create();
    return p->batch ? PL_OK : pl_fail(p->err, PL_NOMEM, "out of memory");
}

static enum pl_status put_part(struct putting *p, const struct pl_package_file *file, int64_t part,
                               struct pl_str bytes)
{
    if (begin(p) != PL_OK)
        return PL_NOMEM;
    struct pl_params params = {.err = &p->batch->err};
    pl_params_text(&params, p->artifact);
    pl_params_text(&params, file->path);
    pl_params_int(&params, part);
    pl_params_int(&params, file->is_executable);
    pl_params_bytes(&params, bytes.len ? bytes : PL_STR(""));
    pl_batch_write(p->batch, PL_SQL_PACKAGE_FILE, &params);
    bool is_full = p->batch->n_bytes >= PART_BYTES || pl_batch_n_writes(p->batch) >= BATCH_FILES;
    return is_full ? flush(p) : PL_OK;
}

static enum pl_status put_file(struct putting *p, const struct pl_package_file *file)
{
    size_t at = 0;
    enum pl_status status = PL_OK;
    for (int64_t part = 0; status == PL_OK && (at < file->bytes.len || part == 0); part++) {
        status = put_part(p, file, part, pl_str_slice(file->bytes, at, at + PART_BYTES));
        at += PART_BYTES;
    }
    return status;
}

enum pl_status pl_store_package_put(struct pl_store *store, struct pl_str artifact,
                                    const struct pl_package_file *files, size_t n, int64_t now_ms,
                                    struct pl_error *err)
{
    struct putting p = {.store = store, .artifact = artifact, .err = err};
    enum pl_status status = begin(&p);
    if (status == PL_OK) {
        struct pl_params params = {.err = &p.batch->err};
        pl_params_text(&params, artifact);
        pl_params_int(&params, now_ms);
        pl_batch_write(p.batch, PL_SQL_PACKAGE_BEGIN, &params);
    }
    for (size_t i = 0; i < n && status == PL_OK; i++)
        status = put_file(&p, &files[i]);
    if (status == PL_OK)
        status = begin(&p);
    if (status == PL_OK) {
        struct pl_params params = {.err = &p.batch->err};
        pl_params_text(&params, artifact);
        pl_batch_write(p.batch, PL_SQL_PACKAGE_END, &params);
        return flush(&p);
    }
    pl_batch_destroy(p.batch);
    return status;
}

void pl_batch_sweep_packages(struct pl_batch *batch, int64_t now_ms)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_int(&params, now_ms - KEEP_MS);
    pl_batch_write(batch, PL_SQL_PACKAGE_SWEEP, &params);
}

/* --- getting ---------------------------------------------------------------------------------- */

enum pl_status pl_store_package_has(struct pl_store *store, struct pl_str artifact, bool *ret_has,
                                    struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_text(&params, artifact);
    struct pl_read read = pl_read_begin(store, NULL, err);
    bool has = pl_read_number(&read, PL_SQL_PACKAGE_HAS, &params) != 0;
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_has = has;
    return status;
}

/* A row: a file, or a further part of the file before. */
struct part {
    struct pl_package_file file;
    int64_t number;
};

/* The number of parts of the file that begins here, and its size. */
static size_t measure(const struct part *parts, size_t n, size_t *ret_bytes)
{
    size_t i = 0, n_bytes = 0;
    do
        n_bytes += parts[i++].file.bytes.len;
    while (i < n && parts[i].number > 0);
    *ret_bytes = n_bytes;
    return i;
}

static void join(struct pl_read *read, const struct part *parts, size_t n_parts, size_t n_bytes,
                 struct pl_package_file *file)
{
    *file = parts[0].file;
    if (n_parts == 1)
        return;
    char *bytes = pl_read_room(read, n_bytes, 1), *to = bytes;
    for (size_t i = 0; bytes && i < n_parts; i++) {
        memcpy(to, parts[i].file.bytes.ptr, parts[i].file.bytes.len);
        to += parts[i].file.bytes.len;
    }
    file->bytes = (struct pl_str){bytes, bytes ? n_bytes : 0};
}

static size_t join_all(struct pl_read *read, const struct part *parts, size_t n,
                       struct pl_package_file *files)
{
    size_t n_files = 0;
    for (size_t i = 0; files && i < n;) {
        size_t n_bytes, n_parts = measure(&parts[i], n - i, &n_bytes);
        join(read, &parts[i], n_parts, n_bytes, &files[n_files++]);
        i += n_parts;
    }
    return n_files;
}

static void read_part(struct pl_read *read, struct part *part)
{
    *part = (struct part){
        .file = {.path = pl_read_text(read, 0),
                 .bytes = pl_read_text(read, 3),
                 .is_executable = pl_read_int(read, 2) != 0},
        .number = pl_read_int(read, 1),
    };
}

enum pl_status pl_store_package_get(struct pl_store *store, struct pl_arena *arena,
                                    struct pl_str artifact, struct pl_package_file **ret_files,
                                    size_t *ret_n, struct pl_error *err)
{
    struct pl_params params = {0};
    struct pl_list parts = {.size = sizeof(struct part)};
    pl_params_text(&params, artifact);
    struct pl_read read = pl_read_begin(store, arena, err);
    bool is_whole = pl_read_number(&read, PL_SQL_PACKAGE_HAS, &params) != 0;
    if (is_whole)
        pl_read_query(&read, PL_SQL_PACKAGE_FILES, &params);
    while (is_whole && pl_read_next(&read)) {
        struct part *part = pl_read_add(&read, &parts);
        if (part)
            read_part(&read, part);
    }
    struct pl_package_file *files =
        read.status == PL_OK && parts.n ? pl_read_room(&read, parts.n, sizeof *files) : NULL;
    size_t n = join_all(&read, parts.items, parts.n, files);
    enum pl_status status = pl_read_end_one(&read, is_whole, "package");
    if (status != PL_OK)
        return status;
    *ret_files = files;
    *ret_n = n;
    return PL_OK;
}
