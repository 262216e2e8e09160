/* Finds the prompt that a word means. Names are found by search, which is fast in a large library;
 * names that search cannot find (only punctuation) by scanning the whole library. */
#include "app/prompt/prompt_int.h"

struct search {
    struct pl_deed *deed;
    struct pl_str word;
    const char *exact;   /* id of the prompt with this folder and name */
    const char *by_name; /* id of a prompt with this name */
    size_t n_exact, n_by_name;
    struct pl_buf places; /* owned; of the prompts with this name, for the message */
};

/* Whether the word is "folder/name", or the name of a prompt in the root. */
static bool is_place(struct pl_str folder, struct pl_str name, struct pl_str word)
{
    if (!folder.len)
        return pl_str_eq(name, word);
    return word.len == folder.len + 1 + name.len && pl_str_starts(word, folder) &&
           word.ptr[folder.len] == '/' &&
           pl_str_eq(pl_str_slice(word, folder.len + 1, word.len), name);
}

static void look_at(struct search *search, const struct pl_json_node *prompt)
{
    struct pl_str name = pl_deed_text(search->deed, prompt, "name");
    struct pl_str folder = pl_deed_text(search->deed, prompt, "folder");
    const char *id = pl_deed_keep(search->deed, pl_deed_text(search->deed, prompt, "id"));
    if (is_place(folder, name, search->word) &&
        (!search->exact || strcmp(search->exact, id) != 0)) {
        search->exact = id;
        search->n_exact++;
    }
    if (!pl_str_eq(name, search->word))
        return;
    search->by_name = id;
    search->n_by_name++;
    pl_buf_adds(&search->places, search->places.len ? ", \"" : "\"");
    pl_buf_add(&search->places, folder);
    pl_buf_adds(&search->places, folder.len ? "/" : "");
    pl_buf_add(&search->places, name);
    pl_buf_adds(&search->places, "\"");
}

static enum pl_exit look_by_search(struct search *search)
{
    const char *slash = strrchr(search->word.ptr, '/');
    const char *name = slash && slash[1] ? slash + 1 : search->word.ptr;
    enum pl_exit code =
        pl_deed_ask(search->deed, "GET",
                    pl_api_path(&search->deed->api, "/api/prompts?limit=100&q=%", name, NULL));
    if (code != PL_EXIT_OK)
        return code;
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(search->deed, one));)
        look_at(search, one);
    return PL_EXIT_OK;
}

static enum pl_exit look_at_all(struct search *search)
{
    static const char all[] = "/api/prompts?limit=100";
    for (const char *path = all; path && !search->exact;
         path = pl_deed_next_page(search->deed, all)) {
        enum pl_exit code = pl_deed_ask(search->deed, "GET", path);
        if (code != PL_EXIT_OK)
            return code;
        for (const struct pl_json_node *one = NULL; (one = pl_deed_item(search->deed, one));)
            look_at(search, one);
    }
    return PL_EXIT_OK;
}

/* Sets *ret_id, NULL if no prompt has this name. Prints an error if the word is ambiguous. */
static enum pl_exit decide(struct search *search, const char **ret_id)
{
    struct pl_deed *deed = search->deed;
    struct pl_error err = {0};
    const char *id = search->n_exact == 1                         ? search->exact
                     : search->n_by_name == 1 && !search->n_exact ? search->by_name
                                                                  : NULL;
    if (deed->api.texts.is_cut || search->places.status != PL_OK)
        return pl_deed_stop(deed, PL_NOMEM);
    if (search->n_exact > 1)
        (void)pl_fail(&err, PL_INVALID,
                      "%zu prompts are called \"%.*s\"; give the id of one, which \"parley prompt "
                      "list\" shows",
                      search->n_exact, PL_STR_ARG(search->word));
    else if (!id && search->n_by_name)
        (void)pl_fail(&err, PL_INVALID,
                      "several prompts have this name: %.*s; give folder/name, or the id",
                      PL_STR_ARG(pl_buf_str(&search->places)));
    if (err.status != PL_OK)
        return pl_deed_fail(deed, PL_INVALID, &err);
    *ret_id = id;
    return PL_EXIT_OK;
}

enum pl_exit pl_named_prompt_look(struct pl_deed *deed, const char *word, const char **ret_id)
{
    struct search search = {.deed = deed, .word = pl_str_of(word)};
    if (pl_str_starts(search.word, PL_STR("prompt_"))) {
        *ret_id = word;
        return PL_EXIT_OK;
    }
    if (!search.word.len)
        return pl_deed_usage(deed, "no prompt; give its id, its name or \"folder/name\"");
    pl_buf_init(&search.places, 0);
    enum pl_exit code = look_by_search(&search);
    if (code == PL_EXIT_OK && !search.exact && !search.n_by_name)
        code = look_at_all(&search);
    if (code == PL_EXIT_OK)
        code = decide(&search, ret_id);
    pl_buf_deinit(&search.places);
    return code;
}

enum pl_exit pl_named_prompt_find(struct pl_deed *deed, const char *word, const char **ret_id)
{
    struct pl_error err = {0};
    const char *id;
    enum pl_exit code = pl_named_prompt_look(deed, word, &id);
    if (code != PL_EXIT_OK)
        return code;
    if (!id) {
        (void)pl_fail(&err, PL_INVALID,
                      "there is no prompt \"%s\"; \"parley prompt list\" lists the prompts", word);
        return pl_deed_fail(deed, PL_INVALID, &err);
    }
    *ret_id = id;
    return PL_EXIT_OK;
}

enum pl_exit pl_named_prompt_refuse_second(struct pl_deed *deed, const char *folder,
                                           const char *name)
{
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf place;
    pl_buf_init(&place, 0);
    pl_buf_addf(&place, "%s%s%s", folder ? folder : "", folder && *folder ? "/" : "", name);
    const char *word = place.status == PL_OK ? pl_deed_keep(deed, pl_buf_str(&place)) : NULL;
    if (!word)
        return pl_deed_stop(deed, PL_NOMEM);
    struct search search = {.deed = deed, .word = pl_str_of(word)};
    pl_buf_init(&search.places, 0);
    enum pl_exit code = look_by_search(&search);
    if (code == PL_EXIT_OK && search.n_exact) {
        (void)pl_fail(
            &err, PL_INVALID,
            "there is a prompt \"%s\" already; \"parley prompt edit\" writes a new version "
            "of it",
            word);
        code = pl_deed_fail(deed, PL_INVALID, &err);
    }
    pl_buf_deinit(&search.places);
    return code;
}

enum pl_exit pl_named_version_number(struct pl_deed *deed, const char *id, const char *version,
                                     int64_t *ret_number)
{
    uint64_t number;
    if (pl_option_read_count(version, INT64_MAX, &number)) {
        *ret_number = (int64_t)number;
        return PL_EXIT_OK;
    }
    enum pl_exit code = pl_deed_ask(
        deed, "GET", pl_api_path(&deed->api, "/api/prompts/%/versions/%", id, version, NULL));
    if (code == PL_EXIT_OK)
        *ret_number = pl_api_int(&deed->answer, deed->answer.root, "version", 0);
    return code;
}

void pl_deed_out_version(struct pl_deed *deed, const char *version)
{
    uint64_t number;
    if (!version)
        return;
    pl_json_out_key(&deed->out, "version");
    if (pl_option_read_count(version, INT64_MAX, &number))
        pl_json_out_int(&deed->out, (int64_t)number);
    else
        pl_json_out_text(&deed->out, pl_str_of(version));
}
