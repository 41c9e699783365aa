import { attempt, type Defects } from '../../machine/defects.ts';
import type { CreateVoiceDetector, Talk, VoiceDetector } from '../../ports/voice.ts';
import { createEnergyDetector } from '../../sound/energy-detector.ts';

/** Voice detectors that never throw. The usual detector is third-party WebAssembly; if it fails, a loudness detector replaces it. */
export function guardVoiceDetectors(create: CreateVoiceDetector, defects: Defects): CreateVoiceDetector {
  return (rateHz) => {
    let detector: VoiceDetector = createEnergyDetector(rateHz);
    attempt(defects, 'voice.create', () => {
      detector = create(rateHz);
    });
    const close = (): void => void attempt(defects, 'voice.close', () => detector.close());
    const use = (where: string, act: () => void): void => {
      if (attempt(defects, `voice.${where}`, act)) return;
      close();
      detector = createEnergyDetector(rateHz);
    };
    return {
      hear: (pcm, report) => use('hear', () => detector.hear(pcm, report)),
      talk() {
        let talk: Talk | null = null;
        use('talk', () => {
          talk = detector.talk?.() ?? null;
        });
        return talk;
      },
      close,
    };
  };
}
