import { describe, expect, it } from 'vitest';
import type { FakeDeps } from '../fake-deps.ts';
import { createScreenDevice } from '../screen/screen-device.ts';

const CALL = { do: 'help', lane: 'main' } as const;
const called = (deps: FakeDeps) => deps.sent('event/help_called').map(({ body }) => body);
const answered = (deps: FakeDeps) => deps.sent('event/help_answered').map(({ body }) => body);
let asked = 0;
const ask = (deps: FakeDeps, args: object) => {
  asked += 1;
  deps.command('help', { id: `h${asked}`, args });
  return deps.answers('help').at(-1) as {
    status: string;
    data?: object;
    error?: { code: string; message: string };
  };
};

async function kiosk(more: object = {}) {
  const device = await createScreenDevice(
    { standbyAfter: 0 },
    {},
    { conversation: { notice: false }, ...more },
  );
  const { deps, view } = device;
  const shown = () => view.snapshot().help;
  /** The call in the retained state. */
  const published = async () => {
    await deps.clock.elapse(1000);
    return deps.sent('state').at(-1)?.body['help'];
  };
  return { ...device, shown, published };
}

describe('a call for staff', () => {
  it('is published, and shown as such when the broker has it', async () => {
    const { deps, actions, shown, published, changes } = await kiosk();
    const acknowledge = deps.withholdAcknowledgements();
    expect(shown()).toEqual({ state: 'none', by: null, mayCall: true });
    expect(await actions.act(CALL)).toBeNull();
    expect(shown()).toEqual({ state: 'calling', by: null, mayCall: false });
    expect(await published()).toBeNull();
    acknowledge(true);
    expect(changes.at(-1)).toMatchObject({ help: { state: 'called' } });
    expect(called(deps)).toMatchObject([{ lane: 'main', ts: expect.any(String) }]);
    expect(await published()).toMatchObject({ state: 'called', since: expect.any(String), by: null });
  });

  it('begins no conversation, and works while nothing interprets', async () => {
    const { deps, actions, shown } = await kiosk();
    deps.command('stop', { id: 'c1', args: {} });
    await deps.clock.elapse(10_000);
    expect(await actions.act(CALL)).toBeNull();
    await deps.clock.elapse(0);
    expect(shown()).toMatchObject({ state: 'called' });
    expect(deps.sent('event/conversation_started')).toEqual([]);
  });

  it('says that no one was reached without a connection, and is not published later', async () => {
    const { deps, actions, shown, published } = await kiosk();
    deps.bus.listener.down('unreachable', 'gone');
    expect(shown()).toMatchObject({ state: 'none', mayCall: false });
    expect(await actions.act(CALL)).toBeNull();
    expect(shown()).toEqual({ state: 'unreached', by: null, mayCall: false });
    deps.brokerUp(2);
    expect(called(deps)).toEqual([]);
    expect(await published()).toBeNull();
    expect(shown()).toEqual({ state: 'unreached', by: null, mayCall: true });
    expect(await actions.act(CALL)).toBeNull();
    await deps.clock.elapse(0);
    expect(shown()).toMatchObject({ state: 'called' });
  });

  it('is one in 30 s, however often the button is pressed', async () => {
    const { deps, actions, shown } = await kiosk();
    for (let press = 0; press < 50; press++) expect(await actions.act(CALL)).toBeNull();
    expect(called(deps)).toHaveLength(1);
    await actions.act({ do: 'end' });
    expect(shown()).toEqual({ state: 'none', by: null, mayCall: false });
    expect(await actions.act(CALL)).toMatchObject({ code: 'busy' });
    await deps.clock.elapse(30_000);
    expect(await actions.act(CALL)).toBeNull();
    expect(called(deps)).toHaveLength(2);
  });

  it('is answered once, and the second answer names who has answered', async () => {
    const { deps, actions, shown, published } = await kiosk();
    expect(ask(deps, { do: 'answer', by: 'Ann' })).toMatchObject({ error: { code: 'not_called' } });
    await actions.act(CALL);
    await deps.clock.elapse(0);
    expect(ask(deps, { do: 'answer', by: 'Ann' })).toMatchObject({ data: { state: 'answered', by: 'Ann' } });
    expect(ask(deps, { do: 'answer', by: 'Bob' })).toMatchObject({
      error: { code: 'answered', message: 'Ann has answered already' },
    });
    expect(shown()).toMatchObject({ state: 'answered', by: 'Ann' });
    expect(answered(deps)).toMatchObject([{ lane: 'main', by: 'Ann' }]);
    expect(await published()).toMatchObject({ state: 'answered', by: 'Ann' });
  });

  it('is unanswered after "help.answerWithin"', async () => {
    const { deps, actions, shown, published } = await kiosk({ help: { answerWithin: 60 } });
    await actions.act(CALL);
    await deps.clock.elapse(59_000);
    expect(shown()).toMatchObject({ state: 'called' });
    await deps.clock.elapse(2000);
    expect(shown()).toMatchObject({ state: 'unanswered', mayCall: true });
    expect(await published()).toMatchObject({ state: 'unanswered' });
    await deps.clock.elapse(120_000);
    expect(shown()).toMatchObject({ state: 'none' });
    expect(await published()).toBeNull();
  });

  it('ends with the conversation that the visitor ends, and outlives one that silence ends', async () => {
    const { deps, actions, shown } = await kiosk();
    await actions.act({ do: 'touch', lane: 'main' });
    await actions.act(CALL);
    await deps.clock.elapse(91_000);
    expect(deps.sent('event/conversation_ended')).toHaveLength(1);
    expect(shown()).toMatchObject({ state: 'called' });
    await actions.act({ do: 'touch', lane: 'main' });
    await actions.act({ do: 'end' });
    expect(shown()).toMatchObject({ state: 'none' });
  });

  it('prolongs the conversation that is under way', async () => {
    const { deps, actions } = await kiosk();
    await actions.act({ do: 'touch', lane: 'main' });
    await deps.clock.elapse(60_000);
    await actions.act(CALL);
    await deps.clock.elapse(60_000);
    expect(deps.sent('event/conversation_ended')).toEqual([]);
    expect(deps.sent('event/conversation_started')).toHaveLength(1);
  });

  it('is not possible where the owner has switched it off', async () => {
    const { deps, actions, shown } = await kiosk({ help: { answerWithin: null } });
    expect(shown()).toBeNull();
    expect(await actions.act(CALL)).toMatchObject({ code: 'unsupported' });
    expect(called(deps)).toEqual([]);
  });

  it('leaves no timer when the agent ends', async () => {
    const { deps, actions, view } = await kiosk();
    await actions.act(CALL);
    view.close();
    const stopped = deps.agent.stop();
    await deps.clock.elapse(20_000);
    await stopped;
    await deps.clock.elapse(300_000);
    expect(deps.agent.help.call).toMatchObject({ state: 'called' });
  });
});
