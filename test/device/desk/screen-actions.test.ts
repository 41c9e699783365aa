import { describe, expect, it } from 'vitest';
import { ready, spoke, understood } from '../../service-events.ts';
import { createScreenDevice } from '../screen/screen-device.ts';

const typed = (language: string, text: string) => ({ do: 'say', lane: 'main', language, text }) as const;

describe('the actions on the screen', () => {
  it('change the language of the translation when it is offered', async () => {
    const { deps, actions, view } = await createScreenDevice({ offer: ['es', 'fr'] });
    const acted = actions.act({ do: 'language', lane: 'main', language: 'fr' });
    await deps.clock.elapse(3000);
    deps.service(ready('running', { targets: ['fr'] }));
    await deps.clock.elapse(3000);
    expect(await acted).toBeNull();
    expect(view.snapshot().lanes[0]).toMatchObject({ targets: ['fr'], offer: ['es', 'fr'] });
  });

  it('change no language that is not offered', async () => {
    const { actions } = await createScreenDevice({ offer: ['es', 'fr'] });
    expect(await actions.act({ do: 'language', lane: 'main', language: 'de' })).toEqual({
      code: 'invalid_args',
      message: 'language: "de" is not offered here',
    });
  });

  it('turn the volume up, to 100 at most', async () => {
    const { actions, view } = await createScreenDevice({
      playback: { driver: 'file', path: 'o.wav', volume: 85 },
    });
    const volumes: (number | undefined)[] = [];
    for (let press = 0; press < 3; press++) {
      expect(await actions.act({ do: 'louder', lane: 'main' })).toBeNull();
      volumes.push(view.snapshot().lanes[0]?.volume);
    }
    expect(volumes).toEqual([95, 100, 100]);
  });

  it('turn the volume down, to 10 at least, and never up from a volume below that', async () => {
    const { deps, actions, view } = await createScreenDevice({
      playback: { driver: 'file', path: 'o.wav', volume: 25 },
    });
    const volumes: (number | undefined)[] = [];
    const press = async () => {
      expect(await actions.act({ do: 'quieter', lane: 'main' })).toBeNull();
      volumes.push(view.snapshot().lanes[0]?.volume);
    };
    for (let presses = 0; presses < 3; presses++) await press();
    await deps.agent.carryOut('volume', { percent: 4 });
    await press();
    expect(volumes).toEqual([15, 10, 10, 4]);
  });

  it('speak the last translation again, without the service, and keep the conversation alive', async () => {
    const { deps, actions, view, changes, status } = await createScreenDevice({ standbyAfter: 0 });
    const repeat = () => actions.act({ do: 'repeat', lane: 'main', language: 'es' });
    expect(await repeat()).toEqual({
      code: 'invalid_args',
      message: 'language: nothing to repeat in "es"',
    });
    deps.service(understood({ id: 't1', text: 'Where is the lift?' }));
    const sound = new Uint8Array(48 * 1500).map((_, at) => (at % 2 === 0 ? 0 : 8 + (at % 7)));
    deps.service(spoke(sound, { sentence: 't1', language: 'es', last: true }));
    expect(changes.flatMap(({ lanes = [] }) => lanes.map(({ repeatable }) => repeatable)).at(-1)).toEqual([
      'es',
    ]);
    await deps.clock.elapse(2000);
    const { calls } = deps.lastStream();
    const isOwn = (call: string): boolean => call !== 'ping';
    const known = calls.filter(isOwn).length;
    const before = deps.played.length;
    expect(await repeat()).toBeNull();
    await deps.clock.elapse(1);
    expect(status()).toEqual({ kind: 'speaking' });
    await deps.clock.elapse(3000);
    expect(status()).toEqual({ kind: 'listening' });
    const bytes = deps.played.slice(before).reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(bytes).toBe(sound.byteLength);
    expect(calls.filter(isOwn).slice(known)).toEqual([]);
    await deps.clock.elapse(60_000);
    const again = deps.played.length;
    expect(await repeat()).toBeNull();
    // Until 90 s after the last sound, the conversation goes on.
    await deps.clock.elapse(60_000);
    expect(deps.played.length).toBeGreaterThan(again);
    expect(view.snapshot()).toMatchObject({ isTalking: true, lanes: [{ repeatable: ['es'] }] });
    await deps.clock.elapse(60_000);
    expect(view.snapshot()).toMatchObject({ isTalking: false, lanes: [{ repeatable: [] }] });
    expect(await repeat()).toMatchObject({ code: 'invalid_args' });
  });

  it('are undone at the end of the conversation', async () => {
    const { actions, view } = await createScreenDevice({
      playback: { driver: 'file', path: 'o.wav', volume: 70 },
    });
    await actions.act({ do: 'louder', lane: 'main' });
    await actions.act({ do: 'louder', lane: 'main' });
    expect(await actions.act({ do: 'end' })).toBeNull();
    expect(view.snapshot()).toMatchObject({ lanes: [{ volume: 70 }], conversation: 2 });
  });

  it('are undone at the end of the conversation when a visitor begins one in standby', async () => {
    const { deps, actions, view, status } = await createScreenDevice({
      playback: { driver: 'file', path: 'o.wav', volume: 70 },
      standbyAfter: 20,
    });
    for (let chunk = 0; chunk < 120; chunk++) {
      deps.speak(20);
      deps.lastStream().listener.pong();
    }
    expect(status()).toEqual({ kind: 'standby' });
    await actions.act({ do: 'louder', lane: 'main' });
    expect(deps.agent.lanes[0]?.phase).toBe('acquiring');
    expect(deps.sent('event/conversation_started').at(-1)?.body).toMatchObject({ by: 'touch' });
    expect(view.snapshot().lanes[0]?.volume).toBe(80);
    await deps.clock.elapse(91_000);
    expect(view.snapshot().lanes[0]?.volume).toBe(70);
  });

  it.each([
    { do: 'louder', lane: 'main' },
    { do: 'language', lane: 'main', language: 'fr' },
  ] as const)('are refused when the lane is stopped, and change nothing: $do', async (action) => {
    const { deps, actions, view } = await createScreenDevice({ offer: ['es', 'fr'] });
    deps.command('stop', { id: 'c1', args: {} });
    await deps.clock.elapse(10_000);
    const before = view.snapshot().lanes;
    expect(await actions.act(action)).toMatchObject({ code: 'stopped' });
    expect(view.snapshot().lanes).toEqual(before);
  });

  it('speak a typed text in the language of the translation', async () => {
    const { deps, actions, view } = await createScreenDevice();
    expect(view.snapshot().lanes[0]?.typing).toEqual([{ from: 'en', into: 'es' }]);
    void actions.act(typed('en', 'Where is the lift?'));
    await deps.clock.elapse(2000);
    expect(deps.lastStream().calls).toContain('say ["Where is the lift?","es",true]');
    expect(JSON.stringify([deps.published, deps.logged])).not.toContain('lift');
  });

  it('refuse a typed text when the lane does not translate from its language', async () => {
    const { deps, actions } = await createScreenDevice();
    expect(await actions.act(typed('es', 'Hola'))).toEqual({
      code: 'invalid_args',
      message: 'language: a text in "es" is not translated here',
    });
    expect(deps.lastStream().calls.filter((call) => call.startsWith('say'))).toEqual([]);
  });

  it('tell why a text is not spoken', async () => {
    const { deps, actions } = await createScreenDevice();
    deps.command('stop', { id: 'c1', args: {} });
    await deps.clock.elapse(10_000);
    expect(await actions.act(typed('en', 'Hello'))).toMatchObject({ code: 'stopped' });
  });

  it('begin a conversation by a touch, and wake the lane', async () => {
    const { deps, actions } = await createScreenDevice({ standbyAfter: 20 });
    for (let chunk = 0; chunk < 120; chunk++) {
      deps.speak(20);
      deps.lastStream().listener.pong();
    }
    expect(deps.agent.lanes[0]?.phase).toBe('standby');
    expect(await actions.act({ do: 'touch', lane: 'main' })).toBeNull();
    expect(deps.agent.lanes[0]?.phase).toBe('acquiring');
    expect(deps.sent('event/conversation_started').at(-1)?.body).toMatchObject({ by: 'touch' });
  });

  it('keep a conversation alive by each touch, and by nothing after the last one', async () => {
    const { deps, actions, view } = await createScreenDevice({ standbyAfter: 0 });
    for (let touch = 0; touch < 4; touch++) {
      await actions.act({ do: 'touch', lane: 'main' });
      await deps.clock.elapse(60_000);
    }
    expect(view.snapshot().conversation).toBe(1);
    await deps.clock.elapse(29_000);
    expect(view.snapshot().conversation).toBe(1);
    await deps.clock.elapse(2000);
    expect(view.snapshot().conversation).toBe(2);
    expect(deps.sent('event/conversation_started')).toHaveLength(1);
  });

  it('begin no conversation by a touch when the lane is stopped', async () => {
    const { deps, actions } = await createScreenDevice();
    deps.command('stop', { id: 'c1', args: {} });
    await deps.clock.elapse(10_000);
    expect(await actions.act({ do: 'touch', lane: 'main' })).toMatchObject({ code: 'stopped' });
    expect(deps.sent('event/conversation_started')).toEqual([]);
  });

  it('tell that a lane is unknown', async () => {
    const { actions } = await createScreenDevice();
    expect(await actions.act({ do: 'louder', lane: 'other' })).toEqual({
      code: 'unknown_lane',
      message: 'there is no lane "other"',
    });
  });
});

