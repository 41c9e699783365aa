import { anotherVoice, estimatePitch, shiftFor, type VoiceChoice } from './another-voice.ts';
import { bytesOf, upmix } from './pcm.ts';
import { toFloat, toSamples } from './resample.ts';

/** An order for the speech of one sentence in one target language. */
export interface RenderJob {
  readonly id: number;
  readonly stream: string;
  /** The service's id of the sentence, even if the service does not send it. */
  readonly sentence: string;
  /** Number of the part of its translation, from 0; undefined: it has no parts. */
  readonly part?: number;
  readonly mode: 'transform' | 'silence' | 'speak';
  /** The spoken sentence, mono; empty for a client's text (`tts_task`). */
  readonly spoken: Int16Array;
  readonly spokenHz: number;
  /** The text in the target language. */
  readonly text: string;
  readonly language: string;
  readonly voice: VoiceChoice;
  /** Index of the target language, so that each language has a different voice. */
  readonly variant: number;
  /** Speed relative to the spoken sentence. */
  readonly tempo: number;
  readonly outputHz: number;
  readonly outputChannels: number;
}

/** Pitch of the hum (Hz), in the range of a voice. */
const HUM_HZ = 180;
const MS_PER_LETTER = 65;

/** A voice-like hum with the rhythm of a text, for a client's text when there is no speech engine. */
function hum(text: string, rateHz: number): Float32Array {
  const length = Math.round((Math.max(8, [...text].length) * MS_PER_LETTER * rateHz) / 1000);
  const sound = new Float32Array(length);
  const syllable = rateHz * 0.19;
  for (let index = 0; index < length; index++) {
    const shape = Math.max(0, Math.sin((Math.PI * (index % syllable)) / syllable)) ** 0.5;
    const angle = (2 * Math.PI * HUM_HZ * index) / rateHz;
    sound[index] = 0.12 * shape * (Math.sin(angle) + 0.5 * Math.sin(2 * angle) + 0.25 * Math.sin(3 * angle));
  }
  return sound;
}

/**
 * Makes the speech of a job: PCM at its output rate and channels, as long as the spoken sentence divided by the tempo.
 * `speak` needs an external speech engine; here it sounds like `transform`.
 */
export function render(job: RenderJob): Uint8Array {
  const spoken = job.spoken.length > 0 ? toFloat(job.spoken) : hum(job.text, job.spokenHz);
  if (job.mode === 'silence') {
    const frames = Math.round((spoken.length * job.outputHz) / job.spokenHz / job.tempo);
    return new Uint8Array(frames * job.outputChannels * 2);
  }
  const pitchHz = estimatePitch(spoken, job.spokenHz);
  const shift = shiftFor(job.voice, pitchHz, job.variant);
  const voice = anotherVoice(spoken, job.spokenHz, job.outputHz, shift, job.tempo, pitchHz);
  return bytesOf(upmix(toSamples(voice), job.outputChannels));
}
