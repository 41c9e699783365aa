import type { ConfigWarning } from '../../../config/config-warning-rules.ts';
import { combine, count, type Outcome, ok, problem, warning } from '../../report/finding.ts';

/** A file of the configuration that holds a secret or a certificate. */
export interface NamedFile {
  readonly key: string;
  /** Null if the file is usable; otherwise a sentence about the fault, without any content of the file. */
  readonly trouble: string | null;
  /** Warning about a usable file. */
  readonly warning?: ConfigWarning;
  readonly path?: string;
}

export interface ConfigurationFacts {
  readonly file: string;
  readonly lanes: number;
  readonly files: readonly NamedFile[];
  /** Process of a running agent with this configuration; null if none is seen. */
  readonly agent: number | null;
  /** Warnings about the configuration. */
  readonly warnings: readonly ConfigWarning[];
  /** Every user of this machine may change the file. */
  readonly isOpenToAll: boolean;
  /** The user who runs the doctor; null: unknown. */
  readonly user: string | null;
}

/** The user of the agent's unit. */
const AGENTS_USER = 'dragoman';

export function judgeConfiguration(facts: ConfigurationFacts): Outcome {
  const { file, lanes, files, agent, warnings, isOpenToAll, user } = facts;
  const bad = files.filter(({ trouble }) => trouble !== null);
  const readable = files.length === 0 ? '' : ', secrets and certificates readable';
  const runs = agent === null ? '' : `; an agent runs with it (process ${agent})`;
  return combine([
    ok(`${file} is valid: ${count(lanes, 'lane')}${readable}${runs}`, {
      file,
      lanes,
      files: files.length,
      agent,
    }),
    ...bad.map(({ key, trouble, path = 'that file' }) => {
      // If only one fix is possible, the sentence ends with its command.
      const [found = '', command] = (trouble ?? '').split(': chmod');
      return problem(
        `${key}: ${found}`,
        command === undefined ? fixOf(found, path, user) : `chmod${command}`,
      );
    }),
    ...[...warnings, ...files.flatMap((one) => one.warning ?? [])].map(({ key, message, fix }) =>
      warning(`${key} ${message}`, fix),
    ),
    ...(isOpenToAll
      ? [warning(`${file} may be changed by everyone on this machine`, `chmod o-w ${file}.`)]
      : []),
  ]);
}

function fixOf(trouble: string, path: string, user: string | null): string {
  if (/does not exist|no such file/.test(trouble))
    return 'Put the file there; a name without a folder is looked up beside the configuration and in "secrets" there. A systemd credential exists only inside the unit: to check one, set CREDENTIALS_DIRECTORY to the folder that holds it.';
  if (/no permission/.test(trouble))
    return user === AGENTS_USER
      ? `As root, let the agent read it: chgrp ${user} ${path} && chmod 640 ${path}; the folders above it must be open to it, too.`
      : "Run this as the agent's user or as root.";
  return 'Put the right file there, or change the configuration.';
}

/** Outcome for an invalid configuration. @param problems one line each */
export function judgeInvalid(file: string, problems: readonly string[]): Outcome {
  const [first = 'it cannot be read', ...others] = problems;
  const more = others.length === 0 ? '' : ` (and ${count(others.length, 'more problem')})`;
  return problem(
    `${first.startsWith(file) ? '' : `${file}: `}${first}${more}`,
    `Fix it; "dragoman check-config --config ${file}" lists everything.`,
    { file, problems },
  );
}
