// An extension in JavaScript: one tool, one that calls the host, a command and a hook.
import { Extension } from './parley_ext.mjs';

const ext = new Extension();
const text = (name) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });

ext.tool('greet', 'Greets somebody.', text('name'), (call, input) => {
  call.progress('looking for words');
  return `Hello, ${input.name}!`;
});

// The host reads the size, if the extension has the permission.
ext.tool('measure', 'Says how long a file of the workspace is.', text('path'), async (call, input) => {
  const { size } = await call.host('fs', { op: 'stat', path: input.path });
  return `${input.path} has ${size} bytes.`;
});

ext.command('hello', 'Says hello.', (call, args) => `Hello from JavaScript, ${args[0] ?? 'you'}.`);

ext.hook('tool_call:bash', (call, data) =>
  data.input.command?.includes('rm -rf /') ? { block: true, reason: 'that would remove everything' } : {});

ext.run();
