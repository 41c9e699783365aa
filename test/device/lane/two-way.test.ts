import { describe, expect, it } from 'vitest';
import type { LaneOptions, Speaker } from '../../../src/device/lane/state/lane-options.ts';
import { isSaidBack } from '../../../src/device/lane/two-way/two-way.ts';
import { heard, ready, rejected, understood } from '../../service-events.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

class Desk extends LaneHarness {
  constructor(twoWay: LaneOptions['twoWay'], options: Partial<LaneOptions> = {}) {
    super({ options: { twoWay: twoWay ?? 'off', earcons: true, ...options } });
  }
  press(speaker: Speaker): void {
    this.step({ type: 'turn', speaker, held: true });
  }
  release(): void {
    this.step({ type: 'turn', speaker: this.state.twoWay.speaker, held: false });
  }
  /** The tasks and the sound that the service got, in order. */
  get received(): string {
    return this.log
      .flatMap((effect) => {
        if (effect.type === 'send_task') return [` ${effect.source}>${effect.targets.join('+')} `];
        if (effect.type !== 'send_audio') return [];
        return [effect.pcm === null || effect.pcm[3] === 0 ? '.' : 'S'];
      })
      .join('');
  }
  get played(): string[] {
    return this.all('play').map(({ kind, language }) => `${kind} ${language ?? ''}`.trim());
  }
}

describe('a lane of two directions', () => {
  it('has the service detect who speaks when twoWay is auto', () => {
    const desk = new Desk('auto').goLive();
    expect(desk.last('send_task')).toMatchObject({ source: 'en', targets: ['es'], speaker: 'both' });
  });

  it('plays no sentence in the language in which it was said', () => {
    const desk = new Desk('auto').goLive();
    desk.says(heard({ id: 'a', language: 'es' }));
    desk.says(understood({ id: 'b', language: 'en-us' }));
    desk.hear('a', 200, true, desk.stream, 'a', 'es');
    desk.hear('b', 200, true, desk.stream, 'b', 'en');
    desk.pass(1000);
    expect(desk.played.filter((one) => one.startsWith('speech'))).toEqual([]);
    desk.hear('a', 200, true, desk.stream, 'a', 'en');
    desk.hear('b', 200, true, desk.stream, 'b', 'es');
    desk.pass(1000);
    expect(desk.played.filter((one) => one.startsWith('speech'))).toEqual(['speech en', 'speech es']);
  });

  it('knows the language of the newest sixteen sentences, each as it was heard last', () => {
    const desk = new Desk('auto').goLive();
    for (let n = 0; n < 16; n++) desk.says(heard({ id: `s${n}`, language: 'es' }));
    for (const language of ['en', 'es']) desk.says(heard({ id: 's16', language }));
    const isBack = (id: string) => isSaidBack(desk.state, id, 'es');
    expect([isBack('s0'), isBack('s1'), isBack('s16')]).toEqual([false, true, true]);
  });

  it('owes a sentence in one of the two languages only', () => {
    const desk = new Desk('auto').goLive();
    desk.hush(4);
    desk.speak(6);
    desk.hush(4);
    desk.says(understood({ id: 'a', language: 'es' }));
    desk.hear('a', 1500, true, desk.stream, 'a', 'en');
    desk.end('cut');
    expect(desk.state.backlog.chunks.filter(({ voiced }) => voiced)).toEqual([]);
    expect(desk.state.counts.unspokenMs).toBe(0);
  });

  it('lets a key say who speaks, with one event, when the service refuses to detect it', () => {
    const desk = new Desk('auto').goConfiguring();
    desk.says(rejected('unknown language "auto"'));
    desk.until(() => desk.all('send_task').length === 2, 5000);
    desk.taskRuns();
    expect(desk.phase).toBe('live');
    expect(desk.notes.filter((kind) => kind === 'two_way_fallback')).toHaveLength(1);
    expect(desk.last('send_task')).not.toHaveProperty('speaker');
    desk.press('target');
    desk.hush(5);
    expect(desk.last('send_task')).toMatchObject({ source: 'es', targets: ['en'], speaker: 'target' });
    // Another session does not ask again.
    desk.taskRuns();
    desk.end('cut');
    desk.comeBack();
    expect(desk.notes.filter((kind) => kind === 'two_way_fallback')).toHaveLength(1);
  });

  it('asks again for detection when the languages change', () => {
    const desk = new Desk('auto').goConfiguring();
    desk.says(rejected());
    desk.until(() => desk.all('send_task').length === 2, 5000);
    desk.taskRuns();
    desk.options({ targets: ['fr'] });
    desk.until(() => desk.all('send_task').length === 3, 5000);
    expect(desk.last('send_task')).toMatchObject({ targets: ['fr'], speaker: 'both' });
  });
});

