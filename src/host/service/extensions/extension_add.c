/* POST /api/extensions: a package comes as files in the body or, on the control socket only, as the
 * path of a directory on the server's machine. Nobody else may name a path: an administrator of the
 * service is not the system user that runs it.
 *
 *     files | path --> tree --> extension.json --> accepted? --> copy in DATA/extensions
 *         --> files in the store, if nodes share it --> row
 *
 * `accepts` is the hash of the manifest that a person has reviewed. Without it the answer is 409,
 * with the hash and what the extension may do. An update whose manifest is within the accepted one
 * needs no `accepts`. */
#include "service/extensions/extension_add.h"

#include "access/audit.h"
#include "base/text/base64.h"
#include "ext/package/package.h"
#include "ext/package/tree.h"
#include "http/connection.h"
#include "http/json_members.h"
#include "io/clock.h"
#include "service/extensions/extension_json.h"
#include "service/request_options.h"
#include "store/node/packages.h"
#include "store/node/shared.h"
#include "transaction/change.h"

#include <stdio.h>

struct adding {
    bool is_control; /* through the control socket */
    struct pl_str id;
    char hash[PL_EXT_HASH_SIZE];
};

/* --- the files -------------------------------------------------------------------------------- */

static bool refuse_file(struct pl_exchange *x, size_t i, const struct pl_error *err)
{
    pl_option_refuse(x, err->message, "/files/%zu", i);
    return false;
}

static bool read_bytes(struct pl_exchange *x, const struct pl_json_node *n, size_t i,
                       struct pl_str *ret_bytes)
{
    struct pl_str text, encoded;
    struct pl_error err = {0};
    if (pl_member_text(&x->arena, &x->body, n, "content", &text) != PL_OK ||
        pl_member_text(&x->arena, &x->body, n, "content_base64", &encoded) != PL_OK) {
        pl_exchange_fail(x, PL_NOMEM, NULL);
        return false;
    }
    if (!encoded.ptr) {
        *ret_bytes = text;
        return true;
    }
    size_t size;
    if (!pl_base64_size(encoded, &size)) {
        (void)pl_fail(&err, PL_INVALID, "content_base64 is not base64 (RFC 4648, with padding).");
        return refuse_file(x, i, &err);
    }
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    enum pl_status status = pl_base64_decode(&bytes, encoded);
    *ret_bytes = status == PL_OK ? pl_arena_dup(&x->arena, pl_buf_str(&bytes)) : PL_STR("");
    if (status == PL_OK && (!size || ret_bytes->ptr))
        return true;
    pl_exchange_fail(x, PL_NOMEM, NULL);
    return false;
}

static bool read_files(struct pl_exchange *x, const struct pl_json_node *list,
                       struct pl_ext_tree *tree)
{
    size_t i = 0;
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n), i++) {
        struct pl_ext_file file = {.is_executable =
                                       pl_json_member(&x->body, n, "executable", PL_JSON_TRUE)};
        struct pl_error err = {0};
        if (pl_member_text(&x->arena, &x->body, n, "path", &file.path) != PL_OK) {
            pl_exchange_fail(x, PL_NOMEM, NULL);
            return false;
        }
        if (!read_bytes(x, n, i, &file.bytes))
            return false;
        if (pl_ext_tree_add(&x->arena, tree, &file, &err) != PL_OK)
            return refuse_file(x, i, &err);
    }
    return true;
}

