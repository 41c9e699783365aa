/** Runs programs of this machine. */
import { spawn } from 'node:child_process';

export interface Ended {
  readonly code: number;
  /** Standard output and standard error, interleaved. */
  readonly said: string;
  readonly stdout: string;
}

/** Gives a program a real pipe as standard input: Node's "pipe" is a socket, which cannot be opened as /dev/stdin. */
const FROM_PIPE = ['sh', '-c', 'cat | "$@"', 'sh'];

export function run(words: readonly string[], input = ''): Promise<Ended> {
  const [program = '', ...rest] = input === '' ? words : [...FROM_PIPE, ...words];
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'pipe'] });
    let [said, stdout] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.stdin.on('error', () => {});
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 128, said, stdout }));
    child.stdin.end(input);
  });
}

/** Runs a program that must succeed. @returns its standard output */
export async function must(words: readonly string[], input = ''): Promise<string> {
  const { code, said, stdout } = await run(words, input);
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${said.slice(-1500)}`);
  return stdout;
}

/** Runs a script of sh with arguments. */
export const sh = (script: string, ...words: string[]): Promise<string> =>
  must(['sh', '-euc', script, 'sh', ...words]);
