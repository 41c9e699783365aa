import type { Finding } from '../../protocol/mqtt/diagnose.ts';
import { type AgentWord, BROKER_CONNECTED } from './agent-word.ts';
import type { PhraseCode } from './phrases.ts';

/** A way out of this machine. */
export interface Interface {
  readonly name: string;
  readonly isWireless: boolean;
  /** A cable is plugged in, or the access point has taken it. */
  readonly hasLink: boolean;
  /** Addresses that reach further than the next machine. */
  readonly addresses: readonly string[];
}

/** What the supplicant makes of the Wi-Fi; null where nobody tells. */
export type WifiTrouble = 'password_wrong' | 'not_found' | null;

/** The machine some time after its start, seen from outside the agent. */
export interface StartFacts {
  readonly agent: AgentWord;
  /** Without loopback. */
  readonly interfaces: readonly Interface[];
  readonly wifi: WifiTrouble;
  readonly isClockSet: boolean;
  /** What the doctor found; empty where it was not asked. */
  readonly findings: readonly Finding[];
}

/** One thing that keeps the kiosk from being ready. */
export interface Trouble {
  readonly code: PhraseCode;
  /** In the words of whoever found it; for the status file. */
  readonly detail: string;
  /** Certain at once; others may pass while the machine starts. */
  readonly isCertain: boolean;
  /** The agent has no configuration that it could use. */
  readonly isConfiguration?: true;
}

export type StartVerdict =
  | { readonly kind: 'ready' }
  | { readonly kind: 'not_yet' | 'troubled'; readonly troubles: readonly Trouble[] };

/**
 * How the kiosk is: ready, on its way, or kept from it. Of what follows from each other (no network, no broker, no backend)
 * the first cause alone is told; microphone and loudspeaker stand beside it.
 */
export function judgeStart(facts: StartFacts): StartVerdict {
  const { agent } = facts;
  const isAtHome =
    agent.kind === 'says' &&
    (agent.status === 'ready' || agent.status === 'idle' || hasOnly(agent.reasons, LATER_TROUBLES));
  const sound = soundTroubles(facts);
  // Who is idle and has no connection hears no command. What the doctor found itself weighs more than what the broker kept.
  if (isAtHome && hasBroker(facts) && sound.length === 0) return { kind: 'ready' };
  const connection = connectionTrouble(facts);
  const troubles = [...(connection === null ? [] : [connection]), ...sound];
  if (troubles.length > 0) return { kind: 'troubled', troubles };
  // Nobody can be asked: then what the doctor found well is well. What it left to an agent that says nothing is not.
  const found = (name: Finding['check'], wanted: Finding['verdict']): boolean =>
    facts.findings.some(({ check, verdict }) => check === name && verdict === wanted);
  const isWell = agent.kind === 'unknown' && found('backend', 'ok') && !found('capture', 'skipped');
  return isWell ? { kind: 'ready' } : { kind: 'not_yet', troubles: [] };
}

function connectionTrouble(facts: StartFacts): Trouble | null {
  const { agent, isClockSet } = facts;
  if (agent.kind === 'down') return trouble('service_down', agent.why);
  if (hasReason(facts, 'config')) return { ...trouble('service_down', wordOf(facts)), isConfiguration: true };
  // An agent that has reached the broker has a network, whatever it looks like from here.
  const network = hasBroker(facts) ? null : networkTrouble(facts);
  if (network !== null) return network;
  if (!isClockSet) return trouble('clock_wrong', 'the clock is not set');
  const clock = problemOf(facts, 'clock');
  if (clock !== null) return trouble('clock_wrong', clock.detail);
  const broker = hasBroker(facts) ? null : problemOf(facts, 'broker');
  if (broker !== null) return brokerTrouble(broker);
  if (hasReason(facts, 'not_subscribed', 'not_published', 'identity_conflict'))
    return trouble('broker_refused', wordOf(facts));
  if (hasReason(facts, 'no_broker')) return trouble('broker_unreachable', wordOf(facts));
  if (hasReason(facts, 'no_backend')) return trouble('backend_silent', wordOf(facts));
  const backend = problemOf(facts, 'backend');
  if (backend !== null) return trouble('backend_silent', backend.detail);
  if (hasReason(facts, ...SERVICE_REASONS)) return trouble('service_down', wordOf(facts));
  return null;
}

