/**
 * Prints the skipped tests of a suite with their reasons, and compares their numbers with a committed list:
 * `node scripts/skips.mjs LIST SUITE SKIPS`. Ends with 3 and a line for each excess when more are skipped than listed.
 * `node scripts/skips.mjs --files SKIPS` prints the files with skipped tests.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Reads lines such as `bare | 12 | needs mosquitto`. @throws for another line */
export function parseList(text) {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return [];
    const [suite, most, reason, ...more] = line.split('|').map((part) => part.trim());
    if (!suite || !/^\d+$/.test(most ?? '') || !reason || more.length > 0)
      throw new Error(`line ${index + 1} is not "suite | most | reason": ${line}`);
    return [{ suite, most: Number(most), reason }];
  });
}

/** Sentences about what exceeds the list. A listed reason also covers reasons that continue with numbers. */
export function excesses(list, suite, skips) {
  const own = list.filter((entry) => entry.suite === suite);
  const counts = new Map();
  const found = [];
  for (const { file, name, reason } of skips) {
    if (reason === null) {
      found.push(`${suite}: skipped without a reason: ${file}: ${name}`);
      continue;
    }
    const key = own.find((entry) => reason.startsWith(entry.reason))?.reason ?? reason;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  for (const [reason, count] of counts) {
    const most = own.find((entry) => entry.reason === reason)?.most ?? 0;
    if (count > most) found.push(`${suite}: ${count} skipped, at most ${most} expected: ${reason}`);
  }
  return found;
}

function readSkips(path) {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

function main([listPath, suite, skipsPath]) {
  if (listPath === '--files') {
    const files = new Set(readSkips(suite).map(({ file }) => file));
    for (const file of files) process.stdout.write(`${file}\n`);
    return;
  }
  const skips = readSkips(skipsPath);
  for (const { file, name, reason } of skips)
    process.stderr.write(`skipped: ${file}: ${name} (${reason ?? 'no reason given'})\n`);
  const found = excesses(parseList(readFileSync(listPath, 'utf8')), suite, skips);
  for (const sentence of found) process.stdout.write(`${sentence}\n`);
  process.exitCode = found.length > 0 ? 3 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
