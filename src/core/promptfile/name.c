/* Names of files. People may name a prompt "..", "CON", "a/b" or an emoji; its directory name must
 * be valid on Linux, macOS and Windows, must not be special to git, and must not look like an
 * option. The name itself is in prompt.yaml, so nobody needs to decode the directory name. */
#include "promptfile/promptfile_int.h"

#include "base/ascii.h"
#include "base/text/utf8.h"

/* Longest part, in bytes: the lowest limit of any file system (255) minus room for suffixes. */
enum { MAX_PART = 100 };

/* Characters that Windows refuses, that are special to shells and git (8.3 names have a '~'), and
 * that are invisible. */
static bool is_refused(int32_t c)
{
    if (c < 0x20 || (c >= 0x7f && c < 0xa0))
        return true;
    if (c < 0x80)
        return strchr("<>:\"/\\|?*~`$", c) != NULL;
    return c == 0xad || c == 0x061c || c == 0x180e || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           c >= 0xe0000;
}

static bool is_word(struct pl_str s, const char *word)
{
    size_t i = 0;
    while (i < s.len && word[i] && pl_ascii_lower(s.ptr[i]) == word[i])
        i++;
    return i == s.len && !word[i];
}

/* A Windows device name, with or without an extension. */
static bool is_device(struct pl_str name)
{
    static const char *const devices[] = {"con", "prn", "aux", "nul", "conin$", "conout$"};
    const char *dot = name.len ? memchr(name.ptr, '.', name.len) : NULL;
    struct pl_str stem = dot ? pl_str_slice(name, 0, (size_t)(dot - name.ptr)) : name;
    while (stem.len && stem.ptr[stem.len - 1] == ' ')
        stem.len--;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (is_word(stem, devices[i]))
            return true;
    struct pl_str port = pl_str_slice(stem, 0, 3), digit = pl_str_slice(stem, 3, stem.len);
    if (!is_word(port, "com") && !is_word(port, "lpt"))
        return false;
    return (digit.len == 1 && pl_ascii_is_digit(digit.ptr[0])) || pl_str_eq(digit, PL_STR("¹")) ||
           pl_str_eq(digit, PL_STR("²")) || pl_str_eq(digit, PL_STR("³"));
}

/* The name of a file in a prompt's directory: a directory of that name would collide with it. */
static bool is_own_file(struct pl_str name)
{
    size_t n = 0;
    while (n < name.len && pl_ascii_is_digit(name.ptr[n]))
        n++;
    struct pl_str rest = pl_str_slice(name, n, name.len);
    return is_word(name, "prompt.yaml") ||
           (n && (is_word(rest, ".md") || is_word(rest, ".yaml") || is_word(rest, ".json")));
}

void pl_file_name_add(struct pl_buf *to, struct pl_str name)
{
    PL_CLEANUP_BUF struct pl_buf part;
    pl_buf_init(&part, 0);
    for (size_t at = 0; at < name.len && part.len < MAX_PART;) {
        size_t start = at;
        int32_t c = pl_utf8_next(name, &at);
        if (part.len + (at - start) > MAX_PART)
            break;
        if (is_refused(c) || (!part.len && (c == '.' || c == '-' || c == ' ')))
            pl_buf_addc(&part, '_');
        else
            pl_buf_add(&part, pl_str_slice(name, start, at));
    }
    while (part.len && (part.ptr[part.len - 1] == '.' || part.ptr[part.len - 1] == ' '))
        part.len--;
    struct pl_str made = pl_buf_str(&part);
    if (!made.len || is_device(made) || is_own_file(made))
        pl_buf_addc(to, '_');
    pl_buf_add(to, made);
    if (part.status != PL_OK)
        to->status = part.status;
}

void pl_file_folder_add(struct pl_buf *to, struct pl_str folder)
{
    while (folder.len) {
        const char *slash = memchr(folder.ptr, '/', folder.len);
        size_t n = slash ? (size_t)(slash - folder.ptr) : folder.len;
        if (n) {
            pl_file_name_add(to, pl_str_slice(folder, 0, n));
            pl_buf_addc(to, '/');
        }
        folder = pl_str_slice(folder, n + 1, folder.len);
    }
}

/* Letters with two cases beyond ASCII, in common scripts. If `distance` is 1, upper and lower case
 * alternate. */
static const struct {
    int32_t first, last, distance;
} large[] = {
    {0xc0, 0xde, 32},     {0x100, 0x137, 1},    {0x14a, 0x177, 1},    {0x391, 0x3ab, 32},
    {0x400, 0x40f, 80},   {0x410, 0x42f, 32},   {0x460, 0x481, 1},    {0x48a, 0x4bf, 1},
    {0x4d0, 0x52f, 1},    {0x531, 0x556, 48},   {0x1e00, 0x1e95, 1},  {0x1ea0, 0x1eff, 1},
    {0x2160, 0x216f, 16}, {0x24b6, 0x24cf, 26}, {0xff21, 0xff3a, 32},
};

static int32_t small(int32_t c)
{
    if (c < 0x80)
        return pl_ascii_lower((char)c);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        if (c >= large[i].first && c <= large[i].last && c != 0xd7)
            return large[i].distance == 1 ? c | 1 : c + large[i].distance;
    return c;
}

void pl_file_path_fold(struct pl_buf *to, struct pl_str path)
{
    for (size_t at = 0; at < path.len;) {
        char bytes[4];
        int32_t c = pl_utf8_next(path, &at);
        pl_buf_add(to, (struct pl_str){bytes, pl_utf8_put(bytes, (uint32_t)small(c))});
    }
}

bool pl_file_path_is_plain(struct pl_str path)
{
    if (!path.len)
        return false;
    for (;;) {
        const char *slash = path.len ? memchr(path.ptr, '/', path.len) : NULL;
        struct pl_str part = slash ? pl_str_slice(path, 0, (size_t)(slash - path.ptr)) : path;
        if (!part.len || pl_str_eq(part, PL_STR(".")) || pl_str_eq(part, PL_STR("..")) ||
            memchr(part.ptr, '\0', part.len))
            return false;
        if (!slash)
            return true;
        path = pl_str_slice(path, part.len + 1, path.len);
    }
}

static size_t base_at(struct pl_str path)
{
    size_t at = path.len;
    while (at && path.ptr[at - 1] != '/')
        at--;
    return at;
}

struct pl_str pl_file_directory(struct pl_str path)
{
    size_t at = base_at(path);
    return pl_str_slice(path, 0, at ? at - 1 : 0);
}

struct pl_str pl_file_base(struct pl_str path)
{
    return pl_str_slice(path, base_at(path), path.len);
}

bool pl_file_has_ending(struct pl_str path, const char *ending)
{
    size_t n = strlen(ending);
    return path.len >= n && is_word(pl_str_slice(path, path.len - n, path.len), ending);
}

struct pl_str pl_file_stem(struct pl_str path)
{
    static const char *const endings[] = {".yml",   ".yaml",   ".json",   ".jsonc",
                                          ".jsonl", ".ndjson", ".md",     ".markdown",
                                          ".txt",   ".text",   ".prompty"};
    struct pl_str name = pl_file_base(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (pl_file_has_ending(name, endings[i])) {
            name.len -= strlen(endings[i]);
            break;
        }
    if (pl_file_has_ending(name, ".prompt"))
        name.len -= strlen(".prompt");
    return name;
}
