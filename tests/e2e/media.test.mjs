// parley media: turns a video made by ffmpeg into a message.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { directory, file, has, run } from './harness.mjs';

const skip = has('ffmpeg') ? false : 'ffmpeg is not installed';
const temp = join(directory, 'temp');
mkdirSync(temp);
const env = { TMPDIR: temp };

// Three seconds at ten frames a second; each second has one colour: red, green, blue.
function video(name, withSound) {
  const path = join(directory, name);
  const colour = (it) => ['-f', 'lavfi', '-i', `color=${it}:d=1:r=10:s=64x48`];
  const sound = withSound ? ['-f', 'lavfi', '-i', 'sine=d=3'] : [];
  const maps = withSound ? ['-map', '3:a'] : [];
  const made = spawnSync('ffmpeg', ['-v', 'error', '-y', ...colour('red'), ...colour('lime'), ...colour('blue'), ...sound,
    '-filter_complex', '[0][1][2]concat=n=3[v]', '-map', '[v]', ...maps, path], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  return path;
}

// The dominant colour of a JPEG: red, green or blue.
function colourOf(part) {
  const input = Buffer.from(part.image_url.url.replace('data:image/jpeg;base64,', ''), 'base64');
  const { stdout } = spawnSync('ffmpeg', ['-v', 'error', '-f', 'mjpeg', '-i', '-', '-vf', 'scale=1:1', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'], { input });
  return ['red', 'green', 'blue'][[0, 1, 2].sort((a, b) => stdout[b] - stdout[a])[0]];
}

test('frames come with their times, and show what is seen then', { skip }, () => {
  const path = video('colours.mp4', false);
  const { code, out, err } = run(['media', 'frames', '--every', '1s', path], { env });
  assert.deepEqual([code, err], [0, '']);
  const message = JSON.parse(out);
  assert.equal(message.role, 'user');
  const id = createHash('sha256').update(readFileSync(path)).digest('hex');
  const frames = message.content.slice(0, 3);
  assert.deepEqual(frames.map((it) => it.video_metadata), [0, 1, 2].map((i) => ({ video_id: id, timestamp_sec: i, frame_index: 10 * i })));
  assert.deepEqual(frames.map(colourOf), ['red', 'green', 'blue']);
  assert.ok(message.content.length <= 4);
  assert.deepEqual(readdirSync(temp), []);
});

test('the sound follows the frames, and the message is harmony', { skip }, () => {
  const to = join(directory, 'message.json');
  const path = video('-loud name.mp4', true);
  const { code, out, err } = run(['media', 'frames', '--every', '500ms', '--max', '3', '--sound', '--out', to, '--', './-loud name.mp4'], { env, cwd: directory });
  assert.ok(existsSync(path));
  assert.deepEqual([code, out, err], [0, '', '']);
  const { content } = JSON.parse(readFileSync(to, 'utf8'));
  assert.deepEqual(content.map((it) => it.video_metadata?.timestamp_sec), [0, 0.5, 1, undefined]);
  const sound = content[3].input_audio;
  assert.deepEqual([content[3].type, sound.format, sound.sample_rate], ['input_audio', 'wav', 16000]);
  const wav = Buffer.from(sound.data, 'base64');
  assert.deepEqual([wav.toString('latin1', 0, 4), wav.readUInt16LE(22), wav.readUInt32LE(24)], ['RIFF', 1, 16000]);
  assert.ok(Math.abs(wav.length - 3 * 32000) < 4000);
  assert.equal(run(['detect', to]).out, 'harmony\n');
  assert.equal(run(['convert', '--to', 'gemini', to]).code, 0);
});

test('a list of other files is not opened, whatever its name', { skip }, () => {
  const secret = video('secret.ts', false);
  const lists = [`#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\nfile://${secret}\n#EXT-X-ENDLIST\n`, `#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\n${secret}\n#EXT-X-ENDLIST\n`, `ffconcat version 1.0\nfile secret.ts\n`];
  for (const text of lists) {
    const { code, out, err } = run(['media', 'frames', '--every', '1s', file('list.mp4', text)], { env });
    assert.deepEqual([code, out], [3, ''], text);
    assert.match(err, /a list of other files/);
  }
  assert.equal(run(['media', 'frames', '--every', '1s', secret], { env }).code, 0);
});

test('what is no video, or has no sound, is exit 3 with what ffmpeg says', { skip }, () => {
  const text = run(['media', 'frames', '--every', '1s', file('text.mp4', 'no video')], { env });
  assert.equal(text.code, 3);
  assert.equal(text.out, '');
  assert.match(text.err, /ffmpeg cannot process it \(exit code \d+\): .+/);
  const silent = run(['media', 'frames', '--every', '1s', '--sound', video('silent.mp4', false)], { env });
  assert.equal(silent.code, 3);
  assert.equal(silent.out, '');
  assert.deepEqual(readdirSync(temp), []);
});

test('without ffmpeg it says what to install', () => {
  const { code, err } = run(['media', 'frames', '--every', '1s', file('any.mp4', 'x')], { env: { ...env, PATH: '/nowhere' } });
  assert.equal(code, 4);
  assert.match(err, /the program ffmpeg is not installed; install it/);
  assert.deepEqual(readdirSync(temp), []);
});

test('a missing video is exit 3', () => {
  const { code, err } = run(['media', 'frames', '--every', '1s', join(directory, 'missing.mp4')], { env });
  assert.equal(code, 3);
  assert.match(err, /there is no such file/);
});

test('the command line is checked', () => {
  const wrong = [
    [['frames', 'v.mp4'], /no interval; give --every 1s/],
    [['stills', '--every', '1s', 'v.mp4'], /"stills" is not an action; use frames/],
    [['frames', '--every', '1s', '-'], /cannot be read from standard input/],
    [['frames', '--every', '1s', '--max', '0', 'v.mp4'], /--max must be a number from 1/],
    ...['', '1', 's', '0s', '-1s', '1h', '1.s.', '99999999999s', '2000m'].map((every) => [['frames', `--every=${every}`, 'v.mp4'], /--every must be a time/]),
  ];
  for (const [args, message] of wrong) {
    const { code, err } = run(['media', ...args]);
    assert.equal(code, 2, args.join(' '));
    assert.match(err, message);
  }
});

test('a range of the video is enough, in the detail that is asked for', { skip }, () => {
  const path = video('range.mp4', false);
  const { code, out } = run(['media', 'frames', '--every', '500ms', '--start', '1s', '--end', '2s', '--detail', 'low', path], { env });
  assert.equal(code, 0);
  const frames = JSON.parse(out).content;
  assert.deepEqual(frames.map((it) => [it.video_metadata.timestamp_sec, it.video_metadata.frame_index, it.image_url.detail]), [[1, 10, 'low'], [1.5, 15, 'low']]);
  assert.deepEqual(frames.map(colourOf), ['green', 'green']);
  for (const wrong of [['--start', '2s', '--end', '1s'], ['--start', 'later'], ['--detail', 'huge']]) {
    assert.equal(run(['media', 'frames', '--every', '1s', ...wrong, path], { env }).code, 2, wrong.join(' '));
  }
});
