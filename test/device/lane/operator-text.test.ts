import { describe, expect, it } from 'vitest';
import { canSay } from '../../../src/device/lane/session/operator-text.ts';
import { heard, rejected, warned } from '../../service-events.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';
import { SITUATIONS, situation } from './situations.ts';

const quiet = (options = {}): LaneHarness => {
  const lane = new LaneHarness({ options }).goLive();
  lane.hush(10);
  return lane;
};
const outcomes = (lane: LaneHarness) => lane.all('said').map(({ id, outcome }) => [id, outcome]);

describe("an operator's text", () => {
  it('is spoken by the service, and reported when it was played', () => {
    const lane = quiet();
    expect(canSay(lane.state, lane.now)).toBe('quiet');
    lane.say('a');
    expect(lane.last('say')).toMatchObject({ text: 'Cerramos', language: 'es', translate: false });
    expect(canSay(lane.state, lane.now)).toBe('no');
    lane.pass(900);
    const { now } = lane;
    for (let i = 0; i < 10; i++) lane.hear('tts', 200, i === 9);
    lane.pass(1800);
    expect(outcomes(lane)).toEqual([]);
    lane.pass(1000);
    expect(outcomes(lane)).toEqual([['a', 'played']]);
    expect(lane.last('said').playedMs).toBe(2000);
    expect(lane.last('said').at - now).toBeGreaterThanOrEqual(2000);
    expect(lane.state.saying).toBeNull();
    expect(canSay(lane.state, lane.now)).toBe('quiet');
  });

  it.each([
    ['without an end mark', 'tts'],
    ['without a name', null],
  ])('is reported when it was played, %s', (_, name) => {
    const lane = quiet();
    lane.say('a');
    for (let i = 0; i < 5; i++) lane.hear(name, 200);
    lane.pass(1200);
    expect(outcomes(lane)).toEqual([]);
    lane.pass(2000);
    expect(outcomes(lane)).toEqual([['a', 'played']]);
  });

  it("does not claim the sound of a visitor's sentence that has a partial", () => {
    const lane = quiet();
    lane.speak(6);
    lane.says(heard({ id: 'v' }));
    lane.hush(4);
    lane.say('a');
    lane.hear('v', 600, true);
    expect(lane.state.saying?.sound).toBeNull();
    lane.hear('tts', 400, true);
    lane.pass(3000);
    expect(outcomes(lane)).toEqual([['a', 'played']]);
    expect(lane.last('said').playedMs).toBe(400);
  });

  it("does not claim the sound of a visitor's earlier sentence, which is still due and played", () => {
    const lane = quiet();
    lane.speak(6);
    lane.hush(4);
    expect(canSay(lane.state, lane.now)).toBe('busy');
    lane.understands('v');
    lane.say('a');
    lane.hear('tts', 400, true);
    expect(lane.state.session).toMatchObject({ stream: { replay: { known: ['v'] } } });
    lane.hear('v', 600, true);
    lane.pass(3000);
    expect(outcomes(lane)).toEqual([['a', 'played']]);
    expect(lane.last('said').playedMs).toBe(400);
    const ms = lane.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength / 48, 0);
    expect(Math.round(ms)).toBe(1000);
  });

  it('leaves sound without an id to the visitor who waits for it, and sound in another language', () => {
    const lane = quiet();
    lane.speak(6);
    lane.say('a');
    lane.hear(null, 400);
    expect(lane.state.saying?.sound).toBeNull();
    lane.hear('x', 400, true, lane.stream, 'x', 'fr');
    expect(lane.state.saying?.sound).toBeNull();
    lane.hear('y', 400, true, lane.stream, 'y', 'ES');
    expect(lane.state.saying?.sound).toMatchObject({ sentence: 'y', ms: 400 });
  });

  it('leaves the rest of a sound without an id to the visitor, and claims later sound', () => {
    const lane = quiet();
    lane.say('a');
    lane.speak(6);
    lane.hush(4);
    for (let piece = 0; piece < 3; piece++) {
      lane.hear(null, 400);
      lane.pass(100);
    }
    expect(lane.state.saying?.sound).toBeNull();
    lane.pass(1000);
    lane.hear(null, 400);
    expect(lane.state.saying?.sound).toMatchObject({ sentence: null, ms: 400 });
  });

  it("is refused with the service's message", () => {
    const lane = quiet();
    lane.say('a');
    lane.says(rejected('no texts are spoken'));
    expect(lane.last('said')).toMatchObject({
      id: 'a',
      outcome: 'refused',
      message: 'NOT_VALID: no texts are spoken',
    });
    expect(lane.phase).toBe('live');
    expect(lane.state.warning?.code).toBe('service_not_valid');
  });

  it('is not refused by an error after its sound began, or without a text', () => {
    const lane = quiet();
    lane.says(warned('error', { code: 'RATE_LIMIT_EXCEEDED' }));
    lane.say('a');
    lane.hear('tts', 200);
    lane.says(warned('error'));
    expect(outcomes(lane)).toEqual([]);
  });

  it('is given up after 15 s without sound', () => {
    const lane = quiet();
    lane.say('a');
    lane.pass(14_900);
    expect(outcomes(lane)).toEqual([]);
    lane.pass(200);
    expect(outcomes(lane)).toEqual([['a', 'silent']]);
  });

  it('is reported as cut when a part was dropped', () => {
    const lane = quiet({ echo: 'cancel', bargeIn: 'flush' });
    lane.step({ type: 'canceller', status: 'ready', message: '' });
    lane.hear('warming up', 3000, true);
    lane.pass(6000);
    lane.say('a');
    lane.hear('tts', 5000, true);
    for (let i = 0; i < 4; i++) lane.speak(1);
    lane.pass(8000);
    expect(lane.all('said')).toHaveLength(1);
    expect(outcomes(lane)).toEqual([['a', 'cut']]);
  });

  it('is given up when its sound never ends', () => {
    const lane = quiet();
    lane.say('a');
    for (let i = 0; i < 190; i++) {
      lane.hear('tts', 1000);
      lane.pass(1000);
    }
    expect(outcomes(lane)[0]).toEqual(['a', 'cut']);
  });

  it.each(Object.keys(SITUATIONS))('while %s: is spoken, or reported as without a session', (name) => {
    const lane = situation(name);
    lane.say('a');
    if (lane.phase === 'closed') return;
    const isLive = lane.phase === 'live';
    expect(lane.all('say')).toHaveLength(isLive ? 1 : 0);
    expect(outcomes(lane)).toEqual(isLive ? [] : [['a', 'not_live']]);
  });

  it.each<[string, (lane: LaneHarness) => void]>([
    ['broke', (lane) => lane.end()],
    ['was stopped', (lane) => lane.stop()],
    ['ended with a defect', (lane) => lane.crash()],
  ])('is reported as lost when its session %s', (_, happen) => {
    const lane = quiet();
    lane.say('a');
    lane.hear('tts', 1000);
    happen(lane);
    expect(outcomes(lane)).toEqual([['a', 'lost']]);
    expect(lane.timers.has('saying')).toBe(false);
  });

  it('keeps the lane awake, and is finished at closing time', () => {
    const lane = quiet({ standbyAfterMs: 1000 * CHUNK_MS });
    lane.options({ standbyAfterMs: 2000 });
    lane.say('a');
    lane.pass(10_000);
    expect(lane.phase).toBe('live');
    lane.hear('tts', 3000, true);
    lane.hold('closed');
    expect(lane.phase).toBe('live');
    lane.pass(6000);
    expect(outcomes(lane)).toEqual([['a', 'played']]);
    expect(['draining', 'idle']).toContain(lane.phase);
  });

  it('waits until all speech is over and translated', () => {
    const lane = quiet();
    lane.speak(2);
    expect(canSay(lane.state, lane.now)).toBe('busy');
    lane.hush(3);
    lane.understands('v');
    lane.hear('v', 1500, true);
    expect(canSay(lane.state, lane.now)).toBe('busy');
    lane.hush(4);
    expect(canSay(lane.state, lane.now)).toBe('busy');
    lane.hush(4);
    expect(canSay(lane.state, lane.now)).toBe('quiet');
    lane.hold('budget');
    expect(canSay(lane.state, lane.now)).toBe('no');
  });
});
