/* Plans an import. The library's prompts are indexed by id and by folder and name. Each prompt
 * of the files is looked up there, its versions are compared by hash, and the plan gets the
 * additions. The index then has the planned state, so that the next file sees it. */
#include "service/prompts/prompt_import.h"

#include "base/text/utf8.h"
#include "json/number.h"
#include "json/text.h"
#include "service/prompts/prompt_json.h"

enum { MAX_NAME = 200, MAX_FOLDER = 400, MAX_NOTE = 4000 };

/* A prompt of the library, in its current or planned state. */
struct entry {
    struct pl_prompt_row row;
    struct pl_str hash; /* of its latest version; empty until needed */
};

const char *pl_import_outcome_text(enum pl_import_outcome outcome)
{
    static const char *const texts[] = {
#define X(name, text) text,
        PL_IMPORT_OUTCOME_TABLE(X)
#undef X
    };
    return texts[outcome];
}

void pl_prompt_import_deinit(struct pl_prompt_import *import)
{
    pl_vec_deinit(&import->plans);
    pl_vec_deinit(&import->problems);
    pl_map_deinit(&import->by_id);
    pl_map_deinit(&import->by_place);
}

/* --- what is there --------------------------------------------------------------------------- */

/* Folder and name as one key: folders have no line breaks. */
static struct pl_str place_of(struct pl_arena *arena, const struct pl_prompt_row *row)
{
    char *key = pl_arena_alloc(arena, row->folder.len + 1 + row->name.len, 1);
    if (!key)
        return (struct pl_str){0};
    pl_bytes_copy(key, row->folder.ptr, row->folder.len);
    key[row->folder.len] = '\n';
    pl_bytes_copy(key + row->folder.len + 1, row->name.ptr, row->name.len);
    return (struct pl_str){key, row->folder.len + 1 + row->name.len};
}

/* The first prompt of a place stays: the list begins with pinned and new prompts. */
static enum pl_status remember(struct pl_prompt_import *import, struct entry *entry)
{
    bool is_new;
    struct pl_str place = place_of(import->arena, &entry->row);
    struct pl_map_entry *by_id = pl_map_put(&import->by_id, entry->row.id, &is_new);
    if (by_id)
        by_id->value = (uintptr_t)entry;
    struct pl_map_entry *by_place =
        place.ptr ? pl_map_put(&import->by_place, place, &is_new) : NULL;
    if (by_place && is_new)
        by_place->value = (uintptr_t)entry;
    return by_id && by_place ? PL_OK : PL_NOMEM;
}

static enum pl_status load_library(struct pl_prompt_import *import, struct pl_error *err)
{
    struct pl_prompt_query query = {.user_id = import->user_id, .limit = PL_PROMPT_ALL};
    struct pl_prompt_page page;
    enum pl_status status = pl_store_prompt_list(import->store, import->arena, &query, &page, err);
    if (status != PL_OK)
        return status;
    struct entry *entries = pl_arena_zalloc(import->arena, page.n_items + 1, sizeof *entries);
    if (!entries)
        return PL_NOMEM;
    for (size_t i = 0; i < page.n_items && status == PL_OK; i++) {
        entries[i].row = page.items[i];
        status = remember(import, &entries[i]);
    }
    return status;
}

static struct entry *find(const struct pl_map *map, struct pl_str key)
{
    struct pl_map_entry *found = key.len ? pl_map_get(map, key) : NULL;
    return found ? (struct entry *)(uintptr_t)found->value : NULL;
}

static enum pl_status latest_hash(struct pl_prompt_import *import, struct entry *entry,
                                  struct pl_error *err)
{
    struct pl_prompt_version_row latest;
    if (entry->hash.len)
        return PL_OK;
    enum pl_status status =
        pl_store_prompt_version_get(import->store, import->arena, import->user_id, entry->row.id,
                                    entry->row.latest_version, &latest, err);
    if (status == PL_OK)
        entry->hash = latest.hash;
    return status;
}

/* --- what comes ------------------------------------------------------------------------------ */

