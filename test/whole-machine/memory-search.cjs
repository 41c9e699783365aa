// Runs inside the machine, as root: finds processes with a text in their memory. Usage: node memory-search.cjs HEX...
// The texts are hexadecimal, so that no command line contains them. This process itself is left out. Prints a JSON line for each
// find: {"pid","command","text"} with the text's number.
const { openSync, readSync, closeSync, readFileSync, readdirSync } = require('node:fs');

const texts = process.argv.slice(2).map((hex) => Buffer.from(hex, 'hex'));
// The UTF-16 form, which V8 uses for strings with a character beyond Latin-1.
const wanted = texts.flatMap((text, number) => [
  { number, bytes: text },
  { number, bytes: Buffer.from(text.toString('latin1'), 'utf16le') },
]);
const OVERLAP = Math.max(...wanted.map(({ bytes }) => bytes.length));
const PIECE = 4 * 2 ** 20;
const buffer = Buffer.alloc(PIECE + OVERLAP);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const counts = { processes: 0, bytes: 0 };

for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
  let [maps, command] = ['', ''];
  try {
    maps = readFileSync(`/proc/${pid}/maps`, 'latin1');
    command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
  } catch {
    continue;
  }
  if (maps === '') continue;
  const found = new Set();
  let memory = 0;
  try {
    memory = openSync(`/proc/${pid}/mem`, 'r');
  } catch {
    // The process has ended.
    continue;
  }
  counts.processes += 1;
  for (const line of maps.split('\n')) {
    const [, from, to, rights = ''] = /^([0-9a-f]+)-([0-9a-f]+) (\S+)/.exec(line) ?? [];
    if (from === undefined || !rights.startsWith('r') || line.includes('[vvar')) continue;
    for (let at = Number.parseInt(from, 16); at < Number.parseInt(to, 16); at += PIECE) {
      const length = Math.min(PIECE + OVERLAP, Number.parseInt(to, 16) - at);
      let size = 0;
      try {
        size = readSync(memory, buffer, 0, length, at);
      } catch {
        continue;
      }
      counts.bytes += size;
      const piece = buffer.subarray(0, size);
      for (const { number, bytes } of wanted) if (piece.includes(bytes)) found.add(number);
    }
  }
  closeSync(memory);
  for (const text of found) say({ pid: Number(pid), command: command.slice(0, 120), text });
}
say(counts);
