/* Draws an answer. A temporary line (a thought, a running call) is wiped before any lasting
 * output. */
#include "app/chat/answer.h"

#include "app/chat/turn_show.h"
#include "app/table/columns.h"
#include "io/clock.h"
#include "io/system/terminal_raw.h"
#include "terminal/safe.h"
#include "terminal/width.h"

enum { MAX_THOUGHT = 4096, MAX_PART = 400, MOST_COLUMNS = 100 };

static size_t columns_now(void)
{
    size_t columns, rows;
    pl_terminal_size(&columns, &rows);
    return columns;
}

void pl_answer_begin(struct pl_shown_answer *answer, struct pl_console *console)
{
    *answer = (struct pl_shown_answer){.console = console, .started_ms = pl_clock_ms()};
    pl_buf_init(&answer->thought, 0);
    pl_arena_init(&answer->arena, 0);
}

void pl_answer_deinit(struct pl_shown_answer *answer)
{
    if (answer->is_text_open)
        pl_markdown_deinit(&answer->markdown);
    pl_buf_deinit(&answer->thought);
    pl_arena_deinit(&answer->arena);
    pl_vec_deinit(&answer->calls);
}

/* --- the line that does not stay ------------------------------------------------------------- */

static void wipe(struct pl_shown_answer *answer)
{
    if (answer->has_status)
        pl_console_puts(answer->console, "\r\033[K");
    answer->has_status = false;
}

static void put_cut(struct pl_shown_answer *answer, struct pl_str safe)
{
    struct pl_str cut = pl_width_cut(safe, columns_now() - 2);
    pl_console_put(answer->console, cut);
    if (cut.len < safe.len)
        pl_console_puts(answer->console, "…");
}

static void show_status(struct pl_shown_answer *answer, struct pl_str safe)
{
    pl_console_puts(answer->console, "\r\033[K");
    pl_console_style(answer->console, PL_STYLE_DIM);
    put_cut(answer, safe);
    pl_console_style(answer->console, PL_STYLE_PLAIN);
    answer->has_status = true;
}

/* --- thoughts -------------------------------------------------------------------------------- */

static void end_thought(struct pl_shown_answer *answer)
{
    if (!answer->is_thinking)
        return;
    double seconds = (double)(pl_clock_ms() - answer->thought_since_ms) / 1000;
    wipe(answer);
    pl_console_style(answer->console, PL_STYLE_DIM);
    pl_console_put_said(answer->console, "(thought for %.1f s; Ctrl-O shows it)", seconds);
    pl_console_style(answer->console, PL_STYLE_PLAIN);
    pl_console_puts(answer->console, "\n");
    answer->is_thinking = false;
    answer->has_thought = true;
    pl_buf_clear(&answer->thought);
}

void pl_answer_think(struct pl_shown_answer *answer, struct pl_str text)
{
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    if (!text.len)
        return;
    if (!answer->is_thinking) {
        pl_answer_close(answer);
        answer->is_thinking = true;
        answer->thought_since_ms = pl_clock_ms();
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\n' || answer->thought.len > MAX_THOUGHT)
            pl_buf_clear(&answer->thought);
        if (text.ptr[i] != '\n')
            pl_buf_addc(&answer->thought, text.ptr[i]);
    }
    pl_buf_adds(&line, pl_console_word(answer->console, "thinking: "));
    pl_safe_add(&line, pl_buf_str(&answer->thought));
    answer->status = line.status != PL_OK ? line.status : answer->status;
    show_status(answer, pl_buf_str(&line));
}

/* --- text ------------------------------------------------------------------------------------ */

void pl_answer_text(struct pl_shown_answer *answer, struct pl_str text)
{
    struct pl_buf *out = pl_console_out(answer->console);
    if (!text.len)
        return;
    end_thought(answer);
    wipe(answer);
    answer->was_text_last = true;
    if (!answer->console->has_color_out) {
        pl_show_text(answer->console, text, 0);
        answer->is_line_open = text.ptr[text.len - 1] != '\n';
        return;
    }
    if (!answer->is_text_open) {
        size_t columns = columns_now();
        pl_markdown_init(&answer->markdown, columns < MOST_COLUMNS ? columns : MOST_COLUMNS);
        answer->is_text_open = true;
    }
    pl_markdown_feed(&answer->markdown, text, out);
    pl_markdown_show(&answer->markdown, out);
}

