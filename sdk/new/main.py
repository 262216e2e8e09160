"""@NAME@: a tool for Parley."""
from parley_ext import Extension

ext = Extension()


@ext.tool("@TOOL@", "Counts the words of a text.",
          {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]})
def run(call, input):
    return f"{len(input['text'].split())} words"


ext.run()
