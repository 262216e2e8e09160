/* The contract: blobs, stored once for all users who have them. */
#include "contract/suite.h"
#include "base/sha/sha256.h"
#include "store/work.h"

#include <pthread.h>
#include <stdio.h>

/* Varied bytes, two pieces and a remainder. */
enum { N_BYTES = 2 * PL_BLOB_PIECE + 1000, N_PIECES = 3 };

static struct pl_str bytes_of(char seed)
{
    static char bytes[N_BYTES];
    uint32_t x = 2463534242u + (unsigned char)seed;
    for (size_t i = 0; i < N_BYTES; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        bytes[i] = (char)x;
    }
    return (struct pl_str){bytes, N_BYTES};
}

static struct pl_str piece_of(struct pl_str bytes, int64_t i)
{
    size_t from = (size_t)i * PL_BLOB_PIECE, n = bytes.len - from;
    return (struct pl_str){bytes.ptr + from, n < PL_BLOB_PIECE ? n : PL_BLOB_PIECE};
}

struct hash {
    unsigned char bytes[32];
};

static struct hash hash_of(struct pl_str bytes)
{
    struct hash hash;
    pl_sha256(bytes, hash.bytes);
    return hash;
}

static struct pl_str hash_str(const struct hash *hash)
{
    return (struct pl_str){(const char *)hash->bytes, sizeof hash->bytes};
}

static struct pl_blob_row make_blob(const struct pl_id *id, const struct pl_id *user,
                                    const struct hash *hash, size_t n_bytes)
{
    return (struct pl_blob_row){
        .id = id_str(id),
        .user_id = id_str(user),
        .hash = hash_str(hash),
        .n_bytes = (int64_t)n_bytes,
        .content_type = PL_STR("image/png"),
        .name = PL_STR("cat.png"),
        .created_ms = 4000,
    };
}

/* Each piece in its own batch, as in an upload. */
static enum pl_status put_pieces(struct pl_store *store, const struct pl_id *id,
                                 struct pl_str bytes, int64_t now_ms)
{
    enum pl_status status = PL_OK;
    for (int64_t i = 0; status == PL_OK && (size_t)i * PL_BLOB_PIECE < bytes.len; i++) {
        struct pl_batch *batch = pl_batch_create();
        pl_batch_put_piece(batch, id_str(id), i, piece_of(bytes, i), now_ms);
        status = pl_store_commit(store, batch, NULL);
    }
    return status;
}

static enum pl_status create_blob(struct pl_store *store, const struct pl_blob_row *blob)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_blob(batch, blob);
    return pl_store_commit(store, batch, NULL);
}

static struct pl_id add_blob(struct fixture *f, const struct pl_id *user, struct pl_str bytes)
{
    struct pl_id id = pl_id_take(&f->seed, "blob_");
    struct hash hash = hash_of(bytes);
    struct pl_blob_row blob = make_blob(&id, user, &hash, bytes.len);
    assert_int_equal(put_pieces(f->store, &id, bytes, 100), PL_OK);
    assert_int_equal(create_blob(f->store, &blob), PL_OK);
    return id;
}

static enum pl_status get(struct fixture *f, const struct pl_id *user, const struct pl_id *id,
                          struct pl_blob_row *ret_blob)
{
    return pl_store_blob_get(f->store, &f->arena, id_str(user), id_str(id), ret_blob, NULL);
}

static void delete_blob(struct fixture *f, const struct pl_id *user, const struct pl_id *id)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_delete_blob(batch, id_str(user), id_str(id));
    commit(f, batch);
}

static enum pl_status piece(struct fixture *f, const struct hash *hash, int64_t i,
                            struct pl_str *ret_bytes)
{
    return pl_store_blob_piece(f->store, &f->arena, hash_str(hash), i, ret_bytes, NULL);
}

