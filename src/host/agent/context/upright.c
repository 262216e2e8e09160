/* A few rotated images in memory, by the hash of the image and the angle. The least recently used
 * one is dropped first. */
#include "agent/context/upright.h"

#include "base/mem.h"
#include "base/sha/sha256.h"
#include "io/media/image.h"

#include <pthread.h>

enum { N_KEPT = 16 };

struct kept {
    unsigned char hash[PL_SHA256_BYTES];
    int degrees; /* 0: empty slot */
    const char *mime;
    char *bytes; /* owned */
    size_t len;
    uint64_t used; /* the cache's count of uses at the last use */
};

/* Kept while the process runs. */
static struct {
    pthread_mutex_t lock;
    struct kept kept[N_KEPT];
    size_t n_bytes;
    uint64_t n_used;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool find(const unsigned char *hash, int degrees, struct pl_buf *to, const char **ret_mime)
{
    bool is_found = false;
    pthread_mutex_lock(&cache.lock);
    for (size_t i = 0; i < N_KEPT && !is_found; i++) {
        struct kept *kept = &cache.kept[i];
        if (kept->degrees != degrees || memcmp(kept->hash, hash, sizeof kept->hash) != 0)
            continue;
        kept->used = ++cache.n_used;
        pl_buf_add(to, (struct pl_str){kept->bytes, kept->len});
        *ret_mime = kept->mime;
        is_found = true;
    }
    pthread_mutex_unlock(&cache.lock);
    return is_found;
}

static void drop(struct kept *kept)
{
    cache.n_bytes -= kept->len;
    pl_mem_free(kept->bytes);
    *kept = (struct kept){0};
}

/* An empty slot is older than all others. */
static struct kept *oldest(bool is_full)
{
    struct kept *oldest = NULL;
    for (size_t i = 0; i < N_KEPT; i++) {
        struct kept *kept = &cache.kept[i];
        if ((!is_full || kept->degrees) && (!oldest || kept->used < oldest->used))
            oldest = kept;
    }
    return oldest;
}

/* If memory is short nothing is kept, and the image is rotated again next time. */
static void keep(const unsigned char *hash, int degrees, const char *mime, struct pl_str image)
{
    char *copy = image.len <= PL_UPRIGHT_MAX_IMAGE ? pl_mem_alloc(image.len, 1) : NULL;
    if (!copy)
        return;
    memcpy(copy, image.ptr, image.len);
    pthread_mutex_lock(&cache.lock);
    while (cache.n_bytes + image.len > PL_UPRIGHT_MAX_KEPT)
        drop(oldest(true));
    struct kept *place = oldest(false);
    drop(place);
    *place = (struct kept){
        .degrees = degrees,
        .mime = mime,
        .bytes = copy,
        .len = image.len,
        .used = ++cache.n_used,
    };
    memcpy(place->hash, hash, sizeof place->hash);
    cache.n_bytes += image.len;
    pthread_mutex_unlock(&cache.lock);
}

enum pl_status pl_upright_turn(struct pl_str bytes, struct pl_str mime, int degrees,
                               size_t max_bytes, struct pl_buf *to, const char **ret_mime,
                               struct pl_error *err)
{
    unsigned char hash[PL_SHA256_BYTES];
    pl_sha256(bytes, hash);
    if (find(hash, degrees, to, ret_mime))
        return to->status;
    size_t before = to->len;
    enum pl_status status = pl_image_turn(bytes, mime, degrees, max_bytes, to, ret_mime, err);
    if (status == PL_OK)
        keep(hash, degrees, *ret_mime, pl_str_slice(pl_buf_str(to), before, to->len));
    return status;
}
