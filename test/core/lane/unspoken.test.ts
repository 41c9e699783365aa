import { describe, expect, it } from 'vitest';
import { laneStatus } from '../../../src/core/lane/status.ts';
import { LaneHarness } from './lane-harness.ts';

const status = (lane: LaneHarness) => laneStatus(lane.state, lane.now);
const UNSPOKEN = (language: string) => [{ code: 'unspoken', detail: language }];

let names = 0;

function live(targets: readonly string[]): LaneHarness {
  const lane = new LaneHarness({ options: { targets, echo: 'off' } });
  lane.pongs = true;
  return lane.goLive();
}

/** Somebody says a number of sentences; the service writes each down in every language, and says it in some. */
function converse(lane: LaneHarness, sentences: number, spoken: readonly (string | null)[]): void {
  for (let i = 0; i < sentences; i++) {
    const id = `u${++names}`;
    lane.speak(10);
    lane.hush(4);
    lane.understands(id);
    for (const language of lane.state.options.targets) {
      const transcription = { transcription_id: id, language, text: 'a sentence of some length, to be said' };
      lane.says({ message_type: 'translated_transcription', data: { transcription } });
    }
    for (const language of spoken) lane.hear(`${id}${language}`, 2400, true, lane.stream, id, language);
    lane.hush(30);
  }
}

/** All that was due has been judged. */
function wait(lane: LaneHarness): void {
  lane.hush(140);
}

describe('a language that is written down and never spoken', () => {
  it('makes the device degraded, with its name, beside one that is spoken', () => {
    const lane = live(['es', 'fr']);
    converse(lane, 10, ['es']);
    wait(lane);
    expect(status(lane)).toMatchObject({ status: 'degraded', reasons: UNSPOKEN('fr') });
  });

  it('does so where it is the only one', () => {
    const lane = live(['es']);
    converse(lane, 10, []);
    wait(lane);
    expect(status(lane).reasons).toContainEqual({ code: 'unspoken', detail: 'es' });
  });

  it('is well again with its first sound', () => {
    const lane = live(['es', 'fr']);
    converse(lane, 10, ['es']);
    wait(lane);
    converse(lane, 1, ['es', 'fr']);
    expect(status(lane)).toMatchObject({ status: 'ready', reasons: [] });
  });

  it('is counted from one session to the next', () => {
    const lane = live(['es', 'fr']);
    for (let session = 0; session < 4; session++) {
      converse(lane, 2, ['es']);
      wait(lane);
      expect(status(lane).status === 'degraded').toBe(session > 0);
      lane.end();
      lane.comeBack();
    }
    expect(status(lane).reasons).toEqual(UNSPOKEN('fr'));
  });

  it('is of no interest any more when nobody wants it, nor after a start', () => {
    const lane = live(['es', 'fr']);
    converse(lane, 10, ['es']);
    wait(lane);
    const other = lane.state;
    lane.options({ targets: ['es'] });
    expect(status(lane).reasons).toEqual([]);
    const stopped = laneStatus({ ...other, wanted: false }, lane.now);
    expect(stopped.reasons).toEqual([{ code: 'stopped' }]);
    lane.stop();
    lane.says({ message_type: 'eos', data: {} });
    lane.start();
    expect(lane.state.unspoken).toEqual([]);
  });

  it('is no language of which a sentence is missing now and then, nor one of which three are', () => {
    const lane = live(['es', 'fr']);
    for (let i = 0; i < 8; i++) {
      for (let sentence = 0; sentence < 3; sentence++) {
        converse(lane, 1, ['es']);
        wait(lane);
      }
      expect(status(lane).reasons).toEqual([]);
      converse(lane, 1, ['es', 'fr']);
      expect(status(lane).reasons).toEqual([]);
    }
    // But for those that were said once more, one for each time that the language was heard.
    expect(lane.notes.filter((kind) => kind === 'audio_cut').length).toBeGreaterThan(24 - 8);
    expect(lane.state.counts.saidAgain).toBeLessThanOrEqual(8);
    expect(lane.state.counts.saidAgain).toBeGreaterThan(5);
  });

  it('is not told for a few noises in an hour that the service writes down', () => {
    const lane = live(['es', 'fr']);
    for (let i = 0; i < 8; i++) {
      converse(lane, 1, ['es']);
      lane.hush(1500);
    }
    expect(status(lane).reasons).toEqual([]);
  });
});

describe('a service that speaks another language than the only one that is wanted', () => {
  it('makes the device degraded, and is heard all the same', () => {
    const lane = live(['es']);
    converse(lane, 3, ['fr-FR']);
    wait(lane);
    expect(status(lane).reasons).toEqual([]);
    converse(lane, 1, ['fr-FR']);
    expect(status(lane)).toMatchObject({ status: 'degraded', reasons: UNSPOKEN('es') });
    expect(lane.state.unspoken[0]?.sentences).toBe(4);
    expect(lane.notes).not.toContain('audio_cut');
  });

  it('counts a sentence once, in however many pieces it comes', () => {
    const lane = live(['es']);
    lane.speak(10);
    lane.hush(4);
    lane.understands('u');
    for (let piece = 1; piece <= 8; piece++)
      lane.hear(`piece ${piece}`, 320, piece === 8, lane.stream, 'u', 'fr');
    expect(lane.state.unspoken).toMatchObject([{ language: 'es', sentences: 1 }]);
  });

  it('is well again with the first sound of what is wanted, or of a language that is not told', () => {
    for (const language of ['es', 'es-MX', null]) {
      const lane = live(['es']);
      converse(lane, 4, ['fr']);
      wait(lane);
      converse(lane, 1, ['fr']);
      expect(status(lane).reasons).toEqual(UNSPOKEN('es'));
      converse(lane, 1, [language]);
      expect(status(lane).reasons).toEqual([]);
    }
  });

  it('is none for what the change of a language leaves to be said in the old one', () => {
    const lane = live(['fr']);
    converse(lane, 4, ['fr']);
    lane.options({ targets: ['es'] });
    lane.taskRuns();
    converse(lane, 3, ['fr']);
    wait(lane);
    converse(lane, 2, ['es']);
    expect(status(lane).reasons).toEqual([]);
  });

  it.each([
    ['zh', 'cmn-Hans'],
    ['zh-Hant', 'zho'],
    ['no', 'nb-NO'],
    ['he', 'iw'],
    ['de-AT', 'GER'],
    ['pt-br', 'pt_PT'],
    ['es', 'spanish'],
    ['es', 'und'],
    ['es', 'und-Latn'],
    ['es', 'mul'],
    ['es', 'mis'],
    ['es', 'zxx'],
    ['es', 'qaa'],
    ['es', 'i-klingon'],
    ['es', ''],
    ['es', '../x'],
  ])('%s is not another language than %s', (target, tag) => {
    const lane = live([target]);
    converse(lane, 6, [tag]);
    wait(lane);
    expect(lane.state.unspoken).toEqual([]);
  });
});
