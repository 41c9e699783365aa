import type { Output } from './guest-agent.ts';

/** Commands in an emulated machine, over any channel that runs programs in it. */
export interface GuestCommands {
  /** Runs a program in it as root, by default for at most a minute. */
  run(words: readonly string[], input?: string | Uint8Array, limitMs?: number): Promise<Output>;
  /** The same; throws if the program fails. @returns its standard output */
  must(words: readonly string[], input?: string | Uint8Array, limitMs?: number): Promise<string>;
  /** Runs a script of sh with arguments. */
  sh(script: string, ...words: string[]): Promise<string>;
  read(path: string): Promise<Buffer>;
  /** Writes a file atomically. */
  write(path: string, text: string | Uint8Array, mode?: string): Promise<void>;
}

const WRITE =
  'mkdir -p "$(dirname "$1")"; umask 077; cat >"$1.draft"; chmod "$2" "$1.draft"; mv "$1.draft" "$1"';

export function guestCommands(run: GuestCommands['run']): GuestCommands {
  const must: GuestCommands['must'] = async (words, input, limitMs) => {
    const { code, stdout, stderr } = await run(words, input, limitMs);
    if (code !== 0)
      throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}${stdout.toString().slice(-2000)}`);
    return stdout.toString();
  };
  return {
    run,
    must,
    sh: (script, ...words) => must(['sh', '-euc', script, 'sh', ...words]),
    async read(path) {
      const { code, stdout, stderr } = await run(['cat', path]);
      if (code !== 0) throw new Error(stderr);
      return stdout;
    },
    async write(path, text, mode = '0644') {
      await must(['sh', '-euc', WRITE, 'sh', path, mode], text);
    },
  };
}
