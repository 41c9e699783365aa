import { BrokerFailure, connectOperator } from '../../adapters/ctl/operator-client.ts';
import { createSigner } from '../../adapters/signing/signer.ts';
import {
  type Answers,
  isComplete,
  NO_ANSWERS,
  noteAnswer,
  type Outcome,
  outcomes,
} from '../../core/fleet/answers.ts';
import { parseJson } from '../../protocol/json.ts';
import {
  type CommandName,
  type CommandResponse,
  commandResponseSchema,
} from '../../protocol/mqtt/command.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { CtlDeps } from './deps.ts';
import { createFleetView, type FleetView } from './fleet-view.ts';
import { topicLevel } from './target.ts';

/** What the broker keeps of devices comes at once; when nothing has come for this long, it is all. */
const ROSTER_SETTLED_MS = 500;
/** A device that has begun is waited for longer, where the operator has not said how long. */
const BEGUN_TIMEOUT_S = 120;
const LOOK_EACH_MS = 50;
/** The clocks of a device and of an operator may differ by this much. */
const CLOCKS_APART_S = 60;

/** What became of a command, and what was known of the devices. */
export interface Asked {
  readonly outcomes: readonly Outcome[];
  readonly view: FleetView;
}

/**
 * Sends a command and waits until all that are there have answered, or for as long as the operator wants.
 * @throws BrokerFailure
 */
export async function ask(
  name: CommandName,
  args: Readonly<Record<string, unknown>>,
  deps: CtlDeps,
): Promise<Asked> {
  const { topics, target, clock, access, timeoutS, options } = deps;
  const view = createFleetView(topics, target);
  const device = target.kind === 'device' ? target.device : null;
  const id = deps.newId();
  let answers: Answers = NO_ANSWERS;
  let lastNewsAt = clock.now();
  let refusal: string | null = null;
  const client = await connectOperator(
    access.connection,
    clock,
    [topics.answers(device, name), ...view.subscriptions],
    {
      message(message) {
        lastNewsAt = clock.now();
        if (view.receive(message)) return;
        const from = topics.read(message.topic);
        const answer = readAnswer(message.payload, id);
        if (from !== null && answer !== null) answers = noteAnswer(answers, from.device, answer);
      },
      refused: (reason) => {
        refusal = reason;
      },
    },
  );
  try {
    const { topic, payload } = await makeCommand(name, args, id, deps);
    const startedAt = clock.now();
    client.publish(topic, payload, {
      qos: 1,
      properties: { expiryS: Math.ceil(options.validFor ?? timeoutS) },
    });
    const spreadS = target.kind === 'device' ? 0 : (options.spread ?? 0);
    const limitS = (): number => {
      const begun = answers.accepted.size > 0 && options.timeout === undefined;
      return spreadS + (begun ? Math.max(timeoutS, BEGUN_TIMEOUT_S) : timeoutS);
    };
    const isDone = (): boolean => {
      const now = clock.now();
      if (now - startedAt >= limitS() * 1000) return true;
      if (now - lastNewsAt < ROSTER_SETTLED_MS && device === null) return false;
      if (device !== null) return answers.final.has(device);
      return isComplete(answers, view.entries());
    };
    while (!isDone() && refusal === null)
      await new Promise<void>((go) => clock.at(clock.now() + LOOK_EACH_MS, go));
    if (refusal !== null) throw new BrokerFailure(`the broker did not take the command: ${String(refusal)}`);
    return { outcomes: outcomes(answers, view.entries(), limitS()), view };
  } finally {
    await client.close();
  }
}

/** Signed where the profile has a key: a device that asks for no signature reads it all the same. */
async function makeCommand(
  name: CommandName,
  args: Readonly<Record<string, unknown>>,
  id: string,
  { topics, target, clock, options, access, timeoutS }: CtlDeps,
): Promise<{ topic: string; payload: string }> {
  const spread = target.kind === 'device' || options.spread === undefined ? {} : { spread_s: options.spread };
  const body = { ts: timestamp(clock.wall()), id, args: { ...args, ...spread } };
  const topic = topics.command(topicLevel(target), name);
  if (access.signingKey === null) return { topic, payload: JSON.stringify(body) };
  const wall = clock.wall();
  const validS = (options.validFor ?? timeoutS) + (options.spread ?? 0) + CLOCKS_APART_S;
  const not_after = timestamp(wall === null ? null : wall + validS * 1000);
  const base = topic.slice(0, topic.lastIndexOf('/cmd/'));
  const signed = { ...body, cmd: name, not_after };
  const jws = await createSigner(access.signingKey).sign('dragoman+command', base, signed, wall);
  return { topic, payload: JSON.stringify({ id, jws }) };
}

/** An answer to this command; null for anything else. */
function readAnswer(payload: string, id: string): CommandResponse | null {
  const parsed = commandResponseSchema.safeParse(parseJson(payload));
  return parsed.success && parsed.data.id === id ? parsed.data : null;
}
