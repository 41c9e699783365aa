import { randomBytes } from 'node:crypto';
import { BrokerFailure, operatorClientId, RefusedMessage } from '../../adapters/ctl/operator-client.ts';
import { type OperatorAccess, openProfile, ProfileError } from '../../adapters/ctl/profile.ts';
import type { Clock } from '../../ports/clock.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import type { Shell } from '../../program/program.ts';
import { oneLine, textLine } from '../../protocol/common/plain-text.ts';
import { operatorTopics } from '../../protocol/mqtt/topics.ts';
import { runCommand } from './command-task.ts';
import { runConfig } from './config-task.ts';
import type { CtlOptions } from './ctl-options.ts';
import type { Task } from './ctl-task.ts';
import type { CtlDeps } from './deps.ts';
import { warnOfLanguages } from './language-warning.ts';
import { followLogs } from './logs-task.ts';
import { showStatus } from './status-task.ts';
import { readTarget } from './target.ts';
import { readVerb } from './verbs.ts';
import { watchFleet } from './watch-task.ts';

const TIMEOUT_S = 10;

/** Runs one command line of `dragoman ctl`. */
export async function runCtl(
  words: readonly string[],
  before: CtlOptions,
  shell: Shell,
  clock: Clock,
): Promise<void> {
  const first = readTarget(words, before);
  const { task, options: after } = readVerb(first.rest, (text) => shell.print(text));
  if (task.kind === 'help') return;
  const options = { ...before, ...after };
  // "--group" and "--all" are also allowed after the verb.
  const { target } = readTarget(words, options);
  const access = openAccess(options.profile, shell);
  const { prefix, tenant } = access.profile;
  const deps: CtlDeps = {
    shell,
    access,
    clock,
    target,
    options,
    topics: operatorTopics(prefix, tenant),
    timeoutS: options.timeout ?? TIMEOUT_S,
    newId: () => `ctl-${randomBytes(9).toString('base64url')}`,
  };
  try {
    await perform(task, deps);
  } catch (error) {
    if (!(error instanceof BrokerFailure)) throw error;
    const advice =
      error instanceof RefusedMessage
        ? `perhaps the role of this login does not allow "${first.rest[0]}": see "Who may do what" in docs/fleet.md`
        : 'check the profile (url, username, certificate)';
    throw new Failure(`${oneLine(error.message)}; ${advice}`);
  }
}

function perform(task: Exclude<Task, { kind: 'help' }>, deps: CtlDeps): Promise<void> {
  switch (task.kind) {
    case 'command':
      warnOfLanguages([task.args['source'], task.args['targets'], task.args['language']].flat(), deps.shell);
      return runCommand(task.name, task.args, deps);
    case 'doctor':
      return runCommand('diagnose', {}, deps);
    case 'config':
      return runConfig(task.verb, task.words, deps);
    case 'logs':
      return followLogs(task.args, deps);
    case 'status':
      return showStatus(deps);
    case 'watch':
      return watchFleet(deps);
  }
}

function openAccess(profile: string | undefined, { env, complain }: Shell): OperatorAccess {
  try {
    const access = openProfile(profile, env, operatorClientId());
    for (const sentence of access.warnings ?? []) complain(textLine(`warning: ${sentence}`));
    return access;
  } catch (error) {
    if (!(error instanceof ProfileError)) throw error;
    throw new Failure(error.message, EXIT.usage);
  }
}
