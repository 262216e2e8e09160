/* Writes and reads the plan of a cell as JSON. One table has the members and their readers. */
#include "ext/cell/plan.h"

#include "json/number.h"
#include "json/text.h"
#include "json/write.h"

#include <stdio.h>

/* --- writing --------------------------------------------------------------------------------- */

static void write_words(struct pl_json_out *out, const char *key, char *const *words)
{
    pl_json_out_key(out, key);
    pl_json_out_open(out, '[');
    for (size_t i = 0; words && words[i]; i++)
        pl_json_out_text(out, pl_str_of(words[i]));
    pl_json_out_close(out, ']');
}

static void write_text(struct pl_json_out *out, const char *key, const char *text)
{
    if (!text)
        return;
    pl_json_out_key(out, key);
    pl_json_out_text(out, pl_str_of(text));
}

static void write_int(struct pl_json_out *out, const char *key, uint64_t value)
{
    pl_json_out_key(out, key);
    pl_json_out_int(out, (int64_t)value);
}

static void write_flag(struct pl_json_out *out, const char *key, bool value)
{
    pl_json_out_key(out, key);
    pl_json_out_bool(out, value);
}

static void write_mounts(struct pl_json_out *out, const struct pl_cell_plan *plan)
{
    pl_json_out_key(out, "mounts");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < plan->n_mounts; i++) {
        pl_json_out_open(out, '{');
        write_text(out, "from", plan->mounts[i].from);
        write_text(out, "to", plan->mounts[i].to);
        write_flag(out, "writable", plan->mounts[i].is_writable);
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, ']');
}

static void write_hosts(struct pl_json_out *out, const struct pl_cell_plan *plan)
{
    pl_json_out_key(out, "hosts");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < plan->n_hosts; i++) {
        pl_json_out_open(out, '{');
        write_text(out, "name", plan->hosts[i].name);
        write_int(out, "port", plan->hosts[i].port);
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, ']');
}

enum pl_status pl_cell_plan_write(const struct pl_cell_plan *plan, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    write_words(&out, "argv", plan->argv);
    write_words(&out, "env", plan->env);
    write_mounts(&out, plan);
    write_text(&out, "cwd", plan->cwd);
    write_hosts(&out, plan);
    write_int(&out, "processes", plan->limits.n_processes);
    write_int(&out, "memory", plan->limits.n_memory);
    write_int(&out, "file", plan->limits.n_file);
    write_int(&out, "fds", plan->limits.n_fds);
    write_int(&out, "uid", plan->uid);
    write_text(&out, "least", pl_cell_level_name(plan->least));
    write_int(&out, "missing", plan->missing);
    write_flag(&out, "probe", plan->is_probe);
    write_flag(&out, "guarded", plan->has_guarded);
    write_text(&out, "cgroup", plan->cgroup);
    pl_json_out_close(&out, '}');
    return to->status;
}

/* --- reading --------------------------------------------------------------------------------- */

struct reader {
    struct pl_arena *arena; /* borrowed */
    struct pl_json_doc doc;
    struct pl_cell_plan *plan; /* borrowed */
    struct pl_error *err;      /* borrowed; may be NULL */
};

static enum pl_status refuse(struct reader *r, const char *where, const char *what)
{
    enum pl_status status = pl_fail(r->err, PL_USAGE, "the plan of the cell: %s %s", where, what);
    pl_error_point(r->err, "/%s", where);
    return status;
}

static enum pl_status read_text(struct reader *r, const struct pl_json_node *n, const char *where,
                                const char **ret_text)
{
    struct pl_str text;
    if (!pl_json_is(n, PL_JSON_STRING))
        return refuse(r, where, "must be a string");
    enum pl_status status = pl_json_text(r->arena, &r->doc, n, &text);
    if (status != PL_OK)
        return pl_fail(r->err, status, "out of memory");
    if (memchr(text.ptr, 0, text.len))
        return refuse(r, where, "must not contain U+0000");
    char *copy = pl_arena_alloc(r->arena, text.len + 1, 1);
    if (!copy)
        return pl_fail(r->err, PL_NOMEM, "out of memory");
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    *ret_text = copy;
    return PL_OK;
}

