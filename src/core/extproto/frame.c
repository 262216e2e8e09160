/* Checks go from the outside in, so that a fault has the code of the first error: JSON, an object,
 * its version, its type, the side that sends it, the schema. */
#include "extproto/frame.h"

#include "base/mem.h"
#include "base/sha/sha256.h"
#include "json/pointer.h"
#include "json/text.h"
#include "schema/builtin.h"
#include "schema/schema.h"

struct pl_ext_codec {
    struct pl_schema *schema;  /* owned */
    struct pl_schema_run *run; /* owned */
};

/* `head` is the text between the id and the payload of a frame. */
static const struct {
    struct pl_str text, head;
    unsigned sides;
} types[] = {
#define X(name, text, sides)                                                                       \
    [PL_EXT_TYPE_##name] = {                                                                       \
        {text, sizeof text - 1},                                                                   \
        {HEAD(text), sizeof HEAD(text) - 1},                                                       \
        sides,                                                                                     \
    },
#define HEAD(text) "\"version\":\"1.0\",\"type\":\"" text "\",\"payload\":"
    PL_EXT_TYPE_TABLE(X)
#undef HEAD
#undef X
};

static const char *const codes[] = {
#define X(name, text) [PL_EXT_CODE_##name] = text,
    PL_EXT_CODE_TABLE(X)
#undef X
};

const char *pl_ext_type_text(enum pl_ext_type type)
{
    return types[type].text.ptr;
}

bool pl_ext_type_may(enum pl_ext_type type, enum pl_ext_side side)
{
    return types[type].sides & side;
}

const char *pl_ext_code_text(enum pl_ext_code code)
{
    return codes[code];
}

enum pl_status pl_ext_codec_create(struct pl_ext_codec **ret_codec, struct pl_error *err)
{
    const struct pl_schema_builtin *pi = pl_schema_builtin_find(PL_STR("pi"));
    struct pl_ext_codec *codec = pl_mem_alloc(1, sizeof *codec);
    if (!codec)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *codec = (struct pl_ext_codec){0};
    enum pl_status status = pl_schema_compile(pi->text, NULL, &codec->schema, err);
    if (status == PL_OK)
        status = pl_schema_run_create(codec->schema, &codec->run);
    if (status == PL_OK)
        *ret_codec = codec;
    else
        pl_ext_codec_destroy(codec);
    return status;
}

