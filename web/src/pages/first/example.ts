/** Seed 002's example: a code audit with one worked example and a variable. */
export const audit = {
  protocol: 'structured-chat',
  system_prompt: '你是一位资深的代码审计专家...',
  messages: [
    { id: 'msg_1', role: 'user', content: '这是一段有漏洞的 Python 代码：\n```python\nprint(eval(input()))\n```' },
    { id: 'msg_2', role: 'assistant', content: '这段代码存在严重的安全漏洞。`eval()` 函数可以执行任意代码...' },
    { id: 'msg_3', role: 'user', content: '实际任务：请审计以下代码：\n{{input_code}}' },
  ],
  config: { temperature: 0.7 },
};

/** Puts a text to audit into the variable, so that the example runs at once; a value that the person set stays. */
export function giveValues(promptId: string): void {
  const name = `parley.values.${promptId}`;
  const input_code = 'import os, sys\ndef backup(path):\n    os.system("tar czf out.tgz " + path)\nbackup(sys.argv[1])';
  try {
    if (!localStorage.getItem(name)) localStorage.setItem(name, JSON.stringify({ sets: [{ input_code }], at: 0 }));
  } catch { /* no room: the workbench asks for the value */ }
}
