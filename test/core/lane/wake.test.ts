import { describe, expect, it } from 'vitest';
import { nextPcm, SPEECH } from './sound.ts';
import { CHUNK_MS, World } from './world.ts';

/** Loud chunks, judged by a voice detector. */
function hear(world: World, verdicts: readonly (boolean | undefined)[]): void {
  for (const isSpeech of verdicts) {
    world.pass(CHUNK_MS);
    const levels = { ...SPEECH, ...(isSpeech === undefined ? {} : { isSpeech }) };
    world.step({ type: 'captured', capturedAt: world.now, pcm: nextPcm(true), levels });
  }
}

function asleep(): World {
  const world = new World({ orders: { start: 'voice', standbyAfterMs: 5000 } });
  world.line(true);
  world.start();
  expect(world.phase).toBe('standby');
  return world;
}

describe('a sleeping lane', () => {
  it('is not woken by what is loud and no voice, however long it lasts', () => {
    const world = asleep();
    hear(world, new Array<boolean>(200).fill(false));
    expect(world.phase).toBe('standby');
    expect(world.all('request_token')).toEqual([]);
  });

  it('is not woken by a single chunk of voice', () => {
    const world = asleep();
    hear(world, [true, false, false, true, false, false]);
    expect(world.phase).toBe('standby');
  });

  it('is woken by two of three, and by loudness alone where there is no detector', () => {
    const detected = asleep();
    hear(detected, [true, false, true]);
    expect(detected.phase).toBe('acquiring');
    const undetected = asleep();
    hear(undetected, [undefined, undefined]);
    expect(undetected.phase).toBe('acquiring');
  });
});

describe('a sleeping lane that is wanted awake', () => {
  it('wakes at the command, and what was heard last goes with it', () => {
    const world = asleep();
    hear(world, [true, false, false]);
    world.start();
    expect(world.phase).toBe('acquiring');
    expect(world.accounts).toMatchObject({ held: 3, dropped: 0 });
    expect(world.notes).toContain('wake');
  });

  it('wakes when it is told never to sleep', () => {
    const world = new World().goStandby();
    world.orders({ standbyAfterMs: 60_000 });
    expect(world.phase).toBe('standby');
    world.orders({ standbyAfterMs: 0 });
    expect(world.phase).toBe('acquiring');
    world.grant();
    world.open();
    world.taskRuns();
    world.hush(1000);
    expect(world.phase).toBe('live');
  });

  it('goes on waiting for the first voice where a voice is what begins it', () => {
    const world = asleep();
    world.orders({ standbyAfterMs: 0 });
    expect(world.phase).toBe('standby');
    world.orders({ start: 'boot' });
    expect(world.phase).toBe('acquiring');
  });
});

describe('a live lane', () => {
  it('goes to sleep although it is loud, if nobody is heard speaking', () => {
    const world = new World({ orders: { standbyAfterMs: 5000 } }).goLive();
    hear(world, new Array<boolean>(150).fill(false));
    expect(world.phase).toBe('standby');
  });

  it('stays awake while somebody is heard', () => {
    const world = new World({ orders: { standbyAfterMs: 5000 } }).goLive();
    hear(world, [...new Array<boolean>(10).fill(false), true, ...new Array<boolean>(10).fill(false)]);
    expect(world.phase).toBe('live');
  });
});
