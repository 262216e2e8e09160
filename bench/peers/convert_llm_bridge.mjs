// llm-bridge: converts through its universal format. It is synchronous, so no promise is awaited.
import { translateBetweenProviders } from 'llm-bridge';
import { run } from './convert_peer.mjs';

const names = { 'openai-chat': 'openai', 'openai-responses': 'openai-responses', anthropic: 'anthropic', gemini: 'google' };
await run('llm-bridge', (from, to, body) => translateBetweenProviders(names[from], names[to], body));