describe('a key that says who speaks', () => {
  it('turns the service round, and holds what is said meanwhile', () => {
    const desk = new Desk('button').goLive();
    desk.hush(4);
    desk.speak(5);
    desk.press('target');
    desk.speak(20);
    desk.taskRuns();
    desk.hush(40);
    // Silence ends the sentence of the first one before the service turns round; nothing of the second one is lost.
    expect(desk.received).toMatch(/^ en>es \.{4}S{5}\.{3,} es>en S{20}\.+$/);
    expect(desk.accounts).toMatchObject({ dropped: 0, lost: 0 });
  });

  it('waits for the end of a sentence that the service writes down', () => {
    const desk = new Desk('button').goLive();
    desk.hush(4);
    desk.speak(5);
    desk.says(heard({ id: 'a' }));
    desk.press('target');
    desk.speak(5);
    expect(desk.all('send_task')).toHaveLength(1);
    desk.says(understood({ id: 'a' }));
    desk.speak(1);
    expect(desk.all('send_task')).toHaveLength(2);
  });

  it('waits no longer than 3 s for a sentence that never ends', () => {
    const desk = new Desk('button').goLive();
    desk.hush(4);
    desk.speak(5);
    desk.says(heard({ id: 'a' }));
    desk.press('target');
    const { now } = desk;
    desk.until(() => {
      desk.speak(1);
      return desk.all('send_task').length === 2;
    }, 5000);
    expect(desk.now - now).toBeLessThanOrEqual(3000);
  });

  it('is answered at once, also while the loudspeaker speaks, and closes no gate', () => {
    const desk = new Desk('button').goLive();
    desk.hear('a', 4000, true);
    desk.pass(500);
    desk.press('target');
    expect(desk.last('play')).toMatchObject({ kind: 'earcon', at: desk.now });
    expect(desk.all('flush_playback')).toHaveLength(1);
    // 300 ms after the loudspeaker the room is quiet.
    desk.hush(2);
    desk.speak(3);
    desk.taskRuns();
    desk.hush(20);
    expect(desk.received).toMatch(/es>en \.*SSS/);
  });

  it('ends what the loudspeaker says and what waits behind it, and counts both', () => {
    const desk = new Desk('button').goLive();
    desk.hear('a', 4000, true);
    desk.hear('b', 1000, true);
    desk.pass(500);
    desk.press('target');
    desk.hush(20);
    expect(desk.all('notify').find(({ kind }) => kind === 'speech_dropped')?.detail).toMatchObject({
      why: 'barge_in',
      sentences: 2,
    });
  });

  it('makes no sound with earcons off', () => {
    const desk = new Desk('button', { earcons: false }).goLive();
    desk.press('target');
    expect(desk.all('play')).toEqual([]);
  });

  it('does nothing on a lane of one direction, or of detected languages', () => {
    for (const mode of ['off', 'auto'] as const) {
      const desk = new Desk(mode).goLive();
      desk.press('target');
      desk.hush(8);
      expect(desk.all('send_task')).toHaveLength(1);
      expect(desk.state.twoWay.speaker).toBe('source');
    }
  });

  it('pressed back before the service has turned round needs no other task', () => {
    const desk = new Desk('button').goLive();
    desk.hush(4);
    desk.speak(2);
    desk.press('target');
    desk.press('source');
    desk.speak(4);
    desk.hush(10);
    expect(desk.received).toMatch(/^ en>es \.{4}S{6}\.+$/);
  });

  it('sends the words of both in their own direction after an outage', () => {
    const desk = new Desk('button').goLive();
    desk.hush(4);
    desk.end('cut');
    desk.speak(4);
    desk.press('target');
    desk.speak(4);
    desk.comeBack();
    expect(desk.last('send_task')).toMatchObject({ source: 'en' });
    desk.until(() => {
      desk.hush(1);
      return desk.last('send_task').source === 'es';
    }, 15_000);
    desk.taskRuns();
    desk.hush(20);
    expect(desk.received).toMatch(/ en>es S{4}\.+ es>en S{4}\.+$/);
  });

  it('turns back when the service does not translate in that direction', () => {
    const desk = new Desk('button').goLive();
    desk.hush(4);
    desk.press('target');
    desk.speak(3);
    desk.says(rejected('unknown language "es"'));
    desk.until(() => desk.all('send_task').length === 3, 5000);
    desk.taskRuns();
    expect(desk.phase).toBe('live');
    expect(desk.notes).toContain('refused');
    expect(desk.last('send_task')).toMatchObject({ source: 'en', targets: ['es'] });
    desk.press('source');
    desk.speak(3);
    desk.hush(20);
    expect(desk.received).toMatch(/ en>es \.*S{3}\.+$/);
  });
});

