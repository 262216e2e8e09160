/* Checks the members of a media block. */
#include "session/turn/media.h"

#include "base/str.h"
#include "json/number.h"
#include "json/text.h"

static const char *const kinds[] = {"image", "audio", "video", "file", NULL};
static const char *const details[] = {"low", "high", "auto", NULL};

/* The members and their value rules. */
enum rule { RULE_TEXT, RULE_KIND, RULE_DETAIL, RULE_TURN, RULE_COUNT, RULE_OBJECT };
static const struct {
    const char *key;
    enum rule rule;
    const char *wrong;
} members[] = {
    {"kind", RULE_KIND, "must have a kind: image, audio, video or file"},
    {"blob", RULE_TEXT, "must name its blob by a string"},
    {"url", RULE_TEXT, "must have a URL that is a string"},
    {"mime", RULE_TEXT, "must have a mime that is a string"},
    {"name", RULE_TEXT, "must have a name that is a string"},
    {"alt", RULE_TEXT, "must have an alt that is a string"},
    {"size", RULE_COUNT, "must have a size that is a number of bytes"},
    {"sample_rate", RULE_COUNT, "must have a sample_rate that is a number of hertz"},
    {"detail", RULE_DETAIL, "must have a detail that is low, high or auto"},
    {"rotation", RULE_TURN, "must have a rotation that is 0, 90, 180 or 270"},
    {"video_metadata", RULE_OBJECT, "must have a video_metadata that is an object"},
};
enum { N_MEMBERS = sizeof members / sizeof *members };

static bool is_word(const struct pl_json_doc *doc, const struct pl_json_node *n,
                    const char *const *words)
{
    for (; pl_json_kind(n) == PL_JSON_STRING && *words; words++)
        if (pl_json_text_is(doc, n, pl_str_of(*words)))
            return true;
    return false;
}

static bool suits(const struct pl_json_doc *doc, const struct pl_json_node *n, enum rule rule)
{
    int64_t number = -1;
    bool is_number =
        pl_json_kind(n) == PL_JSON_NUMBER && pl_json_number_int64(pl_json_span(doc, n), &number);
    switch (rule) {
    case RULE_TEXT:
        return pl_json_kind(n) == PL_JSON_STRING;
    case RULE_KIND:
        return is_word(doc, n, kinds);
    case RULE_DETAIL:
        return is_word(doc, n, details);
    case RULE_TURN:
        return is_number && (number == 0 || number == 90 || number == 180 || number == 270);
    case RULE_COUNT:
        return is_number && number >= 0;
    case RULE_OBJECT:
        return pl_json_kind(n) == PL_JSON_OBJECT;
    }
    return false;
}

static const char *wrong_member(const struct pl_json_doc *doc, const struct pl_json_node *key)
{
    for (size_t i = 0; i < N_MEMBERS; i++)
        if (pl_json_text_is(doc, key, pl_str_of(members[i].key)))
            return suits(doc, key + 1, members[i].rule) ? NULL : members[i].wrong;
    return "has a member that media do not have; they have kind, blob or url, mime, name, size, "
           "detail, rotation, video_metadata, sample_rate and alt";
}

const char *pl_media_wrong(const struct pl_json_doc *doc, const struct pl_json_node *content)
{
    if (!content || pl_json_kind(content) != PL_JSON_OBJECT)
        return "must have a content that is an object with kind and blob or url";
    for (const struct pl_json_node *key = pl_json_first_member(content); key < pl_json_end(content);
         key = pl_json_next_member(key)) {
        const char *wrong = wrong_member(doc, key);
        if (wrong)
            return wrong;
    }
    bool has_blob = pl_json_get(doc, content, PL_STR("blob"));
    bool has_url = pl_json_get(doc, content, PL_STR("url"));
    if (!pl_json_get(doc, content, PL_STR("kind")))
        return members[0].wrong;
    return has_blob != has_url ? NULL : "must have either a blob or a URL";
}

static bool has_type(const struct pl_json_doc *doc, const struct pl_json_node *block,
                     const char *word)
{
    const struct pl_json_node *type = pl_json_member(doc, block, "type", PL_JSON_STRING);
    return type && pl_json_text_is(doc, type, pl_str_of(word));
}

static bool has_media(const struct pl_json_doc *doc, const struct pl_json_node *result)
{
    for (const struct pl_json_node *n = pl_json_first(result); n < pl_json_end(result);
         n = pl_json_next(n))
        if (has_type(doc, n, "media"))
            return true;
    return false;
}

const char *pl_shown_wrong(const struct pl_json_doc *doc, const struct pl_json_node *result,
                           size_t *ret_i)
{
    if (!pl_json_is(result, PL_JSON_ARRAY) || !has_media(doc, result))
        return NULL;
    *ret_i = 0;
    for (const struct pl_json_node *n = pl_json_first(result); n < pl_json_end(result);
         n = pl_json_next(n), ++*ret_i) {
        if (has_type(doc, n, "media")) {
            const char *wrong = pl_media_wrong(doc, pl_json_get(doc, n, PL_STR("content")));
            if (wrong)
                return wrong;
        } else if (!has_type(doc, n, "text") ||
                   !pl_json_member(doc, n, "content", PL_JSON_STRING)) {
            return "must be a text or media: a result with media has nothing else";
        }
    }
    return NULL;
}
