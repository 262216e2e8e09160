#include "wire/language.h"

#include "base/ascii.h"

/* Takes the text before the next `mark` off *rest, trimmed. */
static struct pl_str take(struct pl_str *rest, char mark)
{
    const char *end = rest->len ? memchr(rest->ptr, mark, rest->len) : NULL;
    size_t n = end ? (size_t)(end - rest->ptr) : rest->len;
    struct pl_str piece = pl_str_slice(*rest, 0, n);
    *rest = pl_str_slice(*rest, end ? n + 1 : n, rest->len);
    while (piece.len && pl_ascii_is_space(piece.ptr[0]))
        piece = pl_str_slice(piece, 1, piece.len);
    while (piece.len && pl_ascii_is_space(piece.ptr[piece.len - 1]))
        piece.len--;
    return piece;
}

/* "q=0.8" in thousandths; 1000 if absent. */
static int weight_of(struct pl_str parameters)
{
    while (parameters.len) {
        struct pl_str one = take(&parameters, ';');
        if (one.len < 3 || (one.ptr[0] | 0x20) != 'q' || one.ptr[1] != '=')
            continue;
        int weight = one.ptr[2] == '1' ? 1000 : 0, unit = 100;
        for (size_t i = 4; i < one.len && unit && pl_ascii_is_digit(one.ptr[i]); i++, unit /= 10)
            weight += (one.ptr[i] - '0') * unit;
        return weight < 1000 ? weight : 1000;
    }
    return 1000;
}

static bool is_language(struct pl_str range, const char *name)
{
    return range.len >= 2 && (range.ptr[0] | 0x20) == name[0] && (range.ptr[1] | 0x20) == name[1] &&
           (range.len == 2 || range.ptr[2] == '-');
}

bool pl_language_wants_chinese(struct pl_str accept_language)
{
    int best = 0;
    bool is_chinese = false;
    while (accept_language.len) {
        struct pl_str parameters = take(&accept_language, ',');
        struct pl_str range = take(&parameters, ';');
        bool is_zh = is_language(range, "zh");
        int weight = weight_of(parameters);
        if ((is_zh || is_language(range, "en")) && weight > best) {
            best = weight;
            is_chinese = is_zh;
        }
    }
    return is_chinese;
}