describe('a key that is held while one speaks', () => {
  const sounds = (desk: Desk): number => desk.all('send_audio').filter(({ pcm }) => pcm !== null).length;

  it('opens the microphone, which closes 300 ms after its release', () => {
    const desk = new Desk('hold').goLive();
    desk.speak(5);
    expect(sounds(desk)).toBe(0);
    desk.press('source');
    desk.speak(5);
    desk.release();
    desk.speak(5);
    desk.hush(5);
    expect(sounds(desk)).toBe(6);
  });

  it('stays closed when a key is let go that was not held', () => {
    const desk = new Desk('hold').goLive();
    desk.hush(4);
    desk.release();
    desk.speak(2);
    desk.hush(2);
    expect(sounds(desk)).toBe(0);
    // Also a second time after a press.
    desk.press('source');
    desk.release();
    desk.pass(CHUNK_MS);
    desk.hush(2);
    const before = sounds(desk);
    desk.release();
    desk.speak(2);
    expect(sounds(desk)).toBe(before);
  });

  it('keeps a translation waiting until its release', () => {
    const desk = new Desk('hold', { earcons: false }).goLive();
    desk.press('source');
    desk.speak(2);
    desk.hear('a', 600, true);
    desk.speak(3);
    expect(desk.played).toEqual([]);
    // Another press of the same person loses nothing of it.
    desk.release();
    desk.press('source');
    desk.release();
    desk.pass(250);
    expect(desk.played).toEqual([]);
    desk.pass(100);
    expect(desk.played).toContain('speech');
  });

  it('turns the service round like a button', () => {
    const desk = new Desk('hold').goLive();
    desk.hush(4);
    desk.press('source');
    desk.speak(4);
    desk.release();
    desk.pass(CHUNK_MS);
    desk.hush(3);
    desk.press('target');
    desk.speak(10);
    desk.says(ready());
    desk.release();
    desk.taskRuns();
    desk.hush(20);
    expect(desk.received).toMatch(/ en>es \.+S{4}\.+ es>en S{10}\.+$/);
  });

  it('closes the microphone when the lane restarts after a defect: the release may be lost', () => {
    const desk = new Desk('hold').goLive();
    desk.press('source');
    desk.crash();
    desk.comeBack();
    desk.speak(4);
    expect(sounds(desk)).toBe(0);
  });
});
