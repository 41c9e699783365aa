import { describe, expect, it } from 'vitest';
import { laneStatus } from '../../../src/core/lane/status.ts';
import { begin, live, lost, partial, say, sentS, told, transcription, wait, whole } from './interim-texts.ts';
import { CHUNK_MS } from './lane-harness.ts';
import { hearNothing, hearScored, SURE, UNSURE } from './scored-sound.ts';

describe('a sentence of which the service gives no more than interim texts', () => {
  it.each([
    ['with times', true],
    ['without times', false],
  ])('is told as lost, %s, once, though the stream goes on', (_, isTimed) => {
    const lane = live();
    say(lane, 'a', 3, isTimed);
    const from = lane.now;
    begin(lane, 'b', 4, isTimed);
    const to = lane.now;
    say(lane, 'c', 3, isTimed);
    lane.hush(60);
    expect(told(lane)).toEqual([]);
    while (laneStatus(lane.state, lane.now).status === 'ready' && lane.now - to < 60_000) lane.hush(1);
    expect(laneStatus(lane.state, lane.now)).toMatchObject({
      status: 'degraded',
      reasons: [{ code: 'speech_lost', detail: 'left_out' }],
    });
    wait(lane);
    expect(told(lane)).toMatchObject([lost(4)]);
    expect(told(lane)[0]).toMatchObject({ from: expect.closeTo(from, -3), to: expect.closeTo(to, -4) });
    expect(lane.accounts.lost * CHUNK_MS).toBe(lost(4).lost_ms);
    expect(laneStatus(lane.state, lane.now).status).toBe('ready');
    say(lane, 'd', 3, isTimed);
    wait(lane);
    expect(told(lane)).toHaveLength(1);
  });

  it.each([
    ['at once when it is forgotten', true, false],
    ['without times', false, false],
    ['when the service goes on with the next', true, true],
    ['when it goes on with the next, without times', false, true],
  ])('is told with all that somebody said on behind its last text, %s', (_, isTimed, goesOn) => {
    const lane = live();
    say(lane, 'a', 3, isTimed);
    const from = sentS(lane);
    for (let chunk = 1; chunk <= 80; chunk++) {
      lane.speak(1);
      if (chunk <= 30) partial(lane, 'b', chunk * 5, isTimed ? { from, to: sentS(lane) } : {});
    }
    const to = lane.now;
    wait(lane);
    if (goesOn) say(lane, 'c', 3, isTimed);
    expect(told(lane)).toMatchObject([{ ...lost(80 * 0.32), to }]);
    wait(lane);
    expect(told(lane)).toHaveLength(1);
  });

  it('is told after two minutes where nothing comes of the next one either, and nobody speaks any more', () => {
    const lane = live();
    begin(lane, 'a', 6);
    lane.speak(15);
    wait(lane);
    lane.hush(220);
    expect(told(lane)).toEqual([]);
    lane.hush(40);
    expect(told(lane)).toMatchObject([lost(6)]);
  });

  it('is told with all that was said until the next sentence of the same breath was written down', () => {
    const lane = live();
    begin(lane, 'b', 4);
    lane.speak(2);
    wait(lane);
    expect(told(lane)).toMatchObject([lost(4)]);
    const other = live();
    for (let chunk = 1; chunk <= 12; chunk++) {
      other.speak(1);
      if (chunk <= 10) partial(other, 'b', chunk * 5);
    }
    other.hush(4);
    wait(other);
    expect(told(other)).toMatchObject([{ lost_ms: 12 * CHUNK_MS }]);
  });

  it('is told although other sentences are somewhat longer than their interim texts', () => {
    const lane = live();
    begin(lane, 'b', 4);
    for (const id of ['c', 'd', 'e', 'f']) {
      const { letters } = begin(lane, id, 3);
      whole(lane, id, letters + 35);
      lane.hear(id, 3000, true);
      lane.hush(16);
    }
    wait(lane);
    expect(told(lane)).toMatchObject([lost(4)]);
  });

  it('is told although other sentences sound before their texts have come', () => {
    const lane = live();
    begin(lane, 'b', 4);
    for (const id of ['c', 'd']) {
      const { letters } = begin(lane, id, 1.5);
      lane.hear(id, 1500, true);
      whole(lane, id, letters);
      lane.hush(16);
    }
    wait(lane);
    expect(told(lane)).toMatchObject([lost(4)]);
  });

  it('is told although another sentence sounds while it is still being written down', () => {
    const lane = live();
    begin(lane, 'b', 4);
    begin(lane, 'c', 1.5);
    lane.hear('c', 1500);
    lane.speak(4);
    partial(lane, 'c', 40);
    lane.hush(4);
    whole(lane, 'c', 40);
    lane.hear('c', 1500, true);
    wait(lane);
    expect(told(lane)).toMatchObject([lost(4)]);
  });

  it('is told although a service that writes no more than translations does so in two languages', () => {
    const lane = live();
    begin(lane, 'b', 4);
    const { letters } = begin(lane, 'c', 3);
    for (const language of ['es', 'fr']) {
      const data = { transcription: { ...transcription('c', letters, {}), language } };
      lane.says({ message_type: 'translated_transcription', data });
    }
    lane.hear('c', 3000, true);
    wait(lane);
    expect(told(lane)).toMatchObject([lost(4)]);
  });

  it('is told together with others that are left out', () => {
    const lane = live();
    for (const id of ['a', 'b', 'c']) begin(lane, id, 3.2);
    wait(lane);
    expect(told(lane)).toMatchObject([lost(9.6)]);
  });
});

