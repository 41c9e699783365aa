/** Examines a recording for a cloned voice: its format by its content, its length, and what spoils it. */
import { fileTypeFromBuffer } from 'file-type';
import { parseBuffer } from 'music-metadata';
import type { SAMPLE_MIME_TYPES } from '../../protocol/service/voice.ts';
import { createSampleMeter, type SampleQuality } from '../../sound/sample-quality.ts';
import { AudioFaultError } from '../audio/fault.ts';
import { decodeFrames, openWavBytes } from '../audio/wav.ts';

type SampleMimeType = (typeof SAMPLE_MIME_TYPES)[number];

/** Largest sample (bytes): services of this kind accept 10 MB. */
export const LARGEST_SAMPLE_BYTES = 10_000_000;
/** Shortest sample (seconds). */
const SHORTEST_S = 10;
/** From this length on (seconds), cloned voices are good. */
const GOOD_S = 30;
/** Sound per step of the measurement (seconds), so that a long file needs little memory. */
const STEP_S = 1;

interface Kind {
  readonly name: string;
  /** The usual type first; the others mean the same. */
  readonly types: readonly [SampleMimeType, ...SampleMimeType[]];
  readonly endings: readonly [string, ...string[]];
}

/** Kinds of the specification (docs/service.md 4.4), by the extension that the library `file-type` gives. */
const KINDS: Readonly<Record<string, Kind>> = {
  wav: { name: 'WAV', types: ['audio/wav', 'audio/x-wav'], endings: ['.wav'] },
  mp3: { name: 'MP3', types: ['audio/mpeg', 'audio/mp3'], endings: ['.mp3'] },
  m4a: { name: 'M4A', types: ['audio/x-m4a', 'video/mp4'], endings: ['.m4a', '.mp4'] },
  flac: { name: 'FLAC', types: ['audio/flac'], endings: ['.flac'] },
  webm: { name: 'WebM', types: ['video/webm'], endings: ['.webm'] },
  mp4: { name: 'MP4', types: ['video/mp4', 'audio/x-m4a'], endings: ['.mp4', '.m4a'] },
  mpg: { name: 'MPEG', types: ['video/mpeg'], endings: ['.mpeg', '.mpg'] },
};
const KIND_NAMES = Object.values(KINDS)
  .map(({ name }) => name)
  .join(', ');
/** Kinds whose length can be read without decoding them. Videos are accepted without a length. */
const MEASURED: readonly string[] = ['MP3', 'M4A', 'FLAC'];

export interface SampleFindings {
  /** Null for a file of an unknown kind. */
  readonly kind: Kind | null;
  /** Null when it is not known, as for videos. */
  readonly seconds: number | null;
  /** Each is a predicate about the file. A file with a fault cannot become a voice. */
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
}

export async function examineSample(bytes: Uint8Array): Promise<SampleFindings> {
  if (bytes.length === 0) return refused(null, 'is empty');
  if (bytes.length > LARGEST_SAMPLE_BYTES) return refused(null, 'is larger than 10 MB: cut it');
  const fileType = await typeOf(bytes);
  const kind = fileType === null ? null : (KINDS[fileType.ext] ?? null);
  if (kind === null) return refused(null, `is ${nameOther(bytes, fileType)}: give one of ${KIND_NAMES}`);
  if (kind.name === 'WAV') return examineWav(kind, bytes);
  if (!MEASURED.includes(kind.name)) return { kind, seconds: null, faults: [], warnings: [] };
  const seconds = await durationOf(bytes, kind);
  if (seconds === 'damaged') return refused(kind, `is damaged ${kind.name}: record it again`);
  if (seconds === null)
    return {
      kind,
      seconds,
      faults: [],
      warnings: [`does not say how long it is: record at least ${SHORTEST_S} s`],
    };
  return { kind, seconds, ...judgeLength(seconds) };
}

function refused(kind: Kind | null, fault: string): SampleFindings {
  return { kind, seconds: null, faults: [fault], warnings: [] };
}

async function typeOf(bytes: Uint8Array): Promise<{ ext: string; mime: string } | null> {
  try {
    return (await fileTypeFromBuffer(bytes)) ?? null;
  } catch {
    return null;
  }
}

function nameOther(bytes: Uint8Array, found: { ext: string; mime: string } | null): string {
  if (found !== null) return `not a recording of a known kind (${found.ext}, ${found.mime})`;
  const isPage = /^\s*<(!doctype|html|\?xml)/i.test(Buffer.from(bytes.subarray(0, 200)).toString('latin1'));
  return isPage ? 'a web page, not a recording' : 'not a recording';
}

