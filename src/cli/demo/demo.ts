import { randomBytes } from 'node:crypto';
import { createPlayback } from '../../adapters/audio/drivers/driver.ts';
import { openSource } from '../../adapters/audio/sound-source.ts';
import type { PageFiles } from '../../adapters/screen/page-files.ts';
import { Agent } from '../../device/agent.ts';
import { accountOf } from '../../device/lane/runner/lane-account.ts';
import type { LaneRunner, LaneStep } from '../../device/lane/runner/lane-runner.ts';
import { isMuted } from '../../device/lane/state/lane-options.ts';
import { phaseOf } from '../../device/lane/state/session-state.ts';
import { createMachineDeps } from '../../device/machine-deps.ts';
import type { Screen } from '../../device/screen/screen.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { OUTPUT_RATE_HZ } from '../../ports/stream.ts';
import { type Config, configSchema } from '../../protocol/config.ts';
import { createRoom, type Room } from './acoustics.ts';
import { readDemoPage } from './demo-page.ts';
import { DEMO_DEVICE, type DemoEnvironment, type Running } from './environment.ts';
import { type DemoFault, type FaultSchedule, momentOf, scheduleFaults } from './faults.ts';
import { createFinishLine } from './finish.ts';
import { limitCapture, waitAtPauses } from './input.ts';
import { type DemoModel, type DemoView, FIRST_MODEL, notice, observeStep } from './model.ts';
import { startOtherKiosks } from './other-kiosks.ts';
import { type RealMic, recordLoudspeaker } from './real-mic.ts';
import { type DemoSummary, summarise } from './summary.ts';
import { createVisitor, speakInTurn, type Visitor } from './visitor.ts';

/** Sample rate of the stream (Hz): that of the bundled recording. */
export const STREAM_RATE_HZ = 24_000;
/** Maximum length of the output (minutes): that of the longest demo. */
const LONGEST_MIN = 1440;
/** Interval of view updates and of the check for the end (ms). */
const TICK_MS = 100;
/** Languages to choose from; the first one is configured. */
const OFFER = ['es', 'fr', 'de'];

export interface DemoOptions {
  readonly input: string;
  /** Whether the recording is the user's own: the emulator knows only the words of the bundled one. */
  readonly isOwnInput?: boolean;
  readonly output: string;
  /** Length of the input; a shorter recording repeats. Null: the whole recording, once. */
  readonly inputMs: number | null;
  /** Real sound devices instead of the input file; the output then records the loudspeaker. */
  readonly realMic?: RealMic | null;
  readonly faults: readonly DemoFault[];
  readonly clock: Clock;
  readonly log: Log;
  readonly view: DemoView;
  /** Serves the kiosk's page; visitors then come to it until the end of the demo, and speak the recording. */
  readonly web?: DemoWeb | null;
  /** Ends the demo early, with a clean shutdown. */
  readonly abort: AbortSignal;
}

export interface DemoPages {
  readonly kiosk: string;
  readonly emulator: string;
  readonly console: DemoEnvironment['console'];
}

export interface DemoWeb {
  /** Called once, when both pages are served. */
  served(pages: DemoPages): void;
  /** Left out: the page's files beside the program. */
  readonly files?: PageFiles;
}

