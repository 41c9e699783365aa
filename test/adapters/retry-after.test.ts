import { describe, expect, it } from 'vitest';
import { readRetryAfter } from '../../src/adapters/retry-after.ts';
import { asWall } from '../../src/protocol/common/time.ts';

const NOW = Date.parse('2026-03-04T05:06:07Z');
const http = (ms: number): string => new Date(ms).toUTCString();

describe('Retry-After', () => {
  it.each([
    [{}, NOW, null],
    [{ 'retry-after': '17' }, null, 17_000],
    [{ 'retry-after': ' 0 ' }, null, 0],
    [{ 'retry-after': 'soon' }, NOW, null],
    [{ 'retry-after': '-5' }, NOW, null],
    [{ 'retry-after': http(NOW + 90_000), date: http(NOW) }, null, 90_000],
    [{ 'retry-after': http(NOW + 90_000), date: http(NOW) }, 0, 90_000],
    [{ 'retry-after': http(NOW + 90_000) }, NOW, 90_000],
    [{ 'retry-after': http(NOW + 90_000), date: 'rubbish' }, NOW, 90_000],
    [{ 'retry-after': http(NOW - 90_000) }, NOW, 0],
    [{ 'retry-after': http(NOW + 90_000) }, null, null],
  ])('%j with our clock at %s is %s ms', (headers, wall, ms) => {
    expect(readRetryAfter(headers, wall === null ? null : asWall(wall))).toBe(ms);
  });
});
