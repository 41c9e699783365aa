import { describe, expect, it } from 'vitest';
import { EMPTY_LEDGER, note, settle } from '../../../src/device/commands/command-ledger.ts';
import { type CommandEvent, isAnswerAwaited } from '../../../src/device/commands/command-machine.ts';
import type { Opening } from '../../../src/ports/signature.ts';
import { asWall } from '../../../src/protocol/common/time.ts';
import { arrived, commandDevice, ended } from './command-device.ts';

const noted = (id = 'a', isSaved = true): CommandEvent => ({ type: 'noted', id, isSaved });
const kept = (id = 'a', isSaved = true): CommandEvent => ({ type: 'kept', id, isSaved });
const done = (id = 'a'): CommandEvent => ({ type: 'done', id, answer: { status: 'ok' } });
const began = (id = 'a'): CommandEvent => ({ type: 'began', id });
const CLOSE: CommandEvent = { type: 'close' };
/** The file lists every command. */
const LISTED = { isListed: () => true };
const SPREAD = { args: { spread_s: 60 } };
const FAN_OUT = { isFanOut: true };
const READ_ONLY = { name: 'diagnose' };

describe('a command', () => {
  it('is saved, then acknowledged and carried out, then answered', () => {
    const { driver } = commandDevice();
    driver.post(arrived(1));
    expect(driver.effects.map(({ type }) => type)).toEqual([
      'log',
      'save_note',
      'acknowledge',
      'carry_out',
      'save',
      'publish',
      'awaited_changed',
    ]);
    expect(driver.state.unfinished.size).toBe(0);
  });

  it('waits for the disk, and needs no disk that fails', () => {
    const device = commandDevice({ save_note: undefined });
    device.driver.post(arrived(1));
    expect([device.carriedOut, device.acknowledged]).toEqual([[], []]);
    device.driver.post(noted('a', false));
    expect([device.carriedOut, device.acknowledged, device.answers]).toEqual([['a'], [1], ['a: ok']]);
  });

  it('that only reads is not saved, and acknowledged once the broker has the answer', () => {
    const device = commandDevice();
    device.driver.post(arrived(1, {}, READ_ONLY));
    expect(device.answers).toEqual(['a: ok']);
    expect([device.driver.all('save_note'), device.driver.all('save')]).toEqual([[], []]);
    expect(device.acknowledged).toEqual([]);
    device.driver.post(ended('a'));
    expect(device.acknowledged).toEqual([1]);
  });

  it('is accepted once when it takes time, and answered once', () => {
    const device = commandDevice({ carry_out: undefined });
    device.driver.post(arrived(1), began(), began(), done(), done(), began());
    expect(device.statuses).toEqual(['a: accepted', 'a: ok']);
  });

  it('is answered when its handler throws where none may', () => {
    const device = commandDevice({ carry_out: undefined });
    device.driver.post(arrived(1));
    const [effect] = device.driver.all('carry_out');
    if (effect === undefined) throw new Error('not carried out');
    device.driver.post({ type: 'failed', effect });
    expect(device.answers).toEqual(['a: internal']);
  });

  it.each([
    ['retained', {}, { isRetained: true }, 'retained'],
    ['unknown', {}, { name: 'dance' }, 'unknown_command'],
    ['for one device with a spread', SPREAD, {}, 'invalid_args'],
  ])('that is %s is answered, remembered and not carried out', (_, body, more, code) => {
    const device = commandDevice();
    device.driver.post(arrived(1, body, more), arrived(2, body, more));
    expect(device.answers).toEqual([`a: ${code}`, `a: ${code}`]);
    expect(device.carriedOut).toEqual([]);
    expect(device.driver.all('save')).toEqual([]);
  });

  it.each(['60', -1, 3601, null, 1e300, true])(
    'to many with the spread %j is not carried out',
    (spread_s) => {
      const device = commandDevice();
      device.driver.post(arrived(1, { args: { spread_s } }, FAN_OUT));
      expect([device.answers, device.carriedOut]).toEqual([['a: invalid_args'], []]);
    },
  );

  it.each([
    ['no object as arguments', { args: 'main' }, '"args"'],
    ['a bad time', { not_after: 'tomorrow' }, 'not_after'],
  ])('with %s is answered with the fix, and not remembered', (_, body, fix) => {
    const device = commandDevice();
    device.driver.post(arrived(1, { id: 'a', ...body } as object));
    const error = { code: 'malformed', message: expect.stringContaining(fix) };
    expect(device.driver.all('publish')).toMatchObject([{ answer: { error }, share: 'general' }]);
    expect(device.driver.state.ledger.size).toBe(0);
  });

  it('may have a name of 64 characters', () => {
    const device = commandDevice();
    device.driver.post(arrived(1, {}, { name: 'x'.repeat(64) }));
    expect(device.answers).toEqual(['a: unknown_command']);
  });

  it('is logged one by one 30 times a minute', () => {
    const { driver } = commandDevice();
    driver.post(arrived(1));
    expect(driver.all('log')).toMatchObject([{ kind: 'command:received', atOnce: 30 }]);
  });
});

