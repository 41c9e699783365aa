import { splitHttpAnswer } from '../../../../core/network/http-answer.ts';
import type { BrokerLimit } from '../../../../ports/bus.ts';
import { combine, type Outcome, ok, problem, warning } from '../../report/finding.ts';
import { explainRefusedLogin, type LoginNames } from './refusal-rules.ts';

/** An agent on this machine: not there, connected with the same login, not connected (and why), or not known. */
export type AgentLink = 'absent' | 'connected' | 'unknown' | { readonly fails: string };

/** Result of a login at the broker. */
export type LoginFacts =
  | {
      readonly ok: true;
      readonly protocol: 4 | 5;
      readonly subscriptions: number;
      readonly limits: readonly BrokerLimit[];
      /** The client identifier that was used. */
      readonly as: 'doctor' | 'device' | 'agent';
    }
  | {
      readonly ok: false;
      readonly refused: boolean;
      readonly message: string;
      /** The broker's own reason, if it gave one. */
      readonly code?: number | undefined;
      /** If an agent may be running, the doctor cannot use the device's own client identifier. */
      readonly agent: AgentLink;
    };

export interface LoginQuestion {
  readonly clientId: string;
  /** The connection is not encrypted. */
  readonly isExposed: boolean;
  readonly names: LoginNames;
}

const NOT_AUTHORIZED = 0x87;
const ASK_OTHERWISE =
  'The broker most likely accepts only the device\'s own identifier: run the doctor as root or as the agent\'s user, or send the agent the command "diagnose".';

const LIMITS: Readonly<Record<BrokerLimit, Outcome>> = {
  retain: warning(
    'the broker allows no retained messages: whoever connects later does not see the status, and config/desired is not kept',
    'Allow retained messages at the broker (mosquitto: retain_available true).',
  ),
  qos: warning(
    'the broker allows QoS 0 only: commands and answers can be lost',
    'Allow QoS 1 at the broker (mosquitto: max_qos 1 or 2).',
  ),
};

/** Whether the broker refuses the doctor because it allows only one client identifier per login, and the agent is using that. */
export function isAgentsAlone(facts: LoginFacts, names: LoginNames): boolean {
  if (facts.ok || !facts.refused || isAboutTopics(facts.message)) return false;
  const { code, agent } = facts;
  if (agent !== 'connected' && agent !== 'unknown') return false;
  if (explainRefusedLogin(code, names).cause === 'identifier') return true;
  // Some brokers send the same code for a wrong password.
  return agent === 'connected' && (code === 5 || code === NOT_AUTHORIZED);
}

/** The broker let us in, and ended the connection at this packet. */
const isCutAtPacket = (message: string): boolean => / after our (SUBSCRIBE|PUBLISH) to /.test(message);
const isAboutTopics = (message: string): boolean => /allow us to subscribe/.test(message);

export function judgeLogin(facts: LoginFacts, question: LoginQuestion): Outcome {
  return facts.ok ? judgeGranted(facts, question.isExposed) : judgeRefused(facts, question);
}

function judgeGranted(facts: Extract<LoginFacts, { ok: true }>, isExposed: boolean): Outcome {
  const version = facts.protocol === 5 ? 'MQTT 5' : 'MQTT 3.1.1';
  const limits = [...facts.limits];
  const data = { mqtt: version, subscriptions: facts.subscriptions, login_as: facts.as, limits };
  const who = facts.as === 'agent' ? 'the running agent is logged in' : 'logged in';
  const done = `${who} (${version}), ${facts.subscriptions} subscriptions granted`;
  const exposed = warning(
    `${done}, but without encryption: anyone on the network path can read the password and redirect the microphone`,
    "Use mqtts:// in mqtt.url, and set mqtt.caFile to the broker's certificate authority.",
  );
  return combine([ok(done, data), ...(isExposed ? [exposed] : []), ...limits.map((limit) => LIMITS[limit])]);
}

function judgeRefused(
  { refused, message, code, agent }: Extract<LoginFacts, { ok: false }>,
  { clientId, names }: LoginQuestion,
): Outcome {
  const data = { login: refused ? 'refused' : 'failed', code: code ?? null };
  const { cause, fix } = explainRefusedLogin(code, names);
  const byHttp = splitHttpAnswer(message);
  if (byHttp !== null) return problem(byHttp.finding, byHttp.fix, data);
  if (!refused && isCutAtPacket(message))
    return problem(
      message,
      `Look at the broker's log: its rules or its limits may forbid this packet (client "${clientId}").`,
      data,
    );
  if (!refused)
    return problem(
      message,
      code === undefined ? "Look at the broker's log, and check that it listens for MQTT on this port." : fix,
      data,
    );
  if (isAboutTopics(message))
    return problem(
      message,
      `Allow the device these topics in the broker's access list (client "${clientId}").`,
      data,
    );
  const beside = `the doctor logs in beside the running agent as "${clientId}.doctor"`;
  // The broker refuses the doctor's identifier, not the device's.
  if (cause === 'identifier' && (agent === 'connected' || agent === 'unknown')) {
    const outcome = agent === 'connected' ? warning : problem;
    return outcome(
      `${message}; ${beside}, and the agent could not be asked`,
      `${ASK_OTHERWISE} If the result is the same: ${fix}`,
      data,
    );
  }
  // Some brokers send the same code for a login that is bound to another client identifier.
  if ((code === 5 || code === NOT_AUTHORIZED) && agent === 'connected')
    return warning(
      `${message}; ${beside}, and the agent itself, which is connected with the same login, could not be asked`,
      `${ASK_OTHERWISE} If that is not the cause: ${fix}`,
      data,
    );
  const failing = typeof agent === 'object' ? '; the running agent has no connection either' : '';
  return problem(`${message}${failing}`, fix, data);
}
