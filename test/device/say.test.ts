import { describe, expect, it } from 'vitest';
import { closed, heard, rejected, spoke } from '../service-events.ts';
import { createFakeDeps, type FakeDeps, testConfig } from './fake-deps.ts';
import { createScheduledAgent, hours, type ScheduledAgent } from './scheduled-agent.ts';

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
const quietKiosk = async (config = {}): Promise<ScheduledAgent> => {
  const deps = createScheduledAgent(config);
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

  it('translates when requested', async () => {
    const deps = await quietKiosk();
    say(deps, { text: 'We close', language: 'es', translate: true });
    expect(spoken(deps)).toEqual([`say ${JSON.stringify(['We close', 'es', true])}`]);
  });

  it('waits for the current speaker, at most 20 s, and several texts wait for each other', async () => {
    const deps = await quietKiosk();
    for (let chunk = 0; chunk < 3; chunk++) deps.speak();
    const first = say(deps, TEXT);
    const second = say(deps, { ...TEXT, text: 'Adiós' });
    const began = deps.clock.now();
    while (spoken(deps).length === 0 && deps.clock.now() - began < 60_000) {
      deps.speak();
      deps.service(heard());
    }
    expect(deps.clock.now() - began).toBeGreaterThanOrEqual(20_000);
    expect(deps.clock.now() - began).toBeLessThan(22_000);
    speaks(deps, 'tts-1');
    await deps.clock.elapse(4000);
    expect(first().at(-1)).toMatchObject({ status: 'ok' });
    expect(second()).toMatchObject([{ status: 'accepted' }]);
    await deps.clock.elapse(20_000);
    expect(spoken(deps).at(-1)).toContain('Adi');
  });

  it('speaks a long text in parts, one after the other', async () => {
    const deps = await quietKiosk();
    const sentence = 'El museo cierra en diez minutos y abre de nuevo el martes. ';
    const answers = say(deps, { text: sentence.repeat(14), language: 'es' });
    for (let piece = 1; piece <= 3; piece++) {
      expect(spoken(deps)).toHaveLength(piece);
      speaks(deps, `tts-${piece}`, 1000);
      await deps.clock.elapse(2500);
    }
    expect(answers().at(-1)).toMatchObject({ status: 'ok', data: { lanes: [{ played_ms: 3000 }] } });
    const said = spoken(deps).map((call) => (JSON.parse(call.slice(4)) as [string])[0]);
    expect(said.join(' ')).toBe(sentence.repeat(14).trim());
    expect(said.every((text) => text.length <= 400)).toBe(true);
  });

  it('waits for the end of a text of minutes, without a session timeout', async () => {
    const deps = await quietKiosk();
    const sentence = 'El museo cierra en diez minutos y abre de nuevo el martes. ';
    const long = say(deps, { text: sentence.repeat(30), language: 'es' });
    const next = say(deps, TEXT);
    const pieces = Math.ceil((sentence.length * 30) / 400) + 1;
    for (let piece = 1; long().at(-1)?.['status'] !== 'ok' && piece <= pieces; piece++) {
      speaks(deps, `tts-${piece}`, 25_000);
      await deps.clock.elapse(26_500);
    }
    expect(long()).toMatchObject([{ status: 'accepted' }, { status: 'ok' }]);
    await deps.clock.elapse(2000);
    speaks(deps, 'tts-next');
    await deps.clock.elapse(3000);
    expect(next()).toMatchObject([{ status: 'accepted' }, { status: 'ok' }]);
  });

  it('speaks the next text when a text of minutes fails at its end', async () => {
    const deps = await quietKiosk();
    const sentence = 'El museo cierra en diez minutos y abre de nuevo el martes. ';
    const long = say(deps, { text: sentence.repeat(30), language: 'es' });
    const next = say(deps, TEXT);
    for (let piece = 1; piece <= 4; piece++) {
      speaks(deps, `tts-${piece}`, 25_000);
      await deps.clock.elapse(26_500);
    }
    // The service stays silent: the fifth piece fails.
    await deps.clock.elapse(16_000);
    expect(long().at(-1)).toMatchObject({ status: 'error', error: { code: 'not_spoken' } });
    expect(next()).toMatchObject([{ status: 'accepted' }]);
    speaks(deps, 'tts-next');
    await deps.clock.elapse(3000);
    expect(next()).toMatchObject([{ status: 'accepted' }, { status: 'ok' }]);
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

  it('is unsupported when the service does not know such messages', async () => {
    const deps = await quietKiosk();
    const answers = say(deps, TEXT);
    const text = 'unknown message type tts_task';
    deps.service({ ...rejected(text), isUnknownKind: true });
    await deps.clock.elapse(10);
    expect(answers().at(-1)).toMatchObject({
      error: { code: 'unsupported', message: expect.stringContaining(text) },
    });
    expect(deps.phase()).toBe('live');
  });

  it('fails when the service sends no audio, or when the session ends', async () => {
    const deps = await quietKiosk();
    const silent = say(deps, TEXT);
    await deps.clock.elapse(15_100);
    expect(silent().at(-1)).toMatchObject({
      status: 'error',
      error: { code: 'not_spoken', message: expect.stringContaining('15 s') },
    });
    const lost = say(deps, TEXT);
    await deps.clock.elapse(600);
    deps.lastStream().listener.said(closed());
    await deps.clock.elapse(10);
    expect(lost().at(-1)).toMatchObject({
      error: { code: 'not_spoken', message: expect.stringContaining('session ended') },
    });
    const never = say(deps, TEXT);
    await deps.clock.elapse(91_000);
    expect(never().at(-1)).toMatchObject({
      error: { code: 'not_spoken', message: 'lane "main" had no session for the text within 90 s' },
    });
  });

  it('is refused at once with the fix when it could not be heard', async () => {
    const deps = await quietKiosk();
    deps.command('stop', { id: 'stop-1' });
    expect(say(deps, TEXT)().at(-1)).toMatchObject({
      error: { code: 'not_spoken', message: 'lane "main" is stopped: send start first' },
    });
    const shut = createScheduledAgent({ schedule: hours('20:00', '21:00') });
    await shut.agent.start();
    shut.brokerUp();
    expect(say(shut, TEXT)().at(-1)).toMatchObject({ error: { code: 'closed' } });
    const broken = await quietKiosk();
    broken.loudspeaker.fault({ code: 'lost', message: 'it is unplugged' });
    expect(say(broken, TEXT)().at(-1)).toMatchObject({
      error: { code: 'not_spoken', message: expect.stringContaining('loudspeaker') },
    });
    const parked = createScheduledAgent({});
    await parked.agent.start();
    parked.brokerUp();
    parked.deliver('dragoman/v1/museum/kiosk-01/token/res', {
      id: parked.lastRequest().id,
      ok: false,
      error: { code: 'no', title: 'No', detail: 'not this device', final: true, retry_after_s: null },
    });
    expect(say(parked, TEXT)().at(-1)).toMatchObject({
      error: { code: 'not_spoken', message: expect.stringContaining('not this device') },
    });
  });

  it('is refused when the budget is used up, and when too many texts wait', async () => {
    const deps = await quietKiosk({ budget: { minutesPerDay: 10 } });
    const waiting = Array.from({ length: 8 }, () => say(deps, TEXT));
    expect(say(deps, TEXT)().at(-1)).toMatchObject({
      error: {
        code: 'busy',
        message: '8 texts are already waiting for lane "main": send the text again later',
      },
    });
    await deps.clock.elapse(11 * 60_000);
    for (const answers of waiting) expect(answers().at(-1)?.['status']).toBe('error');
    expect(say(deps, TEXT)().at(-1)).toMatchObject({ error: { code: 'budget' } });
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