void pl_answer_close(struct pl_shown_answer *answer)
{
    end_thought(answer);
    wipe(answer);
    if (answer->is_line_open)
        pl_console_puts(answer->console, "\n");
    answer->is_line_open = false;
    if (!answer->is_text_open)
        return;
    pl_markdown_end(&answer->markdown, pl_console_out(answer->console));
    pl_markdown_deinit(&answer->markdown);
    answer->is_text_open = false;
}

/* --- tools ----------------------------------------------------------------------------------- */

static const char *keep(struct pl_shown_answer *answer, struct pl_buf *text)
{
    pl_buf_addc(text, '\0');
    const char *copy =
        text->status == PL_OK ? pl_arena_dup(&answer->arena, pl_buf_str(text)).ptr : NULL;
    answer->status = copy ? answer->status : PL_NOMEM;
    return copy;
}

/* Appends the text on one line, cut if it is long. */
static void add_part(struct pl_buf *to, struct pl_str text)
{
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    for (size_t i = 0; i < text.len && i < MAX_PART; i++)
        pl_buf_addc(&line, (char)(text.ptr[i] == '\n' || text.ptr[i] == '\t' ? ' ' : text.ptr[i]));
    if (text.len > MAX_PART)
        line.len -= line.len - pl_width_cut(pl_buf_str(&line), MAX_PART / 2).len;
    pl_safe_add(to, pl_buf_str(&line));
    pl_buf_adds(to, text.len > MAX_PART ? "…" : "");
}

void pl_answer_call(struct pl_shown_answer *answer, struct pl_str id, struct pl_str name,
                    struct pl_str arguments)
{
    PL_CLEANUP_BUF struct pl_buf line, kept_id;
    pl_buf_init(&line, 0);
    pl_buf_init(&kept_id, 0);
    pl_answer_close(answer);
    pl_buf_addc(&line, '[');
    pl_safe_add(&line, name);
    pl_buf_adds(&line, "] ");
    add_part(&line, arguments);
    show_status(answer, pl_buf_str(&line));
    pl_buf_add(&kept_id, id);
    struct pl_answer_call call = {keep(answer, &kept_id), keep(answer, &line)};
    if (call.id && call.line && !pl_vec_push(&answer->calls, call))
        answer->status = PL_NOMEM;
}

void pl_answer_result(struct pl_shown_answer *answer, struct pl_str id, bool is_good,
                      struct pl_str result)
{
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    pl_answer_close(answer);
    for (size_t i = 0; i < answer->calls.len; i++)
        if (pl_str_eq(pl_str_of(answer->calls.ptr[i].id), id)) {
            /* At most half of the row, so that the result is visible. */
            struct pl_str call = pl_str_of(answer->calls.ptr[i].line);
            struct pl_str cut = pl_width_cut(call, columns_now() / 2);
            pl_buf_add(&line, cut);
            pl_buf_adds(&line, cut.len < call.len ? "…" : "");
        }
    pl_buf_adds(&line, is_good ? " = " : pl_console_word(answer->console, " failed: "));
    add_part(&line, result);
    answer->status = line.status != PL_OK ? line.status : answer->status;
    pl_console_style(answer->console, is_good ? PL_STYLE_DIM : PL_STYLE_BAD);
    put_cut(answer, pl_buf_str(&line));
    pl_console_style(answer->console, PL_STYLE_PLAIN);
    pl_console_puts(answer->console, "\n");
}

void pl_answer_sum_up(struct pl_shown_answer *answer, const char *dollars)
{
    double seconds = (double)(pl_clock_ms() - answer->started_ms) / 1000;
    pl_answer_close(answer);
    pl_console_style(answer->console, PL_STYLE_DIM);
    pl_console_put_said(answer->console, "%.1f s, %lld tokens in, %lld out%s%s", seconds,
                        (long long)answer->input_tokens, (long long)answer->output_tokens,
                        dollars ? ", $" : "", dollars ? dollars : "");
    pl_console_style(answer->console, PL_STYLE_PLAIN);
    pl_console_puts(answer->console, "\n");
}
