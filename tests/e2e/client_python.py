"""The cases of the Python client against a server: client_python.test.mjs runs one with PARLEY_URL and PARLEY_KEY.

usage: client_python.py --list | NAME

The first four correspond to client.test.mjs of the TypeScript client; the others are the cases of chat.test.mjs and
live.test.mjs that concern a client.
"""
import copy
import json
import os
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))
from parley import LiveError, Parley, ProblemError, SessionView  # noqa: E402

parley = Parley(os.environ.get("PARLEY_URL", "http://localhost"), os.environ.get("PARLEY_KEY"))
SAFETY_S = 300
QUESTION = {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]}
ASK = "call AskUserQuestion " + json.dumps(QUESTION)


def script(*lines):
    return "\n".join(("#!demo",) + lines)


def refused(status, code, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except ProblemError as error:
        assert (error.status, error.code) == (status, code), error.problem
        return error
    raise AssertionError("it was not refused")


def settled(live, view):
    assert live.wait_for(lambda: view.session and view.session["status"] not in ("created", "running"), SAFETY_S), view.session


def same_as_server(live, view, session_id):
    page = parley.messages(session_id, limit=100)
    assert live.wait_for(lambda: view.position["sequence"] >= page["position"]["sequence"], SAFETY_S)
    assert view.ordered[-len(page["turns"]):] == page["turns"], (view.ordered, page["turns"])
    return page["turns"]


def text_of(turn):
    return "".join(block["content"] for block in turn["blocks"] if block["type"] == "text")


def prompts_are_made_changed_compared_labelled_run_exported_imported():
    prompts = parley.prompts
    made = prompts.create(name="hello", content="Hello {{name}}", folder="a/b", tags=["t"])
    assert prompts.save(made["id"], "Hello dear {{name}}", based_on=1)["version"] == 2
    late = refused(412, "precondition_failed", prompts.save, made["id"], "late", based_on=1).problem
    assert (late["current"]["version"], late["yours"]["content"]) == (2, "late")
    assert prompts.diff(made["id"], 1, 2)["is_same"] is False
    assert prompts.diff(made["id"], 2, {"content": "Hello dear {{name}}"})["is_same"] is True
    prompts.label(made["id"], "production", 1)
    assert prompts.version(made["id"], "production")["content"] == "Hello {{name}}"
    assert prompts.rollback(made["id"], 1)["restored_from"] == 1
    assert prompts.run(made["id"], variables={"name": "Ada"}, mode="answer")["items"][0]["text"] == "Hello Ada"
    assert prompts.export(made["id"], format="text") == "Hello {{name}}"
    assert prompts.versions(made["id"])["total"] == 3
    revision = prompts.get(made["id"])["revision"]
    assert prompts.update(made["id"], revision=revision, is_pinned=True)["is_pinned"] is True
    assert refused(412, "precondition_failed", prompts.update, made["id"], revision=revision, name="late")
    assert prompts.folders() == [{"name": "a/b", "count": 1}]
    assert prompts.tags() == [{"name": "t", "count": 1}]
    prompts.label(made["id"], "production", None)
    files = list(prompts.files())
    assert any(file["path"] == "a/b/hello/prompt.yaml" for file in files)
    assert all(item["outcome"] == "same" for item in prompts.import_files(files)["items"])
    assert prompts.list(q="hello", pinned=True)["items"][0]["id"] == made["id"]
    prompts.delete(made["id"])
    refused(404, "not_found", prompts.get, made["id"])


def memories_are_made_found_superseded_changed_in_a_batch():
    memories = parley.memories
    one = memories.create(content="用户住在京都", topic="place")
    two = memories.batch(create=[{"content": "用户住在奈良"}], update=[{"id": one["id"], "scope": "s"}])["created"][0]
    assert memories.search("京都")["items"][0]["id"] == one["id"]
    assert memories.supersede(one["id"], two["id"])["superseded_by"] == two["id"]
    assert memories.update(two["id"], disabled=True)["disabled"] is True
    assert memories.list(topic="place")["items"][0]["scope"] == "s"
    memories.delete(one["id"])
    refused(404, "not_found", memories.get, one["id"])


def tasks_are_made_run_stopped_told_in_words():
    tasks = parley.tasks
    task = tasks.create(title="daily", cron="0 7 * * *", timezone="Asia/Shanghai", prompt="hello")
    assert tasks.run(task["id"])["session_id"].startswith("sess_")
    assert tasks.runs(task["id"])["total"] == 1
    assert len(tasks.occurrences(task["id"], limit=3)) == 3
    assert tasks.stop(task["id"])["enabled"] is False
    assert tasks.start(task["id"])["enabled"] is True
    assert tasks.update(task["id"], title="other")["title"] == "other"
    assert any(item["task_id"] == task["id"] for item in tasks.calendar()["items"])
    assert tasks.explain("0 9 * * *", "UTC")["zh"] == "每天 09:00"
    tasks.delete(task["id"])
    assert tasks.list()["total"] == 0


def blobs_are_bytes_there_and_back_whole_and_in_part():
    blobs = parley.blobs
    data = bytes([0, 1, 2, 253, 254, 255])
    blob = blobs.create(data, name="six")
    assert (blob["size"], blob["name"]) == (6, "six")
    assert blobs.read(blob["id"]) == data
    assert blobs.read(blob["id"], "1-2") == data[1:3]
    assert blobs.info(blob["id"])["sha256"] == blob["sha256"]
    assert any(item["id"] == blob["id"] for item in blobs.list()["items"])
    try:
        blobs.fetch("http://127.0.0.1/")
        raise AssertionError("it was fetched")
    except ProblemError:
        pass
    blobs.delete(blob["id"])
    with open(__file__, "rb") as file:
        stored = blobs.create(file, name="cases.txt", type="text/plain")
    assert stored["size"] == os.path.getsize(__file__)


def sessions_are_made_listed_changed_deleted():
    session = parley.create_session(intent="greet")
    assert parley.session(session["id"])["intent"] == "greet"
    assert any(item["id"] == session["id"] for item in parley.sessions(limit=100)["items"])
    assert parley.change_session(session["id"], intent="other")["intent"] == "other"
    parley.delete_session(session["id"])
    refused(404, "not_found", parley.session, session["id"])


def the_same_idempotency_key_is_carried_out_once():
    one = parley.create_session(idempotency_key="python-1", intent="once")
    two = parley.create_session(idempotency_key="python-1", intent="once")
    assert one["id"] == two["id"]
    said = {"message": "once", "client_message_id": "the-one"}
    answers = [parley.chat(one["id"], **said) for _ in range(3)]
    assert [answer.get("duplicate", False) for answer in answers] == [False, True, True]
    refused(409, "conflict", parley.chat, one["id"], "another", client_message_id="the-one")


def a_chat_is_streamed_from_its_start_to_its_end():
    session_id = parley.create_session()["id"]
    events = list(parley.stream(session_id, "hello wörld"))
    assert events[0]["event"] == "chat:start" and events[-1]["event"] == "chat:end", events
    deltas = [event["data"]["data"].get("text_delta", "") for event in events if event["event"] == "turn:patch"]
    assert "".join(deltas) == "hello wörld"
    assert events[-1]["data"]["status"] == "completed"
    view = SessionView()
    view.position = {"epoch": 1, "sequence": events[0]["data"]["sequence"] - 1}
    assert all(view.apply(copy.deepcopy(event)) == "applied" for event in events)
    assert view.ordered == parley.messages(session_id)["turns"]
    since = dict(zip(("epoch", "sequence"), map(int, events[2]["id"].split(":"))))
    rest = parley.events(session_id, since)
    again = [next(rest) for _ in events[3:]]
    assert again == events[3:], (again, events[3:])
    rest.close()
    assert list(parley.stream(session_id, "x", client_message_id="x")) != []
    assert list(parley.stream(session_id, "x", client_message_id="x")) == [], "it was said before"


def what_a_chat_may_not_say_is_refused():
    session_id = parley.create_session()["id"]
    with parley.live() as live:
        for wrong in ({}, {"message": 7}, {"message": "x", "model": "none/such"}, {"message": "x", "when_busy": "later"}):
            error = refused(400, "invalid_request", parley.chat, session_id, **wrong)
            assert error.problem["detail"] and error.problem["request_id"]
            assert isinstance(refused(400, "invalid_request", live.request, "chat:send", {"session_id": session_id, **wrong}), LiveError)
    refused(401, "unauthorized", Parley(parley.url, "sk-parley-v1-nobody").sessions)


def a_question_waits_is_answered_once_and_the_turn_goes_on():
    session_id = parley.create_session()["id"]
    with parley.live() as live:
        view = live.subscribe(session_id)
        parley.chat(session_id, script("say let me ask", ASK, "---", "say thanks"))
        assert live.wait_for(lambda: view.questions, SAFETY_S)
        question = parley.questions(session_id)[0]
        assert question["kind"] == "ask" and question["tool_call_id"] in view.questions
        refused(409, "question_pending", parley.chat, session_id, "x", when_busy="reject")
        parley.answer(session_id, question["tool_call_id"], {"Which?": "A"})
        parley.answer(session_id, question["tool_call_id"], {"Which?": "A"})
        refused(409, "question_not_pending", parley.answer, session_id, question["tool_call_id"], {"Which?": "B"})
        assert live.wait_for(lambda: len(view.turns) == 3 and view.session["status"] == "completed", SAFETY_S)
        turns = same_as_server(live, view, session_id)
        assert not view.questions
        assert [block["type"] for block in turns[1]["blocks"]] == ["text", "tool_use", "tool_result", "ask_user_answer"]
        assert text_of(turns[2]) == "thanks"


def a_gated_tool_runs_only_when_a_person_approves():
    publish = "call publish " + json.dumps({"title": "T", "html": "<b>hi</b>"})
    for approve in (True, False):
        session_id = parley.create_session()["id"]
        with parley.live() as live:
            view = live.subscribe(session_id)
            parley.chat(session_id, script(publish, "---", "say done"))
            assert live.wait_for(lambda: view.questions, SAFETY_S)
            call, question = next(iter(view.questions.items()))
            assert question["kind"] == "confirm"
            refused(400, "invalid_request", parley.answer, session_id, call, {"approve": "perhaps"})
            parley.answer(session_id, call, {"approve": approve})
            assert live.wait_for(lambda: len(view.turns) == 3 and view.session["status"] == "completed", SAFETY_S)
            turns = same_as_server(live, view, session_id)
            assert ("tool_ui" in [block["type"] for block in turns[1]["blocks"]]) == approve
            assert (turns[1]["tool_calls"][0]["status"] == "done") == approve


def a_client_runs_its_own_tool():
    session_id = parley.create_session(tools=[{"name": "door", "input_schema": {"type": "object"}}])["id"]
    with parley.live() as live:
        view = live.subscribe(session_id)
        parley.chat(session_id, script('call door {"which":"front"}', "---", "results"))
        calls = lambda: [call for turn in view.ordered for call in turn["tool_calls"] if call.get("runs") == "client"]  # noqa: E731
        assert live.wait_for(calls, SAFETY_S)
        parley.tool_result(session_id, calls()[0]["id"], {"open": True})
        assert live.wait_for(lambda: view.session["status"] == "completed", SAFETY_S)
        assert '"open":true' in text_of(same_as_server(live, view, session_id)[-1]).replace(" ", "")


def a_chat_is_stopped_over_the_socket():
    session_id = parley.create_session()["id"]
    with parley.live() as live:
        view = live.subscribe(session_id)
        live.request("chat:send", {"session_id": session_id, "message": script("say begun", "wait 600000", "say never")})
        assert live.wait_for(lambda: any(text_of(turn) == "begun" for turn in view.ordered), SAFETY_S)
        assert live.request("chat:stop", {"session_id": session_id}) == {"stopped": True}
        settled(live, view)
        assert same_as_server(live, view, session_id)[-1]["status"] == "interrupted"


def loading_and_then_subscribing_shows_every_event_once():
    session_id = parley.create_session()["id"]
    parley.chat(session_id, script(*["repeat 20 word", "wait 10"] * 30))
    page = parley.messages(session_id)
    view = SessionView()
    view.load(page["turns"], page["position"])
    sequences = []
    with parley.live() as live:
        live.on_event = lambda event: sequences.append(event["data"]["sequence"])
        live.subscribe(session_id, view=view)
        assert live.wait_for(lambda: view.session and view.session["status"] == "completed", SAFETY_S)
        same_as_server(live, view, session_id)
        first = page["position"]["sequence"] + 1
        assert sequences == list(range(first, first + len(sequences)))


def a_reader_that_is_cut_at_many_patches_resumes_without_a_gap():
    session_id = parley.create_session()["id"]
    with parley.live(retry_ms=1) as live:
        view = live.subscribe(session_id)
        cuts, closes, modes = [], [], []

        def cut(event):
            if event["event"] == "turn:patch" and event["data"]["sequence"] % 7 == 0:
                cuts.append(event["data"]["sequence"])
                live.cut()
        live.on_event = lambda event: event["event"] == "session:snapshot" and modes.append(event["data"]["mode"])
        live.on_close = closes.append
        live.listen(session_id, cut)
        # On a busy machine one connection may deliver many events before it ends, so a chat has fewer interruptions.
        n_turns = 0
        while len(closes) < 10:
            n_turns += 2
            parley.chat(session_id, script(*[line for i in range(60) for line in ("think t%d" % i, "say s%d" % i, "wait 5")]))
            assert live.wait_for(lambda: len(view.turns) == n_turns and view.session["status"] == "completed", SAFETY_S)
        same_as_server(live, view, session_id)
        assert len(cuts) >= 10, len(cuts)
        assert len(cuts) == len(set(cuts)), "no event was seen twice"
        assert modes == [], "all that was missed was still held"


def what_is_no_longer_held_comes_compacted_and_a_foreign_epoch_as_a_snapshot():
    session_id = parley.create_session()["id"]
    with parley.live() as live:
        view = live.subscribe(session_id)
        parley.chat(session_id, "first")
        assert live.wait_for(lambda: view.session["status"] == "completed", SAFETY_S)
        same_as_server(live, view, session_id)
    list(parley.stream(session_id, script("repeat 3000 " + "x" * 512)))
    modes = []
    with parley.live() as live:
        live.on_event = lambda event: event["event"] == "session:snapshot" and modes.append(event["data"]["mode"])
        live.subscribe(session_id, view=view)
        assert live.wait_for(lambda: len(view.turns) == 4, SAFETY_S)
        same_as_server(live, view, session_id)
        other = SessionView()
        other.load([], {"epoch": 7, "sequence": 3})
        live.subscribe(session_id, view=other)
        assert live.wait_for(lambda: other.position["epoch"] == 1, SAFETY_S)
        same_as_server(live, other, session_id)
    assert modes == ["compacted", "snapshot"]


def a_session_that_is_deleted_is_lost():
    session_id = parley.create_session()["id"]
    lost = []
    with parley.live() as live:
        live.on_lost = lambda session, problem: lost.append((session, problem["code"]))
        live.subscribe(session_id)
        parley.delete_session(session_id)
        assert live.wait_for(lambda: session_id not in live._subscriptions, SAFETY_S)
        refused(404, "not_found", live.subscribe, session_id)
    assert lost == [(session_id, "not_found")]


def lists_of_the_user_are_told():
    told, came = [], threading.Event()
    with parley.live() as live:
        live.on_event = lambda event: (told.append(event["event"]), event["event"] == "prompt:deleted" and came.set())
        live.subscribe_user()
        prompt = parley.prompts.create(name="told", content="x")
        parley.prompts.delete(prompt["id"])
        assert came.wait(SAFETY_S)
    assert "prompt:updated" in told


def nobody_there_is_an_error_that_says_so():
    nobody = Parley("http://127.0.0.1:9")
    for call in (nobody.sessions, lambda: nobody.live().subscribe("sess_1")):
        try:
            call()
            raise AssertionError("somebody answered")
        except OSError:
            pass
    try:
        Parley("localhost:8787")
        raise AssertionError("the address was taken")
    except ValueError as error:
        assert "http://HOST:PORT" in str(error)


CASES = {name: case for name, case in list(globals().items())
         if getattr(case, "__module__", None) == "__main__" and callable(case)
         and name not in ("script", "refused", "settled", "same_as_server", "text_of")}

if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
    else:
        CASES[sys.argv[1]]()
