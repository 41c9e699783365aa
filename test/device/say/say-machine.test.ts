import { describe, expect, it } from 'vitest';
import type { SaidOutcome } from '../../../src/device/lane/state/lane-effect.ts';
import { taskOf } from '../../../src/device/lane/state/lane-options.ts';
import type { LaneState } from '../../../src/device/lane/state/lane-state.ts';
import {
  refusalOf,
  type SayEvent,
  type SeenLane,
  type Speech,
  sayMachine,
} from '../../../src/device/say/say-machine.ts';
import { drive } from '../../machine/drive.ts';
import { LaneHarness } from '../lane/lane-harness.ts';

const SPEECH: Speech = { text: 'El museo cierra.', language: 'es', translate: false };
const LONG = 'El museo cierra en diez minutos y abre de nuevo el martes. '.repeat(14);
/** Pieces of `LONG`. */
const PIECES = 3;

const say = (caller: number, speech: Partial<Speech> = {}, lane = 'main'): SayEvent => ({
  type: 'say',
  lane,
  caller,
  speech: { ...SPEECH, ...speech },
});
const said = (id: string, outcome: SaidOutcome = 'played', playedMs = 400, lane = 'main'): SayEvent => ({
  type: 'said',
  lane,
  said: { type: 'said', id, outcome, message: outcome === 'played' ? null : 'the reason', playedMs },
});

const laneIn = (state: LaneState, id = 'main'): SeenLane => ({ id, phase: 'live', state });
/** A lane some seconds after the last word. */
const QUIET = (() => {
  const lane = new LaneHarness().goLive();
  lane.hush(12);
  return laneIn(lane.state);
})();
/** A lane at which a visitor speaks. */
const BUSY = (() => {
  const lane = new LaneHarness().goLive();
  lane.speak(4);
  return laneIn(lane.state);
})();
const ASLEEP: SeenLane = { id: 'main', phase: 'standby', state: new LaneHarness().goStandby().state };
const laneWith = (changes: Partial<LaneState>, lane = QUIET): SeenLane => ({
  ...lane,
  state: { ...lane.state, ...changes },
});
const STOPPED = laneWith({ wanted: false });
const other = (lane: SeenLane): SeenLane => ({ ...lane, id: 'other' });

/** Lanes that stay as given until a test changes them. Later than the last step of each. */
const queue = (...lanes: readonly SeenLane[]) =>
  drive(sayMachine, { lanes: lanes.length === 0 ? [QUIET] : lanes }, { now: 5_000_000 });
type Queue = ReturnType<typeof queue>;
const spokenBy = (driver: Queue): string[] => driver.all('speak').map(({ id }) => id);
const answers = (driver: Queue): unknown[] =>
  driver.all('answer').map(({ caller, answer }) => [caller, answer.ok ? answer.playedMs : answer.message]);
const NO_SESSION = 'lane "main" had no session for the text within 90 s';
const LOST = 'the session ended before it was heard; send it again';

