import type { Output } from './guest-agent.ts';

/** What an emulated machine is asked and told, by whatever way programs are run in it. */
export interface GuestCommands {
  /** Runs a program in it as root; it ends within a minute unless told. */
  run(words: readonly string[], input?: string | Uint8Array, limitMs?: number): Promise<Output>;
  /** The same, for what must succeed; what it wrote on standard output. */
  must(words: readonly string[], input?: string | Uint8Array, limitMs?: number): Promise<string>;
  /** A script of sh, with its words as $1 and so on. */
  sh(script: string, ...words: string[]): Promise<string>;
  read(path: string): Promise<Buffer>;
  /** All of a file, or nothing of it. */
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
