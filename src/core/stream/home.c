/* Translates the kept source again and compares the events with the given target. If they differ,
 * both are added up, and carry/ converts the whole answers back. */
#include "stream/home.h"

#include "base/text/base64.h"
#include "base/text/utf8.h"
#include "carry/carry.h"
#include "format/convert.h"
#include "json/equal.h"
#include "json/text.h"
#include "stream/account.h"
#include "stream/sum.h"

/* ---- writing a carry ---- */

enum pl_status pl_stream_carry_write(struct pl_buf *to, const struct pl_dialect *from,
                                     const struct pl_dialect *into, struct pl_str source)
{
    bool is_text = pl_utf8_is_valid(source);
    pl_buf_addf(to, "{\"parley_stream_carry\":1,\"from\":\"%s\",\"to\":\"%s\",", from->name,
                into->name);
    if (is_text) {
        pl_buf_adds(to, "\"source\":");
        pl_json_quote(to, source);
    } else {
        pl_buf_adds(to, "\"source_base64\":\"");
        pl_base64_encode(to, source);
        pl_buf_addc(to, '"');
    }
    pl_buf_addc(to, '}');
    return to->status;
}

/* ---- reading one ---- */

enum member { VERSION, FROM, INTO, SOURCE, SOURCE_BASE64, N_MEMBERS };
static const struct {
    const char *name;
    enum pl_json_kind kind;
} members[N_MEMBERS] = {
    [VERSION] = {"parley_stream_carry", PL_JSON_NUMBER},
    [FROM] = {"from", PL_JSON_STRING},
    [INTO] = {"to", PL_JSON_STRING},
    [SOURCE] = {"source", PL_JSON_STRING},
    [SOURCE_BASE64] = {"source_base64", PL_JSON_STRING},
};

static enum pl_status refuse(struct pl_error *err, const char *name, const char *why)
{
    enum pl_status status = pl_fail(err, PL_INVALID, "this is not the carry of a stream: %s", why);
    pl_error_point(err, "%s%s", name[0] ? "/" : "", name);
    return status;
}

static enum pl_status find_members(const struct pl_json_doc *doc,
                                   const struct pl_json_node *ret[N_MEMBERS], struct pl_error *err)
{
    if (pl_json_kind(doc->root) != PL_JSON_OBJECT)
        return refuse(err, "", "it is not a JSON object");
    for (size_t i = 0; i < N_MEMBERS; i++) {
        ret[i] = pl_json_get(doc, doc->root, pl_str_of(members[i].name));
        bool may_lack = i == SOURCE || i == SOURCE_BASE64;
        if (!ret[i] && !may_lack)
            return refuse(err, members[i].name, "this member is missing");
        if (ret[i] && pl_json_kind(ret[i]) != members[i].kind)
            return refuse(err, members[i].name,
                          members[i].kind == PL_JSON_STRING ? "this is not a string"
                                                            : "this is not a number");
    }
    if (!ret[SOURCE] == !ret[SOURCE_BASE64])
        return refuse(err, "source", "it must have either source or source_base64");
    if (!pl_str_eq(pl_json_span(doc, ret[VERSION]), PL_STR("1")))
        return refuse(err, members[VERSION].name, "only version 1 is supported");
    return PL_OK;
}

/* Reads the source's bytes from a carry. */
static enum pl_status read_carry(struct pl_buf *to, const struct pl_dialect *from,
                                 const struct pl_dialect *into, struct pl_str carry,
                                 struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    const struct pl_json_node *m[N_MEMBERS];
    struct pl_str text;
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_json_parse(&arena, carry, NULL, &doc, err);
    if (status == PL_OK)
        status = find_members(&doc, m, err);
    if (status != PL_OK)
        return status;
    if (!pl_json_text_is(&doc, m[FROM], pl_str_of(into->name)))
        return refuse(err, "from", "it is not for the dialect of --to");
    if (!pl_json_text_is(&doc, m[INTO], pl_str_of(from->name)))
        return refuse(err, "to", "it is not for the dialect of --from");
    status = pl_json_text(&arena, &doc, m[SOURCE] ? m[SOURCE] : m[SOURCE_BASE64], &text);
    if (status == PL_OK && m[SOURCE])
        pl_buf_add(to, text);
    else if (status == PL_OK)
        status = pl_base64_decode(to, text);
    if (status == PL_SYNTAX)
        return refuse(err, "source_base64", "this is not base64");
    return status == PL_OK ? to->status : status;
}

/* ---- comparing streams ---- */

