import { describe, expect, it } from 'vitest';
import { createTimeline } from '../../src/sound/echo-timeline.ts';

/** 1000 samples a second, so a place is a millisecond. At least 4 s are kept, which gives 4096. */
const create = () => createTimeline(1000, 4);
const counting = (from: number, length: number): Float32Array =>
  Float32Array.from({ length }, (_, index) => from + index);
const read = (timeline: ReturnType<typeof create>, from: number, length: number): number[] => {
  const target = new Float32Array(length).fill(99);
  timeline.read(from, target);
  return [...target];
};

describe('a timeline', () => {
  it('holds sound at its place, and silence everywhere else', () => {
    const timeline = create();
    timeline.write(counting(1, 3), 5000);
    expect(read(timeline, 4998, 7)).toEqual([0, 0, 1, 2, 3, 0, 0]);
    expect([timeline.end, timeline.unbrokenSince]).toEqual([5003, 5000]);
  });

  it('is silent before the first sound', () => {
    expect(read(create(), 0, 3)).toEqual([0, 0, 0]);
    const cut = create();
    cut.cut(10);
    expect(read(cut, 0, 3)).toEqual([0, 0, 0]);
  });

  it('continues sound without a seam when its time is nearly right, and follows a clock that is off', () => {
    const timeline = create();
    timeline.write(counting(1, 10), 1000);
    timeline.write(counting(11, 10), 1010.4);
    expect(read(timeline, 1008, 4)).toEqual([9, 10, 11, 12]);
    // 5 ms late: one sample is repeated.
    timeline.write(counting(21, 10), 1025);
    expect(read(timeline, 1018, 5)).toEqual([19, 20, 21, 21, 22]);
    // 6 ms early: one sample is dropped.
    timeline.write(counting(31, 10), 1025);
    expect(read(timeline, 1028, 4)).toEqual([28, 29, 31, 32]);
    expect(timeline.unbrokenSince).toBe(1000);
  });

  it('continues the sound when requested, whatever a better estimate says', () => {
    const timeline = create();
    timeline.write(counting(1, 10), 1000);
    timeline.write(counting(11, 10), 1070, true);
    // One sample is repeated on the way to the better estimate.
    expect(read(timeline, 1008, 5)).toEqual([9, 10, 11, 11, 12]);
    timeline.write(counting(21, 10), 1700, true);
    expect(timeline.unbrokenSince).toBe(1700);
  });

  it('moves sound that is heard later than estimated, with silence before it', () => {
    const timeline = create();
    timeline.write(counting(1, 10), 1000);
    timeline.delay(1006, 3);
    expect(read(timeline, 1004, 10)).toEqual([5, 6, 0, 0, 0, 7, 8, 9, 10, 0]);
    expect(timeline.end).toBe(1013);
    timeline.delay(1013, 5);
    timeline.put(counting(11, 2), 1013);
    expect(read(timeline, 1011, 4)).toEqual([9, 10, 11, 12]);
    timeline.delay(timeline.unbrokenSince, -5);
    expect([timeline.unbrokenSince, timeline.end]).toEqual([1004, 1010]);
    expect(read(timeline, 1003, 8)).toEqual([4, 7, 8, 9, 10, 11, 12, 0]);
  });

  it('starts again when time has jumped, with silence in between', () => {
    const timeline = create();
    timeline.write(counting(1, 10), 1000);
    timeline.write(counting(1, 2), 1100);
    expect(read(timeline, 1009, 3)).toEqual([10, 0, 0]);
    expect(read(timeline, 1099, 3)).toEqual([0, 1, 2]);
    expect(timeline.unbrokenSince).toBe(1100);
  });

  it('accepts new sound after a flush removed the old', () => {
    const timeline = create();
    timeline.write(counting(1, 100), 1000);
    timeline.cut(1050);
    expect(read(timeline, 1049, 3)).toEqual([50, 0, 0]);
    timeline.write(counting(1, 3), 1060);
    expect(read(timeline, 1049, 15)).toEqual([50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0]);
    timeline.cut(2000);
    expect(timeline.end).toBe(1063);
  });

  it('forgets old sound, over many rounds', () => {
    const timeline = create();
    for (let at = 0; at < 20_000; at += 100) timeline.write(counting(at, 100), at);
    expect(read(timeline, 15_900, 5)).toEqual([0, 0, 0, 0, 15_904]);
    expect(read(timeline, 19_998, 4)).toEqual([19_998, 19_999, 0, 0]);
    timeline.write(counting(1, 9000), 20_000);
    expect(read(timeline, 24_903, 2)).toEqual([0, 4905]);
    expect(read(timeline, 28_999, 2)).toEqual([9000, 0]);
  });

  it('is silent after a gap longer than it remembers', () => {
    const timeline = create();
    timeline.write(counting(1, 4000), 1000);
    timeline.write(counting(1, 1), 100_000);
    expect(read(timeline, 96_000, 4002).filter((sample) => sample !== 0)).toEqual([1]);
  });
});