static enum pl_status join_folders(struct pl_prompt_import *import, struct pl_str folder,
                                   struct pl_str *ret_folder, struct pl_error *err)
{
    struct pl_str own;
    if (!pl_prompt_folder(folder, &own))
        return pl_fail(err, PL_INVALID, "its folder is invalid: \"%.*s\"", PL_STR_ARG(folder));
    size_t n = import->folder.len + 1 + own.len;
    char *joined = pl_arena_alloc(import->arena, n, 1);
    if (!joined)
        return PL_NOMEM;
    pl_bytes_copy(joined, import->folder.ptr, import->folder.len);
    joined[import->folder.len] = '/';
    pl_bytes_copy(joined + import->folder.len + 1, own.ptr, own.len);
    struct pl_str whole = {joined, n};
    if (!import->folder.len || !own.len)
        whole = import->folder.len ? import->folder : own;
    if (pl_utf8_count(whole) > MAX_FOLDER)
        return pl_fail(err, PL_INVALID, "its folder has over %d characters", MAX_FOLDER);
    *ret_folder = whole;
    return PL_OK;
}

/* A file may contain it as an escape, but no database accepts it. */
static enum pl_status refuse_nul(struct pl_str text, const char *what, struct pl_error *err)
{
    if (!text.len || !memchr(text.ptr, 0, text.len))
        return PL_OK;
    return pl_fail(err, PL_INVALID, "its %s contains a NUL character", what);
}

/* The name, folder and tags of a filed prompt in this library. */
static enum pl_status read_row(struct pl_prompt_import *import, const struct pl_filed_prompt *filed,
                               struct pl_prompt_row *ret_row, struct pl_error *err)
{
    struct pl_prompt_row row = {
        .id = filed->id,
        .user_id = import->user_id,
        .name = filed->name,
        .description = filed->description.ptr ? filed->description : PL_STR(""),
        .is_pinned = filed->is_pinned,
        .created_ms = filed->created_ms ? filed->created_ms : import->seed.unix_ms,
        .updated_ms = import->seed.unix_ms,
    };
    size_t n_chars = pl_utf8_count(row.name);
    if (!n_chars || n_chars > MAX_NAME)
        return pl_fail(err, PL_INVALID, "its name has %zu characters; 1 to %d are allowed", n_chars,
                       MAX_NAME);
    if (pl_utf8_count(row.description) > MAX_NOTE)
        return pl_fail(err, PL_INVALID, "its description has over %d characters", MAX_NOTE);
    enum pl_status status = refuse_nul(row.name, "name", err);
    if (status == PL_OK)
        status = refuse_nul(row.description, "description", err);
    if (status == PL_OK)
        status = join_folders(import, filed->folder, &row.folder, err);
    if (status == PL_OK)
        status = pl_prompt_tags(import->arena, filed->tags, &row.tags, err);
    if (status == PL_OK)
        *ret_row = row;
    return status;
}

/* The position of the version with this number in the file; 0: no such version. Backups count
 * from 1, and so do files without numbers. */
static int64_t place_of_version(const struct pl_filed_prompt *filed, int64_t number)
{
    if (number < 1)
        return 0;
    if ((uint64_t)number <= filed->n_versions) {
        int64_t there = filed->versions[number - 1].version;
        if (!there || there == number)
            return number;
    }
    for (size_t i = 0; i < filed->n_versions; i++)
        if (filed->versions[i].version == number)
            return (int64_t)i + 1;
    return 0;
}

/* Reads the versions, counted from 1, and their references. */
static enum pl_status read_versions(struct pl_prompt_import *import,
                                    const struct pl_filed_prompt *filed,
                                    struct pl_prompt_version_row **ret_versions,
                                    struct pl_error *err)
{
    enum pl_status status = PL_OK;
    struct pl_prompt_version_row *versions =
        pl_arena_zalloc(import->arena, filed->n_versions, sizeof *versions);
    if (!versions)
        return PL_NOMEM;
    for (size_t i = 0; i < filed->n_versions && status == PL_OK; i++) {
        const struct pl_filed_version *from = &filed->versions[i];
        struct pl_prompt_text text = {from->is_structured, from->content};
        status = pl_prompt_check(import->arena, &text, "", err);
        if (status == PL_OK)
            status = refuse_nul(from->note, "note", err);
        versions[i] = (struct pl_prompt_version_row){
            .version = (int64_t)i + 1,
            .type = pl_prompt_type_text(from->is_structured),
            .content = from->content,
            .note = from->note.ptr ? from->note : PL_STR(""),
            .based_on = place_of_version(filed, from->based_on),
            .restored_from = place_of_version(filed, from->restored_from),
            .created_ms = from->created_ms ? from->created_ms : import->seed.unix_ms,
        };
        if (status == PL_OK)
            status = pl_prompt_hash(import->arena, &text, &versions[i].hash);
    }
    if (status == PL_OK)
        *ret_versions = versions;
    return status;
}

