/* POST /api/media/frames: frames and audio of an uploaded video, as blobs, and as parts for a
 * message. */
#include "http/exchange.h"
#include "http/json_members.h"
#include "http/routes/route.h"
#include "agent/context/inline_media.h"
#include "base/table.h"
#include "conv/media/media.h"
#include "io/file/file.h"
#include "io/file/outfile.h"
#include "io/system/process.h"
#include "json/json.h"
#include "json/number.h"
#include "service/blobs/media_keep.h"
#include "service/blobs/routes.h"
#include "service/blobs/video_message.h"
#include "service/request_options.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { LIMIT_MS = 120000, MAX_FRAMES = PL_MEDIA_MAX_KEPT - 1 };

struct framing {
    struct pl_exchange *x;
    struct pl_media_keep keep;
    struct pl_str parts; /* arena; JSON array with data */
};

static bool read_time(struct pl_exchange *x, const char *name, uint64_t *ret_ms)
{
    struct pl_str text = pl_body_text(x, name);
    if (!text.len || pl_media_duration_read(text, ret_ms))
        return true;
    struct pl_error err = {0};
    (void)pl_fail(&err, PL_INVALID, "%s must be a time such as 1s, 0.5s, 500ms or 2m.", name);
    pl_error_point(&err, "/%s", name);
    pl_exchange_fail(x, PL_INVALID, &err);
    return false;
}

static bool read_wish(struct pl_exchange *x, struct pl_video_wish *wish)
{
    static const char *const details[] = {"low", "high", "auto", NULL};
    struct pl_str max = pl_body_raw(x, "max"), detail = pl_body_text(x, "detail");
    int64_t n = PL_VIDEO_DEFAULT_FRAMES;
    *wish = (struct pl_video_wish){.video = {.every_ms = 1000, .limit_ms = LIMIT_MS}};
    if (!read_time(x, "every", &wish->video.every_ms) ||
        !read_time(x, "from", &wish->video.from_ms) || !read_time(x, "to", &wish->video.to_ms))
        return false;
    if (max.len)
        (void)pl_json_number_int64(max, &n);
    wish->video.max = (uint64_t)n;
    wish->has_sound = pl_str_eq(pl_body_raw(x, "sound"), PL_STR("true"));
    for (size_t i = 0; details[i]; i++)
        if (pl_str_eq(detail, pl_str_of(details[i])))
            wish->detail = details[i];
    if (!wish->video.to_ms || wish->video.to_ms > wish->video.from_ms)
        return true;
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL, "to must be later than from.");
    return false;
}

/* Writes the video to a file that ffmpeg can read. */
static enum pl_status write_file(struct pl_exchange *x, const struct pl_blob_row *blob,
                                 const char *path, struct pl_error *err)
{
    struct pl_store *store = x->shard->server->store;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return pl_fail(err, PL_IO, "there is no room for the video");
    enum pl_status status = PL_OK;
    for (int64_t i = 0; status == PL_OK && i * (int64_t)PL_BLOB_PIECE < blob->n_bytes; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        struct pl_str piece;
        pl_arena_init(&arena, 0);
        status = pl_store_blob_piece(store, &arena, blob->hash, i, &piece, err);
        if (status == PL_OK && write(fd, piece.ptr, piece.len) != (ssize_t)piece.len)
            status = pl_fail(err, PL_IO, "there is no room for the video");
    }
    close(fd);
    return status;
}

/* Takes the array `content` of the message. */
static enum pl_status keep_parts(struct pl_exchange *x, struct framing *framing,
                                 const struct pl_buf *message, struct pl_error *err)
{
    struct pl_json_doc doc;
    struct pl_str text = pl_arena_dup(&x->arena, pl_buf_str(message));
    enum pl_status status =
        text.ptr ? pl_json_parse(&x->arena, text, &pl_json_own, &doc, err) : PL_NOMEM;
    if (status == PL_OK)
        framing->parts = pl_json_span(&doc, pl_json_get(&doc, doc.root, PL_STR("content")));
    return status;
}

static enum pl_status take(struct pl_exchange *x, const struct pl_blob_row *blob,
                           struct pl_video_wish *wish, struct pl_error *err)
{
    char dir[PATH_MAX], path[PATH_MAX + 16];
    PL_CLEANUP_BUF struct pl_buf message;
    pl_buf_init(&message, 64 << 20);
    enum pl_status status = pl_temp_dir_make(dir, err);
    if (status != PL_OK)
        return status;
    snprintf(path, sizeof path, "%s/video", dir);
    wish->video.path = path;
    wish->video_id = blob->id;
    status = write_file(x, blob, path, err);
    if (status == PL_OK)
        status = pl_video_message_write(wish, &message, err);
    wish->video.path = NULL;
    pl_temp_dir_remove(dir);
    return status == PL_OK ? keep_parts(x, x->state, &message, err) : status;
}

static void frames_work(struct pl_exchange *x)
{
    struct pl_video_wish wish;
    struct pl_blob_row blob;
    struct pl_error err = {0};
    struct pl_str id = pl_body_text(x, "blob");
    if (!read_wish(x, &wish))
        return;
    enum pl_status status =
        pl_store_blob_get(x->shard->server->store, &x->arena, x->caller.user_id, id, &blob, &err);
    if (status == PL_NOT_FOUND || status == PL_INVALID) {
        status = pl_fail(&err, PL_INVALID, "You have no blob with this id.");
        pl_error_point(&err, "/blob");
    }
    if (status == PL_OK)
        status = take(x, &blob, &wish, &err);
    /* A video that ffmpeg cannot read is the client's error. */
    if (status != PL_OK)
        pl_exchange_fail(x, status == PL_UNREADABLE ? PL_INVALID : status, &err);
}

static void is_kept(struct pl_media_keep *keep)
{
    struct framing *framing = PL_CONTAINER_OF(keep, struct framing, keep);
    struct pl_exchange *x = framing->x;
    if (keep->status != PL_OK) {
        pl_exchange_fail(x, keep->status, &keep->err);
    } else {
        pl_buf_adds(&x->reply, "{\"parts\":");
        pl_buf_add(&x->reply, keep->document);
        pl_buf_addc(&x->reply, '}');
    }
    pl_exchange_finish(x);
}

static void frames_taken(struct pl_exchange *x)
{
    struct framing *framing = x->state;
    if (x->is_problem) {
        pl_exchange_finish(x);
        return;
    }
    framing->x = x;
    framing->keep = (struct pl_media_keep){
        .shard = x->shard,
        .user_id = x->caller.user_id,
        .arena = &x->arena,
        .document = framing->parts,
        .has_parts = true,
        .done = is_kept,
    };
    pl_media_keep_start(&framing->keep);
}

static void media_frames(struct pl_exchange *x)
{
    x->state = pl_exchange_room(x, sizeof(struct framing));
    if (x->state)
        pl_exchange_work_in(x, PL_WORK_FILE, frames_work, frames_taken);
}

const struct pl_route pl_routes_media[] = {
    {PL_METHOD_POST, "/api/media/frames", 0, PL_FOR_SESSIONS, media_frames, "media_frames",
     "Extract frames and audio from a video that is a blob", "blobs", "FramesRequest",
     "FramesParts", 200, NULL},
    {0},
};
