import { describe, expect, it } from 'vitest';
import { begin, live, lost, partial, told, transcription, wait, whole } from './interim-texts.ts';
import type { LaneHarness } from './lane-harness.ts';

/** The service writes a sentence and its translation down, and speaks it, all without a name. */
function answer(lane: LaneHarness, seconds: number, letters: number): void {
  whole(lane, null, letters);
  translate(lane, letters);
  lane.pass(300);
  for (let piece = 0; piece < seconds * 2; piece++) lane.hear(null, 500, false, lane.stream, null, 'es');
}

function translate(lane: LaneHarness, letters: number): void {
  const transcript = { ...transcription(null, letters, {}), language: 'es' };
  lane.says({ message_type: 'translated_transcription', data: { transcription: transcript } });
}

function sayNameless(lane: LaneHarness, seconds: number): void {
  const { letters } = begin(lane, null, seconds);
  answer(lane, seconds, letters);
  lane.hush(20);
}

describe('a sentence without a name of which no more than interim texts come', () => {
  it.each([
    ['and the next one is translated', true],
    ['and nobody says any more', false],
  ])('is told as left out, %s', (_, goesOn) => {
    const lane = live();
    sayNameless(lane, 4);
    begin(lane, null, 5);
    lane.hush(10);
    if (goesOn) sayNameless(lane, 4);
    wait(lane);
    expect(told(lane)).toMatchObject([lost(5)]);
    wait(lane);
    expect(told(lane)).toHaveLength(1);
  });

  it('is told with what was said on behind the last of them', () => {
    const lane = live();
    sayNameless(lane, 4);
    for (let chunk = 1; chunk <= 50; chunk++) {
      lane.speak(1);
      if (chunk <= 19) partial(lane, null, chunk * 5);
    }
    lane.hush(60);
    sayNameless(lane, 4);
    wait(lane);
    expect(told(lane)).toMatchObject([lost(50 * 0.32)]);
  });

  it('is told of a service that writes no translation down', () => {
    const lane = live();
    const say = (seconds: number): void => {
      const { letters } = begin(lane, null, seconds);
      whole(lane, null, letters);
      for (let piece = 0; piece < seconds * 2; piece++) lane.hear(null, 500);
      lane.hush(20);
    };
    say(4);
    begin(lane, null, 5);
    lane.hush(10);
    say(4);
    wait(lane);
    expect(told(lane)).toMatchObject([lost(5)]);
  });

  it('is not told where its whole text comes when the next one has been begun', () => {
    const lane = live();
    sayNameless(lane, 4);
    const { letters } = begin(lane, null, 5);
    lane.speak(1);
    partial(lane, null, 4);
    lane.speak(1);
    answer(lane, 5, letters);
    lane.speak(10);
    partial(lane, null, 50);
    lane.hush(4);
    answer(lane, 4, 50);
    lane.hush(300);
    expect(told(lane)).toEqual([]);
  });

  it('is not told of a service that speaks before it has written anything down', () => {
    const lane = live();
    for (let sentence = 0; sentence < 3; sentence++) {
      const { letters } = begin(lane, null, 4);
      for (let piece = 0; piece < 8; piece++) lane.hear(null, 500);
      lane.pass(1500);
      whole(lane, null, letters);
      translate(lane, letters);
      lane.hush(20);
    }
    begin(lane, null, 5);
    for (let piece = 0; piece < 10; piece++) lane.hear(null, 500);
    lane.hush(300);
    expect(told(lane)).toEqual([]);
  });

  it('is not told of sentences that follow on one another', () => {
    const lane = live();
    for (const seconds of [4, 6, 3, 8, 5, 4]) sayNameless(lane, seconds);
    lane.hush(300);
    expect(told(lane)).toEqual([]);
  });
});
