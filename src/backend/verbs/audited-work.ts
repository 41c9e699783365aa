import { userInfo } from 'node:os';
import type { ConsoleStore } from '../../ports/console-store.ts';
import { Failure } from '../../program/problem.ts';

/** Runs `work` with an entry in the audit log, as for actions in the console. */
export async function audited(
  store: Pick<ConsoleStore, 'beginAudit' | 'endAudit'>,
  what: string,
  on: string,
  args: object,
  work: () => Promise<void>,
): Promise<void> {
  const who = `${userInfo().username} (command line)`;
  const id = await store.beginAudit({
    who,
    from: 'this machine',
    what,
    on,
    args: JSON.stringify(args),
  });
  try {
    await work();
    await store.endAudit(id, true, 'done');
  } catch (error) {
    await store.endAudit(id, false, error instanceof Failure ? error.message : 'it failed');
    throw error;
  }
}
