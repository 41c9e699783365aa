import type { StreamListener, StreamMessage } from '../../ports/stream.ts';

/** Hands on what is said of a stream, with every text that anybody may read passed through `hide`. */
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

/** What the service complains of is read by people; nothing else that it says is shown. */
function withoutSecrets(message: StreamMessage, hide: (text: string) => string): StreamMessage {
  if (message.message_type !== 'error' && message.message_type !== 'warning') return message;
  const words = Object.entries(message.data).map(([key, value]) => [
    key,
    typeof value === 'string' ? hide(value) : value,
  ]);
  return { ...message, data: Object.fromEntries(words) };
}