void pl_ext_codec_destroy(struct pl_ext_codec *codec)
{
    if (!codec)
        return;
    pl_schema_run_destroy(codec->run);
    pl_schema_destroy(codec->schema);
    pl_mem_free(codec);
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reader {
    struct pl_ext_codec *codec;
    struct pl_arena *arena;
    struct pl_ext_frame frame;
    struct pl_ext_fault *fault;
};

static enum pl_status fail(struct reader *r, enum pl_ext_code code, const struct pl_json_node *n,
                           const char *pointer, const char *message)
{
    r->fault->code = code;
    r->fault->id = r->frame.id;
    enum pl_status status = pl_fail(&r->fault->err, PL_INVALID, "%s", message);
    pl_error_locate(&r->fault->err, r->frame.doc.text, n ? n->off : 0);
    pl_error_point(&r->fault->err, "%s", pointer);
    return status;
}

/* The error of the parser is already in the fault. */
static enum pl_status parse(struct reader *r, struct pl_str line)
{
    struct pl_error *err = &r->fault->err;
    r->frame.doc.text = line;
    if (line.len > PL_EXT_LINE_BYTES)
        return fail(r, PL_EXT_CODE_FRAME_INVALID, NULL, "", "the line is longer than 8 MiB");
    enum pl_status status = pl_json_parse(r->arena, line, NULL, &r->frame.doc, err);
    if (status == PL_OK || status == PL_NOMEM)
        return status;
    r->fault->code = PL_EXT_CODE_FRAME_INVALID;
    return PL_INVALID;
}

static enum pl_status read_id(struct reader *r)
{
    const struct pl_json_doc *doc = &r->frame.doc;
    const struct pl_json_node *n = pl_json_member(doc, doc->root, "id", PL_JSON_STRING);
    return n ? pl_json_text(r->arena, doc, n, &r->frame.id) : PL_OK;
}

static enum pl_status check_version(struct reader *r)
{
    const struct pl_json_doc *doc = &r->frame.doc;
    const struct pl_json_node *n = pl_json_get(doc, doc->root, PL_STR("version"));
    if (!pl_json_is(n, PL_JSON_STRING) || pl_json_text_is(doc, n, PL_STR("1.0")))
        return PL_OK; /* the schema reports a missing or mistyped member */
    return fail(r, PL_EXT_CODE_UNSUPPORTED_VERSION, n, "/version",
                "this host speaks version \"1.0\" of the protocol");
}

static enum pl_status read_type(struct reader *r, enum pl_ext_side side)
{
    const struct pl_json_doc *doc = &r->frame.doc;
    const struct pl_json_node *n = pl_json_get(doc, doc->root, PL_STR("type"));
    unsigned type = 0;
    if (!pl_json_is(n, PL_JSON_STRING))
        return PL_OK;
    while (type < PL_EXT_TYPE_COUNT && !pl_json_text_is(doc, n, types[type].text))
        type++;
    if (type == PL_EXT_TYPE_COUNT)
        return fail(r, PL_EXT_CODE_UNKNOWN_TYPE, n, "/type", "the protocol has no such type");
    r->frame.type = (enum pl_ext_type)type;
    if (!pl_ext_type_may(r->frame.type, side))
        return fail(r, PL_EXT_CODE_PROTOCOL_ORDER, n, "/type",
                    side == PL_EXT_FROM_CHILD ? "only the host sends frames of this type"
                                              : "only the extension sends frames of this type");
    return PL_OK;
}

static enum pl_status explain(struct reader *r)
{
    struct pl_schema_report report;
    enum pl_status status = pl_schema_explain(r->codec->run, r->arena, &r->frame.doc,
                                              r->frame.doc.root, PL_SCHEMA_EN, &report);
    if (status != PL_OK)
        return status;
    const struct pl_schema_unit *unit = &report.units[0];
    r->fault->code = PL_EXT_CODE_SCHEMA_VIOLATION;
    r->fault->id = r->frame.id;
    status = pl_fail(&r->fault->err, PL_INVALID, "%.*s", PL_STR_ARG(unit->message));
    pl_error_locate(&r->fault->err, r->frame.doc.text, unit->offset);
    pl_error_point(&r->fault->err, "%.*s", PL_STR_ARG(unit->instance_location));
    return status;
}

static enum pl_status check_schema(struct reader *r)
{
    bool is_valid = false;
    enum pl_status status =
        pl_schema_check(r->codec->run, &r->frame.doc, r->frame.doc.root, &is_valid);
    /* No keyword in the schema allocates memory: only the step limit can be exceeded. */
    if (status != PL_OK)
        return fail(r, PL_EXT_CODE_SCHEMA_VIOLATION, NULL, "",
                    "the frame is too large to be checked");
    return is_valid ? PL_OK : explain(r);
}

/* Does not zero the texts: that would cost more than the check of a small frame. */
static void clear(struct pl_ext_fault *fault)
{
    fault->code = PL_EXT_CODE_FRAME_INVALID;
    fault->id = (struct pl_str){0};
    fault->err.status = PL_OK;
    fault->err.has_position = false;
    fault->err.offset = fault->err.line = fault->err.column = 0;
    fault->err.pointer[0] = fault->err.message[0] = '\0';
}

enum pl_status pl_ext_frame_read(struct pl_ext_codec *codec, struct pl_arena *arena,
                                 struct pl_str line, enum pl_ext_side side,
                                 struct pl_ext_frame *ret_frame, struct pl_ext_fault *ret_fault)
{
    struct reader r = {.codec = codec, .arena = arena, .fault = ret_fault};
    clear(ret_fault);
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    enum pl_status status = parse(&r, line);
    if (status == PL_OK && !pl_json_is(r.frame.doc.root, PL_JSON_OBJECT))
        return fail(&r, PL_EXT_CODE_FRAME_INVALID, NULL, "", "a frame is a JSON object");
    if (status == PL_OK)
        status = read_id(&r);
    if (status == PL_OK)
        status = check_version(&r);
    if (status == PL_OK)
        status = read_type(&r, side);
    if (status == PL_OK)
        status = check_schema(&r);
    if (status != PL_OK)
        return status;
    r.frame.payload = pl_json_get(&r.frame.doc, r.frame.doc.root, PL_STR("payload"));
    *ret_frame = r.frame;
    return PL_OK;
}

enum pl_status pl_ext_frame_text(struct pl_arena *arena, const struct pl_ext_frame *frame,
                                 const char *member, struct pl_str *ret_text)
{
    const struct pl_json_node *n =
        pl_json_member(&frame->doc, frame->payload, member, PL_JSON_STRING);
    if (n)
        return pl_json_text(arena, &frame->doc, n, ret_text);
    *ret_text = PL_STR("");
    return PL_OK;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void put(struct pl_json_out *out, const char *key, struct pl_str text)
{
    pl_json_out_key(out, key);
    pl_json_out_text(out, text);
}

/* Writes a key that is already JSON, colon included. Keys are most of a small frame. */
static void put_key(struct pl_json_out *out, struct pl_str key)
{
    pl_json_out_raw(out, key);
    out->is_after_key = true;
}

struct pl_json_out pl_ext_frame_begin(struct pl_buf *to, enum pl_ext_type type, struct pl_str id)
{
    enum { SMALL = 512 }; /* enough for most frames */
    struct pl_json_out out = pl_json_out(to);
    (void)pl_buf_reserve(to, SMALL);
    pl_json_out_open(&out, '{');
    put_key(&out, PL_STR("\"id\":"));
    pl_json_out_text(&out, id);
    put_key(&out, types[type].head);
    pl_json_out_open(&out, '{');
    return out;
}

void pl_ext_frame_end(struct pl_json_out *out)
{
    pl_json_out_close(out, '}');
    pl_json_out_close(out, '}');
    pl_buf_addc(out->buf, '\n');
}

void pl_ext_frame_write_fault(struct pl_buf *to, const struct pl_ext_fault *fault)
{
    struct pl_json_out out = pl_ext_frame_begin(to, PL_EXT_TYPE_ERROR, fault->id);
    put(&out, "code", pl_str_of(codes[fault->code]));
    put(&out, "message", pl_str_of(fault->err.message));
    if (fault->err.has_position) {
        pl_json_out_key(&out, "details");
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "offset");
        pl_json_out_int(&out, (int64_t)fault->err.offset);
        put(&out, "pointer", pl_str_of(fault->err.pointer));
        pl_json_out_close(&out, '}');
    }
    pl_ext_frame_end(&out);
}

static void write_error(struct pl_json_out *out, const struct pl_ext_result *result)
{
    pl_json_out_key(out, "error");
    pl_json_out_open(out, '{');
    put(out, "code", pl_str_of(result->error));
    put(out, "message", result->message);
    if (result->details.len) {
        pl_json_out_key(out, "details");
        pl_json_out_raw(out, result->details);
    } else if (result->reason.len) {
        pl_json_out_key(out, "details");
        pl_json_out_open(out, '{');
        put(out, "reason", result->reason);
        pl_json_out_close(out, '}');
    }
    pl_json_out_key(out, "retryable");
    pl_json_out_bool(out, result->is_retryable);
    pl_json_out_close(out, '}');
}

static void write_chunk(struct pl_json_out *out, const struct pl_ext_result *result)
{
    pl_json_out_key(out, "chunk");
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "index");
    pl_json_out_int(out, result->index);
    pl_json_out_key(out, "is_last");
    pl_json_out_bool(out, result->is_last);
    if (result->credits >= 0) {
        pl_json_out_key(out, "backpressure");
        pl_json_out_open(out, '{');
        pl_json_out_key(out, "credits");
        pl_json_out_int(out, result->credits);
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, '}');
}

