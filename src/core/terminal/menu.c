/* Keys move between answers and select them. A drawing replaces the previous one. */
#include "terminal/menu.h"

#include "terminal/width.h"

static bool is_alone(const struct pl_menu *choice, size_t i)
{
    return !choice->is_many || i + choice->n_alone >= choice->n_items;
}

static void toggle(struct pl_menu *choice, size_t i)
{
    choice->at = i;
    choice->marked ^= (uint64_t)1 << i;
}

static enum pl_menu_wish press(struct pl_menu *choice, char key)
{
    for (size_t i = 0; i < choice->n_items; i++) {
        if (choice->items[i].key != key)
            continue;
        choice->at = i;
        if (is_alone(choice, i)) {
            choice->marked = 0;
            return PL_MENU_TAKEN;
        }
        toggle(choice, i);
    }
    return PL_MENU_GOES_ON;
}

/* Enter selects the marked answers, or the one under the cursor if nothing is marked. */
static enum pl_menu_wish take(struct pl_menu *choice)
{
    if (is_alone(choice, choice->at))
        choice->marked = 0;
    else if (!choice->marked)
        toggle(choice, choice->at);
    return PL_MENU_TAKEN;
}

enum pl_menu_wish pl_menu_take(struct pl_menu *choice, const struct pl_key *key)
{
    size_t n = choice->n_items;
    switch (key->kind) {
    case PL_KEY_UP:
    case PL_KEY_BACK_TAB:
        choice->at = (choice->at + n - 1) % n;
        return PL_MENU_GOES_ON;
    case PL_KEY_DOWN:
    case PL_KEY_TAB:
        choice->at = (choice->at + 1) % n;
        return PL_MENU_GOES_ON;
    case PL_KEY_HOME:
        choice->at = 0;
        return PL_MENU_GOES_ON;
    case PL_KEY_END:
        choice->at = n - 1;
        return PL_MENU_GOES_ON;
    case PL_KEY_ENTER:
        return take(choice);
    case PL_KEY_ESCAPE:
    case PL_KEY_EOF:
        return PL_MENU_LEFT;
    case PL_KEY_INTERRUPT:
        return PL_MENU_INTERRUPTED;
    case PL_KEY_TEXT:
        break;
    default:
        return PL_MENU_GOES_ON;
    }
    enum pl_menu_wish wish = PL_MENU_GOES_ON;
    for (size_t i = 0; i < key->text.len && wish == PL_MENU_GOES_ON; i++) {
        if (key->text.ptr[i] == ' ' && !is_alone(choice, choice->at))
            toggle(choice, choice->at);
        else
            wish = press(choice, key->text.ptr[i]);
    }
    return wish;
}

void pl_menu_wipe(struct pl_menu *choice, struct pl_buf *to)
{
    if (choice->n_drawn)
        pl_buf_addf(to, "\033[%zuA", choice->n_drawn);
    pl_buf_adds(to, "\r\033[J");
    choice->n_drawn = 0;
}

static const char *mark_of(const struct pl_menu *choice, size_t i)
{
    if (!choice->is_many)
        return "";
    if (is_alone(choice, i))
        return "    ";
    return choice->marked >> i & 1 ? "[x] " : "[ ] ";
}

void pl_menu_draw(struct pl_menu *choice, size_t columns, bool has_style, struct pl_buf *to)
{
    enum { BEFORE = 10 };
    size_t room = columns > 2 * BEFORE ? columns - BEFORE : BEFORE;
    pl_menu_wipe(choice, to);
    for (size_t i = 0; i < choice->n_items; i++) {
        const struct pl_menu_item *item = &choice->items[i];
        bool is_here = i == choice->at;
        struct pl_str label = pl_width_cut(item->label, room);
        pl_buf_adds(to, is_here && has_style ? "\033[1m" : "");
        pl_buf_addf(to, "%s%s%c) ", is_here ? "> " : "  ", mark_of(choice, i), item->key);
        pl_buf_add(to, label);
        pl_buf_adds(to, label.len < item->label.len ? "…" : "");
        pl_buf_adds(to, is_here && has_style ? "\033[0m\r\n" : "\r\n");
    }
    choice->n_drawn = choice->n_items;
}
