import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../src/device/deps/deps.ts';
import type { BusMessage } from '../../src/ports/bus.ts';
import type { StateFile } from '../../src/ports/state-file.ts';
import { PHASE_NAMES } from '../../src/protocol/phases.ts';
import { phasesReached, testOwned } from './owner-tests.ts';
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

describe('an agent with an owner', () => {
  testOwned();
});

describe('messages of an owner', () => {
  it('reach a lane in each of its phases', async () => {
    const reached = await phasesReached([2, 3, 4, 13, 14, 15]);
    // A closed lane gets no messages, and no step throws in this world.
    const open = PHASE_NAMES.filter((phase) => phase !== 'closed' && phase !== 'restarting');
    expect(open.filter((phase) => !reached.document.has(phase))).toEqual([]);
    expect(open.filter((phase) => !reached.command.has(phase))).toEqual([]);
  });
});

describe('the rules of desired configuration', () => {
  const faults = ['documents'];

  it('find an agent that ranks a group above the device', async () => {
    const swapped = onTopic('/config/desired', (message) => ({
      ...message,
      topic: message.topic.replace('/group/floor/', '/kiosk-01/'),
    }));
    expect(await rulesThatNotice(faults, withReceived(swapped), { named: 'desired' })).toContain('desired');
  });

  it('find an agent that refuses a document wholly for one wrong key', async () => {
    const picky = onTopic('/config/desired', (message) =>
      /loud|ENGLISH|never|"echoo"|-1/.test(message.payload) ? null : message,
    );
    expect(await rulesThatNotice(faults, withReceived(picky))).toContain('reported');
  });

  it('find an agent that ignores an empty document', async () => {
    const deaf = onTopic('/config/desired', (message) => (message.payload === '' ? null : message));
    const rules = await rulesThatNotice(faults, withReceived(deaf));
    expect(rules.filter((rule) => rule === 'desired' || rule === 'reported')).not.toEqual([]);
  });

  it('find an agent that gives its lanes orders for a document without changes', async () => {
    const restless = onTopic('/config/desired', (message) =>
      withPayload(message, ({ lanes, ...body }) => ({ ...body, lanes: lanes ?? [{ standbyAfter: 33 }] })),
    );
    const rules = await rulesThatNotice(faults, withReceived(restless));
    expect(rules.filter((rule) => rule === 'desired' || rule === 'undisturbed')).not.toEqual([]);
  });

  it('find an agent that reports the configuration before the last change', async () => {
    let before = '';
    const late = withPublished((topic, payload) => {
      if (!topic.endsWith('/config/reported')) return [payload];
      const published = before === '' ? payload : before;
      before = payload;
      return [published];
    });
    expect(await rulesThatNotice(faults, late)).toContain('reported');
  });

  it('find an agent that does not report wrong keys', async () => {
    const polite = withPublished((topic, payload) => [
      topic.endsWith('/config/reported')
        ? JSON.stringify({ ...(JSON.parse(payload) as object), errors: [] })
        : payload,
    ]);
    expect(await rulesThatNotice(faults, polite)).toContain('reported');
  });

  it('find an agent that forgets its documents at a restart while the broker is away', async () => {
    const forgetful = (world: AgentDeps): AgentDeps => {
      const { desiredFile } = world;
      const file: StateFile | undefined = desiredFile && { ...desiredFile, read: () => ({ kind: 'none' }) };
      return file === undefined ? world : { ...world, desiredFile: file };
    };
    expect(await rulesThatNotice(['documents', 'kill', 'broker_away'], forgetful)).toContain('desired');
  });
});

describe('the rules of commands', () => {
  const orders = ['commands'];

  it('find an agent that does not answer invalid commands', async () => {
    const silent = withPublished((topic, payload) =>
      isAnswer(topic) && payload.includes('invalid_args') ? [] : [payload],
    );
    expect(await rulesThatNotice(orders, silent)).toEqual(['command']);
  });

  it('find an agent that answers twice', async () => {
    const eager = withPublished((topic, payload) => (isAnswer(topic) ? [payload, payload] : [payload]));
    expect(await rulesThatNotice(orders, eager)).toEqual(['command']);
  });

  it('find an agent that carries out a command that it should refuse', async () => {
    const obedient = onTopic('/cmd/', (message) =>
      withPayload(message, (body) => ({
        ...body,
        args: { level: 'info', percent: 100, mode: 'half-duplex' },
      })),
    );
    expect(await rulesThatNotice(orders, withReceived(obedient))).toContain('command');
  });

  it('find an agent that ignores the commands of its groups', async () => {
    const deaf = onTopic('/group/', () => null);
    expect(await rulesThatNotice(orders, withReceived(deaf))).toContain('command');
  });

  it('find an agent that forgets its commands at each restart', async () => {
    const forgetful = (world: AgentDeps): AgentDeps => {
      const { commandFile } = world;
      const file: StateFile | undefined = commandFile && { ...commandFile, read: () => ({ kind: 'none' }) };
      return file === undefined ? world : { ...world, commandFile: file };
    };
    expect(await rulesThatNotice(['commands', 'kill'], forgetful)).toContain('command');
  });
});