void pl_ext_frame_write_result(struct pl_buf *to, const struct pl_ext_result *result)
{
    struct pl_json_out out = pl_ext_frame_begin(to, PL_EXT_TYPE_HOST_RESULT, result->id);
    put_key(&out, PL_STR("\"call_id\":"));
    pl_json_out_text(&out, result->call_id);
    put_key(&out, PL_STR("\"output\":"));
    pl_json_out_raw(&out, result->output.len ? result->output : PL_STR("{}"));
    put_key(&out, PL_STR("\"is_error\":"));
    pl_json_out_bool(&out, result->error != NULL);
    if (result->error)
        write_error(&out, result);
    if (result->is_chunk)
        write_chunk(&out, result);
    pl_ext_frame_end(&out);
}

enum pl_status pl_ext_params_hash(struct pl_str method, const struct pl_json_doc *doc,
                                  const struct pl_json_node *params,
                                  char ret_hash[PL_EXT_HASH_SIZE])
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    /* The members are in canonical order. */
    pl_buf_adds(&text, "{\"method\":");
    pl_json_quote(&text, method);
    pl_buf_adds(&text, ",\"params\":");
    enum pl_status status = pl_json_write_canonical(&text, doc, params);
    pl_buf_addc(&text, '}');
    if (status == PL_OK)
        status = text.status;
    if (status == PL_OK)
        pl_sha256_hex(pl_buf_str(&text), ret_hash);
    return status;
}