/* Reads the labels of the versions that are added: all except the file's first `skip`, moved by
 * `shift`. */
static enum pl_status read_labels(struct pl_prompt_import *import,
                                  const struct pl_filed_prompt *filed, int64_t skip, int64_t shift,
                                  struct pl_import_plan *plan, struct pl_error *err)
{
    struct pl_json_doc doc;
    struct pl_str text = filed->labels.len ? filed->labels : PL_STR("{}");
    enum pl_status status = pl_json_parse(import->arena, text, NULL, &doc, err);
    if (status != PL_OK)
        return status;
    plan->labels =
        pl_arena_zalloc(import->arena, pl_json_count(doc.root) + 1, sizeof *plan->labels);
    if (!plan->labels)
        return PL_NOMEM;
    for (const struct pl_json_node *key = pl_json_first_member(doc.root);
         key < pl_json_end(doc.root) && status == PL_OK; key = pl_json_next_member(key)) {
        struct pl_str label;
        int64_t number = 0;
        status = pl_json_text(import->arena, &doc, key, &label);
        if (status != PL_OK || !pl_json_number_int64(pl_json_span(&doc, key + 1), &number))
            continue;
        int64_t place = place_of_version(filed, number);
        if (place > skip && pl_prompt_label_is(label))
            plan->labels[plan->n_labels++] = (struct pl_label_row){label, place + shift};
    }
    return status;
}

/* --- plans ----------------------------------------------------------------------------------- */

static enum pl_status new_id(struct pl_prompt_import *import, struct pl_prompt_row *row)
{
    struct pl_id id = pl_id_take(&import->seed, "prompt_");
    row->id = pl_arena_dup(import->arena, pl_str_of(id.text));
    return row->id.ptr ? PL_OK : PL_NOMEM;
}

static enum pl_status plan_index(struct pl_prompt_import *import, struct pl_import_plan *plan)
{
    const struct pl_prompt_version_row *latest = &plan->versions[plan->n_versions - 1];
    struct pl_prompt_text text = pl_prompt_text_of(latest);
    plan->row.type = latest->type;
    for (size_t i = 0; i < plan->n_versions; i++)
        plan->versions[i].prompt_id = plan->row.id;
    return pl_prompt_index(import->arena, &text, &plan->row);
}

static enum pl_status plan_create(struct pl_prompt_import *import,
                                  const struct pl_filed_prompt *filed, struct pl_import_plan *plan,
                                  struct pl_error *err)
{
    bool needs_id = !pl_id_is(plan->row.id, "prompt_") || find(&import->by_id, plan->row.id);
    enum pl_status status = PL_OK;
    plan->outcome = PL_IMPORT_CREATED;
    plan->n_versions = filed->n_versions;
    plan->row.latest_version = (int64_t)plan->n_versions;
    plan->row.revision = 1;
    /* The id of a backup may belong to another user here. */
    if (!needs_id)
        status =
            pl_store_prompt_is_others(import->store, import->user_id, plan->row.id, &needs_id, err);
    if (status == PL_OK && needs_id)
        status = new_id(import, &plan->row);
    if (status == PL_OK)
        status = read_labels(import, filed, 0, 0, plan, err);
    return status == PL_OK ? plan_index(import, plan) : status;
}

/* The number of the file's versions that the library already has: all up to its latest if that
 * one is equal, otherwise all but the last. */
static size_t count_known(const struct entry *there, const struct pl_import_plan *plan, size_t n)
{
    size_t latest = (size_t)there->row.latest_version;
    bool is_longer = n > latest && pl_str_eq(plan->versions[latest - 1].hash, there->hash);
    return is_longer ? latest : n - 1;
}

static enum pl_status plan_version(struct pl_prompt_import *import, struct entry *there,
                                   const struct pl_filed_prompt *filed, struct pl_import_plan *plan,
                                   struct pl_error *err)
{
    size_t n = filed->n_versions;
    enum pl_status status = latest_hash(import, there, err);
    plan->row = there->row;
    if (status != PL_OK)
        return status;
    if (pl_str_eq(plan->versions[n - 1].hash, there->hash)) {
        plan->outcome = PL_IMPORT_SAME;
        return PL_OK;
    }
    size_t n_known = count_known(there, plan, n);
    int64_t shift = there->row.latest_version - (int64_t)n_known;
    plan->outcome = PL_IMPORT_VERSION;
    plan->versions += n_known;
    plan->n_versions = n - n_known;
    for (size_t i = 0; i < plan->n_versions; i++) {
        plan->versions[i].version += shift;
        if (shift || !plan->versions[i].based_on)
            plan->versions[i].based_on = plan->versions[i].version - 1;
        if (shift)
            plan->versions[i].restored_from = 0;
    }
    plan->row.latest_version += (int64_t)plan->n_versions;
    plan->row.updated_ms = import->seed.unix_ms;
    status = read_labels(import, filed, (int64_t)n_known, shift, plan, err);
    return status == PL_OK ? plan_index(import, plan) : status;
}

