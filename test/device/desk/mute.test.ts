import { describe, expect, it } from 'vitest';
import { laneOf, quiet, quietDesk, sayOne } from './desk.ts';

const SHORT = { conversation: { endAfter: 30, notice: false } };
type Deps = Awaited<ReturnType<typeof quietDesk>>;

const byVisitor = (deps: Deps, command: string) => deps.agent.carryOut(command, {});
/** Whether the service receives silence while a visitor speaks. */
async function isMuted(deps: Deps): Promise<boolean> {
  const before = deps.lastStream().audio.length;
  for (let chunk = 0; chunk < 4; chunk++) {
    deps.speak();
    deps.lastStream().listener.pong();
    await deps.clock.elapse(0);
  }
  const sent = deps.lastStream().audio.slice(before);
  expect(sent.length).toBeGreaterThan(0);
  return sent.every((pcm) => pcm.every((byte) => byte === 0));
}
/** The state of the microphone as answers and the retained status give it. */
async function reported(deps: Deps) {
  await deps.clock.elapse(6000);
  const { data } = deps.ask('volume', { percent: 80 }) as { data?: { lanes: { muted: boolean }[] } };
  return [data?.lanes[0]?.muted, deps.statusTold()];
}
const MUTED = [true, ['idle', ['muted']]];
const LISTENING = [false, ['ready', []]];

describe('a mute by command', () => {
  it.each([
    ['during a conversation', true],
    ['before it', false],
  ])('lasts until "unmute" when it comes %s, and the conversation ends', async (_when, isInTalk) => {
    const deps = await quietDesk(SHORT, { earcons: false });
    if (isInTalk) await sayOne(deps);
    expect(deps.ask('mute')).toMatchObject({ status: 'ok', data: { lanes: [{ muted: true }] } });
    if (!isInTalk) deps.ask('conversation', { do: 'begin' });
    await quiet(deps, 40_000);
    expect(deps.sent('event/conversation_ended')).toHaveLength(1);
    expect(await isMuted(deps)).toBe(true);
    expect(await reported(deps)).toEqual(MUTED);
    expect(deps.ask('unmute')).toMatchObject({ data: { lanes: [{ muted: false }] } });
    expect(await isMuted(deps)).toBe(false);
    expect(await reported(deps)).toEqual(LISTENING);
  });

  it('is not lifted by a visitor', async () => {
    const deps = await quietDesk(SHORT, { earcons: false });
    deps.ask('mute');
    await byVisitor(deps, 'unmute');
    expect(await isMuted(deps)).toBe(true);
    await byVisitor(deps, 'mute');
    await byVisitor(deps, 'unmute');
    expect(await isMuted(deps)).toBe(true);
    await deps.agent.carryOut('conversation', { do: 'end' });
    expect(await isMuted(deps)).toBe(true);
    expect(await reported(deps)).toEqual(MUTED);
  });
});

describe('a mute by a visitor', () => {
  it('lasts until the end of the conversation', async () => {
    const deps = await quietDesk(SHORT, { earcons: false });
    await byVisitor(deps, 'mute');
    expect(await isMuted(deps)).toBe(true);
    expect(await reported(deps)).toEqual(MUTED);
    await quiet(deps, 40_000);
    expect(deps.sent('event/conversation_ended')).toHaveLength(1);
    expect(await isMuted(deps)).toBe(false);
    expect(await reported(deps)).toEqual(LISTENING);
  });

  it('ends with the visitor\'s "unmute"', async () => {
    const deps = await quietDesk(SHORT, { earcons: false });
    await byVisitor(deps, 'mute');
    await byVisitor(deps, 'unmute');
    expect(await isMuted(deps)).toBe(false);
  });

  it('leaves a mute by command in force when the conversation ends', async () => {
    const deps = await quietDesk(SHORT, { earcons: false });
    await byVisitor(deps, 'mute');
    deps.ask('mute');
    await deps.agent.carryOut('conversation', { do: 'end' });
    expect(laneOf(deps).state.conversation).toBeNull();
    expect(await isMuted(deps)).toBe(true);
  });

  it('ends with "unmute" by command: the answer is true', async () => {
    const deps = await quietDesk(SHORT, { earcons: false });
    await byVisitor(deps, 'mute');
    expect(deps.ask('unmute')).toMatchObject({ data: { lanes: [{ muted: false }] } });
    expect(await isMuted(deps)).toBe(false);
  });
});
