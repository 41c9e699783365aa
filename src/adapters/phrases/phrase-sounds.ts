import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { judgeSigned, readEnvelope, SIGNED_FAULTS, type SignedFault } from '../../core/signed-message.ts';
import type { SignatureReader } from '../../ports/signature.ts';
import { OUTPUT_RATE_HZ } from '../../ports/stream.ts';
import {
  LARGEST_MANIFEST_BYTES,
  LONGEST_PHRASE_S,
  PHRASE_MANIFEST,
  type PhraseSound,
  phraseManifestSchema,
} from '../../protocol/phrase-manifest.ts';
import { BYTES_PER_SAMPLE } from '../../sound/pcm.ts';
import { AudioFaultError } from '../audio/fault.ts';
import { openWavBytes } from '../audio/wav.ts';
import { readUnverified } from '../signing/jws.ts';
import { systemReason } from '../system-error.ts';

const MOST_PCM_BYTES = LONGEST_PHRASE_S * OUTPUT_RATE_HZ * BYTES_PER_SAMPLE;
/** Room for the header. */
const MOST_FILE_BYTES = MOST_PCM_BYTES + 4096;

/** A text in one language. */
export interface PhraseText {
  readonly language: string;
  readonly text: string;
}

export type PhraseSoundRead =
  | { readonly ok: true; readonly pcm: Uint8Array; readonly sound: PhraseSound }
  /** `why`: a sentence that names the file. */
  | { readonly ok: false; readonly why: string };

/** The sound files of the phrases, as they are on the card now. */
export interface PhraseSounds {
  read(phrase: PhraseText): Promise<PhraseSoundRead>;
}

/** What makes the sounds of this device trustworthy. */
export interface PhraseTrust {
  /** Null: the device has no key of its owner, and accepts sounds without a signature. */
  readonly signatures: SignatureReader | null;
  /** The topics' prefix, for which the owner has signed them. */
  readonly prefix: string;
}

/** Reads the manifest. Nothing is kept in memory: a phrase is seldom spoken, and the folder may be replaced. Never rejects. */
export async function openPhraseSounds(folder: string, trust: PhraseTrust): Promise<PhraseSounds> {
  const file = join(folder, PHRASE_MANIFEST);
  const manifest = await readManifest(file, trust);
  return {
    async read({ language, text }) {
      if (typeof manifest === 'string') return { ok: false, why: manifest };
      const sound = manifest.find((one) => one.language === language && one.text === text);
      return sound === undefined
        ? { ok: false, why: `${file} has no sound for this text in "${language}"` }
        : readSound(join(folder, sound.file), sound);
    },
  };
}

/** @returns a sentence if it cannot be used */
async function readManifest(file: string, trust: PhraseTrust): Promise<readonly PhraseSound[] | string> {
  const bytes = await readWhole(file, LARGEST_MANIFEST_BYTES);
  if (typeof bytes === 'string') return bytes;
  const content = await openManifest(bytes.toString('utf8'), trust);
  if (!content.ok) return `${file} cannot be used: ${SIGNED_FAULTS[content.why]}`;
  const parsed = phraseManifestSchema.safeParse(content.body);
  return parsed.success ? parsed.data.phrases : `${file} is not a manifest that "phrases make" has written`;
}

type Content =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly why: SignedFault };

async function openManifest(text: string, { signatures, prefix }: PhraseTrust): Promise<Content> {
  const envelope = readEnvelope(text, LARGEST_MANIFEST_BYTES);
  if (envelope.kind === 'unreadable') return { ok: false, why: envelope.why };
  if (envelope.kind === 'plain')
    return signatures === null ? { ok: true, body: envelope.json } : { ok: false, why: 'unsigned' };
  const { jws } = envelope;
  const opening = signatures === null ? readUnverified(jws) : await signatures.open(jws);
  if (!opening.ok) return opening;
  return judgeSigned(opening.content, { type: 'dragoman+phrases', devices: [prefix], id: null });
}

async function readSound(file: string, sound: PhraseSound): Promise<PhraseSoundRead> {
  const bytes = await readWhole(file, MOST_FILE_BYTES);
  if (typeof bytes === 'string') return { ok: false, why: bytes };
  if (createHash('sha256').update(bytes).digest('hex') !== sound.sha256)
    return { ok: false, why: `${file} is not the file that was made: its hash differs from the manifest` };
  try {
    const { format, frames, read } = openWavBytes(bytes, file);
    const { encoding, rateHz, channels, sampleBytes } = format;
    const isOurs = encoding === 'int' && rateHz === OUTPUT_RATE_HZ && channels === 1 && sampleBytes === 2;
    if (!isOurs || frames === 0)
      return { ok: false, why: `${file} must hold 16-bit mono sound at ${OUTPUT_RATE_HZ} Hz` };
    return { ok: true, pcm: read(0, frames).subarray(0, MOST_PCM_BYTES), sound };
  } catch (error) {
    if (error instanceof AudioFaultError) return { ok: false, why: error.message };
    throw error;
  }
}

/** @returns a sentence if the file is absent, unreadable, too large or not a regular file */
async function readWhole(file: string, mostBytes: number): Promise<Buffer | string> {
  try {
    const { size, isFile } = await statOf(file);
    if (!isFile) return `${file} is not a regular file`;
    if (size > mostBytes) return `${file} is too large`;
    return await readFile(file);
  } catch (error) {
    return `${file} cannot be read: ${systemReason(error)}`;
  }
}

async function statOf(file: string): Promise<{ size: number; isFile: boolean }> {
  const stats = await stat(file);
  return { size: stats.size, isFile: stats.isFile() };
}
