/* parley doctor: checks whether this machine can run the server, and whether its data is sound.
 * Each check prints one line or more: ok, a warning, or a problem with advice. */
#include "app/server/doctor_int.h"

#include "app/server/local_store.h"

#include "base/text/utc.h"
#include "bus/bus.h"
#include "ext/cell/cell.h"
#include "ext/cell/uids.h"
#include "io/clock.h"
#include "io/net/conn.h"
#include "io/file/file.h"
#include "io/system/machine.h"
#include "json/write.h"
#include "service/tasks/zones.h"
#include "terminal/width.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *name;
    enum pl_style style;
} levels[] = {{"ok", PL_STYLE_GOOD}, {"warning", PL_STYLE_BOLD}, {"problem", PL_STYLE_BAD}};

void pl_doctor_find(struct pl_exam *exam, enum pl_exam_level level, const char *advice,
                    const char *format, ...)
{
    char says[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(says, sizeof says, format, args);
    va_end(args);
    struct pl_exam_finding finding = {
        .check = exam->check,
        .level = level,
        .says = pl_arena_dup(&exam->api.texts.arena, pl_str_of(says)),
        .advice = pl_arena_dup(&exam->api.texts.arena, pl_str_of(advice)),
    };
    if (!finding.says.ptr || !pl_vec_push(&exam->findings, finding))
        exam->is_cut = true;
}

/* --- data and store -------------------------------------------------------------------------- */

static void check_data(struct pl_exam *exam)
{
    const char *dir = exam->api.config.data_dir;
    struct pl_path_info info = pl_path_look(dir);
    if (!info.is_there)
        pl_doctor_find(exam, PL_EXAM_WARNING, "the first start of \"parley serve\" creates it",
                       "%s does not exist yet", dir);
    else if (!info.is_directory)
        pl_doctor_find(exam, PL_EXAM_PROBLEM, "choose another one with --data DIR",
                       "%s is not a directory", dir);
    else if (!info.is_writable)
        pl_doctor_find(exam, PL_EXAM_PROBLEM, "give it to the user who runs the server (chown)",
                       "this user cannot write to %s", dir);
    else if (!info.is_ours)
        pl_doctor_find(exam, PL_EXAM_WARNING, "run the server as the owner",
                       "%s belongs to another user", dir);
    else if (info.mode & 077)
        pl_doctor_find(exam, PL_EXAM_WARNING, "protect it with chmod 700",
                       "other users can read %s (mode %03o)", dir, info.mode);
    else
        pl_doctor_find(exam, PL_EXAM_FINE, NULL, "%s, mode %03o", dir, info.mode);
}

static void check_server(struct pl_exam *exam)
{
    struct pl_error err = {0};
    enum pl_status status = pl_api_is_running(&exam->api, &exam->is_running, &err);
    if (status != PL_OK) {
        pl_doctor_find(exam, PL_EXAM_PROBLEM,
                       "end the process that holds the socket, and start the server again",
                       "%s does not answer correctly: %s", exam->api.unix_path, err.message);
        exam->is_running = true; /* something holds the socket: do not open the store */
    } else if (exam->is_running) {
        pl_doctor_find(exam, PL_EXAM_FINE, NULL, "a server is running with this data");
    } else {
        pl_doctor_find(exam, PL_EXAM_FINE, NULL, "no server is running with this data");
    }
}

static void say_damage(void *ctx, bool is_problem, const char *sentence)
{
    pl_doctor_find(ctx, is_problem ? PL_EXAM_PROBLEM : PL_EXAM_FINE,
                   is_problem
                       ? "make a backup of the current files, and restore the newest good backup"
                       : NULL,
                   "%s", sentence);
}

static void examine_store(struct pl_exam *exam, const char *url)
{
    struct pl_error err = {0};
    struct pl_store *store = NULL;
    enum pl_status status = pl_local_store_open(&exam->api, false, &store, &err);
    if (status != PL_OK) {
        pl_doctor_find(exam, PL_EXAM_PROBLEM, "follow the message, or restore a backup",
                       "%s cannot be opened: %s", url, err.message);
        return;
    }
    pl_doctor_find(exam, PL_EXAM_FINE, NULL, "%s, schema version %lld, %lld bytes",
                   pl_store_kind(store), (long long)pl_store_schema_version(store),
                   (long long)pl_store_n_bytes(store));
    status = pl_store_check(store, say_damage, exam, &err);
    if (status != PL_OK)
        pl_doctor_find(exam, PL_EXAM_PROBLEM, "restore a backup",
                       "the store cannot be read completely: %s", err.message);
    pl_store_close(store);
}

/* A running server reports on the store it has open. */
static void ask_server(struct pl_exam *exam)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    struct pl_http_call call = {.method = "GET"};
    struct pl_error err = {0};
    int http_status = 0;
    enum pl_status status = pl_api_try(&exam->api, &call, "/readyz", &http_status, &reply, &err);
    if (status != PL_OK)
        pl_doctor_find(exam, PL_EXAM_PROBLEM, "read its log, and start it again", "%s",
                       err.message);
    else if (http_status != 200)
        pl_doctor_find(exam, PL_EXAM_PROBLEM, "read its log",
                       "the server does not accept work (status %d)", http_status);
    else
        pl_doctor_find(
            exam, PL_EXAM_FINE, NULL,
            "the server accepts work; to check the store for damage, stop the server first");
}

