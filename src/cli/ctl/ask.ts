import { SESSION_KEPT_S } from '../../device/broker/subscriptions.ts';
import {
  type Answers,
  isComplete,
  NO_ANSWERS,
  noteAnswer,
  type Outcome,
  outcomes,
  UNKNOWN,
} from '../../fleet/answers.ts';
import { isReachable, isUnknown, NEVER_CAME } from '../../fleet/roster.ts';
import { RETAINED_WITHIN_MS } from '../../machine/status-asker.ts';
import { parseJson } from '../../protocol/common/json.ts';
import { asWall } from '../../protocol/common/time.ts';
import { type CommandResponse, commandResponseSchema } from '../../protocol/mqtt/command.ts';
import { commandNamed } from '../../protocol/mqtt/commands/registry.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { CtlDeps } from './deps.ts';
import { type Exchange, openExchange } from './exchange.ts';
import { createFleetView, type FleetView } from './fleet-view.ts';
import { nearestTarget } from './nearest.ts';
import { seal } from './seal.ts';
import { registeredIn, topicLevel } from './target.ts';

/** Timeout after an `accepted` (seconds), unless the operator set one: such commands take longer. */
const ACCEPTED_TIMEOUT_S = 120;
/** Allowed clock difference between a device and an operator (seconds). */
const CLOCK_SKEW_S = 60;

/** Result of a command, with what the devices have published. */
export interface Asked {
  readonly outcomes: readonly Outcome[];
  readonly view: FleetView;
}

/**
 * Sends a command and waits until all reachable devices have answered, or until the timeout.
 * @throws BrokerFailure
 */
export async function ask(
  name: string,
  args: Readonly<Record<string, unknown>>,
  deps: CtlDeps,
): Promise<Asked> {
  const { topics, target, timeoutS, options } = deps;
  const view = createFleetView(topics, target);
  const device = target.kind === 'device' ? target.device : null;
  const id = deps.newId();
  let answers: Answers = NO_ANSWERS;
  let hasRetained = false;
  const subscriptions = [topics.answers(device, name), ...view.subscriptions];
  const exchange = await openExchange(deps, subscriptions, (message) => {
    hasRetained ||= message.retain;
    if (view.receive(message)) return;
    const from = topics.read(message.topic);
    const answer = readAnswer(message.payload, id);
    if (from !== null && answer !== null) answers = noteAnswer(answers, from.device, answer);
  });
  try {
    if (isOnlyConnected(name) && device !== null) {
      const isKnown = (): boolean =>
        exchange.isSettled() || view.entries().some(({ status }) => status !== null);
      await exchange.waitUntil(isKnown, () => timeoutS * 1000);
      if (!view.entries().some(isReachable)) {
        const unsent = outcomes(answers, view.entries(), 0).map(notKept);
        return { outcomes: await withNearest(unsent, deps), view };
      }
    }
    await sendCommand(exchange, name, args, id, deps);
    const sentAt = deps.clock.now();
    const registered = registeredIn(target, deps.access.registered);
    // Some brokers send no retained messages to wildcards: then the devices to wait for are those with a login, or unknown.
    const areKnown = (): boolean =>
      hasRetained ||
      deps.clock.now() - sentAt >= RETAINED_WITHIN_MS ||
      (registered.length > 0 && registered.every((one) => answers.final.has(one)));
    const queued = queuedUntil(deps);
    const spreadS = target.kind === 'device' ? 0 : (options.spread ?? 0);
    const limitS = (): number => {
      const begun = answers.accepted.size > 0 && options.timeout === undefined;
      return spreadS + (begun ? Math.max(timeoutS, ACCEPTED_TIMEOUT_S) : timeoutS);
    };
    const isStranger = (name: string): boolean =>
      !answers.accepted.has(name) && view.entries().every(isUnknown);
    const isDone = (): boolean =>
      device === null
        ? exchange.isSettled() && areKnown() && isComplete(answers, view.entries())
        : answers.final.has(device) || (exchange.isSettled() && isStranger(device));
    await exchange.waitUntil(isDone, () => limitS() * 1000);
    const allOutcomes = outcomes(answers, view.entries(), limitS(), queued);
    return { outcomes: await withNearest(allOutcomes, deps), view };
  } finally {
    await exchange.close();
  }
}

