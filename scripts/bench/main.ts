/** The benchmark's own program; `scripts/bench.mjs` bundles and starts it. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Options, readOptions } from './bench-options.ts';
import type { DayReport } from './day-report.ts';
import { captureToWire, type Way, wireToSpeaker } from './latency.ts';
import { startLoad } from './load.ts';
import { askStatus } from './operator.ts';
import { writePage } from './page.ts';
import { peakOf } from './process-tree.ts';
import { spreadOf } from './quantiles.ts';
import type { Passing, Received, Relay, Sent } from './relay.ts';
import { type Latencies, type Results, type SubjectResults, summary } from './results.ts';
import { measureRound, type Round } from './rounds.ts';
import { openSetting, SERVICE_SETUP_MS, type Setting } from './setting.ts';
import { conversation, readPcm } from './speech.ts';
import {
  childCommand,
  type Running,
  SUBJECTS,
  type Subject,
  type SubjectName,
  startSubject,
} from './subject.ts';
import {
  addonsSubject,
  agentSubject,
  bareSubject,
  installAddons,
  otherBuild,
  type Periods,
  thisBuild,
} from './subjects.ts';
import { formatTable } from './table.ts';

declare const BENCH_ROOT: string;

const RECORDING = join(BENCH_ROOT, 'src/cli/demo/visitor.wav');
const START_LIMIT_MS = 60_000;
/** Pause between two starts (ms), so that the sound card is free again. */
const REST_MS = 1000;
const LOAD_SETTLES_MS = 3000;
const DAY_LIMIT_MS = 900_000;
const ticksPerS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** One run. All programs that it starts end with it. */
class Bench {
  private readonly setting: Setting;
  private readonly options: Options;
  private readonly signal: AbortSignal;
  private readonly sound: Int16Array;
  private readonly running = new Map<SubjectName, Running>();
  private readonly starts = new Map<SubjectName, number[]>();
  private readonly startPeaks = new Map<SubjectName, number>();
  private readonly loadBefore = loadavg()[0] ?? 0;
  private subjects: readonly Subject[] = [];
  private periods: Periods | null = null;
  private addonsMissing: string | null = 'measured only with --with-addons';

  constructor(setting: Setting, options: Options, sound: Int16Array, signal: AbortSignal) {
    this.setting = setting;
    this.options = options;
    this.sound = sound;
    this.signal = signal;
  }

  async run(): Promise<Results> {
    const { plan } = this.options;
    await this.prepare();
    say(`${plan.starts} starts of each`);
    for (let start = 0; start < plan.starts; start++) await this.startOnce();
    for (const subject of this.subjects) await this.start(subject);
    await sleep(plan.warmUpMs, undefined, { signal: this.signal });
    for (const [name, { pid }] of this.running) this.startPeaks.set(name, peakOf(pid));
    const load = startLoad();
    let loadedRounds: Round[] = [];
    let share = 0;
    if (typeof load !== 'string') {
      try {
        say(`${plan.loadedRounds} rounds of ${plan.roundMs / 1000} s with the other cores busy`);
        await sleep(LOAD_SETTLES_MS, undefined, { signal: this.signal });
        const [ticks, at] = [load.ticks(), performance.now()];
        loadedRounds = await this.measure(plan.loadedRounds);
        share = ((load.ticks() - ticks) / ticksPerS / load.cores) * (1000 / (performance.now() - at));
      } finally {
        await load.stop();
      }
    }
    // After the load, because the hot code is then compiled, as in a process that runs for months.
    say(`${plan.rounds} rounds of ${plan.roundMs / 1000} s`);
    const rounds = await this.measure(plan.rounds);
    const broker = this.running.has('agent') ? this.setting.brokers.get('agent') : undefined;
    const own = broker === undefined ? null : await askStatus(broker);
    await this.end();
    say(`${plan.dayHours} simulated hours`);
    return {
      plan,
      machine: describeMachine(),
      loadBefore: this.loadBefore,
      rounds,
      loadedRounds,
      other: this.options.against,
      own,
      addonsMissing: this.addonsMissing,
      load: typeof load === 'string' ? load : { cores: load.cores, share },
      subjects: await this.results(rounds, loadedRounds),
      day: await runDay(plan.dayHours, this.options.echo, this.signal),
      isRelayUrgent: this.setting.relay.isUrgent,
    };
  }

  async end(): Promise<void> {
    await Promise.all([...this.running.values()].map((running) => running.stop()));
    this.running.clear();
  }

  private async prepare(): Promise<void> {
    const { setting, sound } = this;
    const periods = (): Periods => {
      if (this.periods === null) throw new Error("the agent's arecord and aplay were not found");
      return this.periods;
    };
    const subjects = [
      await agentSubject(setting, sound, this.options, thisBuild()),
      ...(this.options.against === null
        ? []
        : [await agentSubject(setting, sound, this.options, otherBuild())]),
      await bareSubject(setting, sound, periods),
    ];
    if (this.options.withAddons) {
      try {
        say('installing the packages of the third loop');
        const folder = await mkdtemp(join(setting.folder, 'addons-'));
        subjects.push(await addonsSubject(setting, sound, await installAddons(folder)));
        this.addonsMissing = null;
      } catch (error) {
        this.addonsMissing = `could not install them (${firstLine(error)})`;
      }
    }
    this.subjects = subjects;
  }

  /** Starts and ends each subject once. */
  private async startOnce(): Promise<void> {
    for (const subject of this.subjects) {
      const running = await this.start(subject).catch((error: unknown) => {
        if (subject.name !== 'addons') throw error;
        this.addonsMissing = firstLine(error);
        return null;
      });
      if (running === null) {
        await this.leaveOut(subject);
        continue;
      }
      this.running.delete(subject.name);
      await running.stop();
      await sleep(REST_MS, undefined, { signal: this.signal });
    }
  }

