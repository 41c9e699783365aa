/** Owners who desire and command: an agent that gets it wrong is found out, and every phase of a lane is met. */
import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../src/agent/deps.ts';
import type { BusMessage } from '../../src/ports/bus.ts';
import type { StateFile } from '../../src/ports/state-file.ts';
import { inEffect } from './desired-model.ts';
import { metPhases } from './met-phases.ts';
import { testOwned } from './owned-world.ts';
import { rulesThatNotice, withPublished, withReceived } from './tampered.ts';

const onTopic =
  (part: string, change: (message: BusMessage) => BusMessage | null) =>
  (message: BusMessage): BusMessage | null =>
    message.topic.includes(part) ? change(message) : message;
const withPayload = (message: BusMessage, change: (body: Record<string, unknown>) => object): BusMessage => {
  try {
    return { ...message, payload: JSON.stringify(change(JSON.parse(message.payload))) };
  } catch {
    return message;
  }
};
const isAnswer = (topic: string): boolean => topic.endsWith('/res');

describe('an agent that does not do what its owner desires is found out', () => {
  const faults = ['documents'];

  // The world and the time in which the others are.
  testOwned({ seeds: [700], hours: 0.2 });

  it('where a group counts for more than the device', async () => {
    const swapped = onTopic('/config/desired', (message) => ({
      ...message,
      topic: message.topic.replace('/group/floor/', '/kiosk-01/'),
    }));
    expect(await rulesThatNotice(faults, withReceived(swapped), { named: 'desired' })).toContain('desired');
  });

  it('where it takes a document whole or not at all', async () => {
    const picky = onTopic('/config/desired', (message) =>
      /loud|ENGLISH|never|"echoo"|-1/.test(message.payload) ? null : message,
    );
    expect(await rulesThatNotice(faults, withReceived(picky))).toContain('reported');
  });

  it('where an empty document changes nothing', async () => {
    const deaf = onTopic('/config/desired', (message) => (message.payload === '' ? null : message));
    const rules = await rulesThatNotice(faults, withReceived(deaf));
    expect(rules.filter((rule) => rule === 'desired' || rule === 'reported')).not.toEqual([]);
  });

  it('where a document that changes nothing gives orders', async () => {
    const restless = onTopic('/config/desired', (message) =>
      withPayload(message, ({ lanes, ...body }) => ({ ...body, lanes: lanes ?? [{ standbyAfter: 33 }] })),
    );
    const rules = await rulesThatNotice(faults, withReceived(restless));
    expect(rules.filter((rule) => rule === 'desired' || rule === 'undisturbed')).not.toEqual([]);
  });

  it('where it reports what was in effect before', async () => {
    let before = '';
    const late = withPublished((topic, payload) => {
      if (!topic.endsWith('/config/reported')) return [payload];
      const told = before === '' ? payload : before;
      before = payload;
      return [told];
    });
    expect(await rulesThatNotice(faults, late)).toContain('reported');
  });

  it('where it does not report what was wrong', async () => {
    const polite = withPublished((topic, payload) => [
      topic.endsWith('/config/reported')
        ? JSON.stringify({ ...(JSON.parse(payload) as object), errors: [] })
        : payload,
    ]);
    expect(await rulesThatNotice(faults, polite)).toContain('reported');
  });

  it('where it forgets with each restart what a broker that is away has told it', async () => {
    const forgetful = (world: AgentDeps): AgentDeps => {
      const { desiredFile } = world;
      const file: StateFile | undefined = desiredFile && { ...desiredFile, read: () => ({ kind: 'none' }) };
      return file === undefined ? world : { ...world, desiredFile: file };
    };
    expect(await rulesThatNotice(['documents', 'kill', 'broker_away'], forgetful)).toContain('desired');
  });
});

describe('an agent that does not answer its owner rightly is found out', () => {
  const orders = ['commands'];

  it('where it does not answer', async () => {
    const silent = withPublished((topic, payload) =>
      isAnswer(topic) && payload.includes('invalid_args') ? [] : [payload],
    );
    expect(await rulesThatNotice(orders, silent)).toEqual(['command']);
  });

  it('where it answers twice', async () => {
    const eager = withPublished((topic, payload) => (isAnswer(topic) ? [payload, payload] : [payload]));
    expect(await rulesThatNotice(orders, eager)).toEqual(['command']);
  });

  it('where it does what it should refuse', async () => {
    const obedient = onTopic('/cmd/', (message) =>
      withPayload(message, (body) => ({
        ...body,
        args: { level: 'info', percent: 100, mode: 'half-duplex' },
      })),
    );
    expect(await rulesThatNotice(orders, withReceived(obedient))).toContain('command');
  });

  it('where it never hears its groups', async () => {
    const deaf = onTopic('/group/', () => null);
    expect(await rulesThatNotice(orders, withReceived(deaf))).toContain('command');
  });

  it('where it forgets with each restart what it was told', async () => {
    const forgetful = (world: AgentDeps): AgentDeps => {
      const { commandFile } = world;
      const file: StateFile | undefined = commandFile && { ...commandFile, read: () => ({ kind: 'none' }) };
      return file === undefined ? world : { ...world, commandFile: file };
    };
    expect(await rulesThatNotice(['commands', 'kill'], forgetful)).toContain('command');
  });
});

describe('what an owner sends', () => {
  it('meets a lane in the phases in which it spends its time', async () => {
    const met = await metPhases([16], 0.15);
    for (const phases of Object.values(met)) {
      expect([...phases]).toEqual(expect.arrayContaining(['idle', 'acquiring', 'connecting', 'live']));
    }
  });
});

describe('the rule of what is in effect', () => {
  const lane = {
    id: 'main',
    source: 'en',
    targets: ['es'],
    voice: null,
    echo: 'off',
    start: 'boot',
    standbyAfter: 1,
  };
  const own = { lanes: [lane], log: { level: 'info' } };
  const document = (values: object, wrong: readonly string[] = []) => ({
    ...{ version: 1, logLevel: null, wrong },
    lanes: [{ at: 0, lane: null, values }],
  });

  it('lets each key of a later document win, and languages that clash none', () => {
    const { effective, refused } = inEffect(own, [
      { from: 'group:a', content: document({ echo: 'cancel', standbyAfter: 7 }, ['lanes[0].start']) },
      { from: 'device', content: document({ echo: 'half-duplex', source: 'es' }) },
    ]);
    expect(effective.lanes).toEqual([{ ...lane, echo: 'half-duplex', standbyAfter: 7 }]);
    expect([...refused]).toEqual(['group:a lanes[0].start', 'device lanes[0].source']);
  });
});
