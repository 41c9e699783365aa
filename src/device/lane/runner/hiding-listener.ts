import type { ServiceEvent, StreamListener } from '../../../ports/stream.ts';

type Hide = (text: string) => string;

/** Passes a stream's events on; every text that people may read goes through `hide`. */
export function hidingListener(listener: StreamListener, hide: Hide): StreamListener {
  return {
    ...listener,
    said: (event) => listener.said(withoutSecrets(event, hide)),
    unreached: (spent, message, isOurs) => listener.unreached(spent, hide(message), isOurs),
    broke: (fault, message) => listener.broke(fault, hide(message)),
    oddity: (description) => listener.oddity(hide(description)),
    unreadable: (what, description) => listener.unreadable(what, hide(description)),
  };
}

/** People read the service's explanations; no other text from the service is shown. */
function withoutSecrets(event: ServiceEvent, hide: Hide): ServiceEvent {
  const hideIn = (text: string | null): string | null => (text === null ? null : hide(text));
  switch (event.type) {
    case 'ready':
    case 'refused':
      return { ...event, detail: hideIn(event.detail) };
    case 'warned':
      return { ...event, code: hideIn(event.code), text: hideIn(event.text) };
    case 'ended':
      return { ...event, detail: hide(event.detail) };
    default:
      return event;
  }
}
