/* The methods of host calls (broker/broker.h). Each begins on the instance's shard, and may be
 * cancelled. */
#ifndef PL_EXT_METHOD_H
#define PL_EXT_METHOD_H

#include "ext/run/broker/broker.h"

/* --- methods.c: the environment of extensions, from the configuration */
#define PL_EXT_SECRET_MARK "{{parley-secret:"
/* {NULL, 0}: no such variable. */
struct pl_str pl_ext_env_find(struct pl_shard *shard, struct pl_str name);
/* Whether its value is never shown: by its name, or because it is bound to hosts. */
bool pl_ext_env_is_secret(struct pl_shard *shard, struct pl_str name);
/* Whether a secret may be sent to this host. */
bool pl_ext_env_binds(struct pl_shard *shard, struct pl_str name, struct pl_str host);

void pl_ext_tool_start(struct pl_ext_hostcall *call);
void pl_ext_tool_cancel(struct pl_ext_hostcall *call);
void pl_ext_fs_start(struct pl_ext_hostcall *call);
void pl_ext_exec_start(struct pl_ext_hostcall *call);
void pl_ext_exec_cancel(struct pl_ext_hostcall *call);
void pl_ext_http_start(struct pl_ext_hostcall *call);
void pl_ext_http_cancel(struct pl_ext_hostcall *call);
void pl_ext_session_start(struct pl_ext_hostcall *call);
void pl_ext_session_cancel(struct pl_ext_hostcall *call);
void pl_ext_ui_start(struct pl_ext_hostcall *call);
void pl_ext_events_start(struct pl_ext_hostcall *call);

/* --- files.c: file operations of fs and of the tools of the workspace, on a worker */
struct pl_ext_root {
    char path[512]; /* of the directory on this machine */
    bool is_state;  /* the extension's own directory; otherwise the workspace */
};
/* False: the call has an error. `is_state`: the extension's own directory. */
bool pl_ext_root_find(struct pl_ext_hostcall *call, bool is_state, struct pl_ext_root *ret_root);
/* Opens the root, and creates it if missing. -1: the call has an error. On a worker. */
int pl_ext_root_open(struct pl_ext_hostcall *call, const struct pl_ext_root *root);
/* Opens a path below the root, without leaving it; the real path of the opened file is matched
 * again. -1: the call has an error. */
int pl_ext_file_open(struct pl_ext_hostcall *call, const struct pl_ext_root *root, int root_fd,
                     struct pl_str path, int flags);
/* Opens the directory of a path that is to be created or removed, checked; *ret_name is its last
 * segment. */
int pl_ext_file_open_parent(struct pl_ext_hostcall *call, const struct pl_ext_root *root,
                            int root_fd, struct pl_str path, bool makes, struct pl_str *ret_name);
/* Reads at most max bytes from offset. False: the call has an error. */
bool pl_ext_file_read(struct pl_ext_hostcall *call, int fd, int64_t offset, size_t max,
                      struct pl_buf *to);
enum pl_ext_write_mode { PL_EXT_WRITE_REPLACE, PL_EXT_WRITE_CREATE, PL_EXT_WRITE_APPEND };
bool pl_ext_file_write(struct pl_ext_hostcall *call, const struct pl_ext_root *root, int root_fd,
                       struct pl_str path, enum pl_ext_write_mode mode, bool makes_parents,
                       struct pl_str content);
struct pl_ext_entry_seen {
    struct pl_str name;
    const char *type; /* "file", "directory", "link", "other" */
    int64_t size, mtime_ms;
};
/* Lists the entries, sorted by name; at most 10,000. Arena memory of the call. */
bool pl_ext_dir_list(struct pl_ext_hostcall *call, int fd, struct pl_ext_entry_seen **ret_entries,
                     size_t *ret_n);
/* Whether the scopes allow this path; sets no error. */
bool pl_ext_path_allowed(const struct pl_ext_hostcall *call, struct pl_str path);

/* Writes the member content, or content_bytes if it is not UTF-8. */
void pl_ext_put_content(struct pl_json_out *out, const char *text_key, const char *bytes_key,
                        struct pl_str content);
/* Reads the param content or content_bytes. False: the call failed. */
bool pl_ext_get_content(struct pl_ext_hostcall *call, const struct pl_json_node *object,
                        const char *text_key, const char *bytes_key, struct pl_str *ret_content);

#endif
