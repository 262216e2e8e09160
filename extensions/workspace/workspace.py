"""The files of the workspace as tools. The host does the work: it opens every path beneath the workspace, asks if the
policy requires it, and runs each command in its own cell. This program only declares the tools."""
from parley_ext import Extension

TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 1}
FLAG = {"type": "boolean"}

TOOLS = {
    "read": ("Reads a file of the workspace, with the numbers of its lines.",
             {"path": TEXT, "offset": COUNT, "limit": COUNT}, ["path"]),
    "grep": ("Finds the lines that match a regular expression in the files of the workspace.",
             {"pattern": TEXT, "path": TEXT, "glob": TEXT, "literal": FLAG, "limit": COUNT}, ["pattern"]),
    "find": ("Finds files of the workspace by a glob, such as src/**/*.c.",
             {"pattern": TEXT, "path": TEXT, "limit": COUNT}, ["pattern"]),
    "ls": ("Lists a directory of the workspace.", {"path": TEXT, "limit": COUNT}, []),
    "write": ("Writes a file of the workspace, with all its content.", {"path": TEXT, "content": TEXT},
              ["path", "content"]),
    "edit": ("Replaces a text in a file of the workspace. The old text must be there exactly once.",
             {"path": TEXT, "oldText": TEXT, "newText": TEXT}, ["path", "oldText", "newText"]),
    "bash": ("Runs a command with bash in the workspace, and gives what it prints and its exit code.",
             {"command": TEXT, "timeout": {**COUNT, "maximum": 600, "description": "Seconds; 120 if not said"}},
             ["command"]),
}

ext = Extension()


def shown(output):
    """The output of a command, formatted for a model; other outputs are unchanged."""
    if "stdout" not in output and "stderr" not in output:
        return output
    parts = [output.get("stdout", ""), output.get("stderr", "")]
    if output.get("truncated"):
        parts.append("[cut: it printed more]")
    if output.get("code"):
        parts.append(f"[exit code {output['code']}]")
    return "\n".join(part.rstrip("\n") for part in parts if part) or "[it printed nothing]"


def offer(name, description, properties, required):
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    @ext.tool(name, description, schema, **({"timeout_ms": 600000} if name == "bash" else {}))
    def run(call, input):
        seconds = input.get("timeout", 120) if name == "bash" else 0
        return shown(call.host("tool", {"name": name, "input": input}, timeout_ms=1000 * seconds))


for name, (description, properties, required) in TOOLS.items():
    offer(name, description, properties, required)
ext.run()
