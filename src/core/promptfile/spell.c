/* The content of a version as a file, and back byte for byte.
 *
 * A text is written unchanged, plus a final line feed, as usual for files; if the content itself
 * ends in one, prompt.yaml says so. A structured chat is YAML if that gives the same bytes back,
 * otherwise its own JSON. No file contains a carriage return or another control character: git and
 * editors may change the former and refuse the latter. If all lines end in CRLF, the file has LF;
 * any other text with such characters is a JSON string. So a checkout that converts line ends to
 * CRLF changes nothing either. */
#include "promptfile/promptfile_int.h"

#include "base/text/utf8.h"
#include "promptfile/yaml.h"
#include "json/text.h"
#include "json/write.h"

const struct pl_spelling_word pl_spelling_words[] = {
    {"layout", "pretty", offsetof(struct pl_file_spelling, is_pretty)},
    {"is_quoted", NULL, offsetof(struct pl_file_spelling, is_quoted)},
    {"line_ends", "crlf", offsetof(struct pl_file_spelling, is_crlf)},
    {"has_final_newline", NULL, offsetof(struct pl_file_spelling, has_final_newline)},
};
const size_t pl_n_spelling_words = sizeof pl_spelling_words / sizeof *pl_spelling_words;

/* Whether a text can be written unchanged, except perhaps for its line ends. */
static bool is_tame(struct pl_str text, bool *ret_is_crlf)
{
    size_t n_crlf = 0, n_lf = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '\r' && (i + 1 == text.len || text.ptr[i + 1] != '\n'))
            return false;
        if ((c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f)
            return false;
        n_crlf += c == '\r';
        n_lf += c == '\n';
    }
    *ret_is_crlf = n_crlf > 0;
    return !n_crlf || n_crlf == n_lf;
}

static void add_lines(struct pl_buf *to, struct pl_str text, bool is_crlf)
{
    for (size_t i = 0; i < text.len; i++) {
        bool is_end = text.ptr[i] == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n';
        if (text.ptr[i] == '\n' && is_crlf)
            pl_buf_addc(to, '\r');
        if (!is_end)
            pl_buf_addc(to, text.ptr[i]);
    }
}

static void spell_plain(struct pl_str text, struct pl_buf *to, struct pl_file_spelling *spelling)
{
    spelling->is_quoted = !is_tame(text, &spelling->is_crlf);
    if (spelling->is_quoted) {
        spelling->is_crlf = false;
        pl_json_quote(to, text);
        pl_buf_addc(to, '\n');
        return;
    }
    spelling->has_final_newline = text.len && text.ptr[text.len - 1] == '\n';
    add_lines(to, text, false);
    if (!spelling->has_final_newline)
        pl_buf_addc(to, '\n');
}

/* The JSON of a YAML text, without white space or indented. */
static enum pl_status json_of_yaml(struct pl_arena *arena, struct pl_str yaml, bool is_pretty,
                                   struct pl_buf *to, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    struct pl_json_doc doc;
    enum pl_status status = pl_yaml_read(&json, yaml, err);
    if (status == PL_OK)
        status = pl_json_parse(arena, pl_buf_str(&json), &pl_json_any, &doc, err);
    if (status == PL_OK && is_pretty)
        pl_json_write_pretty(to, &doc, doc.root);
    else if (status == PL_OK)
        pl_buf_add(to, pl_buf_str(&json));
    return status == PL_OK ? to->status : status;
}