/* The data of a stream's events, one after the other. */
struct events {
    bool is_json, is_finished;
    struct pl_sse sse;
    struct pl_json_frames frames;
};

static void begin_events(struct events *e, const struct pl_dialect *dialect, struct pl_str bytes)
{
    size_t i = 0;
    while (i < bytes.len && memchr(" \n\r\t", bytes.ptr[i], 4))
        i++;
    *e = (struct events){.is_json = dialect->reads_json_framing && i < bytes.len &&
                                    (bytes.ptr[i] == '{' || bytes.ptr[i] == '[')};
    pl_sse_init(&e->sse, 0);
    pl_json_frames_init(&e->frames, 0);
    if (e->is_json)
        pl_json_frames_feed(&e->frames, bytes);
    else
        pl_sse_feed(&e->sse, bytes);
}

static void end_events(struct events *e)
{
    pl_sse_deinit(&e->sse);
    pl_json_frames_deinit(&e->frames);
}

static enum pl_status next_event(struct events *e, struct pl_str *ret_data)
{
    struct pl_sse_event event = {0};
    if (e->is_json)
        return pl_json_frames_next(&e->frames, ret_data);
    enum pl_status status = e->is_finished ? PL_NOT_FOUND : pl_sse_next(&e->sse, &event);
    if (status == PL_NOT_FOUND && !e->is_finished) {
        e->is_finished = true;
        status = pl_sse_finish(&e->sse, &event);
    }
    *ret_data = event.data;
    return status;
}

/* Whether two events have equal JSON, apart from its layout. */
static enum pl_status compare_data(struct pl_str a, struct pl_str b, bool *ret_is_same)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc x, y;
    pl_arena_init(&arena, 0);
    *ret_is_same = pl_str_eq(a, b);
    if (*ret_is_same)
        return PL_OK;
    enum pl_status status = pl_json_parse(&arena, a, &pl_json_any, &x, NULL);
    if (status == PL_OK)
        status = pl_json_parse(&arena, b, &pl_json_any, &y, NULL);
    if (status == PL_OK)
        return pl_json_equal(&x, x.root, &y, y.root, ret_is_same);
    return status == PL_NOMEM ? status : PL_OK;
}

static enum pl_status compare(const struct pl_dialect *dialect, struct pl_str a, struct pl_str b,
                              bool *ret_is_same)
{
    struct events x, y;
    enum pl_status status = PL_OK;
    *ret_is_same = true;
    begin_events(&x, dialect, a);
    begin_events(&y, dialect, b);
    while (*ret_is_same && status == PL_OK) {
        struct pl_str one = {0}, other = {0};
        enum pl_status first = next_event(&x, &one), second = next_event(&y, &other);
        if (first == PL_NOMEM || second == PL_NOMEM) {
            status = PL_NOMEM;
        } else if (first != PL_OK || second != PL_OK) {
            *ret_is_same = first == second && first == PL_NOT_FOUND;
            break;
        } else {
            status = compare_data(one, other, ret_is_same);
        }
    }
    end_events(&x);
    end_events(&y);
    return status;
}

/* ---- the way home ---- */

struct trip {
    const struct pl_dialect *from, *into;
    struct pl_str stream;       /* the given target */
    struct pl_buf source, went; /* owned; the source in the carry, and its translation */
    struct pl_buf *out;
    struct pl_error *err;
};

static enum pl_status translate(struct pl_buf *out, const struct pl_dialect *from,
                                const struct pl_dialect *into, struct pl_str bytes,
                                struct pl_error *err)
{
    struct pl_stream *stream = NULL;
    enum pl_status status = pl_stream_create(from, into, &stream);
    if (status != PL_OK)
        return status;
    status = pl_stream_feed(stream, bytes, err);
    if (status == PL_OK)
        status = pl_stream_end(stream, err);
    pl_buf_add(out, pl_buf_str(&stream->out));
    if (stream->out.status != PL_OK || out->status != PL_OK)
        status = PL_NOMEM;
    pl_stream_destroy(stream);
    return status;
}

static enum pl_status add_up(struct pl_buf *to, const struct pl_dialect *dialect,
                             struct pl_str stream, struct pl_error *err)
{
    struct pl_sum sum;
    enum pl_status status = pl_sum_init(&sum, dialect);
    if (status == PL_OK)
        status = pl_sum_add(&sum, stream, err);
    if (status == PL_OK)
        pl_sum_write(&sum, to);
    pl_sum_deinit(&sum);
    return status == PL_OK ? to->status : status;
}

