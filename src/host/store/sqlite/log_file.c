/* Gathers writes to the write-ahead log. SQLite writes a commit to its log in two small writes per
 * page: for a group of 64 sessions about two hundred system calls before the one fsync, and on a
 * fast disk they take about as long as the fsync. Here consecutive writes to the log are gathered
 * and go to the file when any other operation is requested, above all a sync.
 *
 * Only the writer opens the store this way. Others read a page of the log only when it is in the
 * index of the log, and SQLite adds it after the sync (synchronous=FULL). The writer itself may
 * read its pages sooner, but a read also flushes. If a gathered write fails, the call that flushed
 * it reports the failure, and SQLite aborts the transaction as usual.
 *
 * This wraps SQLite's default VFS at the time the store is opened. */
#include "store/sqlite/sqlite_int.h"
#include "base/mem.h"

#include <errno.h>

/* SQLite's own files split writes of 128 KiB and more wrongly; they never get such large ones. */
enum { GATHER_BYTES = 64 << 10 };

/* SQLite's part, then ours; the real file follows in memory. */
struct log_file {
    sqlite3_file base;
    char *bytes;      /* owned; not yet in the file; NULL: nothing gathered so far */
    size_t n;         /* number of these bytes */
    sqlite3_int64 at; /* their offset in the file */
    int failure;      /* of a write, not reported yet */
};

static struct log_file *log_of(sqlite3_file *base)
{
    return (struct log_file *)base;
}

static sqlite3_file *real_of(sqlite3_file *base)
{
    return (sqlite3_file *)(log_of(base) + 1);
}

/* If a file may not grow (a limit, a quota), we treat it as a full disk: nothing is unknown, and
 * writing works again when there is room. SQLite does this only for ENOSPC. */
static int write_real(sqlite3_file *base, const void *from, int n, sqlite3_int64 at)
{
    sqlite3_file *real = real_of(base);
    int code = real->pMethods->xWrite(real, from, n, at), error = 0;
    if (code != SQLITE_IOERR_WRITE ||
        real->pMethods->xFileControl(real, SQLITE_FCNTL_LAST_ERRNO, &error) != SQLITE_OK)
        return code;
    return error == EFBIG || error == EDQUOT ? SQLITE_FULL : code;
}

/* Flushes. Bytes that cannot be written are dropped, because their transaction is aborted too. */
static int let_go(sqlite3_file *base)
{
    struct log_file *log = log_of(base);
    size_t n = log->n;
    log->n = 0;
    if (n && !log->failure)
        log->failure = write_real(base, log->bytes, (int)n, log->at);
    return log->failure;
}

/* The same for calls whose failure aborts the transaction: the failure is then reported. */
static int let_go_and_tell(sqlite3_file *base)
{
    int code = let_go(base);
    log_of(base)->failure = SQLITE_OK;
    return code;
}

static int log_write(sqlite3_file *base, const void *from, int n, sqlite3_int64 at)
{
    struct log_file *log = log_of(base);
    bool continues = log->n && at == log->at + (sqlite3_int64)log->n;
    if (!continues || log->n + (size_t)n > GATHER_BYTES || log->failure) {
        int code = let_go_and_tell(base);
        if (code != SQLITE_OK)
            return code;
    }
    if (!log->bytes)
        log->bytes = pl_mem_alloc(GATHER_BYTES, 1);
    if (!log->bytes || n > GATHER_BYTES)
        return write_real(base, from, n, at);
    if (!log->n)
        log->at = at;
    memcpy(log->bytes + log->n, from, (size_t)n);
    log->n += (size_t)n;
    return SQLITE_OK;
}

static int log_read(sqlite3_file *base, void *to, int n, sqlite3_int64 at)
{
    int code = let_go_and_tell(base);
    return code ? code : real_of(base)->pMethods->xRead(real_of(base), to, n, at);
}

static int log_sync(sqlite3_file *base, int flags)
{
    int code = let_go_and_tell(base);
    return code ? code : real_of(base)->pMethods->xSync(real_of(base), flags);
}

static int log_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    int code = let_go(base);
    return code ? code : real_of(base)->pMethods->xTruncate(real_of(base), size);
}

static int log_size(sqlite3_file *base, sqlite3_int64 *ret_size)
{
    int code = let_go(base);
    return code ? code : real_of(base)->pMethods->xFileSize(real_of(base), ret_size);
}

static int log_close(sqlite3_file *base)
{
    let_go(base);
    pl_mem_free(PL_TAKE(log_of(base)->bytes));
    return real_of(base)->pMethods->xClose(real_of(base));
}

/* --- passed on ------------------------------------------------------------------------------- */

static int log_lock(sqlite3_file *base, int level)
{
    return real_of(base)->pMethods->xLock(real_of(base), level);
}

static int log_unlock(sqlite3_file *base, int level)
{
    return real_of(base)->pMethods->xUnlock(real_of(base), level);
}

static int log_check_lock(sqlite3_file *base, int *ret_is_locked)
{
    return real_of(base)->pMethods->xCheckReservedLock(real_of(base), ret_is_locked);
}

static int log_control(sqlite3_file *base, int op, void *arg)
{
    return real_of(base)->pMethods->xFileControl(real_of(base), op, arg);
}

static int log_sector(sqlite3_file *base)
{
    return real_of(base)->pMethods->xSectorSize(real_of(base));
}

static int log_traits(sqlite3_file *base)
{
    return real_of(base)->pMethods->xDeviceCharacteristics(real_of(base));
}

/* Version 1: a log has neither shared memory nor a mapping. */
static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_check_lock,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_traits,
};

/* --- opening --------------------------------------------------------------------------------- */

static sqlite3_vfs *real_vfs, gathering;

static int open_any(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                    int *ret_flags)
{
    (void)vfs;
    if (!(flags & SQLITE_OPEN_WAL))
        return real_vfs->xOpen(real_vfs, name, file, flags, ret_flags);
    *log_of(file) = (struct log_file){0};
    int code = real_vfs->xOpen(real_vfs, name, real_of(file), flags, ret_flags);
    if (real_of(file)->pMethods)
        file->pMethods = &log_methods;
    return code;
}

/* All methods but xOpen are those of the default VFS, called on the default VFS. */
static void make_vfs(void)
{
    sqlite_use_memory();
    real_vfs = sqlite3_vfs_find(NULL);
    gathering = *real_vfs;
    gathering.zName = "parley";
    gathering.pNext = NULL;
    gathering.szOsFile = real_vfs->szOsFile + (int)sizeof(struct log_file);
    gathering.xOpen = open_any;
    if (sqlite3_vfs_register(&gathering, 0) != SQLITE_OK)
        gathering.zName = NULL;
}

const char *sqlite_gathering_vfs(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_vfs);
    return gathering.zName;
}
