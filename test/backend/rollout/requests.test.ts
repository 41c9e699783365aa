import { describe, expect, it } from 'vitest';
import { rolloutLines } from '../../../src/backend/rollout/report.ts';
import { abort, pause, readWaves, resume, whyNotYet } from '../../../src/backend/rollout/requests.ts';
import { createRollout } from '../../../src/backend/rollout/rollout.ts';
import { device, live, report, START, scene } from './scene.ts';

describe('what a person asks of a roll-out', () => {
  it('resume after a stop goes on, and does not stop at the same roll-backs again', () => {
    const test = scene(100, [10, 100]);
    test.go();
    const [first = '', second = '', third = '', fourth = ''] = test.drawn();
    const rolledBack = device({ boot: 'b3', update: report('rolled_back') });
    test.all(() => rolledBack, [first, second]);
    test.go();
    expect(test.rollout.state).toBe('stopped');
    const asked = resume(test.rollout);
    if (asked.ok) test.set(asked.rollout);
    test.go();
    expect(test.rollout).toMatchObject({ state: 'running', reason: null, endedAt: null });
    test.devices.set(third, rolledBack);
    test.go();
    expect(test.rollout.state).toBe('paused');
    test.devices.set(fourth, rolledBack);
    test.go();
    expect(test.rollout.state).toBe('stopped');
  });

  it('is refused in words when the state does not allow it', () => {
    const { rollout } = scene(1);
    const ended = abort(rollout, START);
    const aborted = ended.ok ? ended.rollout : rollout;
    expect(pause(aborted)).toMatchObject({ ok: false, why: 'it is already aborted and sends no orders' });
    expect(resume(aborted)).toMatchObject({ ok: false, why: expect.stringContaining('start a new one') });
    expect(resume(rollout)).toMatchObject({
      ok: false,
      why: expect.stringContaining('only a paused'),
    });
    expect(abort(aborted, START)).toMatchObject({ ok: false });
    expect(whyNotYet(aborted)).toBeNull();
    expect(whyNotYet(rollout)).toContain('rollout abort');
    expect(pause({ ...rollout, state: 'done' })).toMatchObject({ ok: false });
  });

  it('reads waves, and says what is wrong with them', () => {
    expect(readWaves('1%,10%,100%')).toEqual([1, 10, 100]);
    expect(readWaves('0.5, 100')).toEqual([0.5, 100]);
    expect(readWaves('10%,5%,100%')).toContain('"5%" must be more than "10%" before it');
    expect(readWaves('10%,10%,100%')).toContain('must be more');
    expect(readWaves('1%,10%')).toBe('must end with all devices: add ",100%"');
    for (const text of ['', '0%,100%', 'x', '1%,,100%', '101%', '-1%,100%', '1e1,100%'])
      expect(readWaves(text)).toContain('is not a share from 0 to 100 %');
  });

  it('shows the state in lines that name version, wave, counts and reason', () => {
    const test = scene(40, [10, 100]);
    test.go();
    const [first = '', second = ''] = test.drawn();
    test.devices.set(first, live());
    test.devices.set(second, device({ boot: 'b3', update: report('rolled_back', '1.3.0', 'it was deaf') }));
    test.go();
    const text = rolloutLines(test.rollout, true).join('\n');
    expect(text).toContain('roll-out of 1.3.0: paused, wave 1 of 2 (10 %)');
    expect(text).toContain('ordered   4: 1 live, 2 under way, 0 failed, 1 rolled back');
    expect(text).toContain(`reason    ${second}: it was deaf`);
    expect(text).toContain('next      check that device');
    const doubtful = rolloutLines({ ...test.rollout, implausible: [first] }, true).join('\n');
    expect(doubtful).toContain(`doubtful  ${first}: implausible reports do not count`);
    expect(rolloutLines(createRollout('r', test.rollout.plan, START), false).join('\n')).toContain(
      'no backend works on it',
    );
  });
});
