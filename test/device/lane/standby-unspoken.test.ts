import { describe, expect, it } from 'vitest';
import { finished } from '../../service-events.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

describe('standby with a sentence that is not spoken to its end', () => {
  const translate = (lane: LaneHarness, id: string): void => {
    lane.understands(id);
    lane.translates(id, 60);
  };
  /** 3.9 s of a sentence are due, from a service that marks its ends. @param isSure whether it was surely speech */
  const owing = (standbyAfterMs: number, isSure = true): LaneHarness => {
    const lane = new LaneHarness({ options: { standbyAfterMs, echo: 'off' } }).goLive();
    for (const id of ['a', 'b']) {
      lane.isSpeech = isSure || id === 'a';
      lane.speak(5);
      lane.hush(4);
      translate(lane, id);
      if (id === 'a') lane.hear(id, 3900, true);
    }
    return lane;
  };
  const seconds = (count: number): number => Math.ceil((count * 1000) / CHUNK_MS);

  it('waits for the delayed rest', () => {
    const lane = owing(6000);
    lane.hear('b', 2400);
    lane.pongs = false;
    lane.hush(seconds(8));
    expect(lane.phase).toBe('live');
    lane.pongs = true;
    lane.step({ type: 'pong', stream: lane.stream });
    lane.hear('b', 1500, true);
    lane.hush(seconds(12));
    expect(lane.phase).toBe('standby');
    expect(lane.notes).not.toContain('unspoken');
  });

  it.each([true, false])(
    'counts a sentence without any sound when the session ends; the service confirms the end: %s',
    (confirms) => {
      const lane = owing(1000, false);
      lane.until(() => lane.phase === 'standby', 30_000);
      expect(lane.notes).not.toContain('unspoken');
      if (confirms) lane.says(finished());
      else lane.hush(seconds(10));
      const unspoken = lane.all('notify').filter(({ kind }) => kind === 'unspoken');
      expect(unspoken).toMatchObject([{ detail: { language: 'es', unspoken_ms: 1600, sentences: 1 } }]);
      const ended = lane.all('notify').filter(({ kind }) => kind === 'session_ended');
      expect(ended).toMatchObject([{ detail: { cause: 'standby' } }]);
    },
  );
});
