import { describe, expect, it } from 'vitest';
import { LaneHarness } from './lane-harness.ts';

const EOS = { message_type: 'eos', data: {} } as const;

describe('a translation that a stop cuts', () => {
  const sentence = {
    transcription_id: 'u',
    language: 'es',
    text: 'a sentence of some length, to be said, and to be said',
  };

  it('says nothing once more of which less than half comes while it ends', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } });
    lane.pongs = true;
    lane.goLive();
    lane.speak(10);
    lane.hush(4);
    lane.understands('u');
    lane.says({ message_type: 'translated_transcription', data: { transcription: sentence } });
    lane.stop();
    lane.hear('u', 800, true, lane.stream, 'u', 'es');
    lane.says({ message_type: 'current_task', data: { task_status: 'running' } });
    expect(lane.phase).toBe('draining');
    lane.says(EOS);
    lane.start();
    expect(lane.state.backlog.chunks).toEqual([]);
    expect(lane.state.counts.saidAgain).toBe(0);
    lane.grant();
    lane.open();
    lane.taskRuns();
    expect(lane.wire.slice(14)).toBe('');
  });

  it.each([
    ['that was cut off before, and is over', 16, [{ detail: { played_ms: 3000, expected_ms: 3445 } }]],
    ['that is being spoken', 4, [{ detail: { played_ms: 3000, expected_ms: 3445 } }]],
    ['that has just come to its end', 4, []],
  ])('tells the rest of a translation %s', (name, chunks, cuts) => {
    const lane = new LaneHarness({ options: { echo: 'off' } });
    lane.pongs = true;
    lane.goLive();
    // A service that says where its sentences end.
    lane.hear('a', 1000, true, lane.stream, 'a', 'es');
    lane.hush(10);
    lane.speak(10);
    lane.hush(4);
    lane.understands('u');
    lane.says({ message_type: 'translated_transcription', data: { transcription: sentence } });
    lane.hear('u', 3000, name.endsWith('end'), lane.stream, 'u', 'es');
    lane.hush(chunks);
    lane.stop();
    lane.says(EOS);
    expect(lane.all('notify').filter(({ kind }) => kind === 'audio_cut')).toMatchObject(cuts);
  });

  it.each([
    ['of which less than half came', ['u'], ['es'], 800, [['es', 800, 3445]]],
    ['of which less than half came without a name', [null], ['es'], 800, [['es', 800, 3445]]],
    [
      'into two languages',
      ['u'],
      ['es', 'fr'],
      800,
      [
        ['es', 800, 3445],
        ['fr', 0, 3445],
      ],
    ],
  ] as const)('tells a translation %s once', (_, [id], targets, ms, told) => {
    const lane = new LaneHarness({ options: { echo: 'off', targets } });
    lane.pongs = true;
    lane.goLive();
    lane.speak(10);
    lane.hush(4);
    lane.understands(id);
    for (const language of targets)
      lane.says({
        message_type: 'translated_transcription',
        data: { transcription: { ...sentence, transcription_id: id, language } },
      });
    lane.hear(id, ms, false, lane.stream, id, 'es');
    lane.hush(4);
    lane.stop();
    lane.says(EOS);
    const detailsOf = (wanted: string) =>
      lane.all('notify').flatMap(({ kind, detail }) => (kind === wanted ? [detail] : []));
    expect(detailsOf('speech_lost')).toEqual([]);
    expect(
      detailsOf('audio_cut').map((one) => [one['language'], one['played_ms'], one['expected_ms']]),
    ).toEqual(told);
  });
});
