// tiktoken: the vendor's own tokenizer, in Rust as WebAssembly. It has no function that only counts.
import { get_encoding } from 'tiktoken';
import { run } from './tokens_peer.mjs';

const encoding = get_encoding('o200k_base');
run('tiktoken', { count: (text) => encoding.encode_ordinary(text).length, encode: (text) => encoding.encode_ordinary(text) });