/** Null when the file does not state its length, as after streaming. */
async function durationOf(bytes: Uint8Array, { name, types }: Kind): Promise<number | 'damaged' | null> {
  try {
    const { format } = await parseBuffer(bytes, { mimeType: types[0] }, { duration: true, skipCovers: true });
    return format.duration === undefined || !(format.duration > 0) ? null : format.duration;
  } catch {
    // The library fails on some fragmented M4A files, which are not damaged.
    return name === 'M4A' ? null : 'damaged';
  }
}

function judgeLength(seconds: number): Pick<SampleFindings, 'faults' | 'warnings'> {
  const length = `${seconds < 100 ? seconds.toFixed(1) : Math.round(seconds)} s long`;
  if (seconds < SHORTEST_S)
    return {
      faults: [`is only ${length}: record at least ${SHORTEST_S} s, better ${GOOD_S} s`],
      warnings: [],
    };
  const warnings = seconds < GOOD_S ? [`is ${length}: voices are better from ${GOOD_S} s`] : [];
  return { faults: [], warnings };
}

function examineWav(kind: Kind, bytes: Uint8Array): SampleFindings {
  let measured: SampleQuality;
  let promisedS: number;
  let isOpposite: boolean;
  try {
    const reader = openWavBytes(bytes, 'the recording');
    const { format } = reader;
    const meter = createSampleMeter(format.rateHz);
    const step = format.rateHz * STEP_S;
    for (let at = 0; at < reader.frames; at += step) meter.add(decodeFrames(reader.read(at, step), format));
    measured = meter.measure();
    isOpposite = reader.note !== null;
    promisedS = reader.promisedFrames / format.rateHz;
  } catch (error) {
    if (!(error instanceof AudioFaultError)) throw error;
    return refused(kind, error.message.replace(/^the recording /, ''));
  }
  const { seconds } = measured;
  if (promisedS === 0 && seconds > 0)
    return {
      ...refused(
        kind,
        'has a header that promises no sound: write it again, for example with ffmpeg -i IN OUT.wav',
      ),
      seconds,
    };
  const { faults, warnings } = judgeLength(seconds);
  const opposite = isOpposite
    ? ['has channels that cancel each other out (opposite phase): send one of them']
    : [];
  const cut = promisedS > seconds + 1 ? ['is cut off: its header promises more sound'] : [];
  const { fault, notes } = judgeSound(measured);
  return {
    kind,
    seconds,
    faults: [...faults, ...(fault === null ? [] : [fault])],
    warnings: [...warnings, ...cut, ...opposite, ...notes],
  };
}

/** Peak that counts as silence: two steps of 16 bits. */
const SILENT_PEAK = 2 / 32_768;
/** Least difference between quiet and loud frames (dB): speech has at least 20, a steady tone or noise almost 0. */
const LEAST_RANGE_DB = 3;
/** Share of samples in clipped peaks above which clipping is audible. */
const CLIPPED_SHARE = 0.0005;
/** Hiss is audible in the cloned voice if the pauses of the sample are louder than this (dBFS). */
const HISS_DB = -60;
/** Pauses that are this much quieter than the speech (dB) have no audible hiss. */
const CLEAN_RANGE_DB = 35;

function judgeSound(quality: SampleQuality): { fault: string | null; notes: string[] } {
  const { seconds, peak, clippedShare, quietDb, loudDb, isQuietRough } = quality;
  if (seconds === 0) return { fault: null, notes: [] };
  if (peak <= SILENT_PEAK) return { fault: 'holds digital silence: check the microphone', notes: [] };
  if (loudDb - quietDb < LEAST_RANGE_DB)
    return { fault: 'holds a steady tone or noise, no speech', notes: [] };
  const isHissing = isQuietRough && quietDb > HISS_DB && loudDb - quietDb < CLEAN_RANGE_DB;
  const percent = (clippedShare * 100).toFixed(1);
  return {
    fault: null,
    notes: [
      ...(clippedShare > CLIPPED_SHARE ? [`is clipped (${percent} % of it): record it more quietly`] : []),
      ...(isHissing
        ? [`hisses in its pauses (${Math.round(quietDb)} dBFS): use a better microphone, or --denoise`]
        : []),
    ],
  };
}