static enum pl_status read_int(struct reader *r, const struct pl_json_node *n, const char *where,
                               uint64_t max, uint64_t *ret_value)
{
    int64_t value;
    if (!pl_json_is(n, PL_JSON_NUMBER) || !pl_json_number_int64(pl_json_span(&r->doc, n), &value) ||
        value < 0 || (uint64_t)value > max)
        return refuse(r, where, "must be a whole number in its range");
    *ret_value = (uint64_t)value;
    return PL_OK;
}

static enum pl_status read_flag(struct reader *r, const struct pl_json_node *n, const char *where,
                                bool *ret_flag)
{
    if (!pl_json_is(n, PL_JSON_TRUE) && !pl_json_is(n, PL_JSON_FALSE))
        return refuse(r, where, "must be true or false");
    *ret_flag = pl_json_is(n, PL_JSON_TRUE);
    return PL_OK;
}

static enum pl_status check_list(struct reader *r, const struct pl_json_node *n, const char *where,
                                 size_t max)
{
    if (!pl_json_is(n, PL_JSON_ARRAY))
        return refuse(r, where, "must be an array");
    return pl_json_count(n) > max ? refuse(r, where, "has too many elements") : PL_OK;
}

static enum pl_status read_words(struct reader *r, const struct pl_json_node *list,
                                 const char *where, char ***ret_words)
{
    enum pl_status status = check_list(r, list, where, PL_CELL_MAX_WORDS);
    if (status != PL_OK)
        return status;
    const char **words = pl_arena_alloc(r->arena, pl_json_count(list) + 1, sizeof *words);
    if (!words)
        return pl_fail(r->err, PL_NOMEM, "out of memory");
    size_t n_words = 0;
    for (const struct pl_json_node *n = pl_json_first(list);
         n < pl_json_end(list) && status == PL_OK; n = pl_json_next(n))
        status = read_text(r, n, where, &words[n_words++]);
    words[n_words] = NULL;
    *ret_words = (char **)words;
    return status;
}

bool pl_cell_path_is_clean(const char *path)
{
    if (path[0] != '/' || strlen(path) >= 4096)
        return false;
    if (!path[1])
        return true;
    for (const char *at = path; *at;) {
        const char *segment = at + 1;
        at = segment + strcspn(segment, "/");
        struct pl_str name = {segment, (size_t)(at - segment)};
        if (!name.len || pl_str_eq(name, PL_STR(".")) || pl_str_eq(name, PL_STR("..")))
            return false;
    }
    return true;
}

static enum pl_status read_path(struct reader *r, const struct pl_json_node *n, const char *where,
                                const char **ret_path)
{
    enum pl_status status = read_text(r, n, where, ret_path);
    if (status == PL_OK && !pl_cell_path_is_clean(*ret_path))
        return refuse(r, where, "must be an absolute path without \".\" and \"..\"");
    return status;
}

static enum pl_status read_mount(struct reader *r, const struct pl_json_node *object,
                                 struct pl_cell_plan_mount *mount)
{
    if (!pl_json_is(object, PL_JSON_OBJECT) || pl_json_count(object) != 3)
        return refuse(r, "mounts", "must have objects of from, to and writable");
    enum pl_status status =
        read_text(r, pl_json_get(&r->doc, object, PL_STR("from")), "mounts/from", &mount->from);
    if (status == PL_OK)
        status = read_path(r, pl_json_get(&r->doc, object, PL_STR("to")), "mounts/to", &mount->to);
    if (status == PL_OK && !mount->to[1])
        return refuse(r, "mounts/to", "must not be the root");
    if (status == PL_OK)
        status = read_flag(r, pl_json_get(&r->doc, object, PL_STR("writable")), "mounts/writable",
                           &mount->is_writable);
    return status;
}

static enum pl_status read_mounts(struct reader *r, const struct pl_json_node *list)
{
    struct pl_cell_plan *plan = r->plan;
    enum pl_status status = check_list(r, list, "mounts", 2 * PL_CELL_MAX_MOUNTS);
    if (status != PL_OK)
        return status;
    plan->mounts = pl_arena_zalloc(r->arena, pl_json_count(list) + 1, sizeof *plan->mounts);
    if (!plan->mounts)
        return pl_fail(r->err, PL_NOMEM, "out of memory");
    for (const struct pl_json_node *n = pl_json_first(list);
         n < pl_json_end(list) && status == PL_OK; n = pl_json_next(n)) {
        plan->mounts[plan->n_mounts].fd = PL_CELL_FD_MOUNTS + (int)plan->n_mounts;
        status = read_mount(r, n, &plan->mounts[plan->n_mounts++]);
    }
    return status;
}

