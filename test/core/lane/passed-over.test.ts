import { describe, expect, it } from 'vitest';
import { live, lost, partial, say, sentS, told, transcription, wait, whole } from './interim-texts.ts';
import { CHUNK_MS, type LaneHarness } from './lane-harness.ts';
import { hearNothing, hearScored, SURE, UNSURE } from './scored-sound.ts';

const EOS = { message_type: 'eos', data: {} } as const;

/** Somebody says a sentence of which the service says nothing. @returns when it was said */
function passOver(lane: LaneHarness, seconds: number): { readonly from: number; readonly to: number } {
  const from = lane.now;
  lane.speak(Math.round((seconds * 1000) / CHUNK_MS));
  const to = lane.now;
  lane.hush(10);
  return { from, to };
}

describe('a sentence of which the service says nothing at all, between others', () => {
  it('is told as left out half a minute later, once, with the times at which it was said', () => {
    const lane = live();
    say(lane, 'a', 3, true);
    const times = passOver(lane, 4.8);
    say(lane, 'c', 3, true);
    expect(told(lane)).toEqual([]);
    wait(lane);
    say(lane, 'd', 3, true);
    wait(lane);
    expect(told(lane)).toMatchObject([{ ...lost(4.8), ...times }]);
  });

  it.each([
    ['breaks off', (lane: LaneHarness) => lane.end()],
    ['is stopped', (lane: LaneHarness) => lane.stop()],
  ])('is told as its stream %s before that', (_, end) => {
    const lane = live();
    const times = passOver(lane, 4.8);
    say(lane, 'c', 3, true);
    end(lane);
    if (lane.phase === 'draining') lane.says(EOS);
    else lane.comeBack();
    lane.hush(60);
    expect(told(lane)).toMatchObject([{ ...lost(4.8), ...times }]);
  });

  it.each([
    [15, 1],
    [14, 0],
  ])('is told where the lane is sure of one chunk of %i: %i', (chunks, count) => {
    const lane = live();
    for (let chunk = 0; chunk < chunks; chunk++) hearScored(lane, CHUNK_MS, chunk === 5 ? SURE : UNSURE);
    hearNothing(lane, 3200);
    say(lane, 'c', 3, true);
    wait(lane);
    expect(told(lane)).toHaveLength(count);
  });

  it('is not told where it is shorter than three seconds, or nobody knows that it lies in none', () => {
    const short = live();
    passOver(short, 2.8);
    say(short, 'c', 3, true);
    wait(short);
    expect(told(short)).toEqual([]);
    const untimed = live();
    passOver(untimed, 4.8);
    say(untimed, 'c', 3, false);
    wait(untimed);
    expect(told(untimed)).toEqual([]);
  });

  it.each([
    ['not told where its rest is translated behind the word of the next one', true, false, 0],
    ['not told where the languages were changed before that', true, true, 0],
    ['told where its rest is not translated', false, false, 1],
  ])('is %s', (_, isTranslated, isChanged, count) => {
    const lane = live();
    const translate = (id: string, part: string, told: { from: number; to: number }): void => {
      const transcript = { ...transcription(id, 30, told), language: 'es', translation_part_id: part };
      lane.says({ message_type: 'translated_transcription', data: { transcription: transcript } });
    };
    const from = sentS(lane);
    lane.speak(20);
    const to = sentS(lane);
    translate('a', '0', { from, to: from + 2 });
    lane.speak(6);
    if (isChanged) lane.options({ targets: ['es', 'fr'] });
    translate('b', '0', { from: to, to: sentS(lane) });
    lane.hush(4);
    if (isTranslated) translate('a', '1', { from: from + 2, to });
    for (const id of ['a', 'b']) lane.hear(id, 2500, true, lane.stream, id, 'es');
    wait(lane);
    expect(told(lane)).toHaveLength(count);
  });

  it('is not told by times that turn out to be untrue', () => {
    const lane = live();
    passOver(lane, 4.8);
    say(lane, 'c', 3, true);
    const to = sentS(lane);
    partial(lane, 'd', 20);
    whole(lane, 'd', 20, { from: to + 60, to: to + 64 });
    wait(lane);
    expect(lane.all('notify').map(({ kind }) => kind)).toContain('times_refused');
    expect(told(lane)).toEqual([]);
  });
});
