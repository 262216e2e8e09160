// gpt-tokenizer: JavaScript, caches the words it has seen.
import { countTokens, encode } from 'gpt-tokenizer/encoding/o200k_base';
import { run } from './tokens_peer.mjs';

run('gpt-tokenizer', { count: (text) => countTokens(text), encode: (text) => encode(text) });