/* A name goes into /etc/hosts, so only the characters of a name are allowed. */
static bool is_host_name(const char *name)
{
    if (pl_str_begins(pl_str_of(name), "*."))
        name += 2;
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._");
    return n && n < 254 && !name[n] && name[0] != '.' && name[0] != '-';
}

static enum pl_status read_host(struct reader *r, const struct pl_json_node *object,
                                struct pl_cell_host *host)
{
    uint64_t port = 0;
    if (!pl_json_is(object, PL_JSON_OBJECT) || pl_json_count(object) != 2)
        return refuse(r, "hosts", "must have objects of name and port");
    enum pl_status status =
        read_text(r, pl_json_get(&r->doc, object, PL_STR("name")), "hosts/name", &host->name);
    if (status == PL_OK && !is_host_name(host->name))
        return refuse(r, "hosts/name", "must be a host name, or *. and one");
    if (status == PL_OK)
        status = read_int(r, pl_json_get(&r->doc, object, PL_STR("port")), "hosts/port", UINT16_MAX,
                          &port);
    host->port = (uint16_t)port;
    return status;
}

static enum pl_status read_hosts(struct reader *r, const struct pl_json_node *list)
{
    struct pl_cell_plan *plan = r->plan;
    enum pl_status status = check_list(r, list, "hosts", PL_CELL_MAX_HOSTS);
    if (status != PL_OK)
        return status;
    plan->hosts = pl_arena_zalloc(r->arena, pl_json_count(list) + 1, sizeof *plan->hosts);
    if (!plan->hosts)
        return pl_fail(r->err, PL_NOMEM, "out of memory");
    for (const struct pl_json_node *n = pl_json_first(list);
         n < pl_json_end(list) && status == PL_OK; n = pl_json_next(n))
        status = read_host(r, n, &plan->hosts[plan->n_hosts++]);
    return status;
}

static enum pl_status read_argv(struct reader *r, const struct pl_json_node *n)
{
    return read_words(r, n, "argv", &r->plan->argv);
}

static enum pl_status read_env(struct reader *r, const struct pl_json_node *n)
{
    enum pl_status status = read_words(r, n, "env", &r->plan->env);
    for (size_t i = 0; status == PL_OK && r->plan->env[i]; i++)
        if (!strchr(r->plan->env[i], '=') || r->plan->env[i][0] == '=')
            return refuse(r, "env", "must have words of the form NAME=value");
    return status;
}

static enum pl_status read_least(struct reader *r, const struct pl_json_node *n)
{
    const char *name = NULL;
    enum pl_status status = read_text(r, n, "least", &name);
    if (status == PL_OK && !pl_cell_level_find(pl_str_of(name), &r->plan->least))
        return refuse(r, "least", "must be none, landlock, namespaces or full");
    return status;
}

static enum pl_status read_cwd(struct reader *r, const struct pl_json_node *n)
{
    return read_path(r, n, "cwd", &r->plan->cwd);
}

static enum pl_status read_cgroup(struct reader *r, const struct pl_json_node *n)
{
    return read_path(r, n, "cgroup", &r->plan->cgroup);
}

static enum pl_status read_uid(struct reader *r, const struct pl_json_node *n)
{
    uint64_t uid = 0;
    enum pl_status status = read_int(r, n, "uid", UINT32_MAX - 1, &uid);
    r->plan->uid = (uid_t)uid;
    return status;
}

static enum pl_status read_missing(struct reader *r, const struct pl_json_node *n)
{
    uint64_t missing = 0;
    enum pl_status status = read_int(r, n, "missing", (1u << PL_CELL_N_PARTS) - 1, &missing);
    r->plan->missing = (unsigned)missing;
    return status;
}