/* Updates the state for the next file. */
static enum pl_status remember_plan(struct pl_prompt_import *import, struct entry *there,
                                    const struct pl_import_plan *plan)
{
    struct pl_str hash = plan->versions[plan->n_versions - 1].hash;
    if (there) {
        there->row = plan->row;
        there->row.revision++;
        there->hash = hash;
        return PL_OK;
    }
    struct entry *entry = pl_arena_zalloc(import->arena, 1, sizeof *entry);
    if (!entry)
        return PL_NOMEM;
    *entry = (struct entry){plan->row, hash};
    return remember(import, entry);
}

static enum pl_status plan_one(struct pl_prompt_import *import, const struct pl_filed_prompt *filed,
                               struct pl_error *err)
{
    struct pl_import_plan plan = {.path = filed->path};
    enum pl_status status = read_row(import, filed, &plan.row, err);
    if (status == PL_OK)
        status = read_versions(import, filed, &plan.versions, err);
    if (status != PL_OK)
        return status;
    struct pl_str place = place_of(import->arena, &plan.row);
    if (!place.ptr)
        return PL_NOMEM;
    /* Two prompts of a backup may have the same name: only their ids distinguish them. */
    bool has_id = pl_id_is(plan.row.id, "prompt_");
    struct entry *there =
        has_id ? find(&import->by_id, plan.row.id) : find(&import->by_place, place);
    if (!there || import->when_there == PL_THERE_COPY) {
        there = NULL;
        status = plan_create(import, filed, &plan, err);
    } else if (import->when_there == PL_THERE_SKIP) {
        plan.row = there->row;
        plan.outcome = PL_IMPORT_SKIPPED;
    } else {
        status = plan_version(import, there, filed, &plan, err);
    }
    if (status == PL_OK && pl_import_plan_writes(&plan))
        status = remember_plan(import, there, &plan);
    if (status == PL_OK && !pl_vec_push(&import->plans, plan))
        status = PL_NOMEM;
    return status;
}

/* Reports a prompt that cannot be imported; the others continue. */
static enum pl_status tell_problem(struct pl_prompt_import *import, struct pl_str path,
                                   const struct pl_error *err)
{
    struct pl_filed_problem problem = {path, pl_arena_dup(import->arena, pl_str_of(err->message))};
    return problem.detail.ptr && pl_vec_push(&import->problems, problem) ? PL_OK : PL_NOMEM;
}

enum pl_status pl_prompt_import_plan(struct pl_prompt_import *import, const struct pl_filed *filed,
                                     struct pl_error *err)
{
    enum pl_status status = load_library(import, err);
    for (size_t i = 0; i < filed->problems.len && status == PL_OK; i++)
        if (!pl_vec_push(&import->problems, filed->problems.ptr[i]))
            status = PL_NOMEM;
    for (size_t i = 0; i < filed->prompts.len && status == PL_OK; i++) {
        status = plan_one(import, &filed->prompts.ptr[i], err);
        if (status == PL_INVALID || status == PL_LIMIT || status == PL_SYNTAX)
            status = tell_problem(import, filed->prompts.ptr[i].path, err);
    }
    return status;
}

bool pl_import_plan_writes(const struct pl_import_plan *plan)
{
    return plan->outcome == PL_IMPORT_CREATED || plan->outcome == PL_IMPORT_VERSION;
}

void pl_import_plan_put(const struct pl_import_plan *plan, struct pl_batch *batch)
{
    const struct pl_prompt_row *row = &plan->row;
    if (plan->outcome == PL_IMPORT_CREATED)
        pl_batch_create_prompt(batch, row);
    else
        pl_batch_update_prompt(batch, row);
    for (size_t i = 0; i < plan->n_versions; i++)
        pl_batch_put_prompt_version(batch, row->user_id, &plan->versions[i]);
    for (size_t i = 0; i < plan->n_labels; i++)
        pl_batch_put_prompt_label(batch, row->user_id, row->id, plan->labels[i].label,
                                  plan->labels[i].version);
}