describe('interim texts that are no loss', () => {
  it('come before a whole text, whatever is said meanwhile', () => {
    const lane = live();
    const { letters } = begin(lane, 'a', 4);
    begin(lane, 'b', 4);
    lane.hush(20);
    whole(lane, 'b', letters);
    whole(lane, 'a', letters);
    partial(lane, 'a', letters);
    lane.hear('a', 4000, true);
    lane.hear('b', 4000, true);
    wait(lane);
    expect(told(lane)).toEqual([]);
  });

  it('are taken back into another sentence, by its name from the start', () => {
    const lane = live();
    const from = sentS(lane);
    for (let chunk = 1; chunk <= 16; chunk++) {
      lane.speak(1);
      partial(lane, chunk < 12 ? 'a' : 'b', chunk * 5);
    }
    lane.hush(4);
    expect(sentS(lane)).toBeGreaterThan(from);
    whole(lane, 'b', 80);
    lane.hear('b', 5000, true);
    wait(lane);
    expect(told(lane)).toEqual([]);
  });

  it('are taken back into another sentence, after a while', () => {
    const lane = live();
    for (let chunk = 1; chunk <= 20; chunk++) {
      lane.speak(1);
      if (chunk < 12) partial(lane, 'a', chunk * 5);
      else partial(lane, 'b', chunk < 16 ? (chunk - 11) * 5 : chunk * 5);
    }
    lane.hush(4);
    whole(lane, 'b', 100);
    lane.hear('b', 5000, true);
    wait(lane);
    expect(told(lane)).toEqual([]);
  });

  it.each([
    ['with times', true],
    ['without times', false],
  ])('are covered by other sentences, %s', (_, isTimed) => {
    const lane = live();
    const { letters, from = 0, to = 0 } = begin(lane, 'a', 6, isTimed);
    const half = (from + to) / 2;
    whole(lane, 'b', letters / 2, isTimed ? { from, to: half } : {});
    whole(lane, 'c', letters / 2, isTimed ? { from: half, to } : {});
    lane.hear('b', 3000, true);
    lane.hear('c', 3000, true);
    wait(lane);
    expect(told(lane)).toEqual([]);
  });

  it.each([
    ['its own name', 'a'],
    ['no name', null],
    ['a name that no text has told', 'x'],
  ])('are spoken without a whole text: sound with %s', (_, name) => {
    const lane = live();
    begin(lane, 'a', 4);
    lane.hear(name, 4000, true);
    wait(lane);
    expect(told(lane)).toEqual([]);
  });

  it('are followed by a translated text alone', () => {
    const lane = live();
    const { letters } = begin(lane, 'a', 4);
    const data = { transcription: transcription('a', letters, {}) };
    lane.says({ message_type: 'translated_transcription', data });
    lane.hear('a', 4000, true);
    wait(lane);
    expect(told(lane)).toEqual([]);
  });

  it('were made of a noise', () => {
    const lane = live();
    for (let noise = 0; noise < 20; noise++) {
      begin(lane, `n${noise}`, 1.6);
      lane.hush(10);
    }
    wait(lane);
    expect(told(lane)).toEqual([]);
  });

  it('are said again where their stream breaks off', () => {
    const lane = live();
    begin(lane, 'a', 4);
    lane.hush(20);
    lane.end();
    lane.comeBack();
    say(lane, 'b', 1);
    wait(lane);
    expect(told(lane)).toEqual([]);
    expect(lane.state.counts.takenBack).toBeGreaterThanOrEqual(12);
  });

  it.each([
    ['is told where the service wrote several words', 40, 1],
    ['is not told where it wrote next to nothing', 8, 0],
  ])('were made of what the lane is hardly sure of: it %s', (_, letters, count) => {
    const lane = live();
    for (let chunk = 1; chunk <= 12; chunk++) {
      hearScored(lane, CHUNK_MS, chunk % 4 === 0 ? SURE : UNSURE);
      partial(lane, 'a', (chunk * letters) / 12);
    }
    hearNothing(lane, 30_000);
    wait(lane);
    expect(told(lane)).toHaveLength(count);
  });

  it.each([
    ['is told where the service wrote many words', 60, 1],
    ['is not told where it wrote few', 30, 0],
  ])('were made of what the lane is nowhere sure of: it %s', (_, letters, count) => {
    const lane = live();
    for (let chunk = 1; chunk <= 12; chunk++) {
      hearScored(lane, CHUNK_MS, UNSURE);
      partial(lane, 'a', (chunk * letters) / 12);
    }
    hearNothing(lane, 30_000);
    wait(lane);
    expect(told(lane)).toHaveLength(count);
  });

  it('come late, without a name, behind the sound of their sentence', () => {
    const lane = live();
    say(lane, null, 3);
    lane.speak(12);
    lane.hear(null, 4000, true);
    partial(lane, null, 60);
    lane.hush(2);
    lane.end();
    lane.comeBack();
    wait(lane);
    expect(told(lane)).toEqual([]);
  });

  it('come without a name while sound goes on to come', () => {
    const lane = live();
    begin(lane, null, 4);
    lane.hear(null, 4000, true);
    begin(lane, null, 4);
    whole(lane, null, 60);
    lane.hear(null, 4000, true);
    wait(lane);
    expect(told(lane)).toEqual([]);
  });
});