static void check_store(struct pl_exam *exam)
{
    const char *url = pl_local_store_url(&exam->api);
    const char *path = url ? pl_local_store_path(url) : NULL;
    if (!url)
        exam->is_cut = true;
    else if (exam->is_running)
        ask_server(exam);
    else if (path && !pl_path_look(path).is_there)
        pl_doctor_find(exam, PL_EXAM_FINE, NULL, "there is no data yet");
    else
        examine_store(exam, path ? path : "the store");
}

static void check_disk(struct pl_exam *exam)
{
    enum { MIB = 1 << 20, GIB = 1 << 30 };
    const char *dir = exam->api.config.data_dir;
    int64_t n_free = 0, n_all = 0;
    if (!pl_disk_look(pl_path_look(dir).is_there ? dir : "/", &n_free, &n_all)) {
        pl_doctor_find(exam, PL_EXAM_WARNING, NULL, "the free disk space is unknown");
        return;
    }
    enum pl_exam_level level = n_free < 100 * (int64_t)MIB ? PL_EXAM_PROBLEM
                               : n_free < GIB              ? PL_EXAM_WARNING
                                                           : PL_EXAM_FINE;
    pl_doctor_find(exam, level,
                   level == PL_EXAM_FINE ? NULL
                                         : "free some space: nothing can be stored on a full "
                                           "disk",
                   "%lld MiB of %lld MiB are free", (long long)(n_free / MIB),
                   (long long)(n_all / MIB));
}

/* --- the machine ----------------------------------------------------------------------------- */

static void check_descriptors(struct pl_exam *exam)
{
    enum { BESIDE = 256, FEW = 1024 };
    int64_t most = pl_fd_limit_most();
    int64_t wanted = (int64_t)exam->api.config.max_connections + BESIDE;
    enum pl_exam_level level = most < FEW      ? PL_EXAM_PROBLEM
                               : most < wanted ? PL_EXAM_WARNING
                                               : PL_EXAM_FINE;
    pl_doctor_find(exam, level,
                   level == PL_EXAM_FINE
                       ? NULL
                       : "raise the limit (ulimit -Hn, LimitNOFILE= of systemd), or lower "
                         "--max-connections",
                   "%lld files and connections can be open at a time; %zu connections are allowed",
                   (long long)most, exam->api.config.max_connections);
}

