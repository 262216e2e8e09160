/* Any bytes as lines of an extension: each one is a frame, or a fault with a reason. A written
 * fault is a frame again. A register is read, and its tools and manifest are used; a host_call is
 * judged; everything is redacted and stays JSON. */
#include "extproto/registration.h"

#include "extproto/path_scope.h"
#include "extproto/redact.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static void try_fault(struct pl_ext_codec *codec, struct pl_arena *arena,
                      const struct pl_ext_fault *fault)
{
    PL_CLEANUP_BUF struct pl_buf out;
    struct pl_ext_frame again;
    struct pl_ext_fault none;
    pl_buf_init(&out, 0);
    must(fault->err.message[0]);
    pl_ext_frame_write_fault(&out, fault);
    must(out.status == PL_OK && out.ptr[out.len - 1] == '\n');
    must(pl_ext_frame_read(codec, arena, (struct pl_str){out.ptr, out.len - 1}, PL_EXT_TO_CHILD,
                           &again, &none) == PL_OK);
    must(pl_str_eq(again.id, fault->id));
}

static void try_register(struct pl_arena *arena, const struct pl_ext_frame *frame)
{
    struct pl_ext_registration r;
    struct pl_error err = {0};
    if (pl_ext_registration_read(arena, &frame->doc, frame->payload, &r, &err) != PL_OK) {
        must(err.message[0]);
        return;
    }
    must(pl_ext_manifest_covers(&r.manifest, &r.manifest));
    for (size_t i = 0; i < r.n_tools; i++)
        must(r.tools[i].refusal || pl_ext_is_tool_name(r.tools[i].name));
}

static void try_call(struct pl_arena *arena, const struct pl_ext_frame *frame)
{
    struct pl_str method, declared;
    char hash[PL_EXT_HASH_SIZE];
    const struct pl_json_node *params = pl_json_get(&frame->doc, frame->payload, PL_STR("params"));
    must(pl_ext_frame_text(arena, frame, "method", &method) == PL_OK);
    must(pl_ext_frame_text(arena, frame, "capability", &declared) == PL_OK);
    enum pl_ext_capability capability = pl_ext_capability_derive(method, &frame->doc, params);
    must(capability <= PL_EXT_CAP_NONE);
    must(pl_ext_params_hash(method, &frame->doc, params, hash) == PL_OK);
}

static void try_answer(const struct pl_ext_frame *frame)
{
    struct pl_ext_answer answer;
    struct pl_error err = {0};
    const struct pl_json_node *data = pl_json_get(&frame->doc, frame->payload, PL_STR("data"));
    for (unsigned hook = 0; hook < PL_EXT_HOOK_COUNT; hook++)
        if (pl_ext_answer_read((enum pl_ext_hook)hook, &frame->doc, data, &answer, &err) != PL_OK)
            must(err.message[0]);
}

static void try_redaction(struct pl_arena *arena, const struct pl_ext_frame *frame)
{
    PL_CLEANUP_BUF struct pl_buf out;
    struct pl_json_doc made;
    pl_buf_init(&out, 0);
    must(pl_ext_redact_json(arena, &out, &frame->doc, frame->doc.root, NULL) == PL_OK);
    must(pl_json_parse(arena, pl_buf_str(&out), &pl_json_own, &made, NULL) == PL_OK);
}

static void try_line(struct pl_ext_codec *codec, struct pl_arena *arena, struct pl_str line)
{
    struct pl_ext_frame frame;
    struct pl_ext_fault fault;
    struct pl_str path;
    bool is_clean = pl_ext_path_clean(arena, line, &path) == PL_OK;
    if (is_clean && !pl_ext_glob_refusal(path))
        must(pl_ext_glob_match(PL_STR("**"), path));
    if (pl_ext_frame_read(codec, arena, line, PL_EXT_FROM_CHILD, &frame, &fault) != PL_OK) {
        try_fault(codec, arena, &fault);
        return;
    }
    if (frame.type == PL_EXT_TYPE_REGISTER)
        try_register(arena, &frame);
    if (frame.type == PL_EXT_TYPE_HOST_CALL)
        try_call(arena, &frame);
    if (frame.type == PL_EXT_TYPE_EVENT_HOOK)
        try_answer(&frame);
    try_redaction(arena, &frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pl_ext_codec *codec;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    if (!codec)
        must(pl_ext_codec_create(&codec, NULL) == PL_OK);
    const char *at = (const char *)data, *end = at + size;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end ? line_end : end;
        try_line(codec, &arena, (struct pl_str){at, (size_t)(line_end - at)});
        at = line_end + 1;
    }
    return 0;
}
