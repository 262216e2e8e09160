"""Writes the input histories of the trim figures: trim_histories.write_all(DIR)

  trim-N.json  N messages: a question, a call, its result, an answer, and so on; then one more question
"""
import json

SIZES = [10, 100, 1000, 10000]
NAMES = [f"trim-{size}.json" for size in SIZES]


def exchange(number):
    call = {"id": f"call_{number}", "type": "function",
            "function": {"name": "read_file", "arguments": json.dumps({"path": f"src/module_{number}.c"})}}
    return [{"role": "user", "content": f"What does module {number} do, and who calls it?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": f"/* Module {number}. */\n" + "int run(void);\n" * 12},
            {"role": "assistant", "content": f"Module {number} starts the work; only main calls it."}]


def history(size):
    messages = [message for number in range(size // 4 + 1) for message in exchange(number)]
    return {"model": "gpt-5", "messages": messages[:size // 4 * 4] + [{"role": "user", "content": "And all together?"}]}


def write_all(directory):
    for size, name in zip(SIZES, NAMES):
        (directory / name).write_text(json.dumps(history(size)), encoding="utf-8")
