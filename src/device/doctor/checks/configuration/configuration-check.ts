import type { MachineParts } from '../../../../ports/machine.ts';
import type { Config } from '../../../../protocol/config.ts';
import { type ConfigWarning, configWarnings } from '../../../config/config-warning-rules.ts';
import { silentPhrases } from '../../../phrases/phrase-sounds.ts';
import { combine, count, type Outcome } from '../../report/finding.ts';
import { judgeConfiguration } from './configuration-rules.ts';
import { isOpenToAll, ownUser, readNamedFiles } from './named-files.ts';

/** @param agent process of the agent that runs with this file; null: none is seen */
export async function examineConfiguration(
  file: string,
  config: Config,
  agent: number | null,
  machine: MachineParts,
): Promise<Outcome> {
  const facts = {
    file,
    agent,
    lanes: config.lanes.length,
    files: readNamedFiles(config, machine.env),
    warnings: [...configWarnings(config), ...(await phraseWarnings(config))],
    isOpenToAll: isOpenToAll(file),
    user: ownUser(),
  };
  // Loaded here, because the running agent has this check in its list and never looks through the sandbox.
  const { lookThroughSandbox } = await import('./sandbox-facts.ts');
  return combine([judgeConfiguration(facts), ...(await lookThroughSandbox(machine, file, config))]);
}

/** The configuration with which the agent runs. @param machine null without a real one */
export async function judgeRunningConfiguration(
  config: Config,
  machine: MachineParts | null,
): Promise<Outcome> {
  return judgeConfiguration({
    file: 'the running configuration',
    lanes: config.lanes.length,
    agent: null,
    isOpenToAll: false,
    user: ownUser(),
    warnings: [...configWarnings(config), ...(machine === null ? [] : await phraseWarnings(config))],
    files: machine === null ? [] : readNamedFiles(config, machine.env),
  });
}

/** Phrases that are shown and not spoken: one warning, however many sound files are missing. */
async function phraseWarnings(config: Config): Promise<ConfigWarning[]> {
  const [first, ...others] = await silentPhrases(config);
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : ` (and ${count(others.length, 'more problem')})`;
  return [
    {
      key: 'phrases.folder',
      message: `leaves phrases that are shown, but not spoken: ${first}${more}`,
      fix: 'Make the sound files with "dragoman-backend phrases make", and copy its folder there.',
    },
  ];
}
