import type { CreateEchoDetector, EchoDetector } from '../../core/audio/echo-detector.ts';
import { createEnergyDetector } from '../../core/audio/energy-detector.ts';
import type { EchoCanceller, EchoCancellerSink, OpenEchoCanceller } from '../../ports/echo.ts';
import type { CreateVoiceDetector, Talk, VoiceDetector } from '../../ports/voice.ts';
import { attempt, type Defects, nameOf } from './defects.ts';

/** Voice detectors that never throw: one that does gives way to the plain one, which goes by loudness. */
export function guardVoiceDetectors(create: CreateVoiceDetector, defects: Defects): CreateVoiceDetector {
  return (rateHz) => {
    let detector: VoiceDetector = createEnergyDetector(rateHz);
    attempt(defects, 'voice.create', () => {
      detector = create(rateHz);
    });
    const close = (): void => void attempt(defects, 'voice.close', () => detector.close());
    return {
      hear(pcm, report) {
        if (attempt(defects, 'voice.hear', () => detector.hear(pcm, report))) return;
        close();
        detector = createEnergyDetector(rateHz);
      },
      talk() {
        let talk: Talk | null = null;
        if (
          attempt(defects, 'voice.talk', () => {
            talk = detector.talk?.() ?? null;
          })
        )
          return talk;
        close();
        detector = createEnergyDetector(rateHz);
        return null;
      },
      close,
    };
  };
}

const DEAF: EchoDetector = { played() {}, flushed() {}, late() {}, hear: () => null };

/** Echo detectors that never throw: one that does recognises nothing more. */
export function guardEchoDetectors(create: CreateEchoDetector, defects: Defects): CreateEchoDetector {
  return (options) => {
    let detector = DEAF;
    const use = (where: string, act: () => void): void => {
      if (!attempt(defects, `echo detector.${where}`, act)) detector = DEAF;
    };
    use('create', () => {
      detector = create(options);
    });
    return {
      played: (pcm, heardAt, goesOn) => use('played', () => detector.played(pcm, heardAt, goesOn)),
      flushed: (at) => use('flushed', () => detector.flushed(at)),
      late: (byMs) => use('late', () => detector.late(byMs)),
      hear(pcm, capturedAt) {
        let measure: ReturnType<EchoDetector['hear']> = null;
        use('hear', () => {
          measure = detector.hear(pcm, capturedAt);
        });
        return measure;
      },
    };
  };
}

const NO_CANCELLER: EchoCanceller = { played() {}, flushed() {}, captured() {}, close() {} };

/** Cancellers that never throw: what one throws is its failure, and the sound that it was given goes on as captured. */
export function guardEchoCancellers(open: OpenEchoCanceller, defects: Defects): OpenEchoCanceller {
  return (rates, sink) => {
    let isOver = false;
    let canceller = NO_CANCELLER;
    const fail = (where: string, error: unknown): void => {
      defects(`canceller.${where}`, error);
      if (isOver) return;
      isOver = true;
      attempt(defects, 'canceller failure', () =>
        sink.failed(`a defect of the program: ${where} threw ${nameOf(error)}`),
      );
      // What it still holds comes back by the sink.
      attempt(defects, 'canceller.close', () => canceller.close());
    };
    const call = (where: string, act: () => void): void => {
      if (isOver) return;
      try {
        act();
      } catch (error) {
        fail(where, error);
      }
    };
    try {
      canceller = open(
        rates,
        guardSink(sink, defects, () => !isOver),
      );
    } catch (error) {
      // Whoever opens it must have it before it is told that it failed.
      queueMicrotask(() => fail('open', error));
    }
    return {
      played: (pcm, heardAt, goesOn, place) =>
        call('played', () => canceller.played(pcm, heardAt, goesOn, place)),
      flushed: (at, place) => call('flushed', () => canceller.flushed(at, place)),
      captured(pcm, capturedAt, missingMs) {
        call('captured', () => canceller.captured(pcm, capturedAt, missingMs));
        if (isOver) attempt(defects, 'captured sound', () => sink.frames(pcm, capturedAt));
      },
      close: () => call('close', () => canceller.close()),
    };
  };
}

function guardSink(sink: EchoCancellerSink, defects: Defects, isHeard: () => boolean): EchoCancellerSink {
  return {
    ready: () => isHeard() && attempt(defects, 'canceller ready', () => sink.ready()),
    found: () => isHeard() && attempt(defects, 'canceller found', () => sink.found()),
    frames: (pcm, capturedAt) => void attempt(defects, 'captured sound', () => sink.frames(pcm, capturedAt)),
    failed: (message) => isHeard() && attempt(defects, 'canceller failure', () => sink.failed(message)),
  };
}
