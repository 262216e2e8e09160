// Finds silent losses of a conversion: values of the source that are neither in the output nor in the report. A report
// that names a container covers its content only if the container was dropped, or if the detail says so for everything
// in it.
// Members of a grammar, and counters that other formats count differently: each target has its own words for them.
const grammar = /^(type|role|kind|object|status|finish_reason|stop_reason|finishReason|mode|tool_choice|function_call|effort|reasoning_effort|thinking_level|thinkingLevel|format|mimeType|mime_type|mediaType|media_type|responseMimeType|response_mime_type|service_tier|reason|index|total_tokens|totalTokenCount|prompt_tokens|completion_tokens|input_tokens|output_tokens|candidatesTokenCount|promptTokenCount|toolUsePromptTokenCount|code|outcome|include|detail|thinking_budget|thinkingBudget|budget_tokens|protocol|version|charCount|sequence|timestamp|created_at|vendor|\d+)$/;
// Defaults of all other vendors, which have no word for them: code runs in Python, and a server's tools are called
// without asking.
const usual = new Map([['language', 'PYTHON'], ['require_approval', 'never'], ['loop_id', 'root']]);
// Details that cover everything in the container.
const speaksForAll = [/^the schema is written as a TypeScript type/];

// Values that need not be in the output: the target has its own words for them, or they say nothing.
export const isGrammar = (key, value) => grammar.test(key) || value === null || value === '' || value === 0 || typeof value === 'boolean' || usual.get(key) === value;

// The content of a document: its keys and values, also those of JSON inside its texts.
export function wordsOf(text) {
  const words = [text];
  const listen = (value) => {
    if (Array.isArray(value)) value.forEach(listen);
    else if (value && typeof value === 'object') for (const [key, inner] of Object.entries(value)) { words.push(key); listen(inner); }
    else if (value !== null) {
      words.push(String(value));
      // A text with citations has anchors in it.
      if (typeof value === 'string' && value.includes('<cite id="')) words.push(value.replace(/<cite id="[^"]*"\/>/g, ''));
      if (typeof value === 'string' && /^\s*[[{]/.test(value)) try { listen(JSON.parse(value)); } catch { /* it only looks like JSON */ }
    }
  };
  try { listen(JSON.parse(text)); } catch { words.push(text.replace(/\n\/\/ /g, '\n')); }
  return words.join('\n');
}

export function says(words, value) {
  // Anchors of citations are removed from a text if the target has its own citations.
  const text = String(value).replace(/<cite id="[^"]*"\/>/g, '');
  // Literally, as a JSON string, or as a JSON string in ASCII.
  const ascii = (s) => s.replace(/[^\x00-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const spelled = (s) => [s, JSON.stringify(s).slice(1, -1), ascii(JSON.stringify(s).slice(1, -1))];
  const has = (s) => spelled(s).some((t) => words.includes(t));
  if (has(text)) return true;
  if (typeof value === 'number') return !Number.isInteger(value) || has(String(Number(value.toPrecision(15))));
  if (/^\d{4}-\d\d-\d\dT/.test(text) && has(String(Math.floor(Date.parse(text) / 1000)))) return true;
  if (/^data:/.test(text) && has(text.slice(text.indexOf(',') + 1))) return true;
  if (/^\s*[[{]/.test(text)) try {
    const leaves = [];
    const collect = (v) => { if (v && typeof v === 'object') Object.values(v).forEach(collect); else if (v !== null && v !== '') leaves.push(String(v)); };
    collect(JSON.parse(text));
    return leaves.every(has);
  } catch { /* not JSON after all */ }
  return text.split('\n').every((line) => has(line.trim()));
}

// The report by place: `has(pointer)` for one value alone, `covers(pointer)` for a value with all its content.
export function reader(losses) {
  const reported = new Map();
  for (const loss of losses) if (loss.code !== 'synthesised') reported.set(loss.pointer, [...(reported.get(loss.pointer) ?? []), loss]);
  const excuses = (loss) => loss.code === 'dropped' || speaksForAll.some((words) => words.test(loss.detail));
  return {
    has: (pointer) => reported.has(pointer),
    covers: (pointer) => (reported.get(pointer) ?? []).some(excuses),
  };
}

export const escaped = (key) => key.replace(/~/g, '~0').replace(/\//g, '~1');

// The values that are neither in the output nor reported.
export function silent(source, out, losses) {
  const words = wordsOf(out);
  const report = reader(losses);
  const found = [];
  const walk = (value, pointer) => {
    const isContainer = value !== null && typeof value === 'object';
    if (pointer !== '' && (isContainer ? report.covers(pointer) : report.has(pointer))) return;
    if (isContainer) {
      for (const [key, inner] of Object.entries(value)) walk(inner, `${pointer}/${escaped(key)}`);
      return;
    }
    if (isGrammar(pointer.slice(pointer.lastIndexOf('/') + 1), value) || says(words, value)) return;
    found.push(`${pointer}: ${String(value).slice(0, 60)}`);
  };
  walk(source, '');
  return found;
}
