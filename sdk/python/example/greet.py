"""An extension in Python: one tool, one that calls the host, a command and a hook."""
from parley_ext import Extension

ext = Extension()


def text(name):
    return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}


@ext.tool("greet", "Greets somebody.", text("name"))
def greet(call, input):
    call.progress("looking for words")
    return f"Hello, {input['name']}!"


@ext.tool("measure", "Says how long a file of the workspace is.", text("path"))
def measure(call, input):
    size = call.fs("stat", input["path"])["size"]  # the host reads the size, if the extension has the permission
    return f"{input['path']} has {size} bytes."


@ext.command("hello", "Says hello.")
def hello(call, args, input):
    return f"Hello from Python, {args[0] if args else 'you'}."


@ext.hook("tool_call:bash")
def guard(call, data, event):
    if "rm -rf /" in data["input"].get("command", ""):
        return {"block": True, "reason": "that would remove everything"}


ext.run()
