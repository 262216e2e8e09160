/* The vectors of the extension protocol (corpora/pi-ext): frames with the verdict of the schema, derived
 * capabilities, policies, canonical hashes, globs, hosts, protected paths, redaction. */
#include "conformance/corpora.h"
#include "extproto/frame.h"
#include "extproto/manifest.h"
#include "extproto/path_scope.h"
#include "extproto/redact.h"
#include "json/equal.h"
#include "json/text.h"

#include <stdio.h>
#include <stdlib.h>

struct vector {
    struct pl_arena *arena;
    struct pl_json_doc doc; /* one line */
    struct pl_ext_codec *codec;
    const char *file;
    size_t line;
};

static void must(bool is_true, const char *what)
{
    if (is_true)
        return;
    printf("Bail out! %s\n", what);
    exit(1);
}

static const struct pl_json_node *get(struct vector *v, const char *name)
{
    return pl_json_get(&v->doc, v->doc.root, pl_str_of(name));
}

/* Empty if absent or not a string. */
static struct pl_str text_of(struct vector *v, const struct pl_json_node *n)
{
    struct pl_str text = PL_STR("");
    if (pl_json_is(n, PL_JSON_STRING))
        must(pl_json_text(v->arena, &v->doc, n, &text) == PL_OK, "out of memory");
    return text;
}

static struct pl_str text(struct vector *v, const char *name)
{
    return text_of(v, get(v, name));
}

static bool is_true(struct vector *v, const char *name)
{
    return pl_json_is(get(v, name), PL_JSON_TRUE);
}

static void point(struct vector *v, bool is_ok)
{
    tap_point(is_ok, "%s:%zu", v->file, v->line);
    if (!is_ok)
        tap_note("%.*s", PL_STR_ARG(pl_str_slice(v->doc.text, 0, 400)));
}

/* The schema has no direction: a frame is valid if either side may send it. */
static void check_message(struct vector *v)
{
    struct pl_ext_frame frame;
    struct pl_ext_fault fault;
    const struct pl_json_node *message = get(v, "message");
    struct pl_str line = pl_json_span(&v->doc, message);
    enum pl_status status =
        pl_ext_frame_read(v->codec, v->arena, line, PL_EXT_FROM_CHILD, &frame, &fault);
    if (status == PL_INVALID && fault.code == PL_EXT_CODE_PROTOCOL_ORDER)
        status = pl_ext_frame_read(v->codec, v->arena, line, PL_EXT_TO_CHILD, &frame, &fault);
    bool is_told = status == PL_OK || (fault.err.message[0] && fault.err.has_position);
    point(v, (status == PL_OK) == is_true(v, "valid") && is_told);
}

static void check_sample(struct vector *v)
{
    struct pl_ext_frame frame;
    struct pl_ext_fault fault;
    enum pl_status status = PL_INVALID;
    for (int side = PL_EXT_FROM_CHILD; side <= PL_EXT_TO_CHILD && status != PL_OK; side++)
        status = pl_ext_frame_read(v->codec, v->arena, v->doc.text, (enum pl_ext_side)side, &frame,
                                   &fault);
    point(v, status == PL_OK);
}

static void check_derived(struct vector *v)
{
    enum pl_ext_capability got =
        pl_ext_capability_derive(text(v, "method"), &v->doc, get(v, "params"));
    struct pl_str wanted = text(v, "capability");
    point(v, pl_str_eq(pl_str_of(pl_ext_capability_name(got)), wanted));
}

static uint32_t set_of(struct vector *v, const char *name)
{
    uint32_t set = 0;
    const struct pl_json_node *list = get(v, name);
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         list && n < pl_json_end(list); n = pl_json_next(n))
        set |= PL_EXT_CAP_BIT(pl_ext_capability_find(text_of(v, n)));
    return set;
}

static void check_policy(struct vector *v)
{
    static const char *const modes[] = {"strict", "prompt", "permissive"};
    static const char *const decisions[] = {"allow", "ask", "deny"};
    struct pl_ext_policy policy = {.defaults = set_of(v, "defaults"),
                                   .deny = set_of(v, "deny"),
                                   .extension_allow = set_of(v, "extension_allow"),
                                   .extension_deny = set_of(v, "extension_deny")};
    while (!pl_str_eq(text(v, "mode"), pl_str_of(modes[policy.mode])))
        policy.mode++;
    enum pl_ext_reason reason = pl_ext_policy_judge(&policy, text(v, "capability"));
    point(v,
          pl_str_eq(text(v, "reason"), pl_str_of(pl_ext_reason_text(reason))) &&
              pl_str_eq(text(v, "decision"), pl_str_of(decisions[pl_ext_reason_decision(reason)])));
}

