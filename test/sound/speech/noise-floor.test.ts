import { describe, expect, it } from 'vitest';
import {
  type ChunkLevels,
  type NoiseFloor,
  trackNoiseFloor,
  UNKNOWN_NOISE_FLOOR,
} from '../../../src/sound/speech/noise-floor.ts';

/** Processes chunks and returns the verdict on each: v = voiced, . = pause. */
function hear(chunks: readonly ChunkLevels[], from: NoiseFloor = UNKNOWN_NOISE_FLOOR): string {
  let noiseFloor = from;
  return chunks
    .map((chunk) => {
      const heard = trackNoiseFloor(noiseFloor, chunk);
      noiseFloor = heard.noiseFloor;
      return heard.voiced ? 'v' : '.';
    })
    .join('');
}

const room = (db: number): ChunkLevels => ({ loudestDb: db + 3, quietestDb: db - 1 });
const speech = (db: number, roomDb: number): ChunkLevels => ({ loudestDb: db, quietestDb: roomDb - 1 });
const times = (count: number, chunk: ChunkLevels): ChunkLevels[] => new Array(count).fill(chunk);

describe('activity', () => {
  it('hears speech over a quiet room, and the pauses in it', () => {
    const chunks = [
      ...times(4, room(-58)),
      ...times(4, speech(-25, -58)),
      ...times(3, room(-58)),
      ...times(2, speech(-40, -58)),
    ];
    expect(hear(chunks)).toBe('....vvvv...vv');
  });

  it('finds the pauses in a loud room too', () => {
    expect(hear([...times(5, room(-42)), ...times(3, speech(-20, -42)), ...times(3, room(-42))])).toBe(
      '.....vvv...',
    );
  });

  it('takes digital silence as a pause, whatever came before', () => {
    expect(hear([...times(3, speech(-20, -50)), { loudestDb: -96, quietestDb: -96 }])).toBe('vvv.');
  });

  it('takes very soft sound as a pause even in a completely silent room', () => {
    const chunks = [...times(5, { loudestDb: -96, quietestDb: -96 }), { loudestDb: -70, quietestDb: -80 }];
    expect(hear(chunks)).toBe('......');
    expect(hear([{ loudestDb: -62, quietestDb: -96 }])).toBe('v');
    expect(hear([{ loudestDb: -62.1, quietestDb: -96 }])).toBe('.');
  });

  it('leans towards speech: at the threshold it is speech', () => {
    expect(hear([{ loudestDb: -41, quietestDb: -50 }])).toBe('v');
    expect(hear([{ loudestDb: -41.1, quietestDb: -50 }])).toBe('.');
  });

  it('does not take speech without a breath as room noise', () => {
    expect(hear(times(40, { loudestDb: -12, quietestDb: -20 }))).toBe('v'.repeat(40));
  });

  it('follows a room that grows louder within about ten seconds', () => {
    const heard = hear([...times(10, room(-60)), ...times(40, room(-45))]);
    // The louder room counts as speech at first, which is the harmless mistake; then as room noise.
    expect(heard.slice(10, 40)).toBe('v'.repeat(30));
    expect(heard.slice(-8)).toBe('........');
  });

  it('uses limited memory', () => {
    let noiseFloor = UNKNOWN_NOISE_FLOOR;
    for (let i = 0; i < 500; i++) noiseFloor = trackNoiseFloor(noiseFloor, room(-50)).noiseFloor;
    expect(noiseFloor.quietest).toHaveLength(32);
  });
});
