/* Lint of texts: secrets, and binary data in text.
 *
 * A secret is recognised by its prefix and by the number and alphabet of the characters after it.
 * The finding never repeats it. */
#include "conv/lint/lint_int.h"

#include "conv/media/sniff.h"

enum alphabet { WORD, UPPER, DASHED, DOTTED };

static const struct {
    const char *head;
    enum alphabet alphabet;
    size_t min; /* characters after the head */
    const char *what;
} secrets[] = {
    {"sk-", DASHED, 20, "an API key"},
    {"sk_live_", WORD, 16, "a payment key"},
    {"rk_live_", WORD, 16, "a payment key"},
    {"AKIA", UPPER, 16, "a cloud access key"},
    {"ASIA", UPPER, 16, "a cloud access key"},
    {"AIza", DASHED, 35, "a cloud API key"},
    {"ya29.", DASHED, 20, "an access token"},
    {"ghp_", WORD, 36, "a repository token"},
    {"gho_", WORD, 36, "a repository token"},
    {"ghu_", WORD, 36, "a repository token"},
    {"ghs_", WORD, 36, "a repository token"},
    {"ghr_", WORD, 36, "a repository token"},
    {"github_pat_", WORD, 22, "a repository token"},
    {"glpat-", DASHED, 20, "a repository token"},
    {"npm_", WORD, 36, "a package registry token"},
    {"pypi-", DASHED, 40, "a package registry token"},
    {"hf_", WORD, 30, "a model hub token"},
    {"xoxb-", DASHED, 20, "a chat token"},
    {"xoxp-", DASHED, 20, "a chat token"},
    {"xoxa-", DASHED, 20, "a chat token"},
    {"xapp-", DASHED, 20, "a chat token"},
    {"SG.", DOTTED, 40, "a mail key"},
    {"eyJhbGciOi", DOTTED, 40, "a signed token"},
    {"-----BEGIN PRIVATE KEY", DASHED, 0, "a private key"},
    {"-----BEGIN RSA PRIVATE KEY", DASHED, 0, "a private key"},
    {"-----BEGIN EC PRIVATE KEY", DASHED, 0, "a private key"},
    {"-----BEGIN OPENSSH PRIVATE KEY", DASHED, 0, "a private key"},
};

static bool is_in(enum alphabet alphabet, char c)
{
    bool is_digit = c >= '0' && c <= '9', is_upper = c >= 'A' && c <= 'Z';
    if (is_digit || is_upper)
        return true;
    if (alphabet == UPPER)
        return false;
    if ((c >= 'a' && c <= 'z') || c == '_')
        return true;
    return alphabet != WORD && (c == '-' || (alphabet == DOTTED && c == '.'));
}

/* The kind of secret that begins here, or NULL. */
static const char *secret_at(struct pl_str text)
{
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        struct pl_str head = pl_str_of(secrets[i].head);
        if (!pl_str_starts(text, head))
            continue;
        size_t n = 0;
        while (head.len + n < text.len && n < secrets[i].min &&
               is_in(secrets[i].alphabet, text.ptr[head.len + n]))
            n++;
        if (n >= secrets[i].min)
            return secrets[i].what;
    }
    return NULL;
}

static const char *find_secret(struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        /* A secret does not begin inside a word. These are the first letters of all prefixes. */
        if (!strchr("sraAygnphxSe-", text.ptr[i]) || text.ptr[i] == '\0' ||
            (i > 0 && is_in(WORD, text.ptr[i - 1])))
            continue;
        const char *what = secret_at(pl_str_slice(text, i, text.len));
        if (what)
            return what;
    }
    return NULL;
}

static bool is_base64(char c)
{
    return is_in(WORD, c) ? c != '_' : c == '+' || c == '/';
}

/* Binary data shows as control characters or as a long run of base64. */
static bool holds_binary(struct pl_str text)
{
    enum { LONG_RUN = 1024, SHORT_RUN = 64 };
    size_t run = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        /* Escape begins terminal colours, which tools do print. */
        if (c < 0x20 && (c == 0 || !strchr("\t\n\r\f\b\033", c)))
            return true;
        if (!is_base64(text.ptr[i])) {
            run = 0;
            continue;
        }
        run++;
        if (run == SHORT_RUN && pl_sniff_mime(pl_str_slice(text, i + 1 - run, text.len)))
            return true;
        if (run < LONG_RUN)
            continue;
        /* A thousand times the same letter is not an image. */
        const char *start = text.ptr + i + 1 - run;
        bool has_digit = false, has_upper = false, has_lower = false;
        for (size_t k = 0; k < run; k++) {
            has_digit |= start[k] >= '0' && start[k] <= '9';
            has_upper |= start[k] >= 'A' && start[k] <= 'Z';
            has_lower |= start[k] >= 'a' && start[k] <= 'z';
        }
        if (has_digit && has_upper && has_lower)
            return true;
        run = 0;
    }
    return false;
}

static void lint_val(struct pl_lint *lint, const struct pl_json_node *node, struct pl_val val,
                     bool is_words)
{
    if (!pl_val_is_set(val))
        return;
    struct pl_str text = pl_conv_text(lint->conv, val);
    if (val.node)
        node = val.node;
    const char *secret = find_secret(text);
    if (secret)
        pl_lint_add(lint, "text.secret", PL_SEVERITY_ERROR, node,
                    "this looks like %s; remove it, and revoke it if it is real", secret);
    if (is_words && holds_binary(text))
        pl_lint_add(lint, "text.binary", PL_SEVERITY_WARNING, node,
                    "this text contains binary data; send it as an image, audio or file part");
}

static void lint_part(struct pl_lint *lint, const struct pl_message *message,
                      const struct pl_part *part)
{
    const struct pl_json_node *node = pl_lint_node(message, part);
    bool is_words = part->kind == PL_PART_TEXT || part->kind == PL_PART_REFUSAL;
    if (is_words || part->kind == PL_PART_THINKING || part->kind == PL_PART_FILE)
        lint_val(lint, node, part->text, is_words);
    if (part->kind == PL_PART_CALL)
        lint_val(lint, node, part->args, false);
}

void pl_lint_text(struct pl_lint *lint)
{
    pl_lint_each_part(lint, lint_part);
}
