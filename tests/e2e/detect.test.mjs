// parley detect: bodies that look like another vendor's.
import assert from 'node:assert/strict';
import test from 'node:test';
import { run } from './harness.mjs';

const detect = (document) => run(['detect', '-'], { input: JSON.stringify(document) });
const messages = [{ role: 'user', content: 'hi' }];

test('a body for Claude in a cloud says so by anthropic_version', () => {
  for (const version of ['bedrock-2023-05-31', 'vertex-2023-10-16'])
    assert.deepEqual([detect({ anthropic_version: version, max_tokens: 9, messages }).out], ['anthropic\n']);
  assert.equal(detect({ max_tokens: 9, messages }).out, 'openai-chat\n');
  // The version counts only if it is a string.
  assert.equal(detect({ anthropic_version: 5, max_tokens: 9, messages }).out, 'openai-chat\n');
});

test('an error of OpenAI is told as one of Chat Completions, for both of its APIs have one shape', () => {
  assert.equal(detect({ error: { message: 'no', type: 'invalid_request_error', param: null, code: 'model_not_found' } }).out, 'openai-chat\n');
  assert.equal(detect({ error: { message: 'no', code: 401 } }).out, 'openai-chat\n');
});

test('a body of somebody in between is nobody\'s', () => {
  const { code, out } = detect({ detail: 'Could not parse your authentication token.' });
  assert.deepEqual([code, out], [1, '']);
});
