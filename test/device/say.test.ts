import { describe, expect, it } from 'vitest';
import { rejected, spoke } from '../service-events.ts';
import { createFakeDeps, type FakeDeps, testConfig } from './fake-deps.ts';
import { createScheduledAgent, type ScheduledAgent } from './scheduled-agent.ts';

const PCM = (ms: number) => new Uint8Array(ms * 48);
let count = 0;
/** Sends the command; each call of the result returns its answers so far. */
const say = (deps: FakeDeps, args: object) => {
  const id = `say${count++}`;
  deps.command('say', { id, args });
  return () => deps.answers('say').filter((answer) => answer['id'] === id);
};
const TEXT = { text: 'El museo cierra en diez minutos.', language: 'es' };
const spoken = (deps: FakeDeps) => deps.lastStream().calls.filter((call) => call.startsWith('say '));
const speaks = (deps: FakeDeps, sentence: string, ms = 400) =>
  deps.service(spoke(PCM(ms), { sentence, language: 'es', utterance: `${sentence}/0/es`, last: true }));
const quietKiosk = async (): Promise<ScheduledAgent> => {
  const deps = createScheduledAgent({});
  await deps.goLive();
  deps.clock.advance(3000);
  return deps;
};

describe('say', () => {
  it('is accepted, spoken by the service, and answered ok once it was heard', async () => {
    const deps = await quietKiosk();
    const answers = say(deps, TEXT);
    expect(spoken(deps)).toEqual([`say ${JSON.stringify([TEXT.text, 'es', false])}`]);
    await deps.clock.elapse(1000);
    speaks(deps, 'tts-1', 2000);
    await deps.clock.elapse(1500);
    expect(answers()).toMatchObject([{ status: 'accepted' }]);
    await deps.clock.elapse(2000);
    expect(answers()).toMatchObject([
      { status: 'accepted' },
      { status: 'ok', data: { lanes: [{ id: 'main', played_ms: 2000 }] } },
    ]);
    expect(JSON.stringify(deps.logged)).not.toContain('museo');
    expect(JSON.stringify(deps.published.filter(({ topic }) => topic.endsWith('/state')))).not.toContain(
      'museo',
    );
  });

  it('wakes a lane in standby', async () => {
    const deps = createScheduledAgent({});
    await deps.goLive();
    deps.deliver('dragoman/v1/museum/kiosk-01/config/desired', { version: 1, lanes: [{ standbyAfter: 5 }] });
    await deps.clock.elapse(8000);
    deps.closeDrained();
    expect(deps.phase()).toBe('standby');
    const answers = say(deps, TEXT);
    deps.liveAgain();
    await deps.clock.elapse(2500);
    expect(spoken(deps)).toHaveLength(1);
    speaks(deps, 'tts-1');
    await deps.clock.elapse(2500);
    expect(answers().at(-1)).toMatchObject({ status: 'ok' });
  });

  it("is refused with the service's message when the service speaks no texts", async () => {
    const deps = await quietKiosk();
    const answers = say(deps, TEXT);
    const text = 'no texts are spoken';
    deps.service(rejected(text));
    await deps.clock.elapse(10);
    expect(answers().at(-1)).toMatchObject({
      status: 'error',
      error: { code: 'rejected', message: `the service says: NOT_VALID: ${text}` },
    });
    expect(deps.phase()).toBe('live');
  });

  it('is refused at once with the fix when it could not be heard', async () => {
    const deps = await quietKiosk();
    deps.command('stop', { id: 'stop-1' });
    expect(say(deps, TEXT)().at(-1)).toMatchObject({
      error: { code: 'not_spoken', message: 'lane "main" is stopped: send start first' },
    });
  });

  it('accepts the longest text that the service accepts', async () => {
    const deps = await quietKiosk();
    say(deps, { text: 'x'.repeat(2048), language: 'es' });
    expect(spoken(deps)).toHaveLength(1);
  });

  it('ends the session and is answered when the stream throws', async () => {
    const deps = createFakeDeps(testConfig({ standbyAfter: 0 }), {}, (given) => ({
      ...given,
      openStream: (url, listener) => ({
        ...given.openStream(url, listener),
        say: () => {
          throw new TypeError('on purpose');
        },
      }),
    }));
    deps.expectDefects();
    await deps.goLive();
    deps.clock.advance(3000);
    const answers = say(deps, TEXT);
    await deps.clock.elapse(100);
    expect(answers().at(-1)).toMatchObject({ error: { code: 'not_spoken' } });
    expect(deps.defects).toEqual(['stream.say']);
  });

  it('is answered when the agent ends, and leaves no timer', async () => {
    const deps = await quietKiosk();
    const answers = [say(deps, TEXT), say(deps, TEXT)];
    const stopped = deps.agent.stop();
    await deps.clock.elapse(6000);
    await stopped;
    for (const each of answers) expect(each().filter(({ status }) => status === 'error')).toHaveLength(1);
    expect(deps.clock.armed).toBe(0);
  });
});
