#include "property/swap.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

const char *const pl_swaps[] = {"5",     "[]",   "{\"a\":\"b\"}", "null", "true",
                                "\"x\"", "\"\"", "-0.5",          NULL};

void pl_swap_write(struct pl_buf *to, const struct pl_json_doc *doc,
                   const struct pl_json_node *node, const char *value)
{
    pl_buf_add(to, pl_str_slice(doc->text, 0, node->off));
    pl_buf_adds(to, value);
    pl_buf_add(to, pl_str_slice(doc->text, (size_t)node->off + node->len, doc->text.len));
}

static bool append_file(const char *path, struct pl_buf *to)
{
    FILE *file = fopen(path, "rb");
    char bytes[4096];
    if (!file)
        return false;
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
        pl_buf_add(to, (struct pl_str){bytes, n});
    fclose(file);
    return to->status == PL_OK;
}

void pl_read_whole(const char *path, struct pl_buf *to)
{
    if (!append_file(path, to))
        fail_msg("%s cannot be read", path);
}

static void visit_case(const char *directory, void (*visit)(void *, const struct pl_golden *),
                       void *ctx)
{
    PL_CLEANUP_BUF struct pl_buf args;
    struct pl_golden golden = {0};
    char path[600];
    pl_buf_init(&args, 0);
    pl_buf_init(&golden.text, 0);
    snprintf(golden.path, sizeof golden.path, "%s", directory);
    snprintf(path, sizeof path, "%s/in.json", directory);
    bool is_there = append_file(path, &golden.text);
    snprintf(path, sizeof path, "%s/in.txt", directory);
    is_there = is_there || append_file(path, &golden.text);
    snprintf(path, sizeof path, "%s/args", directory);
    (void)append_file(path, &args);
    pl_buf_addc(&args, 0);
    golden.is_response = strstr(args.ptr, "response") != NULL;
    assert_true(is_there);
    visit(ctx, &golden);
    pl_buf_deinit(&golden.text);
}

void pl_golden_each(const char *directory, void (*visit)(void *ctx, const struct pl_golden *golden),
                    void *ctx)
{
    DIR *dir = opendir(directory);
    size_t n = 0;
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));) {
        char path[500];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        visit_case(path, visit, ctx);
        n++;
    }
    closedir(dir);
    assert_true(n > 0);
}
