import { cloneVoiceRequestSchema, unicodeCloneVoiceRequestSchema } from '../../protocol/service/voice.ts';
import { type Answer, refuse } from './refusal.ts';
import { type ApiContext, type ApiRequest, demand, invalid } from './session-api.ts';
import { type SampleFacts, type UploadTicket, type VoiceRecord, voiceStatusOf } from './voices.ts';

/** Path of the pre-signed upload targets, below the HTTP base. */
export const UPLOAD_PATH = '/emulator-uploads';

function viewTicket(ticket: UploadTicket, httpBase: string): Record<string, unknown> {
  return {
    item_id: ticket.itemId,
    blob_id: ticket.blobId,
    url: `${httpBase}${UPLOAD_PATH}/${ticket.blobId}`,
    form_data: ticket.form,
  };
}

/** A voice in the shape of docs/service.md 2.2, with the `processing_result` that a live service shows. */
function viewVoice(voice: VoiceRecord, request: ApiRequest, { service, now }: ApiContext): object {
  const { request: asked } = voice;
  const status = voiceStatusOf(voice, service.clockAt(now));
  const done = status === 'ready' || status === 'failed';
  const langCode = asked.samples[0]?.lang_code;
  return {
    utc_created_at: new Date(voice.createdAt + service.faults.skewMs).toISOString(),
    voice_id: voice.id,
    user_id: voice.userId,
    name: asked.name,
    voice_type: 'instantly_cloned',
    processing_status: status,
    processing_result: done ? voice.result : { errors: [], warnings: [] },
    ...(asked.description === undefined ? {} : { description: asked.description }),
    ...(asked.labels === undefined ? {} : { labels: asked.labels }),
    ...(langCode === undefined ? {} : { lang_code: langCode }),
    samples: voice.tickets.map((ticket) => viewTicket(ticket, request.httpBase)),
  };
}

/** `POST /saas/voice/clone` (docs/service.md 4.4). */
export function cloneVoice(request: ApiRequest, context: ApiContext): Answer {
  const denied = demand('jwt', request, context);
  if (denied !== null) return denied;
  const { unicodeNames } = context.service.choices;
  const schema = unicodeNames ? unicodeCloneVoiceRequestSchema : cloneVoiceRequestSchema;
  const body = schema.safeParse(request.body);
  if (!body.success) return invalid(body.error, context.instance);
  const voice = context.service.voices.create(body.data.data, context.service.clockAt(context.now));
  return { status: 200, body: { ok: true, data: viewVoice(voice, request, context) } };
}

/** `GET /saas/voice/m/{voice_id}` (docs/service.md 4.6). */
export function getVoice(id: string, request: ApiRequest, context: ApiContext): Answer {
  const denied = demand('jwt', request, context);
  if (denied !== null) return denied;
  const voice = context.service.voices.get(id);
  if (voice === undefined) return refuse('not_found', context.instance, ['there is no voice of this id']);
  return { status: 200, body: { ok: true, data: viewVoice(voice, request, context) } };
}

/** `DELETE /saas/voice/m/{voice_id}`. */
export function deleteVoice(id: string, request: ApiRequest, context: ApiContext): Answer {
  const denied = demand('jwt', request, context);
  if (denied !== null) return denied;
  const voice = context.service.voices.get(id);
  if (voice === undefined) return refuse('not_found', context.instance, ['there is no voice of this id']);
  context.service.voices.remove(voice);
  return { status: 204, body: null };
}

/** A multipart upload: its parts in order. The file itself has been examined and discarded. */
export interface Upload {
  readonly fields: readonly (readonly [string, string])[];
  readonly files: readonly {
    readonly field: string;
    readonly fieldsBefore: number;
    readonly facts: SampleFacts;
  }[];
  /** Whether the file exceeds the size limit. */
  readonly tooLarge: boolean;
}

/** Why an upload does not match its target (docs/service.md 4.5); null if it does. */
function objectToUpload(upload: Upload, ticket: UploadTicket, at: number): string | null {
  if (ticket.used) return 'the target has been used';
  if (at >= ticket.expiresAt) return 'the target has expired';
  const file = upload.files[0];
  if (file === undefined) return 'field "file" is missing';
  if (upload.files.length > 1) return 'only one file is accepted';
  if (file.field !== 'file') return `the file must be in the field "file", not "${file.field.slice(0, 40)}"`;
  if (file.fieldsBefore < upload.fields.length) return 'the field "file" must come last';
  const sent = new Map(upload.fields);
  for (const [key, value] of Object.entries(ticket.form)) {
    if (!sent.has(key)) return `form field "${key}" is missing`;
    if (sent.get(key) !== value) return `form field "${key}" differs from form_data`;
  }
  return null;
}

/** `POST` to a pre-signed upload target (docs/service.md 4.5). The form fields are its only credential. */
export function takeUpload(blobId: string, upload: Upload, { service, now, instance }: ApiContext): Answer {
  const uploadTicket = service.voices.ticket(blobId);
  if (uploadTicket === undefined) return refuse('not_found', instance, ['this upload target does not exist']);
  const at = service.clockAt(now);
  const objection = objectToUpload(upload, uploadTicket.ticket, at);
  if (objection !== null) return refuse('upload_refused', instance, [objection]);
  if (upload.tooLarge) {
    return refuse('body_too_large', instance, [
      `at most ${service.choices.uploadMaxBytes} bytes are accepted`,
    ]);
  }
  const facts = upload.files[0]?.facts;
  if (facts === undefined || facts.bytes === 0)
    return refuse('upload_refused', instance, ['the file is empty']);
  service.voices.uploaded(uploadTicket.voice, uploadTicket.ticket, facts, at);
  return { status: 204, body: null };
}
