#include "conformance/corpora.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int n_points, n_failed;

static void die(const char *what, const char *path)
{
    printf("Bail out! cannot %s %s\n", what, path);
    exit(1);
}

char *corpora_join(const char *dir, const char *name)
{
    size_t size = strlen(dir) + strlen(name) + 2;
    char *path = malloc(size);
    if (!path)
        die("name", name);
    snprintf(path, size, "%s/%s", dir, name);
    return path;
}

char *corpora_find(const char *name)
{
    const char *root = getenv("PARLEY_CORPORA");
    char *path = corpora_join(root && *root ? root : PL_SOURCE_ROOT "/../shared/corpora", name);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *corpora_read(const char *path, size_t *ret_len)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    size_t len = 0, room = 1 << 16;
    for (size_t n = 1; file && n; len += n, room *= 2) {
        bytes = realloc(bytes, room);
        if (!bytes)
            die("hold", path);
        n = fread(bytes + len, 1, room - len - 1, file);
    }
    if (!file || ferror(file))
        die("read", path);
    fclose(file);
    bytes[len] = '\0';
    *ret_len = len;
    return bytes;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

char **corpora_list(const char *dir)
{
    struct dirent **entries;
    int n = scandir(dir, &entries, is_visible, alphasort);
    if (n < 0)
        die("list", dir);
    char **names = calloc((size_t)n + 1, sizeof *names);
    for (int i = 0; names && i < n; i++)
        names[i] = strdup(entries[i]->d_name);
    if (!names)
        die("list", dir);
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
    return names;
}

void tap_point(bool is_ok, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    n_failed += !is_ok;
    printf("%sok %d - ", is_ok ? "" : "not ", ++n_points);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

void tap_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("# ", stdout);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

int tap_end(void)
{
    printf("1..%d\n", n_points);
    return n_failed != 0;
}

int tap_skip_all(const char *reason)
{
    printf("1..0 # SKIP %s\n", reason);
    return 0;
}