/** Whether only connected devices get the command: the broker must not queue it for offline ones. */
const isOnlyConnected = (name: string): boolean => commandNamed(name)?.onlyConnected === true;

function notKept(outcome: Outcome): Outcome {
  if (outcome.kind !== 'silent' || outcome.why === UNKNOWN) return outcome;
  return { ...outcome, why: `${outcome.why}; this command is not kept for it: send it again later` };
}

/** Adds the name that the operator probably means to the outcome of a device that the broker does not know. */
async function withNearest(allOutcomes: readonly Outcome[], deps: CtlDeps): Promise<readonly Outcome[]> {
  const { target } = deps;
  const isStrange = allOutcomes.some((outcome) => outcome.kind === 'silent' && outcome.why === UNKNOWN);
  if (target.kind !== 'device' || !isStrange) return allOutcomes;
  const why = registeredIn(target, deps.access.registered).length > 0 ? NEVER_CAME : await strange(deps);
  return allOutcomes.map((outcome) => (outcome.kind === 'silent' ? { ...outcome, why } : outcome));
}

async function strange(deps: CtlDeps): Promise<string> {
  const near = await nearestTarget(deps);
  return near === null ? UNKNOWN : `${UNKNOWN}; did you mean "${near}"?`;
}

/** Describes how long the broker queues a command for offline devices; empty: the command expires at its timeout. */
function queuedUntil({ options: { validFor }, clock }: CtlDeps): string {
  if (validFor === undefined) return '';
  const wall = clock.wall();
  const ms = Math.min(validFor, SESSION_KEPT_S) * 1000;
  const until = wall === null ? `for ${ms / 1000} s` : `until ${timeOfDay(wall + ms)} UTC`;
  return `; the command is queued ${until} at the latest: the broker drops it ${SESSION_KEPT_S / 60} minutes after the device was lost`;
}

const timeOfDay = (ms: number): string => new Date(ms).toISOString().slice(11, 19);

/** Publishes a command. It expires at the timeout, or after the operator's `validFor`. */
export async function sendCommand(
  exchange: Pick<Exchange, 'publish'>,
  name: string,
  args: Readonly<Record<string, unknown>>,
  id: string,
  deps: CtlDeps,
): Promise<void> {
  const { topics, target, clock, options, access, timeoutS } = deps;
  const spread = target.kind === 'device' || options.spread === undefined ? {} : { spread_s: options.spread };
  const body = { ts: timestamp(clock.wall()), id, args: { ...args, ...spread } };
  const topic = topics.command(topicLevel(target), name);
  const expiryS = Math.ceil(options.validFor ?? timeoutS);
  const wall = clock.wall();
  const validMs = (expiryS + (options.spread ?? 0) + CLOCK_SKEW_S) * 1000;
  // The signature covers the name and the expiry, so that the message cannot be replayed under another name or later.
  const signed =
    access.signingKey === null
      ? body
      : { ...body, cmd: name, not_after: timestamp(wall === null ? null : asWall(wall + validMs)) };
  const about = topic.slice(0, topic.lastIndexOf('/cmd/'));
  const payload = await seal('dragoman+command', about, signed, deps, { id });
  exchange.publish(topic, payload, { qos: isOnlyConnected(name) ? 0 : 1, properties: { expiryS } });
}

/** Reads an answer to this command; null for other messages. */
export function readAnswer(payload: string, id: string): CommandResponse | null {
  const parsed = commandResponseSchema.safeParse(parseJson(payload));
  return parsed.success && parsed.data.id === id ? parsed.data : null;
}