describe('a text', () => {
  it('is spoken at once in a pause, and answered with the milliseconds heard', () => {
    const driver = queue().post(say(1, { translate: true, language: 'es' }));
    expect(driver.all('speak')).toMatchObject([
      { lane: 'main', text: 'El museo cierra.', language: 'es', translate: true },
    ]);
    driver.post(said('say-1', 'played', 2000));
    expect(answers(driver)).toEqual([[1, 2000]]);
    expect(sayMachine.wakeAt(driver.state)).toBeNull();
  });

  it('waits for the pause of a visitor who speaks', () => {
    const driver = queue(BUSY).post(say(1)).pass(5000);
    expect(spokenBy(driver)).toEqual([]);
    driver.see({ lanes: [QUIET] }).pass(500);
    expect(spokenBy(driver)).toEqual(['say-1']);
  });

  it('is spoken after 20 s when no pause comes', () => {
    const driver = queue(BUSY).post(say(1)).pass(19_999);
    expect(spokenBy(driver)).toEqual([]);
    driver.pass(1);
    expect(spokenBy(driver)).toEqual(['say-1']);
  });

  it('waits for the text before it, and follows it at once', () => {
    const driver = queue().post(say(1), say(2)).pass(3000);
    expect(spokenBy(driver)).toEqual(['say-1']);
    driver.post(said('say-1'));
    expect(spokenBy(driver)).toEqual(['say-1', 'say-2']);
    driver.post(said('say-2', 'played', 700));
    expect(answers(driver)).toEqual([
      [1, 400],
      [2, 700],
    ]);
  });

  it('is spoken in pieces when it is long: the others do not wait for a pause', () => {
    const driver = queue().post(say(1, { text: LONG }));
    driver.see({ lanes: [BUSY] });
    for (let piece = 1; piece <= PIECES; piece++) {
      expect(answers(driver)).toEqual([]);
      driver.post(said(`say-${piece}`));
    }
    expect(answers(driver)).toEqual([[1, 1200]]);
    const texts = driver.all('speak').map(({ text }) => text);
    expect(texts).toHaveLength(PIECES);
    expect(texts.join(' ')).toBe(LONG.trim());
  });

  it('does not wait for the texts of another lane', () => {
    const driver = queue(QUIET, other(QUIET)).post(say(1), say(2), say(3, {}, 'other'));
    expect(driver.all('speak')).toMatchObject([{ lane: 'main' }, { lane: 'other' }]);
    driver.post(said('say-2', 'played', 700, 'other'));
    expect(answers(driver)).toEqual([[3, 700]]);
    driver.post(said('say-1'));
    expect(driver.all('speak').at(-1)).toMatchObject({ lane: 'main', id: 'say-3' });
  });

  it('starts a lane in standby, and is refused after 90 s without a session', () => {
    const driver = queue(ASLEEP).post(say(1));
    expect(driver.all('start_lane')).toMatchObject([{ lane: 'main' }]);
    driver.pass(89_999);
    expect(answers(driver)).toEqual([]);
    driver.pass(1);
    expect(answers(driver)).toEqual([[1, NO_SESSION]]);
    expect(spokenBy(driver)).toEqual([]);
  });

  it.each([
    ['refused', 'rejected', 'the service says: the reason'],
    ['unsupported', 'unsupported', 'the service does not speak texts of operators: the reason'],
    [
      'silent',
      'not_spoken',
      'the service did not begin to speak it within 15 s: it may not support this language',
    ],
    [
      'cut',
      'not_spoken',
      'part of the text was dropped unheard: a visitor spoke over it, or too much sound was waiting',
    ],
    ['lost', 'not_spoken', LOST],
  ] as const)('that is %s is answered %s, and the next one follows at once', (outcome, code, message) => {
    const driver = queue().post(say(1, { text: LONG }), say(2), said('say-1', outcome));
    expect(driver.all('answer')).toMatchObject([{ caller: 1, answer: { ok: false, code, message } }]);
    expect(driver.all('speak').at(-1)).toMatchObject({ id: 'say-2', text: 'El museo cierra.' });
  });

  it('is spoken again 0.5 s after the lane could not speak', () => {
    const driver = queue().post(say(1), said('say-1', 'not_live'));
    expect(spokenBy(driver)).toEqual(['say-1']);
    driver.pass(500);
    expect(spokenBy(driver)).toEqual(['say-1', 'say-2']);
    expect(answers(driver)).toEqual([]);
  });

  it('is answered when its lane is stopped, as are all behind it', () => {
    const driver = queue(BUSY).post(say(1), say(2), say(3));
    driver.see({ lanes: [STOPPED] }).pass(500);
    const message = 'lane "main" is stopped: send start first';
    expect(answers(driver)).toEqual([
      [1, message],
      [2, message],
      [3, message],
    ]);
    expect(sayMachine.wakeAt(driver.state)).toBeNull();
  });
});

