import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../docs/install.md', import.meta.url));

/** The lines of docs/install.md for the device. `isAnswered`: the line reads from standard input. */
export function linesOfThePage(): { readonly line: string; readonly isAnswered: boolean }[] {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split('On the device:');
  const [, block = ''] = /```sh\n(.*?)```/s.exec(section) ?? [];
  const lines = block
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, ''))
    .filter((line) => line !== '');
  if (lines.length < 6) throw new Error(`docs/install.md has only ${lines.length} lines for the device`);
  return lines.map((line) => ({ line, isAnswered: line.includes('/dev/stdin') }));
}