describe('a command with an end', () => {
  const NOON = Date.UTC(2026, 0, 15, 12);
  const body = { not_after: '2026-01-15T12:00:00Z' };

  it('is expired from the next millisecond on', () => {
    const device = commandDevice({}, { wall: NOON });
    device.driver.post(arrived(1, { id: 'in time', ...body })).pass(1);
    device.driver.post(arrived(2, { id: 'late', ...body }));
    expect(device.answers).toEqual(['in time: ok', 'late: expired']);
    expect(device.carriedOut).toEqual(['in time']);
  });

  it('is expired when the disk or its turn comes too late', () => {
    const device = commandDevice({ save_note: undefined }, { wall: NOON - 1000 });
    device.driver.post(arrived(1, body)).pass(1001).post(noted());
    expect(device.answers).toEqual(['a: expired']);
    const waiting = commandDevice({}, { wall: NOON - 1000 });
    waiting.driver.post(arrived(1, { ...body, ...SPREAD }, FAN_OUT)).pass(30_000);
    expect([waiting.statuses, waiting.carriedOut]).toEqual([['a: accepted', 'a: expired'], []]);
  });

  it('is carried out while the clock is not set', () => {
    const device = commandDevice({}, { wall: null });
    device.driver.post(arrived(1, { not_after: '2020-01-01T00:00:00Z' }));
    expect(device.answers).toEqual(['a: ok']);
  });
});

describe('the result of a command', () => {
  it('is answered at once, and saved soon, when the disk does not list the command', () => {
    const device = commandDevice({ save_result: undefined });
    device.driver.post(arrived(1));
    expect(device.answers).toEqual(['a: ok']);
    expect(device.driver.all('save')).toHaveLength(1);
  });

  it('is saved before it is answered when the disk lists the command, and answered once', () => {
    const device = commandDevice({ save_result: undefined }, LISTED);
    device.driver.post(arrived(1));
    expect([device.driver.all('save_result').length, device.answers]).toEqual([1, []]);
    device.driver.post(kept(), kept());
    expect(device.answers).toEqual(['a: ok']);
  });

  it('has a note when it cannot be saved', () => {
    const { driver } = commandDevice({ save_result: ({ id }) => kept(id, false) }, LISTED);
    driver.post(arrived(1));
    expect(driver.all('publish')).toMatchObject([
      { answer: { status: 'ok', note: expect.stringContaining('not on the disk yet') } },
    ]);
  });

  it('waits for the disk that came to list the command after it was given up', () => {
    const device = commandDevice({ carry_out: undefined, save_result: undefined });
    device.driver.post(arrived(1)).see(LISTED).post(done());
    expect(device.answers).toEqual([]);
    device.driver.post(kept());
    expect(device.answers).toEqual(['a: ok']);
  });
});

