#include "fault/store_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

/* An open file of the shim: SQLite's part, then its kind, then the real file directly after it. */
struct shim_file {
    sqlite3_file base;
    enum vfs_file kind;
    sqlite3_file *real;
};

static sqlite3_vfs shim, *real_vfs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vfs_plan plan;
static int n_calls, n_failed;

void vfs_set(const struct vfs_plan *new_plan)
{
    pthread_mutex_lock(&lock);
    plan = new_plan ? *new_plan : (struct vfs_plan){0};
    n_calls = n_failed = 0;
    pthread_mutex_unlock(&lock);
}

static int locked(const int *number)
{
    pthread_mutex_lock(&lock);
    int value = *number;
    pthread_mutex_unlock(&lock);
    return value;
}

int vfs_n_calls(void)
{
    return locked(&n_calls);
}

int vfs_n_failed(void)
{
    return locked(&n_failed);
}

/* SQLITE_OK, or the error for this call. */
static int judge(enum vfs_call call, enum vfs_file kind)
{
    int code = SQLITE_OK;
    pthread_mutex_lock(&lock);
    if (plan.fail_at && plan.call == call && (plan.file == VFS_ANY || plan.file == kind)) {
        n_calls++;
        if (n_calls == plan.fail_at || (plan.and_after && n_calls > plan.fail_at)) {
            n_failed++;
            code = plan.code;
        }
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static struct shim_file *of(sqlite3_file *file)
{
    return (struct shim_file *)file;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return of(file)->real;
}

static int shim_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int shim_read(sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
    int code = judge(VFS_READ, of(file)->kind);
    return code ? code : real_of(file)->pMethods->xRead(real_of(file), to, n, at);
}

static int shim_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
    int code = judge(VFS_WRITE, of(file)->kind);
    return code ? code : real_of(file)->pMethods->xWrite(real_of(file), from, n, at);
}

static int shim_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int shim_sync(sqlite3_file *file, int flags)
{
    int code = judge(VFS_SYNC, of(file)->kind);
    return code ? code : real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int shim_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), ret_size);
}

static int shim_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int shim_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int shim_check_lock(sqlite3_file *file, int *ret_is_locked)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret_is_locked);
}

static int shim_control(sqlite3_file *file, int op, void *arg)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}

static int shim_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int shim_traits(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int shim_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, ret);
}

static int shim_shm_lock(sqlite3_file *file, int at, int n, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), at, n, flags);
}

static void shim_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int shim_shm_unmap(sqlite3_file *file, int is_delete)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), is_delete);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = shim_close,
    .xRead = shim_read,
    .xWrite = shim_write,
    .xTruncate = shim_truncate,
    .xSync = shim_sync,
    .xFileSize = shim_size,
    .xLock = shim_lock,
    .xUnlock = shim_unlock,
    .xCheckReservedLock = shim_check_lock,
    .xFileControl = shim_control,
    .xSectorSize = shim_sector,
    .xDeviceCharacteristics = shim_traits,
    .xShmMap = shim_shm_map,
    .xShmLock = shim_shm_lock,
    .xShmBarrier = shim_shm_barrier,
    .xShmUnmap = shim_shm_unmap,
};

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *ret_flags)
{
    (void)vfs;
    struct shim_file *shim_file = of(file);
    memset(shim_file, 0, sizeof *shim_file);
    shim_file->kind = flags & SQLITE_OPEN_MAIN_DB ? VFS_MAIN
                      : flags & SQLITE_OPEN_WAL   ? VFS_LOG
                                                  : VFS_ANY;
    shim_file->real = (sqlite3_file *)(shim_file + 1);
    int code = judge(VFS_OPEN, shim_file->kind);
    if (code == SQLITE_OK)
        code = real_vfs->xOpen(real_vfs, name, shim_file->real, flags, ret_flags);
    if (code == SQLITE_OK)
        shim_file->base.pMethods = &methods;
    return code;
}

void vfs_install(void)
{
    if (real_vfs)
        return;
    real_vfs = sqlite3_vfs_find(NULL);
    shim = *real_vfs;
    shim.zName = "faulty";
    shim.pNext = NULL;
    shim.szOsFile = (int)sizeof(struct shim_file) + real_vfs->szOsFile;
    shim.xOpen = shim_open;
    sqlite3_vfs_register(&shim, 1);
}