static bool load_path(struct pl_exchange *x, const struct adding *adding, struct pl_str path,
                      struct pl_ext_tree *ret_tree)
{
    struct pl_error err = {0};
    if (!adding->is_control) {
        pl_exchange_problem(x, PL_PROBLEM_FORBIDDEN, NULL,
                            "A path is accepted only on the control socket (parley ext add on the "
                            "server's machine). Send the files as \"files\".");
        return false;
    }
    char *text = pl_arena_zalloc(&x->arena, path.len + 1, 1);
    if (!text) {
        pl_exchange_fail(x, PL_NOMEM, NULL);
        return false;
    }
    memcpy(text, path.ptr, path.len);
    if (text[0] != '/' || strlen(text) != path.len) {
        pl_option_refuse(x, "The path of a directory is absolute and has no NUL.", "/path");
        return false;
    }
    enum pl_status status = pl_ext_tree_load(&x->arena, text, ret_tree, &err);
    if (status == PL_OK)
        return true;
    if (status == PL_INVALID || status == PL_LIMIT || status == PL_NOT_FOUND || status == PL_IO)
        pl_option_refuse(x, err.message, "/path");
    else
        pl_exchange_fail(x, status, &err);
    return false;
}

static bool read_tree(struct pl_exchange *x, const struct adding *adding,
                      struct pl_ext_tree *ret_tree)
{
    const struct pl_json_node *files =
        pl_json_member(&x->body, x->body.root, "files", PL_JSON_ARRAY);
    struct pl_str path = pl_body_text(x, "path");
    *ret_tree = (struct pl_ext_tree){0};
    if (!files == !path.ptr) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "A package comes either as \"files\" or as \"path\".");
        return false;
    }
    return files ? read_files(x, files, ret_tree) : load_path(x, adding, path, ret_tree);
}

/* --- the manifest ---------------------------------------------------------------------------- */

static bool read_package(struct pl_exchange *x, const struct pl_ext_tree *tree,
                         struct pl_ext_package *ret_package)
{
    const struct pl_ext_file *manifest = pl_ext_tree_find(tree, PL_STR("extension.json"));
    struct pl_error err = {0};
    if (!manifest) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "The package has no extension.json at its root.");
        return false;
    }
    enum pl_status status = pl_ext_package_read(&x->arena, manifest->bytes, ret_package, &err);
    if (status == PL_NOMEM) {
        pl_exchange_fail(x, status, &err);
        return false;
    }
    if (status != PL_OK) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL, "%s (%s)", err.message,
                            err.pointer[0] ? err.pointer : "/");
        return false;
    }
    if (ret_package->runtime == PL_EXT_RUNTIME_REMOTE ||
        pl_ext_tree_find(tree, ret_package->entrypoint))
        return true;
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                        "The entry point \"%.*s\" is no file of the package.",
                        PL_STR_ARG(ret_package->entrypoint));
    return false;
}

static bool is_accepted(struct pl_exchange *x, const struct pl_ext_package *package,
                        const struct pl_extension_row *old)
{
    struct pl_str accepts = pl_body_text(x, "accepts");
    struct pl_ext_package before;
    if (pl_str_eq(accepts, pl_str_of(package->manifest_hash)))
        return true;
    if (old->id.len && pl_ext_package_read(&x->arena, old->manifest, &before, NULL) == PL_OK &&
        before.runtime == package->runtime &&
        pl_ext_manifest_covers(&before.manifest, &package->manifest))
        return true;
    PL_CLEANUP_BUF struct pl_buf says;
    pl_buf_init(&says, 0);
    pl_extension_say_capabilities(&says, &package->manifest);
    struct pl_str text = pl_str_slice(pl_buf_str(&says), 0, 2000);
    pl_exchange_problem(x, PL_PROBLEM_CONFLICT, NULL,
                        "\"%.*s\" %s: %.*s. To accept that, send \"accepts\": \"%s\".",
                        PL_STR_ARG(package->id),
                        old->id.len ? "may do more than what was accepted" : "may do this",
                        PL_STR_ARG(text), package->manifest_hash);
    return false;
}

/* --- the row --------------------------------------------------------------------------------- */

