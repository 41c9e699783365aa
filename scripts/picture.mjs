/**
 * Draws docs/demo.svg: runs the shipped `dragoman demo` in its own terminal (`script` of util-linux), and keeps the picture
 * after some seconds, when a sentence and its translation are shown. Usage: npm run picture
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { paintSvg } from './picture/svg.mjs';
import { Terminal } from './picture/terminal.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COLUMNS = 80;
const ROWS = 26;
/** Earliest time of the picture, on the demo's clock (s): by this time the demo shows latencies. */
const MOMENT_S = 27;
const LONGEST_MS = 120_000;
/** Terminal sequence at the end of each frame of the live view. */
const END_OF_FRAME = '\u001b[?2026l';

const folder = await mkdtemp(join(tmpdir(), 'dragoman-picture-'));
const demo = `node ${join(ROOT, 'dist', 'dragoman.mjs')} demo --output ${join(folder, 'demo.wav')}`;
const child = spawn('script', ['-qfec', `stty cols ${COLUMNS} rows ${ROWS}; ${demo}`, '/dev/null'], {
  env: { PATH: process.env.PATH, TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' },
  stdio: ['ignore', 'pipe', 'ignore'],
});
const tooLong = setTimeout(() => child.kill('SIGTERM'), LONGEST_MS);
const terminal = new Terminal(COLUMNS);
let picture = null;
let rest = '';

child.stdout.setEncoding('utf8');
for await (const text of child.stdout) {
  const frames = (rest + text).split(END_OF_FRAME);
  rest = frames.pop() ?? '';
  for (const frame of frames) {
    terminal.write(frame);
    if (picture === null && isWorthShowing(terminal.text())) picture = terminal.rows();
  }
  if (picture !== null) child.kill('SIGTERM');
}
clearTimeout(tooLong);
await rm(folder, { recursive: true, force: true });

if (picture === null) {
  process.stderr.write(`The demo showed no sentence with its translation:\n${terminal.text()}\n`);
  process.exitCode = 1;
} else {
  const begin = picture.findIndex((row) => row.some(({ text }) => text.includes('Dragoman demo')));
  const svg = paintSvg(picture.slice(begin, begin + ROWS - 1), COLUMNS, 'npm run demo');
  await writeFile(new URL('../docs/demo.svg', import.meta.url), svg);
}

function isWorthShowing(text) {
  const [, minutes, seconds] = /time +(\d+):(\d\d)/.exec(text) ?? [];
  return Number(minutes) * 60 + Number(seconds) >= MOMENT_S && /mic to wire +p50 +[\d.]+ ms/.test(text);
}
