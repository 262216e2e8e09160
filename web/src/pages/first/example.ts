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
