import * as z from 'zod';
import { count, milliseconds, word } from './bounds.ts';

const chunks = (says: string): z.ZodNumber => count.describe(`chunks of 320 ms: ${says}`);
const times = (says: string): z.ZodNumber => count.describe(`count: ${says}`);
const delay = (says: string) =>
  z
    .strictObject({
      p50: milliseconds.describe('median, milliseconds'),
      p99: milliseconds.describe('99th percentile, milliseconds'),
      max: milliseconds.describe('maximum, milliseconds'),
      count: count.describe('number of measurements'),
    })
    .nullable()
    .describe(says);

/** Account of a lane's audio since the start of the agent, as in the answer to the command `status`. */
export const laneAccountSchema = z.strictObject({
  id: word.describe('the lane'),
  captured: chunks('from the microphone; equals `sent + silenced + trimmed + dropped + held`'),
  sent: chunks('sent unchanged'),
  silenced: chunks('sent as silence, because the gate was closed'),
  trimmed: chunks('pauses removed to catch up'),
  dropped: chunks('not sent'),
  lost: chunks('dropped ones that contained speech, which is lost'),
  held: chunks('not sent yet'),
  sessions: times('streams that became live'),
  rollovers: times('sessions that replaced another one at its limit'),
  splits: times('session changes within a sentence'),
  revocations: times('sessions revoked by their owner'),
  max_durations: times('sessions that ended at their maximum duration'),
  failures: times('failed attempts and broken streams'),
  taken_back: chunks('replayed to the next stream, because the previous one broke'),
  said_again: times('sentences replayed because their translation was cut off or missing'),
  unspoken_ms: milliseconds.describe(
    'speech that the service took and did not speak, milliseconds, all languages',
  ),
  speech_dropped_ms: milliseconds.describe(
    'translated speech that was not played (late, spoken over, no loudspeaker, lane stopped), milliseconds',
  ),
  standbys: times('changes to standby because there was no speech'),
  stream_ms: milliseconds.describe('total time with an open stream, milliseconds'),
  fillers: chunks('silence sent because the microphone delivered no data'),
  defects: times('program defects that ended a step'),
  ignored: times('service messages that were ignored as unusable'),
  lost_ms: milliseconds.describe('speech that never reached a working service, milliseconds'),
  played_ms: milliseconds.describe('audio sent to the loudspeaker, milliseconds'),
  shed_sentences: times('translated sentences dropped because playback lagged'),
  shed_ms: milliseconds.describe('total length of these sentences, milliseconds'),
  playout_gaps: times('gaps within a sentence because its audio arrived late'),
  capture_to_wire_ms: delay('from the microphone to the stream; null: not measured'),
  wire_to_speaker_ms: delay('from the stream to the loudspeaker; null: not measured'),
});
export type LaneAccountReport = z.infer<typeof laneAccountSchema>;