static void check_canonical(struct vector *v)
{
    struct pl_json_doc params;
    char hash[PL_EXT_HASH_SIZE];
    must(pl_json_parse(v->arena, text(v, "params_text"), NULL, &params, NULL) == PL_OK, "params");
    must(pl_ext_params_hash(text(v, "method"), &params, params.root, hash) == PL_OK,
         "out of memory");
    point(v, pl_str_eq(text(v, "sha256"), pl_str_of(hash)));
}

static void check_glob(struct vector *v)
{
    struct pl_str glob = text(v, "pattern");
    bool is_refused = pl_ext_glob_refusal(glob) != NULL;
    if (is_true(v, "refused"))
        point(v, is_refused);
    else
        point(v, !is_refused && pl_ext_glob_match(glob, text(v, "path")) == is_true(v, "match"));
}

static void check_host(struct vector *v)
{
    struct pl_ext_host hosts[4];
    size_t n_hosts = 0;
    bool is_refused = false;
    enum pl_ext_reason reason;
    const struct pl_json_node *list = get(v, "hosts");
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n)) {
        enum pl_status status = pl_ext_host_read(v->arena, text_of(v, n), &hosts[n_hosts], NULL);
        is_refused |= status != PL_OK;
        n_hosts += status == PL_OK;
    }
    must(pl_ext_hosts_judge(v->arena, hosts, n_hosts, text(v, "url"), &reason) == PL_OK,
         "out of memory");
    point(v, (!is_refused && reason == PL_EXT_REASON_COUNT) == is_true(v, "allowed"));
}

static void check_protected(struct vector *v)
{
    bool is_denied = pl_str_eq(text(v, "write"), PL_STR("denied"));
    point(v, pl_ext_path_is_protected(text(v, "path")) == is_denied);
}

static void check_redaction(struct vector *v)
{
    PL_CLEANUP_BUF struct pl_buf out;
    struct pl_json_doc made;
    pl_buf_init(&out, 0);
    must(pl_ext_redact_json(v->arena, &out, &v->doc, get(v, "in"), NULL) == PL_OK, "out of memory");
    must(pl_json_parse(v->arena, pl_buf_str(&out), NULL, &made, NULL) == PL_OK, "redacted JSON");
    bool is_same = false;
    must(pl_json_equal(&made, made.root, &v->doc, get(v, "out"), &is_same) == PL_OK,
         "out of memory");
    point(v, is_same);
}

static const struct {
    const char *file;
    void (*check)(struct vector *v);
} files[] = {
    {"pi-ext/messages.jsonl", check_message},
    {"pi-ext/origin/sample_messages.jsonl", check_sample},
    {"pi-ext/derive.jsonl", check_derived},
    {"pi-ext/policy.jsonl", check_policy},
    {"pi-ext/canonical.jsonl", check_canonical},
    {"pi-ext/globs.jsonl", check_glob},
    {"pi-ext/hosts.jsonl", check_host},
    {"pi-ext/protected.jsonl", check_protected},
    {"pi-ext/redaction.jsonl", check_redaction},
};

static void check_file(struct vector *v, const char *path, void (*check)(struct vector *v))
{
    size_t len = 0;
    char *all = corpora_read(path, &len);
    v->line = 0;
    for (char *at = all, *end; at < all + len; at = end + 1) {
        end = memchr(at, '\n', (size_t)(all + len - at));
        end = end ? end : all + len;
        v->line++;
        if (end == at)
            continue;
        must(pl_json_parse(v->arena, (struct pl_str){at, (size_t)(end - at)}, NULL, &v->doc,
                           NULL) == PL_OK,
             "a line of the vectors does not parse");
        check(v);
        pl_arena_reset(v->arena);
    }
    free(all);
}

int main(void)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct vector v = {.arena = &arena};
    pl_arena_init(&arena, 0);
    must(pl_ext_codec_create(&v.codec, NULL) == PL_OK, "no codec");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = corpora_find(files[i].file);
        if (!path) {
            pl_ext_codec_destroy(v.codec);
            return tap_skip_all("corpora/pi-ext is not there");
        }
        v.file = files[i].file;
        check_file(&v, path, files[i].check);
        free(path);
    }
    pl_ext_codec_destroy(v.codec);
    return tap_end();
}
