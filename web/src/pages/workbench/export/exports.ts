/** The export formats of a prompt, with the letter that copies each after E. */
export interface Form { id: string; to: string; letter: string; name: string; hint: string; file: string; type: string }

export const forms: Form[] = [
  { id: 'openai', to: 'openai-chat', letter: 'o', name: 'OpenAI', hint: 'Chat', file: 'json', type: 'application/json' },
  { id: 'responses', to: 'openai-responses', letter: 'r', name: 'OpenAI', hint: 'Responses', file: 'json', type: 'application/json' },
  { id: 'anthropic', to: 'anthropic', letter: 'a', name: 'Anthropic', hint: 'Messages', file: 'json', type: 'application/json' },
  { id: 'gemini', to: 'gemini', letter: 'g', name: 'Gemini', hint: 'contents', file: 'json', type: 'application/json' },
  { id: 'yaml', to: 'yaml', letter: 'y', name: 'YAML', hint: '.prompt.yml', file: 'prompt.yml', type: 'application/yaml' },
  { id: 'markdown', to: 'markdown', letter: 'm', name: 'Markdown', hint: '.md', file: 'md', type: 'text/markdown' },
  { id: 'curl', to: 'curl', letter: 'u', name: 'curl', hint: 'shell', file: 'sh', type: 'text/x-shellscript' },
  { id: 'claude', to: 'claude', letter: 'c', name: 'Claude Code', hint: 'claude -p', file: 'sh', type: 'text/x-shellscript' },
  { id: 'envelope', to: 'envelope', letter: 'v', name: 'Envelope', hint: '1.0', file: 'json', type: 'application/json' },
  { id: 'gpt-oss', to: 'gpt-oss', letter: 'h', name: 'gpt-oss', hint: 'harmony', file: 'txt', type: 'text/plain' },
];

export interface Loss { code: string; pointer: string; detail: string }
export interface LossGroup { code: string; detail: string; pointer: string; count: number }

/** Losses with the same code and detail, whose places differ only in their numbers, become one line. */
export function grouped(losses: readonly Loss[]): LossGroup[] {
  const groups = new Map<string, LossGroup>();
  for (const loss of losses) {
    const pointer = loss.pointer.replace(/\/\d+(?=\/|$)/g, '/*');
    const { detail } = loss;
    const id = JSON.stringify([loss.code, detail, pointer]);
    const one = groups.get(id);
    if (one) one.count++; else groups.set(id, { code: loss.code, detail, pointer, count: 1 });
  }
  return [...groups.values()];
}

export const textOf = (document: unknown): string =>
  (typeof document === 'string' ? document : `${JSON.stringify(document, null, 2)}\n`);

/** Makes a file name that every system accepts. */
export const fileName = (name: string, form: Form): string =>
  `${name.replace(/[\\/:*?"<>|\u0000-\u001f]+/g, '-').replace(/^[.\s]+|[.\s]+$/g, '').slice(0, 80) || 'prompt'}.${form.file}`;
