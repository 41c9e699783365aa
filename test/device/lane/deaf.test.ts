import { describe, expect, it } from 'vitest';
import { reportLane } from '../../../src/device/lane/lane-report.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

const deafSince = (lane: LaneHarness): string | null =>
  reportLane('main', lane.state, { capture: 'mic', playback: 'speaker' }, String).deaf_since;

/** The service sends sound without an end while a visitor speaks. @param audible the audible part of it */
function drone(lane: LaneHarness, chunks: number, audible?: null): void {
  let told = lane.all('play').length;
  const tell = (): void => {
    for (const { write, at, pcm } of lane.all('play').slice(told)) {
      const sounding = { type: 'sounding', write, from: at, until: at + pcm.byteLength / 48 } as const;
      lane.step(audible === null ? { ...sounding, audible } : sounding);
      told += 1;
    }
  };
  for (let count = 0; count < chunks; count++) {
    lane.hear('endless', CHUNK_MS);
    tell();
    lane.pass(CHUNK_MS);
    tell();
    lane.capture(true);
    tell();
  }
}

describe('half-duplex with a service that never stops speaking', () => {
  it('stays open while the played sound is silence', () => {
    const lane = new LaneHarness().goLive();
    drone(lane, 260, null);
    expect(lane.accounts.sent).toBeGreaterThan(255);
    expect(deafSince(lane)).toBeNull();
  });

  it('reports after a minute since when the gate is closed, until it opens', () => {
    const lane = new LaneHarness().goLive();
    const began = lane.now;
    drone(lane, 180);
    expect(deafSince(lane)).toBeNull();
    drone(lane, 20);
    expect(Number(deafSince(lane)) - began).toBeLessThan(2 * CHUNK_MS);
    lane.pass(5000);
    lane.speak(10);
    expect(deafSince(lane)).toBeNull();
  });
});
