/* A file system for SQLite on which chosen operations fail. It wraps the real one and becomes the
 * default, so that any store opened afterwards uses it. */
#ifndef PL_TESTS_STORE_VFS_H
#define PL_TESTS_STORE_VFS_H

#include <stdbool.h>

enum vfs_call { VFS_OPEN, VFS_READ, VFS_WRITE, VFS_SYNC, VFS_CALL_COUNT };
enum vfs_file { VFS_ANY, VFS_MAIN, VFS_LOG };

struct vfs_plan {
    enum vfs_call call;
    enum vfs_file file;
    int fail_at;    /* counted from 1 since the plan was set; 0: none fails */
    bool and_after; /* all later ones too */
    int code;       /* the code that SQLite gets */
};

void vfs_install(void);
void vfs_set(const struct vfs_plan *plan); /* NULL: nothing fails */
/* The number of calls of the plan's kind, and how many of them failed. */
int vfs_n_calls(void);
int vfs_n_failed(void);

#endif
