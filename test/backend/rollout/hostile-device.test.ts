/** One device among 40 claims what it likes: it may neither hurry a roll-out, nor hide a bad version, nor end it. */
import { describe, expect, it } from 'vitest';
import { type Asked, resume } from '../../../src/backend/rollout/requests.ts';
import { device, live, report, scene } from './scene.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The first wave has four devices; the hostile one is the first of them, the honest ones are the others. */
function wave(waves = [10, 100]) {
  const test = scene(40, waves);
  test.go();
  const [hostile = '', ...honest] = test.drawn();
  const ask = (asked: Asked): void => {
    if (!asked.ok) throw new Error(asked.why);
    test.set(asked.rollout);
  };
  return { test, hostile, honest, ask };
}
const hours = (names: readonly string[], each: number) => new Map(names.map((name) => [name, each * HOUR]));

describe('conversations that one device reports', () => {
  it('do not end a wave, whatever it was billed', () => {
    const { test, hostile, honest } = wave();
    test.all(() => live(), test.drawn());
    test.go();
    for (let count = 0; count < 20; count += 1)
      test.go(500, { conversations: new Map([[hostile, 100]]), billedMs: hours([hostile], 24) });
    expect(test.rollout).toMatchObject({ state: 'running', wave: 0 });
    expect(test.rollout.conversations).toBeLessThanOrEqual(20);
    const own = new Map(honest.map((name) => [name, 27]));
    test.go(5 * HOUR, { conversations: own, billedMs: hours(test.drawn(), 1) });
    expect(test.rollout).toMatchObject({ wave: 0, conversations: 60 });
  });

  it('do not count without billed time, one for each 20 s', () => {
    const test = scene(40, [25, 100]);
    test.go();
    test.all(() => live(), test.drawn());
    test.go();
    const ten = new Map(test.drawn().map((name) => [name, 10]));
    test.go(HOUR, { conversations: ten });
    expect(test.rollout).toMatchObject({ wave: 0, conversations: 0 });
    const billed = (seconds: number) => new Map(test.drawn().map((name) => [name, seconds * 1000]));
    test.go(MINUTE, { billedMs: billed(199) });
    expect(test.rollout).toMatchObject({ wave: 0, conversations: 90 });
    test.go(MINUTE, { billedMs: billed(200) });
    expect(test.rollout).toMatchObject({ wave: 1, conversations: 0 });
  });

  it('do not begin the time of a wave in which the others do not run the version yet', () => {
    const { test, hostile, honest } = wave();
    test.all(() => live(), [hostile]);
    test.go();
    test.go(25 * HOUR, { conversations: new Map([[hostile, 500]]) });
    expect(test.rollout).toMatchObject({ wave: 0, waveSince: null, heard: {}, implausible: [] });
    test.all(() => live(), honest.slice(0, 2));
    test.go();
    expect(test.rollout.waveSince).not.toBeNull();
    test.go(24 * HOUR);
    expect(test.rollout.wave).toBe(1);
  });
});

describe('an update that one device never finishes', () => {
  it('pauses a wave of that device after two days, and goes on without it after "resume"', () => {
    const test = scene(20, [5, 100]);
    test.go();
    const [hostile = ''] = test.drawn();
    const claims = () => test.all(() => device({ update: report('downloading') }), [hostile]);
    claims();
    for (let hour = 0; hour < 49; hour += 1) test.go(HOUR);
    expect(test.rollout).toMatchObject({ state: 'running', wave: 0 });
    test.go(2 * HOUR);
    expect(test.rollout).toMatchObject({ state: 'paused', reason: expect.stringContaining(hostile) });
    expect(test.rollout.reason).toContain('has not finished');
    const asked = resume(test.rollout);
    if (!asked.ok) throw new Error(asked.why);
    test.set(asked.rollout);
    claims();
    test.go();
    expect(test.rollout).toMatchObject({ state: 'running', wave: 1 });
    test.all(
      () => live(),
      test.drawn().filter((name) => name !== hostile),
    );
    test.go();
    test.go(24 * HOUR);
    expect(test.rollout).toMatchObject({ state: 'done' });
    // It did finish: the honest device was only slow.
    test.all(() => live(), [hostile]);
    test.go();
    expect(test.rollout.drawn[hostile]).toMatchObject({ state: 'live' });
  });
});

