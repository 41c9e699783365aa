import { describe, expect, it } from 'vitest';
import { causeOf } from '../../../src/adapters/audio/child/stderr-classifier.ts';
import { beginRespawn, noteFailure, noteWorking } from '../../../src/core/retry/respawn.ts';

/** Places of the failures that are reported to the owner, among failures every 4 s. */
function reported(causes: readonly string[], begin = beginRespawn(1), everyMs = 4000): number[] {
  let state = begin;
  let now = 0;
  return causes.flatMap((cause, place) => {
    const verdict = noteFailure(state, { code: 'failed', cause, workedMs: 0 }, now);
    state = verdict.state;
    now += everyMs;
    return verdict.report ? [place] : [];
  });
}

describe('the cause of an outage', () => {
  it.each([
    ['stays', 'aaaa', [0]],
    ['changes', 'aabb', [0, 3]],
    ['changes back', 'abbbaa', [0, 2, 5]],
    ['flickers', 'abababab', [0]],
    ['differs each time', 'abcdefgh', [0]],
  ])('is reported again when another cause has lasted: it %s', (_, causes, places) => {
    expect(reported([...causes])).toEqual(places);
  });

  it('may vary in the first moments; only the first cause is reported', () => {
    expect(reported([...'abbccbbb'], beginRespawn(1), 250)).toEqual([0]);
    expect(reported([...'abbbbbbbbbbbbbbbbbb'], beginRespawn(1), 250)).toEqual([0, 13]);
  });

  it('is forgotten when the device works', () => {
    const { state } = noteFailure(beginRespawn(1), { code: 'failed', cause: 'a', workedMs: 0 }, 0);
    const healed = noteWorking(state, 10).state;
    expect(reported(['b', 'a', 'a'], healed)).toEqual([0, 2]);
  });
});

describe('two failures', () => {
  const ended = (code: number, words: string) =>
    causeOf({ code: 'failed', message: `aplay ended with exit code ${code} after saying "${words}"` });
  const missing = (message: string) => causeOf({ code: 'not_found', message });

  it('have one cause when they differ only in numbers, or the device has gone and is missing', () => {
    expect(ended(1, 'pid 4711 broke')).toBe(ended(1, 'pid 4712 broke'));
    const gone = causeOf({ code: 'lost', message: 'the playback device "hw:1" went away' });
    expect(missing('there is no playback device "hw:1"; plug it in')).toBe(gone);
  });

  it('have two causes when the program is missing, or the message differs', () => {
    const program = missing('the program "aplay" is not installed; install the package "alsa-utils"');
    expect(program).not.toBe(missing('there is no playback device "hw:1"; plug it in'));
    expect(program).not.toBe(ended(1, ''));
    expect(ended(1, 'it is hot')).not.toBe(ended(1, 'it is cold'));
  });
});
