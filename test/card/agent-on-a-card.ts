import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadWav } from '../../src/adapters/audio/sound-source.ts';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { type DemoOptions, runDemo } from '../../src/cli/demo/demo.ts';
import { openEnvironment } from '../../src/cli/demo/environment.ts';
import { samplesOf } from '../../src/core/audio/pcm.ts';
import type { EmulatorOptions } from '../../src/emulator/server.ts';
import type { Log } from '../../src/ports/log.ts';
import { inProcessPrograms } from '../e2e/in-process.ts';
import type { Card } from './card.ts';

export const RECORDING = fileURLToPath(new URL('../../src/cli/demo/visitor.wav', import.meta.url));

/** The visitors that ship with the project: their sound, and when each of their sentences is said. */
export async function visitors(): Promise<{
  sound: Int16Array;
  sentences: { start: number; end: number }[];
}> {
  const { sentences } = JSON.parse(await readFile(RECORDING.replace(/wav$/, 'json'), 'utf8'));
  return { sound: samplesOf((await loadWav(RECORDING)).pcm), sentences };
}

interface AgentOptions extends Partial<DemoOptions> {
  /** How long it hears. */
  readonly seconds: number;
  readonly service?: EmulatorOptions;
  /** The first stream is live. */
  onLive?(): void;
}

/** Lets a whole agent, with broker, backend and service around it, hear and speak with a card. */
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
      /** By the service, from this agent; and what it answered. */
      received: samplesOf(Buffer.concat(recordings.map(({ received }) => received))),
      sent: samplesOf(Buffer.concat(recordings.map(({ sent }) => sent))),
    };
  } finally {
    await environment.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