describe('a command that comes again', () => {
  it('while it is being saved is acknowledged with the first one: a restart would forget both', () => {
    const device = commandDevice({ save_note: undefined });
    device.driver.post(arrived(1), arrived(2, {}, { isResent: true }));
    expect(device.acknowledged).toEqual([]);
    device.driver.post(noted());
    expect(device.acknowledged).toEqual([1, 2]);
    expect(device.carriedOut).toEqual(['a']);
  });

  it('while it is carried out, or its result is being saved, is acknowledged at once', () => {
    const device = commandDevice({ carry_out: undefined, save_result: undefined }, LISTED);
    device.driver.post(arrived(1), arrived(2), done(), arrived(3));
    expect([device.acknowledged, device.carriedOut, device.answers]).toEqual([[1, 2, 3], ['a'], []]);
  });

  it('gets the same answer, with a note no more', () => {
    const device = commandDevice({ save_result: ({ id }) => kept(id, false) }, LISTED);
    device.driver.post(arrived(1), arrived(2));
    const [, second, ...more] = device.driver.all('publish');
    expect([second?.answer, more]).toEqual([{ status: 'ok' }, []]);
    expect(device.carriedOut).toEqual(['a']);
  });

  it.each([
    ['being saved', { save_note: undefined }],
    ['carried out', { carry_out: undefined }],
    ['settled', { save_result: undefined }],
    ['answered', {}],
  ])('with other content is refused while the first one is %s', (_, replies) => {
    const device = commandDevice(replies, LISTED);
    device.driver.post(
      arrived(1),
      arrived(2, { args: { lane: 'main' } }),
      arrived(3, {}, { name: 'unmute' }),
    );
    expect(device.answers.filter((answer) => answer === 'a: id_reused')).toHaveLength(2);
    expect(device.carriedOut.length).toBeLessThan(2);
  });

  it('from the broker gets no second answer while the first one is on its way', () => {
    const device = commandDevice();
    device.driver.post(arrived(1), arrived(2, {}, { isResent: true }));
    expect(device.answers).toEqual(['a: ok']);
    expect(device.acknowledged).toEqual([1]);
    device.driver.post(ended('a'));
    expect(device.acknowledged).toEqual([1, 2]);
  });

  it('from the broker is acknowledged when the broker has the answer', () => {
    const device = commandDevice();
    device.driver.post(arrived(1), ended('a'), arrived(2, {}, { isResent: true }));
    expect([device.answers, device.acknowledged]).toEqual([['a: ok'], [1, 2]]);
  });

  it('from the broker is answered again when the answer was dropped', () => {
    const device = commandDevice();
    device.driver.post(arrived(1), ended('a', false), arrived(2, {}, { isResent: true }));
    expect(device.answers).toEqual(['a: ok', 'a: ok']);
  });

  it('after a refusal that the broker has still waits for its answer', () => {
    const device = commandDevice();
    device.driver.post(arrived(1), arrived(2, { args: { lane: 'main' } }), ended('a', true, true));
    expect(device.driver.state.ledger.get('digest of a')?.untold).toEqual({ id: 'a', name: 'mute' });
    device.driver.post(ended('a'));
    expect(device.driver.state.ledger.get('digest of a')?.untold).toBeNull();
  });

  it('is fresh after it was refused', () => {
    const device = commandDevice();
    const { driver } = device;
    for (let number = 1; number <= 100; number++) driver.post(arrived(number, { id: `${number}` }));
    driver.post(arrived(101)).pass(1000).post(arrived(102));
    expect(device.answers.slice(100)).toEqual(['a: busy', 'a: ok']);
  });
});