describe('the time limit of a text', () => {
  it('does not run while another text is spoken, also when that one fails after minutes', () => {
    const driver = queue().post(say(1, { text: LONG }), say(2), say(3));
    driver.pass(60_000).post(said('say-1')).pass(60_000).post(said('say-2', 'silent'));
    expect(answers(driver)).toEqual([[1, expect.stringContaining('15 s')]]);
    expect(spokenBy(driver)).toEqual(['say-1', 'say-2', 'say-3']);
    driver.pass(100_000).post(said('say-3', 'cut'));
    expect(spokenBy(driver)).toEqual(['say-1', 'say-2', 'say-3', 'say-4']);
    expect(answers(driver)).toHaveLength(2);
  });

  it('begins with the end of the last piece', () => {
    const driver = queue().post(say(1), say(2), say(3)).pass(100_000);
    driver
      .see({ lanes: [ASLEEP] })
      .post(said('say-1', 'lost'))
      .pass(89_500);
    expect(answers(driver)).toEqual([[1, LOST]]);
    driver.pass(500);
    expect(answers(driver).slice(1)).toEqual([
      [2, NO_SESSION],
      [3, NO_SESSION],
    ]);
  });

  it('is 90 s for each piece', () => {
    const driver = queue()
      .post(say(1, { text: LONG }))
      .pass(80_000)
      .post(said('say-1'))
      .pass(80_000);
    driver
      .see({ lanes: [ASLEEP] })
      .post(said('say-2'))
      .pass(89_500);
    expect(answers(driver)).toEqual([]);
    driver.pass(500);
    expect(answers(driver)).toEqual([[1, NO_SESSION]]);
  });

  it('is 200 s for a piece whose result never comes, and the next text is spoken', () => {
    const driver = queue().post(say(1), say(2)).pass(199_999);
    expect(answers(driver)).toEqual([]);
    driver.pass(1);
    expect(answers(driver)).toEqual([[1, LOST]]);
    expect(spokenBy(driver)).toEqual(['say-1', 'say-2']);
  });

  it('counts from the first try of a lane that is never ready', () => {
    const driver = queue().answer((effect) => (effect.type === 'speak' ? said(effect.id, 'not_live') : null));
    driver.post(say(1)).pass(89_999);
    expect(answers(driver)).toEqual([]);
    driver.pass(1);
    expect(answers(driver)).toHaveLength(1);
  });

  it('is not due to the session when the desk was never quiet', () => {
    const driver = queue(BUSY)
      .post(say(1, { desk: ['main'] }))
      .pass(90_000);
    expect(answers(driver)).toEqual([[1, 'lane "main" had no pause for the text within 90 s']]);
  });
});

describe('a result', () => {
  it('is ignored when it is of another piece, comes twice, or comes after the time limit', () => {
    const driver = queue().post(say(1), say(2), said('say-0'), said('say-2'));
    expect(answers(driver)).toEqual([]);
    driver.post(said('say-1'), said('say-1', 'lost'));
    expect(answers(driver)).toEqual([[1, 400]]);
    driver.pass(200_000).post(say(3), said('say-2'));
    expect(answers(driver)).toEqual([
      [1, 400],
      [2, LOST],
    ]);
  });

  it('is ignored when it comes from another lane, or without a text', () => {
    const driver = queue(QUIET, other(QUIET)).post(said('say-1'), say(1), say(2, {}, 'other'));
    driver.post(said('say-1', 'played', 400, 'other'));
    expect(answers(driver)).toEqual([]);
  });

  it('is ignored for a text that was given up with an error, and its id is not used again', () => {
    const driver = queue().post(say(1), say(2), { type: 'reset' }, say(3));
    expect(spokenBy(driver)).toEqual(['say-1', 'say-2']);
    driver.post(said('say-1'));
    expect(answers(driver)).toEqual([]);
    driver.post(said('say-2'));
    expect(answers(driver)).toEqual([[3, 400]]);
    expect(spokenBy(driver)).toEqual(['say-1', 'say-2']);
  });
});

