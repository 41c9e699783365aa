import { describe, expect, it } from 'vitest';
import {
  type IsolationFacts,
  judgeIsolation,
} from '../../../../../src/device/doctor/checks/isolation/isolation-rules.ts';

const REFUSED: IsolationFacts = {
  published: 'refused',
  subscribed: 'refused',
  cameBack: false,
  devicesHeard: 0,
};

describe('the result of using topics of other devices', () => {
  it.each([
    [REFUSED, 'ok', 'refuses'],
    [{ ...REFUSED, subscribed: 'granted' as const }, 'ok', 'refuses'],
    [{ ...REFUSED, published: 'taken' as const }, 'warning', 'device publish on topics'],
    [{ ...REFUSED, devicesHeard: 1 }, 'warning', 'device receive on topics'],
    [{ ...REFUSED, published: 'unknown' as const, cameBack: true }, 'warning', 'publish and receive'],
    [{ ...REFUSED, published: 'unknown' as const }, 'skipped', '3.1.1'],
    [null, 'skipped', 'without a login'],
  ])('%j: %s', (facts, verdict, words) => {
    expect(judgeIsolation(facts)).toMatchObject({ verdict, finding: expect.stringContaining(words) });
  });
});
