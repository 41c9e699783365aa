import { beforeAll, describe, expect, it } from 'vitest';
import { createEchoDetector } from '../../../src/core/audio/echo-detector.ts';
import { NO_ECHO, observeEcho, tailOf } from '../../../src/core/audio/echo-guard.ts';
import { toPcm } from '../../../src/core/audio/pcm.ts';
import { type Heard, judge } from '../../../src/core/uplink/gate.ts';
import { levelDb, type Path, perform, talk, through, together, VOICE_RATE_HZ } from '../../acoustics.ts';

/** The loudspeaker says something for this long, and is silent for this long. */
const SAYS_S = 2.5;
const RESTS_S = 1.6;
const SECONDS = 20.5;
const CHUNK_MS = 320;
const FROM_MS = 1_000_000;
const UNMEASURED_MS = 300;
/** Against the loudspeaker's own level: a hundredth of its amplitude is a whisper behind a wall. */
const HEARD_DB = -40;

let said: Float32Array;
let room: Float32Array;
const stretches: Heard[] = [];
beforeAll(async () => {
  const talking = await talk(SECONDS, -62);
  room = talking.room;
  const period = SAYS_S + RESTS_S;
  said = talking.said.map((sample, at) => ((at / VOICE_RATE_HZ) % period < SAYS_S ? sample : 0));
  for (let from = 0; from < SECONDS; from += period) {
    stretches.push({ from: FROM_MS + from * 1000, until: FROM_MS + (from + SAYS_S) * 1000 });
  }
});

/** Lets the gate judge every chunk of a conversation, as it knows the room by then; gives the loudest echo in an open one. */
function listen(
  path: Path,
  measures: boolean,
): { loudestDb: number; tailMs: number; open: number; lateDb: number } {
  const echo = through(path, said);
  const detector = createEchoDetector({ heardRateHz: VOICE_RATE_HZ, playedRateHz: VOICE_RATE_HZ });
  let guard = NO_ECHO;
  let open = 0;
  let [loudestDb, lateDb] = [-120, -120];
  perform(
    { played: said, heard: together(echo, room), pieceMs: CHUNK_MS, fromMs: FROM_MS },
    {
      play: (pcm, heardAt) => detector.played(pcm, heardAt),
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
        // What the loudspeaker was told to sound in the future is not known yet.
        const heard = stretches.filter(({ from }) => from <= capturedAt);
        const tailMs = tailOf(guard, UNMEASURED_MS);
        if (judge({ muted: false, echo: 'half-duplex', heard, tailMs }, capturedAt, CHUNK_MS) !== 'open')
          return;
        open += 1;
        const until = (capturedAt - FROM_MS) / 1000;
        const leakDb = levelDb(echo, until - CHUNK_MS / 1000, until) - levelDb(said);
        if (guard.measures.length > 0) loudestDb = Math.max(loudestDb, leakDb);
        else lateDb = Math.max(lateDb, leakDb);
      },
    },
  );
  return { loudestDb, tailMs: tailOf(guard, UNMEASURED_MS), open, lateDb };
}

const grid = [20, 70, 150, 250, 400].flatMap((delayMs, row) =>
  (row % 2 ? [-10, -20] : [0, -30]).map((gainDb) => ({ delayMs, gainDb, rt60S: 0.5 })),
);

describe('half-duplex', () => {
  it.each(grid)(
    'once measured, lets nothing of the loudspeaker pass at $delayMs ms and $gainDb dB',
    (path) => {
      const { loudestDb, tailMs, open } = listen(path, true);
      expect(loudestDb).toBeLessThan(HEARD_DB);
      expect(tailMs).toBeGreaterThan(path.delayMs + 99);
      // And it still opens between the sentences.
      expect(open).toBeGreaterThanOrEqual(3);
    },
  );

  it.each([20, 200])('unmeasured, its tail is enough for an echo of %i ms', (delayMs) => {
    for (const gainDb of [-12, -30]) {
      expect(listen({ delayMs, gainDb, rt60S: 0.3 }, false).lateDb).toBeLessThan(HEARD_DB);
    }
  });

  it('would let an echo of 400 ms pass, if it were not measured', () => {
    expect(listen({ delayMs: 400, gainDb: 0, rt60S: 0.5 }, false).lateDb).toBeGreaterThan(HEARD_DB);
  });

  it('the conversation is one that sounds: each sentence stands out from the room', () => {
    const above = stretches.map(({ from, until }) => {
      const sentence = levelDb(said, (from - FROM_MS) / 1000, (until - FROM_MS) / 1000);
      return sentence - levelDb(room);
    });
    expect(Math.min(...above)).toBeGreaterThan(25);
    expect(toPcm(said).byteLength).toBe(said.length * 2);
  });
});
