import type { StreamListener, StreamMessage } from '../../ports/stream.ts';

/** Passes a stream's callbacks on; every text that people may read goes through `hide`. */
export function hidingListener(listener: StreamListener, hide: (text: string) => string): StreamListener {
  return {
    ...listener,
    refused: (refusal) =>
      listener.refused({ ...refusal, detail: refusal.detail === null ? null : hide(refusal.detail) }),
    unreached: (spent, message, isOurs) => listener.unreached(spent, hide(message), isOurs),
    broke: (fault, message) => listener.broke(fault, hide(message)),
    message: (message) => listener.message(withoutSecrets(message, hide)),
    oddity: (description) => listener.oddity(hide(description)),
    unreadable: (what, description) => listener.unreadable(what, hide(description)),
    ended: (code, reason) => listener.ended(code, hide(reason)),
  };
}

/** People read the service's error messages; no other text of it is shown. */
function withoutSecrets(message: StreamMessage, hide: (text: string) => string): StreamMessage {
  if (message.message_type !== 'error' && message.message_type !== 'warning') return message;
  const words = Object.entries(message.data).map(([key, value]) => [
    key,
    typeof value === 'string' ? hide(value) : value,
  ]);
  return { ...message, data: Object.fromEntries(words) };
}
