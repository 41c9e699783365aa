/** What a broker's reason for refusing a connection means for the device. */

export type RefusalCause =
  /** Only the client identifier is refused. */
  | 'identifier'
  /** User, password, certificate or rights. */
  | 'login'
  /** The broker does not allow the device's will message. */
  | 'will'
  /** The broker refuses for a time, or refuses all clients. */
  | 'broker';

interface Explanation {
  readonly cause: RefusalCause;
  readonly fix: string;
}

const BUSY = 'Look at the load and the limits of the broker, and try again.';
const VERSIONS = 'Use a broker that knows MQTT 5 or 3.1.1, and check the port in mqtt.url.';
const LOG = "Look at the broker's log.";

/** MQTT 5 reason codes of CONNACK, and MQTT 3.1.1 return codes. */
const EXPLANATIONS: Readonly<Record<number, Explanation>> = {
  1: { cause: 'broker', fix: VERSIONS },
  2: { cause: 'identifier', fix: 'Allow the client identifier at the broker.' },
  3: { cause: 'broker', fix: BUSY },
  4: { cause: 'login', fix: '' },
  5: { cause: 'login', fix: '' },
  128: { cause: 'broker', fix: LOG },
  129: { cause: 'broker', fix: `${LOG} Something between device and broker may change the messages.` },
  130: { cause: 'broker', fix: `${LOG} Something between device and broker may change the messages.` },
  131: { cause: 'broker', fix: LOG },
  132: { cause: 'broker', fix: VERSIONS },
  133: { cause: 'identifier', fix: 'Allow the client identifier at the broker.' },
  134: { cause: 'login', fix: '' },
  135: { cause: 'login', fix: '' },
  136: { cause: 'broker', fix: BUSY },
  137: { cause: 'broker', fix: BUSY },
  138: { cause: 'broker', fix: 'The broker has banned this device or its address: lift the ban there.' },
  140: {
    cause: 'broker',
    fix: 'The broker wants another kind of login than user and password or a certificate.',
  },
  144: {
    cause: 'will',
    fix: 'Allow the device to publish its status: check mqtt.prefix and the rules of the broker.',
  },
  149: { cause: 'will', fix: 'Allow larger packets at the broker (mosquitto: max_packet_size).' },
  151: { cause: 'broker', fix: "Raise the broker's quota for this device." },
  153: { cause: 'will', fix: 'Allow JSON payloads without a format indicator at the broker.' },
  154: { cause: 'will', fix: 'Allow retained messages at the broker (mosquitto: retain_available true).' },
  155: { cause: 'will', fix: 'Allow QoS 1 at the broker (mosquitto: max_qos 1 or 2).' },
  156: { cause: 'broker', fix: 'The broker sends its clients to another server: change mqtt.url.' },
  157: { cause: 'broker', fix: 'The broker has moved: change mqtt.url.' },
  159: { cause: 'broker', fix: BUSY },
};

export interface LoginNames {
  readonly username: string | null;
  readonly passwordFile: string | null;
  readonly certFile: string | null;
}

/** @param code the broker's reason; undefined: it gave none, or another party refused */
export function explainRefusedLogin(code: number | undefined, names: LoginNames): Explanation {
  const known = EXPLANATIONS[code ?? -1];
  if (known === undefined || known.cause !== 'login')
    return known ?? { cause: 'login', fix: loginFix(names) };
  // Only these two codes are about user and password alone.
  const isPassword = code === 4 || code === 134;
  const rights = isPassword
    ? ''
    : ' If they are right, allow this user to connect and to publish its status.';
  return { cause: 'login', fix: `${loginFix(names)}${rights}` };
}

function loginFix({ username, passwordFile, certFile }: LoginNames): string {
  if (username === null && certFile === null)
    return 'The broker wants a login: set mqtt.username and mqtt.passwordFile, or mqtt.certFile and mqtt.keyFile.';
  const user = username === null ? [] : [`the user "${username}" (mqtt.username)`];
  const password =
    username !== null && passwordFile === null
      ? ['mqtt.passwordFile, which is not set']
      : passwordFile === null
        ? []
        : [`the password in ${passwordFile} (mqtt.passwordFile)`];
  const certificate = certFile === null ? [] : [`the certificate in ${certFile} (mqtt.certFile)`];
  return `Check at the broker: ${[...user, ...password, ...certificate].join(', ')}.`;
}
