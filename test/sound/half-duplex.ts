import { expect } from 'vitest';
import { judge } from '../../src/device/lane/uplink/gate.ts';
import type { Heard } from '../../src/device/playout/heard.ts';
import { createEchoDetector } from '../../src/sound/echo-detector.ts';
import { NO_ECHO, observeEcho, tailOf } from '../../src/sound/echo-guard.ts';
import { levelDb, type Path, perform, talk, through, together, VOICE_RATE_HZ } from '../acoustics.ts';

/** How long the loudspeaker plays, and how long it pauses. */
const SAYS_S = 2.5;
const RESTS_S = 1.6;
const SECONDS = 20.5;
const CHUNK_MS = 320;
export const FROM_MS = 1_000_000;
const UNMEASURED_MS = 300;
/** Against the loudspeaker's own level: a hundredth of its amplitude is a whisper through a wall. */
export const HEARD_DB = -40;

/** A conversation with a loudspeaker that plays and pauses, in a room. */
export interface Conversation {
  readonly said: Float32Array;
  readonly room: Float32Array;
  /** When the loudspeaker plays. */
  readonly stretches: readonly Heard[];
}

export async function converse(): Promise<Conversation> {
  const talking = await talk(SECONDS, -62);
  const period = SAYS_S + RESTS_S;
  const said = talking.said.map((sample, at) => ((at / VOICE_RATE_HZ) % period < SAYS_S ? sample : 0));
  const stretches: Heard[] = [];
  for (let from = 0; from < SECONDS; from += period) {
    stretches.push({ from: FROM_MS + from * 1000, until: FROM_MS + (from + SAYS_S) * 1000 });
  }
  return { said, room: talking.room, stretches };
}

/** Lets the gate judge every chunk of a conversation with its knowledge at that time; returns the loudest echo that passes. */
export function listen(
  { said, room, stretches }: Conversation,
  path: Path,
  measures: boolean,
): { loudestDb: number; tailMs: number; open: number; lateDb: number } {
  const echo = through(path, said);
  const saidDb = levelDb(said);
  const detector = createEchoDetector({ heardRateHz: VOICE_RATE_HZ, playedRateHz: VOICE_RATE_HZ });
  let guard = NO_ECHO;
  let open = 0;
  let [loudestDb, lateDb] = [-120, -120];
  perform(
    { played: said, heard: together(echo, room), pieceMs: CHUNK_MS, fromMs: FROM_MS },
    {
      play: (pcm, heardAt) => (measures ? detector.played(pcm, heardAt) : undefined),
      capture(pcm, capturedAt) {
        const measure = measures ? detector.hear(pcm, capturedAt) : null;
        if (measure !== null) {
          guard = observeEcho(guard, measure, {
            wanted: 'half-duplex',
            heard: 'microphone',
            playedMs: 0,
            now: capturedAt,
          }).guard;
        }
        // The playing times of future sound are not known yet.
        const heard = stretches.filter(({ from }) => from <= capturedAt);
        const tailMs = tailOf(guard, UNMEASURED_MS);
        if (judge({ muted: false, echo: 'half-duplex', heard, tailMs }, capturedAt, CHUNK_MS) !== 'open')
          return;
        open += 1;
        const until = (capturedAt - FROM_MS) / 1000;
        const leakDb = levelDb(echo, until - CHUNK_MS / 1000, until) - saidDb;
        if (guard.measures.length > 0) loudestDb = Math.max(loudestDb, leakDb);
        else lateDb = Math.max(lateDb, leakDb);
      },
    },
  );
  return { loudestDb, tailMs: tailOf(guard, UNMEASURED_MS), open, lateDb };
}

/** After the measurement, no loudspeaker sound passes. */
export function expectNothingPasses(conversation: Conversation, path: Path): void {
  const { loudestDb, tailMs, open } = listen(conversation, path, true);
  expect(loudestDb).toBeLessThan(HEARD_DB);
  expect(tailMs).toBeGreaterThan(path.delayMs + 99);
  // The gate still opens between the sentences.
  expect(open).toBeGreaterThanOrEqual(3);
}

/** Before any measurement, an echo of this path does not pass either. */
export function expectTailEnough(conversation: Conversation, delayMs: number, gainDb: number): void {
  expect(listen(conversation, { delayMs, gainDb, rt60S: 0.3 }, false).lateDb).toBeLessThan(HEARD_DB);
}