static void assert_bytes(struct fixture *f, struct pl_str bytes)
{
    struct hash hash = hash_of(bytes);
    struct pl_str got;
    for (int64_t i = 0; i < N_PIECES; i++) {
        assert_int_equal(piece(f, &hash, i, &got), PL_OK);
        assert_str(got, piece_of(bytes, i));
    }
    assert_int_equal(piece(f, &hash, N_PIECES, &got), PL_NOT_FOUND);
}

static void count_problem(void *ctx, bool is_problem, const char *sentence)
{
    if (is_problem)
        print_message("# %s\n", sentence);
    *(int *)ctx += is_problem;
}

static int n_problems(struct fixture *f)
{
    int n = 0;
    assert_int_equal(pl_store_check(f->store, count_problem, &n, NULL), PL_OK);
    return n;
}

static void an_upload_is_there_when_it_is_whole(void **state)
{
    struct fixture *f = *state;
    struct pl_str bytes = bytes_of('a');
    struct hash hash = hash_of(bytes);
    struct pl_id id = pl_id_take(&f->seed, "blob_");
    struct pl_blob_row blob = make_blob(&id, &f->user, &hash, N_BYTES), got;
    struct pl_str found;
    assert_int_equal(put_pieces(f->store, &id, bytes, 100), PL_OK);
    assert_int_equal(get(f, &f->user, &id, &got), PL_NOT_FOUND);
    assert_int_equal(piece(f, &hash, 0, &found), PL_NOT_FOUND);
    assert_int_equal(create_blob(f->store, &blob), PL_OK);
    assert_int_equal(get(f, &f->user, &id, &got), PL_OK);
    assert_str(got.id, blob.id);
    assert_str(got.user_id, blob.user_id);
    assert_str(got.hash, blob.hash);
    assert_str(got.content_type, blob.content_type);
    assert_str(got.name, blob.name);
    assert_true(got.n_bytes == N_BYTES && got.created_ms == 4000);
    assert_bytes(f, bytes);
    assert_int_equal(
        pl_store_blob_find(f->store, &f->arena, id_str(&f->user), hash_str(&hash), &got, NULL),
        PL_OK);
    assert_str(got.id, blob.id);
    assert_int_equal(n_problems(f), 0);
}

static void what_is_another_users_is_neither_found_nor_deleted(void **state)
{
    struct fixture *f = *state;
    struct pl_str bytes = bytes_of('b');
    struct hash hash = hash_of(bytes);
    struct pl_id id = add_blob(f, &f->user, bytes);
    struct pl_blob_row got;
    assert_int_equal(get(f, &f->other, &id, &got), PL_NOT_FOUND);
    assert_int_equal(
        pl_store_blob_find(f->store, &f->arena, id_str(&f->other), hash_str(&hash), &got, NULL),
        PL_NOT_FOUND);
    delete_blob(f, &f->other, &id);
    assert_int_equal(get(f, &f->user, &id, &got), PL_OK);
    assert_bytes(f, bytes);
}

static void an_upload_that_lacks_something_cannot_be_ended(void **state)
{
    struct fixture *f = *state;
    struct pl_str bytes = bytes_of('c');
    struct hash hash = hash_of(bytes);
    struct pl_id id = pl_id_take(&f->seed, "blob_"), never = pl_id_take(&f->seed, "blob_");
    struct pl_blob_row blob = make_blob(&id, &f->user, &hash, N_BYTES), got;
    struct pl_str two = {bytes.ptr, (size_t)2 * PL_BLOB_PIECE};
    assert_int_equal(put_pieces(f->store, &id, two, 100), PL_OK);
    assert_int_equal(create_blob(f->store, &blob), PL_NOT_FOUND);
    assert_int_equal(get(f, &f->user, &id, &got), PL_NOT_FOUND);
    blob.id = id_str(&never);
    assert_int_equal(create_blob(f->store, &blob), PL_NOT_FOUND);
}