static void check_port(struct pl_exam *exam)
{
    const struct pl_server_config *config = &exam->api.config;
    struct pl_socket socket = {0};
    struct pl_error err = {0};
    struct pl_port_holder holder = {0};
    if (pl_socket_listen_tcp(config->host, config->port, &socket, &err) == PL_OK) {
        pl_socket_close(&socket);
        if (config->port)
            pl_doctor_find(exam, PL_EXAM_FINE, NULL, "%s port %u is free", config->host,
                           config->port);
        else
            pl_doctor_find(exam, PL_EXAM_FINE, NULL, "%s has free ports", config->host);
    } else if (!pl_port_find_holder(config->port, &holder)) {
        pl_doctor_find(exam, exam->is_running ? PL_EXAM_FINE : PL_EXAM_PROBLEM,
                       exam->is_running ? NULL : "choose another with --host or --port", "%s",
                       err.message);
    } else {
        bool is_ours = exam->is_running && strcmp(holder.name, "parley") == 0;
        pl_doctor_find(exam, is_ours ? PL_EXAM_FINE : PL_EXAM_PROBLEM,
                       is_ours ? NULL : "end that process, or choose another port with --port",
                       "%s port %u is in use by process %lld (%s)", config->host, config->port,
                       (long long)holder.pid, holder.name);
    }
}

/* Optional libraries and programs, and their purpose. */
static const struct {
    const char *name, *library, *program, *purpose, *package;
    bool (*is_there)(void); /* if the library name is not enough to tell */
} wanted[] = {
    {"libcurl", "libcurl.so.4", NULL, "commands that use a server need it", "libcurl4", NULL},
    {"libpq", "libpq.so.5", NULL, "only a store in PostgreSQL needs it", "libpq5", NULL},
    {"libnats", NULL, NULL, "only a bus by NATS needs it", "libnats3.4", pl_bus_has_nats_library},
    {"ffmpeg", NULL, "ffmpeg", "only \"parley media\" needs it", "ffmpeg", NULL},
};

static void check_installed(struct pl_exam *exam)
{
    const char *url = exam->api.config.store_url;
    bool needs_libpq = url && strncmp(url, "postgres", sizeof "postgres" - 1) == 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        bool is_there = wanted[i].is_there  ? wanted[i].is_there()
                        : wanted[i].library ? pl_library_is_there(wanted[i].library)
                                            : pl_program_is_there(wanted[i].program);
        bool is_needed = needs_libpq && strcmp(wanted[i].name, "libpq") == 0;
        char advice[64];
        snprintf(advice, sizeof advice, "install the package %s", wanted[i].package);
        if (is_there)
            pl_doctor_find(exam, PL_EXAM_FINE, NULL, "%s is installed", wanted[i].name);
        else
            pl_doctor_find(exam, is_needed ? PL_EXAM_PROBLEM : PL_EXAM_WARNING, advice,
                           "%s is missing; %s", wanted[i].name, wanted[i].purpose);
    }
}

/* Reads the version from the first line of tzdata.zi, "# version 2025b". */
static struct pl_str zone_version(struct pl_exam *exam, const char *zones)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    PL_CLEANUP_BUF struct pl_buf path;
    struct pl_str mark = PL_STR("# version ");
    pl_buf_init(&path, 0);
    pl_buf_addf(&path, "%s/tzdata.zi", zones);
    pl_buf_addc(&path, '\0');
    if (path.status != PL_OK || pl_file_read(path.ptr, 1 << 20, NULL, &file, NULL) != PL_OK ||
        !pl_str_starts(file.bytes, mark))
        return (struct pl_str){0};
    const char *end = memchr(file.bytes.ptr, '\n', file.bytes.len);
    return pl_arena_dup(
        &exam->api.texts.arena,
        pl_str_slice(file.bytes, mark.len, end ? (size_t)(end - file.bytes.ptr) : file.bytes.len));
}