describe('a command in a fan-out', () => {
  const toMany = (number: number, spread_s = 60, more: object = {}): CommandEvent =>
    arrived(number, { id: `${number}`, args: { spread_s }, ...more }, FAN_OUT);

  it('is accepted at once, and carried out when its turn comes', () => {
    const device = commandDevice();
    device.driver.post(arrived(1, SPREAD, FAN_OUT)).pass(29_999);
    expect([device.statuses, device.carriedOut]).toEqual([['a: accepted'], []]);
    device.driver.pass(1);
    expect(device.statuses).toEqual(['a: accepted', 'a: ok']);
  });

  it('is not accepted twice when it takes time', () => {
    const device = commandDevice({ carry_out: ({ id }) => began(id) });
    device.driver
      .post(arrived(1, SPREAD, FAN_OUT))
      .pass(30_000)
      .post(done());
    expect(device.statuses).toEqual(['a: accepted', 'a: ok']);
  });

  it('waits for a slow disk when its turn has come, and does not wake the processor', () => {
    const device = commandDevice({ save_note: undefined });
    device.driver.post(arrived(1, SPREAD, FAN_OUT)).pass(30_000);
    expect([device.carriedOut, device.wakeAt()]).toEqual([[], null]);
    device.driver.post(noted());
    expect(device.carriedOut).toEqual(['a']);
  });

  it('waits for its turn when the disk was quick, and is carried out once', () => {
    const device = commandDevice();
    device.driver.post(arrived(1, SPREAD, FAN_OUT), noted(), { type: 'delay_drawn', id: 'a', ms: 1 });
    device.driver.pass(29_999);
    expect(device.carriedOut).toEqual([]);
    device.driver.pass(60_000).post(noted());
    expect(device.carriedOut).toEqual(['a']);
  });

  it('follows those whose turn comes before', () => {
    const device = commandDevice();
    device.driver.post(toMany(1, 90), toMany(2, 30), toMany(3, 30), toMany(4, 60));
    device.driver.pass(100_000);
    expect(device.carriedOut).toEqual(['2', '3', '4', '1']);
    const busy = commandDevice();
    busy.driver.post(toMany(1, 90), toMany(2, 30), toMany(3, 30)).stall(50_000).pass(0);
    expect(busy.carriedOut).toEqual(['2', '3', '1']);
  });

  it('without a spread is carried out at once', () => {
    const device = commandDevice();
    device.driver.post(arrived(1, {}, FAN_OUT), arrived(2, { id: 'b', args: { spread_s: 0 } }, FAN_OUT));
    expect(device.statuses).toEqual(['a: ok', 'b: ok']);
  });

  it('is refused as the 101st that waits, until another one had its turn', () => {
    const device = commandDevice();
    for (let number = 1; number <= 101; number++) device.driver.post(toMany(number)).pass(100);
    expect(device.answers).toEqual(['101: busy']);
    device.driver.pass(20_000).post(toMany(101));
    expect(device.statuses.at(-1)).toBe('101: accepted');
  });

  it('is refused when the waiting ones are larger than 1 MiB together', () => {
    const device = commandDevice();
    const size = 1_048_576 / 2;
    const ofSize = (number: number, bytes: number): CommandEvent => {
      const bare = JSON.stringify({ id: `${number}`, args: { spread_s: 60 }, note: '' }).length;
      return toMany(number, 60, { note: 'x'.repeat(bytes - bare) });
    };
    device.driver.post(ofSize(1, size), ofSize(2, size + 1), ofSize(3, size), toMany(4));
    expect(device.statuses).toEqual(['1: accepted', '2: error', '3: accepted', '4: error']);
    device.driver.pass(30_000).post(ofSize(5, size));
    expect(device.statuses.at(-1)).toBe('5: accepted');
  });

  it('that only reads is saved, too: its operator was told to wait', () => {
    const device = commandDevice();
    device.driver.post(arrived(1, SPREAD, { isFanOut: true, name: 'status' }));
    expect([device.driver.all('save_note').length, device.acknowledged]).toEqual([1, [1]]);
  });

  it('is answered when no delay can be drawn', () => {
    const device = commandDevice({ draw_delay: undefined });
    device.driver.post(arrived(1, SPREAD, FAN_OUT));
    device.driver.post({ type: 'failed', effect: { type: 'draw_delay', id: 'a', spreadMs: 60_000 } });
    expect(device.answers).toEqual(['a: internal']);
  });
});

