// PDFs written by hand: pages of lines, and the features of a hostile or locked one. The objects one after another, then their offsets.
import { createHash } from 'node:crypto';

const md5 = (...parts) => { const hash = createHash('md5'); for (const part of parts) hash.update(part); return hash.digest(); };
function rc4(key, data) {
  const s = Uint8Array.from({ length: 256 }, (_, i) => i), out = Buffer.alloc(data.length);
  for (let i = 0, j = 0; i < 256; i++) { j = (j + s[i] + key[i % key.length]) & 255; [s[i], s[j]] = [s[j], s[i]]; }
  for (let n = 0, i = 0, j = 0; n < data.length; n++) { i = (i + 1) & 255; j = (j + s[i]) & 255; [s[i], s[j]] = [s[j], s[i]]; out[n] = data[n] ^ s[(s[i] + s[j]) & 255]; }
  return out;
}
const padding = Buffer.from('28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A', 'hex');
const padded = (password) => Buffer.concat([Buffer.from(password), padding]).subarray(0, 32);

// The standard handler of PDF 1.1: RC4 with 40 bits.
function locked(password) {
  const id = md5('parley'), permissions = Buffer.from([0xfc, 0xff, 0xff, 0xff]);
  const owner = rc4(md5(padded(password)).subarray(0, 5), padded(password));
  const key = md5(padded(password), owner, permissions, id).subarray(0, 5);
  const hex = (bytes) => `<${bytes.toString('hex')}>`;
  return {
    id: hex(id), entry: `<< /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O ${hex(owner)} /U ${hex(rc4(key, padding))} >>`,
    hide: (number, data) => rc4(md5(key, Buffer.from([number & 255, number >> 8, 0, 0, 0])).subarray(0, 10), data),
  };
}

// `pages` are lists of lines, the first at 72, 72 from the top left. `annotation` and `action` are raw PDF objects.
export function makePdf(pages, { width = 300, height = 400, rotate = 0, annotation, action, password, font = '/Type1 /BaseFont /Helvetica' } = {}) {
  const lock = password === undefined ? null : locked(password);
  const objects = [];
  const add = (text) => objects.push(text);
  const kids = pages.map((_, i) => `${4 + 2 * i} 0 R`).join(' ');
  add(`<< /Type /Catalog /Pages 2 0 R ${action ? `/OpenAction ${action}` : ''} >>`);
  add(`<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`);
  add(`<< /Type /Font /Subtype ${font} >>`);
  pages.forEach((lines, i) => {
    add(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Rotate ${rotate} /Resources << /Font << /F 3 0 R >> >> /Contents ${5 + 2 * i} 0 R ${annotation ? `/Annots [${annotation}]` : ''} >>`);
    const drawn = `BT /F 12 Tf 72 ${height - 84} Td 16 TL ${lines.map((line) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj T*`).join(' ')} ET`;
    const stream = lock ? lock.hide(5 + 2 * i, Buffer.from(drawn)) : Buffer.from(drawn);
    add(Buffer.concat([Buffer.from(`<< /Length ${stream.length} >>\nstream\n`), stream, Buffer.from('\nendstream')]));
  });
  if (lock) add(lock.entry);
  const parts = [Buffer.from('%PDF-1.4\n')], places = [];
  let at = parts[0].length;
  const put = (part) => { parts.push(part); at += part.length; };
  objects.forEach((object, i) => {
    places.push(at);
    put(Buffer.concat([Buffer.from(`${i + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')]));
  });
  put(Buffer.from(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${lock ? `/Encrypt ${objects.length} 0 R /ID [${lock.id} ${lock.id}]` : ''} >>\nstartxref\n${at}\n%%EOF\n`));
  return Buffer.concat(parts);
}
