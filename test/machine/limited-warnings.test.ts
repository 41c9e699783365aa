import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/adapters/log.ts';
import { createLimitedWarnings } from '../../src/machine/limited-warnings.ts';
import { createVirtualClock } from '../virtual-clock.ts';

function open() {
  const clock = createVirtualClock();
  const lines: { msg: string; more?: number; device?: string }[] = [];
  const sink = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const complain = createLimitedWarnings(createLogger({ level: 'warn', format: 'json', sink }), clock);
  return { clock, lines, complain };
}

describe('warnings with a limit', () => {
  it('come once a minute for each kind, with the number of those left out', () => {
    const { clock, lines, complain } = open();
    for (let count = 0; count < 5; count += 1) complain('a', {}, 'one thing');
    complain('b', {}, 'one thing');
    clock.advance(60_000);
    complain('a', {}, 'one thing');
    expect(lines.map(({ msg, more }) => [msg, more])).toEqual([
      ['one thing', undefined],
      ['one thing', undefined],
      ['one thing', 4],
    ]);
  });

  it('have a limit for each sentence, whatever names are invented, and leave out no other sentence', () => {
    const { clock, lines, complain } = open();
    for (let minute = 0; minute < 10; minute += 1) {
      for (let name = 0; name < 5000; name += 1)
        complain(`denied ${minute}/${name}`, { device: `d${name}` }, 'denied');
      clock.advance(60_000);
    }
    complain('store', {}, 'the store is down');
    expect(lines.filter(({ msg }) => msg === 'denied')).toHaveLength(10 * 100);
    expect(lines.at(-1)).toMatchObject({ msg: 'the store is down' });
    const left = lines.filter(({ msg }) => msg.includes('left out'));
    expect(left.map(({ more }) => more ?? 0)).toEqual([0, ...Array(9).fill(4899)]);
  });
});
