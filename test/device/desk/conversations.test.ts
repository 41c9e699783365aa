import { describe, expect, it } from 'vitest';
import { heard, rejected, spoke, understood } from '../../service-events.ts';
import { DESIRED, hours, MIN } from '../scheduled-agent.ts';
import { events, laneOf, PCM, quiet, quietDesk, said, sayOne } from './desk.ts';

const lastState = (deps: Parameters<typeof events>[0]) => {
  const lanes = deps.sent('state').at(-1)?.body['lanes'] as Record<string, unknown>[] | undefined;
  return lanes?.[0];
};

describe('a conversation', () => {
  it('begins when the service understands a voice, and not with noise', async () => {
    const deps = await quietDesk();
    for (let chunk = 0; chunk < 10; chunk++) deps.speak();
    expect(events(deps, 'conversation_started')).toEqual([]);
    deps.service(heard({ id: 'a', text: 'Where' }));
    await deps.clock.elapse(1100);
    expect(events(deps, 'conversation_started')).toMatchObject([{ lane: 'main', by: 'voice' }]);
    expect(lastState(deps)?.['conversation']).toMatchObject({ since: expect.any(String), notice: 'es' });
  });

  it('ends after conversation.endAfter seconds without speech, with figures and without a word', async () => {
    const deps = await quietDesk({ conversation: { endAfter: 30, notice: false } });
    await sayOne(deps);
    await sayOne(deps);
    await quiet(deps, 24_000);
    expect(events(deps, 'conversation_ended')).toEqual([]);
    await quiet(deps, 10_000);
    const [ended, ...more] = events(deps, 'conversation_ended');
    expect(more).toEqual([]);
    expect(ended).toMatchObject({ lane: 'main', languages: ['en', 'es'], sentences: 2 });
    const { duration_s, billed_s, delay_ms } = ended as Record<string, number>;
    expect(duration_s).toBeGreaterThan(33);
    expect(duration_s).toBeLessThan(40);
    expect(billed_s).toBe(duration_s);
    // The sentence was understood at its end, and its sound came a second later.
    expect(delay_ms).toBeGreaterThanOrEqual(1000);
    expect(delay_ms).toBeLessThan(1500);
    const told = JSON.stringify([deps.logged, deps.published]);
    expect(told).not.toContain('exit');
    expect(told).not.toContain('salida');
    expect(laneOf(deps).state.conversation).toBeNull();
  });

  it('begins and ends by command, and again with the next voice alone', async () => {
    const deps = await quietDesk({ conversation: { notice: false } });
    expect(deps.ask('conversation', { do: 'begin' })).toMatchObject({ status: 'ok' });
    expect(events(deps, 'conversation_started')).toMatchObject([{ by: 'command' }]);
    await sayOne(deps);
    expect(deps.ask('conversation', { do: 'end' })).toMatchObject({ status: 'ok' });
    expect(events(deps, 'conversation_ended')).toMatchObject([{ sentences: 1 }]);
    // Late words of before belong to the conversation that has ended.
    deps.service(heard({ id: 'late', text: 'exit' }));
    await deps.clock.elapse(1000);
    expect(events(deps, 'conversation_started')).toHaveLength(1);
    await sayOne(deps);
    expect(events(deps, 'conversation_started')).toHaveLength(2);
  });

  it('does not begin by command when the lane is stopped, and the answer says why', async () => {
    const deps = await quietDesk();
    deps.ask('stop');
    deps.closeDrained();
    expect(deps.ask('conversation', { do: 'begin' })).toMatchObject({
      status: 'error',
      error: { code: 'stopped', message: expect.stringContaining('send start') },
    });
    expect(events(deps, 'conversation_started')).toEqual([]);
  });

  it('wakes a lane in standby when it begins by command', async () => {
    const deps = await quietDesk({}, { standbyAfter: 10 });
    await quiet(deps, 12_000);
    expect(deps.phase()).toBe('standby');
    deps.ask('conversation', { do: 'begin' });
    expect(deps.phase()).toBe('acquiring');
  });

  it('wakes a lane in standby when a visitor acts at the desk in the middle of it', async () => {
    const deps = await quietDesk({ conversation: { endAfter: 60, notice: false } }, { standbyAfter: 10 });
    await sayOne(deps);
    await quiet(deps, 20_000);
    expect(deps.phase()).toBe('standby');
    await deps.agent.carryOut('volume', { percent: 50 });
    expect(deps.phase()).not.toBe('standby');
  });

  it('goes on through standby and a new session', async () => {
    const deps = await quietDesk({ conversation: { endAfter: 60, notice: false } }, { standbyAfter: 10 });
    await sayOne(deps);
    await quiet(deps, 20_000);
    expect(deps.phase()).toBe('standby');
    for (let chunk = 0; chunk < 4; chunk++) deps.speak();
    deps.liveAgain();
    await sayOne(deps);
    deps.ask('conversation', { do: 'end' });
    expect(events(deps, 'conversation_started')).toHaveLength(1);
    const [ended] = events(deps, 'conversation_ended') as Record<string, number>[];
    expect(ended).toMatchObject({ sentences: 2 });
    expect(ended?.['billed_s']).toBeLessThan(Number(ended?.['duration_s']) - 5);
  });

  it('ends when the opening hours end, after the last sentence', async () => {
    const deps = await quietDesk({ schedule: hours('08:00', '09:02'), conversation: { notice: false } });
    await sayOne(deps);
    await quiet(deps, 3 * MIN);
    deps.closeDrained();
    await deps.clock.elapse(0);
    expect(deps.phase()).toBe('idle');
    expect(events(deps, 'conversation_ended')).toHaveLength(1);
  });

  it('ends when the agent stops', async () => {
    const deps = await quietDesk();
    await sayOne(deps);
    const stopped = deps.agent.stop();
    await deps.clock.elapse(5000);
    await stopped;
    expect(events(deps, 'conversation_ended')).toHaveLength(1);
    expect(deps.clock.armed).toBe(0);
  });
});

