import { describe, it } from 'vitest';
import { expectCheap, expectEquallyLoud } from './levelled.ts';

const AMPLITUDES = [0.15, 0.3, 0.6, 0.98];

describe('voices of the service', () => {
  it('are equally loud after some seconds, whatever their kind and original loudness', () => {
    expectEquallyLoud({ MAN: AMPLITUDES, WOMAN: AMPLITUDES, CHILD: AMPLITUDES });
  });

  it('cost little processing', { retry: 2 }, ({ annotate }) => {
    void annotate(expectCheap(10));
  });
});