  private async leaveOut({ name }: Subject): Promise<void> {
    await this.running.get(name)?.stop();
    this.running.delete(name);
    this.subjects = this.subjects.filter((subject) => subject.name !== name);
  }

  /** Starts a subject. Resolves when its first chunk is on the wire. */
  private async start(subject: Subject): Promise<Running> {
    const { relay, rack } = this.setting;
    const { name } = subject;
    const firstChunk = relay.next(
      (passing) => passing.name === name && passing.kind === 'sent',
      START_LIMIT_MS,
    );
    firstChunk.catch(() => {});
    const running = await startSubject(subject, rack);
    this.running.set(name, running);
    try {
      const over = running.over.then(() => Promise.reject(new Error('it ended')));
      const { atMs } = await Promise.race([firstChunk, over]);
      const starts = this.starts.get(name) ?? [];
      this.starts.set(name, [...starts, atMs - running.startedAtMs - SERVICE_SETUP_MS]);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`the ${name} sent no sound (${reason}). Its output:\n${running.said.trim()}`);
    }
    if (name === 'agent') this.notePeriods(running.pid);
    return running;
  }

  private notePeriods(pid: number): void {
    const [capture, playback] = [childCommand(pid, 'arecord'), childCommand(pid, 'aplay')];
    if (capture !== null && playback !== null) this.periods ??= { capture, playback };
  }

  private async measure(count: number): Promise<Round[]> {
    const rounds: Round[] = [];
    const { roundMs } = this.options.plan;
    for (let round = 0; round < count; round++) {
      rounds.push(await measureRound(this.running, roundMs, ticksPerS, this.signal));
    }
    return rounds;
  }

  private async results(
    rounds: readonly Round[],
    loaded: readonly Round[],
  ): Promise<Map<SubjectName, SubjectResults>> {
    const results = new Map<SubjectName, SubjectResults>();
    for (const subject of this.subjects) {
      const passed = passedOf(this.setting.relay, subject.name);
      const [heard, sounded] = await Promise.all([
        subject.card.capture.epoch(),
        subject.card.playback.epoch(),
      ]);
      const during = (ways: readonly Way[], when: readonly Round[]) =>
        spreadOf(ways.filter(({ atMs }) => isDuring(atMs, when)).map(({ ms }) => ms));
      const latencies = (ways: readonly Way[]): Latencies => ({
        quiet: during(ways, rounds),
        loaded: during(ways, loaded),
      });
      const measured = (passing: Passing) => isDuring(passing.atMs, [...rounds, ...loaded]);
      const speech =
        sounded === null
          ? { ways: [], unheardAt: [] }
          : wireToSpeaker(passed.filter(isReceived), await subject.card.playback.sound(), sounded);
      const chunks = passed.filter(isSent).filter(measured);
      results.set(subject.name, {
        captureToWire: latencies(heard === null ? [] : captureToWire(chunks, this.sound, heard)),
        wireToSpeaker: latencies(speech.ways),
        unheard: speech.unheardAt.filter((atMs) => isDuring(atMs, [...rounds, ...loaded])).length,
        startsMs: this.starts.get(subject.name) ?? [],
        startPeakMb: this.startPeaks.get(subject.name) ?? Number.NaN,
      });
    }
    return results;
  }
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
const isSent = (passing: Passing): passing is Sent => passing.kind === 'sent';
const isReceived = (passing: Passing): passing is Received => passing.kind === 'received';
const passedOf = ({ passed }: Relay, name: SubjectName): Passing[] =>
  passed.filter((passing) => passing.name === name);
const isDuring = (atMs: number, rounds: readonly Round[]): boolean =>
  rounds.some(({ fromMs, untilMs }) => atMs >= fromMs && atMs < untilMs);

function describeMachine(): string {
  const all = cpus();
  return `${all.length} cores, ${all[0]?.model ?? ''}, Node ${process.versions.node}, Linux ${process.arch}`;
}

async function runDay(hours: number, echo: Options['echo'], signal: AbortSignal): Promise<DayReport> {
  const script = fileURLToPath(new URL('./day.mjs', import.meta.url));
  const options = { signal, timeout: DAY_LIMIT_MS, killSignal: 'SIGKILL' } as const;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', script, RECORDING, String(hours), echo],
    options,
  );
  return JSON.parse(stdout) as DayReport;
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if ('text' in options) {
    process.stderr.write(options.text);
    return options.code;
  }
  const abort = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => abort.abort());
  const agents = options.against === null ? ['agent'] : ['agent', 'other'];
  const setting = await openSetting(SUBJECTS, agents).catch((error: unknown) => String(error));
  if (typeof setting === 'string') {
    say(`The benchmark can't run here: ${setting}. It needs gcc, alsa-utils and libasound2-dev.`);
    return 1;
  }
  const sound = conversation(readPcm(await readFile(RECORDING)));
  const bench = new Bench(setting, options, sound, abort.signal);
  try {
    const results = await bench.run();
    process.stdout.write(formatTable(results));
    if (options.write) await writePage(join(BENCH_ROOT, 'docs'), results);
    if (options.json) process.stdout.write(`${JSON.stringify({ bench: summary(results) })}\n`);
    return 0;
  } catch (error) {
    if (abort.signal.aborted) say('interrupted; there are no results');
    else say(error instanceof Error ? error.message : String(error));
    return 1;
  } finally {
    await bench.end();
    await setting.close();
  }
}

process.exitCode = await main();