describe('before the end of a conversation', () => {
  const TIMES = { endAfter: 40, warnBefore: 10, notice: false } as const;
  const endsInMs = (deps: Awaited<ReturnType<typeof quietDesk>>): number | null => {
    const endingAt = laneOf(deps).state.conversation?.endingAt ?? null;
    return endingAt === null ? null : endingAt - deps.clock.now();
  };
  /** Says a sentence, and waits until the warning. */
  const untilWarned = async (deps: Awaited<ReturnType<typeof quietDesk>>): Promise<void> => {
    for (let waitedMs = 0; endsInMs(deps) === null; waitedMs += 300) {
      if (waitedMs > 60_000) throw new Error('there is no warning');
      await quiet(deps, 300);
    }
  };

  it('asks once, with a soft sound, and the end comes when it was said', async () => {
    const deps = await quietDesk({ conversation: TIMES });
    await sayOne(deps);
    const writes = deps.played.length;
    await untilWarned(deps);
    const leftMs = endsInMs(deps) ?? 0;
    expect(leftMs).toBeGreaterThan(9000);
    expect(leftMs).toBeLessThanOrEqual(10_000);
    await quiet(deps, leftMs - 400);
    // The chime is heard and does not put off the end.
    expect(deps.played.length).toBeGreaterThan(writes);
    expect(events(deps, 'conversation_ended')).toEqual([]);
    await quiet(deps, 800);
    expect(events(deps, 'conversation_ended')).toHaveLength(1);
    await quiet(deps, 60_000);
    expect(events(deps, 'conversation_ended')).toHaveLength(1);
  });

  it.for([
    [
      'a word',
      (deps: Awaited<ReturnType<typeof quietDesk>>) => deps.service(heard({ id: 'w', text: 'Yes' })),
    ],
    [
      'a touch or a key',
      (deps: Awaited<ReturnType<typeof quietDesk>>) => deps.agent.carryOut('conversation', { do: 'begin' }),
    ],
    [
      'a translation that comes late',
      (deps: Awaited<ReturnType<typeof quietDesk>>) =>
        deps.service(spoke(PCM(300), { sentence: 'late', part: '0', language: 'es', last: true })),
    ],
  ] as const)('%s goes on, and the next silence is as long as the first', async ([, act]) => {
    const deps = await quietDesk({ conversation: TIMES });
    await sayOne(deps);
    await untilWarned(deps);
    await quiet(deps, 5000);
    await act(deps);
    await deps.clock.elapse(0);
    expect(endsInMs(deps)).toBeNull();
    await quiet(deps, 27_000);
    expect(endsInMs(deps)).toBeNull();
    await untilWarned(deps);
    await quiet(deps, 11_000);
    expect(events(deps, 'conversation_ended')).toHaveLength(1);
  });

  it('asks at half of a short conversation, and not at all with 0', async () => {
    const short = await quietDesk({ conversation: { endAfter: 12, warnBefore: 20, notice: false } });
    await sayOne(short);
    await untilWarned(short);
    expect(endsInMs(short)).toBeGreaterThan(5000);
    expect(endsInMs(short)).toBeLessThanOrEqual(6000);
    const never = await quietDesk({ conversation: { endAfter: 12, warnBefore: 0, notice: false } });
    await sayOne(never);
    while (laneOf(never).state.conversation !== null) {
      expect(endsInMs(never)).toBeNull();
      await quiet(never, 300);
    }
    expect(events(never, 'conversation_ended')).toHaveLength(1);
  });

  it('asks without a sound where the owner wants no chimes', async () => {
    const deps = await quietDesk({ conversation: TIMES }, { earcons: false });
    await sayOne(deps);
    const writes = deps.played.length;
    await untilWarned(deps);
    await quiet(deps, 3000);
    expect(deps.played.length).toBe(writes);
  });
});

