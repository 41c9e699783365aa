import type { Random } from '../../core/random.ts';
import type { CloneVoiceRequest, ProcessingStatus } from '../../protocol/service/voice.ts';
import type { VoiceChoice } from './another-voice.ts';
import type { Choices } from './choices.ts';
import { drawToken, drawUuid } from './random.ts';

/** Maximum number of voices kept; the oldest is removed first. */
const MOST_VOICES = 2000;

/** Upload target of a sample's file, with its form fields. */
export interface UploadTicket {
  readonly itemId: string;
  readonly blobId: string;
  readonly form: Readonly<Record<string, string>>;
  readonly expiresAt: number;
  used: boolean;
}

/** Problem of a processed sample. */
export interface ProcessingResult {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** A voice as the service keeps it. Times are milliseconds since 1970 on the service's clock. */
export interface VoiceRecord {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly request: CloneVoiceRequest['data'];
  readonly tickets: readonly UploadTicket[];
  result: ProcessingResult;
  /** When processing ends; null until the file has been uploaded. */
  processedAt: number | null;
}

/** Properties of an uploaded file. */
export interface SampleFacts {
  readonly bytes: number;
  /** Length of the sound; null if unknown. */
  readonly seconds: number | null;
  /** MIME types that fit the content; empty for a file that is not a recording. */
  readonly types: readonly string[];
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
}

/** State of a voice at a moment (docs/service.md 3.2). */
export function voiceStatusOf(voice: VoiceRecord, at: number): ProcessingStatus {
  if (voice.processedAt === null) return 'created';
  if (at < voice.processedAt) return 'pending';
  return voice.result.errors.length > 0 ? 'failed' : 'ready';
}

/** All cloned voices of the account. */
export interface VoiceRegistry {
  readonly size: number;
  create(request: CloneVoiceRequest['data'], at: number): VoiceRecord;
  get(id: string): VoiceRecord | undefined;
  /** The voice and the ticket of an upload target. */
  ticket(blobId: string): { voice: VoiceRecord; ticket: UploadTicket } | undefined;
  /** The file has been uploaded: processing begins. */
  uploaded(voice: VoiceRecord, ticket: UploadTicket, facts: SampleFacts, at: number): void;
  remove(voice: VoiceRecord): void;
  /** The next uploads fail in processing. */
  failNext(times: number): void;
  /** The emulator's voice for a cloned voice; null if no voice with this id is ready. */
  choose(id: string, at: number): VoiceChoice | null;
}

export function createVoiceRegistry(choices: Choices, random: Random): VoiceRegistry {
  const voices = new Map<string, VoiceRecord>();
  const blobs = new Map<string, { voice: VoiceRecord; ticket: UploadTicket }>();
  const userId = drawUuid(random);
  let failures = 0;

  const remove = (voice: VoiceRecord): void => {
    voices.delete(voice.id);
    for (const ticket of voice.tickets) blobs.delete(ticket.blobId);
  };

  const issue = (sample: CloneVoiceRequest['data']['samples'][number], at: number): UploadTicket => {
    const blobId = drawUuid(random);
    return {
      itemId: sample.item_id ?? drawUuid(random),
      blobId,
      form: {
        key: `samples/${blobId}/${sample.filename}`,
        'Content-Type': sample.mime_type,
        policy: drawToken(random, 64),
        'x-signature': drawToken(random, 43),
      },
      expiresAt: at + choices.uploadTtlMs,
      used: false,
    };
  };

  const examine = (facts: SampleFacts, type: string): ProcessingResult => {
    const errors = facts.faults.map((fault) => `the sample ${fault}`);
    const warnings = facts.warnings.map((warning) => `the sample ${warning}`);
    if (facts.types.length > 0 && !facts.types.includes(type))
      errors.push(`the sample is ${facts.types[0]}, not ${type}`);
    if (failures > 0) {
      failures--;
      errors.push('processing failed on demand');
    }
    if (errors.length === 0 && facts.seconds !== null && facts.seconds < choices.voiceMinSeconds)
      errors.push(`the sample is shorter than ${choices.voiceMinSeconds} s`);
    return { errors, warnings };
  };

  return {
    get size() {
      return voices.size;
    },
    create(request, at) {
      const voice: VoiceRecord = {
        id: drawUuid(random),
        userId,
        createdAt: at,
        request,
        tickets: request.samples.map((sample) => issue(sample, at)),
        result: { errors: [], warnings: [] },
        processedAt: null,
      };
      voices.set(voice.id, voice);
      for (const ticket of voice.tickets) blobs.set(ticket.blobId, { voice, ticket });
      const oldest = voices.values().next().value;
      if (voices.size > MOST_VOICES && oldest !== undefined) remove(oldest);
      return voice;
    },
    get: (id) => voices.get(id),
    ticket: (blobId) => blobs.get(blobId),
    uploaded(voice, ticket, facts, at) {
      ticket.used = true;
      voice.result = examine(facts, ticket.form['Content-Type'] ?? '');
      voice.processedAt = at + choices.voiceProcessingMs;
    },
    remove,
    failNext(times) {
      failures += times;
    },
    choose(id, at) {
      const voice = voices.get(id);
      if (voice === undefined || voiceStatusOf(voice, at) !== 'ready') return null;
      return id.charCodeAt(0) % 2 === 0 ? 'low' : 'high';
    },
  };
}
