/** What of the process writes what NODE_DEBUG asks for. */
export interface DebugHost {
  readonly pid: number;
  readonly env: Record<string, string | undefined>;
  readonly stderr: Pick<NodeJS.WriteStream, 'write'>;
}

/**
 * Keeps what NODE_DEBUG makes Node print (headers with keys, addresses with tokens) from the standard error, and the variable
 * from programs that are started. Node reads it before the first line of ours, so that only its lines can be
 * caught: `HTTP 4711: ...`, each written at once.
 */
export function dropDebugOutput({ pid, env, stderr }: DebugHost): void {
  if (env['NODE_DEBUG'] === undefined) return;
  delete env['NODE_DEBUG'];
  const colour = '(?:\\x1b\\[\\d+m)?';
  const fromNode = new RegExp(`^\\S+ ${colour}${pid}${colour}[ :]`);
  const write = stderr.write.bind(stderr) as (...args: unknown[]) => boolean;
  stderr.write = (...args: unknown[]) => {
    const [text] = args;
    return typeof text === 'string' && fromNode.test(text) ? true : write(...args);
  };
}
