/* A command on its way to a session and back. The shard that has the command owns its memory.
 *
 *     machine command
 *
 *     NEW -> SENT -> OPENED -> ANSWERED -> HOME
 *     NEW -> OPENED                       it came from another node
 *     OPENED -> HOME                      the server ends, or the asking node has to look elsewhere
 */
#include "live/command.h"

#include "base/mem.h"

#include "base/table.h"
#include "io/move.h"

#include <assert.h>

#define TO(name) PL_TO(PL_COMMAND_STATE_##name)
#define A_LETTER "a letter is opened in the next turn of its loop, or when the loop is destroyed"
static const struct pl_state states[] = {
    [PL_COMMAND_STATE_NEW] = {"new", TO(SENT) | TO(OPENED), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                              .why = "its sender posts it"},
    [PL_COMMAND_STATE_SENT] = {"sent", TO(OPENED), PL_WAIT_OPEN, PL_CANCEL_LATER, .why = A_LETTER},
    [PL_COMMAND_STATE_OPENED] =
        {"opened", TO(ANSWERED) | TO(HOME), PL_WAIT_OPEN, PL_CANCEL_LATER,
         .why = "a session answers when its rows are stored, at rest, or when it "
                "breaks; it waits for a person as long as that takes"},
    [PL_COMMAND_STATE_ANSWERED] = {"answered", TO(HOME), PL_WAIT_OPEN, PL_CANCEL_LATER,
                                   .why = A_LETTER},
    [PL_COMMAND_STATE_HOME] = {"home", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("command", states);

static void become(struct pl_session_command *command, enum pl_command_state to)
{
    command->state = (enum pl_command_state)pl_move(&machine, command, command->state, to);
}

void pl_session_command_init(struct pl_session_command *command, enum pl_command_kind kind,
                             struct pl_shard *home, struct pl_str user_id, struct pl_str session_id)
{
    *command = (struct pl_session_command){
        .kind = kind,
        .home = home,
        .user_id = user_id,
        .session_id = session_id,
        .if_version = -1,
        .problem = PL_PROBLEM_COUNT,
    };
    pl_buf_init(&command->reply, 0);
}

void pl_session_command_deinit(struct pl_session_command *command)
{
    assert(!pl_machine_is_away(&machine, command->state));
    pl_buf_deinit(&command->reply);
    pl_mem_free(PL_TAKE(command->own_text));
}

void pl_session_command_send(struct pl_session_command *command)
{
    become(command, PL_COMMAND_STATE_SENT);
    command->letter.open = command->home->server->session_owner->open_command;
    pl_loop_post(pl_shard_of_session(command->home->server, command->session_id)->loop,
                 &command->letter);
}

struct pl_session_command *pl_session_command_open(struct pl_letter *letter)
{
    struct pl_session_command *command = PL_CONTAINER_OF(letter, struct pl_session_command, letter);
    become(command, PL_COMMAND_STATE_OPENED);
    return command;
}

void pl_session_command_enter(struct pl_session_command *command)
{
    become(command, PL_COMMAND_STATE_OPENED);
}

void pl_session_command_give_up(struct pl_session_command *command)
{
    become(command, PL_COMMAND_STATE_HOME);
}

void pl_session_command_answer_here(struct pl_session_command *command)
{
    become(command, PL_COMMAND_STATE_HOME);
    command->done(command);
}

static void open_answer(struct pl_letter *letter)
{
    pl_session_command_answer_here(PL_CONTAINER_OF(letter, struct pl_session_command, letter));
}

void pl_session_command_answer(struct pl_session_command *command)
{
    become(command, PL_COMMAND_STATE_ANSWERED);
    command->letter.open = open_answer;
    pl_loop_post(command->home->loop, &command->letter);
}