describe('a flood of commands', () => {
  const flood = (device: ReturnType<typeof commandDevice>, from: number, to: number): void => {
    for (let number = from; number <= to; number++) device.driver.post(arrived(number, { id: `${number}` }));
  };

  it('is carried out up to 100, refused up to 100 more, then dropped, and counted in one report', () => {
    const device = commandDevice();
    flood(device, 1, 250);
    expect(device.carriedOut).toHaveLength(100);
    expect(device.answers.slice(100)).toEqual(Array.from({ length: 100 }, (_, i) => `${101 + i}: busy`));
    // What is dropped is not sent again.
    expect(device.acknowledged.slice(100)).toEqual(Array.from({ length: 50 }, (_, i) => 201 + i));
    device.driver.pass(59_999);
    expect(device.driver.all('report_dropped')).toEqual([]);
    device.driver.pass(1);
    expect(device.driver.all('report_dropped')).toMatchObject([{ count: 50 }]);
    device.driver.pass(60_000);
    expect(device.driver.all('report_dropped')).toHaveLength(1);
  });

  it('is reported a minute after the first dropped command, with those dropped since', () => {
    const device = commandDevice();
    flood(device, 1, 201);
    device.driver.pass(100);
    // One is carried out, one is refused.
    flood(device, 202, 204);
    device.driver.pass(59_900);
    expect(device.driver.all('report_dropped')).toMatchObject([{ count: 2 }]);
  });

  it('is taken again at ten commands a second', () => {
    const device = commandDevice();
    flood(device, 1, 250);
    device.driver.pass(100);
    flood(device, 251, 251);
    expect(device.carriedOut.at(-1)).toBe('251');
  });

  it('of refusals does not push real answers out of the queue', () => {
    const device = commandDevice();
    flood(device, 1, 101);
    expect(device.driver.all('publish').at(-1)).toMatchObject({ share: 'general' });
    expect(device.driver.all('publish')[0]).toMatchObject({ share: 'answers' });
  });

  it('is reported when the agent ends within the minute, once', () => {
    const device = commandDevice();
    flood(device, 1, 203);
    device.driver.post(CLOSE).pass(120_000);
    expect(device.driver.all('report_dropped')).toMatchObject([{ count: 3 }]);
  });

  it('with names of more than 64 characters is acknowledged and logged, not answered', () => {
    const device = commandDevice();
    device.driver.post(arrived(1, {}, { name: 'x'.repeat(65) }));
    expect([device.answers, device.acknowledged]).toEqual([[], [1]]);
    expect(device.driver.all('log')).toMatchObject([{ kind: 'command:long_name' }]);
  });

  it.each(['', 'no json', '[]', '{}', '{"id":""}', '{"id":5}'])(
    'with the text %j is acknowledged and logged, not answered',
    (payload) => {
      const device = commandDevice();
      device.driver.post(arrived(1, {}, { payload }));
      expect([device.answers, device.acknowledged]).toEqual([[], [1]]);
      expect(device.driver.all('log')).toMatchObject([{ kind: 'command:nameless' }]);
    },
  );
});