/* Appends YAML if it gives the same bytes back. Fails only when out of memory. */
static enum pl_status try_yaml(struct pl_arena *arena, struct pl_str content,
                               const struct pl_json_doc *doc, struct pl_buf *to,
                               struct pl_file_spelling *spelling)
{
    PL_CLEANUP_BUF struct pl_buf yaml, home;
    pl_buf_init(&yaml, 0);
    pl_buf_init(&home, 0);
    bool is_crlf;
    pl_yaml_write(&yaml, doc);
    if (yaml.status != PL_OK)
        return yaml.status == PL_NOMEM ? PL_NOMEM : PL_OK;
    for (int is_pretty = 0; is_pretty < 2 && !spelling->is_yaml; is_pretty++) {
        pl_buf_clear(&home);
        enum pl_status status = json_of_yaml(arena, pl_buf_str(&yaml), is_pretty, &home, NULL);
        if (status == PL_NOMEM)
            return status;
        if (status != PL_OK || !pl_str_eq(pl_buf_str(&home), content) ||
            !is_tame(pl_buf_str(&yaml), &is_crlf) || is_crlf)
            continue;
        spelling->is_yaml = true;
        spelling->is_pretty = is_pretty;
        pl_buf_add(to, pl_buf_str(&yaml));
    }
    return to->status;
}

enum pl_status pl_file_spell(struct pl_arena *arena, const struct pl_filed_version *version,
                             struct pl_buf *to, struct pl_file_spelling *ret_spelling,
                             struct pl_error *err)
{
    struct pl_file_spelling spelling = {0};
    enum pl_status status = PL_OK;
    if (!pl_utf8_is_valid(version->content))
        return pl_fail(err, PL_INVALID, "the content is not UTF-8");
    if (version->is_structured) {
        struct pl_json_doc doc;
        status = pl_json_parse(arena, version->content, &pl_json_any, &doc, err);
        if (status == PL_OK && pl_json_kind(doc.root) == PL_JSON_OBJECT)
            status = try_yaml(arena, version->content, &doc, to, &spelling);
    }
    if (status == PL_OK && !spelling.is_yaml)
        spell_plain(version->content, to, &spelling);
    if (status == PL_OK)
        status = to->status;
    if (status == PL_OK)
        *ret_spelling = spelling;
    return status;
}

static enum pl_status unquote(struct pl_arena *arena, struct pl_str text, struct pl_buf *to,
                              struct pl_error *err)
{
    struct pl_json_doc doc;
    struct pl_str said;
    enum pl_status status = pl_json_parse(arena, text, NULL, &doc, err);
    if (status == PL_OK && pl_json_kind(doc.root) != PL_JSON_STRING)
        status = pl_fail(err, PL_INVALID,
                         "prompt.yaml has is_quoted, so the file must be one JSON string");
    if (status == PL_OK)
        status = pl_json_text(arena, &doc, doc.root, &said);
    if (status == PL_OK)
        pl_buf_add(to, said);
    return status == PL_OK ? to->status : status;
}

static enum pl_status unspell_plain(struct pl_str text, const struct pl_file_spelling *spelling,
                                    struct pl_buf *to)
{
    PL_CLEANUP_BUF struct pl_buf lines;
    pl_buf_init(&lines, 0);
    add_lines(&lines, text, false);
    struct pl_str all = pl_buf_str(&lines);
    if (!spelling->has_final_newline && all.len && all.ptr[all.len - 1] == '\n')
        all.len--;
    add_lines(to, all, spelling->is_crlf);
    return lines.status != PL_OK ? lines.status : to->status;
}

enum pl_status pl_file_unspell(struct pl_arena *arena, struct pl_str text, bool is_structured,
                               const struct pl_file_spelling *spelling, struct pl_str *ret_content,
                               struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf content;
    pl_buf_init(&content, 0);
    struct pl_json_doc doc;
    enum pl_status status = spelling->is_quoted ? unquote(arena, text, &content, err)
                            : spelling->is_yaml
                                ? json_of_yaml(arena, text, spelling->is_pretty, &content, err)
                                : unspell_plain(text, spelling, &content);
    if (status == PL_OK && is_structured)
        status = pl_json_parse(arena, pl_buf_str(&content), &pl_json_any, &doc, err);
    if (status == PL_OK && is_structured && pl_json_kind(doc.root) != PL_JSON_OBJECT)
        status = pl_fail(err, PL_INVALID, "a structured prompt must be an object");
    return status == PL_OK ? pl_filed_keep(arena, &content, ret_content) : status;
}
