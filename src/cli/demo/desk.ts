/** `demo --desk`: two people talk at a kiosk with one microphone, and at one with two. */
import { loadWav } from '../../adapters/audio/sound-source.ts';
import { Agent } from '../../device/agent.ts';
import { accountOf } from '../../device/lane/runner/lane-account.ts';
import type { LaneRunner, LaneStep } from '../../device/lane/runner/lane-runner.ts';
import { createMachineDeps } from '../../device/machine-deps.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { COLUMNS, wrapText } from '../../program/text.ts';
import { type Config, configSchema } from '../../protocol/config.ts';
import { samplesOf } from '../../sound/pcm.ts';
import { type Beginning, playInto, raiseVoices, recordNear } from './desk-sound.ts';
import { DEMO_DEVICE, type DemoEnvironment } from './environment.ts';
import { createFinishLine } from './finish.ts';
import { shippedRecording } from './input.ts';
import { type DemoSummary, summarise } from './summary.ts';
import recording from './visitor.json' with { type: 'json' };

const RATE_HZ = 24_000;
const TICK_MS = 200;
/** The emulator tells people apart by their voices: the low one speaks the first language. */
const CLERK = 'man';

export interface DeskDemoOptions {
  readonly output: string;
  readonly clock: Clock;
  readonly log: Log;
  print(line: string): void;
  readonly abort: AbortSignal;
}

/** The summary of the kiosk with one microphone, and of each lane. */
export interface DeskSummary extends DemoSummary {
  readonly lanes: readonly (DemoSummary & { readonly id: string })[];
}

/** An introduction for the viewer, before the demo begins. */
const EXPLANATION = `A clerk (English) and a visitor (Spanish) talk, at two kiosks at once:
  desk             one microphone for both; the language shows who speaks
  clerk, visitor   a microphone for each; the nearer one shows who speaks
Each sentence is followed by its translation (->).

`;

/** Runs both kiosks simultaneously. */
export async function runDeskDemo(
  environment: DemoEnvironment,
  options: DeskDemoOptions,
): Promise<DeskSummary> {
  const { pcm } = await loadWav(shippedRecording(), { rateHz: RATE_HZ });
  const { sentences } = recording;
  const isVisitor = (speaker: string): boolean => speaker !== CLERK;
  const whole = raiseVoices(samplesOf(pcm), RATE_HZ, sentences, isVisitor);
  const near = (isNear: (speaker: string) => boolean): Int16Array =>
    recordNear(whole, RATE_HZ, sentences, isNear);
  const heard = { desk: whole, clerk: near((one) => !isVisitor(one)), visitor: near(isVisitor) };
  options.print(EXPLANATION);
  const kiosks = deskConfigs(environment, options.output);
  const lanes = (await Promise.all(kiosks.map((config) => runKiosk(config, heard, options)))).flat();
  const [first] = lanes;
  if (first === undefined) throw new Error('the demo has no lane');
  const { id: _, ...desk } = first;
  return { ...desk, lanes };
}

async function runKiosk(
  config: Config,
  heard: Readonly<Record<string, Int16Array>>,
  { clock, log, print, abort }: DeskDemoOptions,
): Promise<DeskSummary['lanes']> {
  const machine = await createMachineDeps(config, clock, log, {});
  const beginning: Beginning = { at: null };
  const agent = new Agent(config, {
    ...machine,
    openAudio: (lane) => ({
      ...machine.openAudio(lane),
      openCapture: playInto(heard[lane.id] ?? new Int16Array(RATE_HZ), RATE_HZ, clock, beginning),
    }),
  });
  const lanes = agent.lanes.map((lane) => watchLane(lane, print));
  const unwatch = agent.watch((step) => {
    for (const lane of lanes) if (lane.id === step.lane) lane.onStep(step, clock.now());
  });
  try {
    await agent.start();
    while (!abort.aborted && !lanes.every((lane) => lane.isDone(clock.now())))
      await new Promise<void>((resolve) => {
        clock.at(clock.now() + TICK_MS, resolve);
      });
    return lanes.map((lane, index) => lane.summary(outputOf(config, index), clock.now()));
  } finally {
    unwatch();
    await agent.stop();
  }
}

function outputOf({ lanes }: Config, index: number): string {
  const playback = lanes[index]?.playback;
  return playback?.driver === 'file' ? playback.path : '';
}

/** A kiosk with one microphone, and one with two. */
function deskConfigs(environment: DemoEnvironment, output: string): readonly Config[] {
  const base = output.replace(/\.wav$/i, '');
  const lane = (id: string, path: string, more: object) => ({
    id,
    capture: { driver: 'file', path: shippedRecording(), sampleRate: RATE_HZ },
    playback: { driver: 'file', path },
    // Files have no acoustic echo.
    source: 'en',
    targets: ['es'],
    echo: 'off',
    ...more,
  });
  const kiosk = (id: string, lanes: readonly object[], rooms: readonly object[] = []): Config =>
    configSchema.parse({
      device: { ...DEMO_DEVICE, id },
      mqtt: { url: environment.brokerUrl },
      owner: { publicKeyFiles: [environment.ownerKeyFile] },
      service: { hosts: [new URL(environment.serviceUrl).host] },
      lanes,
      rooms,
    });
  return [
    kiosk('desk-01', [lane('desk', output, { twoWay: 'auto' })]),
    kiosk(
      'desk-02',
      [
        lane('clerk', `${base}-clerk.wav`, {}),
        lane('visitor', `${base}-visitor.wav`, { source: 'es', targets: ['en'] }),
      ],
      [{ id: 'counter', lanes: ['clerk', 'visitor'] }],
    ),
  ];
}

/** Follows one lane: prints what is said, and knows when everything was translated. */
function watchLane(lane: LaneRunner, print: (line: string) => void) {
  const finish = createFinishLine();
  const understood = new Set<string>();
  const translated = new Set<string>();
  return {
    id: lane.id,
    onStep(step: LaneStep, now: number): void {
      finish.onStep(step, now);
      for (const effect of step.effects) {
        if (effect.type !== 'caption' || !effect.caption.isFinal) continue;
        const { kind, id, language, text } = effect.caption;
        (kind === 'source' ? understood : translated).add(id ?? text);
        print(formatSaid(lane.id, `${kind === 'source' ? '   ' : '-> '}${language}`, text));
      }
    },
    isDone: (now: number): boolean => finish.isReached(now),
    summary: (output: string, now: number) => ({
      id: lane.id,
      ...summarise(accountOf(lane, now), {
        muted_chunks: 0,
        sentences: understood.size,
        translations: translated.size,
        faults: [],
        missed_faults: [],
        first_chunk_ms: null,
        service_setup_ms: null,
        output,
        rss_mb: Math.round(process.memoryUsage.rss() / 2 ** 20),
      }),
    }),
  };
}

/** Columns for lane, language and text; a long text wraps within its column. */
export function formatSaid(id: string, language: string, text: string): string {
  const head = `${id.padEnd(8)} ${language}  `;
  const indent = ' '.repeat(head.length);
  return head + wrapText(text, indent, COLUMNS - head.length);
}

/** The summary for a person. */
export function formatDesk({ lanes }: DeskSummary): string {
  return lanes
    .map(
      ({ id, sentences, translations, played_ms, output }) =>
        `  ${id.padEnd(8)} ${sentences} sentences heard, ${translations} translated,\n` +
        `  ${' '.repeat(8)} ${(played_ms / 1000).toFixed(1)} s in ${output}\n`,
    )
    .join('');
}