describe('at the end of a conversation', () => {
  it('volume and languages are as before', async () => {
    const deps = await quietDesk({ conversation: { notice: false } });
    await sayOne(deps);
    deps.ask('volume', { percent: 35 });
    deps.ask('languages', { source: 'de', targets: ['fr'] });
    deps.ask('conversation', { do: 'end' });
    expect(laneOf(deps).state.options).toMatchObject({ volume: 80, source: 'en', targets: ['es'] });
  });

  it("a visitor's text that waits is not spoken to the next one, and an operator's is", async () => {
    const deps = await quietDesk({ conversation: { notice: false } }, { standbyAfter: 10 });
    await quiet(deps, 12_000);
    expect(deps.phase()).toBe('standby');
    const typed = deps.agent.carryOut('say', { text: 'Secret', language: 'es', translate: true });
    const refused = expect(typed).rejects.toThrow('the conversation has ended');
    deps.ask('say', { text: 'We close soon', language: 'es' });
    await deps.agent.carryOut('conversation', { do: 'end' });
    await refused;
    deps.liveAgain();
    await quiet(deps, 5000);
    expect(said(deps)).toEqual([['We close soon', 'es']]);
  });

  it('an order from before it stays', async () => {
    const deps = await quietDesk({ conversation: { notice: false } });
    deps.ask('volume', { percent: 35 });
    deps.ask('conversation', { do: 'begin' });
    deps.ask('volume', { percent: 90 });
    deps.ask('conversation', { do: 'end' });
    expect(laneOf(deps).state.options.volume).toBe(35);
  });

  it('a configuration that has changed meanwhile is in force', async () => {
    const deps = await quietDesk({ conversation: { notice: false } });
    deps.ask('conversation', { do: 'begin' });
    deps.deliver(DESIRED, { version: 1, lanes: [{ id: 'main', targets: ['fr'] }] }, { retain: true });
    deps.ask('conversation', { do: 'end' });
    expect(laneOf(deps).state.options.targets).toEqual(['fr']);
  });
});