static void the_bytes_go_with_the_last_who_has_them(void **state)
{
    struct fixture *f = *state;
    struct pl_str bytes = bytes_of('d'), got;
    struct hash hash = hash_of(bytes);
    struct pl_id mine = add_blob(f, &f->user, bytes), theirs = add_blob(f, &f->other, bytes);
    struct pl_blob_row row;
    assert_bytes(f, bytes);
    delete_blob(f, &f->user, &mine);
    assert_int_equal(get(f, &f->user, &mine, &row), PL_NOT_FOUND);
    assert_int_equal(get(f, &f->other, &theirs, &row), PL_OK);
    assert_bytes(f, bytes);
    mine = add_blob(f, &f->user, bytes);
    delete_blob(f, &f->other, &theirs);
    assert_bytes(f, bytes);
    delete_blob(f, &f->user, &mine);
    for (int64_t i = 0; i < N_PIECES; i++)
        assert_int_equal(piece(f, &hash, i, &got), PL_NOT_FOUND);
    assert_int_equal(n_problems(f), 0);
    add_blob(f, &f->user, bytes);
    assert_bytes(f, bytes);
}

static void the_same_bytes_of_the_same_user_stay_one_blob(void **state)
{
    struct fixture *f = *state;
    struct pl_str bytes = bytes_of('e');
    struct hash hash = hash_of(bytes);
    struct pl_id first = add_blob(f, &f->user, bytes), second = add_blob(f, &f->user, bytes);
    struct pl_blob_row got;
    assert_int_equal(get(f, &f->user, &second, &got), PL_NOT_FOUND);
    assert_int_equal(
        pl_store_blob_find(f->store, &f->arena, id_str(&f->user), hash_str(&hash), &got, NULL),
        PL_OK);
    assert_str(got.id, id_str(&first));
    delete_blob(f, &f->user, &first);
    assert_int_equal(get(f, &f->user, &first, &got), PL_NOT_FOUND);
    assert_int_equal(n_problems(f), 0);
}

static void the_pieces_of_bytes_that_were_there_are_dropped(void **state)
{
    struct fixture *f = *state;
    struct pl_str bytes = bytes_of('f');
    add_blob(f, &f->user, bytes);
    add_blob(f, &f->other, bytes);
    add_blob(f, &f->other, bytes);
    pl_store_close(f->store);
    f->store = NULL;
    /* A second copy of a piece would violate the index. */
    run_sql(f, "CREATE UNIQUE INDEX only_one ON blob_pieces (number)");
    fixture_open(f);
    assert_bytes(f, bytes);
}

static void what_was_begun_and_not_finished_is_dropped_or_swept(void **state)
{
    struct fixture *f = *state;
    struct pl_str bytes = bytes_of('g');
    struct hash hash = hash_of(bytes);
    struct pl_id whole = add_blob(f, &f->user, bytes_of('h')), ids[3];
    for (size_t i = 0; i < 3; i++) {
        ids[i] = pl_id_take(&f->seed, "blob_");
        assert_int_equal(put_pieces(f->store, &ids[i], bytes_of('g'), 100), PL_OK);
    }
    struct pl_batch *batch = pl_batch_create();
    /* The last upload continues during the sweep, the first gives up by itself. */
    pl_batch_put_piece(batch, id_str(&ids[2]), N_PIECES, PL_STR("more"), 5000);
    pl_batch_drop_upload(batch, id_str(&ids[0]));
    pl_batch_drop_upload(batch, id_str(&whole));
    pl_batch_sweep_uploads(batch, 5000);
    commit(f, batch);
    for (size_t i = 0; i < 2; i++) {
        struct pl_blob_row blob = make_blob(&ids[i], &f->user, &hash, N_BYTES);
        assert_int_equal(create_blob(f->store, &blob), PL_NOT_FOUND);
        batch = pl_batch_create();
        pl_batch_put_piece(batch, id_str(&ids[i]), N_PIECES, PL_STR("more"), 6000);
        assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
    }
    struct pl_blob_row blob = make_blob(&ids[2], &f->user, &hash, N_BYTES + 4), got;
    assert_int_equal(create_blob(f->store, &blob), PL_OK);
    batch = pl_batch_create();
    pl_batch_sweep_uploads(batch, INT64_MAX);
    pl_batch_drop_upload(batch, id_str(&ids[2]));
    commit(f, batch);
    assert_int_equal(get(f, &f->user, &ids[2], &got), PL_OK);
    assert_int_equal(get(f, &f->user, &whole, &got), PL_OK);
    assert_bytes(f, bytes_of('h'));
    assert_int_equal(n_problems(f), 0);
}

