/** Advice for the fault codes in the log. The log sentences vary; a field holds the code. */
import type { AudioFault } from '../../src/ports/audio.ts';
import type { BusProblem } from '../../src/ports/bus.ts';

interface Advice {
  readonly says: string;
  readonly todo: string;
}

const DEVICES = '`dragoman devices`';

/** The field `code` of a sound card's log line. The lane's log line adds the prefix `capture_` or `playback_`. */
export const CARD_ADVICE: Readonly<Record<AudioFault['code'], Advice>> = {
  not_found: {
    says: 'there is no such device or file',
    todo: `the name in the configuration, the cable: ${DEVICES}`,
  },
  busy: {
    says: 'another program uses it',
    todo: `${DEVICES} names the program: end it, or use another card`,
  },
  lost: { says: 'the device has disappeared', todo: 'cable, power and socket; the agent keeps trying' },
  hung: {
    says: 'it delivers or plays no sound and reports no error',
    todo: 'nothing the first time; often: unplug it and plug it in again, or use another card; behind a sound server: restart that server',
  },
  format: {
    says: 'it accepts none of the sample rates and channel counts that were tried',
    todo: 'a name that begins with `plughw:`',
  },
  too_fast: {
    says: 'it delivers more sound than its sample rate allows',
    todo: 'another `sampleRate`; often: the card is defective',
  },
  failed: { says: 'any other failure', todo: 'follow the log line' },
};

/** The field `problem` of the lines about the connection to the broker. */
export const BROKER_ADVICE: Readonly<Record<BusProblem, Advice>> = {
  unreachable: {
    says: 'name resolution, network or TLS failed, or the broker is down',
    todo: 'the network, and whether the broker runs; the program keeps trying',
  },
  refused: {
    says: 'the broker refuses the login, or a file for the login cannot be used',
    todo: 'user name, password, certificate, and the rules of the broker; `dragoman doctor`, check `broker`',
  },
  taken_over: {
    says: 'another client connected under the same name',
    todo: 'as the reason `identity_conflict`; give each backend its own client identifier',
  },
};
