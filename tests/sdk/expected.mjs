// The content of each fixture in vendor-neutral terms. `input` includes cached tokens, `output`
// includes reasoning. finish: stop, length, tools or refused; why: a filter's reason, for which
// only Chat has a place.
const ZURICH = '{"city": "Zürich", "days": 3, "id": 2512292042121000001}';
const TOOLS = {
  text: 'Let me check.', finish: 'tools', input: 80, output: 40,
  calls: [['get_weather', ZURICH], ['get_time', '{"tz":"Asia/Tokyo"}']],
};
const NO_ARGUMENTS = { calls: [['get_now', '{}']], finish: 'tools', input: 9, output: 3 };
const THINKING = { thinking: 'First thoughts.', text: 'The answer.', finish: 'stop', input: 9, output: 30 };
const CUT_SHORT = { text: 'Cut off he', finish: 'length', input: 9, output: 3 };
const REFUSED = { text: 'Partly ', finish: 'refused', input: 9, output: 2 };
const ERROR = { isError: true };

export const expected = {
  // tests/sdk/fixtures
  'openai-chat.parallel': {
    calls: [['add', '{"x":1}'], ['sub', '{"y":[2]}']], finish: 'tools', input: 7, output: 5,
  },
  'openai-chat.broken': ERROR,
  'anthropic.cached': { text: 'naïve 😀\n', finish: 'length', input: 42, output: 4 },
  'gemini.thought': { thinking: 'Hm, yes.', text: 'Yes.', finish: 'stop', input: 6, output: 5 },

  // the fixtures of the acceptance suite
  'anthropic.cut': ERROR,
  'anthropic.noargs': { ...NO_ARGUMENTS, input: 25 },
  'anthropic.refusal': { ...REFUSED, why: 'declined for safety' },
  'anthropic.thinking': THINKING,
  'anthropic.tools': TOOLS,
  'gemini.blocked': { finish: 'refused', why: 'PROHIBITED_CONTENT', input: 9, output: 0 },
  'gemini.error': ERROR,
  'gemini.filter': REFUSED,
  'gemini.length': CUT_SHORT,
  'gemini.noargs': NO_ARGUMENTS,
  'gemini.tools': {
    ...TOOLS,
    calls: [['get_weather', '{"city":"Zürich","days":3}'], ['get_weather', '{"city":"Genève","days":1}']],
  },
  'gemini.usage': { text: 'ok', finish: 'stop', input: 140, output: 50 },
  'openai-chat.filter': REFUSED,
  'openai-chat.length': CUT_SHORT,
  'openai-chat.noargs': NO_ARGUMENTS,
  'openai-chat.reasoning': THINKING,
  // Gemini has filters but no refusal by the model: there it is an ordinary answer.
  'openai-chat.refusal': {
    text: 'I cannot do that.', finish: 'refused', finishAt: { gemini: 'stop' }, input: 9, output: 6,
  },
  'openai-chat.tools': TOOLS,
  'openai-responses.length': CUT_SHORT,
  'openai-responses.noargs': NO_ARGUMENTS,
  'openai-responses.reasoning': THINKING,
  'openai-responses.text': { text: 'Hello, world!', finish: 'stop', input: 12, output: 4 },
  'openai-responses.tools': TOOLS,
  'openai-responses.unicode': {
    text: 'naïve — 中文，日本語 e\u0301 👩\u200d👩\u200d👧\u200d👦 "quoted" \\ back/slash\n\ttab \u2028 end 😀',
    finish: 'stop', input: 5, output: 9,
  },
  'openai-responses.usage': { text: 'ok', finish: 'stop', input: 4003, output: 50 },
};