describe('the buttons that say who speaks', () => {
  const press = (speaker: 'source' | 'target', held: boolean) =>
    ({ do: 'turn', lane: 'main', speaker, held }) as const;

  it('turn the direction when "twoWay" is "button"', async () => {
    const { actions, view, deps } = await createScreenDevice({ twoWay: 'button' });
    expect(view.snapshot().lanes[0]?.turn).toEqual({
      mode: 'button',
      speakers: ['source', 'target'],
      speaker: 'source',
      isOpen: true,
    });
    expect(await actions.act(press('target', true))).toBeNull();
    expect(view.snapshot().lanes[0]?.turn).toMatchObject({ speaker: 'target' });
    expect(deps.sent('event/conversation_started').at(-1)?.body).toMatchObject({ by: 'touch' });
  });

  it('open the microphone as long as they are held when "twoWay" is "hold"', async () => {
    const { actions, view, status, deps } = await createScreenDevice({ twoWay: 'hold', earcons: false });
    expect(status()).toEqual({ kind: 'muted' });
    await actions.act(press('source', true));
    expect(status()).toEqual({ kind: 'listening' });
    expect(view.snapshot().lanes[0]?.turn).toMatchObject({ mode: 'hold', speaker: 'source', isOpen: true });
    await actions.act(press('source', false));
    deps.clock.advance(400);
    expect(status()).toEqual({ kind: 'muted' });
  });

  it('close the microphone when the page is gone, and not before', async () => {
    const { actions, status, deps } = await createScreenDevice({ twoWay: 'hold', earcons: false });
    for (let again = 0; again < 4; again++) {
      await actions.act(press('source', true));
      await deps.clock.elapse(2000);
      expect(status()).toEqual({ kind: 'listening' });
    }
    const turns = deps.agent.lanes[0]?.state.twoWay.turnedAt ?? 0;
    // A repeated button neither chimes nor ends what the loudspeaker says.
    expect(turns).toBeLessThan(deps.clock.now() - 7000);
    await deps.clock.elapse(4000);
    expect(status()).toEqual({ kind: 'muted' });
  });

  it('of the one who pressed last counts when two people hold theirs', async () => {
    const { actions, status, view, deps } = await createScreenDevice({ twoWay: 'hold', earcons: false });
    await actions.act(press('source', true));
    await actions.act(press('target', true));
    await actions.act(press('source', false));
    // Longer than a last syllable after a release.
    deps.clock.advance(400);
    expect(status()).toEqual({ kind: 'listening' });
    expect(view.snapshot().lanes[0]?.turn).toMatchObject({ speaker: 'target' });
  });

  it('open the microphone of one direction as long as they are held when "pushToTalk" is set', async () => {
    const { actions, view, status, deps } = await createScreenDevice({ pushToTalk: true, earcons: false });
    const heard = () => deps.lastStream().audio.some((pcm) => pcm.some((byte) => byte !== 0));
    expect(view.snapshot().lanes[0]?.turn).toEqual({
      mode: 'hold',
      speakers: ['source'],
      speaker: 'source',
      isOpen: false,
    });
    for (let chunk = 0; chunk < 6; chunk++) deps.speak();
    expect([status(), heard()]).toEqual([{ kind: 'muted' }, false]);
    expect(await actions.act(press('source', true))).toBeNull();
    for (let chunk = 0; chunk < 6; chunk++) deps.speak();
    expect([status(), heard()]).toEqual([{ kind: 'listening' }, true]);
    expect(await actions.act(press('source', false))).toBeNull();
    deps.clock.advance(400);
    expect(status()).toEqual({ kind: 'muted' });
    const tasks = deps.lastStream().calls.filter((call) => call.startsWith('runTask'));
    expect(tasks).toHaveLength(1);
    expect(await actions.act(press('target', true))).toMatchObject({ code: 'invalid_args' });
  });

  it('leave no timer when the screen is closed', async () => {
    const { actions, deps } = await createScreenDevice({ twoWay: 'hold', earcons: false });
    await actions.act(press('source', true));
    const { armed } = deps.clock;
    actions.close();
    expect(deps.clock.armed).toBe(armed - 1);
  });

  it('begin no conversation when a button is released after its end', async () => {
    const { actions, deps, status } = await createScreenDevice({ twoWay: 'hold', earcons: false });
    await actions.act(press('source', true));
    deps.command('conversation', { id: 'c1', args: { do: 'end' } });
    expect(await actions.act(press('source', false))).toBeNull();
    await deps.clock.elapse(6000);
    expect(status()).toEqual({ kind: 'muted' });
    expect(deps.sent('event/conversation_started')).toHaveLength(1);
  });

  it('are refused when no button says who speaks', async () => {
    const { actions, view } = await createScreenDevice({ twoWay: 'auto' });
    expect(view.snapshot().lanes[0]?.turn).toBeNull();
    expect(await actions.act(press('source', true))).toMatchObject({ code: 'invalid_args' });
  });
});

describe('the notice on the screen', () => {
  it("is the one of the conversation, in the visitor's language", async () => {
    const { actions, view, deps } = await createScreenDevice();
    const before = view.snapshot().notices;
    await actions.act({ do: 'louder', lane: 'main' });
    const { notice } = deps.agent.lanes[0]?.state.conversation ?? {};
    expect(notice?.text).toContain('inteligencia artificial');
    expect(before).toContainEqual(notice);
    expect(before.map(({ language }) => language)).toEqual(['en', 'es']);
  });

  it("is the owner's own text, and none when it is switched off", async () => {
    const own = await createScreenDevice({}, {}, { conversation: { notice: { es: 'Una IA.' } } });
    expect(own.view.snapshot().notices).toContainEqual({ language: 'es', text: 'Una IA.' });
    const none = await createScreenDevice({}, {}, { conversation: { notice: false } });
    expect(none.view.snapshot().notices).toEqual([]);
  });
});
