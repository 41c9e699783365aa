import type { Effect, Link, RawForm } from './effect.ts';
import type { StreamFault } from './fault.ts';
import type { Stream } from './stream.ts';

type Malformed = (StreamFault & { kind: 'malformed' })['form'];

/** Frames that a service should never send, by form. */
function malformed(form: Malformed): string | Uint8Array {
  switch (form) {
    case 'not_json':
      return '{"message_type": "output_audio_data", "data": {"da';
    case 'empty':
      return '{}';
    case 'no_type':
      return '{"data":{"transcription":{"text":"?","language":"en"}}}';
    case 'unknown_type':
      return '{"message_type":"weather_report","data":{"sky":"clear"}}';
    case 'binary':
      return new Uint8Array([0, 255, 1, 254, 2, 253, 128, 127]);
    case 'bad_utf8':
      // The first two of a character's three bytes, then a byte that UTF-8 never uses.
      return new Uint8Array([0x7b, 0x22, 0xe6, 0x97, 0xff, 0x22, 0x7d]);
    case 'bad_frame':
      // A final frame with an opcode that RFC 6455 reserves.
      return new Uint8Array([0x83, 0x00]);
    case 'wrong_data':
      return '{"message_type":"validated_transcription","data":{"transcription":["text",7,null]}}';
    case 'bad_base64':
      return '{"message_type":"output_audio_data","data":{"data":"%%% no base64 %%%"}}';
    case 'deep':
      return `${'['.repeat(5000)}${']'.repeat(5000)}`;
  }
}

function formOf(form: Malformed): RawForm {
  if (form === 'bad_frame') return 'wire';
  return form === 'binary' ? 'binary' : 'text';
}

function oversized(bytes: number): string {
  const head = '{"message_type":"pipeline_timings","data":{"filler":"';
  const tail = '"}}';
  return `${head}${'x'.repeat(Math.max(0, bytes - head.length - tail.length))}${tail}`;
}

/** What a fault needs besides the stream itself. */
export interface FaultSurroundings {
  readonly now: number;
  emit(effect: Effect): void;
  /** Deletes the stream's session; with `linger` the sockets of its streams stay open. */
  revoke(linger: boolean): void;
  /** Changes the state of the connection, forever or for this long. */
  setLink(link: Partial<Link>, forMs: number | undefined): void;
}

/** Applies a fault to a stream now. */
export function inflict(fault: StreamFault, stream: Stream, around: FaultSurroundings): void {
  const { now, emit } = around;
  const id = stream.report.id;
  switch (fault.kind) {
    case 'revoke':
      return around.revoke(fault.linger ?? false);
    case 'max_duration':
      return stream.end('max_duration_reached', 'max_duration_reached', 0, now);
    case 'drop':
      emit({ type: 'reset', stream: id });
      return stream.closed(1006, 'reset', 'service', now);
    case 'close':
      emit({ type: 'close', stream: id, code: fault.code, reason: fault.reason });
      return stream.closed(fault.code, fault.reason, 'service', now);
    case 'black_hole':
      return around.setLink({ deaf: true, mute: true }, fault.for_ms);
    case 'zombie':
      stream.sender.mute = { except: fault.except, until: now + (fault.for_ms ?? Number.POSITIVE_INFINITY) };
      return;
    case 'cut_speech':
      return stream.sender.speechFaults.cut(fault);
    case 'slow_read':
      return around.setLink({ readBytesPerS: fault.bytes_per_s }, fault.for_ms);
    case 'delay': {
      const until = fault.for_ms === undefined ? Number.POSITIVE_INFINITY : now + fault.for_ms;
      stream.sender.delay = { ms: fault.ms, jitterMs: fault.jitter_ms, until };
      return;
    }
    case 'malformed':
      for (let sent = 0; sent < fault.times; sent++) {
        emit({ type: 'sendRaw', stream: id, payload: malformed(fault.form), as: formOf(fault.form) });
      }
      return;
    case 'oversized':
      return emit({ type: 'sendRaw', stream: id, payload: oversized(fault.bytes) });
    case 'omit_last_chunk':
      return stream.sender.speechFaults.omitLast(fault.times);
    case 'warning':
      return stream.sender.send(
        { type: 'warning', data: { code: fault.code, message: 'sent on demand' } },
        now,
      );
    case 'error':
      return stream.sender.send(
        { type: 'error', data: { code: fault.code, desc: 'sent on demand', param: null } },
        now,
      );
    case 'service_timeout':
      return stream.timeOut(now);
    default:
      return fault satisfies never;
  }
}