describe('the notice', () => {
  const NOTICE = 'Una inteligencia artificial interpreta esta conversación. No se graba ni se guarda nada.';

  it("is spoken in the visitor's language directly behind the first translation", async () => {
    const deps = await quietDesk();
    const order: string[] = [];
    deps.agent.watch(({ event, effects }) => {
      if (event.type === 'service') order.push(event.said.type);
      if (effects.some(({ type }) => type === 'say')) order.push('say');
    });
    await sayOne(deps);
    await quiet(deps, 3000);
    expect(said(deps)).toEqual([[NOTICE, 'es']]);
    expect(order).toEqual(['understood', 'translated', 'spoke', 'say']);
    await quiet(deps, 20_000);
    expect(said(deps)).toHaveLength(1);
    expect(JSON.stringify([deps.logged, deps.published])).not.toContain('inteligencia');
  });

  it('is spoken at once when a command begins the conversation and no person speaks', async () => {
    const deps = await quietDesk();
    deps.ask('conversation', { do: 'begin' });
    await deps.clock.elapse(0);
    expect(said(deps)).toEqual([[NOTICE, 'es']]);
  });

  it('is spoken again in the next conversation', async () => {
    const deps = await quietDesk();
    deps.ask('conversation', { do: 'begin' });
    await quiet(deps, 1000);
    const sentence = { sentence: 'n', utterance: 'n', language: 'es', last: true } as const;
    deps.service(spoke(PCM(500), sentence));
    await quiet(deps, 3000);
    deps.ask('conversation', { do: 'end' });
    deps.ask('conversation', { do: 'begin' });
    await quiet(deps, 3000);
    expect(said(deps)).toHaveLength(2);
  });

  it('is not spoken after the end of a conversation in which it waited', async () => {
    const deps = await quietDesk();
    for (let chunk = 0; chunk < 4; chunk++) deps.speak();
    deps.service(heard({ id: 'a' }));
    expect(events(deps, 'conversation_started')).toHaveLength(1);
    deps.ask('conversation', { do: 'end' });
    // The best moment for a notice: directly behind a translation.
    deps.service(understood({ id: 'a', span: null }));
    deps.service(spoke(PCM(1300), { sentence: 'a', utterance: 'a', language: 'es', last: true }));
    await quiet(deps, 40_000);
    expect(said(deps)).toEqual([]);
  });

  it("is the owner's own text, in the language of the lane's offer", async () => {
    const own = { de: 'Hier dolmetscht eine KI.' };
    const deps = await quietDesk(
      { conversation: { notice: own } },
      { source: 'de', targets: ['en'], offer: ['de', 'fr'] },
    );
    deps.ask('conversation', { do: 'begin' });
    await deps.clock.elapse(0);
    expect(said(deps)).toEqual([[own.de, 'de']]);
    expect(laneOf(deps).state.conversation?.notice).toEqual({ language: 'de', text: own.de });
  });

  it('is for the screen alone when the service does not speak texts, and it is not asked again', async () => {
    const deps = await quietDesk();
    deps.ask('conversation', { do: 'begin' });
    deps.service(rejected('unknown message'));
    await deps.clock.elapse(1000);
    deps.ask('conversation', { do: 'end' });
    await deps.clock.elapse(3000);
    deps.ask('conversation', { do: 'begin' });
    await deps.clock.elapse(3000);
    expect(said(deps)).toHaveLength(1);
    expect(laneOf(deps).state.conversation?.notice).toMatchObject({ language: 'es', text: NOTICE });
  });

  it.each([
    ['it is off', { conversation: { notice: false } }, {}],
    ['the loudspeaker is a recording', {}, { playback: { driver: 'file', path: 'out.wav' } }],
  ])('is not spoken when %s', async (_name, config, lane) => {
    const deps = await quietDesk(config, lane);
    deps.ask('conversation', { do: 'begin' });
    await quiet(deps, 10_000);
    expect(said(deps)).toEqual([]);
  });
});

describe('a visitor at the screen', () => {
  it('begins a conversation, and its end undoes what the visitor has chosen', async () => {
    const deps = await quietDesk({ conversation: { notice: false } });
    await deps.agent.carryOut('volume', { percent: 95 });
    expect(events(deps, 'conversation_started')).toMatchObject([{ by: 'touch' }]);
    expect(laneOf(deps).state.options.volume).toBe(95);
    await deps.agent.carryOut('conversation', { do: 'end' });
    expect(laneOf(deps).state.options.volume).toBe(80);
    await deps.agent.carryOut('conversation', { do: 'end' });
    expect(events(deps, 'conversation_started')).toHaveLength(1);
    expect(events(deps, 'conversation_ended')).toHaveLength(1);
  });

  it('begins none with a command that is not possible', async () => {
    const deps = await quietDesk();
    await expect(deps.agent.carryOut('volume', { percent: 200 })).rejects.toThrow(/percent/);
    expect(events(deps, 'conversation_started')).toEqual([]);
  });
});

it('a reload changes the end of a conversation at once, while new keys need a restart', async () => {
  const deps = await quietDesk({ conversation: { notice: false } });
  const { config } = deps;
  expect(
    deps.agent.apply({ ...config, conversation: { endAfter: 20, warnBefore: 5, notice: false } }),
  ).toEqual([]);
  await sayOne(deps);
  await quiet(deps, 25_000);
  expect(events(deps, 'conversation_ended')).toHaveLength(1);
  const key = { device: '/dev/input/event0', key: 'KEY_F1', on: 'press' as const };
  const keys = [{ ...key, do: { command: 'mute', args: {} } }];
  expect(deps.agent.apply({ ...config, keys })).toEqual(['keys']);
});
