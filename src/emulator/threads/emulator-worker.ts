/** A thread of the emulator: detects voice, or makes speech, so that the main event loop only carries messages. */
import { setPriority } from 'node:os';
import { platform } from 'node:process';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { loadSpeechDetector } from '../../adapters/voice/speech-detector.ts';
import { END, type End } from '../../adapters/worker-end.ts';
import type { CreateVoiceDetector, VoiceDetector } from '../../ports/voice.ts';
import { render } from '../core/render.ts';
import type { FromHearing, FromSpeech, Role, ToHearing, ToSpeech } from './message.ts';

/** Priority of the speech thread, below hearing and the event loop, on systems where threads have priorities. */
const SPEECH_NICENESS = 5;

function hear(port: MessagePort, create: CreateVoiceDetector): void {
  const detectors = new Map<number, VoiceDetector>();
  const judge = (detector: number, pcm: Int16Array): Int32Array => {
    const stretches: number[] = [];
    detectors.get(detector)?.hear(pcm, (voiced, samples) => stretches.push(voiced ? samples : -samples));
    return Int32Array.from(stretches);
  };
  port.on('message', (steps: ToHearing | End) => {
    if (steps === END) return port.close();
    const decided: { detector: number; stretches: Int32Array }[] = [];
    for (const step of steps) {
      const { detector } = step;
      switch (step.kind) {
        case 'open':
          detectors.set(detector, create(step.rateHz));
          break;
        case 'hear':
          decided.push({ detector, stretches: judge(detector, step.pcm) });
          break;
        case 'skip':
          decided.push({ detector, stretches: Int32Array.of(-step.samples) });
          break;
        case 'close':
          detectors.get(detector)?.close();
          detectors.delete(detector);
      }
    }
    if (decided.length > 0) port.postMessage(decided satisfies FromHearing);
  });
}

function speak(port: MessagePort): void {
  if (platform === 'linux') setPriority(SPEECH_NICENESS);
  port.on('message', (job: ToSpeech | End) => {
    if (job === END) return port.close();
    const answer: FromSpeech = { id: job.id, pcm: render(job) };
    const { buffer } = answer.pcm;
    port.postMessage(answer, buffer instanceof ArrayBuffer ? [buffer] : []);
  });
}

const port = parentPort;
if (port === null) throw new Error('this file is a part of dragoman-emulator; run dragoman-emulator');
if ((workerData as Role) === 'speech') speak(port);
else hear(port, (await loadSpeechDetector()).create);
