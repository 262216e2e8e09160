/* Whole files as bytes: regular files, FIFOs and standard input alike, with a cap.
 *
 * A small file is read into memory. A large regular file is mapped read-only, so that refusing a
 * gigabyte does not take a gigabyte of memory. A mapping has a risk: if another program truncates
 * the file while we read it, the kernel kills this process with SIGBUS. That is acceptable for a
 * command that reads a file and exits. A server must not read its clients' files this way. */
#ifndef PL_IO_FILE_H
#define PL_IO_FILE_H

#include "base/status.h"
#include "base/str.h"

struct pl_file {
    struct pl_str bytes; /* owned by the file; gone after pl_file_close */
    char *heap;          /* owned; NULL when the file is mapped */
    void *map;           /* owned; NULL when the bytes are on the heap */
};

/* Looks at the first bytes of a long stream. Any result but PL_OK stops the reading with that
 * status. It must refuse only input that no continuation could make acceptable. */
typedef enum pl_status pl_file_probe_fn(struct pl_str head, struct pl_error *err);

/* Reads all of `path` ("-" is standard input). PL_UNREADABLE: missing, forbidden, a directory;
 * PL_LIMIT: more than max_bytes (0: no cap); PL_IO: reading failed; PL_NOMEM. The message in *err
 * says why and what to do. `probe` (may be NULL) is called at most once, when a stream that cannot
 * be mapped turns out to be long, so that a hostile stream is refused before all of it is
 * stored. */
enum pl_status pl_file_read(const char *path, size_t max_bytes, pl_file_probe_fn *probe,
                            struct pl_file *ret_file, struct pl_error *err);

/* Accepts a zeroed or closed pl_file. */
void pl_file_close(struct pl_file *file);
#define PL_CLEANUP_FILE __attribute__((cleanup(pl_file_close)))

/* Writes everything or fails: PL_IO with the reason in *err. SIGPIPE must be ignored; otherwise a
 * closed pipe kills the process. */
enum pl_status pl_fd_write(int fd, struct pl_str bytes, struct pl_error *err);
/* Whether fd is a pipe whose readers are all closed. */
bool pl_fd_is_unread(int fd);

/* Opens a file for reading in pieces ("-" is standard input). Errors are those of pl_file_read. */
enum pl_status pl_fd_open(const char *path, int *ret_fd, struct pl_error *err);
/* Reads the available bytes; blocks until there is at least one. An empty *ret_bytes means the
 * end. */
enum pl_status pl_fd_read(int fd, char *to, size_t size, struct pl_str *ret_bytes,
                          struct pl_error *err);
/* Closes a descriptor from pl_fd_open, unless it is a standard one. */
void pl_fd_close(int fd);

/* Makes sure that descriptors 0, 1 and 2 are open, so that no file we open gets one of these
 * numbers. Writing to a missing standard output still fails. */
void pl_fd_guard_standard(void);

#endif
