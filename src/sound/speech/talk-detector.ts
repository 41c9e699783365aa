import type { CreateVoiceDetector } from '../../ports/voice.ts';
import { createBand } from './band.ts';
import { createTalkMeter } from './talk-meter.ts';
import { scoreTalk } from './talk-score.ts';
/** Extends a detector of single frames: it also judges over a longer time whether a person speaks. */
export function withTalk(create: CreateVoiceDetector): CreateVoiceDetector {
  return (rateHz) => {
    const frames = create(rateHz);
    const band = createBand(rateHz);
    const meter = createTalkMeter();
    return {
      hear(pcm, report) {
        frames.hear(pcm, report);
        band.push(pcm, meter.hear);
      },
      talk() {
        const measures = meter.measure();
        return measures === null ? null : { score: scoreTalk(measures), roomDb: meter.roomDb };
      },
      close: () => frames.close(),
    };
  };
}