static enum pl_status convert(struct pl_str text, const struct pl_dialect *from,
                              const struct pl_dialect *into, struct pl_str carry,
                              struct pl_converted *made)
{
    struct pl_error why = {0};
    return pl_convert(text,
                      &(struct pl_convert_opts){.from = from->format,
                                                .to = into->format,
                                                .kind = PL_KIND_RESPONSE,
                                                .way_home = &pl_carry_way,
                                                .carry = carry},
                      made, &why);
}

/* Writes a whole answer as events. False: it is not an answer of the dialect. */
static enum pl_status tell(struct trip *t, struct pl_str answer, bool *ret_is_told)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_json_parse(&arena, answer, &pl_json_made, &doc, NULL);
    if (status == PL_OK)
        *ret_is_told = pl_stream_tell(t->out, t->into, &doc);
    return status == PL_NOMEM ? status : t->out->status;
}

/* Takes an edited target home as a whole answer: converts the source with a carry, then the target
 * back with that carry. */
static enum pl_status go_edited(struct trip *t, bool *ret_is_told)
{
    PL_CLEANUP_BUF struct pl_buf ours, theirs;
    struct pl_converted there, home;
    pl_buf_init(&ours, 0);
    pl_buf_init(&theirs, 0);
    pl_converted_init(&there);
    pl_converted_init(&home);
    enum pl_status status = add_up(&ours, t->into, pl_buf_str(&t->source), t->err);
    if (status == PL_OK)
        status = add_up(&theirs, t->from, t->stream, t->err);
    enum pl_status made = status;
    if (made == PL_OK)
        made = convert(pl_buf_str(&ours), t->into, t->from, (struct pl_str){0}, &there);
    if (made == PL_OK)
        made = convert(pl_buf_str(&theirs), t->from, t->into, pl_buf_str(&there.carry), &home);
    if (made == PL_OK)
        status = tell(t, pl_buf_str(&home.out), ret_is_told);
    else if (made == PL_NOMEM)
        status = PL_NOMEM;
    pl_converted_deinit(&there);
    pl_converted_deinit(&home);
    return status;
}

static enum pl_status travel(struct trip *t, bool *ret_is_same)
{
    PL_CLEANUP_BUF struct pl_buf fresh;
    struct pl_error ignored = {0};
    bool is_told = false;
    pl_buf_init(&fresh, 0);
    enum pl_status status = translate(&t->went, t->into, t->from, pl_buf_str(&t->source), &ignored);
    if (status != PL_NOMEM)
        status = compare(t->from, pl_buf_str(&t->went), t->stream, ret_is_same);
    if (status != PL_OK)
        return status;
    if (*ret_is_same) {
        pl_buf_add(t->out, pl_buf_str(&t->source));
        return t->out->status;
    }
    /* A stream that breaks off has no whole answer: it is translated as a stream. */
    enum pl_status broken = translate(&fresh, t->from, t->into, t->stream, t->err);
    if (broken == PL_OK)
        status = go_edited(t, &is_told);
    if (status == PL_OK && !is_told)
        pl_buf_add(t->out, pl_buf_str(&fresh));
    if (status == PL_OK)
        status = t->out->status;
    return status == PL_OK ? broken : status;
}

enum pl_status pl_stream_go_home(struct pl_buf *out, struct pl_buf *report,
                                 const struct pl_dialect *from, const struct pl_dialect *into,
                                 struct pl_str carry, struct pl_str stream, bool *ret_is_lossless,
                                 struct pl_error *err)
{
    struct trip t = {.from = from, .into = into, .stream = stream, .out = out, .err = err};
    bool is_same = false;
    struct pl_error why = {0};
    pl_buf_init(&t.source, 0);
    pl_buf_init(&t.went, 0);
    enum pl_status status = read_carry(&t.source, from, into, carry, err);
    if (status == PL_OK) {
        status = travel(&t, &is_same);
        enum pl_status reported = PL_OK;
        if (is_same)
            pl_buf_addf(report, "{\"from\":\"%s\",\"to\":\"%s\",\"losses\":[],\"lossless\":true}",
                        from->name, into->name);
        else if (out->len)
            reported = pl_stream_report_home(report, from, into, stream, pl_buf_str(out),
                                             pl_buf_str(&t.source), pl_buf_str(&t.went),
                                             ret_is_lossless, &why);
        if (is_same)
            *ret_is_lossless = true;
        if (status == PL_OK)
            status = reported != PL_OK ? reported : report->status;
    }
    pl_buf_deinit(&t.source);
    pl_buf_deinit(&t.went);
    return status;
}
