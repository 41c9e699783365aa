import { describe, expect, it } from 'vitest';
import { ready } from '../../service-events.ts';
import { createScreenDevice } from './screen-device.ts';

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

  it('are undone at the end of the conversation', async () => {
    const { actions, view } = await createScreenDevice({
      playback: { driver: 'file', path: 'o.wav', volume: 70 },
    });
    await actions.act({ do: 'louder', lane: 'main' });
    await actions.act({ do: 'louder', lane: 'main' });
    expect(await actions.act({ do: 'end' })).toBeNull();
    expect(view.snapshot()).toMatchObject({ lanes: [{ volume: 70 }], conversation: 2 });
  });

  it('stay when an operator has changed the volume since', async () => {
    const { deps, actions, view } = await createScreenDevice({
      playback: { driver: 'file', path: 'o.wav', volume: 70 },
    });
    await actions.act({ do: 'louder', lane: 'main' });
    deps.command('volume', { id: 'c1', args: { percent: 40 } });
    await deps.clock.elapse(10);
    await actions.act({ do: 'end' });
    expect(view.snapshot().lanes[0]?.volume).toBe(40);
  });

  it('speak a typed text in the language of the translation', async () => {
    const { deps, actions } = await createScreenDevice();
    void actions.act({ do: 'say', lane: 'main', text: 'Where is the lift?' });
    await deps.clock.elapse(2000);
    expect(deps.lastStream().calls).toContain('say ["Where is the lift?","es",true]');
    expect(JSON.stringify([deps.published, deps.logged])).not.toContain('lift');
  });

  it('tell why a text is not spoken', async () => {
    const { deps, actions } = await createScreenDevice();
    deps.command('stop', { id: 'c1', args: {} });
    await deps.clock.elapse(10_000);
    expect(await actions.act({ do: 'say', lane: 'main', text: 'Hello' })).toMatchObject({
      code: 'not_spoken',
    });
  });

  it('tell that a lane is unknown', async () => {
    const { actions } = await createScreenDevice();
    expect(await actions.act({ do: 'louder', lane: 'other' })).toEqual({
      code: 'unknown_lane',
      message: 'there is no lane "other"',
    });
  });
});
