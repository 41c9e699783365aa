import type { Finding } from '../../protocol/mqtt/diagnose.ts';
import { type Block, reasonRow } from '../../protocol/mqtt/reasons.ts';
import type { AgentState } from './agent-state.ts';
import type { PhraseCode } from './phrases.ts';

/** A network interface. */
export interface Interface {
  readonly name: string;
  readonly isWireless: boolean;
  /** A cable is plugged in, or the access point has accepted the kiosk. */
  readonly hasLink: boolean;
  /** Addresses beyond the local link. */
  readonly addresses: readonly string[];
}

/** Wi-Fi problem reported by the supplicant; null: none known. */
export type WifiTrouble = 'password_wrong' | 'not_found' | null;

/** State of the machine some time after its start, seen from outside the agent. */
export interface StartFacts {
  readonly agent: AgentState;
  /** Without loopback. */
  readonly interfaces: readonly Interface[];
  readonly wifi: WifiTrouble;
  readonly isClockSet: boolean;
  /** Findings of the doctor; empty if it was not asked. */
  readonly findings: readonly Finding[];
}

/** A problem that keeps the kiosk from being ready. */
export interface Trouble {
  readonly code: PhraseCode;
  /** Text from the check that found it, for the status file. */
  readonly detail: string;
  /** True: certain at once. False: may pass during the start. */
  readonly isCertain: boolean;
  /** The agent has no usable configuration. */
  readonly isConfiguration?: true;
}

export type StartVerdict =
  | { readonly kind: 'ready' }
  | { readonly kind: 'not_yet' | 'troubled'; readonly troubles: readonly Trouble[] };

/**
 * Judges the kiosk: ready, starting, or in trouble. In a chain of consequences (no network, no broker, no backend) only the
 * first cause is listed; microphone and loudspeaker are listed separately.
 */
export function judgeStart(facts: StartFacts): StartVerdict {
  const { agent } = facts;
  const isAtHome =
    agent.kind === 'says' &&
    (agent.status === 'ready' || agent.status === 'idle' || interprets(agent.reasons));
  const sound = soundTroubles(facts);
  // An idle agent without a connection receives no command. Findings of the doctor count more than the retained status.
  if (isAtHome && hasBroker(facts) && sound.length === 0) return { kind: 'ready' };
  const connection = connectionTrouble(facts);
  const troubles = [...(connection === null ? [] : [connection]), ...sound];
  if (troubles.length > 0) return { kind: 'troubled', troubles };
  // Without an agent to ask, the doctor's good findings count, unless it skipped the microphone because an agent uses it.
  const hasFinding = (name: Finding['check'], wanted: Finding['verdict']): boolean =>
    facts.findings.some(({ check, verdict }) => check === name && verdict === wanted);
  const isWell = agent.kind === 'unknown' && hasFinding('backend', 'ok') && !hasFinding('capture', 'skipped');
  return isWell ? { kind: 'ready' } : { kind: 'not_yet', troubles: [] };
}

function connectionTrouble(facts: StartFacts): Trouble | null {
  const { agent, isClockSet } = facts;
  if (agent.kind === 'down') return trouble('service_down', agent.why);
  if (isBlocked(facts, 'configuration'))
    return { ...trouble('service_down', wordOf(facts)), isConfiguration: true };
  // An agent that is connected to the broker has a network, whatever the interfaces show.
  const network = hasBroker(facts) ? null : networkTrouble(facts);
  if (network !== null) return network;
  if (!isClockSet) return trouble('clock_wrong', 'the clock is not set');
  const clock = problemOf(facts, 'clock');
  if (clock !== null) return trouble('clock_wrong', clock.detail);
  const broker = hasBroker(facts) ? null : problemOf(facts, 'broker');
  if (broker !== null) return brokerTrouble(broker);
  if (isBlocked(facts, 'broker_rules')) return trouble('broker_refused', wordOf(facts));
  if (isBlocked(facts, 'broker')) return trouble('broker_unreachable', wordOf(facts));
  if (isBlocked(facts, 'backend')) return trouble('backend_silent', wordOf(facts));
  const backend = problemOf(facts, 'backend');
  if (backend !== null) return trouble('backend_silent', backend.detail);
  if (isBlocked(facts, 'service')) return trouble('service_down', wordOf(facts));
  return null;
}

function brokerTrouble({ detail, data }: Problem): Trouble {
  // A clock at the system's build time counts as set, but is earlier than all certificates.
  if (data['certificate_begins'] === 'later') return trouble('clock_wrong', detail);
  return trouble(data['login'] === 'refused' ? 'broker_refused' : 'broker_unreachable', detail);
}

function networkTrouble({ interfaces, wifi }: StartFacts): Trouble | null {
  if (interfaces.some(({ addresses }) => addresses.length > 0)) return null;
  const linked = interfaces.filter(({ hasLink }) => hasLink);
  if (linked.length > 0) {
    const names = linked.map(({ name }) => name).join(', ');
    return trouble('no_address', `${names}: the link is up, but there is no address`);
  }
  if (wifi === 'password_wrong')
    return { ...trouble('wifi_password_wrong', 'the access point refuses the password'), isCertain: true };
  if (wifi === 'not_found')
    return trouble('wifi_not_found', 'no access point in range has the configured name');
  const names = interfaces.map(({ name }) => name).join(', ');
  return trouble('no_network', names === '' ? 'there is no network interface' : `no link on ${names}`);
}

function soundTroubles(facts: StartFacts): Trouble[] {
  const troubles: Trouble[] = [];
  const microphone = problemOf(facts, 'capture');
  if (isBlocked(facts, 'microphone')) troubles.push(trouble('no_microphone', wordOf(facts)));
  else if (microphone !== null) troubles.push(trouble('no_microphone', microphone.detail));
  const loudspeaker = problemOf(facts, 'playback');
  if (isBlocked(facts, 'loudspeaker')) troubles.push(trouble('no_loudspeaker', wordOf(facts)));
  else if (loudspeaker !== null) troubles.push(trouble('no_loudspeaker', loudspeaker.detail));
  return troubles;
}

const trouble = (code: PhraseCode, detail: string): Trouble => ({ code, detail, isCertain: false });

function isBlocked({ agent }: StartFacts, by: Block): boolean {
  return agent.kind === 'says' && agent.reasons.some((reason) => reasonRow(reason)?.blocks === by);
}

/** Whether the kiosk interprets in spite of these reasons. A newer agent's unknown reasons count as blocking. */
function interprets(reasons: readonly string[]): boolean {
  return reasons.length > 0 && reasons.every((reason) => reasonRow(reason)?.blocks === null);
}

const wordOf = ({ agent }: StartFacts): string => (agent.kind === 'says' ? agent.text : '');

const hasBroker = ({ agent }: StartFacts): boolean => agent.kind === 'says' && agent.broker === 'connected';

interface Problem {
  readonly detail: string;
  readonly data: Finding['data'];
}

function problemOf({ findings }: StartFacts, name: Finding['check']): Problem | null {
  // Beside a running agent the doctor logs in under its own identifier. Its refused login is only a warning, but it counts here.
  const finding = findings.find(
    ({ check, verdict, data }) => check === name && (verdict === 'problem' || data['login'] === 'refused'),
  );
  if (finding === undefined) return null;
  return { detail: [finding.finding, finding.fix].filter(Boolean).join('. '), data: finding.data };
}
