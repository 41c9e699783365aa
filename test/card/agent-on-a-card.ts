import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadWav } from '../../src/adapters/audio/sound-source.ts';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { type DemoOptions, runDemo } from '../../src/cli/demo/demo.ts';
import { openEnvironment } from '../../src/cli/demo/environment.ts';
import type { EmulatorOptions } from '../../src/emulator/server.ts';
import type { Log } from '../../src/ports/log.ts';
import { samplesOf } from '../../src/sound/pcm.ts';
import { inProcessPrograms } from '../e2e/in-process.ts';
import type { Card } from './card.ts';

export const RECORDING = fileURLToPath(new URL('../../src/cli/demo/visitor.wav', import.meta.url));

/** The visitors' recording of the demo: its sound, and the times of its sentences. */
export async function visitors(): Promise<{
  sound: Int16Array;
  sentences: { start: number; end: number }[];
}> {
  const { sentences } = JSON.parse(await readFile(RECORDING.replace(/wav$/, 'json'), 'utf8'));
  return { sound: samplesOf((await loadWav(RECORDING)).pcm), sentences };
}

interface AgentOptions extends Partial<DemoOptions> {
  /** Length of the captured sound. */
  readonly seconds: number;
  readonly service?: EmulatorOptions;
  /** Called when the first stream is live. */
  onLive?(): void;
}

/** Runs a whole agent with a card, with broker, backend and service around it. */
export async function serve(
  card: Card,
  { seconds, service = {}, onLive = () => {}, ...options }: AgentOptions,
) {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-kiosk-'));
  const programs = inProcessPrograms({ recordBytes: 16 * 2 ** 20, ...service });
  const environment = await openEnvironment(programs);
  const logged: string[] = [];
  let wasLive = false;
  const note = (fields: object, sentence: string): void =>
    void logged.push(`${sentence} ${JSON.stringify(fields)}`);
  const log: Log = { trace() {}, debug() {}, info: note, warn: note, error: note };
  try {
    const summary = await runDemo(environment, {
      input: '',
      output: join(folder, 'spoken.wav'),
      inputMs: seconds * 1000,
      realMic: { microphone: card.device, loudspeaker: card.device, echo: 'off' },
      faults: [],
      clock: createSystemClock(),
      log,
      view: {
        update({ phase }) {
          if (phase !== 'live' || wasLive) return;
          wasLive = true;
          onLive();
        },
        showPages() {},
        close() {},
      },
      abort: new AbortController().signal,
      ...options,
    });
    const emulator = programs.emulator();
    const streams = emulator.reports();
    const recordings = streams.map(({ id }) => emulator.recording(id));
    return {
      summary,
      streams,
      logged,
      /** Sound that the service received from this agent, and its answers. */
      received: samplesOf(Buffer.concat(recordings.map(({ received }) => received))),
      sent: samplesOf(Buffer.concat(recordings.map(({ sent }) => sent))),
    };
  } finally {
    await environment.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
