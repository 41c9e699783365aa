/** What a broker allows (MQTT 5): learned from its refusal of a connection, or from its answer to CONNECT. */
import type { BrokerLimit } from '../../ports/bus.ts';

export interface Allowed {
  readonly retain: boolean;
  readonly qos: 0 | 1;
}

export const ALL_ALLOWED: Allowed = { retain: true, qos: 1 };

/** Refusals of a connection because of its will. */
const LIMIT_OF_CODE: ReadonlyMap<number, BrokerLimit> = new Map([
  [0x9a, 'retain'],
  [0x9b, 'qos'],
]);

/** The limits in the broker's answer to CONNECT; MQTT 3.1.1 states none. */
export function allowedBy(
  properties: { readonly retainAvailable?: boolean; readonly maximumQoS?: number } | undefined,
): Allowed {
  return { retain: properties?.retainAvailable !== false, qos: properties?.maximumQoS === 0 ? 0 : 1 };
}

export function limitsOf({ retain, qos }: Allowed): BrokerLimit[] {
  return [...(retain ? [] : ['retain' as const]), ...(qos === 1 ? [] : ['qos' as const])];
}

/** Remembers what each broker allows, by its address. */
export function createAllowances() {
  const known = new Map<string, Allowed>();
  const of = ({ url }: { readonly url: string }): Allowed => known.get(url) ?? ALL_ALLOWED;
  return {
    of,
    /** The broker's latest answer counts, also when it allows more than before. */
    accepted: ({ url }: { readonly url: string }, allowed: Allowed) => void known.set(url, allowed),
    /** @returns whether the refusal revealed a new limit, so that the next attempt asks for less */
    refused(broker: { readonly url: string }, code: number | undefined): boolean {
      const limit = LIMIT_OF_CODE.get(code ?? 0);
      const before = of(broker);
      if (limit === undefined || limitsOf(before).includes(limit)) return false;
      known.set(broker.url, limit === 'retain' ? { ...before, retain: false } : { ...before, qos: 0 });
      return true;
    },
  };
}