bool pl_extension_body_capabilities(struct pl_exchange *x, const char *name,
                                    struct pl_str *ret_lines)
{
    const struct pl_json_node *list = pl_json_member(&x->body, x->body.root, name, PL_JSON_ARRAY);
    PL_CLEANUP_BUF struct pl_buf lines;
    pl_buf_init(&lines, 0);
    *ret_lines = (struct pl_str){0};
    if (!list)
        return true;
    size_t i = 0;
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n), i++) {
        enum pl_ext_capability capability = pl_ext_capability_find(pl_json_raw(&x->body, n));
        if (capability == PL_EXT_CAP_NONE) {
            pl_option_refuse(x,
                             "There is no such capability; there are read, write, http, events, "
                             "session, ui, exec, env, tool and log.",
                             "/%s/%zu", name, i);
            return false;
        }
        pl_buf_addf(&lines, "%s%s", i ? "\n" : "", pl_ext_capability_name(capability));
    }
    *ret_lines = lines.len ? pl_arena_dup(&x->arena, pl_buf_str(&lines)) : PL_STR("");
    if (lines.status == PL_OK && ret_lines->ptr)
        return true;
    pl_exchange_fail(x, PL_NOMEM, NULL);
    return false;
}

/* A capability that the manifest does not declare cannot be granted. */
static bool is_declared(struct pl_exchange *x, const struct pl_ext_package *package,
                        struct pl_str granted)
{
    uint32_t set = 0;
    if (pl_ext_capabilities_read(granted, &set, NULL) != PL_OK)
        set = 0;
    uint32_t missing = set & ~pl_ext_manifest_capabilities(&package->manifest);
    for (int c = 0; c < PL_EXT_CAP_NONE && missing; c++)
        if (missing & PL_EXT_CAP_BIT(c)) {
            char says[160];
            snprintf(says, sizeof says,
                     "The manifest does not declare \"%s\", so it cannot be granted.",
                     pl_ext_capability_name((enum pl_ext_capability)c));
            pl_option_refuse(x, says, "/grant");
            return false;
        }
    return true;
}

static void put_row(struct pl_exchange *x, struct pl_batch *batch, struct adding *adding,
                    const struct pl_ext_package *package, const struct pl_extension_row *old,
                    struct pl_str granted, struct pl_str denied)
{
    struct pl_str profile = pl_body_text(x, "profile"), source = pl_body_text(x, "source");
    int64_t now_ms = pl_clock_unix_ms();
    bool is_new = !old->id.len;
    bool is_same = pl_str_eq(old->manifest_hash, pl_str_of(package->manifest_hash));
    struct pl_extension_row row = {
        .id = package->id,
        .name = package->name,
        .version = package->version,
        .runtime = pl_str_of(pl_ext_runtime_word(package->runtime)),
        .artifact = pl_str_of(adding->hash),
        .manifest = package->canonical,
        .manifest_hash = pl_str_of(package->manifest_hash),
        .profile = profile.ptr ? profile
                   : is_new    ? pl_str_of(pl_ext_profile_names[0])
                               : old->profile,
        .granted = granted.ptr ? granted
                   : is_new    ? PL_STR("")
                               : old->granted,
        .denied = denied.ptr ? denied
                  : is_new   ? PL_STR("")
                             : old->denied,
        .state =
            is_new || pl_str_eq(old->state, PL_STR("quarantined")) ? PL_STR("enabled") : old->state,
        .source = source.ptr ? source : PL_STR(""),
        .registered = is_new ? (struct pl_str){0} : old->registered,
        .before_version = is_same ? old->before_version : old->version,
        .before_manifest = is_same ? old->before_manifest : old->manifest,
        .revision = is_new ? 1 : old->revision,
        .created_ms = is_new ? now_ms : old->created_ms,
        .updated_ms = now_ms,
    };
    if (is_new)
        pl_batch_create_extension(batch, &row);
    else
        pl_batch_update_extension(batch, &row);
    pl_batch_forget_extension_quarantines(batch, row.id);
    pl_batch_sweep_packages(batch, now_ms);
    char detail[160];
    snprintf(detail, sizeof detail, "{\"artifact\":\"%s\",\"manifest\":\"%s\"}", adding->hash,
             package->manifest_hash);
    pl_audit_add(x, batch, is_new ? "extension.add" : "extension.update", row.id,
                 pl_str_of(detail));
}

