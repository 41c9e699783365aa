import { describe, expect, it } from 'vitest';
import type { KeyDeviceListener } from '../../../src/ports/keys.ts';
import { keyCode } from '../../../src/protocol/key-names.ts';
import { ready, spoke, understood } from '../../service-events.ts';
import { createFakeDeps, testConfig } from '../fake-deps.ts';

const DEVICE = '/dev/input/event7';
const KEYPAD = { KEY_A: 'open', KEY_LEFT: 'back', KEY_RIGHT: 'next', KEY_ENTER: 'choose', KEY_UP: 'repeat' };
type Key = (typeof KEYPAD)[keyof typeof KEYPAD];
const keys = Object.entries(KEYPAD).map(([key, what]) => ({
  device: DEVICE,
  key,
  on: 'press',
  do: { command: 'menu', args: { do: what } },
}));
/** Each sound lasts a second. */
const SOUND = new Uint8Array(new Int16Array(24_000).fill(900).buffer);

/** A kiosk with its keypad. A visitor who does not see it hears only which sounds are played. */
async function kiosk(more: object = {}, hasSounds = true) {
  let keypad: KeyDeviceListener | null = null;
  const heard: string[] = [];
  const lane = { offer: ['es', 'de', 'fr'], standbyAfter: 0, earcons: false, ...more };
  const deps = createFakeDeps(testConfig(lane, { keys, conversation: { notice: false } }), {
    openKeyDevice: (_path, listener) => {
      keypad = listener;
      return { close() {} };
    },
    ...(hasSounds && {
      loadMenuSound: async (language: string, sound: string) => {
        heard.push(`${language}/${sound}`);
        return SOUND;
      },
    }),
  });
  await deps.goLive();
  const press = async (key: Key): Promise<void> => {
    const [name = ''] = Object.entries(KEYPAD).find(([, what]) => what === key) ?? [];
    const code = keyCode(name) ?? 0;
    keypad?.changed({ code, isDown: true });
    keypad?.changed({ code, isDown: false });
    await deps.clock.elapse(100);
  };
  /** The service answers, and takes the languages. */
  const answer = (): void => {
    const { listener, calls } = deps.lastStream();
    listener.pong();
    const { targets } = deps.agent.lanes[0]?.state.options ?? {};
    if (calls.at(-1)?.startsWith('askForTask')) deps.service(ready('running', { targets: targets ?? null }));
  };
  /** What is heard within this time. */
  const hear = async (ms = 3000): Promise<string[]> => {
    for (let left = ms; left > 0; left -= 100) {
      await deps.clock.elapse(Math.min(100, left));
      answer();
    }
    await deps.clock.elapse(0);
    return heard.splice(0);
  };
  /** Presses `next` until this is heard, and chooses it. */
  const find = async (wanted: string): Promise<string[]> => {
    for (let tries = 0; tries < 10; tries++) {
      await press('next');
      if ((await hear(1500)).includes(wanted)) {
        await press('choose');
        return await hear();
      }
    }
    throw new Error(`${wanted} is not in the menu`);
  };
  return { deps, press, hear, find, lane: () => deps.agent.lanes[0]?.state };
}

