// llm-bridge: through its universal format. Synchronous, so nothing waits.
import { translateBetweenProviders } from 'llm-bridge';
import { run } from './convert_peer.mjs';

const names = { 'openai-chat': 'openai', 'openai-responses': 'openai-responses', anthropic: 'anthropic', gemini: 'google' };
await run('llm-bridge', (from, to, body) => translateBetweenProviders(names[from], names[to], body));
