/**
 * Lint findings for the chosen models, and the length of each block in tokens. Requested 400 ms after the last key; an answer
 * for an older text is discarded. If a finding contains an edit, one button applies it.
 */
import { ProblemError, type Schemas } from '@parley/client';
import { server } from '$/state/server.svelte';
import { t } from '$/state/words.svelte';
import type { Editor } from './editor.svelte';
import { apply } from './edits';
import { focusBlock } from './focus';
import * as model from './prompt';
import type { Doc } from './prompt';
import type { Finding } from './types';

export interface Fix { label: string; run: () => void }
export interface Advice { id: string; code: string; severity: Finding['severity']; text: string; pointer: string; models: string[]; fixes: Fix[] }

type Counted = Schemas['Counted'];

export class Checker {
  advice: Advice[] = $state.raw([]);
  tokens: number | null = $state(null);
  isEstimated = $state(false);
  systemTokens: number | undefined = $state();
  byBlock: Map<string, number> = $state.raw(new Map());
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Models for which the server has no rules. */
  #unknown = new Set<string>();

  constructor(private readonly editor: Editor) {}

  ask(doc: Doc, models: readonly string[], ms = 400): void {
    clearTimeout(this.#timer);
    const mine = ++this.#asked;
    this.#timer = setTimeout(() => void this.#check(mine, doc, models), ms);
  }

  async #check(mine: number, doc: Doc, models: readonly string[]): Promise<void> {
    const document = model.chatOf(doc);
    const [findings] = await Promise.all([this.#findings(document, models), this.#count(mine, doc, document, models[0])]);
    if (mine !== this.#asked) return;
    this.advice = this.#advise(doc, findings);
  }

  async #count(mine: number, doc: Doc, document: unknown, first: string | undefined): Promise<void> {
    try {
      const counted = await this.#tokens(document, first);
      if (mine !== this.#asked) return;
      this.tokens = counted.tokens;
      this.isEstimated = counted.estimated;
      this.systemTokens = doc.system && typeof counted.by?.system === 'number' ? counted.by.system : undefined;
      const numbers = (counted.by_message ?? []).map((one) => one.tokens);
      // If the count includes the system text as a message, it is the first.
      const shift = numbers.length === doc.blocks.length + 1 ? 1 : 0;
      this.byBlock = new Map(doc.blocks.map((block, i) => [block.key, numbers[i + shift]]).filter((one): one is [string, number] => one[1] !== undefined));
    } catch { /* the last counts stay */ }
  }

  async #tokens(document: unknown, first: string | undefined): Promise<Counted> {
    const ask = (more: object): Promise<Counted> => server.json('POST', '/api/tokens', { document, as: 'structured-chat', messages: true, ...more });
    if (!first || server.isDemo(first)) return ask({});
    try {
      return await ask({ model: first });
    } catch {
      return ask({});
    }
  }

  async #findings(document: unknown, models: readonly string[]): Promise<[string, Finding[]][]> {
    const known = models.filter((name) => !this.#unknown.has(name) && !server.isDemo(name));
    const wanted = known.length ? known : [''];
    return Promise.all(wanted.map(async (name): Promise<[string, Finding[]]> => {
      try {
        const linted = await server.json<{ findings: Finding[] }>('POST', '/api/lint', { document, as: 'structured-chat', ...(name ? { for: name } : {}) });
        return [name, linted.findings];
      } catch (error) {
        if (error instanceof ProblemError && error.problem.status === 400 && name) this.#unknown.add(name);
        return [name, []];
      }
    }));
  }

  #advise(doc: Doc, findings: [string, Finding[]][]): Advice[] {
    const found = new Map<string, { finding: Finding; models: string[] }>();
    for (const [name, list] of findings) {
      for (const finding of list) {
        // An empty prompt is not reported.
        if (finding.code === 'content.empty') continue;
        const id = `${finding.code} ${finding.pointer}`;
        const one = found.get(id) ?? { finding, models: [] };
        if (name) one.models.push(name);
        found.set(id, one);
      }
    }
    return [...found].map(([id, { finding, models }]) => ({
      id, code: finding.code, severity: finding.code === 'setting.refused' ? 'warning' : finding.severity, pointer: finding.pointer, models, text: this.#say(finding, models), fixes: this.#fixes(doc, finding),
    }));
  }

  #say(finding: Finding, models: string[]): string {
    const name = models.map((one) => one.slice(one.indexOf('/') + 1)).join(', ');
    const setting = finding.pointer.split('/').at(-1) ?? '';
    if (finding.code === 'setting.refused' && name) return t('wb.lint.refuses', { model: name, setting });
    if (finding.code === 'turn.prefill' && name) return t('wb.lint.prefill', { model: name });
    return finding.message;
  }

  #fixes(doc: Doc, finding: Finding): Fix[] {
    const edit = (change: (now: Doc) => Doc) => (): void => this.editor.change(change);
    const [, part, at] = finding.pointer.split('/');
    const setting = part === 'config' ? at : undefined;
    if (finding.code === 'setting.refused' && setting) {
      return [{ label: t('wb.lint.remove'), run: edit((now) => ({ ...now, config: Object.fromEntries(Object.entries(now.config).filter(([name]) => name !== setting)) })) }];
    }
    const last = doc.blocks.at(-1);
    if (finding.code === 'turn.prefill' && last) {
      return [
        { label: t('wb.lint.prefill.fix1'), run: () => void focusBlock(this.editor.add('user')) },
        { label: t('wb.lint.prefill.fix2'), run: () => this.editor.removeBlock(last.key) },
      ];
    }
    if (finding.fix?.length) return [{ label: t('wb.lint.fix'), run: edit((now) => apply(now, finding.fix!)) }];
    return [];
  }

  /** The findings of a block; findings of the document are shown at the top. */
  of(index: number): Advice[] {
    return this.advice.filter((one) => this.place(one) === index);
  }

  /** The block's index, -1 for the system text, null for the document. */
  place(one: Advice): number | null {
    const [, part, at] = one.pointer.split('/');
    if (part === 'system_prompt') return -1;
    const index = Number(at);
    return part === 'messages' && Number.isInteger(index) && index < this.editor.doc.blocks.length ? index : null;
  }
}
