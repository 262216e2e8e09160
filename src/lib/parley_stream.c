/* The public API for streams. */
#include "lib/parley_int.h"

#include "base/mem.h"
#include "stream/stream.h"

struct parley_stream {
    struct pl_stream *stream; /* owned */
    bool is_taken;            /* the caller has taken the content of the buffer */
};

const char *parley_dialect_name(size_t index)
{
    for (size_t i = 0; pl_dialects[i]; i++)
        if (i == index)
            return pl_dialects[i]->name;
    return NULL;
}

enum pl_status pl_import_dialect(const char *name, const struct pl_dialect **ret_dialect,
                                 struct pl_error *err)
{
    const struct pl_dialect *dialect = pl_dialect_find(pl_str_of(name));
    if (!dialect)
        return pl_fail(err, PL_NOT_FOUND,
                       "there is no dialect \"%s\"; parley_dialect_name() lists the names",
                       name ? name : "");
    *ret_dialect = dialect;
    return PL_OK;
}

static enum pl_status create(const char *from, const char *to, struct parley_stream *stream,
                             struct pl_error *err)
{
    const struct pl_dialect *source = NULL, *target = NULL;
    enum pl_status status = pl_import_dialect(from, &source, err);
    if (status == PL_OK)
        status = pl_import_dialect(to, &target, err);
    return status == PL_OK ? pl_stream_create(source, target, &stream->stream) : status;
}

enum parley_status parley_stream_create(const char *from, const char *to,
                                        struct parley_stream **ret_stream, struct parley_error *err)
{
    struct pl_error detail = {0};
    struct parley_stream *stream = pl_mem_alloc(1, sizeof *stream);
    if (!stream)
        return pl_export_error(PL_NOMEM, &detail, err);
    *stream = (struct parley_stream){0};
    enum pl_status status = create(from, to, stream, &detail);
    if (status == PL_OK)
        *ret_stream = stream;
    else
        parley_stream_destroy(stream);
    return pl_export_error(status, &detail, err);
}

void parley_stream_destroy(struct parley_stream *stream)
{
    if (!stream)
        return;
    pl_stream_destroy(stream->stream);
    pl_mem_free(stream);
}

static void forget_taken(struct parley_stream *stream)
{
    if (stream->is_taken)
        pl_buf_clear(&stream->stream->out);
    stream->is_taken = false;
}

enum parley_status parley_stream_feed(struct parley_stream *stream, const char *bytes, size_t size,
                                      struct parley_error *err)
{
    struct pl_error detail = {0};
    forget_taken(stream);
    enum pl_status status = pl_stream_feed(stream->stream, (struct pl_str){bytes, size}, &detail);
    return pl_export_error(status, &detail, err);
}

enum parley_status parley_stream_end(struct parley_stream *stream, struct parley_error *err)
{
    struct pl_error detail = {0};
    forget_taken(stream);
    return pl_export_error(pl_stream_end(stream->stream, &detail), &detail, err);
}

const char *parley_stream_take(struct parley_stream *stream, size_t *ret_size)
{
    forget_taken(stream);
    stream->is_taken = true;
    *ret_size = stream->stream->out.len;
    return stream->stream->out.ptr ? stream->stream->out.ptr : "";
}