/* The existing extension with this id; an empty id: none. False after making a problem. */
static bool find_old(struct pl_exchange *x, struct pl_str id, struct pl_extension_row *ret_old)
{
    struct pl_error err = {0};
    *ret_old = (struct pl_extension_row){0};
    enum pl_status status =
        pl_store_extension_get(x->shard->server->store, &x->arena, id, ret_old, &err);
    bool is_update = pl_body_bool(x, "update", false);
    if (status != PL_OK && status != PL_NOT_FOUND)
        pl_exchange_fail(x, status, &err);
    else if (status == PL_OK && !is_update)
        pl_exchange_problem(
            x, PL_PROBLEM_CONFLICT, NULL,
            "\"%.*s\" is there already; \"update\": true brings it to this version.",
            PL_STR_ARG(id));
    else if (status == PL_NOT_FOUND && is_update)
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL,
                            "There is no extension \"%.*s\" to update; add it first.",
                            PL_STR_ARG(id));
    else
        return true;
    return false;
}

static bool hash_tree(struct pl_exchange *x, struct pl_ext_tree *tree, struct adding *adding)
{
    enum pl_status status = pl_ext_tree_hash(&x->arena, tree, adding->hash);
    if (status == PL_INVALID)
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "A path of the package is there twice, or is also a directory.");
    else if (status != PL_OK)
        pl_exchange_fail(x, status, NULL);
    return status == PL_OK;
}

/* Stores the files for the other nodes. Before the row, so that every reader of the row finds
 * the files. */
static bool share(struct pl_exchange *x, const struct pl_ext_package *package,
                  const struct pl_ext_tree *tree, const struct adding *adding)
{
    struct pl_store *store = x->shard->server->store;
    struct pl_error err = {0};
    bool is_needed = pl_store_is_shared(store) && package->runtime != PL_EXT_RUNTIME_REMOTE;
    enum pl_status status =
        is_needed ? pl_ext_tree_share(store, tree, adding->hash, pl_clock_unix_ms(), &err) : PL_OK;
    if (status != PL_OK)
        pl_exchange_fail_commit(x, status, &err);
    return status == PL_OK;
}

static void add_plan(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    struct adding *adding = ctx;
    struct pl_ext_tree tree;
    struct pl_ext_package package;
    struct pl_extension_row old;
    struct pl_str granted, denied;
    struct pl_error err = {0};
    if (!read_tree(x, adding, &tree) || !hash_tree(x, &tree, adding) ||
        !read_package(x, &tree, &package) ||
        !pl_extension_body_capabilities(x, "grant", &granted) ||
        !pl_extension_body_capabilities(x, "deny", &denied) || !find_old(x, package.id, &old) ||
        !is_declared(x, &package, granted.ptr ? granted : old.granted) ||
        !is_accepted(x, &package, &old))
        return;
    enum pl_status status =
        pl_ext_tree_store(x->setup->config.data_dir, package.id, &tree, adding->hash, &err);
    if (status != PL_OK) {
        pl_exchange_fail_commit(x, status, &err);
        return;
    }
    if (!share(x, &package, &tree, adding))
        return;
    adding->id = package.id;
    put_row(x, batch, adding, &package, &old, granted, denied);
}

/* The copy of the previous version stays until the server ends: an instance may run from it. */
static void add_tell(struct pl_exchange *x, void *ctx)
{
    const struct adding *adding = ctx;
    x->status = 201; /* an update creates an artifact too */
    pl_extension_reload(x);
    pl_extension_tell(x, adding->id);
}

void pl_extension_add(struct pl_exchange *x)
{
    struct adding *adding = pl_exchange_room(x, sizeof *adding);
    if (!adding)
        return;
    adding->is_control = x->conn && x->conn->is_control;
    pl_exchange_change(x, add_plan, add_tell, adding);
}