describe('the spoken menu of a kiosk', () => {
  it('reaches everything by keypad alone, from idle to the end', async () => {
    const { deps, press, hear, find, lane } = await kiosk();
    await press('open');
    const named: string[] = [];
    while (!named.includes('de/name')) named.push(...(await hear(100)));
    expect(named).toEqual(['es/menuKeys', 'es/name', 'de/name']);
    await press('choose');
    expect(await hear(6000)).toEqual(['de/name', 'de/talk']);
    expect(lane()?.options.targets).toEqual(['de']);
    expect(deps.sent('event/conversation_started').map(({ body }) => body['by'])).toEqual(['touch']);
    await press('choose');
    expect(await hear()).toEqual(['de/begin']);
    expect(deps.agent.menu.shown()).toBeNull();

    await press('open');
    expect(await hear()).toEqual(['de/menuKeys', 'de/talk']);
    expect(await find('de/repeat')).toEqual(['de/nothingToRepeat']);
    deps.service(understood({ id: 'a', text: 'Hello.' }));
    deps.service(spoke(SOUND, { sentence: 'a', language: 'de', last: true }));
    await hear();
    const before = deps.played.length;
    expect(await find('de/repeat')).toEqual([]);
    expect(deps.played.length).toBeGreaterThan(before);

    const volume = lane()?.options.volume ?? 0;
    expect(await find('de/quieter')).toEqual(['de/quieter']);
    expect(lane()?.options.volume).toBe(volume - 10);
    expect(await find('de/louder')).toEqual(['de/louder']);
    expect(lane()?.options.volume).toBe(volume);

    expect(await find('de/callStaff')).toEqual(['de/called']);
    expect(deps.sent('event/help_called')).toHaveLength(1);
    expect(await find('de/end')).toEqual(['de/menuClosed']);
    expect(deps.sent('event/conversation_ended')).toHaveLength(1);
    expect(lane()).toMatchObject({ conversation: null, options: { targets: ['es'] } });
    expect(await hear(60_000)).toEqual([]);
    expect(deps.agent.menu.shown()).toBeNull();
  });

  it('keeps the conversation from ending while its keys are pressed', async () => {
    const { deps, press, hear } = await kiosk();
    deps.command('conversation', { id: 'c1', args: { do: 'begin' } });
    for (let times = 0; times < 10; times++) {
      await press('next');
      await hear(20_000);
    }
    expect(deps.sent('event/conversation_ended')).toEqual([]);
    await hear(120_000);
    expect(deps.sent('event/conversation_ended')).toHaveLength(1);
  });

  it('does not begin a conversation by being opened, and needs no session', async () => {
    const { deps, press, hear } = await kiosk();
    deps.command('stop', { id: 'c1', args: {} });
    await deps.clock.elapse(20_000);
    await press('open');
    expect((await hear(2500)).slice(0, 2)).toEqual(['es/menuKeys', 'es/name']);
    await press('choose');
    expect(await hear()).toEqual(['es/failed', 'es/ask']);
    expect(deps.sent('event/conversation_started')).toEqual([]);
  });

  it('is silent while a translation is heard, and continues after it', async () => {
    const { deps, press, hear } = await kiosk();
    deps.command('conversation', { id: 'c1', args: { do: 'begin' } });
    await press('open');
    expect(await hear(500)).toEqual(['es/menuKeys']);
    const written = deps.played.length;
    for (const sentence of ['a', 'b', 'c'])
      deps.service(spoke(SOUND, { sentence, language: 'es', last: true }));
    await press('next');
    await press('next');
    expect(await hear(2000)).toEqual([]);
    expect(deps.played.length).toBeGreaterThan(written);
    expect(deps.agent.menu.shown()).toEqual({ lane: 'main', item: 'quieter' });
    expect(await hear(2500)).toEqual(['es/quieter']);
  });

  it('leaves no timer once the kiosk has stopped', async () => {
    const { deps, press, hear } = await kiosk();
    await press('open');
    await hear(500);
    const stopped = deps.agent.stop();
    await deps.clock.elapse(10_000);
    await stopped;
    expect(deps.clock.armed).toBe(0);
  });

  it('says what is missing when its sounds are not installed', async () => {
    const { deps, press } = await kiosk({}, false);
    await press('open');
    expect(deps.logged.map(([, sentence]) => sentence)).toContainEqual(
      expect.stringMatching(
        /the command of a key was refused: the sounds of the spoken menu are not installed/,
      ),
    );
    deps.command('menu', { id: 'm1', args: { do: 'open' } });
    expect(deps.answers('menu')).toMatchObject([{ status: 'error', error: { code: 'unsupported' } }]);
    expect(deps.agent.menu.shown()).toBeNull();
  });
});
