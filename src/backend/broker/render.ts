/** Renders the files that mosquitto reads, from a set-up. */
import type { Access } from './access.ts';
import { type Account, accountsOf, type PasswordHash, type Setup } from './setup.ts';

/** Content by file name. No file contains a password. */
export type Files = Readonly<Record<string, string>>;

/**
 * Queued messages per client. Mosquitto's default of 1,000 is too few when a whole fleet reconnects after a power cut, and the
 * owner's console gets four retained messages per device at once.
 */
const QUEUED_MESSAGES = 100_000;
const QUEUED_BYTES = 67_108_864;
/** Largest packet (bytes): an agent's largest payload, and a topic. The broker disconnects a client that sends more. */
const LARGEST_PACKET_BYTES = 266_240;

const REVOKED = 'revoked.crl';

export function brokerFiles(setup: Setup): Files {
  const accounts = accountsOf(setup);
  const conf = {
    'mosquitto.conf': mosquittoConf(setup),
    ...(setup.revoked !== null && { [REVOKED]: setup.revoked.list }),
  };
  if (setup.form === 'dynsec') return { ...conf, 'dynamic-security.json': dynamicSecurity(accounts) };
  const devices = accounts.filter(({ kind }) => kind === 'device');
  const people = accounts.filter(({ kind }) => kind !== 'device');
  return {
    ...conf,
    'devices.acl': accessList(devices),
    'devices.passwords': passwordFile(devices),
    'people.acl': accessList(people),
    'people.passwords': passwordFile(people),
  };
}

function mosquittoConf(setup: Setup): string {
  const at = (file: string): string => `${setup.installedAt}/${file}`;
  const bind = setup.listen === null ? '' : ` ${setup.listen}`;
  const tls = [`certfile ${at('server.crt')}`, `keyfile ${at('server.key')}`, 'tls_version tlsv1.2'];
  const byCertificate = setup.deviceLogin === 'certificate';
  // Replaces the client's identifier with the name of its login or certificate. With passwords the plugin does this itself:
  // it refuses a wrong identifier.
  const bound = byCertificate || setup.form === 'acl' ? ['use_username_as_clientid true'] : [];
  const guarded = (who: string): string[] =>
    setup.form === 'acl' ? [`acl_file ${at(`${who}.acl`)}`, `password_file ${at(`${who}.passwords`)}`] : [];
  return [
    '# Written by "dragoman-backend"; "dragoman-backend devices add" writes it again. Put your own settings into another file.',
    // Each listener has its own users and rules, so that no device can log in on the port for people.
    `per_listener_settings ${setup.form === 'acl'}`,
    ...(setup.form === 'dynsec'
      ? [`plugin ${setup.pluginFile}`, `plugin_opt_config_file ${at('dynamic-security.json')}`]
      : []),
    ...(setup.form === 'dynsec' ? ['allow_anonymous false'] : []),
    '',
    '# Retained messages (status, configuration) outlive a restart.',
    'persistence true',
    `persistence_location ${at('store')}/`,
    'persistent_client_expiration 1d',
    '',
    '# After a power cut a whole fleet asks for its tokens at once; none of the requests may be dropped.',
    `max_queued_messages ${QUEUED_MESSAGES}`,
    `max_queued_bytes ${QUEUED_BYTES}`,
    `max_packet_size ${LARGEST_PACKET_BYTES}`,
    '',
    `# Devices: ${byCertificate ? 'the name in the certificate' : 'user name and password'}.`,
    `listener ${setup.devicePort}${bind}`,
    ...tls,
    ...(byCertificate
      ? [`cafile ${at('ca.crt')}`, 'require_certificate true', 'use_identity_as_username true']
      : []),
    ...(byCertificate && setup.revoked !== null ? [`crlfile ${at(REVOKED)}`] : []),
    ...bound,
    ...(setup.form === 'acl' ? ['allow_anonymous false'] : []),
    ...guarded('devices'),
    '',
    '# The backend and people: user name and password.',
    `listener ${setup.peoplePort}${bind}`,
    ...tls,
    ...(setup.form === 'acl' ? ['allow_anonymous false'] : []),
    ...guarded('people'),
    '',
  ].join('\n');
}

/** Written without patterns: `%c` and `%u` are `tenant.device`, but in topics tenant and device are separate levels. */
function accessList(accounts: readonly Account[]): string {
  const sections = accounts.map(({ username, access }) =>
    [
      `user ${username}`,
      ...access.publish.map((topic) => `topic write ${topic}`),
      ...access.receive.map((topic) => `topic read ${topic}`),
      '',
    ].join('\n'),
  );
  return ['# All other topics are refused.', '', ...sections].join('\n');
}

function passwordFile(accounts: readonly Account[]): string {
  return accounts
    .flatMap(({ username, password }) =>
      password === null ? [] : [`${username}:$7$${password.iterations}$${password.salt}$${password.hash}\n`],
    )
    .join('');
}

function dynamicSecurity(accounts: readonly Account[]): string {
  const document = {
    defaultACLAccess: {
      publishClientSend: false,
      publishClientReceive: false,
      subscribe: false,
      unsubscribe: true,
    },
    clients: accounts.map(({ username, clientId, password }) => ({
      username,
      ...(clientId !== null && { clientid: clientId }),
      ...(password !== null && hashed(password)),
      roles: [{ rolename: username, priority: -1 }],
    })),
    groups: [],
    roles: accounts.map(({ username, access }) => ({ rolename: username, acls: rules(access) })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function hashed({ hash, salt, iterations }: PasswordHash) {
  return { password: hash, salt, iterations };
}

function rules({ publish, receive, subscribe }: Access) {
  const rule = (acltype: string) => (topic: string) => ({ acltype, topic, priority: 0, allow: true });
  return [
    ...publish.map(rule('publishClientSend')),
    ...receive.map(rule('publishClientReceive')),
    ...[...receive, ...subscribe].map(rule('subscribePattern')),
  ];
}