describe('a text in the language of the other speaker', () => {
  const BACK = { translate: true, language: 'en' };
  const byKey = (speaker: 'source' | 'target', translates: 'source' | 'target', more = {}): SeenLane => {
    const { state } = QUIET;
    if (state.session.kind !== 'live') throw new Error('the lane is not live');
    const { stream } = state.session;
    return laneWith({
      options: { ...state.options, twoWay: 'button' },
      twoWay: { ...state.twoWay, speaker },
      session: {
        ...state.session,
        stream: {
          ...stream,
          confirmedTask: { ...taskOf(state), ...(translates === 'target' && { speaker: translates }) },
        },
      },
      ...more,
    });
  };

  it('takes the turn once, and is spoken when the service has changed direction', () => {
    const driver = queue(byKey('source', 'source')).post(say(1, BACK));
    expect(driver.all('take_turn')).toMatchObject([{ lane: 'main', speaker: 'target' }]);
    driver.see({ lanes: [byKey('target', 'source')] }).pass(3000);
    expect(driver.all('take_turn')).toHaveLength(1);
    expect(spokenBy(driver)).toEqual([]);
    driver.see({ lanes: [byKey('target', 'target')] }).pass(500);
    expect(spokenBy(driver)).toEqual(['say-1']);
  });

  it('is refused when another person takes the turn, and the next one takes it', () => {
    const driver = queue(byKey('source', 'source')).post(say(1, BACK), say(2, BACK));
    driver.see({ lanes: [byKey('target', 'source')] }).pass(500);
    expect(answers(driver)).toEqual([]);
    driver.see({ lanes: [byKey('source', 'source')] }).pass(500);
    expect(answers(driver)).toEqual([[1, expect.stringContaining('another person took the turn')]]);
    expect(driver.all('take_turn')).toHaveLength(2);
  });

  it('is not refused when a text comes or another one ends before the lane has turned', () => {
    const lanes = [byKey('source', 'source'), other(QUIET)];
    const driver = queue(...lanes).post(say(1, {}, 'other'), say(2, BACK), say(3, BACK), say(4, {}, 'other'));
    driver.post(said('say-1', 'played', 400, 'other'), { type: 'lanes_changed' });
    driver.post({ type: 'drop_typed', lanes: ['main'] });
    expect(driver.all('take_turn')).toHaveLength(1);
    expect(answers(driver)).toEqual([[1, 400]]);
  });

  it('takes no turn when it is not to be translated', () => {
    const driver = queue(byKey('source', 'source')).post(say(1, { language: 'en' }));
    expect([driver.all('take_turn').length, spokenBy(driver)]).toEqual([0, ['say-1']]);
  });

  it('may take the turn for each of its pieces', () => {
    const driver = queue(byKey('source', 'source')).post(say(1, { ...BACK, text: LONG }));
    driver.see({ lanes: [byKey('target', 'target')] }).pass(500);
    driver.see({ lanes: [byKey('source', 'source')] }).post(said('say-1'));
    expect(driver.all('take_turn')).toHaveLength(2);
    expect(answers(driver)).toEqual([]);
  });

  it('does not interrupt a sentence, nor a person who holds the key', () => {
    const speaking = { backlog: BUSY.state.backlog, session: BUSY.state.session };
    const driver = queue(byKey('source', 'source', speaking))
      .post(say(1, BACK))
      .pass(30_000);
    expect(driver.all('take_turn')).toEqual([]);
    const { state } = byKey('source', 'source');
    const held = laneWith({
      ...state,
      options: { ...state.options, twoWay: 'hold' },
      twoWay: { ...state.twoWay, openUntil: driver.now + 10_000 },
    });
    driver.see({ lanes: [held] }).pass(10_000 - 1);
    expect(driver.all('take_turn')).toEqual([]);
    driver.pass(500);
    expect(driver.all('take_turn')).toHaveLength(1);
  });
});

describe('a notice', () => {
  const NOTICE = { desk: ['main', 'other'] };

  it('waits until all lanes of the desk are quiet, without the limit of 20 s', () => {
    const driver = queue(QUIET, other(BUSY)).post(say(1, NOTICE)).pass(60_000);
    expect(spokenBy(driver)).toEqual([]);
    driver.see({ lanes: [QUIET, other(QUIET)] }).pass(500);
    expect(spokenBy(driver)).toEqual(['say-1']);
  });

  it('does not wait for lanes of another desk, or that were removed', () => {
    expect(spokenBy(queue(QUIET, other(BUSY)).post(say(1, { desk: ['main'] })))).toEqual(['say-1']);
    expect(spokenBy(queue(QUIET).post(say(1, NOTICE)))).toEqual(['say-1']);
  });

  it('does not wait for a text that is spoken at another desk', () => {
    const driver = queue(QUIET, other(QUIET)).post(say(1, {}, 'other'), say(2, { desk: ['main'] }));
    expect(driver.all('speak')).toMatchObject([{ lane: 'other' }, { lane: 'main' }]);
  });

  it('does not begin together with a text at another lane of the desk', () => {
    const driver = queue(BUSY, other(BUSY)).post(say(1, {}, 'other'), say(2, NOTICE));
    driver.see({ lanes: [QUIET, other(QUIET)] }).pass(500);
    expect(driver.all('speak')).toMatchObject([{ lane: 'other' }]);
    driver.post(said('say-1', 'played', 400, 'other')).pass(500);
    expect(driver.all('speak').at(-1)).toMatchObject({ lane: 'main' });
  });
});