/** Plays the visitor to a real agent with broker, backend and service; resolves when all speech is played. */
export async function runDemo(environment: DemoEnvironment, options: DemoOptions): Promise<DemoSummary> {
  const config = demoConfig(environment, options);
  const machine = await createMachineDeps(config, options.clock, options.log, {});
  const { inputMs } = options;
  const room = createRoom(STREAM_RATE_HZ);
  const recording = createPlayback(
    {
      driver: 'file',
      path: options.output,
      overwrite: false,
      maxMinutes: LONGEST_MIN,
      volume: 100,
      normalize: false,
    },
    OUTPUT_RATE_HZ,
    options.clock,
  );
  let run: DemoRun | null = null;
  // At real sound devices, a person speaks.
  const hasVisitor = Boolean(options.web) && !options.realMic;
  const visitor = hasVisitor ? createVisitor({ lane: 'main', offer: OFFER }, options.clock.now()) : null;
  const speech = hasVisitor ? await openSource(options.input, { rateHz: STREAM_RATE_HZ, loop: true }) : null;
  const agent = new Agent(config, {
    ...machine,
    openAudio: (lane) => {
      const { openCapture, openPlayback } = machine.openAudio(lane);
      const isBehind = (): boolean => run?.isBehind() ?? false;
      const isSilent = (): boolean => isBehind() || visitor?.isSilent() === true;
      const patient = options.realMic
        ? openCapture
        : speech === null
          ? waitAtPauses(openCapture, isBehind)
          : speakInTurn(openCapture, speech, STREAM_RATE_HZ, isSilent);
      const heard = inputMs === null ? patient : limitCapture(patient, inputMs, lane.capture.sampleRate);
      const spoken = options.realMic ? recordLoudspeaker(openPlayback, recording) : openPlayback;
      return { openCapture: room.fillMicrophone(heard), openPlayback: room.hearLoudspeaker(spoken) };
    },
  });
  const [lane] = agent.lanes;
  if (lane === undefined) throw new Error('the demo has no lane');
  const watched = new DemoRun(lane, environment, room, options);
  run = watched;
  const unwatch = agent.watch((step) => {
    watched.onStep(step);
    visitor?.onStep(step, options.clock.now());
  });
  const screen = await serveScreen(agent, config, environment, options, visitor);
  let others: Running | null = null;
  try {
    await agent.start();
    if (environment.console !== null) others = await startOtherKiosks(environment, options);
    await watched.end((now) => {
      const touch = visitor?.touch(now) ?? null;
      if (touch !== null) void screen?.act(touch);
    });
    return watched.summary();
  } finally {
    unwatch();
    await screen?.close();
    await others?.close();
    await agent.stop();
    speech?.close();
  }
}

/** The kiosk's page on a free port, beside those of the emulator and the console. @throws if the page cannot be served */
async function serveScreen(
  agent: Agent,
  config: Config,
  { serviceUrl, console }: DemoEnvironment,
  { web, clock, log }: DemoOptions,
  visitor: Visitor | null,
): Promise<Screen | null> {
  if (!web) return null;
  const { openScreen } = await import('../../device/screen/screen.ts');
  const randomHash = (): string => randomBytes(18).toString('base64url');
  const screen = await openScreen({
    agent,
    config,
    clock,
    log,
    randomHash,
    port: 0,
    files: web.files ?? (await readDemoPage()),
    onAction: () => visitor?.onPerson(clock.now()),
  });
  if (screen.url === null) {
    await screen.close();
    throw new Error('the page for the screen cannot be served');
  }
  web.served({ kiosk: screen.url, emulator: new URL('/emulator', serviceUrl).href, console });
  return screen;
}

function demoConfig(
  environment: DemoEnvironment,
  { input, output, inputMs, realMic, faults, web }: DemoOptions,
): Config {
  // Files have no acoustic echo, unless the fault "echo" simulates one.
  const echo = realMic?.echo ?? (faults.includes('echo') ? 'half-duplex' : 'off');
  return configSchema.parse({
    device: DEMO_DEVICE,
    mqtt: { url: environment.brokerUrl },
    owner: { publicKeyFiles: [environment.ownerKeyFile] },
    service: { hosts: [new URL(environment.serviceUrl).host] },
    screen: { enabled: Boolean(web) },
    lanes: [
      {
        id: 'main',
        capture: realMic
          ? { driver: 'alsa', device: realMic.microphone, sampleRate: STREAM_RATE_HZ }
          : {
              driver: 'file',
              path: input,
              loop: inputMs !== null || Boolean(web),
              sampleRate: STREAM_RATE_HZ,
            },
        playback: realMic
          ? // The translation repeats the captured speech here, so its loudness must not change.
            { driver: 'alsa', device: realMic.loudspeaker, normalize: false }
          : { driver: 'file', path: output, maxMinutes: LONGEST_MIN },
        source: 'en',
        targets: ['es'],
        offer: OFFER,
        echo,
      },
    ],
  });
}

