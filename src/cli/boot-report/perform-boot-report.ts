import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { handOver } from '../../adapters/audio/announcement.ts';
import { samplesAt } from '../../adapters/audio/recorded-speech.ts';
import { createSystemClock } from '../../adapters/clock.ts';
import { loadConfig } from '../../adapters/config/load.ts';
import { redactText } from '../../adapters/redaction.ts';
import { createMachineParts } from '../../device/doctor/machine-parts.ts';
import { wantedDevices } from '../../device/doctor/sound-devices/wanted-devices.ts';
import { reportFolder } from '../../installer/boot-folder.ts';
import { type ReportDeps, runReport } from '../../installer/boot-report.ts';
import { STATUS_FILE } from '../../installer/core/outcome.ts';
import { type PhraseCode, type PhraseLanguage, phraseLanguage } from '../../installer/core/phrases.ts';
import { REPORT_SETTINGS } from '../../installer/core/report-schedule.ts';
import { settingsNews } from '../../installer/core/settings-news.ts';
import { type Said, saidLines, startLine, startLines } from '../../installer/core/start-text.ts';
import { loadPhrases } from '../../installer/phrase-store.ts';
import { readResultFile } from '../../installer/read-result.ts';
import { createSpeaker, type Speaker } from '../../installer/speaker.ts';
import { writeStartLines } from '../../installer/status-file.ts';
import type { Clock } from '../../ports/clock.ts';
import { OUTPUT_RATE_HZ } from '../../ports/stream.ts';
import { EXIT } from '../../program/problem.ts';
import type { Shell } from '../../program/program.ts';
import { harmless } from '../../protocol/common/plain-text.ts';
import type { DecodedSound } from '../../sound/adpcm.ts';
import { pollStart } from './start-poll.ts';

/** Options of the command line. */
export interface BootReportOptions {
  readonly config: string;
  readonly result: string;
  readonly boot?: string;
  readonly phrases: string;
  /** Seconds. */
  readonly grace: number;
  /** Seconds. */
  readonly longest: number;
}

const END_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Source of signals: the process, or a test. */
export interface Signals {
  once(signal: (typeof END_SIGNALS)[number], listener: () => void): unknown;
  off(signal: (typeof END_SIGNALS)[number], listener: () => void): unknown;
}

/** Announces the state of the kiosk after its boot. */
export async function performBootReport(
  options: BootReportOptions,
  shell: Shell,
  signals: Signals = process,
): Promise<void> {
  const { env } = shell;
  const load = () => loadConfig({ file: options.config, env });
  const result = readResultFile(options.result);
  const loaded = load();
  const isMissing = result?.outcome === 'no_file' || !isThere(options.result);
  // The kiosk was set up manually, so no announcement is expected.
  if (isMissing && loaded.ok)
    return shell.print('There is no dragoman.json, and the kiosk is set up: nothing to announce.\n');
  const clock = createSystemClock();
  const print = (line: string): void => shell.print(`${printable(line)}\n`);
  const printState = onChange(print);
  const printProblem = onChange(print);
  const speaker = createSpeaker({
    env,
    clock,
    log: SILENT_LOG,
    configured: loaded.ok
      ? wantedDevices(loaded.config).flatMap(({ direction, device }) =>
          direction === 'playback' ? [device] : [],
        )
      : [],
    handOver: (sound) => giveToAgent(sound, dirname(options.result), clock),
  });
  const end = new AbortController();
  const stop = (): void => {
    end.abort();
    speaker.close();
  };
  for (const signal of END_SIGNALS) signals.once(signal, stop);
  const boot = options.boot ?? reportFolder(result?.file ?? null);
  const language = loaded.ok ? phraseLanguage(loaded.config.lanes) : 'en';
  const machine = createMachineParts(env);
  const deps: ReportDeps = {
    clock,
    look: (asksDoctor, abort) => pollStart({ file: options.config, load, machine, clock }, asksDoctor, abort),
    say: (codes) => announce(codes, language, options.phrases, speaker, print),
    write(state, said) {
      printState(startLine(state));
      if (boot === null) return;
      const lines = startLines({ state, language, wall: clock.wall(), said }).map(printable);
      const trouble = writeStartLines(boot, lines, dirname(options.result));
      if (trouble !== null) printProblem(`cannot write ${STATUS_FILE} to ${boot} (${trouble})`);
    },
  };
  const settings = {
    ...REPORT_SETTINGS,
    graceMs: options.grace * 1000,
    longestMs: options.longest * 1000,
  };
  try {
    const news = { ...settingsNews(result), isMissing };
    const isReady = await runReport(deps, news, settings, end.signal);
    if (isReady === false) shell.finish(EXIT.problemFound);
  } finally {
    speaker.close();
    for (const signal of END_SIGNALS) signals.off(signal, stop);
  }
}

async function announce(
  codes: readonly PhraseCode[],
  language: PhraseLanguage,
  folder: string,
  speaker: Speaker,
  print: (line: string) => void,
): Promise<readonly Said[]> {
  const sound = loadPhrases(folder, language, codes);
  if (sound === null) {
    print(`The recorded phrases are missing in ${folder}: reinstall the package dragoman.`);
    return [];
  }
  const said = await speaker.say(sound, !codes.includes('no_loudspeaker'));
  for (const line of saidLines(said)) print(line);
  return said;
}

/** Passes the sound to the agent, at the rate of its loudspeakers. */
async function giveToAgent(sound: DecodedSound, directory: string, clock: Clock): Promise<boolean> {
  try {
    return await handOver(directory, await samplesAt(sound, OUTPUT_RATE_HZ), clock);
  } catch {
    // The resampler is not installed. The speaker then uses a free card without the agent.
    return false;
  }
}

/** Prints a line only if it differs from the one before. */
function onChange(print: (line: string) => void): (line: string) => void {
  let last = '';
  return (line) => {
    if (line !== last) print(line);
    last = line;
  };
}

/** Removes secrets and terminal control characters: findings contain text from outside. */
const printable = (line: string): string => harmless(redactText(line)).replaceAll('\n', ' ');

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

const SILENT_LOG = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