static void a_piece_is_put_once_and_not_behind_the_end(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_blob(f, &f->user, bytes_of('i')), other = pl_id_take(&f->seed, "blob_");
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_piece(batch, id_str(&id), N_PIECES, PL_STR("more"), 1);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
    batch = pl_batch_create();
    pl_batch_put_piece(batch, id_str(&other), 0, PL_STR("x"), 1);
    pl_batch_put_piece(batch, id_str(&other), 0, PL_STR("y"), 1);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_CONFLICT);
}

static void nothing_at_all_is_a_blob_too(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_blob(f, &f->user, PL_STR("")),
                 theirs = add_blob(f, &f->other, PL_STR(""));
    struct pl_blob_row got;
    assert_int_equal(get(f, &f->user, &id, &got), PL_OK);
    assert_int_equal(got.n_bytes, 0);
    delete_blob(f, &f->user, &id);
    assert_int_equal(get(f, &f->other, &theirs, &got), PL_OK);
    assert_int_equal(n_problems(f), 0);
}

static void blobs_are_listed_newest_first(void **state)
{
    struct fixture *f = *state;
    struct pl_id ids[5];
    for (size_t i = 0; i < 5; i++) {
        char text[2] = {(char)('0' + i), 0};
        ids[i] = add_blob(f, i == 2 ? &f->other : &f->user, str_of(text));
    }
    struct pl_blob_page page;
    assert_int_equal(pl_store_blob_list(f->store, &f->arena, id_str(&f->user), 3, 0, &page, NULL),
                     PL_OK);
    assert_true(page.n_items == 3 && page.total == 4 && page.has_more);
    assert_str(page.items[0].id, id_str(&ids[4]));
    assert_str(page.items[2].id, id_str(&ids[1]));
    assert_int_equal(pl_store_blob_list(f->store, &f->arena, id_str(&f->user), 3, 3, &page, NULL),
                     PL_OK);
    assert_true(page.n_items == 1 && page.total == 4 && !page.has_more);
    assert_str(page.items[0].id, id_str(&ids[0]));
}

static void a_check_finds_bytes_that_are_missing(void **state)
{
    struct fixture *f = *state;
    add_blob(f, &f->user, bytes_of('k'));
    assert_int_equal(n_problems(f), 0);
    pl_store_close(f->store);
    f->store = NULL;
    run_sql(f, "DELETE FROM blob_pieces WHERE number = 1");
    fixture_open(f);
    assert_int_equal(n_problems(f), 1);
}

/* --- many at once ---------------------------------------------------------------------------- */

enum { N_UPLOADERS = 6, N_UPLOADS = 12 };

struct uploader {
    struct pl_store *store; /* its own, if a store can be opened several times */
    struct pl_id_seed seed;
    struct pl_id user;
    struct pl_str bytes;
    struct hash hash;
    const char *complaint;
};

