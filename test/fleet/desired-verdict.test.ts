import { describe, expect, it } from 'vitest';
import { readChange } from '../../src/fleet/desired-edit.ts';
import { changedSince, judgeReport, nameOfFault } from '../../src/fleet/desired-verdict.ts';
import { type ReceivedReport, receivedLaneSchema } from '../../src/fleet/device-messages.ts';

const BODY = {
  version: 3,
  lanes: [
    { id: 'side', echo: 'off' },
    { id: 'main', volume: 5, source: 'en' },
  ],
};
const EFFECTIVE = { lanes: [{ id: 'main', volume: 5, source: 'de' }], schedule: null };
const report = (...keys: string[]): ReceivedReport => ({
  version: { device: 3 },
  effective: EFFECTIVE,
  errors: keys.map((key) => ({ from: 'device', key, message: 'no' })),
});
const judge = (given: ReceivedReport | undefined, ...words: string[]) =>
  judgeReport('kiosk-01', given, {
    from: 'device',
    version: 3,
    body: BODY,
    changes: words.map((word) => readChange(word, false)),
  });

describe('the verdict on a published document', () => {
  it.each([
    ['lanes[1].volume', 'main.volume'],
    ['lanes[0]', 'side'],
    ['lanes[7].volume', 'lanes[7].volume'],
    ['log.level', 'log.level'],
    ['', ''],
  ])('names %j as an operator types it', (key, name) => {
    expect(nameOfFault(BODY, key)).toBe(name);
  });

  it('is silent without a report of the version', () => {
    expect(judge(undefined, 'main.volume=5').status).toBe('silent');
    expect(judge({ ...report(), version: { device: 2 } }, 'main.volume=5').status).toBe('silent');
  });

  it('separates changed keys from older ones', () => {
    const verdict = judge(report('lanes[1].source', 'lanes[0].echo'), 'main.volume=5', 'main.source=en');
    expect(verdict).toMatchObject({
      status: 'refused',
      applied: ['main.volume'],
      overridden: [],
      errors: [{ key: 'lanes[1].source' }],
      older: [{ key: 'lanes[0].echo' }],
    });
    expect(judge(report('lanes[0].echo'), 'main.volume=5')).toMatchObject({ status: 'ok', errors: [] });
  });

  it('is refused for every key when a lane, a schedule or the whole is refused', () => {
    expect(judge(report('lanes[0]'), 'side.echo=off')).toMatchObject({ status: 'refused', applied: [] });
    const open = [{ days: ['mon'], from: '09:00', to: '18:00' }];
    const schedule = `schedule=${JSON.stringify({ timeZone: 'UTC', open })}`;
    expect(judge(report('schedule.open[0].from'), schedule)).toMatchObject({
      status: 'refused',
      applied: [],
    });
    expect(judge({ ...report(''), version: {} }, 'main.volume=5').status).toBe('refused');
  });

  it('reports a key that has another value in force', () => {
    expect(judge(report(), 'main.source=en', 'main.volume=5')).toMatchObject({
      status: 'ok',
      applied: ['main.volume'],
      overridden: [{ key: 'main.source', effective: 'de' }],
    });
  });
});

describe('the changed values of a lane', () => {
  const configured = { lanes: [{ id: 'main', source: 'en', targets: ['es'], volume: 80, echo: 'off' }] };
  const lane = (more: object) =>
    receivedLaneSchema.parse({ ...configured.lanes[0], echo: { wanted: 'off', mode: 'off' }, ...more });

  it('are those that differ from files and documents', () => {
    expect(changedSince(configured, [lane({})])).toEqual([]);
    expect(changedSince(configured, [lane({ volume: 70, echo: { wanted: 'cancel', mode: 'off' } })])).toEqual(
      [
        { key: 'main.volume', now: 70 },
        { key: 'main.echo', now: 'cancel' },
      ],
    );
    expect(changedSince(configured, [lane({ targets: ['fr'] })])).toEqual([
      { key: 'main.targets', now: ['fr'] },
    ]);
    expect(changedSince(undefined, [lane({ volume: 70 })])).toEqual([]);
  });

  it('leave out languages that the service refuses', () => {
    const refused_task = { message: 'no', targets: ['xx'] };
    expect(changedSince(configured, [lane({ targets: ['fr'], refused_task })])).toEqual([]);
  });
});