describe('a signed command', () => {
  const signed = (number: number, id = 'a', more: object = {}): CommandEvent =>
    arrived(number, { id, jws: `jws of ${id}` }, { name: 'reboot', ...more });
  const opened = (number: number, body: object = {}): CommandEvent => {
    const whole = {
      id: 'a',
      device: 'dragoman/v1/museum/kiosk-01',
      not_after: '2026-01-15T10:00:00Z',
      ...body,
    };
    const opening: Opening = {
      ok: true,
      content: { typ: 'dragoman+command', payload: JSON.stringify(whole) },
    };
    return { type: 'opened', number, opening };
  };
  const KEYS = { hasKeys: true };

  it('is carried out once its signature is checked', () => {
    const device = commandDevice({}, KEYS);
    device.driver.post(signed(1));
    expect([device.carriedOut, device.driver.all('open')]).toMatchObject([[], [{ jws: 'jws of a' }]]);
    device.driver.post(opened(1), opened(1), opened(7));
    expect([device.answers, device.carriedOut]).toEqual([['a: ok'], ['a']]);
  });

  it('sent twice while the first one is checked is carried out once', () => {
    const device = commandDevice({}, KEYS);
    device.driver.post(signed(1), signed(2), opened(2), opened(1));
    expect([device.carriedOut, device.answers]).toEqual([['a'], ['a: ok', 'a: ok']]);
  });

  it.each([
    ['another device', { device: 'dragoman/v1/museum/kiosk-02' }],
    ['another group', { device: 'dragoman/v1/museum/group/east' }],
    ['another id', { id: 'b' }],
    ['another command', { cmd: 'mute' }],
    ['ever', { not_after: undefined }],
    ['more than a day', { not_after: '2026-01-16T09:00:00.001Z' }],
  ])('for %s is refused', (_, body) => {
    const device = commandDevice({}, { ...KEYS, wall: Date.UTC(2026, 0, 15, 9) });
    device.driver.post(signed(1), opened(1, body));
    expect(device.answers).toEqual(['a: signature']);
  });

  it('for a day is carried out, and refused while the clock is not set', () => {
    const body = { not_after: '2026-01-16T09:00:00Z' };
    const device = commandDevice({}, { ...KEYS, wall: Date.UTC(2026, 0, 15, 9) });
    device.driver.post(signed(1), opened(1, body));
    expect(device.answers).toEqual(['a: ok']);
    const timeless = commandDevice({}, { ...KEYS, wall: null });
    timeless.driver.post(signed(1), opened(1, body));
    expect(timeless.answers).toEqual(['a: signature']);
  });

  it('as another kind of message is refused', () => {
    const device = commandDevice({}, KEYS);
    const event = opened(1);
    if (event.type !== 'opened' || !event.opening.ok) throw new Error('not opened');
    const content = { ...event.opening.content, typ: 'dragoman+config' };
    device.driver.post(signed(1), { type: 'opened', number: 1, opening: { ok: true, content } });
    expect(device.answers).toEqual(['a: signature']);
  });

  it('with a wrong signature is refused', () => {
    const device = commandDevice({}, KEYS);
    device.driver.post(signed(1), { type: 'opened', number: 1, opening: { ok: false, why: 'signature' } });
    expect(device.driver.all('publish')).toMatchObject([
      {
        answer: { error: { code: 'signature', message: 'the command was rejected: its signature is wrong' } },
      },
    ]);
  });

  it('may have 65,536 characters, and no more', () => {
    const device = commandDevice({}, KEYS);
    const jws = 'x'.repeat(65_536 - JSON.stringify({ id: 'a', jws: '' }).length);
    device.driver.post(arrived(1, { jws }), arrived(2, { jws: `${jws}x` }));
    expect(device.driver.all('open').map(({ number }) => number)).toEqual([1]);
    expect(device.answers).toEqual(['a: signature']);
  });

  it('is refused as the 33rd at one time', () => {
    const device = commandDevice({}, KEYS);
    for (let number = 1; number <= 33; number++) device.driver.post(signed(number, `${number}`));
    expect(device.answers).toEqual(['33: busy']);
    device.driver.post(opened(1, { id: '1' }), signed(34, '34'));
    expect(device.driver.all('open')).toHaveLength(33);
  });

  it('needs a signature if the owner has keys, and only then', () => {
    const owned = commandDevice({}, KEYS);
    owned.driver.post(arrived(1, {}, { name: 'reboot' }), arrived(2, { id: 'b' }));
    expect(owned.answers).toEqual(['a: unsigned', 'b: ok']);
    const free = commandDevice();
    free.driver.post(arrived(1, {}, { name: 'reboot' }));
    expect(free.answers).toEqual(['a: ok']);
  });

  it('is judged by the keys of the moment when it has been checked', () => {
    const device = commandDevice({}, KEYS);
    device.driver
      .post(signed(1))
      .see({ hasKeys: false })
      .post(opened(1, { not_after: undefined }));
    expect(device.answers).toEqual(['a: ok']);
  });

  it('is answered when the check throws', () => {
    const device = commandDevice({}, KEYS);
    device.driver.post(signed(1), { type: 'failed', effect: { type: 'open', number: 1, jws: 'jws of a' } });
    expect(device.answers).toEqual(['a: internal']);
    expect(device.driver.state.checking.size).toBe(0);
  });

  it('that is checked after the close is left to the next start', () => {
    const device = commandDevice({}, KEYS);
    device.driver.post(signed(1), CLOSE, opened(1));
    expect([device.answers, device.acknowledged, device.carriedOut]).toEqual([[], [], []]);
  });
});

describe('the wait for an answer', () => {
  it('ends when the broker has the answer', () => {
    const { driver } = commandDevice();
    const isAwaited = (): boolean => isAnswerAwaited(driver.state, driver.now);
    expect(isAwaited()).toBe(false);
    driver.post(arrived(1));
    expect(isAwaited()).toBe(true);
    driver.post(ended('a'));
    expect(isAwaited()).toBe(false);
    expect(driver.all('awaited_changed')).toHaveLength(2);
  });

  it('ends after two minutes, with one wake-up', () => {
    const device = commandDevice();
    const { driver } = device;
    driver.post(arrived(1)).pass(119_999);
    expect(isAnswerAwaited(driver.state, driver.now)).toBe(true);
    driver.pass(1);
    expect(isAnswerAwaited(driver.state, driver.now)).toBe(false);
    expect([driver.all('awaited_changed').length, device.wakeAt()]).toEqual([2, null]);
  });

  it('ends after two minutes, even if the timer is late', () => {
    const { driver } = commandDevice();
    driver.post(arrived(1)).stall(120_000);
    expect(isAnswerAwaited(driver.state, driver.now)).toBe(false);
  });

  it('begins again with each answer', () => {
    const { driver } = commandDevice();
    driver
      .post(arrived(1))
      .pass(100_000)
      .post(arrived(2, { id: 'b' }))
      .pass(100_000);
    expect(isAnswerAwaited(driver.state, driver.now)).toBe(true);
  });
});

