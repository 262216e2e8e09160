/* Makes a message part from a file: a blob or text, by the file name's ending. */
#include "app/frame/attachment.h"

#include "app/frame/input.h"
#include "base/text/utf8.h"
#include "io/file/file.h"
#include "json/text.h"

#include <strings.h>

enum { MAX_FILE = 64 << 20, MAX_WORDS = 1 << 20 };

/* By file name ending; the server checks the bytes too. */
static const struct {
    const char *ending, *kind, *type;
} media[] = {
    {".png", "image", "image/png"},       {".jpg", "image", "image/jpeg"},
    {".jpeg", "image", "image/jpeg"},     {".gif", "image", "image/gif"},
    {".webp", "image", "image/webp"},     {".mp3", "audio", "audio/mpeg"},
    {".wav", "audio", "audio/wav"},       {".ogg", "audio", "audio/ogg"},
    {".flac", "audio", "audio/flac"},     {".m4a", "audio", "audio/mp4"},
    {".mp4", "video", "video/mp4"},       {".webm", "video", "video/webm"},
    {".mov", "video", "video/quicktime"}, {".pdf", "file", "application/pdf"},
};

static const char *bare_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void add_words(struct pl_buf *to, const char *name, struct pl_str words)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_addf(&text, "%s:\n", name);
    pl_buf_add(&text, words);
    pl_buf_adds(to, "{\"type\":\"text\",\"text\":");
    pl_json_quote(to, pl_buf_str(&text));
    pl_buf_adds(to, "}");
    if (text.status != PL_OK)
        to->status = text.status;
}

static enum pl_exit add_blob(struct pl_deed *deed, const char *path, size_t row,
                             struct pl_str bytes, struct pl_buf *to)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    struct pl_http_call call = {
        .method = "POST", .body = bytes, .has_body = true, .content_type = media[row].type};
    enum pl_exit code =
        pl_api_call(&deed->api, &call,
                    pl_api_path(&deed->api, "/api/blobs?name=%", bare_name(path), NULL), &reply);
    if (code == PL_EXIT_OK)
        code = pl_deed_take(deed, pl_buf_str(&reply));
    if (code != PL_EXIT_OK)
        return code;
    pl_buf_addf(to, "{\"type\":\"media\",\"content\":{\"kind\":\"%s\",\"blob\":", media[row].kind);
    pl_json_quote(to, pl_deed_text(deed, deed->answer.root, "id"));
    pl_buf_adds(to, "}}");
    return PL_EXIT_OK;
}

enum pl_exit pl_attachment_add(struct pl_deed *deed, const char *path, struct pl_buf *to)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    const char *ending = strrchr(bare_name(path), '.');
    size_t row = 0, n = sizeof media / sizeof *media;
    if (pl_file_read(path, MAX_FILE, NULL, &file, &err) != PL_OK)
        return pl_console_fail(deed->console, pl_input_name(path), &err);
    while (row < n && !(ending && strcasecmp(ending, media[row].ending) == 0))
        row++;
    if (row < n)
        return add_blob(deed, path, row, file.bytes, to);
    bool is_text = pl_utf8_is_valid(file.bytes) && file.bytes.len <= MAX_WORDS &&
                   !(file.bytes.len && memchr(file.bytes.ptr, '\0', file.bytes.len));
    if (!is_text) {
        (void)pl_fail(&err, PL_UNREADABLE,
                      "this is neither text of up to 1 MiB nor a picture, sound, video or PDF; "
                      "\"parley blob add\" stores any file");
        return pl_console_fail(deed->console, pl_input_name(path), &err);
    }
    add_words(to, bare_name(path), file.bytes);
    return PL_EXIT_OK;
}
