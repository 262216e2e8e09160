// The stream figures of llm-bridge: gets the same bytes in pieces as from a socket; the output is read
// and counted. It parses and converts every event, as we do.
import { handleUniversalStreamRequest } from 'llm-bridge';
import { measure } from './convert_peer.mjs';
import { print, request } from './measure.mjs';

const PIECE_BYTES = 16 << 10;
const names = { 'openai-chat': 'openai', 'openai-responses': 'openai-responses', anthropic: 'anthropic', gemini: 'google' };

const asked = request();
const [figure, from, to] = asked.name.split('.');
if (figure !== 'stream' || !names[from] || !names[to]) throw new Error(`there is no figure named ${asked.name}`);

function source() {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= asked.bytes.length) return controller.close();
      controller.enqueue(asked.bytes.subarray(at, (at += PIECE_BYTES)));
    },
  });
}

let bytesOut;
async function once() {
  bytesOut = 0;
  for await (const piece of handleUniversalStreamRequest(source(), names[from], names[to])) bytesOut += piece.length;
}

// One event per delta; the few that begin and end an answer count too.
const deltas = asked.bytes.toString().split('\n').filter((line) => line.startsWith('data: ')).length;
await once();
if (bytesOut < asked.bytes.length / 4) throw new Error(`llm-bridge made only ${bytesOut} bytes of ${asked.bytes.length}`);
const result = await measure(asked.seconds, once);
print(asked, 'llm-bridge', result, {
  bytes_out: bytesOut, deltas, ns_per_delta: Number((result.nsPerOp / deltas).toFixed(1)),
  deltas_per_s: Math.round((deltas / result.nsPerOp) * 1e9),
});