#define LIMIT(name, max)                                                                           \
    static enum pl_status read_##name(struct reader *r, const struct pl_json_node *n)              \
    {                                                                                              \
        enum pl_status status = read_int(r, n, #name, max, &r->plan->limits.n_##name);             \
        return status == PL_OK && !r->plan->limits.n_##name ? refuse(r, #name, "must not be 0")    \
                                                            : status;                              \
    }
LIMIT(processes, 1 << 16)
LIMIT(memory, (uint64_t)1 << 40)
LIMIT(file, (uint64_t)1 << 40)
LIMIT(fds, 1 << 20)
#undef LIMIT

#define FLAG(name) static enum pl_status read_##name(struct reader *r, const struct pl_json_node *n)
FLAG(probe)
{
    return read_flag(r, n, "probe", &r->plan->is_probe);
}
FLAG(guarded)
{
    return read_flag(r, n, "guarded", &r->plan->has_guarded);
}
#undef FLAG

static const struct {
    const char *name;
    enum pl_status (*read)(struct reader *r, const struct pl_json_node *n);
    bool is_needed;
} members[] = {
    {"argv", read_argv, true},      {"env", read_env, true},
    {"mounts", read_mounts, true},  {"cwd", read_cwd, false},
    {"hosts", read_hosts, true},    {"processes", read_processes, true},
    {"memory", read_memory, true},  {"file", read_file, true},
    {"fds", read_fds, true},        {"uid", read_uid, true},
    {"least", read_least, true},    {"missing", read_missing, true},
    {"probe", read_probe, true},    {"guarded", read_guarded, true},
    {"cgroup", read_cgroup, false},
};

static enum pl_status read_members(struct reader *r)
{
    uint32_t n_known = 0;
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < sizeof members / sizeof *members && status == PL_OK; i++) {
        const struct pl_json_node *n =
            pl_json_get(&r->doc, r->doc.root, pl_str_of(members[i].name));
        if (!n && members[i].is_needed)
            return refuse(r, members[i].name, "is missing");
        if (!n)
            continue;
        n_known++;
        status = members[i].read(r, n);
    }
    if (status == PL_OK && n_known != pl_json_count(r->doc.root))
        return refuse(r, "", "has a member that is not known");
    return status;
}

enum pl_status pl_cell_plan_read(struct pl_arena *arena, struct pl_str json,
                                 struct pl_cell_plan *ret_plan, struct pl_error *err)
{
    struct pl_cell_plan plan = {0};
    struct reader r = {.arena = arena, .plan = &plan, .err = err};
    enum pl_status status = pl_json_parse(arena, json, NULL, &r.doc, err);
    if (status == PL_NOMEM)
        return status;
    if (status != PL_OK || !pl_json_is(r.doc.root, PL_JSON_OBJECT))
        return pl_fail(err, PL_USAGE, "the plan of the cell is not a JSON object");
    status = read_members(&r);
    if (status == PL_OK && !plan.argv[0] && !plan.is_probe)
        status = refuse(&r, "argv", "must name a program");
    if (status == PL_OK)
        *ret_plan = plan;
    return status;
}

/* --- places ---------------------------------------------------------------------------------- */

static bool is_taken(const struct pl_cell_place *places, size_t n, const char *name, uint16_t port)
{
    for (size_t i = 0; i < n; i++)
        if (places[i].port == port && strcmp(places[i].name, name) == 0)
            return true;
    return false;
}

static uint8_t slot_of(const struct pl_cell_plan *plan, const char *name)
{
    size_t i = 0;
    while (i < plan->n_hosts && strcmp(plan->hosts[i].name, name) != 0)
        i++;
    return (uint8_t)i;
}

size_t pl_cell_plan_places(const struct pl_cell_plan *plan, struct pl_cell_place *ret_places)
{
    size_t n = 0;
    bool has_wildcard = false;
    for (size_t i = 0; i < plan->n_hosts; i++) {
        const char *name = plan->hosts[i].name;
        uint16_t port = plan->hosts[i].port ? plan->hosts[i].port : 443;
        has_wildcard = has_wildcard || name[0] == '*';
        if (name[0] != '*' && !is_taken(ret_places, n, name, port))
            ret_places[n++] = (struct pl_cell_place){name, port, slot_of(plan, name)};
    }
    if (has_wildcard)
        ret_places[n++] = (struct pl_cell_place){"*", PL_CELL_PROXY_PORT, (uint8_t)plan->n_hosts};
    return n;
}

void pl_cell_slot_address(uint8_t slot, char ret_text[static 16])
{
    snprintf(ret_text, 16, "127.0.1.%u", (unsigned)slot + 1);
}
