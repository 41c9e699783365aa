import { anotherVoice, estimatePitch, shiftFor, type VoiceChoice } from './another-voice.ts';
import { bytesOf, upmix } from './pcm.ts';
import { toFloat, toSamples } from './resample.ts';

/** Speech to be made for one sentence in one target language. */
export interface RenderJob {
  readonly id: number;
  readonly stream: string;
  /** The service's name for it, whether or not it tells it. */
  readonly sentence: string;
  /** Which part of its translation, from 0; left out: it has no parts. */
  readonly part?: number;
  readonly mode: 'transform' | 'silence' | 'speak';
  /** The spoken sentence, mono; empty for a client's text (`tts_task`). */
  readonly spoken: Int16Array;
  readonly spokenHz: number;
  /** The text in the target language. */
  readonly text: string;
  readonly language: string;
  readonly voice: VoiceChoice;
  /** Counts the target languages, so that their voices differ. */
  readonly variant: number;
  /** How much faster than it was spoken. */
  readonly tempo: number;
  readonly outputHz: number;
  readonly outputChannels: number;
}

/** A job without its sound: what is known before anything has been rendered. */
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
 * Makes the speech of a job: PCM at its output rate and channels, as long as the spoken sentence by its tempo. `speak`
 * needs a speech engine outside; here it sounds like `transform`.
 */
export function render(job: RenderJob): Uint8Array {
  const spoken = job.spoken.length > 0 ? toFloat(job.spoken) : hum(job.text, job.spokenHz);
  if (job.mode === 'silence') {
    const frames = Math.round((spoken.length * job.outputHz) / job.spokenHz / job.tempo);
    return new Uint8Array(frames * job.outputChannels * 2);
  }
  const shift = shiftFor(job.voice, estimatePitch(spoken, job.spokenHz), job.variant);
  const voice = anotherVoice(spoken, job.spokenHz, job.outputHz, shift, job.tempo);
  return bytesOf(upmix(toSamples(voice), job.outputChannels));
}