/* While this user has the blob its bytes must exist, whatever other users do meanwhile. */
static const char *upload_look_delete(struct uploader *uploader, bool is_last)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_id id = pl_id_take(&uploader->seed, "blob_");
    struct pl_blob_row blob = make_blob(&id, &uploader->user, &uploader->hash, uploader->bytes.len);
    struct pl_str got;
    if (put_pieces(uploader->store, &id, uploader->bytes, 100) != PL_OK)
        return "pieces are not put";
    if (create_blob(uploader->store, &blob) != PL_OK)
        return "the upload is not ended";
    if (pl_store_blob_get(uploader->store, &arena, blob.user_id, blob.id, &blob, NULL) != PL_OK)
        return "there is no blob after its upload";
    for (int64_t i = 0; (size_t)i * PL_BLOB_PIECE < uploader->bytes.len; i++)
        if (pl_store_blob_piece(uploader->store, &arena, blob.hash, i, &got, NULL) != PL_OK ||
            !pl_str_eq(got, piece_of(uploader->bytes, i)))
            return "a piece is not there while somebody has it";
    if (is_last)
        return NULL;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_delete_blob(batch, blob.user_id, blob.id);
    return pl_store_commit(uploader->store, batch, NULL) == PL_OK ? NULL : "it is not deleted";
}

static void *upload_some(void *arg)
{
    struct uploader *uploader = arg;
    for (int i = 0; i < N_UPLOADS && !uploader->complaint; i++)
        uploader->complaint = upload_look_delete(uploader, i == N_UPLOADS - 1);
    return NULL;
}

static void the_same_bytes_come_and_go_at_many_hands_at_once(void **state)
{
    struct fixture *f = *state;
    struct uploader uploaders[N_UPLOADERS];
    pthread_t threads[N_UPLOADERS];
    struct pl_str bytes = {bytes_of('l').ptr, PL_BLOB_PIECE + 10};
    for (size_t i = 0; i < N_UPLOADERS; i++) {
        uploaders[i] = (struct uploader){.store = fixture_join(f),
                                         .seed = f->seed,
                                         .user = pl_id_take(&f->seed, "user_"),
                                         .bytes = bytes,
                                         .hash = hash_of(bytes)};
        uploaders[i].seed.random[0] += i + 1;
    }
    for (size_t i = 0; i < N_UPLOADERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, upload_some, &uploaders[i]), 0);
    for (size_t i = 0; i < N_UPLOADERS; i++) {
        pthread_join(threads[i], NULL);
        fixture_leave(f, uploaders[i].store);
    }
    for (size_t i = 0; i < N_UPLOADERS; i++)
        if (uploaders[i].complaint)
            fail_msg("uploader %zu: %s", i, uploaders[i].complaint);
    assert_int_equal(n_problems(f), 0);
    struct pl_str got;
    assert_int_equal(piece(f, &uploaders[0].hash, 1, &got), PL_OK);
    for (size_t i = 0; i < N_UPLOADERS; i++) {
        struct pl_blob_page page;
        assert_int_equal(
            pl_store_blob_list(f->store, &f->arena, id_str(&uploaders[i].user), 10, 0, &page, NULL),
            PL_OK);
        assert_int_equal(page.total, 1);
    }
}

static const struct CMUnitTest tests[] = {
    ON_STORE(an_upload_is_there_when_it_is_whole),
    ON_STORE(what_is_another_users_is_neither_found_nor_deleted),
    ON_STORE(an_upload_that_lacks_something_cannot_be_ended),
    ON_STORE(the_bytes_go_with_the_last_who_has_them),
    ON_STORE(the_same_bytes_of_the_same_user_stay_one_blob),
    ON_SOME("sqlite postgres", the_pieces_of_bytes_that_were_there_are_dropped),
    ON_STORE(what_was_begun_and_not_finished_is_dropped_or_swept),
    ON_STORE(a_piece_is_put_once_and_not_behind_the_end),
    ON_STORE(nothing_at_all_is_a_blob_too),
    ON_STORE(blobs_are_listed_newest_first),
    ON_SOME("sqlite postgres", a_check_finds_bytes_that_are_missing),
    ON_STORE(the_same_bytes_come_and_go_at_many_hands_at_once),
};
const struct suite_part blobs_part = {tests, sizeof tests / sizeof *tests};
