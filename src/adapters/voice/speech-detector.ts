import loadFvad from '@echogarden/fvad-wasm';
import type { CreateVoiceDetector, VoiceDetector } from '../../ports/voice.ts';
import { createEnergyDetector } from '../../sound/energy-detector.ts';

/** How strict the detector is (0 to 3): strictest, so that a humming room does not count as speech. */
const AGGRESSIVENESS = 3;
/** Rate of the detector's frames (Hz), which last 10, 20 or 30 ms: the detector converts any other rate to this one first. */
const DETECTOR_HZ = 8000;
const FRAME_MS = 20;
const FRAME_SAMPLES = (DETECTOR_HZ * FRAME_MS) / 1000;

type Fvad = Awaited<ReturnType<typeof loadFvad>>;

function createFvadDetector(fvad: Fvad, rateHz: number): VoiceDetector {
  const handle = fvad._fvad_new();
  fvad._fvad_set_mode(handle, AGGRESSIVENESS);
  fvad._fvad_set_sample_rate(handle, DETECTOR_HZ);
  const address = fvad._malloc(FRAME_SAMPLES * 2);
  const frameInput = Math.round((rateHz * FRAME_MS) / 1000);
  const frame = new Int16Array(frameInput);
  const step = frameInput / FRAME_SAMPLES;
  /** The first input sample of each detector sample; the last entry is the end of the frame. */
  const covers = Uint16Array.from({ length: FRAME_SAMPLES + 1 }, (_, index) => Math.floor(index * step));
  let filled = 0;

  /** Averages the input samples of each detector sample: a crude low pass, enough for a decision. */
  const judge = (): boolean => {
    const { HEAP16: heap } = fvad;
    let target = address >> 1;
    let from = 0;
    for (let index = 1; index <= FRAME_SAMPLES; index++) {
      const first = from;
      from = covers[index] ?? 0;
      const to = Math.max(first + 1, from);
      let sum = 0;
      for (let at = first; at < to; at++) sum += frame[at] ?? 0;
      heap[target++] = sum / (to - first);
    }
    return fvad._fvad_process(handle, address, FRAME_SAMPLES) === 1;
  };

  return {
    hear(pcm, report) {
      for (let at = 0; at < pcm.length; ) {
        const piece = pcm.subarray(at, at + frameInput - filled);
        frame.set(piece, filled);
        filled += piece.length;
        at += piece.length;
        if (filled < frameInput) return;
        filled = 0;
        report(judge(), frameInput);
      }
    },
    close() {
      fvad._fvad_free(handle);
      fvad._free(address);
    },
  };
}

/** A voice detector trained on speech or, when it cannot be loaded, one based on energy. */
export async function loadSpeechDetector(): Promise<{
  create: CreateVoiceDetector;
  name: 'fvad' | 'energy';
}> {
  try {
    const fvad = await loadFvad();
    return { create: (rateHz) => createFvadDetector(fvad, rateHz), name: 'fvad' };
  } catch {
    return { create: createEnergyDetector, name: 'energy' };
  }
}