describe('lost speech that one device reports', () => {
  const lossy = (
    which: readonly string[],
    claims: ReadonlyMap<string, number>,
    test: ReturnType<typeof scene>,
  ) => {
    for (let minute = 0; minute < 180 && test.rollout.state === 'running'; minute += 1) {
      test.all((name) =>
        test.drawn().includes(name)
          ? live({ troubleMs: claims.get(name) ?? (which.includes(name) ? 500 : 0) })
          : device({ troubleMs: claims.get(name) ?? 0 }),
      );
      test.go(MINUTE);
    }
    return test.rollout;
  };

  it('does not hide a version that loses speech at the others', () => {
    const { test, hostile, honest } = wave();
    const other = [...test.devices.keys()].find((name) => !test.drawn().includes(name)) ?? '';
    expect(lossy(test.drawn(), new Map([[other, 1e11]]), test)).toMatchObject({
      state: 'stopped',
      reason: 'devices with this version lose 1.5 s of speech an hour (lost or unspoken), the others 0.0 s',
    });
    const quiet = wave();
    expect(lossy(honest, new Map([[hostile, 0]]), quiet.test).state).toBe('stopped');
  });

  it('does not end the roll-out of a good version', () => {
    const { test, hostile } = wave();
    expect(lossy([], new Map([[hostile, 1e11]]), test)).toMatchObject({ state: 'running', reason: null });
  });

  it('does not count when a person has brought the version to the device', () => {
    const { test } = wave();
    const others = [...test.devices.keys()].filter((name) => !test.drawn().includes(name));
    test.all(() => live({ troubleMs: 50_000 }), others);
    test.go();
    expect(test.rollout).toMatchObject({ state: 'running', updated: {} });
  });

  it('pauses it when it is the only one with the version, and only once', () => {
    const { test, hostile, ask } = wave([1, 10, 100]);
    const claims = new Map([[hostile, 1e11]]);
    expect(lossy([], claims, test)).toMatchObject({
      state: 'paused',
      reason: `${hostile}: it loses 3600.0 s of speech an hour (lost or unspoken), the others 0.0 s`,
    });
    ask(resume(test.rollout));
    expect(lossy([], claims, test)).toMatchObject({ state: 'running', reason: null });
  });
});

describe('a roll-back that one device reports', () => {
  const rolledBack = (boot: string) => device({ boot, update: report('rolled_back') });

  it('pauses the roll-out with its name, and does not pause it again', () => {
    const { test, hostile, honest, ask } = wave();
    test.devices.set(hostile, rolledBack('b3'));
    expect(test.go(24 * HOUR)).toEqual([]);
    expect(test.rollout).toMatchObject({
      state: 'paused',
      reason: `${hostile}: version 1.3.0 was rolled back`,
    });
    ask(resume(test.rollout));
    for (const boot of ['b4', 'b5', 'b6']) {
      test.devices.set(hostile, live({ boot }));
      test.go();
      test.devices.set(hostile, device({ boot: `${boot}-`, update: report('downloading') }));
      test.go();
      test.devices.set(hostile, rolledBack(`${boot}+`));
      test.go();
      expect(test.rollout).toMatchObject({ state: 'running', reason: null });
    }
    test.devices.set(honest[0] ?? '', rolledBack('b3'));
    test.go();
    expect(test.rollout).toMatchObject({ state: 'paused', reason: expect.stringContaining(honest[0] ?? '') });
  });
});

describe('claims that cannot be true', () => {
  it('do not count, and the roll-out names the device', () => {
    const test = scene(40, [25, 100]);
    test.go();
    const [hostile = '', ...honest] = test.drawn();
    test.all(() => live(), honest);
    test.devices.set(hostile, live({ isImplausible: true, troubleMs: 1e11 }));
    test.go();
    const twenty = new Map(test.drawn().map((name) => [name, 11]));
    test.go(HOUR, { conversations: twenty, billedMs: hours(test.drawn(), 1) });
    expect(test.rollout).toMatchObject({ implausible: [hostile], conversations: 99, wave: 0 });
    // A hundred conversations in a minute.
    test.go(MINUTE, { conversations: new Map([[honest[0] ?? '', 500]]) });
    expect(test.rollout.implausible).toEqual([hostile, honest[0]].sort());
  });
});