static void check_zones(struct pl_exam *exam)
{
    const char *zones = pl_zones_dir();
    struct pl_str version = zone_version(exam, zones);
    if (!pl_path_look(zones).is_directory)
        pl_doctor_find(exam, PL_EXAM_WARNING, "install the package tzdata, or set PARLEY_TZDIR",
                       "there are no time zones in %s; schedules support UTC only", zones);
    else
        pl_doctor_find(exam, PL_EXAM_FINE, NULL, "time zones are in %s%s%.*s", zones,
                       version.len ? ", version " : "", PL_STR_ARG(version));
}

static void check_clock(struct pl_exam *exam)
{
    enum { DAY = 86400 };
    int64_t now = pl_clock_unix_s();
    int64_t earliest = pl_civil_unix_s(&(struct pl_civil){.year = 2026, .month = 1, .day = 1});
    int64_t latest = pl_civil_unix_s(&(struct pl_civil){.year = 2100, .month = 1, .day = 1});
    struct pl_path_info data = pl_path_look(exam->api.config.data_dir);
    char text[PL_UTC_SIZE];
    pl_utc_write(text, now * 1000);
    bool is_sane = now >= earliest && now < latest;
    bool went_back = data.is_there && data.changed_unix_s > now + DAY;
    pl_doctor_find(exam, is_sane && !went_back ? PL_EXAM_FINE : PL_EXAM_PROBLEM,
                   is_sane && !went_back ? NULL : "set the clock, and synchronise it with NTP",
                   "it is %.19sZ%s", text,
                   !is_sane    ? ", which is impossible"
                   : went_back ? ", but the data was changed later than that"
                               : "");
}

/* --- the sandbox of extensions ---------------------------------------------------------------- */

/* Parts that a cell can do without: each has a substitute. */
static bool is_spare(const struct pl_cell_probe *probe, enum pl_cell_part part)
{
    unsigned ways = PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(BWRAP);
    return part == PL_CELL_PART_CGROUP || part == PL_CELL_PART_PROC ||
           ((ways & (1u << part)) && (probe->has & ways));
}

static void check_sandbox(struct pl_exam *exam)
{
    struct pl_cell_probe probe;
    struct pl_error err = {0};
    enum pl_cell_level least = PL_CELL_FULL;
    if (exam->api.config.ext_sandbox)
        (void)pl_cell_level_find(pl_str_of(exam->api.config.ext_sandbox), &least);
    uid_t uid = 0;
    size_t n_uids;
    if (exam->api.config.ext_uids)
        (void)pl_cell_uids_read(exam->api.config.ext_uids, &uid, &n_uids, NULL);
    if (pl_cell_probe(NULL, uid, &probe, &err) != PL_OK) {
        pl_doctor_find(exam, PL_EXAM_PROBLEM, NULL, "no sandbox can be tried: %s", err.message);
        return;
    }
    for (int i = 0; i < PL_CELL_N_PARTS; i++) {
        const struct pl_cell_finding *part = &probe.parts[i];
        bool is_fine = part->is_there || is_spare(&probe, (enum pl_cell_part)i);
        pl_doctor_find(exam, is_fine ? PL_EXAM_FINE : PL_EXAM_WARNING,
                       part->is_there ? NULL : part->remedy, "%s: %s",
                       pl_cell_part_name((enum pl_cell_part)i), part->says);
    }
    /* Not a problem of the server: only extensions are unavailable. */
    if (pl_cell_accept(&probe, least, &err) == PL_OK)
        pl_doctor_find(exam, least == PL_CELL_NONE ? PL_EXAM_WARNING : PL_EXAM_FINE,
                       least == PL_CELL_NONE ? "remove --ext-sandbox none" : NULL,
                       "extensions run at level %s; %s is the least that is accepted",
                       pl_cell_level_name(probe.level), pl_cell_level_name(least));
    else
        pl_doctor_find(
            exam, PL_EXAM_WARNING,
            "follow the advice above, or accept less with --ext-sandbox LEVEL",
            "extensions do not start: level %s is required, and this machine has level %s",
            pl_cell_level_name(least), pl_cell_level_name(probe.level));
}