describe('the close', () => {
  it.each([
    ['being saved', { save_note: undefined }, arrived(1)],
    ['waiting for its turn', {}, arrived(1, SPREAD, FAN_OUT)],
    ['carried out', { carry_out: undefined }, arrived(1)],
    ['carried out, and only reads', { carry_out: undefined }, arrived(1, {}, READ_ONLY)],
  ])('answers a command that is %s, and ignores what comes later', (_, replies, event) => {
    const device = commandDevice(replies);
    device.driver.post(event, CLOSE);
    expect(device.wakeAt()).toBeNull();
    device.driver.post(noted(), began(), done(), CLOSE).pass(3_600_000);
    expect(device.answers).toEqual(['a: stopping']);
    expect(device.driver.all('save').length).toBeGreaterThan(0);
  });

  it('saves the answer first when the disk lists the command', () => {
    const device = commandDevice({ save_note: undefined, save_result: undefined }, LISTED);
    device.driver.post(arrived(1), CLOSE);
    expect(device.answers).toEqual([]);
    device.driver.post(noted(), kept());
    expect([device.acknowledged, device.answers]).toEqual([[1], ['a: stopping']]);
    // The agent ends: it connects no sooner for this answer.
    expect(device.driver.all('awaited_changed')).toEqual([]);
  });

  it('is not contradicted by a result that comes while the answer is being saved', () => {
    const device = commandDevice({ carry_out: undefined, save_result: undefined }, LISTED);
    device.driver.post(arrived(1), CLOSE, done(), kept());
    expect(device.answers).toEqual(['a: stopping']);
  });

  it('leaves a result that is being saved', () => {
    const device = commandDevice({ save_result: undefined }, LISTED);
    device.driver.post(arrived(1), CLOSE, kept());
    expect(device.answers).toEqual(['a: ok']);
  });

  it('leaves a command that arrives later to the next start', () => {
    const device = commandDevice();
    device.driver.post(CLOSE, arrived(1));
    expect([device.answers, device.acknowledged]).toEqual([[], []]);
  });

  it('still notes that the broker has an answer', () => {
    const { driver } = commandDevice();
    driver.post(arrived(1), CLOSE, ended('a'));
    expect(driver.state.ledger.get('digest of a')?.untold).toBeNull();
    expect(driver.effects.at(-1)).toEqual({ type: 'awaited_changed' });
  });
});

describe('the start', () => {
  const WALL = asWall(Date.UTC(2026, 0, 15));
  const answer = { status: 'error', error: { code: 'interrupted', message: 'send it again' } } as const;
  const entry = {
    key: 'digest of a',
    content: 'digest of ["mute",{},null]',
    open: { id: 'a', name: 'mute' },
  };
  const ledger = settle(note(EMPTY_LEDGER, entry, WALL), entry.key, answer);
  const record = { ledger, owed: [{ id: 'a', name: 'mute', answer }] };

  it('gives the answers of the last run, once, and saves that', () => {
    const device = commandDevice({}, { record });
    device.driver.post({ type: 'begin' }, { type: 'begin' });
    expect([device.answers, device.driver.all('save').length]).toEqual([['a: interrupted'], 1]);
    device.driver.post(arrived(1, {}, { isResent: true }));
    expect([device.answers, device.carriedOut]).toEqual([['a: interrupted'], []]);
  });

  it('writes nothing without such an answer', () => {
    const { driver } = commandDevice();
    driver.post({ type: 'begin' });
    expect(driver.effects).toEqual([]);
  });

  it('takes the record that the disk delivers late; what is newer stands', () => {
    const device = commandDevice({});
    device.driver.post(arrived(1, { id: 'b' }), { type: 'found', record });
    const before = device.driver.all('save').length;
    device.driver.post(arrived(2), arrived(3, { id: 'b' }));
    expect(device.answers).toEqual(['b: ok', 'a: interrupted', 'b: ok']);
    expect(device.carriedOut).toEqual(['b']);
    expect(before).toBe(2);
    const newer = commandDevice({});
    newer.driver.post(arrived(1), { type: 'found', record }, arrived(2));
    expect(newer.answers).toEqual(['a: ok', 'a: ok']);
  });
});

