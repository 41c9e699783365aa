import { describe, expect, it } from 'vitest';
import { describeUnit, LONGEST_STATUS_LINE, readUnitStatusLine } from '../../src/core/unit-status.ts';

const LANE = { id: 'main', phase: 'live', source: 'en', targets: ['es', 'fr'] };
const FACTS = {
  status: 'ready',
  reasons: [],
  broker: true,
  lanes: [LANE],
  isClockSet: true,
  stuck: [],
} as const;
const written = (more: Partial<Parameters<typeof describeUnit>[0]>): string =>
  describeUnit({ ...FACTS, ...more });

describe('the status line of the unit', () => {
  it('is read as it was written', () => {
    expect(written({})).toBe('ready: main live, en to es and fr; broker connected');
    expect(readUnitStatusLine(written({}))).toEqual({ status: 'ready', reasons: [], broker: 'connected' });
    const line = written({
      status: 'degraded',
      reasons: ['capture:lost', 'no_broker'],
      broker: 'nothing listens there',
      isClockSet: false,
      stuck: ['main'],
    });
    expect(line).toBe(
      'degraded (capture:lost, no_broker): sound is stuck in main; the clock is not set; ' +
        'main live, en to es and fr; no broker: nothing listens there',
    );
    expect(readUnitStatusLine(line)).toEqual({
      status: 'degraded',
      reasons: ['capture:lost', 'no_broker'],
      broker: 'missing',
    });
    expect(readUnitStatusLine(written({ broker: null }))).toMatchObject({ broker: 'unknown' });
    expect(readUnitStatusLine('Started the agent.')).toBeNull();
  });

  it('counts as connected when so many lanes stand in it that its end was cut off', () => {
    const line = written({ lanes: new Array(20).fill(LANE) }).slice(0, LONGEST_STATUS_LINE);
    expect(line).not.toContain('broker');
    expect(readUnitStatusLine(line)).toMatchObject({ broker: 'connected' });
  });
});
