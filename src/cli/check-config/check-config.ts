import { formatProblem, formatSource, type Problem } from '../../adapters/config/layer.ts';
import { type LoadResult, loadConfig } from '../../adapters/config/load.ts';
import type { Provenance } from '../../adapters/config/provenance.ts';
import { configWarnings } from '../../device/config/config-warning-rules.ts';
import {
  checkSoundFiles,
  fileWarnings,
  readNamedFiles,
} from '../../device/doctor/checks/configuration/named-files.ts';
import { EXIT } from '../../program/problem.ts';
import { examples, type Shell, type Verb } from '../../program/program.ts';
import { layOutTable, wrapText } from '../../program/text.ts';
import { jsonLine } from '../../protocol/common/plain-text.ts';

interface Options {
  readonly config: string;
  readonly json?: true;
}

export const checkConfigVerb: Verb = {
  register(program, shell) {
    program
      .command('check-config')
      .description('check the configuration and its files; print each effective value with its source')
      .requiredOption('--config <file>', 'configuration file (conf.d/*.json beside it is read, too)')
      .option(
        '--json',
        'print one line: {"ok": true, "config", "provenance", "warnings"} or {"ok": false, "problems"}',
      )
      .addHelpText(...examples('dragoman check-config --config /etc/dragoman/config.json'))
      .action((options: Options) => checkConfig(options, shell));
  },
};

function checkConfig({ config: file, json }: Options, shell: Shell): void {
  const result = withNamedFiles(loadConfig({ file, env: shell.env }), shell);
  if (!result.ok) shell.finish(EXIT.usage);
  if (!result.ok) {
    if (json) return shell.print(jsonLine(result));
    return shell.complain(formatProblems(result.problems, file));
  }
  const warnings = [...configWarnings(result.config), ...fileWarnings(result.config, shell.env)];
  if (json) return shell.print(jsonLine({ ...result, warnings }));
  shell.print(`${file} is valid. Effective configuration:\n\n${formatProvenance(result.provenance, file)}`);
  for (const { key, message, fix } of warnings)
    shell.complain(wrapText(`warning: ${key} ${message}. ${fix}`, '  '));
}

/** Adds problems of the files that the configuration names: the agent would not start with them. */
function withNamedFiles(loaded: LoadResult, { env }: Shell): LoadResult {
  if (!loaded.ok) return loaded;
  const fileProblems = [...readNamedFiles(loaded.config, env), ...checkSoundFiles(loaded.config)];
  const problems = fileProblems.flatMap(({ key, trouble }): Problem[] => {
    const source = loaded.provenance.find(({ path }) => path === key)?.source ?? null;
    return trouble === null ? [] : [{ source, path: key, message: trouble }];
  });
  return problems.length === 0 ? loaded : { ok: false, problems };
}

/**
 * Formats problems for standard error, each on its own lines.
 * @param effect consequence of the problems; empty: none, because the configuration was only read
 */
export function formatProblems(problems: readonly Problem[], file: string, effect = ''): string {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  const lines = problems.map((problem) => wrapText(`- ${formatProblem(problem)}`, '  '));
  return `dragoman: the configuration ${file} has ${count}${effect === '' ? '' : `; ${effect}`}.\n${lines.join('')}`;
}

/** Lays out values and sources. Paths are relative to the folder of the configuration, because whole paths would not fit. */
function formatProvenance(provenance: readonly Provenance[], file: string): string {
  const folder = file.slice(0, file.lastIndexOf('/') + 1);
  const rows = provenance.map(({ path, value, source }) => {
    const name = formatSource(source);
    return [path, JSON.stringify(value), name.startsWith(folder) ? name.slice(folder.length) : name];
  });
  return layOutTable(rows);
}
