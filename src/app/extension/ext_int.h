/* Shared by the verbs of `parley ext`. */
#ifndef PL_APP_EXT_INT_H
#define PL_APP_EXT_INT_H

#include "app/frame/verbs.h"
#include "ext/package/package.h"
#include "ext/package/tree.h"

/* A package to add: from a directory, a pi extension, an MCP server, or shipped with the
 * program. */
struct pl_ext_source {
    struct pl_arena arena; /* owned; everything below is in it */
    struct pl_ext_tree tree;
    struct pl_ext_package package;
    const char *dir;    /* its directory, if it is used unchanged; NULL: it was made here */
    struct pl_str says; /* where it comes from, for people */
};

/* Reads the package that `word` names (NULL: by --mcp) and its manifest. Prints the error unless it
 * returns PL_EXIT_OK. The caller drops *source in either case. */
enum pl_exit pl_ext_source_read(struct pl_deed *deed, const char *word,
                                struct pl_ext_source *source);
void pl_ext_source_drop(struct pl_ext_source *source);

/* Parts of pl_ext_source_read. */
enum pl_exit pl_ext_source_mcp(struct pl_deed *deed, struct pl_ext_source *source);
enum pl_exit pl_ext_source_pi(struct pl_deed *deed, const char *file, struct pl_ext_source *source);
/* Bundles a TypeScript file with esbuild into the file `name` of the tree. `aliases` are options of
 * esbuild, ended by NULL; may be NULL. */
enum pl_exit pl_ext_source_bundle(struct pl_deed *deed, struct pl_ext_source *source,
                                  const char *file, const char *name, const char *const *aliases);
enum pl_exit pl_ext_source_add(struct pl_deed *deed, struct pl_ext_source *source, const char *path,
                               struct pl_str bytes);
/* Adds a file of the kit. */
enum pl_exit pl_ext_source_add_kit(struct pl_deed *deed, struct pl_ext_source *source,
                                   const char *path, const char *kit_path);
/* A NUL-terminated text in the source's arena; NULL if out of memory. */
const char *pl_ext_source_text(struct pl_ext_source *source, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum pl_exit pl_ext_run_new(struct pl_deed *deed);
enum pl_exit pl_ext_run_add(struct pl_deed *deed);
enum pl_exit pl_ext_run_update(struct pl_deed *deed);
enum pl_exit pl_ext_run_test(struct pl_deed *deed);
enum pl_exit pl_ext_run_run(struct pl_deed *deed);

#endif
