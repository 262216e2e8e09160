// ai-tokenizer: JavaScript, caches the words it has seen.
import Tokenizer from 'ai-tokenizer';
import * as o200k from 'ai-tokenizer/encoding/o200k_base';
import { run } from './tokens_peer.mjs';

const tokenizer = new Tokenizer(o200k);
run('ai-tokenizer', { count: (text) => tokenizer.count(text), encode: (text) => tokenizer.encode(text) });