describe('the end of a conversation', () => {
  const TYPED = { isTyped: true };
  const ENDED = 'the conversation has ended';

  it("drops a visitor's waiting texts at its lanes, and no others", () => {
    const driver = queue(BUSY, other(BUSY)).post(
      say(1, TYPED),
      say(2),
      say(3, TYPED),
      say(4, TYPED, 'other'),
    );
    driver.post({ type: 'drop_typed', lanes: ['main'] });
    expect(answers(driver)).toEqual([
      [1, ENDED],
      [3, ENDED],
    ]);
    driver.see({ lanes: [QUIET, other(QUIET)] }).pass(500);
    expect(driver.all('speak')).toMatchObject([{ lane: 'main' }, { lane: 'other' }]);
  });

  it('leaves the piece that is spoken, and drops the rest of a text between two pieces', () => {
    const driver = queue().post(say(1, { ...TYPED, text: LONG }), { type: 'drop_typed', lanes: ['main'] });
    expect(answers(driver)).toEqual([]);
    driver.see({ lanes: [ASLEEP] }).post(said('say-1'), { type: 'drop_typed', lanes: ['main'] });
    expect(answers(driver)).toEqual([[1, ENDED]]);
    driver.see({ lanes: [QUIET] }).pass(1000);
    expect(spokenBy(driver)).toEqual(['say-1']);
  });
});

describe('a removed lane', () => {
  it('has all its texts answered, the spoken one too, and its late result is ignored', () => {
    const driver = queue(QUIET, other(BUSY)).post(say(1), say(2), say(3, {}, 'other'));
    driver.see({ lanes: [other(BUSY)] }).post({ type: 'lanes_changed' });
    const message = 'lane "main" was removed';
    expect(answers(driver)).toEqual([
      [1, message],
      [2, message],
    ]);
    driver
      .see({ lanes: [QUIET, other(BUSY)] })
      .post(said('say-1'))
      .pass(1000);
    expect(answers(driver)).toHaveLength(2);
    expect(spokenBy(driver)).toEqual(['say-1']);
  });

  it('answers a text that comes after the removal', () => {
    const driver = queue(other(QUIET)).post(say(1));
    expect(answers(driver)).toEqual([[1, 'lane "main" was removed']]);
  });
});

describe('a lane takes a text', () => {
  it.each([
    ['it is outside its hours', laneWith({ hold: 'closed' }), 'closed', 'send start with "until" first'],
    ['the budget is used up', laneWith({ hold: 'budget' }), 'budget', 'budget.minutesPerDay'],
    ['it is stopped', STOPPED, 'not_spoken', 'send start first'],
    ['it ends', laneWith({ ending: true }), 'not_spoken', 'send start first'],
    [
      'it is refused a session',
      { ...laneWith({ problem: { code: 'no', message: 'not this device', at: 0 } }), phase: 'parked' },
      'not_spoken',
      'lane "main" gets no session: not this device',
    ],
    ['its loudspeaker is lost', laneWith({ playbackLost: true }), 'not_spoken', 'plug it in again'],
  ] as const)('not when %s', (_, lane, code, message) => {
    expect(refusalOf(sayMachine.begin, lane)).toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
    const driver = queue(lane).post(say(1));
    expect(driver.all('answer')).toMatchObject([{ answer: { ok: false, code } }]);
    expect(spokenBy(driver)).toEqual([]);
  });

  it('while at most seven of its own wait', () => {
    const driver = queue(QUIET, other(QUIET)).post(say(0, {}, 'other'));
    for (let caller = 1; caller <= 8; caller++) {
      expect(refusalOf(driver.state, QUIET)).toBeNull();
      driver.post(say(caller));
    }
    expect(refusalOf(driver.state, QUIET)).toMatchObject({
      code: 'busy',
      message: '8 texts are already waiting for lane "main": send the text again later',
    });
    expect(refusalOf(driver.state, other(QUIET))).toBeNull();
    driver.post(said('say-2'));
    expect(refusalOf(driver.state, QUIET)).toBeNull();
  });
});

describe('the queue', () => {
  it('looks at the lanes twice a second at most, however many texts come', () => {
    const driver = queue(ASLEEP);
    for (let caller = 1; caller <= 8; caller++) driver.post(say(caller)).pass(100);
    expect(driver.all('start_lane').map(({ at }) => at - 5_000_000)).toEqual([0, 500]);
  });

  it('keeps a text whose effect threw until its time limit', () => {
    const driver = queue().post(say(1));
    const [effect] = driver.all('speak');
    if (effect === undefined) throw new Error('no text is spoken');
    driver.post({ type: 'failed', effect }).pass(200_000);
    expect(answers(driver)).toEqual([[1, LOST]]);
  });
});