function brokerTrouble({ detail, data }: Problem): Trouble {
  // A clock that stands where the system was built is set, and behind all certificates.
  if (data['certificate_begins'] === 'later') return trouble('clock_wrong', detail);
  return trouble(data['login'] === 'refused' ? 'broker_refused' : 'broker_unreachable', detail);
}

/** The agent has a connection and a backend, and no session comes of it. */
const SERVICE_REASONS = [
  ...['parked', 'failing', 'no_session', 'silent_service', 'unspoken', 'budget', 'internal_error'],
  ...['memory', 'broker', 'certificate'],
];

/** With these alone the kiosk interprets; its owner knows of them. */
const LATER_TROUBLES = ['config_problem', 'disk_problem'];

function networkTrouble({ interfaces, wifi }: StartFacts): Trouble | null {
  if (interfaces.some(({ addresses }) => addresses.length > 0)) return null;
  const linked = interfaces.filter(({ hasLink }) => hasLink);
  if (linked.length > 0) {
    const names = linked.map(({ name }) => name).join(', ');
    return trouble('no_address', `${names}: there is a link, and no address`);
  }
  if (wifi === 'password_wrong')
    return { ...trouble('wifi_password_wrong', 'the access point refuses the password'), isCertain: true };
  if (wifi === 'not_found')
    return trouble('wifi_not_found', 'no access point in reach has the name of the settings');
  const names = interfaces.map(({ name }) => name).join(', ');
  return trouble('no_network', names === '' ? 'there is no network interface' : `no link on ${names}`);
}

function soundTroubles(facts: StartFacts): Trouble[] {
  const found: Trouble[] = [];
  const microphone = problemOf(facts, 'capture');
  if (hasReason(facts, 'capture')) found.push(trouble('no_microphone', wordOf(facts)));
  else if (microphone !== null) found.push(trouble('no_microphone', microphone.detail));
  const loudspeaker = problemOf(facts, 'playback');
  if (hasReason(facts, 'playback')) found.push(trouble('no_loudspeaker', wordOf(facts)));
  else if (loudspeaker !== null) found.push(trouble('no_loudspeaker', loudspeaker.detail));
  return found;
}

const trouble = (code: PhraseCode, detail: string): Trouble => ({ code, detail, isCertain: false });

function hasReason({ agent }: StartFacts, ...codes: readonly string[]): boolean {
  return agent.kind === 'says' && agent.reasons.some((reason) => codes.includes(codeOf(reason)));
}

function hasOnly(reasons: readonly string[], codes: readonly string[]): boolean {
  return reasons.length > 0 && reasons.every((reason) => codes.includes(codeOf(reason)));
}

const codeOf = (reason: string): string => reason.split(':')[0] ?? '';

const wordOf = ({ agent }: StartFacts): string => (agent.kind === 'says' ? agent.text : '');

/** Of an agent with many lanes the end of its sentence may be cut off. */
const WHOLE_SENTENCE = 299;

const hasBroker = ({ agent }: StartFacts): boolean =>
  agent.kind === 'says' && (agent.text.endsWith(BROKER_CONNECTED) || agent.text.length >= WHOLE_SENTENCE);

interface Problem {
  readonly detail: string;
  readonly data: Finding['data'];
}

function problemOf({ findings }: StartFacts, name: Finding['check']): Problem | null {
  // Beside a running agent the doctor is let in by a name of its own, or not: a warning, where the agent has no connection either.
  const found = findings.find(
    ({ check, verdict, data }) => check === name && (verdict === 'problem' || data['login'] === 'refused'),
  );
  if (found === undefined) return null;
  return { detail: [found.finding, found.fix].filter(Boolean).join('. '), data: found.data };
}