/* In order: a check may use the results of those before. */
static const struct {
    const char *name;
    void (*run)(struct pl_exam *exam);
} checks[] = {
    {"data", check_data},
    {"server", check_server},
    {"store", check_store},
    {"disk", check_disk},
    {"descriptors", check_descriptors},
    {"port", check_port},
    {"installed", check_installed},
    {"zones", check_zones},
    {"clock", check_clock},
    {"sandbox", check_sandbox},
    {"nodes", pl_doctor_nodes},
    {"standbys", pl_doctor_standbys},
    {"bus", pl_doctor_bus},
    {"extensions", pl_doctor_extensions},
};

/* --- output ---------------------------------------------------------------------------------- */

static void print_json(const struct pl_exam *exam, bool is_well)
{
    struct pl_json_out out = pl_json_out(pl_console_out(exam->api.console));
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "ok");
    pl_json_out_bool(&out, is_well);
    pl_json_out_key(&out, "checks");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < exam->findings.len; i++) {
        const struct pl_exam_finding *finding = &exam->findings.ptr[i];
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "check");
        pl_json_out_text(&out, pl_str_of(finding->check));
        pl_json_out_key(&out, "level");
        pl_json_out_text(&out, pl_str_of(levels[finding->level].name));
        pl_json_out_key(&out, "says");
        pl_json_out_text(&out, finding->says);
        pl_json_out_key(&out, "advice");
        if (finding->advice.len)
            pl_json_out_text(&out, finding->advice);
        else
            pl_json_out_null(&out);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    pl_console_puts(exam->api.console, "\n");
}

/* Prints a word in the language of the console, padded to the next column. */
static void put_word(struct pl_console *console, enum pl_style style, const char *english,
                     size_t n_cells)
{
    const char *word = pl_console_word(console, english);
    size_t width = pl_width(pl_str_of(word));
    pl_console_put_styled(console, style, word);
    pl_buf_fill(pl_console_out(console), ' ', width < n_cells ? n_cells - width : 1);
}

static void print_lines(const struct pl_exam *exam)
{
    enum { LEVEL_CELLS = 9, CHECK_CELLS = 13 };
    struct pl_console *console = exam->api.console;
    for (size_t i = 0; i < exam->findings.len; i++) {
        const struct pl_exam_finding *finding = &exam->findings.ptr[i];
        put_word(console, levels[finding->level].style, levels[finding->level].name, LEVEL_CELLS);
        put_word(console, PL_STYLE_PLAIN, finding->check, CHECK_CELLS);
        pl_console_put_words(console, finding->says);
        if (finding->advice.len) {
            pl_console_puts(console, console->is_chinese ? "：" : ": ");
            pl_console_put_words(console, finding->advice);
        }
        pl_console_puts(console, "\n");
    }
}

static enum pl_exit examine(struct pl_exam *exam)
{
    struct pl_error err = {0};
    bool is_well = true;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        exam->check = checks[i].name;
        pl_console_progress(exam->api.console, "%s ...", exam->check);
        checks[i].run(exam);
    }
    if (exam->is_cut)
        return pl_api_fail(&exam->api, PL_NOMEM, &err);
    for (size_t i = 0; i < exam->findings.len; i++)
        is_well = is_well && exam->findings.ptr[i].level != PL_EXAM_PROBLEM;
    if (exam->api.is_json)
        print_json(exam, is_well);
    else
        print_lines(exam);
    return is_well ? PL_EXIT_OK : PL_EXIT_NO;
}

enum pl_exit pl_cmd_doctor(struct pl_console *console, const struct pl_args *args)
{
    struct pl_exam exam = {0};
    enum pl_exit code = pl_api_open_local(&exam.api, console, args, "doctor");
    if (code == PL_EXIT_OK)
        code = examine(&exam);
    pl_vec_deinit(&exam.findings);
    pl_store_close(exam.store);
    pl_api_close(&exam.api);
    return code;
}
