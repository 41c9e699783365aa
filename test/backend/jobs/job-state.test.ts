/** How far a command over many devices is. All times by hand. */
import { describe, expect, it } from 'vitest';
import {
  createJob,
  deviceOf,
  endIfDone,
  type JobRecord,
  noteAnswer,
  noteSent,
  noteSilence,
  refuseDevice,
  shownJob,
  stopJob,
  waitingDevices,
} from '../../../src/backend/jobs/job-state.ts';

const NOW = Date.UTC(2026, 9, 31, 23, 59, 30);
const MINUTE = 60_000;

const jobOf = (...devices: string[]): JobRecord =>
  createJob(
    { id: 'j', who: 'ann', command: 'mute', args: {}, validMs: MINUTE, devices, auditLine: 'l' },
    NOW,
  );
const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `museum/${index}`);
const statesOf = (job: JobRecord): string[] =>
  [...job.devices].map(([name, { state }]) => `${name} ${state}`);
const answer = (status: 'accepted' | 'ok' | 'error' | 'expired', more: object = {}) => ({
  ts: null,
  id: 'j',
  status,
  ...more,
});
const silence = (job: JobRecord, afterMs: number): boolean =>
  noteSilence(job, NOW + afterMs, (name) => `${name} said nothing`);

describe('a job', () => {
  it('goes to its devices by name, so many at a time, and to each once', () => {
    const job = jobOf('c', 'a', 'b');
    expect(waitingDevices(job, 2)).toEqual(['a', 'b']);
    for (const name of ['a', 'b']) noteSent(job, name, NOW);
    expect(waitingDevices(job, 2)).toEqual(['c']);
    expect([waitingDevices(job, 0), waitingDevices(job, -3)]).toEqual([[], []]);
  });

  it('gives each device its whole time from its own command on', () => {
    const job = jobOf('a', 'b');
    noteSent(job, 'a', NOW);
    noteSent(job, 'b', NOW + 50_000);
    expect(silence(job, 59_999)).toBe(false);
    expect(silence(job, 60_000)).toBe(true);
    expect(statesOf(job)).toEqual(['a silent', 'b sent']);
    expect(silence(job, 109_999)).toBe(false);
    expect(silence(job, 110_000)).toBe(true);
    expect(job.devices.get('b')).toMatchObject({ state: 'silent', message: 'b said nothing' });
  });

  it('gives a device that has accepted it two minutes more, and says that it began', () => {
    const job = jobOf('a');
    noteSent(job, 'a', NOW);
    expect(noteAnswer(job, 'a', answer('accepted'), NOW + 59_000)).toBe(true);
    expect(silence(job, 178_999)).toBe(false);
    expect(silence(job, 179_000)).toBe(true);
    expect(job.devices.get('a')).toMatchObject({
      state: 'silent',
      message: 'it has begun, but was not finished in time',
    });
  });

  it.each([
    [1, 121_000],
    [200, 121_000],
    [201, 122_000],
    [20_000, 220_000],
  ])(
    'over %i devices may be carried out for %i ms: its time, a minute of clocks, a second for each 200',
    (count, ms) => {
      const job = jobOf(...many(count));
      expect(job.notAfter - NOW).toBe(ms);
      // Those that could not be sent.
      expect(silence(job, ms - 1)).toBe(false);
      expect(silence(job, ms)).toBe(true);
      expect(shownJob(job).counts.silent).toBe(count);
    },
  );

  it('takes the first final answer of a device, also of one that was silent', () => {
    const job = jobOf('a', 'b', 'c');
    for (const name of ['a', 'b', 'c']) noteSent(job, name, NOW);
    silence(job, MINUTE);
    expect(noteAnswer(job, 'a', answer('ok', { note: 'not on the disk yet' }), NOW + 70_000)).toBe(true);
    const error = { code: 'busy', message: 'it is busy' };
    expect(noteAnswer(job, 'b', answer('error', { error }), NOW + 70_000)).toBe(true);
    expect(noteAnswer(job, 'b', answer('ok'), NOW + 71_000)).toBe(false);
    expect(noteAnswer(job, 'stranger', answer('ok'), NOW + 71_000)).toBe(false);
    expect(statesOf(job)).toEqual(['a ok', 'b error', 'c silent']);
    expect(job.devices.get('a')).toMatchObject({
      code: null,
      message: 'not on the disk yet',
      at: NOW + 70_000,
    });
    expect(job.devices.get('b')).toMatchObject({ code: 'busy', message: 'it is busy' });
  });

  it.each(['accepted', 'silent', 'ok', 'stopped'])(
    'is not opened again by "accepted" for one that is %s',
    (state) => {
      const job = jobOf('a');
      if (state === 'stopped') stopJob(job, 'stopped');
      else noteSent(job, 'a', NOW);
      if (state === 'silent') silence(job, MINUTE);
      if (state === 'accepted' || state === 'ok') noteAnswer(job, 'a', answer(state), NOW);
      expect(noteAnswer(job, 'a', answer('accepted'), NOW + 90_000)).toBe(false);
      expect(job.devices.get('a')).toMatchObject({ state, at: NOW });
    },
  );

  it('is stopped for those that wait, and ends once, when the others have answered', () => {
    const job = jobOf('a', 'b', 'c');
    noteSent(job, 'a', NOW);
    noteSent(job, 'b', NOW);
    noteAnswer(job, 'b', answer('accepted'), NOW);
    stopJob(job, 'the job was stopped before');
    expect(statesOf(job)).toEqual(['a sent', 'b accepted', 'c stopped']);
    expect(endIfDone(job, NOW)).toBe(false);
    noteAnswer(job, 'a', answer('ok'), NOW + 1000);
    expect(endIfDone(job, NOW + 1000)).toBe(false);
    noteAnswer(job, 'b', answer('expired'), NOW + 2000);
    expect([endIfDone(job, NOW + 30_000), endIfDone(job, NOW + 40_000)]).toEqual([true, false]);
    expect(shownJob(job)).toMatchObject({
      at: '2026-10-31T23:59:30.000Z',
      endedAt: '2026-11-01T00:00:00.000Z',
      devices: 3,
      counts: { waiting: 0, sent: 0, accepted: 0, ok: 1, error: 0, expired: 1, silent: 0, stopped: 1 },
      first: { device: 'a', state: 'ok' },
    });
  });

  it('is refused for a device only as long as that has not answered', () => {
    const job = jobOf('a', 'b');
    noteSent(job, 'a', NOW);
    noteAnswer(job, 'a', answer('ok'), NOW);
    for (const name of ['a', 'b', 'stranger']) refuseDevice(job, name, 'not_sent', 'the broker is away');
    expect(statesOf(job)).toEqual(['a ok', 'b error']);
    expect(deviceOf('b', job.devices.get('b') as never)).toEqual({
      device: 'b',
      state: 'error',
      code: 'not_sent',
      message: 'the broker is away',
      data: null,
    });
  });

  it.each([
    [100, { level: -20 }],
    [101, undefined],
  ])('over %i devices keeps as the data of an answer: %j', (count, data) => {
    const job = jobOf(...many(count));
    noteAnswer(job, 'museum/7', answer('ok', { data: { level: -20 } }), NOW);
    expect(job.devices.get('museum/7')?.data).toEqual(data);
  });
});
