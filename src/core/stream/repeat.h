/* Nearly every event of a stream differs from the one before it in a few words only. An event that
 * was nothing but some words of a part is remembered by the bytes around them; where an event has
 * the same bytes around other words, it is that event with these words, and need not be parsed. */
#ifndef PL_STREAM_REPEAT_H
#define PL_STREAM_REPEAT_H

#include "base/utf8.h"
#include "stream/stream.h"

struct pl_repeat {
    struct pl_buf head, tail; /* owned; what stood around the words */
    uint32_t key;             /* the reader's own, of the part they belong to */
    enum pl_part_kind kind;
    uint32_t n_misses; /* since it was last of use */
    bool is_set;
};

/* Events that never repeat (a running number in each) are not remembered for ever. */
enum { PL_REPEAT_MAX_MISSES = 64 };

/* Whether they can stand between quotes; no to rare escapes, which a parser knows all about. */
static inline bool pl_repeat_is_plain(struct pl_str words)
{
    unsigned char all = 0;
    for (size_t i = 0; i < words.len; i++) {
        unsigned char c = (unsigned char)words.ptr[i];
        all |= c;
        if (c < 0x20 || c == '"')
            return false;
        if (c == '\\' && (++i == words.len || !words.ptr[i] || !strchr("\"\\/bfnrt", words.ptr[i])))
            return false;
    }
    return all < 0x80 || pl_utf8_is_valid(words);
}

/* The words of an event that repeats the one remembered. */
static inline bool pl_repeat_match(struct pl_repeat *r, struct pl_str data,
                                   struct pl_str *ret_words)
{
    size_t n_around = r->head.len + r->tail.len;
    if (!r->is_set || data.len <= n_around || memcmp(data.ptr, r->head.ptr, r->head.len) != 0 ||
        memcmp(data.ptr + data.len - r->tail.len, r->tail.ptr, r->tail.len) != 0)
        return false;
    struct pl_str words = {data.ptr + r->head.len, data.len - n_around};
    if (!pl_repeat_is_plain(words))
        return false;
    r->n_misses = 0;
    *ret_words = words;
    return true;
}

/* The event `data` was nothing but `words`, which stand in it. PL_NOMEM is the only failure. */
static inline enum pl_status pl_repeat_learn(struct pl_repeat *r, struct pl_str data,
                                             struct pl_str words, uint32_t key,
                                             enum pl_part_kind kind)
{
    size_t at = (size_t)(words.ptr - data.ptr);
    if (r->n_misses++ >= PL_REPEAT_MAX_MISSES)
        return PL_OK;
    if (!r->head.max) {
        pl_buf_init(&r->head, 0);
        pl_buf_init(&r->tail, 0);
    }
    pl_buf_clear(&r->head);
    pl_buf_clear(&r->tail);
    pl_buf_add(&r->head, pl_str_slice(data, 0, at));
    pl_buf_add(&r->tail, pl_str_slice(data, at + words.len, data.len));
    r->key = key;
    r->kind = kind;
    r->is_set = r->head.status == PL_OK && r->tail.status == PL_OK;
    return r->is_set ? PL_OK : PL_NOMEM;
}

static inline void pl_repeat_deinit(struct pl_repeat *r)
{
    pl_buf_deinit(&r->head);
    pl_buf_deinit(&r->tail);
}

#endif
