/* The sessions in which a memory is used: `scope` is the kind of sessions, `owner` selects among
 * them.
 *
 *     scope       used in
 *     (none)      every session of the user; with an owner: where that is the user, the solution or
 *                 the role of the session
 *     user        every session of the user; with an owner: where that is the user
 *     session     the session it comes from
 *     solution    sessions with the solution that is its owner
 *     role        sessions with the role that is its owner
 *     another     none: a scope of the client's own; only a search finds it
 *
 * A memory of a skill is recalled where the skill is in use: it is the session's solution or role,
 * or the user's words name it. */
#include "session/memory/memory.h"

#include "base/ascii.h"

/* "name@label" and "name" are the same prompt. */
static struct pl_str without_label(struct pl_str name)
{
    size_t n = name.len;
    while (n && name.ptr[n - 1] != '@')
        n--;
    return n ? pl_str_slice(name, 0, n - 1) : name;
}

static bool is_name(struct pl_str name, struct pl_str wanted)
{
    return name.len && (pl_str_eq(name, wanted) || pl_str_eq(without_label(name), wanted));
}

static bool is_everywhere(const struct pl_memory_home *home,
                          const struct pl_session_record *session)
{
    return !home->owner.len || pl_str_eq(home->owner, session->user_id) ||
           is_name(session->solution_id, home->owner) || is_name(session->biz_role_id, home->owner);
}

static bool is_of_user(const struct pl_memory_home *home, const struct pl_session_record *session)
{
    return !home->owner.len || pl_str_eq(home->owner, session->user_id);
}

static bool is_of_session(const struct pl_memory_home *home,
                          const struct pl_session_record *session)
{
    return pl_str_eq(home->source_session, session->id);
}

static bool is_of_solution(const struct pl_memory_home *home,
                           const struct pl_session_record *session)
{
    return is_name(session->solution_id, home->owner);
}

static bool is_of_role(const struct pl_memory_home *home, const struct pl_session_record *session)
{
    return is_name(session->biz_role_id, home->owner);
}

static const struct {
    const char *scope;
    bool (*is_told)(const struct pl_memory_home *home, const struct pl_session_record *session);
} scopes[] = {
    {"", is_everywhere},          {"user", is_of_user}, {"session", is_of_session},
    {"solution", is_of_solution}, {"role", is_of_role},
};

bool pl_memory_is_at_home(const struct pl_memory_home *home,
                          const struct pl_session_record *session)
{
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (pl_str_eq(home->scope, pl_str_of(scopes[i].scope)))
            return scopes[i].is_told(home, session);
    return false;
}

static bool is_letter(char c)
{
    return pl_ascii_is_letter(c) || pl_ascii_is_digit(c) || c == '_' || c == '-';
}

/* Whether the words name the skill: as a whole word in any case; anywhere in scripts without
 * spaces. */
static bool names(struct pl_str words, struct pl_str skill)
{
    for (size_t at = 0; at + skill.len <= words.len; at++) {
        size_t n = 0, end = at + skill.len;
        while (n < skill.len && pl_ascii_lower(words.ptr[at + n]) == pl_ascii_lower(skill.ptr[n]))
            n++;
        bool is_inside =
            (at && is_letter(words.ptr[at - 1]) && is_letter(skill.ptr[0])) ||
            (end < words.len && is_letter(words.ptr[end]) && is_letter(words.ptr[end - 1]));
        if (n == skill.len && !is_inside)
            return true;
    }
    return false;
}

bool pl_memory_is_for(const struct pl_memory_home *home, const struct pl_session_record *session,
                      struct pl_str words)
{
    struct pl_str skill = home->skill_name;
    return pl_memory_is_at_home(home, session) &&
           (!skill.len || is_name(session->solution_id, skill) ||
            is_name(session->biz_role_id, skill) || names(words, skill));
}
