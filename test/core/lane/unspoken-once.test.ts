import { describe, expect, it } from 'vitest';
import { behave } from './behaviour.ts';
import { LaneHarness } from './lane-harness.ts';

const EOS = { message_type: 'eos', data: {} } as const;
const LETTERS = 60;
const ENDS: readonly [string, (lane: LaneHarness) => void][] = [
  ['falls asleep', (lane) => lane.until(() => lane.phase === 'standby', 60_000)],
  [
    'is stopped',
    (lane) => {
      lane.stop();
      lane.says(EOS);
    },
  ],
  ['loses its stream', (lane) => lane.end()],
];

describe.each(ENDS)(
  'a sentence that the service has understood and not spoken, where the lane %s',
  (_, end) => {
    it.each([
      ['named, with a text', 'a', true, LETTERS * 65],
      ['named, without a text', 'a', false, 14 * 320],
      ['without a name, with a text', null, true, LETTERS * 65],
      ['without a name, without a text', null, false, 14 * 320],
    ])('%s: is told once, as a translation that never came', (__, id, isWritten, expectedMs) => {
      const lane = new LaneHarness({ options: { standbyAfterMs: 50_000, echo: 'off' } }).goLive();
      behave(lane);
      lane.isSpeech = true;
      lane.speak(14);
      lane.hush(4);
      lane.understands(id);
      const transcription = { transcription_id: id, language: 'es', text: 'x'.repeat(LETTERS) };
      if (isWritten) lane.says({ message_type: 'translated_transcription', data: { transcription } });
      lane.hush(110);
      end(lane);
      lane.hush(60);
      const told = lane.all('notify').filter(({ kind }) => ['audio_cut', 'speech_lost'].includes(kind));
      expect(told).toMatchObject([{ kind: 'audio_cut', detail: { played_ms: 0, expected_ms: expectedMs } }]);
    });
  },
);
