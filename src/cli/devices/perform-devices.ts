import { createAlsaTools } from '../../adapters/audio/cards/alsa-tools.ts';
import { MACHINE_FOLDERS } from '../../adapters/audio/cards/card.ts';
import { type Survey, surveyDevices } from '../../adapters/audio/cards/survey.ts';
import { createSystemClock } from '../../adapters/clock.ts';
import { loadConfig } from '../../adapters/config/load.ts';
import { listInputDevices } from '../../adapters/keys/input-devices.ts';
import { createKeyDevices } from '../../adapters/keys/key-device.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import type { Shell } from '../../program/program.ts';
import { untilAskedToEnd } from '../../program/signals.ts';
import { COLUMNS } from '../../program/text.ts';
import { jsonLine } from '../../protocol/common/plain-text.ts';
import type { Config } from '../../protocol/config.ts';
import { formatProblems } from '../check-config/check-config.ts';
import { configuredDevices, type DeviceFinding, findDevice } from './configured.ts';
import { reportDevices } from './devices-json.ts';
import { listDevices } from './listing.ts';
import { performMeter } from './run-meter.ts';
import { showKeys } from './show-keys.ts';

/** Options of the command line. */
export interface DevicesOptions {
  readonly config?: string;
  readonly json?: true;
  /** `true`: given without a device name. */
  readonly meter?: string | true;
  readonly keys?: true;
  readonly seconds?: number;
}

/** Maximum width (columns): wider lines are hard to read. */
const WIDEST_COLUMNS = 100;

/** Lists the devices, or shows the level of one. */
export async function performDevices(options: DevicesOptions, shell: Shell): Promise<void> {
  if (options.seconds !== undefined && options.meter === undefined && options.keys === undefined) {
    throw new Failure('--seconds needs --meter or --keys: add one of them, or leave it out.', EXIT.usage);
  }
  if (options.keys === true) return performKeys(options, shell);
  const config = options.config === undefined ? null : readConfig(options.config, shell);
  if (config === undefined) return shell.finish(EXIT.usage);
  const tools = createAlsaTools({ env: shell.env });
  if (options.meter !== undefined) {
    const device = options.meter === true ? null : options.meter;
    const given = { device, config, seconds: options.seconds ?? null, isJson: options.json === true };
    return performMeter(given, tools, shell);
  }
  const survey = await surveyDevices(MACHINE_FOLDERS, tools);
  const devices = config === null ? [] : configuredDevices(config);
  const findings = await Promise.all(devices.map((device) => findDevice(device, survey, tools)));
  showDevices(survey, findings, options.json === true, shell);
}

/** Shows pressed keys. */
async function performKeys({ meter, seconds, json }: DevicesOptions, shell: Shell): Promise<void> {
  if (meter !== undefined)
    throw new Failure('--keys and --meter exclude each other: give one of them.', EXIT.usage);
  const clock = createSystemClock();
  const ending = seconds === undefined ? ', until Ctrl-C' : '';
  if (json !== true) shell.complain(`Press the keys${ending}. Each line below is an entry of "keys".\n`);
  const timeIsUp = new Promise<void>((resolve) => {
    if (seconds !== undefined) clock.at(clock.now() + seconds * 1000, resolve);
  });
  await showKeys(
    {
      clock,
      openKeyDevice: createKeyDevices(clock),
      isJson: json === true,
      listDevices: () => listInputDevices(),
      print: (text) => shell.print(text),
      complain: (text) => shell.complain(text),
    },
    Promise.race([untilAskedToEnd(process), timeIsUp]),
  );
}

/** Reads the configuration; prints its problems and returns undefined if it has any. */
function readConfig(file: string, shell: Shell): Config | undefined {
  const loaded = loadConfig({ file, env: shell.env });
  if (loaded.ok) return loaded.config;
  shell.complain(formatProblems(loaded.problems, file));
  return undefined;
}

function showDevices(
  survey: Survey,
  findings: readonly DeviceFinding[],
  isJson: boolean,
  shell: Shell,
): void {
  const columns = Math.min(process.stdout.columns ?? COLUMNS, WIDEST_COLUMNS);
  if (isJson) shell.print(jsonLine(reportDevices(survey, findings)));
  else shell.print(listDevices(survey, findings, columns));
  const isDeaf = survey.cards.length === 0 && survey.software.length === 0;
  if (isDeaf) shell.finish(EXIT.failed);
}