describe('a step that throws', () => {
  const broke = (during: Extract<CommandEvent, { type: 'broke' }>['during']): CommandEvent => ({
    type: 'broke',
    during,
  });

  it.each([
    ['its note', { save_note: undefined }, noted(), {}],
    ['its delay', { draw_delay: undefined }, { type: 'delay_drawn', id: 'a', ms: 1 }, SPREAD],
    ['its beginning', { carry_out: undefined }, began(), {}],
    ['its result', { carry_out: undefined }, done(), {}],
  ] as const)('at %s is answered with an error', (_, replies, event, body) => {
    const device = commandDevice(replies);
    device.driver.post(arrived(1, body, FAN_OUT), broke(event));
    expect(device.answers).toEqual(['a: internal']);
    expect(device.driver.state.unfinished.size).toBe(0);
  });

  it('at an arrival is answered with an error, or acknowledged without an id', () => {
    const device = commandDevice();
    device.driver.post(broke(arrived(1)), broke(arrived(2, {}, { payload: 'no id' })));
    expect([device.answers, device.acknowledged]).toEqual([['a: internal'], [2]]);
  });

  it('at the end of a signature check is answered with an error', () => {
    const device = commandDevice({}, { hasKeys: true });
    const opening: Opening = { ok: false, why: 'signature' };
    device.driver.post(arrived(1, { jws: 'x' }), broke({ type: 'opened', number: 1, opening }));
    expect(device.answers).toEqual(['a: internal']);
  });

  it('at a turn answers those whose turn it is, and no other', () => {
    const device = commandDevice({
      draw_delay: ({ id }) => ({ type: 'delay_drawn', id, ms: id === 'a' ? 0 : 1 }),
    });
    device.driver.post(arrived(1, SPREAD, FAN_OUT), arrived(2, { id: 'b', ...SPREAD }, FAN_OUT));
    device.driver.post(broke({ type: 'time' }));
    expect(device.answers).toEqual(['a: internal']);
  });

  it('when the result is saved gives the result', () => {
    const device = commandDevice({ save_result: undefined }, LISTED);
    device.driver.post(arrived(1), broke(kept()));
    expect(device.answers).toEqual(['a: ok']);
  });

  it('concerns no other command', () => {
    const device = commandDevice({ carry_out: undefined });
    device.driver.post(arrived(1), broke(done('b')), broke({ type: 'begin' }), broke(CLOSE), done());
    expect(device.answers).toEqual(['a: ok']);
  });
});

describe('an effect that throws', () => {
  it.each([
    ['the note', { save_note: undefined }, { type: 'save_note', id: 'a', key: 'digest of a' }],
    ['the result', { save_result: undefined }, { type: 'save_result', id: 'a' }],
  ] as const)('at %s counts as a disk that fails', (_, replies, effect) => {
    const device = commandDevice(replies, LISTED);
    device.driver.post(arrived(1), { type: 'failed', effect });
    expect(device.answers).toEqual(['a: ok']);
  });

  it('at the message that a command is accepted changes nothing', () => {
    const { driver } = commandDevice({ carry_out: ({ id }) => began(id) });
    driver.post(arrived(1));
    const [effect] = driver.all('publish');
    if (effect === undefined) throw new Error('not accepted');
    const before = driver.effects.length;
    driver.post({ type: 'failed', effect });
    expect(driver.effects).toHaveLength(before);
  });

  it('at the answer counts as a dropped answer', () => {
    const device = commandDevice();
    const { driver } = device;
    driver.post(arrived(1, {}, READ_ONLY));
    const [effect] = driver.all('publish');
    if (effect === undefined) throw new Error('no answer');
    driver.post({ type: 'failed', effect });
    expect(driver.all('acknowledge')).toMatchObject([{ arrivals: [1] }]);
    expect(device.wakeAt()).toBeNull();
  });
});
