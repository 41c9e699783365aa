import { describe, expect, it } from 'vitest';
import { createCounter, createHistogram } from '../../../src/adapters/watch/instruments.ts';
import { type Family, openMetrics } from '../../../src/adapters/watch/open-metrics.ts';
import { ANY_CHARACTER, fc } from '../../properties.ts';
import { readMetrics, valueAt } from './read-metrics.ts';

const gauge = (name: string, samples: Family['samples']): Family => ({
  name,
  type: 'gauge',
  help: 'A gauge.',
  samples,
});

describe('openMetrics', () => {
  it('writes families as the format demands, and ends with # EOF', () => {
    const text = openMetrics([
      {
        name: 'a_info_text',
        type: 'info',
        help: 'Of "it".',
        samples: [{ labels: { version: '1' }, value: 1 }],
      },
      {
        name: 'wait_seconds',
        type: 'counter',
        unit: 'seconds',
        help: 'Back\\slash.',
        samples: [{ value: 0.25 }, { labels: { lane: 'a' }, value: 3e-7 }],
      },
      gauge('none', []),
    ]);
    expect(text).toBe(
      `# TYPE a_info_text info
# HELP a_info_text Of \\"it\\".
a_info_text_info{version="1"} 1
# TYPE wait_seconds counter
# UNIT wait_seconds seconds
# HELP wait_seconds Back\\\\slash.
wait_seconds_total 0.25
wait_seconds_total{lane="a"} 3e-7
# EOF
`,
    );
    expect(openMetrics([])).toBe('# EOF\n');
    expect(readMetrics(text).map(({ name }) => name)).toEqual(['a_info_text', 'wait_seconds']);
  });

  it('writes values without a number as the format demands', () => {
    const text = openMetrics([
      gauge('g', [
        { labels: { of: 'a' }, value: Number.POSITIVE_INFINITY },
        { labels: { of: 'b' }, value: Number.NEGATIVE_INFINITY },
        { labels: { of: 'c' }, value: Number.NaN },
      ]),
    ]);
    expect(text).toContain('{of="a"} +Inf\ng{of="b"} -Inf\ng{of="c"} NaN\n');
  });

  it('keeps any text of a label whole when it is read again', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER }), (value) => {
        const read = readMetrics(openMetrics([gauge('g', [{ labels: { value, more: '1' }, value: 1 }])]));
        expect(read[0]?.samples[0]?.labels).toEqual({ value, more: '1' });
      }),
    );
    const lone = openMetrics([gauge('g', [{ labels: { value: 'a\ud800b' }, value: 1 }])]);
    expect(lone).toContain('"a\ufffdb"');
    for (const value of ['"} 1\ng 2', '\\', '\\n', '\n', '# EOF'])
      expect(readMetrics(openMetrics([gauge('g', [{ labels: { value }, value: 1 }])]))).toHaveLength(1);
  });
});

describe('instruments', () => {
  it('counts by labels, and shows what may come as 0', () => {
    const counter = createCounter([{ result: 'ok' }, { result: 'failed' }]);
    counter.add({ result: 'failed' });
    counter.add({ result: 'failed' }, 2);
    counter.add({ result: 'new' });
    expect(counter.samples()).toEqual([
      { labels: { result: 'ok' }, value: 0 },
      { labels: { result: 'failed' }, value: 3 },
      { labels: { result: 'new' }, value: 1 },
    ]);
  });

  it('adds up the buckets of a histogram, bounds included', () => {
    const histogram = createHistogram([0.5, 1, 5]);
    for (const seconds of [0.1, 0.5, 0.7, 5, 60]) histogram.observe(seconds);
    const family: Family = { name: 'h_seconds', type: 'histogram', help: 'H.', samples: histogram.samples() };
    const read = readMetrics(openMetrics([family]));
    const bucket = (le: string) => valueAt(read, 'h_seconds_bucket', { le });
    expect(['0.5', '1.0', '5.0', '+Inf'].map(bucket)).toEqual([2, 3, 4, 5]);
    expect(valueAt(read, 'h_seconds_count')).toBe(5);
    expect(valueAt(read, 'h_seconds_sum')).toBeCloseTo(66.3);
  });
});
