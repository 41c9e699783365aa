import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../src/device/deps/deps.ts';
import type { StateFile } from '../../src/ports/state-file.ts';
import { asWall } from '../../src/protocol/common/time.ts';
import { WITH_TROUBLE } from './later-faults.ts';
import { rulesThatNotice, withPublished } from './tampered.ts';

const AN_HOUR = 1;
const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;

describe('an agent with opening hours, a budget and texts to speak', () => {
  it('breaks no rule in an hour of each world', async () => {
    expect(await rulesThatNotice(WITH_TROUBLE, (world) => world, { hours: AN_HOUR })).toEqual([]);
  });

  it('breaks `hours` when it never closes', async () => {
    const rules = await rulesThatNotice(['opening_hours'], (world) => ({
      ...world,
      clock: { ...world.clock, wall: () => null },
    }));
    expect(rules).toEqual(['hours']);
  });

  it('breaks `hours` and `reporting` when it does not report that it is closed', async () => {
    const silent = withPublished((topic, payload) => [
      topic.endsWith('/status')
        ? JSON.stringify({ ...(JSON.parse(payload) as object), reasons: [] })
        : payload,
    ]);
    expect(await rulesThatNotice(['opening_hours'], silent)).toEqual(['hours', 'reporting']);
  });

  it('breaks `command` when it answers `start` with ok while it is closed', async () => {
    const polite = withPublished((topic, payload) => [
      topic.endsWith('/cmd/start/res') && payload.includes('"closed"')
        ? JSON.stringify({ ...(JSON.parse(payload) as object), status: 'ok', error: undefined })
        : payload,
    ]);
    expect(await rulesThatNotice(['opening_hours', 'commands'], polite, { hours: AN_HOUR })).toEqual([
      'command',
    ]);
  });

  it('breaks `budget` when it forgets its use at each restart', async () => {
    const rules = await rulesThatNotice(
      ['budget', 'sigterm'],
      (world) => {
        const { budgetFile } = world;
        const file: StateFile | undefined = budgetFile && { ...budgetFile, read: () => ({ kind: 'none' }) };
        return file === undefined ? world : { ...world, budgetFile: file };
      },
      { hours: AN_HOUR },
    );
    expect(rules).toEqual(['budget']);
  });

  it('breaks `budget` when it begins a new day each minute', async () => {
    const newDays = (world: AgentDeps): AgentDeps => {
      const { clock } = world;
      const wall = () => asWall((clock.wall() ?? 0) + Math.floor(clock.now() / MINUTE_MS) * DAY_MS);
      return { ...world, clock: { ...clock, wall } };
    };
    const rules = await rulesThatNotice(['budget'], newDays, { hours: AN_HOUR, seeds: [701, 702] });
    expect(rules).toEqual(['budget']);
  });

  it('breaks `command` when it answers `say` not at all, or twice', async () => {
    for (const times of [0, 2]) {
      const rules = await rulesThatNotice(
        ['say'],
        withPublished((topic, payload) =>
          Array<string>(topic.endsWith('/cmd/say/res') && !payload.includes('accepted') ? times : 1).fill(
            payload,
          ),
        ),
        { hours: AN_HOUR },
      );
      expect(rules).toEqual(['command']);
    }
  });
});
