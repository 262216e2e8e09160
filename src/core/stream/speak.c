/* Turns an answer by this server into deltas for a dialect's writer. */
#include "stream/speak.h"

#include "json/text.h"

#include <stdio.h>

enum pl_status pl_speaker_init(struct pl_speaker *speaker, const struct pl_dialect *to)
{
    *speaker = (struct pl_speaker){0};
    enum pl_status status = pl_stream_create(to, to, &speaker->stream);
    /* There is no input to pass through. */
    if (status == PL_OK)
        speaker->stream->passes_through = false;
    return status;
}

void pl_speaker_deinit(struct pl_speaker *speaker)
{
    pl_stream_destroy(speaker->stream);
    speaker->stream = NULL;
}

enum pl_status pl_speaker_status(const struct pl_speaker *speaker)
{
    return speaker->stream->status != PL_OK ? speaker->stream->status : speaker->stream->out.status;
}

/* Escapes text as JSON string contents, in the event's arena. */
static struct pl_str raw_of(struct pl_speaker *speaker, struct pl_str text)
{
    PL_CLEANUP_BUF struct pl_buf quoted;
    pl_buf_init(&quoted, 0);
    pl_json_quote(&quoted, text);
    struct pl_str raw = {0};
    if (quoted.status == PL_OK && quoted.len > 2)
        raw = pl_arena_dup(&speaker->stream->arena,
                           pl_str_slice(pl_buf_str(&quoted), 1, quoted.len - 1));
    if (text.len && !raw.ptr)
        speaker->stream->status = PL_NOMEM;
    return raw;
}

void pl_speak_start(struct pl_speaker *speaker, struct pl_str id, struct pl_str model,
                    int64_t created_s)
{
    char created[24];
    int n = snprintf(created, sizeof created, "%lld", (long long)created_s);
    pl_arena_reset(&speaker->stream->arena);
    pl_stream_emit(speaker->stream, &(struct pl_delta){
                                        .kind = PL_DELTA_START,
                                        .id = raw_of(speaker, id),
                                        .model = raw_of(speaker, model),
                                        .created = {created, (size_t)n},
                                    });
}

static void say(struct pl_speaker *speaker, struct pl_str raw)
{
    struct pl_open_part *part = pl_stream_find(speaker->stream, 0, speaker->n_parts);
    if (part)
        pl_stream_say(speaker->stream, part, raw);
}

void pl_speak_text(struct pl_speaker *speaker, bool is_thinking, struct pl_str text)
{
    enum pl_part_kind kind = is_thinking ? PL_PART_THINKING : PL_PART_TEXT;
    pl_arena_reset(&speaker->stream->arena);
    if (!speaker->n_parts || speaker->open != kind) {
        speaker->n_parts++;
        speaker->open = kind;
        pl_stream_open(speaker->stream, 0, speaker->n_parts, &(struct pl_delta){.part_kind = kind});
    }
    say(speaker, raw_of(speaker, text));
}

void pl_speak_call(struct pl_speaker *speaker, struct pl_str id, struct pl_str name,
                   struct pl_str arguments)
{
    pl_arena_reset(&speaker->stream->arena);
    speaker->n_parts++;
    speaker->open = PL_PART_CALL;
    speaker->has_calls = true;
    pl_stream_open(speaker->stream, 0, speaker->n_parts,
                   &(struct pl_delta){.part_kind = PL_PART_CALL,
                                      .id = raw_of(speaker, id),
                                      .name = raw_of(speaker, name)});
    say(speaker, raw_of(speaker, arguments));
    pl_stream_close(speaker->stream, 0, speaker->n_parts);
}

void pl_speak_end(struct pl_speaker *speaker, const struct pl_counts *counts)
{
    struct pl_stream *stream = speaker->stream;
    pl_arena_reset(&stream->arena);
    if (speaker->n_parts)
        pl_stream_close(stream, 0, speaker->n_parts);
    pl_stream_emit(stream, &(struct pl_delta){.kind = PL_DELTA_USAGE, .counts = *counts});
    pl_stream_emit(stream, &(struct pl_delta){.kind = PL_DELTA_STOP,
                                              .finish = speaker->has_calls ? PL_FINISH_TOOLS
                                                                           : PL_FINISH_STOP});
    pl_stream_emit(stream, &(struct pl_delta){.kind = PL_DELTA_END});
}

void pl_speak_error(struct pl_speaker *speaker, struct pl_str message)
{
    pl_arena_reset(&speaker->stream->arena);
    pl_stream_emit(speaker->stream, &(struct pl_delta){.kind = PL_DELTA_ERROR,
                                                       .type = PL_STR("api_error"),
                                                       .message = raw_of(speaker, message)});
}
