import { describe, expect, it } from 'vitest';
import { createRepeatFilter } from '../../src/machine/repeat-filter.ts';
import { closed } from '../service-events.ts';
import { createVirtualClock } from '../virtual-clock.ts';
import { describeFloods, live, tally } from './floods.ts';

/** Many times more than the few that may be published. */
describeFloods(600);

describe('a counted event', () => {
  it('is published at the end of the minute: the last one, with its time and the count', async () => {
    const deps = await live();
    const told = tally(deps);
    for (let i = 0; i < 20; i++) {
      deps.microphoneFault({ code: i % 2 === 0 ? 'busy' : 'lost', message: `${i}` });
      deps.clock.advance(10);
    }
    const inTheMinute = told().events.length;
    const lastAt = deps.clock.wall();
    deps.clock.advance(66_000);
    const late = told()
      .events.slice(inTheMinute)
      .filter(({ topic }) => topic.endsWith('audio_lost'));
    expect(inTheMinute).toBe(5);
    expect(late).toHaveLength(1);
    expect(late[0]?.body['repeated']).toBeGreaterThan(0);
    expect(Date.parse(String(late[0]?.body['ts']))).toBeLessThanOrEqual(lastAt ?? 0);
    deps.clock.advance(600_000);
    expect(told().events.filter(({ topic }) => topic.endsWith('audio_lost'))).toHaveLength(6);
  });

  it('is published at the end of the agent, too', async () => {
    const deps = await live();
    for (let i = 0; i < 9; i++) deps.command('mute', 'no json');
    const stopped = deps.agent.stop();
    deps.lastStream().listener.said(closed('closed'));
    await deps.clock.elapse(10_000);
    await stopped;
    const lines = deps.logged.filter(([, sentence]) => String(sentence).includes('usable id'));
    expect(lines.map(([, , fields]) => fields)).toEqual([
      { command: 'mute' },
      { command: 'mute', repeated: 8 },
    ]);
  });

  it('costs one event and no timer after the end of the agent', () => {
    const clock = createVirtualClock();
    const repeats = createRepeatFilter(clock);
    repeats.close();
    const told: number[] = [];
    for (let i = 0; i < 5; i++) repeats.tell('late', (repeated) => told.push(repeated));
    expect(told).toEqual([0]);
    expect(clock.armed).toBe(0);
  });
});