/** One run of the demo: observes the lane, injects the faults, and detects the end. */
class DemoRun {
  private readonly lane: LaneRunner;
  private readonly environment: DemoEnvironment;
  private readonly room: Room;
  private readonly options: DemoOptions;
  private readonly startedAt: number;
  private readonly faults: FaultSchedule;
  private readonly struck: DemoFault[] = [];
  /** Resolves when the environment has accepted the last fault. */
  private striking: Promise<void> = Promise.resolve();
  private readonly finishLine = createFinishLine();
  private readonly translated = new Set<string>();
  private readonly understood = new Set<string>();
  private model: DemoModel = FIRST_MODEL;
  private taskSetAt: number | null = null;
  private setupMs: number | null = null;
  private mutedChunks = 0;
  private firstChunkMs: number | null = null;
  private failure: Error | null = null;

  constructor(lane: LaneRunner, environment: DemoEnvironment, room: Room, options: DemoOptions) {
    this.lane = lane;
    this.environment = environment;
    this.room = room;
    this.options = options;
    this.startedAt = options.clock.now();
    this.faults = scheduleFaults(options.faults);
    const { realMic, inputMs, isOwnInput } = options;
    const tell = (words: string): void => {
      this.model = notice(this.model, words, 0);
    };
    if (realMic && inputMs !== null) {
      tell(`listening to the microphone "${realMic.microphone}" for ${inputMs / 1000} s; Ctrl-C stops`);
    }
    if (isOwnInput) tell('all texts are invented: the emulator does not understand speech');
  }

  onStep(step: LaneStep): void {
    const now = this.options.clock.now();
    this.model = observeStep(this.model, step, now - this.startedAt, now);
    this.finishLine.onStep(step, now);
    this.measure(step, now);
    this.options.view.update(this.model, accountOf(this.lane, now));
  }

  isBehind(): boolean {
    return this.faults.isBehind(momentOf(this.lane.state));
  }

  /** Resolves at the end of the run, rejects when it cannot go on. @param tick called every 100 ms */
  async end(tick: (now: number) => void): Promise<void> {
    const { clock, abort, view } = this.options;
    while (!abort.aborted && !this.finishLine.isReached(clock.now())) {
      if (this.failure !== null) throw this.failure;
      const fault = this.faults.due(momentOf(this.lane.state), clock.now());
      if (fault !== null) this.striking = this.strike(fault);
      this.model = { ...this.model, elapsedMs: clock.now() - this.startedAt };
      view.update(this.model, accountOf(this.lane, clock.now()));
      tick(clock.now());
      await new Promise<void>((resolve) => {
        clock.at(clock.now() + TICK_MS, resolve);
      });
    }
    await this.striking;
    if (this.failure !== null) throw this.failure;
  }

  summary(): DemoSummary {
    return summarise(accountOf(this.lane, this.options.clock.now()), {
      muted_chunks: this.mutedChunks,
      sentences: this.understood.size,
      translations: this.translated.size,
      faults: this.struck,
      missed_faults: this.faults.remaining,
      first_chunk_ms: this.firstChunkMs,
      service_setup_ms: this.setupMs,
      rss_mb: Math.round(process.memoryUsage.rss() / 2 ** 20),
      output: this.options.output,
    });
  }

  private async strike(fault: DemoFault): Promise<void> {
    const elapsed = this.options.clock.now() - this.startedAt;
    this.model = notice(this.model, `*** fault: ${fault} ***`, elapsed);
    try {
      if (fault === 'echo') this.room.letEchoIn();
      else await this.environment.strike(fault);
      this.struck.push(fault);
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error('the fault could not be injected');
    }
  }

  private measure({ effects, before, after }: LaneStep, now: number): void {
    if (isMuted(after.options))
      this.mutedChunks += after.backlog.accounts.captured - before.backlog.accounts.captured;
    for (const effect of effects) {
      if (effect.type === 'send_task') this.taskSetAt ??= now;
      // The monotonic clock starts with the process.
      if (effect.type === 'send_audio') this.firstChunkMs ??= Math.round(this.options.clock.now());
      if (effect.type !== 'caption') continue;
      const { kind, isFinal, id, text } = effect.caption;
      if (!isFinal) continue;
      if (kind === 'source') this.understood.add(id ?? text);
      else this.translated.add(id ?? text);
    }
    if (
      phaseOf(before.session) === 'configuring' &&
      after.session.kind === 'live' &&
      this.taskSetAt !== null
    ) {
      this.setupMs ??= Math.round(now - this.taskSetAt);
    }
  }
}
