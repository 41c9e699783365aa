import type { ConfigWarning } from '../owner/config-warnings.ts';
import { combine, count, type Outcome, ok, problem, warning } from './finding.ts';

/** A file of the configuration that holds a secret or a certificate. */
export interface NamedFile {
  readonly key: string;
  /** Null when it can be used; else a sentence that says what is wrong and never what is in it. */
  readonly trouble: string | null;
}

export interface ConfigurationFacts {
  readonly file: string;
  readonly lanes: number;
  readonly files: readonly NamedFile[];
  /** The process of an agent that runs with it; null where none is seen. */
  readonly agent: number | null;
  /** What it leaves open. */
  readonly warnings: readonly ConfigWarning[];
  /** Everybody on this machine may change it. */
  readonly isOpenToAll: boolean;
}

export function judgeConfiguration(facts: ConfigurationFacts): Outcome {
  const { file, lanes, files, agent, warnings, isOpenToAll } = facts;
  const bad = files.filter(({ trouble }) => trouble !== null);
  const readable = files.length === 0 ? '' : ', secrets and certificates readable';
  const runs = agent === null ? '' : `; an agent runs with it (process ${agent})`;
  return combine([
    ok(`${file} is valid: ${count(lanes, 'lane')}${readable}${runs}`, {
      ...{ file, lanes, files: files.length },
      agent,
    }),
    ...bad.map(({ key, trouble }) => {
      // The fix is part of the sentence where there is only one.
      const [found = '', command] = (trouble ?? '').split(': chmod');
      return problem(`${key}: ${found}`, command === undefined ? fixOf(found) : `chmod${command}`);
    }),
    ...warnings.map(({ key, message, fix }) => warning(`${key} ${message}`, fix)),
    ...(isOpenToAll
      ? [warning(`${file} may be changed by everyone on this machine`, `chmod o-w ${file}.`)]
      : []),
  ]);
}

function fixOf(trouble: string): string {
  if (/does not exist/.test(trouble))
    return 'Put it there. A systemd credential is only there inside the service: to check one, set CREDENTIALS_DIRECTORY to the folder that holds it.';
  if (/EACCES/.test(trouble)) return "Run this as the agent's user or as root.";
  return 'Put the right file there, or change the configuration.';
}

/** A configuration that can't be used. @param problems each on a line of its own */
export function judgeInvalid(file: string, problems: readonly string[]): Outcome {
  const [first = 'it cannot be read', ...others] = problems;
  const more = others.length === 0 ? '' : ` (and ${count(others.length, 'more problem')})`;
  return problem(
    `${first.startsWith(file) ? '' : `${file}: `}${first}${more}`,
    `Fix it; "dragoman check-config --config ${file}" lists everything.`,
    { file, problems },
  );
}
