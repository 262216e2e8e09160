/* The last lines of an extension, from `log` frames and standard error, for debugging. They are
 * in memory; durable records are in the audit. */
#include "ext/run/host_int.h"

#include "base/mem.h"

static struct pl_ext_log *find(struct pl_ext_server *host, struct pl_str id, bool makes)
{
    struct pl_table_link *link = pl_table_get(&host->logs, id);
    if (link || !makes)
        return link ? PL_CONTAINER_OF(link, struct pl_ext_log, link) : NULL;
    struct pl_ext_log *log = pl_mem_alloc(1, sizeof *log + id.len);
    if (!log)
        return NULL;
    *log = (struct pl_ext_log){0};
    memcpy(log->id, id.ptr, id.len);
    log->link.key = (struct pl_str){log->id, id.len};
    if (pl_table_put(&host->logs, &log->link))
        return log;
    pl_mem_free(log);
    return NULL;
}

/* A line for which there is no memory is not stored. */
void pl_ext_log_add(struct pl_ext_server *host, struct pl_str extension_id, struct pl_str user_id,
                    int64_t unix_ms, struct pl_str json)
{
    char *copy = pl_mem_alloc(1, user_id.len + json.len + 1);
    if (!copy)
        return;
    memcpy(copy, user_id.ptr, user_id.len);
    memcpy(copy + user_id.len, json.ptr, json.len);
    struct pl_ext_log_line line = {unix_ms, {copy, user_id.len}, {copy + user_id.len, json.len}};
    pthread_mutex_lock(&host->lock);
    struct pl_ext_log *log = find(host, extension_id, true);
    if (log) {
        struct pl_ext_log_line *place = &log->lines[log->n++ % PL_EXT_LOG_LINES];
        copy = (char *)place->user_id.ptr;
        *place = line;
    }
    pthread_mutex_unlock(&host->lock);
    pl_mem_free(copy); /* the replaced line, or the new one if there is no log */
}

void pl_ext_log_write(struct pl_ext_server *host, struct pl_str extension_id, struct pl_str user_id,
                      struct pl_buf *to)
{
    bool is_first = true;
    pthread_mutex_lock(&host->lock);
    const struct pl_ext_log *log = find(host, extension_id, false);
    size_t n = log ? log->n : 0;
    for (size_t i = n > PL_EXT_LOG_LINES ? n - PL_EXT_LOG_LINES : 0; i < n; i++) {
        const struct pl_ext_log_line *line = &log->lines[i % PL_EXT_LOG_LINES];
        if (user_id.ptr && !pl_str_eq(user_id, line->user_id))
            continue;
        if (!is_first)
            pl_buf_addc(to, ',');
        pl_buf_add(to, line->json);
        is_first = false;
    }
    pthread_mutex_unlock(&host->lock);
}

void pl_ext_logs_deinit(struct pl_ext_server *host)
{
    struct pl_table_link *link;
    while ((link = pl_table_next(&host->logs, NULL))) {
        struct pl_ext_log *log = PL_CONTAINER_OF(link, struct pl_ext_log, link);
        pl_table_remove(&host->logs, link);
        for (size_t i = 0; i < PL_EXT_LOG_LINES; i++)
            pl_mem_free((char *)log->lines[i].user_id.ptr);
        pl_mem_free(log);
    }
    pl_table_deinit(&host->logs);
}
