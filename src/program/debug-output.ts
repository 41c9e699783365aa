/** The part of the process that NODE_DEBUG affects. */
export interface DebugHost {
  readonly pid: number;
  readonly env: Record<string, string | undefined>;
  readonly stderr: Pick<NodeJS.WriteStream, 'write'>;
}

/**
 * Removes the debug output of NODE_DEBUG from standard error, because it contains keys and tokens, and hides the variable
 * from child processes. Node reads the variable before our code runs, so this can only filter the lines:
 * `HTTP 4711: ...`, each in one write.
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
