/* Both levels of a glob (characters in a segment, segments in a path) are matched in the same way:
 * match greedily, and after a mismatch let the last star take one more. An earlier star never has
 * to take more, so the work is at most the product of both lengths. */
#include "extproto/path_scope.h"

#include "base/ascii.h"
#include "base/buf.h"

/* Returns the segment that begins at `at`; moves `at` after its slash, or beyond the end after the
 * last segment. */
static struct pl_str take_segment(struct pl_str path, size_t *at)
{
    size_t from = *at, to = from;
    while (to < path.len && path.ptr[to] != '/')
        to++;
    *at = to + 1;
    return pl_str_slice(path, from, to);
}

/* An empty path has no segment. */
static bool has_segment(struct pl_str path, size_t at)
{
    return path.len && at <= path.len;
}

static bool is_text(struct pl_str segment, const char *text)
{
    return pl_str_eq(segment, pl_str_of(text));
}

const char *pl_ext_glob_refusal(struct pl_str glob)
{
    if (!glob.len)
        return "is empty";
    if (glob.ptr[0] == '/')
        return "is absolute; paths begin at the workspace";
    if (glob.ptr[0] == '~')
        return "begins with ~; paths begin at the workspace";
    if (memchr(glob.ptr, 0, glob.len))
        return "has a NUL character";
    for (size_t at = 0; has_segment(glob, at);) {
        struct pl_str segment = take_segment(glob, &at);
        if (!segment.len)
            return "has an empty segment";
        if (is_text(segment, ".") || is_text(segment, ".."))
            return "has a segment . or ..";
    }
    return NULL;
}

/* The offset after the character at `at`: skips all bytes of one code point. */
static size_t after_character(struct pl_str text, size_t at)
{
    do
        at++;
    while (at < text.len && ((unsigned char)text.ptr[at] & 0xC0) == 0x80);
    return at;
}

static bool match_segment(struct pl_str glob, struct pl_str text)
{
    size_t g = 0, t = 0, star = SIZE_MAX, star_t = 0;
    while (t < text.len) {
        if (g < glob.len && glob.ptr[g] == '*') {
            star = g++;
            star_t = t;
        } else if (g < glob.len && glob.ptr[g] == '?') {
            g++;
            t = after_character(text, t);
        } else if (g < glob.len && glob.ptr[g] == text.ptr[t]) {
            g++;
            t++;
        } else if (star != SIZE_MAX) {
            g = star + 1;
            t = star_t = after_character(text, star_t);
        } else {
            return false;
        }
    }
    while (g < glob.len && glob.ptr[g] == '*')
        g++;
    return g == glob.len;
}

/* Whether the rest is only `**` segments. */
static bool is_rest_free(struct pl_str glob, size_t at)
{
    while (has_segment(glob, at))
        if (!is_text(take_segment(glob, &at), "**"))
            return false;
    return true;
}

bool pl_ext_glob_match(struct pl_str glob, struct pl_str path)
{
    size_t g = 0, p = 0, after_star = SIZE_MAX, star_p = 0;
    while (has_segment(path, p)) {
        size_t g_next = g, p_next = p;
        bool has_glob = has_segment(glob, g);
        struct pl_str pattern = has_glob ? take_segment(glob, &g_next) : (struct pl_str){0};
        if (has_glob && is_text(pattern, "**")) {
            g = after_star = g_next;
            star_p = p;
        } else if (has_glob && match_segment(pattern, take_segment(path, &p_next))) {
            g = g_next;
            p = p_next;
        } else if (after_star != SIZE_MAX) {
            g = after_star;
            (void)take_segment(path, &star_p);
            p = star_p;
        } else {
            return false;
        }
    }
    return is_rest_free(glob, g);
}

/* Whether the text has a wildcard character. */
static bool has_wildcard(struct pl_str text)
{
    return text.len && (memchr(text.ptr, '*', text.len) || memchr(text.ptr, '?', text.len));
}

bool pl_ext_glob_covers(struct pl_str outer, struct pl_str inner)
{
    struct pl_str tail = PL_STR("/**");
    if (pl_str_eq(outer, inner) || is_text(outer, "**"))
        return true;
    if (!has_wildcard(inner))
        return pl_ext_glob_match(outer, inner);
    if (outer.len <= tail.len ||
        !pl_str_eq(pl_str_slice(outer, outer.len - tail.len, outer.len), tail))
        return false;
    /* A directory and a segment ** cover every glob that begins with the directory and a slash. */
    struct pl_str dir = pl_str_slice(outer, 0, outer.len - 2);
    return !has_wildcard(dir) && pl_str_starts(inner, dir);
}

enum pl_status pl_ext_path_clean(struct pl_arena *arena, struct pl_str path,
                                 struct pl_str *ret_path)
{
    char *clean = pl_arena_alloc(arena, path.len + 1, 1);
    size_t n = 0;
    if (!clean)
        return PL_NOMEM;
    if (path.len && (path.ptr[0] == '/' || memchr(path.ptr, 0, path.len)))
        return PL_INVALID;
    for (size_t at = 0; has_segment(path, at);) {
        struct pl_str segment = take_segment(path, &at);
        if (is_text(segment, ".."))
            return PL_INVALID;
        if (!segment.len || is_text(segment, "."))
            continue;
        if (n)
            clean[n++] = '/';
        memcpy(clean + n, segment.ptr, segment.len);
        n += segment.len;
    }
    *ret_path = (struct pl_str){clean, n};
    return PL_OK;
}

/* Names that make a tool run code when it only reads the workspace. `under` is the directory that
 * must contain the name; NULL: any. */
static const struct {
    const char *under, *name;
} protected_names[] = {
    {".git", "hooks"},       {".git", "config"},      {NULL, ".gitmodules"}, {NULL, ".gitconfig"},
    {NULL, ".envrc"},        {NULL, ".husky"},        {NULL, ".vscode"},     {NULL, ".idea"},
    {NULL, ".parley"},       {NULL, ".claude"},       {NULL, ".codex"},      {NULL, ".pi"},
    {NULL, ".mcp.json"},     {NULL, ".npmrc"},        {NULL, ".profile"},    {NULL, ".login"},
    {NULL, ".bashrc"},       {NULL, ".bash_profile"}, {NULL, ".bash_login"}, {NULL, ".bash_logout"},
    {NULL, ".bash_aliases"}, {NULL, ".zshrc"},        {NULL, ".zshenv"},     {NULL, ".zprofile"},
    {NULL, ".zlogin"},       {NULL, ".zlogout"},      {NULL, ".kshrc"},      {NULL, ".cshrc"},
    {NULL, ".tcshrc"},
};

/* Ignores case, as some file systems do. */
static bool is_name(struct pl_str segment, const char *name)
{
    size_t i = 0;
    while (i < segment.len && name[i] && pl_ascii_lower(segment.ptr[i]) == name[i])
        i++;
    return i == segment.len && !name[i];
}

bool pl_ext_path_is_protected(struct pl_str path)
{
    struct pl_str parent = {0};
    for (size_t at = 0; has_segment(path, at);) {
        struct pl_str segment = take_segment(path, &at);
        for (size_t i = 0; i < sizeof protected_names / sizeof *protected_names; i++)
            if (is_name(segment, protected_names[i].name) &&
                (!protected_names[i].under || is_name(parent, protected_names[i].under)))
                return true;
        parent = segment;
    }
    return false;
}
