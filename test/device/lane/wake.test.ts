import { describe, expect, it } from 'vitest';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';
import { nextPcm, SPEECH } from './sound.ts';

/** Loud chunks, judged by a voice detector. */
function hear(lane: LaneHarness, verdicts: readonly (boolean | undefined)[]): void {
  for (const isSpeech of verdicts) {
    lane.pass(CHUNK_MS);
    const levels = { ...SPEECH, ...(isSpeech === undefined ? {} : { isSpeech }) };
    lane.step({ type: 'captured', capturedAt: lane.now, pcm: nextPcm(true), levels });
  }
}

function asleep(): LaneHarness {
  const lane = new LaneHarness({ options: { start: 'voice', standbyAfterMs: 5000 } });
  lane.brokerIs(true);
  lane.start();
  expect(lane.phase).toBe('standby');
  return lane;
}

describe('a sleeping lane', () => {
  it('does not wake at long loud noise without a voice', () => {
    const lane = asleep();
    hear(lane, new Array<boolean>(200).fill(false));
    expect(lane.phase).toBe('standby');
    expect(lane.all('request_token')).toEqual([]);
  });

  it('does not wake at a single chunk of voice', () => {
    const lane = asleep();
    hear(lane, [true, false, false, true, false, false]);
    expect(lane.phase).toBe('standby');
  });

  it('wakes at two voiced chunks of three, and at loud ones without a detector', () => {
    const detected = asleep();
    hear(detected, [true, false, true]);
    expect(detected.phase).toBe('acquiring');
    const undetected = asleep();
    hear(undetected, [undefined, undefined]);
    expect(undetected.phase).toBe('acquiring');
  });
});

describe('a sleeping lane that must wake by order', () => {
  it('wakes at the command, and sends the last audio', () => {
    const lane = asleep();
    hear(lane, [true, false, false]);
    lane.start();
    expect(lane.phase).toBe('acquiring');
    expect(lane.accounts).toMatchObject({ held: 3, dropped: 0 });
    expect(lane.notes).toContain('wake');
  });

  it('wakes when standby is switched off', () => {
    const lane = new LaneHarness().goStandby();
    lane.options({ standbyAfterMs: 60_000 });
    expect(lane.phase).toBe('standby');
    lane.options({ standbyAfterMs: 0 });
    expect(lane.phase).toBe('acquiring');
    lane.grant();
    lane.open();
    lane.taskRuns();
    lane.hush(1000);
    expect(lane.phase).toBe('live');
  });

  it('keeps waiting for the first voice with `start: voice`', () => {
    const lane = asleep();
    lane.options({ standbyAfterMs: 0 });
    expect(lane.phase).toBe('standby');
    lane.options({ start: 'boot' });
    expect(lane.phase).toBe('acquiring');
  });
});

describe('a live lane', () => {
  it('goes to standby in loud noise without a voice', () => {
    const lane = new LaneHarness({ options: { standbyAfterMs: 5000 } }).goLive();
    hear(lane, new Array<boolean>(150).fill(false));
    expect(lane.phase).toBe('standby');
  });

  it('stays awake while a voice is heard', () => {
    const lane = new LaneHarness({ options: { standbyAfterMs: 5000 } }).goLive();
    hear(lane, [...new Array<boolean>(10).fill(false), true, ...new Array<boolean>(10).fill(false)]);
    expect(lane.phase).toBe('live');
  });
});
