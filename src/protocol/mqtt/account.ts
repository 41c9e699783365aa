import { z } from 'zod';

const chunks = (says: string): z.ZodNumber => z.number().describe(`chunks of 320 ms: ${says}`);
const times = (says: string): z.ZodNumber => z.number().describe(`how often: ${says}`);
const delay = (says: string) =>
  z
    .strictObject({
      p50: z.number().describe('half of them took no longer, milliseconds'),
      p99: z.number().describe('99 of 100 took no longer, milliseconds'),
      max: z.number().describe('the longest, milliseconds'),
      count: z.number().describe('how many were measured'),
    })
    .nullable()
    .describe(says);

/** Where a lane's sound went since the agent's start, as the command `status` tells it. */
export const laneAccountSchema = z.strictObject({
  id: z.string().describe('the lane'),
  captured: chunks('from the microphone; `sent + silenced + trimmed + dropped + held`'),
  sent: chunks('sent as they were'),
  silenced: chunks('sent as silence, because the gate was closed'),
  trimmed: chunks('pauses left out while catching up'),
  dropped: chunks('not sent'),
  lost: chunks('of the dropped ones, speech that nobody will hear'),
  held: chunks('waiting to be sent'),
  sessions: times('streams that went live'),
  rollovers: times('sessions that followed another one at its limit'),
  splits: times('switches to another session in the middle of a sentence'),
  revocations: times('sessions that their owner revoked'),
  max_durations: times('sessions that ended at their longest duration'),
  failures: times('failed tries and broken streams'),
  taken_back: chunks('taken back from a stream that broke off, and said again to the next'),
  said_again: times('sentences said again because their translation was cut off or never came'),
  unspoken_ms: z
    .number()
    .describe('speech that the service took and did not speak, milliseconds, all languages'),
  speech_dropped_ms: z
    .number()
    .describe(
      'translated speech that was not played (late, spoken over, no loudspeaker, lane stopped), milliseconds',
    ),
  standbys: times('the lane went to sleep because nobody spoke'),
  stream_ms: z.number().describe('milliseconds for which the service had a stream open'),
  fillers: chunks('silence sent because the microphone delivered nothing'),
  defects: times('defects of the program that ended a step'),
  ignored: times('messages of the service that were of no use'),
  lost_ms: z.number().describe('speech that never reached a working service, milliseconds'),
  played_ms: z.number().describe('sound handed to the loudspeaker, milliseconds'),
  shed_sentences: times('translated sentences given up because speech lagged'),
  shed_ms: z.number().describe('how long those were, milliseconds'),
  playout_gaps: times('a sentence ran dry in its middle'),
  capture_to_wire_ms: delay('from the microphone to the stream; null: not measured'),
  wire_to_speaker_ms: delay('from the stream to the loudspeaker; null: not measured'),
});
export type LaneAccountReport = z.infer<typeof laneAccountSchema>;
