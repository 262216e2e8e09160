/* Splits a database URL into the part that may be printed and its password, and removes the
 * password from messages. */
#include "app/server/store_password.h"

#include "base/buf.h"
#include "io/file/file.h"
#include "wire/url.h"

enum { MAX_PASSWORD_FILE = 4096 };

/* Finds the password; false if there is none. As libpq parses a URL: between the first colon before
 * the @ and the @, or the parameter password. */
static bool find_password(const char *url, size_t *ret_from, size_t *ret_to)
{
    const char *host = strstr(url, "://");
    if (!host || strncmp(url, "postgres", 8) != 0)
        return false;
    host += 3;
    const char *at = memchr(host, '@', strcspn(host, "/"));
    const char *colon = at ? memchr(host, ':', (size_t)(at - host)) : NULL;
    if (colon && colon + 1 < at) {
        *ret_from = (size_t)(colon + 1 - url);
        *ret_to = (size_t)(at - url);
        return true;
    }
    static const char name[] = "password=";
    for (const char *place = strchr(host, '?'); place; place = strchr(place + 1, '&'))
        if (strncmp(place + 1, name, sizeof name - 1) == 0 && !strchr("&", place[sizeof name])) {
            *ret_from = (size_t)(place + sizeof name - url);
            *ret_to = *ret_from + strcspn(place + sizeof name, "&");
            return true;
        }
    return false;
}

/* Replaces the part of the URL from `from` to `to`. */
static const char *replace(struct pl_arena *arena, const char *url, size_t from, size_t to,
                           const char *with)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_add(&text, (struct pl_str){url, from});
    pl_buf_adds(&text, with);
    pl_buf_adds(&text, url + to);
    pl_buf_addc(&text, '\0');
    return text.status == PL_OK ? pl_arena_dup(arena, pl_buf_str(&text)).ptr : NULL;
}

/* An empty password stays in the URL: libpq ignores it. */
enum pl_status pl_store_url_split(struct pl_arena *arena, const char *url, const char **ret_url,
                                  const char **ret_password)
{
    size_t from, to;
    *ret_url = url;
    *ret_password = NULL;
    if (!find_password(url, &from, &to))
        return PL_OK;
    PL_CLEANUP_BUF struct pl_buf password;
    pl_buf_init(&password, 0);
    pl_url_decode((struct pl_str){url + from, to - from}, &password);
    pl_buf_addc(&password, '\0');
    if (password.status != PL_OK)
        return PL_NOMEM;
    *ret_password = pl_arena_dup(arena, pl_buf_str(&password)).ptr;
    *ret_url = replace(arena, url, from, to, "");
    return *ret_password && *ret_url ? PL_OK : PL_NOMEM;
}

const char *pl_store_url_redact(struct pl_arena *arena, const char *url)
{
    size_t from, to;
    return find_password(url, &from, &to) ? replace(arena, url, from, to, "***") : url;
}

void pl_store_url_scrub(char *url)
{
    size_t from, to;
    if (find_password(url, &from, &to))
        memset(url + from, '*', to - from);
}

enum pl_status pl_store_password_read(struct pl_arena *arena, const char *path,
                                      const char **ret_password, struct pl_error *err)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    enum pl_status status = pl_file_read(path, MAX_PASSWORD_FILE, NULL, &file, err);
    if (status != PL_OK)
        return status;
    size_t n = 0;
    while (n < file.bytes.len && file.bytes.ptr[n] && file.bytes.ptr[n] != '\n' &&
           file.bytes.ptr[n] != '\r')
        n++;
    if (!n)
        return pl_fail(err, PL_USAGE, "the first line of the file %.200s has no password", path);
    char *password = pl_arena_zalloc(arena, n + 1, 1);
    if (!password)
        return pl_fail(err, PL_NOMEM, "out of memory");
    memcpy(password, file.bytes.ptr, n);
    *ret_password = password;
    return PL_OK;
}
